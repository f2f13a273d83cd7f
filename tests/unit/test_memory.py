"""What a model takes in memory, what is free, and the refusal of what does not fit."""

from __future__ import annotations

from math import inf

import pytest
import torch
from safetensors.torch import save_file
from test_lean_decoder import saved

from hsd_core.models import memory
from hsd_core.models.loading import memory_needed
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.builder import Builder
from hsd_core.stacks.grammar import StackError


def test_what_a_model_needs_is_counted_from_the_headers_of_its_files(tmp_path) -> None:
    save_file(
        {
            "model.embed_tokens.weight": torch.zeros(100, 32, dtype=torch.float16),
            "model.layers.0.mlp.up_proj.weight": torch.zeros(64, 32, dtype=torch.float16),
        },
        tmp_path / "a.safetensors",
    )
    save_file({"lm_head.weight": torch.zeros(100, 32)}, tmp_path / "b.safetensors")
    files = sorted(tmp_path.glob("*.safetensors"))
    for dtype, layer, head in (("float32", 4.0, 4.0), ("int8", 1.125, 1.125), ("int4", 0.765625, 1.125)):
        # while the head is laid out it lies there twice
        assert memory.needed(files, dtype, tied=False) == 64 * 32 * layer + 3200 * 2 + 3200 * head * 2
    assert memory.needed(files[:1], "float32", tied=True) == 64 * 32 * 4 + 3200 * 2 + 3200 * 4 * 2


def test_a_folder_says_whether_its_head_is_its_embedding(tmp_path) -> None:
    saved(tmp_path, "Qwen2", tie_word_embeddings=True)
    tied = memory_needed(tmp_path, "float32")
    saved(tmp_path, "Qwen2", tie_word_embeddings=False)
    assert memory_needed(tmp_path, "float32") == pytest.approx(tied, rel=0.01)
    assert memory_needed(tmp_path, "int8") < tied


def test_a_container_may_have_less_than_its_machine(tmp_path) -> None:
    machine = tmp_path / "meminfo"
    machine.write_text("MemTotal:       16000 kB\nMemAvailable:    9000 kB\nHugePages_Total:  0\n")
    assert memory.free(machine, tmp_path) == 9000 * 1024
    for name, said in (
        ("memory.max", "4096000"),
        ("memory.current", "2048000"),
        ("memory.stat", "anon 5\ninactive_file 1000"),
    ):
        (tmp_path / name).write_text(said)
    assert memory.free(machine, tmp_path) == 4096000 - 2048000 + 1000
    (tmp_path / "memory.max").write_text("max")
    assert memory.free(machine, tmp_path) == 9000 * 1024
    assert memory.free(tmp_path / "none", tmp_path) == inf


def test_a_level_that_does_not_fit_is_refused_with_both_figures_and_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnxruntime")
    pipeline = Pipeline.open("smollm2", stack="target@dtype=int4")
    monkeypatch.setattr(memory, "free", lambda: 1e8)
    with pytest.raises(
        StackError, match=r"^target: opening its weights in float32 takes 1\.1 GB .* 0\.1 GB are free; .*int8"
    ):
        pipeline.entries("target@dtype=float32")
    assert pipeline.entries("target@dtype=int4"), "what is open already is not weighed again"
    assert isinstance(pipeline._builder, Builder)
