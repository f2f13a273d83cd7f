"""Levels that see a part of the cache of a level above."""
