"""Texts for measurements and trainings: a target's outputs after many prompts, and their file."""
