"""Whether another level is worth it: the best plan of some levels compared with the best plan of one level fewer, as a
function of the cost of the level below the target and of how often the target agrees with it.

Every prediction is `Planner`'s, so the exact recursion's; the levels are those of the profile's best plan of up to
three.
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

MOST = 3  # levels: a fourth hardly ever pays, and the question is the same
SHARES = tuple(round(0.05 * n, 2) for n in range(1, 26))  # costs of the level, relative to the target's pass
AGREEMENTS = tuple(round(0.02 * n, 2) for n in range(10, 51))  # shares of the level's tokens that the target accepts
_FEW = 8  # least number of paths ranked by the exact recursion


@dataclass(frozen=True, slots=True)
class Point:
    """The best plans with one level fewer and with all, at one cost of the level relative to the target's pass."""

    share: float
    fewer: Ranked
    more: Ranked

    @property
    def gain(self) -> float:
        """ms per token with fewer levels / with all: above 1 the level is worth it."""
        return self.fewer.prediction.ms_per_token / self.more.prediction.ms_per_token


@dataclass(slots=True)
class AnotherLevel:
    """The question for one profile.

    Attributes:
        levels: of the full profile, cheapest first, the target last; the question is about the level below it.
        profile: only these levels. share, agreement: of the level in question, as in the profile. others: the full
            profile's best plan with one level fewer, if it uses another level: then it has a single drafter that is not
            among these, and its time does not depend on the level in question.

    Raises:
        ProfileError: the profile has no level below its target.
    """

    full: Profile
    check: Callable[[], None] = lambda: None
    levels: tuple[int, ...] = field(init=False)
    profile: Profile = field(init=False)
    share: float = field(init=False)
    agreement: float = field(init=False)
    others: Ranked | None = field(init=False)

    def __post_init__(self) -> None:
        if len(self.full.levels) < 2:
            raise ProfileError("the profile has only the target; add a level below it")
        best = Planner(self.full, trees=False, check=self.check).best(depth=MOST, shortlist=_FEW)
        self.levels = best.by_depth[-1].plan.levels
        self.profile = self.full.only(self.levels)
        middle, target = self.profile.target - 1, self.profile.target
        self.share = self.profile.levels[middle].cost(1) / self.profile.levels[target].cost(1)
        self.agreement = self.profile.accepts(middle, target)
        fewer = best.by_depth[-2]
        self.others = None if set(fewer.plan.levels) <= set(self.levels) else fewer

    def curve(self, agreement: float | None = None) -> list[Point]:
        """A point for each of the costs and one for the cost in the profile, by ascending cost.

        Args:
            agreement: the share of the level's tokens that the target accepts; None: that in the profile.
        """
        return [self.at(share, agreement) for share in sorted({*SHARES, self.share})]

    def at(self, share: float, agreement: float | None = None) -> Point:
        """The point at one cost."""
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
        """A curve in plain JSON types: `levels` (name, spec), cheapest first, the one in question last but one; its
        `share` and `agreement` in the profile; the `agreements` of a slider, and that of this curve (`at`); `points`
        (share, fewer and more with speedup and stack), `crossings`, and whether the stacks can be run (`runs`)."""
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
        profile = self.full if ranked is self.others else self.profile
        return {"speedup": ranked.prediction.speedup, "stack": plan_text(profile, ranked.plan)}


def crossings(points: Sequence[Point]) -> list[float]:
    """The costs at which the gain crosses 1, by linear interpolation."""
    found = []
    for a, b in pairwise(points):
        if (a.gain - 1) * (b.gain - 1) < 0:
            found.append(a.share + (b.share - a.share) * (1 - a.gain) / (b.gain - a.gain))
    return found
