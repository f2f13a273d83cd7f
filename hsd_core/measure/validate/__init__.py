"""The theory against the clock: stacks run on held-out prompts, and what was predicted of them laid beside it."""
