"""Levels that work at the same time: the engine's own distribution equals the target's under every timing, also under
durations that hang on the values of tokens, and engines with the known mistakes of schedulers fail the same test."""

from __future__ import annotations

import random
from collections.abc import Generator
from typing import Any

import pytest
from enumerator import Scripted, distance, run_distribution, target_distribution
from timed import Duration, timed_stack
from toys import output_of

import hsd_core
from hsd_core.core.choices import ChoiceKey
from hsd_core.core.hierarchy import Hierarchy
from hsd_core.core.tree import Tree
from hsd_core.grammar.strategies import Orders, Submission, View
from hsd_core.models.sampling import Sampling
from hsd_core.systems.lanes.declaration import Pearl
from hsd_core.systems.lanes.overlapped import Overlapped

EXACT = 1e-12
WRONG = 1e-3
SAMPLED = Sampling(1.0)
LOOKED_UP = [0, 1, 1, 0, 0, 1, 0]  # lookups find each of both tokens behind either


def by_value(level: int, ids: tuple[int, ...]) -> int:
    return random.Random(f"{level}:{ids}").choice((1, 3, 10))


def by_last(level: int, ids: tuple[int, ...]) -> int:
    """A verifier whose passes take 10, above a drafter that is quick or slow by the token that it reads."""
    return 10 if level else (1, 25)[ids[-1] % 2]


def quick_below(level: int, ids: tuple[int, ...]) -> int:
    return 10 if level else 1


def slow_below(level: int, ids: tuple[int, ...]) -> int:
    return 1 if level else 10


DURATIONS = (by_value, by_last, quick_below, slow_below)
CASES = [
    # stack, vocabulary, tokens, durations
    ("table:2,table@with=pearl", 2, 3, by_value),
    ("table:2,table@with=pearl", 3, 2, slow_below),
    ("table:1,table@with=pearl@ahead=3", 2, 3, quick_below),
    ("table:2,table@with=pearl@rule=block", 2, 3, by_last),
    ("table:3@policy=confidence,table@with=pearl@rule=block", 2, 3, by_value),
    ("ngram:2,table@with=pearl", 3, 3, by_value),
    ("table:1,table:1,table@with=pearl", 2, 2, by_last),
    ("table:1,table:2@policy=flush,table@with=pearl@rule=block", 2, 2, by_value),
    ("ngram:1,table:1,table:1@rule=block,table@with=pearl", 2, 3, by_value),
    ("table:2,table@with=ahead", 2, 3, by_value),
    ("table:1,table@with=ahead", 2, 3, by_last),
    ("table:1,table@with=ahead@ahead=3@least=2", 2, 3, slow_below),
    ("table:2@policy=adaptive@theta=0.7,table@with=ahead", 2, 3, quick_below),
    ("ngram:2,table@with=ahead", 3, 3, by_value),
    ("table:1,table:1,table@with=ahead", 2, 2, by_last),
    ("ngram:2,table:1@bonus=0@rule=block,table@with=ahead", 2, 3, by_value),
    ("ngram:1,table:1,table:1,table@with=ahead", 2, 3, by_last),
]


def off_by(text: str, vocab: int, tokens: int, duration: Duration, **more: Any) -> float:
    stack, clock = timed_stack(text, vocab, duration, 7)
    prompt = LOOKED_UP if text.startswith("ngram") else [0]
    found = run_distribution(stack, prompt, tokens, clock=clock, **more)
    return distance(found, target_distribution(stack, prompt, tokens, ends=more.get("ends", frozenset())))


@pytest.mark.covering("text", "duration")
@pytest.mark.parametrize(("text", "vocab", "tokens", "duration"), CASES)
def test_schedules_are_exact(text: str, vocab: int, tokens: int, duration: Duration) -> None:
    assert off_by(text, vocab, tokens, duration) < EXACT


@pytest.mark.parametrize("text", ["table:2,table@with=pearl", "table:1,table@with=ahead"])
def test_schedules_are_exact_where_the_text_ends(text: str) -> None:
    assert off_by(text, 2, 3, by_value, ends=frozenset({1})) < EXACT


@pytest.fixture
def anything_goes(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Wrong engines may choose twice for one place."""
    monkeypatch.setattr(Scripted, "_only_once", lambda self, key: None)
    return monkeypatch


def test_dropping_a_token_that_comes_late_is_caught(anything_goes: pytest.MonkeyPatch) -> None:
    arrived, pull, began = Overlapped._arrived, Hierarchy.pull, [0]

    def noted(self: Hierarchy, i: int, context: Any, budget: int) -> Any:
        began[0] = len(context)
        return pull(self, i, context, budget)

    def in_time_only(self: Overlapped, block: Tree) -> None:
        assert self._pull
        if self._verification and self._verification.done is None:  # drawn again behind the verdict
            for level in self._below:
                self.runs[level].keep(began[0] - 1, ())
            block = Tree()
        arrived(self, block)

    anything_goes.setattr(Hierarchy, "pull", noted)
    anything_goes.setattr(Overlapped, "_arrived", in_time_only)
    assert off_by("table:2,table@with=ahead", 2, 4, by_last) > WRONG


def test_a_bonus_for_lack_of_a_draft_is_caught(anything_goes: pytest.MonkeyPatch) -> None:
    judge = Overlapped._judge

    def impatient(self: Overlapped, hierarchy: Any, context: Any, verification: Any) -> Generator[Any, None, Tree]:
        committed = yield from judge(self, hierarchy, context, verification)
        if self._pull and self._pull.cut is None:  # its first token stands where the bonus does
            self._pull.cut = len(context) + len(committed) - 1
        return committed

    anything_goes.setattr(Overlapped, "_judge", impatient)
    assert off_by("table:1,table@with=pearl", 2, 3, by_value) < EXACT
    anything_goes.setattr(Overlapped, "_ready", lambda self, verification: verification.done is not None)
    assert off_by("table:2,table@with=pearl", 2, 3, by_last) > WRONG


class Peeking(Overlapped):
    """Verifies one of two tokens or both, by the value of the second."""

    def ended(self, view: View) -> Orders:
        if view.undecided < min(2, view.room + view.undecided) or view.drafting:
            return Orders(0 if view.drafting else min(2, view.room))
        ids = self._undecided.ids
        return Orders() if view.verifying else Orders(0, Submission(1 if ids[-1] else len(ids)))


@pytest.mark.parametrize(("rule", "exact"), [("tokenwise", True), ("block", False)])
def test_block_rule_needs_boundaries_by_count(rule: str, exact: bool) -> None:
    def drives(*given: Any) -> Overlapped:
        driver = Peeking(*given, scheduler=Pearl(0))
        driver._scheduler = driver  # type: ignore[assignment]
        return driver

    found = off_by(f"table:2,table@rule={rule}", 2, 3, quick_below, driver=drives)
    assert found < EXACT if exact else found > WRONG


class Paired(Scripted):
    """Two neighbouring tokens are decided by one uniform number, as in PEARL's public code."""

    def rewind(self) -> None:
        super().rewind()
        self._between: dict[tuple[int, int], tuple[float, float]] = {}

    def accept(self, alpha: float, *key: Any) -> tuple[bool, float | None]:
        if alpha <= 0.0 or alpha >= 1.0:
            return alpha >= 1.0, None
        (one,) = key
        assert isinstance(one, ChoiceKey)
        pair = (one.position // 2, one.epoch)
        low, high = self._between.get(pair, (0.0, 1.0))
        share = min(1.0, max(0.0, (alpha - low) / (high - low)))
        kept = share >= 1.0 if share in (0.0, 1.0) else self.pick([share, 1.0 - share]) == 0
        self._between[pair] = (low, min(high, alpha)) if kept else (max(low, alpha), high)
        return kept, None


def test_neighbouring_coins_alike_are_caught() -> None:
    stack, clock = timed_stack("table:2,table@with=pearl", 2, quick_below, 7)
    found: dict[tuple[int, ...], float] = {}
    choices = Paired()
    while True:
        choices.rewind()
        events = hsd_core.run(stack, [0], SAMPLED, 0, max_new_tokens=3, heads=0, choices=choices, clock=clock)
        output = output_of(list(events))
        found[output] = found.get(output, 0.0) + choices.mass
        if not choices.advance():
            break
    assert abs(sum(found.values()) - 1.0) < EXACT
    assert distance(found, target_distribution(stack, [0], 3)) > WRONG


@pytest.mark.parametrize("greedy", [True, False])
def test_one_seed_one_text_under_every_schedule(greedy: bool) -> None:
    sampling, texts = Sampling(0.0) if greedy else SAMPLED, set()
    stacks = ["table:3,table@bonus=0"]
    rng = random.Random(5)
    for _ in range(8):
        t, ahead, least = rng.randint(1, 4), rng.randint(0, 6), rng.randint(1, 3)
        stacks.append(f"table:{t},table@with=pearl@ahead={ahead}")
        stacks.append(f"table:{t},table@with=ahead@ahead={ahead}@least={least}")
    for number, text in enumerate(stacks):
        stack, clock = timed_stack(
            text, 6, lambda level, ids, n=number: random.Random(f"{n}{level}{ids}").randint(1, 20), 4
        )
        events = hsd_core.run(stack, [0, 1], sampling, 3, max_new_tokens=24, heads=0, clock=clock)
        texts.add(output_of(list(events)))
    assert len(texts) == 1
