"""Levels that look in a store of a text."""
