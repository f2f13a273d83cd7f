"""Heads over the target's last state, drafts that say several tokens in one pass, and drafts that are fed by several of
the target's layers: the output follows the target's distribution, on chains and trees, below any level.

Whole runs over a random model are enumerated, as in `test_shared_stacks_are_exact`.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from lean_stacks import drafted_stacks
from test_shared_stacks_are_exact import EXACT, WRONG, off_by
from toys import changed

from hsd_core.core.level import Proposal, Work
from hsd_core.levels import parallel_draft
from hsd_core.levels.shared import SharedState
from hsd_core.models.context import Context
from hsd_core.models.sampling import Sampling
from hsd_core.systems.medusa.medusa_level import MedusaRun

WHOLE = [
    # stack, tokens, vocabulary
    ("medusa:2,target", 3, 3),
    ("medusa:3,target@rule=block", 3, 2),
    ("medusa:2@tree=2.2,target", 3, 2),
    ("medusa:2@tree=2.1@replace=1,target@bonus=0", 3, 2),
    ("medusa:3@policy=confidence@theta=0.5,target", 3, 2),
    ("medusa:2@tree=2.1,nano:2@id=fed,target", 3, 2),
    ("medusa:1,nano:3@id=own,target@rule=block", 3, 2),
    ("medusa:2,int8:3,target", 3, 2),
    ("nano:2@id=ahead,target", 3, 2),
    ("nano:3@id=ahead,target@rule=block", 3, 2),
    ("nano:2@tree=2.2@id=ahead,target", 3, 2),
    ("nano:2@id=ahead,exit:2@at=2,target", 3, 2),
    ("nano:2@id=joined,target", 3, 2),
    ("nano:2@tree=2.1@id=joined,target", 3, 2),
    ("exit:1@at=1,nano:2@id=joined,target", 3, 2),
    ("nano:1@id=joined,int8:2,target", 3, 2),
]


@pytest.mark.covering("text", kinds=True)
@pytest.mark.parametrize(("text", "tokens", "vocab"), WHOLE)
def test_whole_runs_follow_the_targets_distribution(text: str, tokens: int, vocab: int) -> None:
    assert off_by(text, tokens, vocab) < EXACT


def test_four_levels_over_heads_follow_the_targets_distribution() -> None:
    assert off_by("medusa:2@tree=2.1,nano:2@id=fed,int8:2,target", 3, 2, joined=True) < EXACT


def test_a_cut_distribution_is_followed_too() -> None:
    assert off_by("medusa:2@tree=2.1,target", 3, 2, sampling=Sampling(0.7, top_p=0.8)) < EXACT


def test_a_row_of_another_place_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a token were drawn from one head and judged by the next one's row."""
    real = parallel_draft.draft

    def shifted(*given: Any) -> Any:
        drafted = real(*given)
        return drafted if (rows := drafted.drawn.rows) is None else changed(drafted, rows=rows.roll(1, 0))

    monkeypatch.setattr(parallel_draft, "draft", shifted)
    assert off_by("medusa:2,target", 3, 2) > WRONG


def test_a_draft_that_is_dropped_for_what_was_drawn_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    real = MedusaRun.propose

    def chosen(self: MedusaRun, context: Any, order: Any) -> Any:
        drafted = real(self, context, order)
        return drafted if drafted.ids[:1] != (0,) else Proposal((), (), Work(1, 1, 0))

    monkeypatch.setattr(MedusaRun, "propose", chosen)
    assert off_by("medusa:1,target", 2) > WRONG


@torch.inference_mode()
def test_behind_the_reach_of_the_last_head_nothing_is_drafted() -> None:
    made = drafted_stacks(5)
    entries = made.stack("medusa:2,target")
    shared = SharedState(20)
    target, heads = entries[1].level.open(20, shared), entries[0].level.open(20, shared)
    target.score(Context([1, 0, 2]))  # type: ignore[union-attr]
    said = [len(heads.predict(Context([1, 0, 2, *[3] * more]), 9)[0]) for more in range(6)]  # type: ignore[union-attr]
    assert said == [3, 3, 2, 1, 0, 0], "three heads, of which each known token takes one"
