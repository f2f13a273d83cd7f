"""Any schedule in the long run: the scheduler itself, simulated from one verdict of the target to the next.

A scheduler sees only counts, and with i.i.d. acceptances the future depends on few of them: the number of undecided
tokens, and what is in flight on the drafter's lane. So verdicts are the steps of a Markov chain, and ms per token is
the mean time of a step over its mean tokens, both under the chain's stationary distribution. The scheduler is called as
the driver calls it, so a new one needs no formula.

A block in flight when a token is rejected runs to the end of its current request, as in the engine, and is then
dropped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from hsd_core.grammar.strategies import Scheduler, Submission, View
from hsd_core.theory.overlap.below import Below
from hsd_core.theory.profiles.costs import Array, Costs, ProfileError

_ROOM = 1 << 20  # texts do not end here
_RARE = 1e-5  # rarer transitions between two verdicts are ignored
_SELDOM = 1e-6  # states whose likeliest path from the start is rarer are ignored
_STEPS = 400  # verdicts; the chain forgets its start at every rejection
_STILL = 1e-9  # largest change of a stationary distribution
_MOST_STATES = 20_000
_SHARE = 1e-3  # a point of the grid with a smaller weight is ignored
_COARSE, _FINE = 8, 4096  # steps of the time grid per pass of the target, if the times of drafts vary or not


class _State(NamedTuple):
    """The state after a verdict. pull: tokens and remaining ms of the block in flight. stale: remaining ms of a block
    in flight that will be dropped. arrived: tokens since the last verification began. silent: the last draft was empty,
    so none is requested for the same text."""

    undecided: int = 0
    pull: tuple[int, float] | None = None
    stale: float | None = None
    arrived: int = 0
    silent: bool = False


class _Step(NamedTuple):
    """One transition to the next verdict: probability, new state, tokens committed, ms, and the busy ms of each
    lane."""

    chance: float
    to: _State
    tokens: int
    ms: float
    verifying: float
    drafting: float


@dataclass(frozen=True, slots=True)
class _Moment:
    """The state between two verdicts, `now` ms after the first. ends: when the work in flight ends; tokens: of a block.
    verify: the submission, and when its scores are ready."""

    chance: float
    now: float
    undecided: int
    ends: float | None
    tokens: int | None
    arrived: int
    silent: bool
    verify: tuple[Submission, float] | None = None
    verifying: float = 0.0
    drafting: float = 0.0


@dataclass(frozen=True, slots=True)
class LongRun:
    """Means: ms per token, tokens per verdict, and the shares of the time that each lane is busy."""

    ms_per_token: float
    tokens_per_verdict: float
    verifying: float
    drafting: float


@dataclass(slots=True)
class Verdicts:
    """One schedule of a drafter and a verifier.

    Args:
        scheduler: must be stateless. a: acceptance of the handed up tokens, 0 to 1.
        costs: of the target with all of its layers. round_ms: the engine's time after a verdict.
        check: called now and then; its exceptions end the computation.
    """

    scheduler: Scheduler
    below: Below
    a: float
    costs: Costs
    round_ms: float = 0.0
    check: Callable[[], None] = lambda: None
    _grid: float = field(init=False)
    _request: float = field(init=False)  # mean ms to the end of the running request

    def __post_init__(self) -> None:
        varies = len(self.below.blocks(_ROOM)) > 1
        self._grid = self.costs(1) / (_COARSE if varies else _FINE)
        self._request = self.below.waits_for_one(_ROOM)

    def long_run(self) -> LongRun:
        """The means under the stationary distribution.

        Raises:
            ProfileError: the schedule has too many states.
        """
        steps = self._followed()
        place = {state: i for i, state in enumerate(steps)}
        ways = [(place[state], way) for state, out in steps.items() for way in out]
        begin = np.array([i for i, _ in ways])
        end = np.array([place[way.to] for _, way in ways])
        chance = np.array([way.chance for _, way in ways])
        worth = np.array([(way.tokens, way.ms, way.verifying, way.drafting) for _, way in ways])
        at: Array = np.zeros(len(place))
        seen: Array = np.zeros(len(place))
        at[0] = 1.0
        for step in range(_STEPS):
            before, moved = at, np.bincount(end, at[begin] * chance, len(place)).astype(np.float64)
            at = moved / moved.sum()
            if np.abs(at - before).max() < _STILL:
                seen = at
                break
            if step >= _STEPS // 2:  # average, in case the chain is periodic
                seen += at
        tokens, ms, verifying, drafting = (seen[begin] * chance / seen.sum()) @ worth
        return LongRun(float(ms / tokens), float(tokens), float(verifying / ms), float(drafting / ms))

    def _followed(self) -> dict[_State, list[_Step]]:
        """The transitions from every reachable state, the empty one first."""
        steps: dict[_State, list[_Step]] = {}
        waiting = {_State(): 1.0}  # with the probability of the likeliest path there
        while waiting:
            self.check()
            state = next(iter(waiting))
            likely = waiting.pop(state)
            steps[state] = list(self._steps(state))
            if len(steps) > _MOST_STATES:
                raise ProfileError(f"this schedule has more than {_MOST_STATES} states; use shorter blocks")
            for way in steps[state]:
                if way.to not in steps and (chance := likely * way.chance) > _SELDOM:
                    waiting[way.to] = max(waiting.get(way.to, 0.0), chance)
        return {state: [way for way in out if way.to in steps] for state, out in steps.items()}

    def _steps(self, state: _State) -> Iterator[_Step]:
        """Every transition from a verdict to the next one, equal ones merged."""
        alike: dict[tuple[_State, int], _Step] = {}
        for way in self._verdicts(state):
            before = alike.get((way.to, way.tokens))
            alike[way.to, way.tokens] = way if before is None else _as_one(before, way)
        total = sum(way.chance for way in alike.values())
        yield from (way._replace(chance=way.chance / total) for way in alike.values())

    def _verdicts(self, state: _State) -> Iterator[_Step]:
        tokens, ends = state.pull or (None, state.stale)
        ways = [_Moment(1.0, 0.0, state.undecided, ends, tokens, state.arrived, state.silent)]
        while ways:
            for one in self._started(ways.pop()):
                if one.verify and one.now >= one.verify[1] and not (one.verify[0].next and one.ends is not None):
                    yield from self._verdict(one)
                else:
                    ways.append(self._next(one))

    def _started(self, one: _Moment) -> Iterator[_Moment]:
        """Starts what the scheduler orders; a draft has several possible outcomes."""
        orders = self.scheduler.ended(
            View(
                undecided=one.undecided,
                submitted=one.verify[0].tokens if one.verify else 0,
                drafting=one.ends is not None,
                verifying=one.verify is not None,
                drafted=one.arrived,
                block=self.below.plan.blocks[-1],
                room=_ROOM,
                silent=one.silent,
            )
        )
        if orders.verify:
            asked = orders.verify
            ms = self.costs(asked.tokens + 1 if asked.next else max(1, asked.tokens))
            one = replace(one, verify=(asked, one.now + ms), verifying=ms, arrived=0)
        if not orders.draft:
            yield one
            return
        for block in self.below.blocks(orders.draft):
            chance = one.chance * block.chance
            if chance > _RARE:
                ends = one.now + block.ms
                yield replace(one, chance=chance, ends=ends, tokens=block.tokens, drafting=one.drafting + block.ms)

    def _next(self, one: _Moment) -> _Moment:
        """The state after the lane that ends first; of two at once the verifier's."""
        scored = one.verify[1] if one.verify and one.verify[1] > one.now else None
        if scored is not None and (one.ends is None or scored <= one.ends):
            return replace(one, now=scored)
        assert one.ends is not None, "the scheduler left both lanes idle"
        now = max(one.now, one.ends)
        if one.tokens is None:
            return replace(one, now=now, ends=None)
        n = one.tokens
        arrived, undecided = one.arrived + n, one.undecided + n
        return replace(one, now=now, ends=None, tokens=None, undecided=undecided, arrived=arrived, silent=not n)

    def _verdict(self, one: _Moment) -> Iterator[_Step]:
        assert one.verify
        asked, _ = one.verify
        judged = min(asked.tokens + asked.next, one.undecided)
        own = judged == asked.tokens and (asked.next or not judged)  # the target adds a token after them
        ms = one.now + self.round_ms
        kept = one.chance
        for tokens in range(1, judged + 1):
            if (chance := kept * (1.0 - self.a)) > _RARE:
                for share, stale, spared in self._stale(one, ms):
                    to = _State(stale=stale)
                    yield _Step(chance * share, to, tokens, ms, one.verifying, one.drafting - spared)
            kept *= self.a
        if kept > _RARE:
            for share, rest in self._left(one, ms):
                pull = None if rest is None or one.tokens is None else (one.tokens, rest)
                stale = rest if pull is None else None
                to = _State(one.undecided - judged, pull, stale, one.arrived, one.silent and not own)
                yield _Step(kept * share, to, judged + own, ms, one.verifying, one.drafting)

    def _left(self, one: _Moment, now: float) -> Iterator[tuple[float, float | None]]:
        """Remaining ms of the work in flight, on the grid: two points with the right mean."""
        if one.ends is None:
            yield 1.0, None
            return
        steps = max(0.0, (one.ends - now) / self._grid)
        low = math.floor(steps)
        for share, at in ((1.0 - steps + low, low), (steps - low, low + 1)):
            if share > _SHARE:
                yield share, at * self._grid

    def _stale(self, one: _Moment, now: float) -> Iterator[tuple[float, float | None, float]]:
        """For a block that is dropped: ms to the end of the running request, and the ms that are never run."""
        for share, rest in self._left(one, now):
            stale = rest
            if rest is not None and self.below.top:  # a block of several requests
                stale = min(rest, self._request)
            yield share, stale, 0.0 if rest is None or stale is None else rest - stale


def _as_one(a: _Step, b: _Step) -> _Step:
    """Two transitions between the same states as one, with the mean of their times."""
    chance = a.chance + b.chance

    def mean(x: float, y: float) -> float:
        return (a.chance * x + b.chance * y) / chance

    return a._replace(
        chance=chance,
        ms=mean(a.ms, b.ms),
        verifying=mean(a.verifying, b.verifying),
        drafting=mean(a.drafting, b.drafting),
    )
