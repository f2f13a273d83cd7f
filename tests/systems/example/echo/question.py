"""A question to a profile: from which acceptance on does an echo pay? `plan --echo` and the Planner ask it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hsd_core.theory.profiles.profile import Profile

NAME = OPTION = "echo"
HELP = "from which acceptance on an echo pays"
SECONDS = 1.0
DRAWN = ()


def answer(profile: Profile, check: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """One token drafted for every pass of the target: 1 + a tokens in the time of both."""
    target, cheapest = profile.levels[-1], profile.levels[0]
    return {"from": (cheapest.block_ms(1) + target.cost(2)) / target.cost(1) - 1}


def lines(answer: Mapping[str, Any]) -> Iterator[str]:
    yield f"an echo of one token pays where more than {answer['from']:.0%} of them are accepted"
