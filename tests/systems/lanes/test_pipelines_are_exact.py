"""Pipelines, where every verifier has a lane of its own: the engine's distribution equals the target's under every
timing, also under durations that hang on the values of tokens, and
engines with the known mistakes of schedulers fail the same test."""

from __future__ import annotations

import random
import re
from collections.abc import Generator
from typing import Any

import pytest
from enumerator import Scripted, distance, run_distribution, target_distribution
from test_schedules_are_exact import EXACT, WRONG, by_last, by_value, off_by, quick_below, slow_below
from timed import Duration, timed_stack
from toys import output_of

import hsd_core
from hsd_core.core.choices import EpochsByCorrections
from hsd_core.core.driver import Sequential
from hsd_core.core.tree import Tree
from hsd_core.grammar.strategies import Orders, Submission, View
from hsd_core.models.sampling import Sampling
from hsd_core.systems.lanes.declaration import Free
from hsd_core.systems.lanes.pipeline_driver import Pipeline
from hsd_core.systems.ngram.databases import Databases, LookupLimits

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


def by_the_middle(level: int, ids: tuple[int, ...]) -> int:
    """A middle level whose next token is there at once or late, by the one before it."""
    return ((1, 30)[ids[-1] % 2], 12)[level // 2] if level else 3


def off_in_the_middle() -> float:
    """By how much a pipeline is off in which the lookups find nothing, so that the middle level drafts."""
    stack, clock = timed_stack("ngram:1,table:2@with=ahead,table@with=ahead", 2, by_the_middle, 7)
    stack[0].level._databases = lambda: Databases("c", reach={"c": LookupLimits(9, 9)})  # type: ignore[attr-defined]
    return distance(run_distribution(stack, [0], 4, clock=clock), target_distribution(stack, [0], 4))


@pytest.fixture
def anything_goes(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Wrong engines may choose twice for one place."""
    monkeypatch.setattr(Scripted, "_only_once", lambda self, key: None)
    return monkeypatch


def test_a_token_of_ones_own_for_lack_of_a_draft_is_caught(anything_goes: pytest.MonkeyPatch) -> None:
    ended, made, took = Free.ended, Pipeline.__init__, dict[int, bool]()

    def renewed(self: Pipeline, *given: Any, **more: Any) -> None:
        took.clear()
        made(self, *given, **more)

    def impatient(self: Free, view: View) -> Orders:
        late = view.drafting and not view.verifying and not view.undecided and took.get(id(self))
        orders = Orders(0, Submission(0)) if late else ended(self, view)
        if orders.verify:
            took[id(self)] = orders.verify.tokens > 0
        return orders

    anything_goes.setattr(Pipeline, "__init__", renewed)
    anything_goes.setattr(Pipeline, "_may", lambda self, orders, view: True)
    anything_goes.setattr(Free, "ended", impatient)
    assert off_in_the_middle() > WRONG


def test_dropping_a_block_that_comes_late_is_caught(anything_goes: pytest.MonkeyPatch) -> None:
    handed_up = Pipeline._handed_up

    def in_time_only(self: Any, stage: Any, block: Tree) -> Generator[Any, None, None]:
        below, _, top = self._stages
        if stage is self._stages[1] and top.given is not None and not hasattr(self, "lost"):  # drawn again, once
            self.lost, stage.line = True, stage.line.cut(len(stage.line) - len(block))
            below.stands()
            below.line = stage.line
            for one in (stage, below):
                yield from self._forget(one.levels, len(stage.line) - 1)
            block = Tree()
        yield from handed_up(self, stage, block)

    anything_goes.setattr(Pipeline, "_handed_up", in_time_only)
    assert off_in_the_middle() > WRONG


class OneAfterAnother(Sequential):
    """Sync, with the coins of a pipeline."""

    def round(self, hierarchy: Any, *given: Any) -> Any:
        if not isinstance(hierarchy.epochs, EpochsByCorrections):
            hierarchy.epochs = EpochsByCorrections()
        return super().round(hierarchy, *given)


@pytest.mark.parametrize("levels", [3, 4])
@pytest.mark.parametrize("greedy", [True, False])
def test_one_seed_one_text_under_every_schedule(levels: int, greedy: bool) -> None:
    rng, texts = random.Random(5), set()
    for number in range(8 if levels == 4 else 12):
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
        how: dict[str, Any] = {} if any(ways[:-1]) else {"driver": OneAfterAnother}
        if any(ways) and not any(ways[:-1]):
            continue  # two lanes: their coins are those of one level after another
        how |= {"max_new_tokens": 16 if levels == 4 else 30, "clock": clock}
        events = hsd_core.run(stack, [0, 1], Sampling(0.0) if greedy else SAMPLED, 3, heads=0, **how)
        texts.add(output_of(list(events)))
    assert len(texts) == 1
