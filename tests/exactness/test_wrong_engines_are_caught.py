"""Negative controls: engines with the known mistakes of public code must fail the same distance test."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import pytest
from cases import in_turn
from enumerator import distance, merged_distribution, run_distribution, target_distribution
from torch import Tensor
from toys import toy_stack

from hsd_core.core import rules
from hsd_core.core.choices import Judge
from hsd_core.core.hierarchy import Hierarchy
from hsd_core.core.rules import Verdict
from hsd_core.core.tree import Tree
from hsd_core.models.context import Context
from hsd_core.systems.table.table_level import TableRun

EXACT = 1e-12
WRONG = 1e-3


def off_by(text: str, *, whole: bool = False, tokens: int = 3, seed: int = 11) -> float:
    stack = toy_stack(text, 3, seed)
    dist = (run_distribution if whole else merged_distribution)(stack, [0], tokens)
    return distance(dist, target_distribution(stack, [0], tokens))


@pytest.mark.parametrize("text", ["table:2,table", "table:2,table:2,table", "ngram:2,table"])
def test_correcting_from_p_instead_of_the_residual_is_caught(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert off_by(text) < EXACT
    monkeypatch.setattr(rules, "_residual", lambda p, q, fallback=None: p)
    monkeypatch.setattr(rules, "_without", lambda row, token: row)  # of a named token
    assert off_by(text) > WRONG


def test_an_unweighted_residual_in_block_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    assert off_by("table:3,table@rule=block", tokens=4, seed=10) < EXACT
    right = rules._residual
    monkeypatch.setattr(rules, "_residual", lambda p, q, fallback=None: right(p if fallback is None else fallback, q))
    assert off_by("table:3,table@rule=block", tokens=4, seed=10) > WRONG
    assert off_by("table:3,table") < EXACT, "tokenwise has no weight and must not change"


def test_an_uncapped_last_step_in_block_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def uncapped(tree: Tree, p: Tensor, judge: Judge, bonus: bool) -> Verdict:
        running = 1.0
        for ratio in rules._ratios(tree, p, capped=False):
            running *= ratio

        def acceptance(t: int, n: int, weight: float, q: Tensor, p: Tensor) -> float:
            return min(1.0, running) if t == n else capped(t, n, weight, q, p)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rules, "_block_acceptance", acceptance)
            return block(tree, p, judge, bonus)

    block, capped = rules.block, rules._block_acceptance
    monkeypatch.setattr(rules, "block", uncapped)
    assert off_by("table:3,table@rule=block") > WRONG


def dropping(real: Any, kept: Callable[[Tree], int]) -> Any:
    """A `pull` that hands up only the first `kept(held)` tokens."""

    def pull(self: Hierarchy, i: int, context: Context, budget: int) -> Generator[Any, Any, Tree]:
        held = yield from real(self, i, context, budget)
        return held.cut(kept(held))

    return pull


STACKS = ["table:2,table", "table:3,table@rule=block", "table:2,table:2,table", "table:2,table:2@rule=block,table"]


@pytest.mark.parametrize("text", STACKS)
def test_dropping_a_token_for_its_own_chance_is_caught(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def all_but_an_unlikely_last(held: Tree) -> int:
        return len(held) - (len(held) > 1 and float(held.rows[-1][held.ids[-1]]) < 0.4)

    monkeypatch.setattr(Hierarchy, "pull", dropping(Hierarchy.pull, all_but_an_unlikely_last))
    assert off_by(text, tokens=4) > WRONG


def test_dropping_the_last_token_of_a_verified_block_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    # Whether a verified block has one token more depends on whether the one before was accepted, so on its value.
    monkeypatch.setattr(Hierarchy, "pull", dropping(Hierarchy.pull, lambda held: max(1, len(held) - 1)))
    assert off_by("table:2,table:2,table", tokens=4) > WRONG
    assert off_by("table:2,table", tokens=4) < EXACT, "a drafted block has a length of its own"


@pytest.mark.parametrize("text", ["table:2,table", "table:3,table@rule=block"])
def test_dropping_a_token_because_the_next_row_is_unsure_is_caught(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def sure(held: Tree) -> int:
        return next((t for t in range(len(held) - 1) if float(held.rows[t + 1].max()) < 0.6), len(held))

    # A row depends on the token before it: to stop there is right, to take that token back is not.
    monkeypatch.setattr(Hierarchy, "pull", dropping(Hierarchy.pull, sure))
    assert off_by(text, tokens=4) > WRONG
    monkeypatch.undo()
    monkeypatch.setattr(Hierarchy, "pull", dropping(Hierarchy.pull, lambda held: min(len(held), sure(held) + 1)))
    assert off_by(text, tokens=4) < EXACT


@in_turn("text, most", [(text,) for text in STACKS], [1, 2])
def test_cutting_a_block_by_count_stays_exact(text: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Hierarchy, "pull", dropping(Hierarchy.pull, lambda held: min(most, len(held))))
    assert off_by(text, tokens=4) < EXACT


@pytest.mark.parametrize("text", ["table:1,table:2,table", "table:1,table:2,table@rule=block"])
def test_handing_up_the_residual_is_caught(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenwise = rules.tokenwise

    def forgetful(tree: Tree, p: Tensor, judge: Judge, bonus: bool) -> Verdict:
        verdict = tokenwise(tree, p, judge, bonus)
        if verdict.residual is not None:
            p[verdict.accepted] = verdict.residual
        return verdict

    monkeypatch.setattr(rules, "tokenwise", forgetful)
    assert off_by(text, whole=True) > WRONG


def test_a_bonus_from_the_drafters_row_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenwise = rules.tokenwise

    def stale(tree: Tree, p: Tensor, judge: Judge, bonus: bool) -> Verdict:
        wrong = p.clone()
        wrong[len(tree) :] = p[:1]
        return tokenwise(tree, wrong, judge, bonus)

    monkeypatch.setattr(rules, "tokenwise", stale)
    assert off_by("table:1,table") > WRONG


def test_a_missed_rollback_is_an_error_not_a_wrong_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TableRun, "keep", lambda self, start, path: None)
    with pytest.raises(AssertionError, match="which is not a prefix of"):
        off_by("table:2,table", whole=True)
