"""When the levels on both sides of a verifier work at the same time."""

from __future__ import annotations

from hsd_core.systems.lanes import card_tree, duo, free, pearl

SCHEDULERS = (*pearl.SCHEDULERS, *free.SCHEDULERS, *duo.SCHEDULERS, *card_tree.SCHEDULERS)
