"""Trees through the models: rows as those of each path alone, caches that keep a path, whole runs that name several."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch
from lean_stacks import LeanStacks, RandomDraft
from tiny import tiny
from toys import output_of

import hsd_core
from hsd_core.core.level import StackEntry
from hsd_core.core.tree import Token, Tree
from hsd_core.grammar.stack_text import LevelSpec
from hsd_core.levels.model_level import ModelLevel, ModelRun
from hsd_core.levels.shared import SharedState
from hsd_core.models.one_pass import Pass, path_to
from hsd_core.models.sampling import Sampling
from hsd_core.systems.ngram.databases import Databases
from hsd_core.systems.ngram.ngram_level import NgramLevel
from hsd_core.trace.checks import check

CONTEXT = [5, 9, 11, 3, 8, 2, 7]
PARENTS = (-1, 0, 1, -1, 3, 0, 3, 4)
IDS = (4, 12, 6, 10, 12, 1, 4, 9)
TREE = Tree([Token(-1, id_, 0, "draft", "") for id_ in IDS], parents=PARENTS)


def alone(decoder: Any, ids: list[int]) -> torch.Tensor:
    """The row behind these ids, from an empty cache."""
    return decoder.forward(Pass(ids), decoder.new_cache(len(ids)))[0]


def opened(decoder: Any, *, by_branches: bool = False) -> Any:
    level = ModelLevel(decoder, name="target", kind="target", label="tiny")
    if by_branches:
        return ModelRun(decoder, 64, "target")
    return level.open(64, SharedState(64, branches=16))


@pytest.mark.parametrize("by_branches", [False, True])
@pytest.mark.parametrize("kind", ["llama", "qwen2", "qwen3"])
@pytest.mark.parametrize("cached", [0, 3, len(CONTEXT) - 1])
def test_the_rows_of_a_tree_are_those_of_its_paths(kind: str, cached: int, by_branches: bool) -> None:
    decoder = tiny(kind)
    run = opened(decoder, by_branches=by_branches)
    if cached:
        run.score(CONTEXT[:cached])
    rows, work = run.score(CONTEXT, TREE)
    assert rows.shape == (len(TREE) + 1, decoder.vocab_size)
    for node in range(-1, len(TREE)):
        expected = alone(decoder, [*CONTEXT, *(IDS[i] for i in path_to(node, TREE.lineage))])
        assert torch.allclose(rows[node + 1], expected, atol=1e-4), node
    if not by_branches:
        assert work.rows == len(CONTEXT) - cached + len(TREE)


@pytest.mark.parametrize("path", [(), (0,), (3,), (0, 1, 2), (3, 4, 7), (3, 6), (0, 5)])
def test_a_kept_path_is_a_line_in_the_cache(path: tuple[int, ...]) -> None:
    for by_branches in (False, True):
        decoder = tiny()
        run = opened(decoder, by_branches=by_branches)
        run.score(CONTEXT, TREE)
        run.keep(len(CONTEXT), path)
        kept = [*CONTEXT, *(IDS[node] for node in path)]
        assert run.cached <= len(kept)
        rows, _ = run.score([*kept, 13])
        assert torch.allclose(rows[0], alone(decoder, [*kept, 13]), atol=1e-4)


def test_fuzzed_trees_leave_the_cache_of_one_line() -> None:
    rng, decoder = random.Random(5), tiny()
    run, context = opened(decoder), list(CONTEXT)
    for _ in range(12):
        n = rng.randint(1, 6)
        parents = tuple(rng.randint(-1, node - 1) for node in range(n))
        tree = Tree([Token(-1, rng.randrange(60), 0, "draft", "") for _ in range(n)], parents=parents)
        run.score(context, tree)
        path = rng.choice(tree.branches())[: rng.randint(0, 3)]
        run.keep(len(context), path)
        context = [*context, *(tree.ids[node] for node in path), rng.randrange(60)]
    assert torch.allclose(run.score(context)[0][0], alone(decoder, context), atol=1e-4)


@pytest.mark.covering("above", "fed")
@pytest.mark.parametrize("fed", [False, True])
@pytest.mark.parametrize(
    "above",
    [
        "exit:3@at=2@id=own,target",
        "exit:2@at=1@id=own@bonus=0,exit:3@at=2,target@bonus=0",
        "nano:2@id=own,int8:3,target",
        "nano:2@id=own@bonus=0,target@bonus=0",
    ],
)
def test_trained_drafts_that_take_chains_alone_judge_trees_too(above: str, fed: bool) -> None:
    stacks = LeanStacks(layers=4, vocab=13)
    stacks.drafts = {"own": RandomDraft(stacks.target, fed=fed, absent=(5,))}
    prompt = [5, 6, 7, 8, 5, 6, 9, 5, 6, 7, 5, 6, 9, 11, 5, 6]
    for ends in (frozenset(), frozenset({9})):
        runs = [
            list(hsd_core.run(entries, prompt, Sampling(0.0), 3, max_new_tokens=60, ends=ends))
            for entries in (guessing(stacks, above, 4), stacks.stack("target"))
        ]
        assert check(runs[0]) == []
        assert output_of(runs[0]) == output_of(runs[1])
    assert any(e.event == "draft" and e.is_tree for e in runs[0])


def guessing(stacks: LeanStacks, above: str, guess: int) -> list[StackEntry]:
    size = stacks.target.vocab_size
    lookups = NgramLevel(lambda: Databases("c", reach={}), size, guess=guess)
    return [StackEntry(lookups, LevelSpec("ngram", block=3), 3), *stacks.stack(above)]


@pytest.mark.covering("above", "sampling")
@pytest.mark.parametrize(
    "above", ["target", "target@bonus=0", "int8:4,target", "exit:3@at=2,target", "int8:3@bonus=0,target@rule=greedy"]
)
@pytest.mark.parametrize("sampling", [Sampling(0.0), Sampling(1.0)])
def test_several_guesses_side_by_side_leave_greedy_text_and_a_true_trace(above: str, sampling: Sampling) -> None:
    stacks = LeanStacks(layers=4, vocab=13)
    prompt = [5, 6, 7, 8, 5, 6, 9, 5, 6, 7, 5, 6, 9, 11, 5, 6]
    events = list(hsd_core.run(guessing(stacks, above, 4), prompt, sampling, 3, max_new_tokens=60))
    assert check(events) == []
    drafts = [e for e in events if e.event == "draft"]
    assert any(e.is_tree for e in drafts), "no round offered more than one sequence"
    if sampling.greedy:
        plain = list(hsd_core.run(stacks.stack("target"), prompt, sampling, 3, max_new_tokens=60))
        assert output_of(events) == output_of(plain)


def test_as_many_tokens_can_be_kept_of_a_tree_as_its_longest_path_has() -> None:
    assert TREE.longest == max(len(path_to(node, PARENTS)) for node in range(len(TREE))) == 3
    assert Tree(TREE.tokens).longest == len(TREE)


@pytest.mark.parametrize("below", ["int8:2@tree=2.1", "exit:2@at=2@tree=2.1"])
def test_a_kept_leaf_that_nobody_read_leaves_no_neighbour_of_its_place_behind(below: str) -> None:
    """Without a bonus a tree's leaves are not read; as many of its other nodes were as are kept."""
    made = LeanStacks(layers=4, vocab=8, seed=2)
    texts = [
        output_of(list(hsd_core.run(made.stack(text), [1, 2, 3, 1, 2, 4], Sampling(), 3, max_new_tokens=40)))
        for text in (f"{below},target@bonus=0", "target")
    ]
    assert texts[0] == texts[1]
