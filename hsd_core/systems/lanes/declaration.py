"""When the levels on both sides of a verifier work at the same time."""

from __future__ import annotations

from hsd_core.systems.lanes import card_tree, duo, free, pearl

SCHEDULERS = (*pearl.SCHEDULERS, *free.SCHEDULERS, *duo.SCHEDULERS, *card_tree.SCHEDULERS)
# What has a scheduler's orders carried out, by the name that it gives; "pipeline": where several levels have lanes.
DRIVERS = {
    "overlapped": "hsd_core.systems.lanes.overlapped:Overlapped",
    "fanned": "hsd_core.systems.lanes.fan:Fanned",
    "regrown": "hsd_core.systems.lanes.regrown:Regrown",
    "pipeline": "hsd_core.systems.lanes.many_lanes:Pipeline",
}
