"""Commands that measure stacks, and that make drafts, texts and n-gram databases."""
