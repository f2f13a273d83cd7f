"""One level after another: a verifier waits for the draft that it judges, and the drafter for the verdict."""

from __future__ import annotations

from hsd_core.levels.schedulers.orders import SchedulerKind

SCHEDULERS = (SchedulerKind(name="sync", order=10, words="sync · one level after another"),)
