"""The Planner's answer to one request: plans, what each level is worth, words, figures and tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.tabs.planner.figures.ink import Ink
from app.tabs.planner.figures.path_picture import graph_figure
from app.tabs.planner.figures.surface import surface
from app.tabs.planner.figures.validation import LEAST_HEIGHT, height, validation_figure
from app.tabs.planner.profiles.plan_request import Look, PlannerError, PlanQuestion
from app.tabs.planner.profiles.turn import kind_of, turned
from app.tabs.planner.why import beside, headline, why
from hsd_core.theory.latency.plans import Ranked, has_specs, plan_text
from hsd_core.theory.profiles.costs import ProfileError
from hsd_core.theory.profiles.profile import Profile
from hsd_core.theory.search.planner import Answer, Planner

SHOWN = 6  # other plans in the list


@dataclass(frozen=True, slots=True)
class Planned:
    """What the theory makes of a question. `worth`: of each level of the best plan below the target."""

    profile: Profile
    planner: Planner
    found: Answer
    worth: tuple[float, ...]


def planned(asked: PlanQuestion, check: Callable[[], None] = lambda: None) -> Planned:
    """The plans of one question. `check`: called between the steps of the search; what it raises ends it.

    Raises:
        PlannerError: the profile cannot be planned in; the message is the theory's own.
    """
    try:
        profile = turned(asked)
        planner = Planner(profile, check=check)
        found = planner.best()
        return Planned(profile, planner, found, planner.worth(found.best))
    except ProfileError as error:
        raise PlannerError(str(error), "profile") from error


def answer(
    plans: Planned, look: Look, validation: Mapping[str, Any] | None = None, *, check: Callable[[], None] = lambda: None
) -> dict[str, Any]:
    """Everything that the tab shows for one question, in plain JSON types.

    Args:
        validation: see `validations.nearest`. check: called before each figure.
    """
    profile, planner, found = plans.profile, plans.planner, plans.found
    ink = Ink(look.dark, look.width)
    plain, measured = found.plain.prediction.ms_per_token, validation or {}
    tall = LEAST_HEIGHT if ink.narrow else height(len(measured.get("stacks", ())))
    drawn: dict[str, Callable[[], dict[str, Any]]] = {
        "graph": lambda: graph_figure(planner, found.best, found.alternatives, ink),
        "surface": lambda: surface(planner, ink, tall),
        "validation": lambda: validation_figure(measured, ink),
    }
    figures = {}
    for name, draw in drawn.items():
        if name in look.figures:
            check()
            figures[name] = draw()
    return {
        "levels": [{"name": level.name, "kind": kind_of(profile, i)} for i, level in enumerate(profile.levels)],
        "best": {**shown(profile, found.best), "shares": _shares(profile, found.best, plans.worth)},
        "plain_ms": plain,
        "by_depth": [shown(profile, one) for one in found.by_depth],
        "others": [shown(profile, one) for one in found.alternatives[:SHOWN]],
        "headline": headline(profile, found),
        "why": why(profile, found),
        "beside": beside(measured),
        "figures": figures,
    }


def shown(profile: Profile, ranked: Ranked) -> dict[str, Any]:
    """A plan for the page; `stack` is its text, `runs` whether there are weights for all of it."""
    plan, prediction = ranked.plan, ranked.prediction
    runs = has_specs(profile, plan)
    return {
        "levels": [profile.names[i] for i in plan.levels],
        "kinds": [kind_of(profile, i) for i in plan.levels],
        "blocks": list(plan.blocks),
        "tree": list(plan.widths),
        "stack": plan_text(profile, plan),
        "runs": runs,
        "ms": prediction.ms_per_token,
        "speedup": prediction.speedup,
        "tokens": prediction.tokens_per_round,
    }


def _shares(profile: Profile, best: Ranked, worth: Sequence[float]) -> list[dict[str, Any]]:
    """Per level of the best plan, cheapest first: calls and ms per target pass, and how much slower without it."""
    round_ms = best.prediction.ms_per_token * best.prediction.tokens_per_round
    rows = []
    for place, part in enumerate(best.prediction.levels):
        below = place < len(best.plan.blocks)
        rows.append(
            {
                "name": profile.names[part.level],
                "kind": kind_of(profile, part.level),
                "block": best.plan.blocks[place] if below else None,
                "calls": part.calls_per_round,
                "ms": part.ms_per_round / best.prediction.tokens_per_round,
                "share": part.ms_per_round / round_ms,
                "worth": worth[place] if below else None,
            }
        )
    return rows
