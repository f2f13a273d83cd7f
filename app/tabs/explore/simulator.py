"""A plan of the Planner tab, played without weights: the real engine over levels that the profile makes up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.serve.line.turns import Full, Turns
from app.serve.settings import LIMITS
from app.tabs.planner import words as says
from app.tabs.planner.profiles.plan_request import PlannerError, parse
from app.tabs.planner.profiles.turn import turned
from hsd_core.core.events import Event
from hsd_core.theory.latency.plans import StackPlan
from hsd_core.theory.profiles.costs import ProfileError

TOKENS = 160
MOST_CALLS = 8_000  # of all levels in a run: some seconds of work, and a trace that a page can hold
PATIENCE_S = 20.0
WAITING = 4  # each of them holds a thread of the server


class Simulator:
    """Plays one run at a time: who comes when `WAITING` wait, or waits longer than `PATIENCE_S`, is sent away."""

    def __init__(self) -> None:
        self._turns = Turns(own=WAITING, most=WAITING)

    def events(self, data: Any) -> list[Event]:
        """The trace of `{"question", "plan", "seed"}`: what the tab asked, and the levels and blocks of one plan.

        Raises:
            PlannerError: the question or the plan is none, the run would be too long, or too many wait.
        """
        data = data if isinstance(data, Mapping) else {}
        asked = parse(data.get("question"))
        seed = data.get("seed", 0)
        low, high = LIMITS["seed"]
        seed = seed if isinstance(seed, int) and not isinstance(seed, bool) and low <= seed <= high else 0
        try:
            profile = turned(asked)
            plan = _plan(data.get("plan"), profile.names)
            with self._turns.held(PATIENCE_S):
                from hsd_core.measure.whatif.simulation import (
                    play,  # the first one loads the engine, which takes some seconds
                )

                return list(play(profile, plan, seed=seed, max_new_tokens=TOKENS, most_calls=MOST_CALLS))
        except Full:
            raise PlannerError(says.OTHERS_SIMULATE) from None
        except ProfileError as error:
            raise PlannerError(str(error), "profile") from error


def _plan(given: Any, names: tuple[str, ...]) -> StackPlan:
    given = given if isinstance(given, Mapping) else {}
    levels, blocks = given.get("levels"), given.get("blocks")
    if given.get("tree"):
        raise PlannerError(says.NO_TREES)
    if not isinstance(levels, list) or not isinstance(blocks, list) or not all(name in names for name in levels):
        raise PlannerError(says.FOREIGN_PLAN)
    if not all(isinstance(block, int) and not isinstance(block, bool) for block in blocks):
        raise PlannerError(says.WHOLE_BLOCKS)
    return StackPlan(tuple(names.index(name) for name in levels), tuple(blocks))
