"""Would a second machine of this kind pay? The best stacks on two lanes compared with the best on one.

The two are never ranked in one list: levels one after another are priced as measured here, overlapping lanes are
*reckoned*. The recommended plan stays the first; the answer to this question may be "do not overlap".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from hsd_core.systems.lanes.closed_forms import AGREEMENTS, SAME, SHARES, gains, pays_between, tokens_per_step
from hsd_core.theory.latency.plans import Ranked, StackPlan, has_specs, plan_text
from hsd_core.theory.overlap.below import Below
from hsd_core.theory.overlap.on_two_lanes import (
    LanesPrediction,
    OnTwoLanes,
    expected_on_lanes,
    needs_target,
    text_on_two_lanes,
)
from hsd_core.theory.profiles.costs import ProfileError
from hsd_core.theory.profiles.profile import Profile
from hsd_core.theory.search.planner import Planner

LOCK_STEP, FREE = "pearl", "ahead"  # the schedules that are tried
_BOTTOM = (1, 2, 3, 4)  # block lengths tried for a level below the drafter
_FEW = 8  # paths that the exact recursion ranks
_ALL = 1 << 20  # a budget that cuts no block


@dataclass(frozen=True, slots=True)
class Priced:
    """A stack on two lanes, with its reckoned price."""

    what: OnTwoLanes
    price: LanesPrediction


@dataclass(frozen=True, slots=True)
class Drafting:
    """A drafter for the target: a level, or a level with a cheaper one below it.

    Attributes:
        levels: of the profile, cheapest first. share: the cost of a token that it hands up, in passes of the target.
        agreement: the share of them that the target accepts.
        apart: the best stack of these levels one after another, on one machine. lock_step, free: the best on two.
        needs: the level that cannot run apart from the target, "" if there is none; with one, no such stack can run.
    """

    levels: tuple[int, ...]
    share: float
    agreement: float
    apart: Ranked
    lock_step: Priced
    free: Priced
    needs: str = ""

    @property
    def best(self) -> Priced:
        return min(self.lock_step, self.free, key=lambda one: one.price.ms_per_token)

    @property
    def gain(self) -> float:
        """ms per token on one machine / on two: above 1 these levels gain from a second one."""
        return self.apart.prediction.ms_per_token / self.best.price.ms_per_token


@dataclass(slots=True)
class SecondMachine:
    """The question for one profile.

    Raises:
        ProfileError: no level of the profile can draft chains for the target.
    """

    profile: Profile
    check: Callable[[], None] = lambda: None
    drafters: tuple[Drafting, ...] = field(init=False)
    one: Ranked = field(init=False)  # the best plan on one machine, whatever its levels

    def __post_init__(self) -> None:
        verifying = [i for i in range(self.profile.target) if not self.profile.levels[i].drafts_only]
        if not verifying:
            raise ProfileError("no level of this profile drafts token by token below the target; add one, such as int8")
        found = list(chain.from_iterable(map(self._of, verifying)))
        answer = Planner(self.profile, check=self.check).best()
        self.one = answer.best
        below = answer.single.plan.levels[:-1]
        if len(below) > 2 and not self.profile.levels[below[0]].beside:
            found.append(self._drafting(StackPlan(answer.single.plan.levels, answer.single.plan.blocks)))
        self.drafters = tuple(found)

    @property
    def best(self) -> Drafting | None:
        """The quickest drafter that can run on two machines; None if there is none."""
        found = [one for one in self.drafters if not one.needs]
        return min(found, key=lambda one: one.best.price.ms_per_token, default=None)

    @property
    def gain(self) -> float:
        """ms per token of the best plan on one machine / of the best on two; 0 if none can run on two."""
        best = self.best
        return self.one.prediction.ms_per_token / best.best.price.ms_per_token if best else 0.0

    @property
    def pays(self) -> bool:
        """Whether the second machine pays; if not, the answer is "do not overlap"."""
        return self.gain > 1.0 + SAME

    def answer(self) -> dict[str, Any]:
        """In plain JSON types.

        `clock`: of the figures for two lanes. `one`: the best plan on one machine; `two`: the best that runs on two, or
        None; its `gain`, and whether it `pays`. `drafters`: name, share, agreement, gain, the map's `pays_between` at
        that agreement, `apart`, `pearl`, `ahead`, and `needs`: the level that reads the target's last states, so that
        these cannot run apart. `map`: shares, agreements, and the gains of one drafter of constant cost.
        """
        best = self.best
        return {
            "clock": "reckoned",
            "one": self._plan(self.one),
            "two": best and self._priced(best.best),
            "gain": self.gain,
            "pays": self.pays,
            "drafters": [
                {
                    "name": " + ".join(self.profile.names[i] for i in one.levels),
                    "share": one.share,
                    "agreement": one.agreement,
                    "gain": one.gain,
                    "pays_between": pays_between(one.agreement),
                    "apart": self._plan(one.apart),
                    LOCK_STEP: self._priced(one.lock_step),
                    FREE: self._priced(one.free),
                    "needs": one.needs,
                }
                for one in self.drafters
            ],
            "map": {"shares": SHARES, "agreements": AGREEMENTS, "gains": gains()},
        }

    def _plan(self, ranked: Ranked) -> dict[str, Any]:
        stack, runs = plan_text(self.profile, ranked.plan), has_specs(self.profile, ranked.plan)
        price = ranked.prediction
        return {"stack": stack, "runs": runs, "ms": price.ms_per_token, "speedup": price.speedup}

    def _priced(self, one: Priced) -> dict[str, Any]:
        runs = has_specs(self.profile, one.what.plan) and not needs_target(self.profile, one.what.plan.levels[:-1])
        return {"stack": text_on_two_lanes(self.profile, one.what), "runs": runs, **one.price.as_dict()}

    def _of(self, level: int) -> Iterator[Drafting]:
        """The level alone, and together with the level below that helps it most, if one does."""
        quick = self._quick((level,))
        alone = self._drafting(quick[1])
        yield alone
        others = [self._quick((below, level)) for below in range(level) if not self.profile.levels[below].beside]
        if not others or (best := min(others, key=lambda one: one[0]))[0] > quick[0]:
            return
        helped = self._drafting(best[1])
        if helped.best.price.ms_per_token < alone.best.price.ms_per_token * (1.0 - SAME):
            yield helped

    def _quick(self, below: tuple[int, ...]) -> tuple[float, StackPlan]:
        """The best block lengths for lock step by means: ms per token, and the plan."""
        self.check()
        target = self.profile.target
        a, costs = self.profile.accepts(below[-1], target), self.profile.levels[target].cost
        found = []
        for first in _BOTTOM if len(below) > 1 else (0,):
            for block in range(1, self.profile.max_block + 1):
                plan = StackPlan((*below, target), (first, block) if first else (block,))
                tokens, ms = Below(self.profile, plan).means(_ALL)
                found.append((max(ms, costs(max(1, round(tokens)))) / tokens_per_step(a, tokens), plan))
        return min(found, key=lambda one: one[0])

    def _drafting(self, plan: StackPlan) -> Drafting:
        below = plan.levels[:-1]
        part = Planner(self.profile.only(plan.levels), trees=False, check=self.check).best(shortlist=_FEW).by_depth
        best = min(part, key=lambda one: one.prediction.ms_per_token)
        where = StackPlan(
            tuple(plan.levels[i] for i in best.plan.levels), best.plan.blocks, best.plan.bonus, best.plan.rules
        )
        tokens, ms = Below(self.profile, plan).means(_ALL)
        return Drafting(
            levels=below,
            share=ms / tokens / self.profile.levels[-1].cost(1),
            agreement=self.profile.accepts(below[-1], self.profile.target),
            apart=Ranked(where, best.prediction),
            lock_step=self._best(plan, LOCK_STEP),
            free=self._best(plan, FREE),
            needs=needs_target(self.profile, below),
        )

    def _best(self, plan: StackPlan, schedule: str) -> Priced:
        """The best top block under a schedule: hill climbing by steps of 1, from the plan's block and from 1."""
        known: dict[int, Priced] = {}

        def at(block: int) -> Priced:
            if block not in known:
                self.check()
                what = OnTwoLanes(_with_block(plan, block), schedule)
                known[block] = Priced(what, expected_on_lanes(self.profile, what, self.check))
            return known[block]

        def climbed(block: int) -> Priced:
            while True:
                near = [n for n in (block - 1, block, block + 1) if 1 <= n <= self.profile.max_block]
                moved = min(near, key=lambda n: at(n).price.ms_per_token)
                if moved == block:
                    return at(block)
                block = moved

        return min(climbed(plan.blocks[-1]), climbed(1), key=lambda one: one.price.ms_per_token)


def _with_block(plan: StackPlan, block: int) -> StackPlan:
    return StackPlan(plan.levels, (*plan.blocks[:-1], block))
