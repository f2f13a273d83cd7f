"""A draft with a window of its own that reads the target's last keys and values (LongSpec, arXiv 2502.17421): the
output follows the target's distribution, on chains and trees, below and above any level. LongSpec's own sampled modes
do not.

Whole runs over a random model are enumerated, as in `test_shared_stacks_are_exact`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from enumerator import distance, run_distribution
from lean_stacks import LeanStacks, drafted_stacks, model_distribution
from test_shared_stacks_are_exact import EXACT as EXACT_OF_MODELS
from torch import Tensor
from toys import changed, toy_stack
from tree_distributions import EXACT, WRONG, off_from

from hsd_core.core import rules
from hsd_core.core.choices import Judge
from hsd_core.core.level import Proposal
from hsd_core.core.rules import Verdict
from hsd_core.core.tree import Offer, Tree
from hsd_core.models.lean.positions import SINK
from hsd_core.systems.longspec.windowed import WindowedRun
from hsd_core.systems.table.table_level import TableRun
from tests.windowed_drafts import windowed

WHOLE = [
    # stack, tokens, vocabulary
    ("nano:2,target", 3, 3),
    ("nano:3,target@rule=block", 3, 2),
    ("nano:2@tree=2.2,target", 3, 2),
    ("nano:2@tree=2.1@replace=1,target@bonus=0", 3, 2),
    ("nano:2@policy=confidence@theta=0.5,target", 3, 2),
    ("exit:1@at=1,nano:2,target", 3, 2),
    ("nano:1,int8:2,target", 3, 2),
    ("nano:1,exit:2@at=2,target", 3, 2),
]


@cache
def stacks(vocab: int) -> LeanStacks:
    made = drafted_stacks(vocab)
    made.drafts = {"nano": windowed(made.target, window=SINK + 2, absent=(1,) if vocab > 2 else ())}
    return made


def off_by(text: str, tokens: int, vocab: int) -> float:
    made, prompt = stacks(vocab), [0, 1, 1, 0, 1]  # behind it the window leaves positions out
    found = run_distribution(made.stack(text), prompt, tokens)
    return distance(found, model_distribution(made.target, prompt, tokens))


@pytest.mark.covering("text", kinds=True)
@pytest.mark.parametrize(("text", "tokens", "vocab"), WHOLE)
def test_whole_runs_follow_the_targets_distribution(text: str, tokens: int, vocab: int) -> None:
    assert off_by(text, tokens, vocab) < EXACT_OF_MODELS


def test_a_row_that_sees_more_than_was_verified_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the rows that are handed up had been read once more behind the target's pass."""
    real = WindowedRun.propose

    def later(self: WindowedRun, context: Any, order: Any) -> Proposal:
        drafted = real(self, context, order)
        assert drafted.drawn.rows is not None
        return changed(drafted, rows=drafted.drawn.rows.roll(1, -1))

    monkeypatch.setattr(WindowedRun, "propose", later)
    assert off_by("nano:2,target", 2, 3) > WRONG


# LongSpec's own sampled modes, as its public code has them: drafts are the likeliest tokens and judged by p/q of a row
# that they were not drawn from, and behind a reject the token is drawn from p; on a tree the ratio is read at the
# number of the node, not at its token.
off = off_from(toy_stack)


def likeliest(monkeypatch: pytest.MonkeyPatch, *, named: bool) -> None:
    """Tables draft what is likeliest, on a tree the next best too; named, or with a row that it was not drawn from."""
    real = TableRun.propose

    def propose(self: TableRun, context: Any, order: Any) -> Proposal:
        drafted = real(self, context, order.drawing(pick=lambda row, depth, number: int(row.argmax())))
        if not named:
            return drafted
        offered = drafted.forks.offered and tuple(Offer(offer.node) for offer in drafted.forks.offered)
        return changed(drafted, rows=None, logits=None, offered=offered)

    monkeypatch.setattr(TableRun, "propose", propose)


def published(tree: Tree, p: Tensor, judge: Judge, bonus: bool) -> Verdict:
    places, path, fork = rules.rows_of(tree, bonus), list[int](), -1
    alphas, coins = ([None] * len(tree.offers) for _ in range(2))
    while at := tree.forks.get(fork):
        row = p[places[fork]]
        for place, o in enumerate(at):
            node, q = tree.offers[o].node, tree.rows[tree.offers[o].row]
            read = tree.ids[node] if tree.is_chain else node % p.shape[1]
            alphas[o] = min(1.0, float(row[read]) / max(1e-9, float(q[read])))
            kept, coins[o] = judge.accept(alphas[o], len(path), place)
            if kept:
                path.append(fork := node)
                break
        else:
            return Verdict(tuple(path), judge.draw(row, len(path)), tuple(alphas), tuple(coins), row)
    token = judge.draw(p[places[fork]], len(path)) if bonus or not len(tree) else None
    return Verdict(tuple(path), token, tuple(alphas), tuple(coins))


@pytest.mark.parametrize("text", ["table:2,table", "table:2@tree=2.1,table"])
def test_the_published_sampled_modes_are_not_exact_and_named_drafts_are(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert off(text) < EXACT, "drafts that are drawn"
    likeliest(monkeypatch, named=True)
    assert off(text) < EXACT, "the same drafts as LongSpec's, named"
    monkeypatch.undo()
    likeliest(monkeypatch, named=False)
    monkeypatch.setattr(rules, "tokenwise", published)
    assert off(text) > WRONG, "as LongSpec judges them"
