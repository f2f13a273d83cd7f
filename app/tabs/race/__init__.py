"""The Race tab: stacks side by side on one clock, recorded, raced here and now, or brought as a file."""
