"""Levels that look in a store of a text."""

from hsd_core.levels.kinds.retrieved.cached import KINDS as KINDS
