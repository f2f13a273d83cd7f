"""Pipelines, where every verifier has a lane of its own: the engine's distribution equals the target's under every
timing, also under durations that hang on the values of tokens."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from test_schedules_are_exact import EXACT, by_last, by_value, off_by, quick_below, slow_below
from timed import Duration, timed_stack
from toys import output_of

import hsd_core
from hsd_core.engine.choices import ByLine
from hsd_core.engine.driver import Sequential
from hsd_core.models.sampling import Sampling

SAMPLED = Sampling(1.0)


def by_the_last_two(level: int, ids: tuple[int, ...]) -> int:
    """The middle is slow or quick by what it reads last, the others by what they read before that."""
    return (2, 17)[ids[-1] % 2] if level == 1 else (3, 11)[sum(ids[-2:]) % 2]


CASES = [
    # stack, vocabulary, tokens, durations
    ("table:1,table:1@with=ahead,table@with=ahead", 2, 2, by_value),
    ("table:1,table:1@with=ahead,table@with=ahead", 2, 2, by_the_last_two),
    ("table:2,table:1@with=ahead,table@with=ahead", 2, 2, quick_below),
    ("table:1,table:2@with=ahead,table@with=ahead", 2, 2, slow_below),
    ("ngram:2,table:1@with=ahead,table@with=ahead", 2, 3, by_value),
    ("ngram:1,table:2@with=ahead,table@with=ahead", 3, 2, by_last),
    ("table:1,table:1@with=ahead,table", 2, 2, by_last),
    ("ngram:2,table:2@with=ahead@ahead=3@least=2,table", 2, 3, by_value),
    ("ngram:1,table:1,table:1@with=ahead@policy=flush,table@with=ahead", 2, 2, by_value),
    ("ngram:1,table:1@with=ahead,table:1@with=ahead,table@with=ahead", 2, 2, by_the_last_two),
    ("ngram:1,table:1@with=ahead,table:1,table@with=ahead@rule=match", 2, 2, by_value),
    ("ngram:1,table:1@rule=block,table:1@with=ahead,table@with=ahead", 2, 2, by_last),
]


@pytest.mark.parametrize(("text", "vocab", "tokens", "duration"), CASES)
def test_pipelines_are_exact(text: str, vocab: int, tokens: int, duration: Duration) -> None:
    assert off_by(text, vocab, tokens, duration) < EXACT


@pytest.mark.parametrize("text", ["table:1,table:1@with=ahead,table@with=ahead", "ngram:2,table:2@with=ahead,table"])
def test_pipelines_are_exact_where_the_text_ends(text: str) -> None:
    assert off_by(text, 2, 2, by_value, ends=frozenset({1})) < EXACT


class OneAfterAnother(Sequential):
    """Sync, with the coins of a pipeline."""

    def round(self, hierarchy: Any, *given: Any) -> Any:
        if not isinstance(hierarchy.epochs, ByLine):
            hierarchy.epochs = ByLine()
        return super().round(hierarchy, *given)


@pytest.mark.parametrize("levels", [3, 4])
@pytest.mark.parametrize("greedy", [True, False])
def test_one_seed_one_text_under_every_schedule(levels: int, greedy: bool) -> None:
    rng, texts = random.Random(5), set()
    for number in range(24):
        ways = [rng.choice(("", "@with=ahead@ahead={}@least={}")) for _ in range(levels - 2)]
        ways.append(rng.choice(("", "@with=ahead@ahead={}@least={}")) if any(ways) else "@with=ahead")
        if not number:
            ways = [""] * (levels - 1)
        inner = [f"table:{rng.randint(1, 4)}@bonus=0{way}" for way in ways[:-1]]
        text = ",".join([f"table:{rng.randint(1, 4)}", *inner, f"table@bonus=0{ways[-1]}"])
        text = re.sub(r"\{\}", lambda _: str(rng.randint(1, 5)), text)
        stack, clock = timed_stack(
            text, 6, lambda level, ids, n=number: random.Random(f"{n}{level}{ids}").randint(1, 20), 4
        )
        how = {} if any(ways[:-1]) else {"driver": OneAfterAnother}
        if any(ways) and not any(ways[:-1]):
            continue  # two lanes: their coins are those of one level after another
        sampling = Sampling(0.0) if greedy else SAMPLED
        events = hsd_core.run(stack, [0, 1], sampling, 3, max_new_tokens=30, heads=0, clock=clock, **how)
        texts.add(output_of(list(events)))
    assert len(texts) == 1
