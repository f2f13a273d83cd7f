"""Re-planning while generating: the stack "auto".

The run starts with the profile's best plan. Each verification shows how many tokens of the level below it kept; these
outcomes update the acceptance of the pair, exponentially weighted over the judged tokens, and a lookup's hit rate over
its lookups. From time to time the planner runs again, with the profile's costs and the updated acceptances, and the
plan is changed if the predicted gain is large enough.

Only observed pairs are updated, and an outcome also counts for other verifiers that agree with this one almost always
(`ALIKE`): an int4 copy rejects the same lookups as the target. A level that left the plan keeps its last estimate, so a
passage that was hard for it can keep it out for the rest of the run. `explore` is the remedy: every `explore` rounds,
one round runs the best plan, of any set of levels, with a pair not observed recently, if it is not predicted to be much
slower. It is off by default, as a level that joins has to read the complete text first.

Plans are over the costs of one of as many runs as there are at once (`under_load`), and the planner also runs when that
number has doubled or halved.

The plan is a function of the profile and the outcomes of earlier rounds, without clock or random numbers, so a run can
be repeated and stays exact (`plans`). Predictions assume the policy `fixed` at every level. Why a plan changed is said
by `plan_reasons`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from hsd_core.core.run_plans import Checked, Round, RunPlan
from hsd_core.grammar import kind_of
from hsd_core.grammar.keys import GROW, MAX_BLOCK
from hsd_core.grammar.stack_text import LevelSpec, format_stack, level_of
from hsd_core.theory import Answer, Planner, Profile, ProfileError, Ranked, StackPlan, expected
from hsd_core.theory.latency.plans import judges_several, measured_as
from hsd_core.theory.plan_reasons import EstimateChange, pair_key, reason, requests
from hsd_core.theory.profiles.under_load import under_load

BY_LOAD = "by_load"  # in a header's `replan`: a table (`theory/stack_table.py`) that takes the planner's place
HALF_LIFE = 64.0  # judged tokens after which an outcome counts half
EVERY = 16  # rounds between two runs of the planner
MOVED = 0.1  # an estimate that changed this much since the last planning starts one at once,
REST = 4  # but not before this many rounds;
STILL = 0.25  # no planning if all estimates changed by less than this part of `moved`: planning takes time
ALIKE = 0.95  # verifiers of which one accepts this share of the other's tokens share their observations
GAIN = 0.03  # predicted saving below which the plan stays
SLOWER = 1.25  # most that a round of exploring may be slower than the best plan
SHORTLIST = 12  # paths ranked by the exact recursion

Pair = tuple[int, int]
AskPlanner = Callable[[Profile], Answer]


def _ask(profile: Profile) -> Answer:
    """The best plan of every set of levels, and more block lengths of the fastest sets."""
    planner = Planner(profile, trees=False)  # the tree of a run is fixed when its levels are opened
    sets, found = planner.best_of_each_set(), planner.best(shortlist=SHORTLIST)
    best = min(found.best, sets[0], key=lambda one: one.prediction.ms_per_token)
    others = dict.fromkeys((*sets, found.best, *found.alternatives))
    return replace(found, best=best, alternatives=tuple(one for one in others if one != best))


@dataclass(frozen=True, slots=True)
class Pace:
    """The parameters of a replanner; see the constants of the same names. `explore`: rounds, 0 for never."""

    half_life: float = HALF_LIFE
    every: int = EVERY
    moved: float = MOVED
    gain: float = GAIN
    explore: int = 0

    def __post_init__(self) -> None:
        if not self.half_life > 0 or self.every < 1 or not self.moved > 0 or self.gain < 0 or self.explore < 0:
            raise ValueError(f"{self}: half_life, every and moved are positive, gain and explore 0 or more")


class Estimates:
    """Estimates of acceptances and hit rate during a run, starting with a profile's."""

    def __init__(self, profile: Profile, half_life: float) -> None:
        n = len(profile.levels)
        self.profile = profile
        self.acceptance: dict[Pair, float] = {(j, i): profile.acceptance[j][i] for i in range(n) for j in range(i)}
        self.hit: float | None = profile.levels[0].hit_rate
        self.seen: dict[Pair, int] = {}  # the last round in which a pair was observed
        self._keep = 0.5 ** (1.0 / half_life)

    def take(self, past: Round) -> None:
        """Updates the estimates with the outcomes of a round."""
        for outcome in past.outcomes:
            if isinstance(outcome, Checked):
                kept, rejected = outcome.accepted, outcome.accepted < outcome.tokens
                for level in self._alike(outcome.below, outcome.level):
                    a = 1.0 - (1.0 - self.acceptance[outcome.below, level]) * self._keep**kept
                    self.acceptance[outcome.below, level] = a * self._keep if rejected else a
                self.seen[outcome.below, outcome.level] = past.index
            elif outcome.level == 0 and self.hit is not None:
                self.hit = self._keep * self.hit + (1.0 - self._keep) * (outcome.tokens > 0)

    def _alike(self, below: int, level: int) -> list[int]:
        """The verifier and the levels that agree with it."""
        others = range(below + 1, len(self.profile.levels))
        return [i for i in others if i == level or self.acceptance[min(i, level), max(i, level)] >= ALIKE]

    def moved_most(self, since: Mapping[str, float]) -> str | None:
        """The key, as in `as_dict`, of the observed estimate that changed most."""
        now = self.as_dict()
        seen = [pair_key(pair) for pair in sorted(self.seen)] + (["hit"] if self.hit is not None else [])
        return max(seen, key=lambda key: abs(now[key] - since[key]), default=None)

    def now(self) -> Profile:
        """The profile with these acceptances."""
        profile = self.profile.with_acceptance(self.acceptance)
        if self.hit is None:
            return profile
        return replace(profile, levels=(replace(profile.levels[0], hit_rate=self.hit), *profile.levels[1:]))

    def as_dict(self) -> dict[str, float]:
        """The estimates by the keys of `trace.Plan.acceptance`."""
        named = {pair_key(pair): a for pair, a in self.acceptance.items()}
        return named if self.hit is None else {**named, "hit": self.hit}


class ProfileReplanner:
    """A `Replanner` over a profile, for one run.

    Args:
        profile: measured levels, including all of the stack; see `calibrate`.
        specs: the stack, cheapest first: the candidates. Their T are ignored.
        ask: the planner. load: how many runs are decoded together now, this one among them.
    Raises:
        ProfileError: a level of the stack is not in the profile, or is there in another order.
    """

    def __init__(
        self,
        profile: Profile,
        specs: Sequence[LevelSpec],
        *,
        pace: Pace | None = None,
        ask: AskPlanner = _ask,
        load: Callable[[], int] = lambda: 1,
    ) -> None:
        self.profile, self._load = candidates(profile, specs), load
        self._bonus = [spec.bonus for spec in specs]
        self._pace, self._ask = pace or Pace(), ask
        self._known: Mapping[str, float]  # the estimates at the last planning
        self._since: Mapping[str, float]  # the estimates when the present plan was chosen
        self._changed: bool  # whether it was chosen after the start
        self._runs: int  # at once, when the planner last ran; a power of two
        self._back: StackPlan | None  # the plan that was left for one round of exploring
        self._reset()

    @property
    def longest(self) -> int:
        return self.profile.max_block

    def settings(self) -> dict[str, Any]:
        return asdict(self._pace)

    def first(self) -> RunPlan:
        """The profile's best plan; resets the state."""
        self._reset()
        now, ranked = self._ranked()
        self._plan = ranked[0].plan
        return self._course(now, ranked[0], None)

    def after(self, past: Round) -> RunPlan | None:
        """Another plan if it is predicted to save at least `gain`; the plan for another number of runs at once."""
        self._estimates.take(past)
        runs, left = self._at_once(), self._back  # the one round of exploring is over
        resized, self._runs, self._back = runs != self._runs, runs, None
        if left is None and not resized and not self._due(past.index):
            return None
        return self._settle(past.index, returning=left, resized=resized)

    def _at_once(self) -> int:
        """The runs at once, down to a power of two."""
        power: int = 1 << (self._load().bit_length() - 1)
        return power

    def _due(self, index: int) -> bool:
        rounds = index - self._asked
        if self._explores(index):
            return True
        least = STILL * self._pace.moved if rounds >= self._pace.every else self._pace.moved
        known, now = self._known, self._estimates.as_dict()
        return rounds >= REST and max((abs(a - known.get(key, a)) for key, a in now.items()), default=0.0) >= least

    def _explores(self, index: int) -> bool:
        return self._pace.explore > 0 and (index + 1) % self._pace.explore == 0

    def _settle(self, index: int, returning: StackPlan | None, resized: bool) -> RunPlan | None:
        """Runs the planner; None if nothing is gained. `returning`: the plan before exploring. `resized`: the runs at
        once are others than before."""
        now, ranked = self._ranked()
        self._known, self._asked = self._estimates.as_dict(), index
        best, present = ranked[0], returning or self._plan
        left = Ranked(present, expected(now, present))
        saves = 1.0 - best.prediction.ms_per_token / left.prediction.ms_per_token
        if returning is None and self._explores(index):
            fresh = self._unseen([each for each in ranked if each.plan != present], best, index)
            if fresh is not None:
                self._back, self._plan = present, fresh.plan
                return self._course(now, fresh, left, exploring=True, resized=resized)
        chosen = best if saves > self._pace.gain else left
        if chosen.plan == self._plan and not resized:
            return None
        self._plan = chosen.plan
        return self._course(now, chosen, left, returned=returning is not None, resized=resized)

    def _ranked(self) -> tuple[Profile, list[Ranked]]:
        """The present profile and its plans, the best first, with the stack's bonus settings."""
        now = under_load(self._estimates.now(), self._runs)
        answer = self._ask(now)
        found = [answer.best, *answer.alternatives]
        if all(self._bonus):
            return now, found
        plans = [replace(each.plan, bonus=tuple(self._bonus[i] for i in each.plan.levels[1:])) for each in found]
        priced = [Ranked(plan, expected(now, plan)) for plan in dict.fromkeys(plans)]
        return now, sorted(priced, key=lambda each: each.prediction.ms_per_token)

    def _unseen(self, ranked: Sequence[Ranked], best: Ranked, index: int) -> Ranked | None:
        """The best of these with a pair not observed recently, if it is not much slower than the best plan."""
        longest = SLOWER * best.prediction.ms_per_token
        lately = index - 4 * self._pace.explore
        for each in ranked:
            pairs = zip(each.plan.levels, each.plan.levels[1:], strict=False)
            if each.prediction.ms_per_token <= longest and any(
                self._estimates.seen.get(pair, -1) <= max(-1, lately) for pair in pairs
            ):
                return each
        return None

    def _course(
        self,
        now: Profile,
        chosen: Ranked,
        left: Ranked | None,
        *,
        exploring: bool = False,
        returned: bool = False,
        resized: bool = False,
    ) -> RunPlan:
        acceptance = self._estimates.as_dict()
        key = self._estimates.moved_most(self._since)
        moved = (
            None if key is None or resized else EstimateChange(key, self._since[key], acceptance[key], self._changed)
        )
        why = reason(now, chosen, left, moved, exploring=exploring, returned=returned)
        if resized or (left is None and self._runs > 1):
            why = f"{requests(self._runs)}: {why}"
        if left is not None and not exploring:
            self._since, self._changed = acceptance, True
        left_ms = None if left is None else left.prediction.ms_per_token
        ms = chosen.prediction.ms_per_token
        return RunPlan(chosen.plan.levels, chosen.plan.blocks, why, ms, left_ms, acceptance, self._runs)

    def _reset(self) -> None:
        self._estimates = Estimates(self.profile, self._pace.half_life)
        self._known = self._since = self._estimates.as_dict()
        self._changed, self._asked, self._runs = False, -1, self._at_once()
        self._plan, self._back = StackPlan((self.profile.target,), ()), None


def candidates(profile: Profile, specs: Sequence[LevelSpec]) -> Profile:
    """The profile of a stack's levels, in the stack's order, each pair with the acceptance under its rule.

    A rule without acceptances in the profile gets those of `tokenwise`.

    Raises:
        ProfileError: a level of the stack is not in the profile, or is there in another order.
    """
    known = {measured_as(level_of(level.spec), bottom=True): i for i, level in enumerate(profile.levels) if level.spec}
    wanted = [measured_as(spec, bottom=not place) for place, spec in enumerate(specs)]
    found = [known.get(spec) for spec in wanted]
    there = [i for i in found if i is not None]
    missing = [format_stack([spec]) for spec, i in zip(wanted, found, strict=True) if i is None]
    for spec in specs:
        if why := kind_of(spec).planning.unplanned(spec):
            raise ProfileError(
                f"{format_stack([spec])}: a plan cannot hold {why.what}; write levels of one drafter each"
            )
        if kind_of(spec).planning.named:
            raise ProfileError(
                f"{format_stack([spec])}: no plan changes around a level of kind {spec.name}; write the stack with "
                "block lengths, not as auto"
            )
    if max(specs[0].widths, default=1) > 1:
        raise ProfileError(f"{format_stack(specs[:1])}: a run's tree is fixed when it begins; plan it without @tree=")
    if specs[0].get(GROW):
        raise ProfileError(
            f"{format_stack(specs[:1])}: plans have no tree with a new shape in every round; plan it without @grow="
        )
    if missing or there[-1] != profile.target:
        named = ", ".join(missing) or format_stack(wanted[-1:])
        raise ProfileError(
            f"the profile lacks {named}; its levels are {', '.join(profile.names)}; measure them with "
            f"calibrate --levels {format_stack(wanted)}"
        )
    if there != sorted(set(there)):
        raise ProfileError(f"the profile has these levels in another order: {', '.join(profile.names)}; write them so")
    if profile.levels[there[0]].beside and (alone := [s for s in specs[1:] if not judges_several(s.rule)]):
        raise ProfileError(
            f"rule {alone[0].rule} judges one candidate, and {format_stack(wanted[:1])} offers several side by side, "
            f"in some plans to {alone[0].name}; leave @rule={alone[0].rule} out"
        )
    cut = profile.only(tuple(there))
    rules = {(j, i): cut.by_rule[s.rule][j][i] for i, s in enumerate(specs) if s.rule in cut.by_rule for j in range(i)}
    most = min(cut.max_block, MAX_BLOCK)
    return replace(cut.with_acceptance(rules), by_rule={}, by_width={}, interval=None, max_block=most, about={})
