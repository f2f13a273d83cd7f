"""Read-outs of a trunk: one with layers of its own must see every position, also those it is late for."""

from __future__ import annotations

import pytest
import torch
from lean_stacks import RandomDraft
from tiny import tiny

from hsd_core.core.level import score_ids
from hsd_core.levels.readout import Lens, Readout, TrunkRun
from hsd_core.levels.trunk import Trunk

IDS = [5, 50, 3, 17, 44, 44, 8, 60, 2, 30, 31, 12]
AT, LAYERS = 3, 6


def opened(readout: Readout) -> TrunkRun:
    trunk = Trunk(tiny(layers=LAYERS), 64)
    trunk.mark(AT)
    return TrunkRun(trunk, AT, readout, "exit")


def readout(name: str) -> Readout:
    return Lens(tiny(layers=LAYERS)) if name == "lens" else RandomDraft(tiny(layers=LAYERS), layers=2)


@pytest.mark.parametrize("name", ["lens", "own layers"])
def test_rows_that_a_read_out_catches_up_on_reach_its_own_layers(name: str) -> None:
    whole, _ = score_ids(opened(readout(name)), IDS, len(IDS))
    late = opened(readout(name))
    seen = []
    for end, rows in ((5, 2), (9, 1), (12, 2)):  # 3, 3 and 1 positions were others' work, or accepted without it
        logits, work = score_ids(late, IDS[:end], rows)
        seen.append(work.catch_up)
        assert torch.allclose(logits, whole[end - rows : end], rtol=1e-4, atol=1e-5), f"{name}: up to {end}"
    assert seen == [3, 3, 1]


def test_after_a_rollback_the_positions_cut_are_caught_up_on_again() -> None:
    whole, _ = score_ids(opened(readout("own layers")), IDS, len(IDS))
    late = opened(readout("own layers"))
    score_ids(late, [*IDS[:4], 9, 9, 9], 7)
    late.keep(4, ())
    logits, work = score_ids(late, IDS, 1)
    assert work.catch_up == 7 and torch.allclose(logits, whole[-1:], rtol=1e-4, atol=1e-5)
