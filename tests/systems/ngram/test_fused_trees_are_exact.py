"""Drafts with lookups merged into them (`@fuse=`): the engine's distribution is the target's, that of wrong engines is
not.

Over tables what is looked up is a function of the prefix, so that paths may be merged; a run over real databases, and
runs of small models that share states, stand beside them.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import notes_of
import pytest
import torch
from enumerator import SAMPLED, distance, run_distribution, target_distribution
from test_sampled_runs import UNLIKELY, p_value
from toys import changed, output_of, table, toy_stack
from tree_distributions import ABOVE, CLOSE, EXACT, WRONG, greedy_as_alone, off_from, off_lean

import hsd_core
from hsd_core.core import rules
from hsd_core.core.level import DraftOrder, Proposal, Sampler, StackEntry
from hsd_core.core.tree import Offer
from hsd_core.grammar.keys import FUSE
from hsd_core.grammar.stack_text import StackError, parse
from hsd_core.levels import growing, lookup_trie
from hsd_core.levels.fused import FusedLevel
from hsd_core.levels.growing import draft_tree
from hsd_core.levels.lookup_trie import Found, merging
from hsd_core.models.sampling import Sampling
from hsd_core.pipeline import Pipeline
from hsd_core.systems.ngram.databases import Databases, LookupLimits
from hsd_core.systems.ngram.ngram_level import NgramLevel
from hsd_core.systems.table.table_level import TableLevel
from hsd_core.trace.checks import check


class Lookups(NgramLevel):
    """Looks up `guess` sequences that follow from the prefix alone."""

    def open(self, capacity: int, shared: Any) -> Any:
        return _Lookup(self.about.sequences, self.vocab_size)


class _Lookup:
    def __init__(self, guess: int, vocab: int) -> None:
        self._guess, self._vocab = guess, vocab

    def look_up(self, context: Sequence[int], order: DraftOrder) -> tuple[list[list[Found]], int]:
        rng, found = random.Random(f"beside {tuple(context)}"), []
        for _ in range(rng.randrange(self._guess + 1)):
            ids = [rng.randrange(self._vocab) for _ in range(rng.randint(1, order.limit))]
            end = next((n for n, x in enumerate(ids, 1) if x in order.ends), len(ids))
            found.append([Found(x, "c", 1) for x in ids[:end]])
        return found, 0

    def offered(self, letters: object) -> None:
        """Nothing to do."""

    def observe(self, outcome: object) -> None:
        """Nothing to do."""

    def close(self) -> None:
        """Nothing to do."""


def fusing(text: str, vocab: int = 3, seed: int = 1, lookups: Any = None, **options: Any) -> list[StackEntry]:
    """As `toy_stack`, with lookups beside the drafts of its bottom level."""
    below, *above = toy_stack(text, vocab, seed, **options)
    beside = lookups or Lookups(lambda: Databases("c"), vocab, guess=below.spec[FUSE])
    drafter = TableLevel(table(vocab, 100 * seed, **options), vocab, name="table")
    return [StackEntry(FusedLevel(drafter, beside), below.spec, below.block), *above]


off = off_from(fusing)


@pytest.mark.covering
@pytest.mark.parametrize("above", ABOVE)
@pytest.mark.parametrize(
    "below",
    [
        "table:2@fuse=2",
        "table:2@tree=2.1@fuse=2",
        "table:2@tree=1.2@fuse=1",
        "table:2@tree=3.1@replace=1@fuse=1",
        "table:2@grow=3@fuse=2",
    ],
)
def test_fused_trees_under_one_two_and_three_verifiers_follow_the_targets_distribution(below: str, above: str) -> None:
    assert off(f"{below},{above}", vocab=2 if above.count(",") > 1 else 3) < EXACT


@pytest.mark.parametrize("prune", [1, 2])
def test_lookups_pruned_by_the_drafters_first_row_follow_the_distribution(
    prune: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookup_trie, "PRUNE", prune)
    assert off("table:2@tree=2.1@fuse=3,table") < EXACT


@pytest.mark.parametrize("sampling", [Sampling(0.7, top_k=2), Sampling(1.0, top_p=0.7), Sampling(0.0)])
@pytest.mark.parametrize("ends", [frozenset(), frozenset({1})])
def test_cut_distributions_greedy_runs_and_ends_of_the_text(sampling: Sampling, ends: frozenset[int]) -> None:
    for text in ("table:2@tree=2.2@fuse=2,table", "table:2@fuse=2,table:2@bonus=0,table"):
        for zeros in (0.0, 0.4):
            assert off(text, sampling=sampling, ends=ends, zeros=zeros) < EXACT


def real(text: str) -> list[StackEntry]:
    """Lookups in what was written so far."""
    spec = parse(text)[0]
    return fusing(text, 3, 7, NgramLevel(lambda: Databases("c", reach={"c": LookupLimits(1, 4)}), 3, guess=spec[FUSE]))


PROMPT = [0, 1, 2, 0, 2, 1, 0, 0, 1, 1, 0, 2, 2, 0]  # every pair of tokens goes on in several ways


@pytest.mark.parametrize(
    "text", ["table:1@tree=2@fuse=2,table", "table:2@fuse=2,table", "table:1@fuse=3,table:1,table"]
)
def test_real_lookups_beside_drafts_leave_the_targets_distribution(text: str) -> None:
    stack = real(text)
    assert distance(run_distribution(stack, PROMPT, 2), target_distribution(stack, PROMPT, 2)) < EXACT


@pytest.mark.parametrize(
    "text",
    [
        "table:2@tree=2.1@fuse=3,table",
        pytest.param("table:3@fuse=2,table:2,table@bonus=0", marks=pytest.mark.everything),
    ],
)
def test_seeded_runs_agree_with_the_distribution_and_their_traces_are_true(text: str) -> None:
    stack, runs = real(text), 600
    outputs = (list(hsd_core.run(stack, PROMPT, SAMPLED, seed, max_new_tokens=3, heads=0)) for seed in range(runs))
    assert p_value(Counter(map(output_of, outputs)), target_distribution(stack, PROMPT, 3), runs) > UNLIKELY
    events = list(hsd_core.run(stack, PROMPT, SAMPLED, 1, max_new_tokens=24))
    assert check(events) == []
    drafts = [event for event in events if event.event == "draft"]
    assert any({"c", "table"} <= set(event.sources) for event in drafts), "nothing was merged"
    assert all(
        (key > 0) == (source == "c") for e in drafts for key, source in zip(notes_of.keys(e), e.sources, strict=False)
    )


def misread(monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    """Every tree as `change` would have it."""
    monkeypatch.setattr(growing, "draft_tree", lambda *given, **more: change(draft_tree(*given, **more)))


def as_drawn(tree: Proposal) -> Proposal:
    """Named offers said to be drawn from the row of their siblings, where they have any."""
    if tree.forks.offered is None or tree.forks.parents is None:
        return tree
    row = {tree.forks.parents[o.node]: o.row for o in tree.forks.offered if o.row is not None}
    return changed(tree, offered=tuple(Offer(o.node, row.get(tree.forks.parents[o.node])) for o in tree.forks.offered))


def test_looked_up_tokens_judged_as_drawn_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    misread(monkeypatch, as_drawn)
    assert off("table:2@tree=2.1@fuse=2,table") > WRONG


def test_siblings_judged_by_the_whole_distribution_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "drawn_from", lambda tree, offers: tree.rows[0] if offers[0].row is not None else None)
    assert off("table:1@fuse=2,table") > WRONG


def test_a_merged_tree_trimmed_after_it_was_drawn_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def trimmed(tree: Proposal) -> Proposal:
        """Without the drawn token, where it is less likely than one that was looked up."""
        if (
            tree.forks.offered is None
            or tree.drawn.rows is None
            or len(tree.forks.offered) < 2
            or tree.forks.offered[0].row is None
        ):
            return tree
        chance = [float(tree.drawn.rows[0][tree.ids[o.node]]) for o in tree.forks.offered]
        return tree if chance[0] == max(chance) else changed(tree, offered=tree.forks.offered[1:])

    misread(monkeypatch, trimmed)
    assert off("table:1@fuse=2,table") > WRONG


@pytest.mark.parametrize(
    ("text", "tokens", "vocab"),
    [
        ("exit:2@at=2@tree=2.1@fuse=2,target", 3, 2),
        ("exit:2@at=2@fuse=2@id=fed,int8:2,target", 3, 2),
        ("nano:2@tree=1.2@fuse=2@id=own,target@bonus=0", 3, 2),
        ("model:2@fuse=2,target", 3, 2),
    ],
)
def test_fused_trees_over_shared_states_follow_the_targets_distribution(text: str, tokens: int, vocab: int) -> None:
    assert off_lean(text, tokens, vocab, (1, 0, 1, 1, 0)) < CLOSE


@pytest.mark.covering("text", "ends", kinds=True)
@pytest.mark.parametrize(
    "text",
    [
        "exit:3@at=2@tree=2.2.1@fuse=4,target",
        "exit:3@at=2@fuse=7@id=fed,target",
        "exit:3@at=2@tree=1.2.2@fuse=2@id=own,int8:4,target",
        "nano:3@tree=2.2.1@fuse=3@id=fed,target@bonus=0",
        "model:4@fuse=8,target",
        "int4:3@tree=2.1.1@fuse=2,target",
    ],
)
@pytest.mark.parametrize("ends", [frozenset(), frozenset({9})])
def test_greedy_fused_trees_write_the_targets_own_text(text: str, ends: frozenset[int]) -> None:
    assert any(e.event == "draft" and "c" in e.sources for e in greedy_as_alone(text, ends))


def test_what_both_would_offer_stands_once_and_is_grown_behind() -> None:
    """The drafter's likeliest token, looked up: it is named, takes the drawn place, and the drafter goes on behind."""
    rows = torch.tensor([[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]], dtype=torch.float64)
    level = TableLevel(lambda prefix: rows[len(prefix) - 1], 3, name="table")
    picked = lambda row, depth, number: int(row.argmax())  # noqa: E731
    beside = ([Found(0, "c", 2), Found(1, "c", 2)], [Found(2, "m", 1)])
    order = merging(DraftOrder(2, Sampler(lambda x: x.softmax(-1), picked), lambda n, last: False), beside)
    found = level.open(9, None).propose([0], order)  # type: ignore[arg-type]
    named = {(found.ids[o.node], found.forks.parents[o.node]): o.row is None for o in found.forks.offered}  # type: ignore[index,union-attr]
    first = found.ids.index(0)
    assert named == {(0, -1): True, (2, -1): True, (2, first): False, (1, first): True}


def test_a_preset_without_lookups_says_so() -> None:
    with pytest.raises(StackError, match="preset toy has no lookups to merge into a draft; leave @fuse= out"):
        Pipeline.open("toy").entries("table:2@id=order1@fuse=2,table@id=order6")
