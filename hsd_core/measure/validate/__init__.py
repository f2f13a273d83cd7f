"""The theory compared with measurements: stacks run on held-out prompts after their speed was predicted."""
