"""Masks that are kept between passes say what masks made again would say."""

from __future__ import annotations

import random

import pytest
import torch

from hsd_core.models.lean.positions import KEPT_INPUTS, KEY_STEP, LEAST_KEYS, ROW_STEP, Masks
from hsd_core.models.one_pass import Branches

HIDDEN = float("-inf")


def straightforward(n: int, end: int, group: int, window: int = 0) -> torch.Tensor:
    keys, rows = -(-end // KEY_STEP) * KEY_STEP, -(-group * n // ROW_STEP) * ROW_STEP
    mask = torch.zeros(rows, keys)
    for row in range(group * n):
        mask[row, end - n + row % n + 1 :] = HIDDEN
        mask[row, : max(0, end - n + row % n + 1 - window) if window else 0] = HIDDEN
    return mask[None, None]


@pytest.mark.parametrize(("group", "window"), [(1, 0), (3, 0), (2, 1), (2, 70)])
def test_a_part_of_a_kept_mask_is_the_mask_of_that_pass(group: int, window: int) -> None:
    masks, rng = Masks(group, dtype=torch.float32, device="cpu", window=window), random.Random(group)
    for _ in range(60):
        n = rng.choice([1, 2, 5, KEPT_INPUTS, KEPT_INPUTS + 3])
        end = n + rng.choice([0, 1, KEY_STEP - 1, 200, LEAST_KEYS, 3 * LEAST_KEYS])
        assert torch.equal(masks.causal(n, end), straightforward(n, end, group, window)), (n, end)


def test_passes_of_one_shape_read_one_memory_until_the_text_outgrows_it() -> None:
    masks = Masks(2, dtype=torch.float32, device="cpu")
    memory = {masks.causal(4, end).untyped_storage().data_ptr() for end in range(4, LEAST_KEYS, 7)}
    assert len(memory) == 1
    assert masks.causal(4, LEAST_KEYS + 1).untyped_storage().data_ptr() not in memory


@pytest.mark.parametrize("window", [0, 3])
def test_a_chain_written_as_a_tree_has_the_same_mask(window: int) -> None:
    masks = Masks(2, dtype=torch.float32, device="cpu", window=window)
    chain = Branches(base=7, parents=(-1, 0, 1))
    mask = masks.of(chain.hidden(5, 10)[None], chain.positions(5, 10)[None], chain.positions(0, 10))
    assert torch.equal(mask, masks.causal(5, 10))


def test_a_node_of_a_tree_sees_the_window_before_its_depth() -> None:
    masks = Masks(1, dtype=torch.float32, device="cpu", window=3)
    tree = Branches(base=4, parents=(-1, -1, 0, 1))  # two branches of two nodes
    mask = masks.of(tree.hidden(4, 8)[None], tree.positions(4, 8)[None], tree.positions(0, 8))
    seen = [[slot for slot in range(8) if mask[0, 0, row, slot] == 0] for row in range(4)]
    assert seen == [[2, 3, 4], [2, 3, 5], [3, 4, 6], [3, 5, 7]]
