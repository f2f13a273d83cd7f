"""Trained drafts at work in a run."""
