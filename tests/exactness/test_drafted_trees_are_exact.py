"""Trees that levels draft by their own distributions (`@tree=`): the engine's distribution is the target's, that of
wrong engines is not.

Tables are enumerated in float64. Exits, nano drafts and models share states and caches with the levels above; they
compute in float32, so their distributions agree to some 1e-7.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import notes_of
import pytest
import torch
from enumerator import SAMPLED, target_distribution
from lean_stacks import drafted_stacks
from test_sampled_runs import UNLIKELY, p_value
from toys import changed, output_of, toy_stack
from tree_distributions import ABOVE, CLOSE, EXACT, WRONG, greedy_as_alone, off_from, off_lean

import hsd_core
from hsd_core.core import rules
from hsd_core.core.level import Proposal
from hsd_core.levels import growing
from hsd_core.levels.growing import draft_tree
from hsd_core.levels.model_level import ModelRun
from hsd_core.levels.shared import open_levels
from hsd_core.levels.trunk import Trunk
from hsd_core.models.one_pass import Branches, path_to
from hsd_core.models.sampling import Sampling
from hsd_core.trace.checks import check

off = off_from(toy_stack)


@pytest.mark.covering
@pytest.mark.parametrize("above", ABOVE)
@pytest.mark.parametrize("how", ["", "@replace=1"])
@pytest.mark.parametrize("below", ["table:2@tree=2.2", "table:2@tree=3.1", "table:3@tree=2.1.1"])
def test_drafted_trees_under_one_two_and_three_verifiers_follow_the_targets_distribution(
    below: str, how: str, above: str
) -> None:
    assert off(f"{below}{how},{above}", vocab=2 if above.count(",") > 1 else 3) < EXACT


@pytest.mark.parametrize("sampling", [Sampling(0.7, top_k=2), Sampling(1.0, top_p=0.7), Sampling(0.0)])
@pytest.mark.parametrize("ends", [frozenset(), frozenset({1})])
def test_cut_distributions_greedy_runs_and_ends_of_the_text(sampling: Sampling, ends: frozenset[int]) -> None:
    texts = ("table:2@tree=3.2,table", "table:2@tree=2.2,table:2@bonus=0,table", "table:2@tree=3.1@replace=1,table")
    for text in texts:
        for zeros in (0.0, 0.4):
            assert off(text, sampling=sampling, ends=ends, zeros=zeros) < EXACT


@pytest.mark.parametrize(
    "policy", ["confidence@theta=0.5", "confidence@theta=0.9", "margin@theta=0.7", "adaptive@theta=0.6"]
)
def test_a_tree_that_stops_where_it_is_unsure_follows_the_distribution(policy: str) -> None:
    assert off(f"table:3@tree=2.2.1@policy={policy},table", vocab=2) < EXACT


@pytest.mark.parametrize(
    "text",
    [
        "table:2@tree=3.2@replace=1,table",
        pytest.param("table:2@tree=2.2,table", marks=pytest.mark.everything),
        pytest.param("table:3@tree=3.1.1,table:2,table@bonus=0", marks=pytest.mark.everything),
    ],
)
def test_seeded_runs_agree_with_the_distribution_and_their_traces_are_true(text: str) -> None:
    stack, runs = toy_stack(text, 3, seed=21), 600
    outputs = (list(hsd_core.run(stack, [0], SAMPLED, seed, max_new_tokens=3, heads=0)) for seed in range(runs))
    assert p_value(Counter(map(output_of, outputs)), target_distribution(stack, [0], 3), runs) > UNLIKELY
    events = list(hsd_core.run(stack, [0], SAMPLED, 1, max_new_tokens=24))
    assert check(events) == [] and any(e.event == "draft" and e.is_tree for e in events)


def misread(monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    """Every tree as `change` would have it."""
    monkeypatch.setattr(growing, "draft_tree", lambda *given: change(draft_tree(*given)))


def test_siblings_judged_as_drawn_with_replacement_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    misread(monkeypatch, lambda tree: changed(tree, repeats=True))
    assert off("table:2@tree=3.1,table") > WRONG


def test_siblings_drawn_again_and_judged_as_drawn_once_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    misread(monkeypatch, lambda tree: changed(tree, repeats=False))
    assert off("table:2@tree=3.1@replace=1,table") > WRONG


def test_a_token_drawn_again_whose_second_offer_is_dropped_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """It could not be kept any more, and yet its rejection leaves another distribution for what is drawn instead."""
    misread(
        monkeypatch, lambda tree: changed(tree, offered=tree.forks.offered and tuple(dict.fromkeys(tree.forks.offered)))
    )
    assert off("table:2@tree=2.1@replace=1,table") > WRONG


def test_greedy_runs_offer_the_same_tokens_with_and_without_replacement() -> None:
    greedy = Sampling(0.0)
    with_, without = (
        list(hsd_core.run(toy_stack(f"table:2@tree=3.2{how},table", 5, 3), [0], greedy, 1, max_new_tokens=12))
        for how in ("@replace=1", "")
    )
    drafts = [[e.ids for e in events if e.event == "draft"] for events in (with_, without)]
    assert drafts[0] == drafts[1] and "replace" not in with_[0].levels[0].params


def test_a_trace_says_how_often_a_token_was_drawn_and_judges_it_once() -> None:
    stack = toy_stack("table:2@tree=4.2@replace=1,table", 3, seed=2)
    events = list(hsd_core.run(stack, [0], SAMPLED, 5, max_new_tokens=60))
    drafts = [e for e in events if e.event == "draft"]
    again = [e for e in drafts if notes_of.draws(e)]
    assert check(events) == [] and events[0].levels[0].params["replace"] is True
    assert again and all(max(notes_of.draws(e)) > 1 and len(notes_of.draws(e)) == len(e.ids) for e in again)
    for e in drafts:  # what stands behind one place is told apart by its id
        assert len(set(zip(e.parents, e.ids, strict=True))) == len(e.ids)
        behind = sum(
            times for times, above in zip(notes_of.draws(e) or (1,) * len(e.ids), e.parents, strict=True) if above < 0
        )
        assert behind == 4
    for e in (e for e in events if e.event == "verify"):
        assert len({c.serial for c in e.checks}) == len(e.checks)
        assert all((c.alpha is None) == (c.outcome == "unjudged") for c in e.checks)
    kept = [t.serial for e in events if e.event == "commit" for t in e.tokens if t.how == "draft"]
    twice = {s for e in again for s, times in zip(e.serials, notes_of.draws(e), strict=True) if times > 1}
    assert twice & set(kept), "no token that was drawn twice was kept"


def test_named_tokens_judged_as_drawn_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    real = growing._offers
    monkeypatch.setattr(growing, "_offers", lambda dist, logits, wide, order, *more: (
        (token, False) for token, _ in real(dist, logits, wide, order.drawing(greedy=True), *more)
    ))  # fmt: skip
    assert off("table:2@tree=2.1,table") > WRONG


def test_drawn_tokens_judged_by_likelihood_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    real = growing._offers
    monkeypatch.setattr(
        growing, "_offers", lambda dist, *more: sorted(real(dist, *more), key=lambda one: -float(dist[one[0]]))
    )
    assert off("table:2@tree=2.1,table") > WRONG


def test_a_tree_pruned_after_it_was_drawn_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def pruned(whole: Proposal) -> Proposal:
        """Of two tokens behind the context the likelier one, nothing behind it."""
        assert whole.forks.parents is not None and whole.forks.offered is not None and whole.drawn.rows is not None
        first = [o for o in whole.forks.offered if whole.forks.parents[o.node] < 0]
        best = max(first, key=lambda o: float(whole.drawn.rows[0][whole.ids[o.node]]))
        return changed(
            whole, ids=(whole.ids[best.node],), sources=("t",), parents=(-1,), offered=(replace(best, node=0),)
        )

    misread(monkeypatch, pruned)
    assert off("table:1@tree=2,table") > WRONG


def test_a_correction_from_p_instead_of_what_is_left_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "_residual", lambda p, q, fallback=None: p)
    assert off("table:2@tree=2.1,table") > WRONG


@pytest.mark.covering("text")
@pytest.mark.parametrize(
    ("text", "tokens", "vocab"),
    [
        pytest.param("exit:2@at=2@tree=2.1,target", 3, 3, marks=pytest.mark.everything),
        ("exit:2@at=2@tree=2.1,target", 3, 2),
        ("exit:2@at=2@tree=2.2@bonus=0,target@bonus=0", 3, 2),
        pytest.param("exit:2@at=2@tree=2.1@replace=1,target", 3, 3, marks=pytest.mark.everything),
        ("exit:2@at=2@tree=2.1@replace=1,target", 3, 2),
        pytest.param("exit:2@at=2@tree=2.1@id=own,target", 3, 3, marks=pytest.mark.everything),
        ("exit:2@at=2@tree=2.1@id=own,target", 3, 2),
        ("exit:2@at=2@tree=2.1@id=fed,target", 3, 3),
        ("exit:2@at=1@tree=2.1@id=fed,exit:2@at=2@id=own@policy=flush,target", 3, 2),
        ("exit:2@at=2@tree=2.1@id=fed,int8:2,target", 3, 2),
        ("exit:2@at=2@tree=1.2,int8:2,target@rule=block", 3, 2),
        ("nano:2@tree=2.1@id=own,target", 3, 3),
        ("nano:2@tree=2.2@id=fed,target@bonus=0", 3, 2),
        ("nano:2@tree=2.2@replace=1@id=fed,int8:2,target", 3, 2),
        ("model:2@tree=2.1,target", 3, 2),
    ],
)
def test_trees_over_shared_states_follow_the_targets_distribution(text: str, tokens: int, vocab: int) -> None:
    assert off_lean(text, tokens, vocab) < CLOSE


GROWN = (
    "exit:3@at=2@tree=2.2.1,target",
    "exit:3@at=2@tree=3.2.1@id=own,target@bonus=0",
    "exit:3@at=2@tree=2.2.1@id=fed,target",
    "exit:2@at=1@tree=2.1@id=fed,exit:3@at=3@id=own,target",
    "exit:3@at=2@tree=1.2.2@id=own,int8:4,target",
    "nano:3@tree=2.2.1@id=own,target",
    "exit:3@at=2@tree=3.2.2@replace=1@id=fed,target",
    "model:3@tree=3.1.1@replace=1,target@bonus=0",
    "nano:3@tree=4.2.2@id=fed,exit:3@at=2@bonus=0,target",
    "model:3@tree=3.1.1,target@bonus=0",
    "int4:2@tree=2.1,target",
)


@pytest.mark.covering("text", "ends")
@pytest.mark.parametrize("text", GROWN)
@pytest.mark.parametrize("ends", [frozenset(), frozenset({9})])
def test_greedy_trees_write_the_targets_own_text(text: str, ends: frozenset[int]) -> None:
    assert any(e.event == "draft" and e.is_tree for e in greedy_as_alone(text, ends))


@pytest.mark.parametrize("how", ["own", "fed", "lens", "chains alone"])
def test_rows_of_a_tree_are_those_of_its_paths(how: str) -> None:
    made = drafted_stacks(13)
    context, ids, parents = [5, 6, 7, 8, 5, 6], [3, 4, 5, 6, 6], (-1, -1, 0, 0, 1)

    def opened() -> Any:
        if how == "chains alone":
            return ModelRun(made.target, 64, "model")
        stack = made.stack(f"exit:3@at=2@id={how},target")
        return [*open_levels([entry.level for entry in stack], 64, 8)][-1]

    grown = opened()
    rows = [grown.grow(context, [], Branches(6, ()), 0)[0]]
    rows.append(grown.grow(context, ids[:2], Branches(6, parents[:2]), 2)[0])
    rows.append(grown.grow(context, ids, Branches(6, parents), 3)[0])
    for node, row in enumerate(torch.cat(rows), start=-1):
        path, run = [ids[n] for n in path_to(node, parents)], opened()
        for end in range(len(context), len(context) + len(path) + 1):
            alone, _ = run.score([*context, *path][:end])
        assert torch.allclose(row, alone[-1], atol=1e-4), f"{how}: node {node}"


def test_a_path_that_stays_where_it_was_grown_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The nodes of a path lie anywhere among the others; without moving them a verifier reads its rejected siblings."""

    def unmoved(self: Trunk, start: int, path: Any, depth: int) -> None:
        self.cut(start + len(path), depth)

    text = "exit:2@at=2@tree=2.1,target"
    monkeypatch.setattr(Trunk, "keep", unmoved)
    assert off_lean(text, 3, 2) > WRONG
