"""Commands that make drafts and n-gram databases."""
