"""Which driver a stack is run by, and which stacks cannot be run on lanes of their own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal

from hsd_core.core.driver import Drives, Sequential
from hsd_core.core.entry import StackEntry
from hsd_core.grammar import StackError, driver_named, lanes_of, scheduler_of
from hsd_core.grammar.keys import WITH

PIPELINE = "pipeline"  # the driver of stacks where several levels have lanes of their own


def chosen_driver(stack: Sequence[StackEntry]) -> Drives:
    """One level after another, or as the schedulers say."""
    spec, lanes_below = stack[-1].spec, set(lanes_of([entry.spec for entry in stack[:-1]]))
    kind = scheduler_of(spec)
    if len(lanes_below) > 1:
        drives: Drives = driver_named(PIPELINE)
        return drives
    scheduler = kind.bind(spec.values)
    if scheduler is None:
        return Sequential
    return partial(driver_named(kind.driver), scheduler=scheduler)


def overlap_of(stack: Sequence[StackEntry], *, simulated: bool) -> Literal["none", "reckoned", "simulated"]:
    """Whose clock a run of this stack has: see `events.Header`."""
    if not lanes_of([entry.spec for entry in stack])[-1]:
        return "none"
    return "simulated" if simulated else "reckoned"


def check_apart(stack: Sequence[StackEntry]) -> None:
    """What works on machines of its own shares nothing.

    Raises:
        StackError: a level below needs what one on another lane computes.
    """
    specs = [entry.spec for entry in stack]
    lanes = lanes_of(specs)
    for i, level in enumerate(entry.level for entry in stack[: lanes.index(lanes[-1])]):
        above = [other.level for other, lane in zip(stack[i + 1 :], lanes[i + 1 :], strict=True) if lane == lanes[i]]
        schedule = next(spec[WITH] for spec in specs[i + 1 :] if scheduler_of(spec).make)
        if level.about.fed and not any(getattr(other, "feeds", False) for other in above):
            why, cure = "reads the target's last states", "name a draft that is not fed, such as nano@id=smollm2-nano"
        elif getattr(getattr(level, "drafter", level), "views", False):
            why, cure = "reads the target's cache", "leave the level out"
        elif level.about.sequences > 1 or level.about.probes:
            why, cure = "offers more than one candidate", "let it draft one"
        else:
            continue
        raise StackError(
            f"level {i} ({level.name}) {why}, which @with={schedule} runs elsewhere; {cure}, or leave @with= out"
        )
