"""Is another level worth it? The best plan of some levels beside the best one that has one of them fewer, over what the
level below the target costs and how often the target agrees with it.

Every price is `Planner`'s, so the exact recursion's; the levels are those of the profile's best plan of up to three.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from hsd_core.theory.latency.plans import Ranked, StackPlan, has_specs, plan_text
from hsd_core.theory.profiles.costs import ProfileError
from hsd_core.theory.profiles.profile import Profile, with_pair_accepted, with_scaled_cost
from hsd_core.theory.search.planner import Planner

MOST = 3  # levels: of four and more the last hardly ever pays, and the question is the same
SHARES = tuple(round(0.05 * n, 2) for n in range(1, 26))  # of the target's pass, that the level may cost
AGREEMENTS = tuple(round(0.02 * n, 2) for n in range(10, 51))  # shares of its tokens that the target accepts
_FEW = 8  # paths that the exact recursion ranks, at the least


@dataclass(frozen=True, slots=True)
class Point:
    """At one cost of the level, as a share of the target's pass: the best plans with one level fewer, and with all."""

    share: float
    fewer: Ranked
    more: Ranked

    @property
    def gain(self) -> float:
        """ms per token of the fewer / of all: above 1 the other level is worth it."""
        return self.fewer.prediction.ms_per_token / self.more.prediction.ms_per_token


@dataclass(slots=True)
class AnotherLevel:
    """The question in one profile.

    Attributes:
        levels: of the profile, cheapest first, the target last; the one that is asked about stands below it.
        profile: these levels alone. share, agreement: of the level asked about, as the profile has them. others: the
            whole profile's best plan with one level fewer, if that is not one of these: then it is of a single drafter
            beyond them, and takes as long whatever the one asked about costs.

    Raises:
        ProfileError: the profile has no level below its target.
    """

    whole: Profile
    check: Callable[[], None] = lambda: None
    levels: tuple[int, ...] = field(init=False)
    profile: Profile = field(init=False)
    share: float = field(init=False)
    agreement: float = field(init=False)
    others: Ranked | None = field(init=False)

    def __post_init__(self) -> None:
        if len(self.whole.levels) < 2:
            raise ProfileError("the profile has the target alone; add a level below it")
        best = Planner(self.whole, trees=False, check=self.check).best(depth=MOST, shortlist=_FEW)
        self.levels = best.by_depth[-1].plan.levels
        self.profile = self.whole.only(self.levels)
        middle, target = self.profile.target - 1, self.profile.target
        self.share = self.profile.levels[middle].cost(1) / self.profile.levels[target].cost(1)
        self.agreement = self.profile.accepts(middle, target)
        fewer = best.by_depth[-2]
        self.others = None if set(fewer.plan.levels) <= set(self.levels) else fewer

    def curve(self, agreement: float | None = None) -> list[Point]:
        """A point for each of the costs and one for the profile's own, by rising cost.

        Args:
            agreement: the share of the level's tokens that the target accepts; None: the profile's own.
        """
        return [self.at(share, agreement) for share in sorted({*SHARES, self.share})]

    def at(self, share: float, agreement: float | None = None) -> Point:
        """At one cost; both numbers the profile's own: its own best plans."""
        target = self.profile.target
        profile = (
            with_scaled_cost(self.profile, target - 1, share / self.share) if share != self.share else self.profile
        )
        if agreement is not None and agreement != self.agreement:
            profile = with_pair_accepted(profile, target - 1, target, agreement)
        self.check()
        found = Planner(profile, trees=False, check=self.check).best(shortlist=_FEW).by_depth
        fewer = found[-2]
        if self.others and self.others.prediction.ms_per_token < fewer.prediction.ms_per_token:
            fewer = self.others
        return Point(share, fewer, found[-1])

    def answer(self, agreement: float | None = None) -> dict[str, Any]:
        """A curve in plain JSON types: `levels` (name, spec), cheapest first, the one asked about last but one; its
        own `share` and `agreement` in the profile; the `agreements` that a slider stops at, and that of this curve;
        `points` (share, fewer and more with speedup and stack), `crossings`, and whether the stacks can be `run`."""
        points, plan = self.curve(agreement), StackPlan(tuple(range(len(self.levels))), (1,) * self.profile.target)
        return {
            "levels": [{"name": level.name, "spec": level.spec} for level in self.profile.levels],
            "share": self.share,
            "agreement": self.agreement,
            "agreements": self.agreements,
            "at": self.agreement if agreement is None else agreement,
            "points": [
                {"share": point.share, "fewer": self._shown(point.fewer), "more": self._shown(point.more)}
                for point in points
            ],
            "crossings": crossings(points),
            "runs": has_specs(self.profile, plan),
        }

    @property
    def agreements(self) -> list[float]:
        return sorted({*AGREEMENTS, self.agreement})

    def _shown(self, ranked: Ranked) -> dict[str, Any]:
        profile = self.whole if ranked is self.others else self.profile
        return {"speedup": ranked.prediction.speedup, "stack": plan_text(profile, ranked.plan)}


def crossings(points: Sequence[Point]) -> list[float]:
    """The costs at which the gain passes 1, on the line between two points."""
    found = []
    for a, b in pairwise(points):
        if (a.gain - 1) * (b.gain - 1) < 0:
            found.append(a.share + (b.share - a.share) * (1 - a.gain) / (b.gain - a.gain))
    return found
