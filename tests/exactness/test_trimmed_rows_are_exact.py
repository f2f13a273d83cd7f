"""Drafts whose rows are over some tokens only, different ones after every prefix: what is drawn from is handed up."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from enumerator import distance, run_distribution, target_distribution
from toys import output_of, toy_stack

import hsd_core
from hsd_core.levels import drafting
from hsd_core.models.sampling import Logits, Sampling, TrimmedLogits
from hsd_core.systems.table.table_level import TableRun

STACKS = ["table:3,table", "table:2,table:2,table@rule=block", "table:3@policy=confidence@theta=0.6,table@rule=block"]
SAMPLINGS = {"whole": Sampling(1.0), "cut": Sampling(0.7, 3, 0.9), "greedy": Sampling(0.0)}


def next_row(run: Any, context: Any) -> Any:
    logits, work = run.score(context)
    ids = logits[0].isfinite().nonzero()[:, 0]
    return TrimmedLogits([(logits[0, ids], ids)], logits.shape[1]), work


@pytest.mark.parametrize("sampling", SAMPLINGS.values(), ids=SAMPLINGS)
@pytest.mark.parametrize("text", STACKS)
def test_the_output_follows_the_targets_distribution(monkeypatch: Any, text: str, sampling: Sampling) -> None:
    monkeypatch.setattr(TableRun, "next_row", next_row, raising=False)
    stack = toy_stack(text, 3, seed=2, zeros=0.3)
    found = run_distribution(stack, [0], 3, sampling=sampling)
    assert distance(found, target_distribution(stack, [0], 3, sampling=sampling)) < 1e-12


def test_a_token_of_another_column_is_caught(monkeypatch: Any) -> None:
    monkeypatch.setattr(TableRun, "next_row", next_row, raising=False)
    monkeypatch.setattr(drafting._Forwards, "token", lambda self, column: column)
    stack = toy_stack(STACKS[0], 3, seed=2, zeros=0.3)
    assert distance(run_distribution(stack, [0], 3), target_distribution(stack, [0], 3)) > 1e-3


@pytest.mark.parametrize("sampling", SAMPLINGS.values(), ids=SAMPLINGS)
def test_a_seed_writes_the_text_of_whole_rows(monkeypatch: Any, sampling: Sampling) -> None:
    def texts() -> list[tuple[int, ...]]:
        stack = toy_stack("table:3,table", 40, seed=5, zeros=0.5)
        return [output_of(list(hsd_core.run(stack, [0], sampling, seed, max_new_tokens=12))) for seed in range(9)]

    plain = texts()
    monkeypatch.setattr(TableRun, "next_row", next_row, raising=False)
    assert texts() == plain


def test_what_is_read_of_them_is_what_whole_rows_say() -> None:
    rows = torch.randn(3, 7, generator=torch.Generator().manual_seed(0)).masked_fill(
        torch.arange(7) % 3 == 1, -torch.inf
    )
    kept = rows.isfinite()
    few, whole = (
        TrimmedLogits([(row[k], k.nonzero()[:, 0]) for row, k in zip(rows, kept, strict=True)], 7),
        Logits(rows),
    )
    assert torch.equal(few.values, rows) and torch.equal(few[1:].on_host(), rows[1:]) and len(few) == 3
    for one, other in zip(few[[2, 0]].likeliest(9), whole[[2, 0]].likeliest(9), strict=True):
        assert one == [(token, pytest.approx(chance)) for token, chance in other]
    assert few.finite() and not TrimmedLogits([(torch.tensor([0.0, torch.nan]), torch.tensor([0, 1]))], 7).finite()
