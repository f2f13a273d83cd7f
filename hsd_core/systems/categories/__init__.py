"""Kinds of text: how often levels accept on each, and the block lengths that are best for it."""
