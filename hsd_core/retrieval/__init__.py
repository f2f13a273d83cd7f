"""Retrieval: a store of a text's states beside the model's own words, and documents put before a prompt."""
