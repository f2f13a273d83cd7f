"""The shape of a tree that follows its drafter's confidence."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import pytest
import torch

from hsd_core.core.level import DraftOrder, Proposal, Sampler, TreeShape
from hsd_core.levels.tree_shape import Fork, shares
from hsd_core.systems.table.table_level import TableLevel

SURE, UNSURE = (0.9, 0.06, 0.04), (0.4, 0.35, 0.25)


def drafted(row: Any, nodes: int, depth: int, passes: list[int] | None = None) -> Proposal:
    """A greedy draft by a level with the probabilities `row(prefix)`. passes: what each of its passes was asked for."""
    level = TableLevel(lambda prefix: torch.tensor(row(prefix), dtype=torch.float64), 3, name="table")
    run: Any = level.open(64, None)  # type: ignore[arg-type]
    grow = run.grow
    run.grow = lambda context, ids, branches, new: (
        (passes if passes is not None else []).append(max(1, new)) or grow(context, ids, branches, new)
    )
    pick = lambda row, depth, number: int(row.argmax())  # noqa: E731
    one_hot = lambda x: torch.nn.functional.one_hot(x.argmax(-1), 3).double()  # noqa: E731
    order = DraftOrder(depth, Sampler(one_hot, pick, greedy=True), lambda n, last: False, shape=TreeShape(nodes=nodes))
    found: Proposal = run.propose([0], order)
    return found


def paths(tree: Proposal) -> set[tuple[int, ...]]:
    found: list[tuple[int, ...]] = []
    for id_, parent in zip(tree.ids, tree.forks.parents or range(-1, len(tree.ids) - 1), strict=True):
        found.append((*(found[parent] if parent >= 0 else ()), id_))
    return set(found)


@pytest.mark.parametrize("row", [SURE, UNSURE, (0.6, 0.3, 0.1)])
@pytest.mark.parametrize(("nodes", "depth"), [(2, 1), (5, 2), (9, 4), (20, 3)])
def test_where_all_rows_are_as_sure_the_tree_is_that_of_the_likeliest_paths(
    row: tuple[float, ...], nodes: int, depth: int
) -> None:
    found = paths(drafted(lambda prefix: row, nodes, depth))
    every = {path: prod(row[x] for x in path) for n in range(1, depth + 1) for path in product(range(3), repeat=n)}
    assert len(found) == min(nodes, len(every))
    assert min(every[path] for path in found) >= max((every[p] for p in every.keys() - found), default=0.0) - 1e-12


def test_a_sure_drafter_goes_deep_and_an_unsure_one_wide() -> None:
    sure, unsure = (drafted(lambda prefix, row=row: row, 4, 4) for row in (SURE, UNSURE))
    assert sure.forks.parents is None and len(sure.ids) == 4, "a chain"
    assert [parent for parent in unsure.forks.parents or () if parent < 0] == [-1, -1, -1]


def test_what_is_unlikely_stays_a_leaf_and_a_full_tree_costs_no_further_pass() -> None:
    passes: list[int] = []
    tree = drafted(lambda prefix: UNSURE if len(prefix) == 1 else SURE, 6, 5, passes)
    assert len(tree.ids) == 6 and tree.work.forwards == len(passes)
    assert passes[1] < 3, "a row was read behind each of three tokens"
    once: list[int] = []
    assert len(drafted(lambda prefix: (0.34, 0.33, 0.33), 3, 5, once).ids) == 3 and once == [1]


def test_shares_add_up_to_the_nodes_and_fall_with_the_chance_of_a_fork() -> None:
    forks = [Fork(0.5, SURE), Fork(0.3, UNSURE), Fork(0.001, SURE)]
    assert sum(shares(forks, 5, 1)) == 5 and shares(forks, 5, 1)[2] == 0
    assert shares(forks, 5, 4) == [1, 1, 0], "what lies behind the first token is likelier than its siblings"
    assert shares(forks, 100, 1) == [3, 3, 3] and shares(forks, 4, 0) == [0, 0, 0] == shares(forks, 0, 4)
    assert shares(forks, 5, 1, least=1) == [1, 3, 1] and shares(forks, 3, 4, least=1) == [1, 1, 1]
    assert shares([Fork(1.0, (0.5, 0.5)), Fork(1.0, (0.0, 0.0))], 2, 1) == [2, 0]


def test_confidence_is_read_at_temperature_one_whatever_tokens_are_drawn_at() -> None:
    """Cold rows would say that the drafter is sure; what is kept it knows no better for that."""
    level = TableLevel(lambda prefix: torch.tensor(UNSURE, dtype=torch.float64), 3, name="table")

    def at(temperature: float) -> tuple[int, ...]:
        pick = lambda row, depth, number: int(row.argmax())  # noqa: E731
        to_probs = lambda x: (x / temperature).softmax(-1)  # noqa: E731
        order = DraftOrder(3, Sampler(to_probs, pick), lambda n, last: False, shape=TreeShape(nodes=6))
        tree = level.open(64, None).propose([0], order)  # type: ignore[arg-type]
        return tree.forks.parents or ()

    assert at(1.0) == at(0.2)


def test_a_cut_leaves_no_more_children_than_tokens() -> None:
    row = torch.tensor(UNSURE, dtype=torch.float64)
    level = TableLevel(lambda prefix: row, 3, name="table")
    order = DraftOrder(
        3,
        Sampler(
            lambda x: torch.tensor([0.53, 0.47, 0.0], dtype=torch.float64).expand(len(x), 3),
            lambda row, depth, number: int(row.argmax()),
        ),
        lambda n, last: False,
        shape=TreeShape(nodes=9),
    )
    tree = level.open(64, None).propose([0], order)  # type: ignore[arg-type]
    assert len(tree.ids) == 9 and 2 not in tree.ids
