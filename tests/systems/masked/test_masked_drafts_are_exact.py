"""A masked draft: which of its fillings may be drawn, and which have to go up as certainties.

Whole runs over a random model are enumerated, as in `test_shared_stacks_are_exact`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
import torch
from enumerator import distance, run_distribution
from lean_stacks import LeanStacks, drafted_stacks, model_distribution
from test_shared_stacks_are_exact import EXACT, WRONG

from hsd_core.core.level import DrawnFrom, Proposal
from hsd_core.models.sampling import Sampling
from hsd_core.systems.masked.masked_level import MaskedRun
from tests.masked_drafts import masked

WHOLE = [
    # stack, tokens, vocabulary
    ("masked:2,target", 3, 3),
    ("masked:3,target@rule=block", 3, 2),
    ("masked:3@passes=2,target@bonus=0", 3, 2),
    ("masked:3@passes=3,target@bonus=0", 3, 2),
    ("masked:3@fill=surest,target", 4, 2),
    ("masked:3@fill=surest@passes=2,target@rule=block", 4, 2),
    ("masked:2@fill=searched,target", 3, 3),
    ("masked:3@fill=searched@recent=1,target", 4, 2),
    ("masked:3@recent=1,target", 4, 2),
    ("masked:3@policy=confidence@theta=0.5,target", 4, 2),
    ("masked:3@fill=surest@passes=3@policy=confidence@theta=0.5,target", 4, 2),
    ("masked:1,nano:2@id=fed,target", 3, 2),
    ("masked:2@passes=2,int8:2,target", 3, 2),
    ("masked:1@fill=searched,int8:2,target@rule=block", 3, 2),
]


@cache
def stacks(vocab: int) -> LeanStacks:
    made = drafted_stacks(vocab)
    made.drafts = {**made.drafts, "cells": masked(made.target, absent=(1,) if vocab > 2 else ())}
    return made


def off_by(text: str, tokens: int, vocab: int, **more: Any) -> float:
    made, prompt = stacks(vocab), [1, 0]
    found = run_distribution(made.stack(text), prompt, tokens, **more)
    return distance(found, model_distribution(made.target, prompt, tokens, **more))


@pytest.mark.covering("text")
@pytest.mark.parametrize(("text", "tokens", "vocab"), WHOLE)
def test_whole_runs_follow_the_targets_distribution(text: str, tokens: int, vocab: int) -> None:
    assert off_by(text, tokens, vocab) < EXACT


def test_a_cut_distribution_is_followed_too() -> None:
    assert off_by("masked:2@fill=searched,target", 3, 2, sampling=Sampling(0.7, top_p=0.8)) < EXACT


def _drawn_in_any_order(self: MaskedRun, context: Any, order: Any, rows: Any) -> Proposal:
    """The fourth way: the last cell is drawn first, and the first one given it; both go up with those rows."""
    if order.limit < 3:
        return real(self, context, order, rows)
    first, _ = rows([None, None, None])
    (q1,) = order.sampler.to_probs(first[1:2])
    middle = order.sampler.pick(q1, 1, 0)
    second, work = rows([None, middle, None])
    (q0,) = order.sampler.to_probs(second[:1])
    begun = order.sampler.pick(q0, 0, 0)
    return Proposal((begun, middle), ("masked", "masked"), work, DrawnFrom(torch.stack([q0, q1])))


real = MaskedRun._drawn


def test_cells_drawn_in_any_order_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MaskedRun, "_drawn", _drawn_in_any_order)
    assert off_by("masked:3,target", 4, 2) > WRONG


def test_a_searched_line_with_rows_of_the_search_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """DiffuSpec's own test at a temperature: p / q of a line that was not drawn from q."""
    chosen = MaskedRun._chosen

    def with_rows(self: MaskedRun, context: Any, order: Any, rows: Any) -> Proposal:
        line = chosen(self, context, order, rows)
        q = order.sampler.to_probs(rows([None] * order.limit)[0])[: len(line.ids)]
        return Proposal(line.ids, line.sources, line.work, DrawnFrom(q))

    monkeypatch.setattr(MaskedRun, "_chosen", with_rows)
    assert off_by("masked:2@fill=searched,target", 3, 2) > WRONG


@torch.inference_mode()
def test_a_row_reads_known_cells_on_both_sides_and_a_mask_says_nothing() -> None:
    made = stacks(5)
    draft, ids = made.drafts["cells"], [3, 1, 4, 1]
    fed = torch.randn(4, 32, generator=torch.Generator().manual_seed(1))

    def rows(cells: Sequence[int | None]) -> torch.Tensor:
        states = draft.new_cache(16)
        draft.read(ids[:3], fed[:3], states)
        return draft.rows(ids, 3, cells, fed[3], states)

    alone = rows([None, None, None])
    assert torch.equal(alone, rows([None, None, None])) and len(alone) == 3
    before, behind = rows([2, None, None]), rows([None, 2, None])
    assert not torch.allclose(before[1], alone[1], atol=1e-3), "the cell before is read"
    assert not torch.allclose(behind[0], alone[0], atol=1e-3), "and the one behind"
