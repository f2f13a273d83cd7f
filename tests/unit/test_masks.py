"""Masks that are kept between passes say what masks made again would say."""

from __future__ import annotations

import random

import pytest
import torch

from hsd_core.models.lean.positions import KEPT_INPUTS, KEY_STEP, LEAST_KEYS, ROW_STEP, Masks
from hsd_core.models.one_pass import Branches

HIDDEN = float("-inf")


def straightforward(n: int, end: int, group: int) -> torch.Tensor:
    keys, rows = -(-end // KEY_STEP) * KEY_STEP, -(-group * n // ROW_STEP) * ROW_STEP
    mask = torch.zeros(rows, keys)
    for row in range(group * n):
        mask[row, end - n + row % n + 1 :] = HIDDEN
    return mask[None, None]


@pytest.mark.parametrize("group", [1, 3])
def test_a_window_of_a_kept_mask_is_the_mask_of_that_pass(group: int) -> None:
    masks, rng = Masks(group, dtype=torch.float32, device="cpu"), random.Random(group)
    for _ in range(60):
        n = rng.choice([1, 2, 5, KEPT_INPUTS, KEPT_INPUTS + 3])
        end = n + rng.choice([0, 1, KEY_STEP - 1, 200, LEAST_KEYS, 3 * LEAST_KEYS])
        assert torch.equal(masks.causal(n, end), straightforward(n, end, group)), (n, end)


def test_passes_of_one_shape_read_one_memory_until_the_text_outgrows_it() -> None:
    masks = Masks(2, dtype=torch.float32, device="cpu")
    memory = {masks.causal(4, end).untyped_storage().data_ptr() for end in range(4, LEAST_KEYS, 7)}
    assert len(memory) == 1
    assert masks.causal(4, LEAST_KEYS + 1).untyped_storage().data_ptr() not in memory


def test_a_chain_written_as_a_tree_has_the_same_mask() -> None:
    masks = Masks(2, dtype=torch.float32, device="cpu")
    chain = Branches(base=7, parents=(-1, 0, 1))
    assert torch.equal(masks.of(chain.hidden(5, 10)[None]), masks.causal(5, 10))
