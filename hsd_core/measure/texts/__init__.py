"""Texts that measurements and trainings read: what a target writes after many prompts, and the file of it."""
