"""The latency-optimal hierarchy of a profile.

Shortest paths (`paths`) ignore the overshoot, which is not a property of edges. So the best paths are ranked by the
exact recursion, and the block lengths of the best few are changed while that helps. Trees can replace the bottom block
(`best_shapes`). `path_edges` and `node_ms` return the graph for display: per token of the target, a path costs the sum
over its edges of `cost_ms` times the gains of the edges before it, without the overshoot.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain, product
from typing import Any

import numpy as np

from hsd_core.grammar.stack_text import MAX_LEVELS
from hsd_core.theory.latency.plans import Ranked, StackPlan, Stop
from hsd_core.theory.latency.recursion import Pricer
from hsd_core.theory.profiles.costs import Array, ProfileError
from hsd_core.theory.profiles.profile import TOKENWISE, Pair, Profile
from hsd_core.theory.search.paths import Edges, Mode, cheapest_paths, grow, path_of_each_set

MOST_NODES = 24  # on every measured machine further rows cost more than they gained
MOST_DEPTH = 8


def best_shapes(
    by_width: Sequence[float], *, nodes: int = MOST_NODES, depth: int = MOST_DEPTH
) -> list[tuple[int, ...]]:
    """The forking shapes with the most kept tokens on average, one for each depth and number of nodes.

    A tree with widths w_1, w_2, ... has w_1 nodes at depth 1, w_1 w_2 at depth 2 and so on, and is kept down to depth m
    with probability A(w_1) ... A(w_m), where A(k) is the acceptance of a fork of k tokens. The value of a tree below a
    depth depends only on the number of nodes there and how many may follow, so the best shapes follow by dynamic
    programming (like those of Sequoia, arXiv 2402.12374, from acceptances by position).

    Args:
        by_width: acceptance of a fork of 1, 2, ... tokens.
        nodes, depth: the most of a tree.
    """

    @cache
    def best(layer: int, left: int, deep: int) -> tuple[float, tuple[int, ...]]:
        """Mean tokens kept below a depth of `layer` nodes, with `left` nodes for `deep` more depths; and their
        widths."""
        if not deep:
            return 0.0, ()
        found: tuple[float, tuple[int, ...]] = (-1.0, ())
        for wide, accepted in enumerate(by_width, start=1):
            rest = left - layer * wide
            if rest < layer * wide * (deep - 1):  # every depth below needs at least as many nodes
                break
            kept, below = best(layer * wide, rest, deep - 1)
            worth = accepted * (1.0 + kept)
            if worth > found[0]:
                found = worth, (wide, *below)
        return found

    shapes = {best(1, most, deep)[1] for deep in range(1, depth + 1) for most in range(deep + 1, nodes + 1)}
    return sorted(shape for shape in shapes if max(shape, default=1) > 1)


SHORTLIST = 50
_FEW = 8  # a shortlist that is fast enough for each level while a slider waits
_PER_DEPTH = 8  # least number of paths per number of levels for the exact recursion
_CLIMBERS = 2  # how many of them are improved
_NEAR = 1.25  # sets of levels are improved if their plan is at most this many times as slow as the best


@dataclass(frozen=True, slots=True)
class Answer:
    """`by_depth`: for each number of levels, from 1 (plain decoding), the best plan without trees. `alternatives`: the
    runners-up.

    `several`: the best plan whose bottom level offers several candidates, if there is one; `single`: the best of the
    others.
    """

    best: Ranked
    alternatives: tuple[Ranked, ...]
    by_depth: tuple[Ranked, ...]
    plain: Ranked
    single: Ranked
    several: Ranked | None = None


@dataclass(slots=True)
class Planner:
    """The planner of one profile. Tables and predictions are cached.

    Args:
        drop_bonus: also consider verifiers without a bonus token (they save a row, or its shared layers).
        trees: also consider trees of the bottom level, if the profile has their acceptances.
        stops: also consider stop policies of levels between, if the profile knows how sure their tokens are.
        catch_up: see `Pricer`.
        check: called before each step of a search; its exceptions end the search.
    """

    profile: Profile
    drop_bonus: bool = False
    trees: bool = True
    stops: bool = False
    catch_up: bool = False
    check: Callable[[], None] = lambda: None
    edges: Edges = field(init=False)
    pricer: Pricer = field(init=False)
    modes: tuple[Mode, ...] = field(init=False)
    _found: dict[Pair, list[tuple[int, ...]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.edges = Edges(self.profile)
        self.pricer = Pricer(self.profile, self.catch_up)
        bonuses = (True, False) if self.drop_bonus else (True,)
        self.modes = tuple(Mode(rule, bonus) for rule in self.profile.rules for bonus in bonuses)

    def best(
        self, *, shortlist: int = SHORTLIST, depth: int | None = None, levels: Collection[int] | None = None
    ) -> Answer:
        """The latency-optimal plan and the runners-up.

        Args:
            shortlist: least number of paths ranked by the exact recursion.
            depth: the most levels a plan may have (1 is plain decoding); None: as many as a stack may have.
            levels: the candidates below the target; None: all.

        Raises:
            ProfileError: `depth`, `shortlist` or a candidate is out of range.
        """
        target = self.profile.target
        allowed = sorted(set(range(target)) if levels is None else set(levels) - {target})
        if allowed and not 0 <= allowed[0] <= allowed[-1] < target:
            raise ProfileError(f"candidates are {allowed}; levels below the target are 0 to {target - 1}")
        if shortlist < 1 or (depth is not None and depth < 1):
            raise ProfileError(f"depth is {depth} and shortlist {shortlist}; both start at 1")
        most = min(MAX_LEVELS if depth is None else depth, len(allowed) + 1)
        plain = self.ranked(StackPlan((target,), ()))
        self.check()
        # plans with several candidates are searched separately, so that the answer has the best of either
        apart = ([i for i in allowed if bool(self.profile.levels[i].beside) is several] for several in (False, True))
        paths = [
            found
            for bottoms in apart
            for found in cheapest_paths(self.edges, self.modes, allowed, most, shortlist, _PER_DEPTH, bottoms)
        ]
        self.pricer.price_all(plan for found in paths for plan in found)
        ranked = [sorted(map(self.ranked, found), key=_order) for found in paths]
        climbed = self._climb([start for here in ranked for start in here[:_CLIMBERS]])
        by_levels = {1: [plain]}
        for each in (*chain(*ranked), *climbed):
            by_levels.setdefault(len(each.plan.levels), []).append(each)
        by_depth = tuple(min(by_levels[n], key=_order) for n in sorted(by_levels))
        ranked = list(by_levels.values())
        if self.trees:
            single = (sorted((one for one in here if not self._several(one.plan)), key=_order) for here in ranked)
            ranked += [self._grown(here[:_CLIMBERS]) for here in list(single)]
        best, *others = sorted({each.plan: each for here in ranked for each in here}.values(), key=_order)
        of_several = next((each for each in (best, *others) if self._several(each.plan)), None)
        of_one = next(each for each in (best, *others) if not self._several(each.plan))
        return Answer(best, tuple(others[: shortlist - 1]), by_depth, plain, of_one, of_several)

    def best_of_each_set(self) -> tuple[Ranked, ...]:
        """The best plan of each set of levels, the fastest set first; those of slow sets only approximately."""
        target = self.profile.target
        most = min(MAX_LEVELS, target + 1)
        plans = [StackPlan((target,), ()), *path_of_each_set(self.edges, self.modes, range(target), most)]
        self.pricer.price_all(plans)
        best = {plan.levels: self.ranked(plan) for plan in plans}
        longest = _NEAR * min(map(_ms, best.values()))
        for better in self._climb([each for each in best.values() if _ms(each) <= longest]):
            best[better.plan.levels] = min(best[better.plan.levels], better, key=_order)
        return tuple(sorted(best.values(), key=_order))

    def worth(self, best: Ranked) -> tuple[float, ...]:
        """For each level of the best plan below the target: latency of the best plan without it / latency with it.

        The plan's other levels remain, with new block lengths, and no level is added: so the stack without a level is
        never faster than the best one with that number of levels.
        """
        plan = set(best.plan.levels)
        without = (self.best(levels=plan - {level}, shortlist=_FEW).best for level in best.plan.levels[:-1])
        return tuple(one.prediction.ms_per_token / best.prediction.ms_per_token for one in without)

    def ranked(self, plan: StackPlan) -> Ranked:
        """A plan with its exact prediction."""
        return Ranked(plan, self.pricer.price(plan))

    def _several(self, plan: StackPlan) -> bool:
        return bool(plan.widths or self.profile.levels[plan.levels[0]].beside)

    def _climb(self, starts: Sequence[Ranked]) -> Iterator[Ranked]:
        """Better and better neighbours of each plan, until none is better; one step of all plans at a time."""
        while starts:
            self.check()
            near = [list(self._neighbours(start.plan)) for start in starts]
            self.pricer.price_all(plan for plans in near for plan in plans)
            steps = [
                (start, min(map(self.ranked, plans), key=_order))
                for start, plans in zip(starts, near, strict=True)
                if plans
            ]
            starts = [best for start, best in steps if _ms(best) < _ms(start)]
            yield from starts

    def _grown(self, chains: Sequence[Ranked]) -> list[Ranked]:
        """For each plan the best one with a tree instead of its bottom block."""
        self.check()
        grown = [
            [
                replace(plan, blocks=(len(shape), *plan.blocks[1:]), widths=shape)
                for shape in self._shapes(plan.levels[0], plan.levels[1])
            ]
            for plan in (chain.plan for chain in chains)
            if plan.blocks and plan.bonus_of(1) and plan.rule_of(1) == TOKENWISE
        ]
        self.pricer.price_all(plan for plans in grown for plan in plans)
        return [min(map(self.ranked, plans), key=_order) for plans in grown if plans]

    def _shapes(self, below: int, level: int) -> list[tuple[int, ...]]:
        widest = self.profile.widest(below, level)
        if widest < 2 or self.profile.levels[below].beside:
            return []
        if (below, level) not in self._found:
            depth = min(MOST_DEPTH, self.profile.max_block)
            self._found[below, level] = best_shapes(self.profile.by_width[below, level], depth=depth)
        return self._found[below, level]

    def _stops(self, plan: StackPlan, place: int) -> list[Stop | None]:
        known = self.profile.sure.get((plan.levels[place], plan.levels[place + 1]), {}) if self.stops and place else {}
        return [None, *((policy, theta) for policy, rows in known.items() for theta, *_ in rows)] if known else []

    def _neighbours(self, plan: StackPlan) -> Iterable[StackPlan]:
        """Each block length moved by one, or another stop policy, also of the longest blocks; a tree stays as it is."""
        for place, block in enumerate(plan.blocks):
            for stop in self._stops(plan, place):
                stops = [plan.stop_of(at) for at in range(len(plan.blocks))]
                stops[place] = stop
                for length in {block, self.profile.max_block}:
                    blocks = (*plan.blocks[:place], length, *plan.blocks[place + 1 :])
                    yield replace(plan, blocks=blocks, stops=tuple(stops) if any(stops) else ())
            if plan.widths and not place:
                continue
            for moved in (block - 1, block + 1):
                if 1 <= moved <= self.profile.max_block:
                    blocks = (*plan.blocks[:place], moved, *plan.blocks[place + 1 :])
                    yield replace(plan, blocks=blocks)


def best_plans(profile: Profile, **asked: Any) -> Answer:
    """The latency-optimal plan of a profile and the runners-up. Arguments and exceptions: see `Planner.best`."""
    return Planner(profile).best(**asked)


def _ms(ranked: Ranked) -> float:
    return ranked.prediction.ms_per_token


def _order(ranked: Ranked) -> tuple[float, int, tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Sort key: fastest first; of equals the one with fewer levels."""
    plan = ranked.plan
    return _ms(ranked), len(plan.levels), plan.levels, plan.blocks, plan.widths


# the block lengths tried for a drafter below another level, and for the level directly below the target
DRAFTED_BLOCKS, HELD_BLOCKS = (1, 2, 3, 4, 6, 8), (1, 2, 3, 4, 5, 6, 8, 10, 12, 16)


def best_block_lengths(profile: Profile, levels: tuple[int, ...]) -> tuple[float, tuple[int, ...]]:
    """The best plan of these levels with the block lengths above: its speed-up over plain decoding, and its blocks."""
    blocks = [DRAFTED_BLOCKS, *[HELD_BLOCKS] * (len(levels) - 2)] if len(levels) > 2 else [HELD_BLOCKS]
    plans = [StackPlan(levels, chosen) for chosen in product(*blocks)]
    prices = Pricer(profile, catch_up=True).price_all(plans)
    best = max(range(len(plans)), key=lambda k: prices[k].speedup)
    return prices[best].speedup, plans[best].blocks


@dataclass(frozen=True, slots=True)
class Edge:
    """One unit at `above` needs `gain` blocks of `below`, `cost_ms` in all; `token_ms`: its part of a token's time.

    Ends are (level, block length); a unit of the target is a token, with block length 1. `below` is None if the level
    drafts itself: gain 0, the cost is that of its block.
    """

    above: tuple[int, int]
    below: tuple[int, int] | None
    gain: float
    cost_ms: float
    token_ms: float


def path_edges(planner: Planner, plan: StackPlan) -> list[Edge]:
    """The edges of a plan, the target's first."""
    profile = planner.profile
    ends = list(zip(plan.levels, (*plan.blocks, 1), strict=True))
    edges: list[Edge] = []
    flow = 1.0
    for place in range(len(ends) - 1, 0, -1):
        (level, wanted), (below, u) = ends[place], ends[place - 1]
        mode = Mode(plan.rule_of(place), plan.bonus_of(place))
        table = planner.edges.table(below, level, mode)
        top = level == profile.target
        gain = float(1.0 / table.tokens[u - 1] if top else table.rounds[wanted - 1, u - 1])
        cost = gain * (float(table.ms[u - 1]) + (profile.round_ms if top else 0.0))
        edges.append(Edge(ends[place], ends[place - 1], gain, cost, flow * cost))
        flow *= gain
    level, wanted = ends[0]
    ms = profile.levels[level].block_ms(wanted) if plan.blocks else profile.plain_ms
    return [*edges, Edge(ends[0], None, 0.0, ms, flow * ms)]


def node_ms(planner: Planner) -> Array:
    """D(i, t), the least ms for a block of t tokens of level i: (levels below the target, max_block)."""
    profile = planner.profile
    least = np.full((profile.target, profile.max_block), np.inf)
    for layer in grow(planner.edges, planner.modes, list(range(profile.target)), profile.target, 1):
        some = list(layer.levels)
        least[some] = np.minimum(least[some], layer.ms[:, :, 0])
    return least
