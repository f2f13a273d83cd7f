"""Tokens per step where several candidates are kept ready: the formula against the engine, and the table of measured
ranks."""

from __future__ import annotations

import random

import pytest
import torch
from cases import first_always
from timed import timed_stack

import hsd_core
from hsd_core.core import events as trace
from hsd_core.core.level import StackEntry
from hsd_core.models.sampling import Sampling
from hsd_core.systems.lanes.closed_forms import card_tokens_per_step, duo_tokens_per_step, tokens_per_step
from hsd_core.systems.lanes.study import NOTE, WIDTHS, ranks, ready_table, tallied

GREEDY, VOCAB = Sampling(0.0), 9


def ranked(a: float, hit: float, text: str) -> tuple[list[StackEntry], object]:
    """A target that says anything, and a drafter to whom that is its first choice with a, its second with hit - a."""

    def own(prefix: tuple[int, ...]) -> int:
        return random.Random(f"own {prefix}").randrange(VOCAB)

    def target(prefix: tuple[int, ...]) -> torch.Tensor:
        return torch.nn.functional.one_hot(torch.tensor(own(prefix)), VOCAB).double()

    def draft(prefix: tuple[int, ...]) -> torch.Tensor:
        luck, said = random.Random(f"luck {prefix}").random(), own(prefix)
        others = [token for token in range(VOCAB) if token != said]
        rank = 0 if luck < a else 1 if luck < hit else 4
        order = [*others[:rank], said, *others[rank:]]
        row = torch.zeros(VOCAB, dtype=torch.float64)
        row[order] = torch.tensor([0.5, 0.4, *[0.1 / 7] * 7], dtype=torch.float64)
        return row

    stack, clock = timed_stack(text, VOCAB, lambda level, ids: 9 if level else 1)
    stack[0].level.table, stack[1].level.table = draft, target  # type: ignore[attr-defined]
    return stack, clock


def tokens_a_step(a: float, hit: float, text: str, tokens: int = 900) -> float:
    stack, clock = ranked(a, hit, text)
    events = hsd_core.run(stack, [0], GREEDY, 0, max_new_tokens=tokens, heads=0, clock=clock)  # type: ignore[arg-type]
    return tokens / sum(isinstance(event, trace.Commit) for event in events)


@first_always(("a", "hit", "block"), [(0.6, 0.8, 3), (0.5, 0.5, 2), (0.8, 0.95, 4)])
def test_the_formula_of_duo_is_what_the_engine_does(a: float, hit: float, block: int) -> None:
    found = tokens_a_step(a, hit, f"table:{block},table@with=duo")
    assert found == pytest.approx(duo_tokens_per_step(a, hit, block), rel=0.06)


def test_the_formula_of_card_is_more_than_the_engine_reaches() -> None:
    """It takes the target's token to be in the tree with h behind a rejection too."""
    for a, hit, block in ((0.6, 0.8, 3),):
        found = tokens_a_step(a, hit, f"table:{block},table@with=card@width=2", 500)
        assert 1.1 < found < card_tokens_per_step(a, hit, block)


def test_ranks_are_those_of_the_rows() -> None:
    stack, _ = ranked(0.5, 0.7, "table:4,table@with=duo")
    rng = random.Random(3)
    prompt, output = [1, 2], [rng.randrange(VOCAB) for _ in range(400)]
    found = ranks(stack, prompt, output)
    assert found.shape == (400,)
    share = [float((found < k).double().mean()) for k in (1, 2, VOCAB)]
    assert share == pytest.approx([0.5, 0.7, 1.0], abs=0.08)
    lines = ready_table(tallied([found[:200], found[200:]]), 4).splitlines()
    assert len(lines) == 2 + len(WIDTHS) + 2 and lines[-1] == NOTE
    assert "measured" in lines[0] and lines[0].count("by formula") == 3
    first = [cell.strip() for cell in lines[2].strip("|").split("|")]
    a = float((found < 1).double().mean())
    assert first[0] == "1" and first[2] == f"{tokens_per_step(a, 4):.2f}" and first[-1] == ""
