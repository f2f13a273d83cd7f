"""Trees that follow the drafter's own confidence (`@grow=`): the engine's distribution is the target's, that of engines
that drop what they drew is not."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from enumerator import SAMPLED, target_distribution
from test_sampled_runs import UNLIKELY, p_value
from toys import changed, output_of, toy_stack
from tree_distributions import ABOVE, CLOSE, EXACT, WRONG, greedy_as_alone, off_from, off_lean

import hsd_core
from hsd_core.core.level import Proposal
from hsd_core.core.tree import Offer
from hsd_core.levels import growing, tree_shape
from hsd_core.levels.growing import draft_tree
from hsd_core.models.sampling import Sampling
from hsd_core.trace.checks import check

off = off_from(toy_stack)


@pytest.mark.covering
@pytest.mark.parametrize("above", ABOVE)
@pytest.mark.parametrize("below", ["table:2@grow=4", "table:3@grow=5", "table:2@grow=3@replace=1"])
def test_grown_trees_under_one_two_and_three_verifiers_follow_the_targets_distribution(below: str, above: str) -> None:
    assert off(f"{below},{above}", vocab=2 if above.count(",") > 1 else 3) < EXACT


def test_a_deep_tree_is_enumerated_to_its_end() -> None:
    assert off("table:4@grow=6,table", vocab=2, tokens=4) < EXACT
    assert off("table:4@grow=4@replace=1,table", vocab=2, tokens=4) < EXACT


@pytest.mark.parametrize("sampling", [Sampling(0.7, top_k=2), Sampling(1.0, top_p=0.7), Sampling(0.0)])
@pytest.mark.parametrize("ends", [frozenset(), frozenset({1})])
def test_cut_distributions_greedy_runs_and_ends_of_the_text(sampling: Sampling, ends: frozenset[int]) -> None:
    for text in ("table:2@grow=5,table", "table:2@grow=4,table:2@bonus=0,table", "table:2@grow=3@replace=1,table"):
        for zeros in (0.0, 0.4):
            assert off(text, sampling=sampling, ends=ends, zeros=zeros) < EXACT


@pytest.mark.parametrize("policy", ["confidence@theta=0.7", "margin@theta=0.7", "adaptive@theta=0.6"])
def test_a_grown_tree_that_stops_where_it_is_unsure_follows_the_distribution(policy: str) -> None:
    assert off(f"table:3@grow=6@policy={policy},table", vocab=2) < EXACT


@pytest.mark.parametrize(
    "text",
    [
        "table:3@grow=5,table",
        pytest.param("table:3@grow=6@replace=1,table:2,table@bonus=0", marks=pytest.mark.everything),
    ],
)
def test_seeded_runs_agree_with_the_distribution_and_their_traces_are_true(text: str) -> None:
    stack, runs = toy_stack(text, 3, seed=21), 600
    outputs = (list(hsd_core.run(stack, [0], SAMPLED, seed, max_new_tokens=3, heads=0)) for seed in range(runs))
    assert p_value(Counter(map(output_of, outputs)), target_distribution(stack, [0], 3), runs) > UNLIKELY
    events = list(hsd_core.run(stack, [0], SAMPLED, 1, max_new_tokens=40))
    drafts = [e for e in events if e.event == "draft"]
    assert check(events) == [] and len({e.parents for e in drafts}) > 2, "one shape whatever the drafter thinks"
    most = events[0].levels[0].params["grow"]
    assert max(len(e.ids) for e in drafts) <= most


def without(whole: Proposal, dropped: set[int]) -> Proposal:
    """A tree without some of its leaves."""
    assert whole.forks.parents is not None and whole.forks.offered is not None
    kept = [node for node in range(len(whole.ids)) if node not in dropped]
    places = {-1: -1, **{node: place for place, node in enumerate(kept)}}
    offered = tuple(Offer(places[o.node], o.row) for o in whole.forks.offered if o.node in places)
    parents = tuple(places[whole.forks.parents[node]] for node in kept)
    ids = tuple(whole.ids[node] for node in kept)
    return changed(whole, ids=ids, sources=("t",) * len(ids), parents=parents, offered=offered)


def leaves(whole: Proposal) -> dict[int, float]:
    """The leaves of a drawn tree and the chances of their paths."""
    assert whole.forks.parents is not None and whole.forks.offered is not None and whole.drawn.rows is not None
    row = {o.node: o.row for o in whole.forks.offered}
    chances: list[float] = []
    for node, (id_, parent) in enumerate(zip(whole.ids, whole.forks.parents, strict=True)):
        chances.append(float(whole.drawn.rows[row[node]][id_]) * (chances[parent] if parent >= 0 else 1.0))
    return {node: chances[node] for node in range(len(chances)) if node not in whole.forks.parents}


def misread(monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    """Every tree as `change` would have it."""
    made = lambda *given: draft_tree(*given)  # noqa: E731
    monkeypatch.setattr(
        growing, "draft_tree", lambda *given: tree if (tree := made(*given)).forks.parents is None else change(tree)
    )


def test_a_tree_reranked_after_it_was_drawn_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """As EAGLE-2 has it: more is drafted than is offered, and of that the likeliest is kept."""

    def reranked(whole: Proposal) -> Proposal:
        outer = leaves(whole)
        return without(whole, set(sorted(outer, key=lambda node: -outer[node])[1:]))

    misread(monkeypatch, reranked)
    assert off("table:1@grow=3,table") > WRONG
    assert off("table:2@grow=5,table") > WRONG


def test_an_unlikely_token_that_is_dropped_once_it_is_drawn_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    misread(monkeypatch, lambda whole: without(whole, {node for node, chance in leaves(whole).items() if chance < 0.3}))
    assert off("table:2@grow=4,table") > WRONG


def test_a_shape_that_hangs_on_anything_before_the_draw_stays_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """However badly the tree is laid out: which forks are looked behind and how wide they are costs tokens alone."""

    def odd(forks: Any, nodes: int, left: int, least: int = 0) -> list[int]:
        return [max(least, int(1000 * fork.chance) % 3) if left else 0 for fork in forks]

    monkeypatch.setattr(tree_shape, "shares", odd)
    assert off("table:2@grow=9,table") < EXACT
    assert off("table:2@grow=9@replace=1,table:2@bonus=0,table", vocab=2) < EXACT


@pytest.mark.covering("text")
@pytest.mark.parametrize(
    ("text", "tokens", "vocab"),
    [
        ("exit:2@at=2@grow=3,target", 3, 2),
        ("exit:2@at=2@grow=3@id=fed,target", 3, 3),
        ("exit:2@at=1@grow=3@id=fed,exit:2@at=2@id=own@policy=flush,target", 3, 2),
        ("nano:2@grow=4@id=fed,target@bonus=0", 3, 2),
        ("nano:2@grow=3@replace=1@id=own,int8:2,target@rule=block", 3, 2),
        ("model:2@grow=3,target", 3, 2),
    ],
)
def test_grown_trees_over_shared_states_follow_the_targets_distribution(text: str, tokens: int, vocab: int) -> None:
    assert off_lean(text, tokens, vocab) < CLOSE


@pytest.mark.covering("text", "ends")
@pytest.mark.parametrize(
    "text",
    [
        "exit:4@at=2@grow=9,target",
        "exit:3@at=2@grow=9@id=own,target@bonus=0",
        "exit:3@at=2@grow=6@id=fed,target@bonus=0",
        "exit:2@at=1@grow=5@id=fed,exit:3@at=3@id=own,target",
        "nano:4@grow=8@replace=1@id=own,int8:4,target",
        "nano:4@grow=12@id=fed,target",
        "nano:3@grow=6@fuse=3@id=fed,target",
        "model:3@grow=6,target@bonus=0",
        "int4:2@grow=4,target",
    ],
)
@pytest.mark.parametrize("ends", [frozenset(), frozenset({9})])
def test_greedy_grown_trees_write_the_targets_own_text(text: str, ends: frozenset[int]) -> None:
    assert any(e.event == "draft" and e.is_tree for e in greedy_as_alone(text, ends))
