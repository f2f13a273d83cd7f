"""Texts that end: the recursion over rounds with ever less room against the engine's own rule, played out path by path.

The paths share no formula with the theory: they follow `Hierarchy.pull` and `Hierarchy.verify` token by token, with
coins of known odds in place of models.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from hsd_core.theory import (
    Costs,
    Profile,
    ProfileError,
    ProfileLevel,
    StackPlan,
    TextLengths,
    expected,
    profile_from,
)
from hsd_core.theory.latency.recursion import over_texts

Path = tuple[float, int, Counter]  # probability, tokens, calls by (place, rows)
ACCEPTANCE = ((1.0, 0.6, 0.5, 0.4), (0.0, 1.0, 0.75, 0.65), (0.0, 0.0, 1.0, 0.8), (0.0, 0.0, 0.0, 1.0))
COSTS = tuple(Costs((1, 9), (ms, 3.0 * ms)) for ms in (1.0, 4.0, 9.0, 30.0))


def profile(size: int, *, lookup: bool = False) -> Profile:
    levels = [ProfileLevel(f"m{i}", COSTS[i]) for i in range(size)]
    if lookup:
        levels[0] = ProfileLevel("m0", COSTS[0], "", 0.7, (1.0, 0.6))
    matrix = tuple(row[-size:] for row in ACCEPTANCE[-size:])
    return Profile(tuple(levels), matrix, round_ms=0.5)


class Played:
    """Every path of blocks and rounds of a plan."""

    def __init__(self, known: Profile, plan: StackPlan) -> None:
        self.known, self.plan = known, plan

    def draft(self, room: int) -> Iterator[Path]:
        level, most = self.known.levels[self.plan.levels[0]], min(self.plan.blocks[0], room)
        if level.hit_rate is None:
            yield 1.0, most, Counter({(0, 1): most})
            return
        reach = [1.0 - level.hit_rate, *(level.hit_rate * (1.0 if m == 1 else 0.6) for m in range(1, most + 1)), 0.0]
        for n in range(most + 1):
            chance = reach[0] if n == 0 else reach[n] - reach[n + 1]
            yield chance, n, Counter({(0, most): 1})  # asked once, for as many as there is room for

    def pull(self, place: int, room: int) -> Iterator[Path]:
        if place == 0:
            yield from self.draft(room)
            return
        waiting: list[Path] = [(1.0, 0, Counter())]
        while waiting:
            chance, held, calls = waiting.pop()
            for own, added, more in self.verify(place, room - held):
                path = (chance * own, held + added, calls + more)
                if path[1] == room or path[1] >= self.plan.blocks[place]:
                    yield path
                else:
                    waiting.append(path)

    def verify(self, place: int, room: int) -> Iterator[Path]:
        bonus = place == 0 or self.plan.bonus_of(place)
        below = room - bonus
        blocks = self.pull(place - 1, below) if place and below > 0 else iter([(1.0, 0, Counter())])
        for chance, block, calls in blocks:
            rows = block + 1 if bonus else max(1, block)
            calls = calls + Counter({(place, rows): 1})
            alive = chance
            for kept in range(block):
                a = self.known.acceptance[self.plan.levels[place - 1]][self.plan.levels[place]]
                yield alive * (1.0 - a), kept + 1, calls
                alive *= a
            yield alive, block + (bonus or not block), calls

    def text(self, length: int, limit: int) -> tuple[float, Counter]:
        """Mean rounds and calls of a text of so many tokens."""
        top, starts = len(self.plan.levels) - 1, Counter({0: 1.0})
        rounds, calls = 0.0, Counter()
        for written in range(length):
            if not starts[written]:
                continue
            rounds += starts[written]
            for chance, tokens, more in self.verify(top, limit - written):
                assert 1 <= tokens <= limit - written
                starts[written + tokens] += starts[written] * chance
                for call, n in more.items():
                    calls[call] += starts[written] * chance * n
        return rounds, calls


PLANS = {
    "two levels": (2, StackPlan((0, 1), (3,))),
    "plain decoding": (2, StackPlan((1,), ())),
    "without a bonus": (2, StackPlan((0, 1), (3,), (False,))),
    "overshoot": (3, StackPlan((0, 1, 2), (2, 2))),
    "overshoot by one": (3, StackPlan((0, 1, 2), (2, 4))),
    "an inner level without a bonus": (3, StackPlan((0, 1, 2), (3, 2), (False, True))),
    "a target without a bonus": (3, StackPlan((0, 1, 2), (1, 3), (True, False))),
    "four levels": (4, StackPlan((0, 1, 2, 3), (2, 1, 3))),
}


@pytest.mark.parametrize("lookup", [False, True])
@pytest.mark.parametrize("name", PLANS)
def test_texts_cost_what_the_engines_rule_of_room_costs(name: str, lookup: bool) -> None:
    size, plan = PLANS[name]
    known, lengths, limit = profile(size, lookup=lookup), (2, 5, 7, 7), 7
    played = Played(known, plan)
    rounds, calls = 0.0, Counter()
    for length in lengths:
        more, made = played.text(length, limit)
        rounds, calls = rounds + more, calls + made
    said = over_texts(known, plan, lengths, limit, catch_up=False)
    assert said.tokens == sum(lengths)
    assert said.rounds == pytest.approx(rounds, rel=1e-12)
    for place, level in enumerate(plan.levels):
        own = {rows: n for (at, rows), n in calls.items() if at == place}
        assert said.calls[place] == pytest.approx(sum(own.values()), rel=1e-12)
        assert said.ms[place] == pytest.approx(sum(known.levels[level].cost(r) * n for r, n in own.items()), rel=1e-12)
    assert said.round_ms == pytest.approx(0.5 * rounds, rel=1e-12)


def test_a_text_that_ended_by_itself_is_paid_as_far_as_it_goes() -> None:
    known, plan = profile(2), StackPlan((0, 1), (3,))
    alone = [over_texts(known, plan, [n], 9) for n in (3, 9)]
    both = over_texts(known, plan, [3, 9, 9], 9)
    assert both.rounds == pytest.approx(alone[0].rounds + 2 * alone[1].rounds)
    assert sum(both.ms) == pytest.approx(sum(alone[0].ms) + 2 * sum(alone[1].ms))
    assert both.ms_per_token * 21 == pytest.approx(3 * alone[0].ms_per_token + 18 * alone[1].ms_per_token)


def test_where_there_is_room_a_round_is_one_of_endless_decoding() -> None:
    from hsd_core.theory.latency.recursion import Pricer

    known, plan = profile(4), StackPlan((0, 1, 2, 3), (2, 3, 4))
    rounds, endless = Pricer(known).by_room(plan, 40), expected(known, plan)
    dist = rounds.dist[40]
    tokens = sum(n * p for n, p in enumerate(dist))
    assert tokens == pytest.approx(endless.tokens_per_round)
    assert (rounds.ms[40] + known.round_ms) / tokens == pytest.approx(endless.ms_per_token)
    for part, share in zip(rounds.parts, endless.levels, strict=False):
        assert part.calls[40] == pytest.approx(share.calls_per_round)


def test_lengths_of_a_calibration_hold_under_another_limit() -> None:
    seen = TextLengths(40, 4, (33, 7))
    assert seen.under(40) == (7, 33, 40, 40)
    assert seen.under(20) == (7, 20, 20, 20)
    assert seen.under(60) == (7, 33, 60, 60)  # what went on to 40 goes on


def test_a_profile_keeps_lengths_and_one_without_them_is_read() -> None:
    plain = profile(2)
    assert "lengths" not in plain.as_dict() and profile_from(plain.as_dict()).lengths is None
    kept = profile_from({**plain.as_dict(), "lengths": {"limit": 40, "texts": 24, "ended": [7, 33]}})
    assert kept.lengths == TextLengths(40, 24, (7, 33))
    assert profile_from(kept.as_dict()) == kept


@pytest.mark.parametrize(
    ("lengths", "said"),
    [
        ({"limit": 40}, "missing field 'texts'"),
        ({"limit": 40, "texts": 0}, "use 1 to 4096"),
        ({"limit": 0, "texts": 1}, "use 1 to 4096"),
        ({"limit": 40, "texts": 10**9}, "use 1 to 4096"),
        ({"limit": 40, "texts": 1, "ended": [41]}, "use 1 to 40"),
        ({"limit": 40, "texts": 1, "ended": [4, 5]}, "one for each of 1 texts at most"),
        ({"limit": 40, "texts": 1, "ended": [2.5]}, "expected a whole number"),
        ({"limit": 40, "texts": True}, "expected a whole number"),
        ({"limit": 40, "texts": 1, "mean": 3}, "unknown field 'mean'"),
        ([], "expected an object, got list"),
    ],
)
def test_lengths_that_cannot_be_are_refused(lengths: object, said: str) -> None:
    with pytest.raises(ProfileError, match=said):
        profile_from({**profile(2).as_dict(), "lengths": lengths})
