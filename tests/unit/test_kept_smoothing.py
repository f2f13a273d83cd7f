"""A model's smoothing is computed once, found again by its weights, and never missed where it cannot be kept."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from pathlib import Path

import pytest
import torch
from tiny import made

from hsd_core.models.compiled import decoder as decoders
from hsd_core.models.compiled import smoothing
from hsd_core.models.compiled.decoder import CompiledDecoder
from hsd_core.models.one_pass import Pass

IDS = [1, 5, 9, 2, 8]


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[int]:
    """One item for every time that a model is gone through."""
    pytest.importorskip("onnxruntime")
    monkeypatch.setenv("HSD_CACHE", str(tmp_path))
    monkeypatch.setattr(smoothing, "WORTH", 0)
    times: list[int] = []
    real = decoders.smoothing

    def counted(*given: object) -> object:
        times.append(1)
        return real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(decoders, "smoothing", counted)
    return times


def logits(seed: int = 0, dtype: str = "int8") -> torch.Tensor:
    shape, weights = made(head_dim=16, inner=64, seed=seed)
    opened = (weights.__getitem__, set(weights))
    decoder = CompiledDecoder(shape, partial(nullcontext, opened), dtype=dtype)
    return decoder.forward(Pass(IDS, wanted=len(IDS)), decoder.new_cache(len(IDS)))


def test_it_is_computed_once_and_reads_back_as_it_was(computed: list[int], tmp_path: Path) -> None:
    first = logits()
    assert torch.equal(logits(), first)
    assert len(computed) == 1
    assert len(list(tmp_path.glob("smoothing-*"))) == 1


def test_other_weights_have_their_own(computed: list[int], tmp_path: Path) -> None:
    logits(), logits(seed=1)
    assert len(computed) == 2
    assert len(list(tmp_path.glob("smoothing-*"))) == 2


def test_what_is_damaged_is_computed_again(computed: list[int], tmp_path: Path) -> None:
    first = logits()
    (file,) = tmp_path.glob("smoothing-*/*.safetensors")
    file.write_bytes(file.read_bytes()[:-4] + b"lost")
    assert torch.equal(logits(), first)
    assert len(computed) == 2


def test_without_a_cache_it_is_computed_every_time(
    computed: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = logits()
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HSD_CACHE", str(tmp_path / "file" / "below"))
    assert torch.equal(logits(), first)
    assert len(computed) == 2


@pytest.mark.parametrize("dtype", ["float32", "int4"])
def test_only_eight_bits_are_smoothed(computed: list[int], tmp_path: Path, dtype: str) -> None:
    logits(dtype=dtype)
    assert not computed and not list(tmp_path.iterdir())


def test_a_small_model_keeps_nothing(computed: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(smoothing, "WORTH", 2**20)
    logits(), logits()
    assert len(computed) == 2 and not list(tmp_path.iterdir())
