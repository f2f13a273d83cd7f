"""Trees of drafts: the engine's distribution, every branch enumerated, is the target's; that of known wrong readings
is not."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from covering import seeds
from enumerator import SAMPLED, distance, run_distribution, target_distribution
from toys import TreeRun, changed, tree_stack
from tree_distributions import EXACT, WRONG, off_from

from hsd_core.core import rules
from hsd_core.core.level import DraftOrder, Proposal
from hsd_core.models.sampling import Sampling

HOW = ("drawn", "repeats", "named", "mixed")
ABOVE = (
    "table:2,table",
    "table:2,table@bonus=0",
    "table:2,table@rule=greedy",
    "table:2,table:1,table@rule=block",
    "table:2,table:3@policy=flush,table",
    "table:2,table:2@bonus=0,table:2@rule=block,table",
)


def off(text: str, shape: tuple[int, ...], how: str, **options) -> float:
    return off_from(lambda text, *of, **more: tree_stack(text, shape, how, *of, **more))(text, **options)


@pytest.mark.covering
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("text", [text for text in ABOVE if "greedy" not in text])
def test_trees_under_one_two_and_three_verifiers_follow_the_targets_distribution(text: str, how: str) -> None:
    vocab = 3 if text.count(",") < 3 else 2
    assert off(text, (2, 2), how, vocab=vocab) < EXACT


@pytest.mark.parametrize("seed", seeds(40, always=20))
def test_random_trees_follow_the_targets_distribution(seed: int) -> None:
    rng = random.Random(seed)
    vocab = rng.choice((2, 3))
    shape = tuple(rng.randint(1, 3) for _ in range(rng.randint(1, 2)))
    text = rng.choice(("table:2,table", "table:2,table@bonus=0", "table:2,table:2,table"))
    sampling = rng.choice((SAMPLED, Sampling(0.7, top_k=2), Sampling(1.0, top_p=0.8), Sampling(0.0)))
    ends = rng.choice((frozenset(), frozenset({1})))
    options = {"sampling": sampling, "ends": ends, "zeros": rng.choice((0.0, 0.3)), "seed": seed, "vocab": vocab}
    assert off(text, shape, rng.choice(HOW), **options) < EXACT


@pytest.mark.parametrize("how", HOW)
def test_merging_paths_changes_nothing(how: str) -> None:
    stack = tree_stack("table:2,table", (2, 1), how, 2, 3)
    whole = run_distribution(stack, [0], 3)
    assert distance(whole, target_distribution(stack, [0], 3)) < EXACT


def test_a_greedy_rule_on_a_tree_is_exact_for_a_greedy_target() -> None:
    for how in HOW:
        assert off("table:2,table@rule=greedy", (2, 2), how, sampling=Sampling(0.0), tokens=4) < EXACT


def misread(monkeypatch: pytest.MonkeyPatch, **changes: object) -> None:
    real = TreeRun.propose

    def propose(self: TreeRun, context: list[int], order: DraftOrder) -> Proposal:
        proposal = real(self, context, order)
        return changed(proposal, **{k: v(proposal) if callable(v) else v for k, v in changes.items()})

    monkeypatch.setattr(TreeRun, "propose", propose)


def test_draws_with_replacement_judged_as_without_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    misread(monkeypatch, repeats=False)
    assert off("table:2,table", (3,), "repeats") > WRONG


def test_draws_without_replacement_judged_as_with_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    misread(monkeypatch, repeats=True)
    assert off("table:2,table", (3,), "drawn") > WRONG


def test_tokens_chosen_by_rank_and_judged_as_drawn_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    real = TreeRun.propose

    def propose(self: TreeRun, context: list[int], order: DraftOrder) -> Proposal:
        ranked = order.drawing(pick=lambda row, depth, number: int(row.argmax()))
        return real(self, context, ranked)

    monkeypatch.setattr(TreeRun, "propose", propose)
    assert off("table:2,table", (2,), "drawn") > WRONG


def test_drawn_tokens_read_as_named_stay_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    misread(monkeypatch, rows=None, offered=lambda p: tuple(replace(o, row=None) for o in p.forks.offered))
    assert off("table:2,table", (2, 2), "drawn") < EXACT


def test_dropping_the_less_likely_of_two_draws_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    real = TreeRun.propose

    def propose(self: TreeRun, context: list[int], order: DraftOrder) -> Proposal:
        whole = real(self, context, order)
        if len(whole.ids) < 2:
            return whole
        best = max(range(len(whole.ids)), key=lambda node: float(whole.drawn.rows[0][whole.ids[node]]))
        offer = next(o for o in whole.forks.offered if o.node == best)
        one = (replace(offer, node=0),)
        return changed(whole, ids=(whole.ids[best],), sources=("tree",), parents=(-1,), offered=one)

    monkeypatch.setattr(TreeRun, "propose", propose)
    assert off("table:2,table", (2,), "drawn") > WRONG


def test_correcting_from_p_instead_of_what_is_left_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "_residual", lambda p, q, fallback=None: p)
    assert off("table:2,table", (2,), "drawn") > WRONG
    monkeypatch.undo()
    monkeypatch.setattr(rules, "_without", lambda row, token: row)
    assert off("table:2,table", (2,), "named") > WRONG


def test_a_lookup_judged_as_if_drawn_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    misread(
        monkeypatch,
        rows=lambda p: p.drawn.rows if p.drawn.rows is not None else _uniform(p),
        offered=lambda p: tuple(replace(o, row=0) for o in p.forks.offered),
    )
    assert off("table:2,table", (1,), "named") > WRONG


def _uniform(proposal: Proposal) -> object:
    import torch

    return torch.full((1, 3), 1 / 3, dtype=torch.float64)


def test_rule_block_refuses_a_tree() -> None:
    with pytest.raises(ValueError, match="rule block judges chains"):
        off("table:2,table@rule=block", (2,), "drawn")
