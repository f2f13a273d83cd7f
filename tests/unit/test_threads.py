"""One library at a time holds the cores: torch works alone around compiled passes, with all threads in its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CODE = """
import sys; sys.path[:0] = ["tests"]
import torch
torch.set_num_threads(2)
from tiny import tiny, tiny_compiled
from hsd_core.models.one_pass import Pass
seen = []
compiled, lean = tiny_compiled(), tiny()
for decoder in (compiled, lean, compiled, lean):
    decoder.forward(Pass([1, 2, 3]), decoder.new_cache(8))
    seen.append(torch.get_num_threads())
assert seen == [1, 2, 1, 2], seen
assert compiled.threads == 2
"""


def test_torch_works_alone_around_compiled_passes_and_with_all_threads_in_its_own() -> None:
    pytest.importorskip("onnxruntime")
    done = subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
