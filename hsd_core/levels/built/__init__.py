"""Levels as they are built and run: one file for each way of drafting or scoring."""
