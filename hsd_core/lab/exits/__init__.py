"""Exits at every depth: what they agree on, what they cost, which stacks of them would pay, and what it would take."""
