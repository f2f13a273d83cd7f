"""One library at a time holds the cores: torch works alone around compiled passes, with all threads in its own."""

from __future__ import annotations

import pytest
import torch
from tiny import tiny, tiny_compiled

from hsd_core.models.one_pass import Pass
from hsd_core.models.threads import model_threads


def test_torch_works_alone_around_compiled_passes_and_with_all_threads_in_its_own() -> None:
    pytest.importorskip("onnxruntime")
    before, seen = torch.get_num_threads(), []
    torch.set_num_threads(2)
    model_threads.cache_clear()
    try:
        compiled, lean = tiny_compiled(), tiny()
        for decoder in (compiled, lean, compiled, lean):
            decoder.forward(Pass([1, 2, 3]), decoder.new_cache(8))
            seen.append(torch.get_num_threads())
    finally:
        torch.set_num_threads(before)
        model_threads.cache_clear()
    assert seen == [1, 2, 1, 2] and compiled.threads == 2
