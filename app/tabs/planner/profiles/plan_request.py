"""What the Planner tab may ask: a profile, and how it is turned before plans are sought. Checked before any work.

The numbers of a profile are a visitor's to change; how many there are, and how far a plan may reach, is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from app.tabs.planner import words as says
from hsd_core.theory.profiles.costs import ProfileError
from hsd_core.theory.profiles.profile import Profile
from hsd_core.theory.profiles.profile_json import profile_from

MAX_BODY = 300_000  # bytes of a request: a profile of 12 levels with all its intervals is a tenth of it
MAX_LEVELS = 12
MAX_NODES = 192  # levels that a plan may use times the longest block: 12 levels with blocks up to 16, 6 with up to 32
MAX_ROWS = 64  # row counts that a cost may list
MAX_RULES = 1  # beside tokenwise: each one more doubles the edges
SHORTEST_MS, LONGEST_MS = 1e-9, 1e9
MAX_PAIRS = MAX_LEVELS * (MAX_LEVELS - 1)
MAX_DEPTH = 8  # of nested JSON: a profile has 5
LONGEST_NAME = 60
LIMITS: dict[str, tuple[float, float]] = {
    "max_block": (1, 32),
    "rejections": (0.0, 4.0),
    "cost": (0.05, 10.0),
    "width": (1, 100_000),
}


class PlannerError(ValueError):
    """A request that cannot be answered; the message names the cure, `field` the input it belongs to."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


FIGURES = frozenset(("graph", "surface", "validation"))


@dataclass(frozen=True, slots=True)
class Look:
    """How an answer is drawn: `dark`, `width` (px) of the page, and the figures that are asked for."""

    dark: bool = False
    width: int = 1440
    figures: frozenset[str] = FIGURES


LOOK = frozenset(field.name for field in fields(Look))  # of a request: what does not change the plans


@dataclass(frozen=True, slots=True)
class PlanQuestion:
    """One question.

    Attributes:
        profile: as measured or edited; `turned` turns it into what the plans are sought in.
        allowed: indices of the levels that a plan may use, the target among them.
        max_block: longest block. rejections: every 1 - a is multiplied by it. cost: level name and its costs' factor.
    """

    profile: Profile
    allowed: tuple[int, ...]
    max_block: int
    rejections: float = 1.0
    cost: tuple[str, float] | None = None


def parse(data: Any) -> PlanQuestion:
    """The question in the page's JSON.

    Raises:
        PlannerError: something is missing, too large or no figure; nothing was computed.
    """
    if not isinstance(data, Mapping):
        raise PlannerError(says.EMPTY_REQUEST)
    profile = read(data.get("profile"))
    top = len(profile.levels) - 1
    asked = data.get("levels")
    flags = asked if isinstance(asked, list) and len(asked) == top + 1 else [True] * (top + 1)
    cost = data.get("cost")
    allowed = (*(i for i in range(top) if flags[i] is True), top)
    longest = int(_figure("max_block", data.get("max_block", profile.max_block)))
    if len(allowed) * longest > MAX_NODES:
        raise PlannerError(
            says.too_much(len(allowed), longest, MAX_NODES // len(allowed)),
            "max_block",
        )
    return PlanQuestion(
        profile=profile,
        allowed=allowed,
        max_block=longest,
        rejections=_figure("rejections", data.get("rejections", 1.0)),
        cost=_cost(cost, profile) if cost else None,
    )


def look(data: Mapping[str, Any]) -> Look:
    """How the page's JSON wants its answer drawn.

    Raises:
        PlannerError: the width is none.
    """
    named = data.get("figures")
    return Look(
        data.get("dark") is True,
        int(_figure("width", data.get("width", 1440))),
        FIGURES & {name for name in named if isinstance(name, str)} if isinstance(named, list) else FIGURES,
    )


def read(value: Any) -> Profile:
    """A profile from JSON.

    Raises:
        PlannerError: too many levels, row counts or pairs, or what `profile_from` finds wrong.
    """
    if not isinstance(value, Mapping):
        raise PlannerError(says.NO_PROFILE, "profile")
    levels = value.get("levels")
    if isinstance(levels, list) and len(levels) > MAX_LEVELS:
        raise PlannerError(says.many_levels(len(levels), MAX_LEVELS), "levels")
    for entry in levels if isinstance(levels, list) else ():
        if isinstance(entry, Mapping):
            _bounded(entry, str(entry.get("name", ""))[:LONGEST_NAME])
    for name in ("edge_cost_ms", "by_width", "conditional"):
        pairs = value.get(name)
        if isinstance(pairs, Mapping) and len(pairs) > MAX_PAIRS:
            raise PlannerError(says.many_pairs(name, len(pairs), MAX_PAIRS), name)
        for pair, entry in pairs.items() if isinstance(pairs, Mapping) else ():
            if isinstance(entry, Mapping):
                _bounded(entry, f"{name} {str(pair)[:LONGEST_NAME]}")
    if isinstance(widths := value.get("by_width"), Mapping):
        _bounded(widths, "by_width")
    rules = value.get("by_rule")
    if isinstance(rules, Mapping) and len(rules) > MAX_RULES:
        raise PlannerError(says.many_rules(len(rules), MAX_RULES), "by_rule")
    if _depth(value) > MAX_DEPTH:
        raise PlannerError(says.TOO_DEEP, "profile")
    try:
        profile = profile_from(dict(value))
    except ProfileError as error:
        raise PlannerError(str(error), "profile") from error
    except OverflowError as error:
        raise PlannerError(says.TOO_LARGE, "profile") from error
    costs = [cost for level in profile.levels for cost in (level.cost, *level.joint.values())]
    costs += profile.edge_cost.values()
    times = [ms for cost in costs for ms in cost.ms] + [x.draft_ms for x in profile.levels if x.draft_ms is not None]
    if not all(SHORTEST_MS <= ms <= LONGEST_MS for ms in times) or profile.round_ms > LONGEST_MS:
        raise PlannerError(says.times_between(SHORTEST_MS, LONGEST_MS), "levels")
    longest = int(LIMITS["max_block"][1])
    return profile if profile.max_block <= longest else replace(profile, max_block=longest)


def _bounded(entry: Mapping[str, Any], where: str) -> None:
    if len(str(entry.get("name", ""))) > LONGEST_NAME:
        raise PlannerError(says.long_name(where, LONGEST_NAME), "levels")
    for name, part in entry.items():
        if isinstance(part, Mapping | list) and len(part) > MAX_ROWS:
            raise PlannerError(says.many_entries(where, str(name)[:20], len(part), MAX_ROWS), "levels")


def _depth(value: Any, room: int = MAX_DEPTH + 1) -> int:
    if room == 0 or not isinstance(value, (dict, list)):
        return 0
    inner = value.values() if isinstance(value, dict) else value
    return 1 + max((_depth(part, room - 1) for part in inner if isinstance(part, (dict, list))), default=0)


def _cost(value: Any, profile: Profile) -> tuple[str, float]:
    names = [level.name for level in profile.levels]
    if not isinstance(value, Mapping) or value.get("level") not in names:
        raise PlannerError(says.which_level(", ".join(names)), "cost")
    return str(value["level"]), _figure("cost", value.get("factor", 1.0))


def _figure(name: str, value: Any) -> float:
    low, high = LIMITS[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise PlannerError(says.out_of_range(name, low, high), name)
    return float(value)
