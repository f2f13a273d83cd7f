"""Native kernels are handed memory and widths that they take: at a wrong address or width they end the process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from tiny import tiny
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from hsd_core.grammar.registry import draft_forms
from hsd_core.models import DecoderError
from hsd_core.models.drafts import draft_file as drafts
from hsd_core.models.drafts.known_drafts import FOLDER
from hsd_core.models.lean.linear import ALIGNMENT, Int4, Int8, Packed, aligned, quantise
from hsd_core.models.one_pass import Pass

KERNELS = ("_weight_int8pack_mm", "_weight_int4pack_mm", "_convert_weight_to_int4pack", "mkldnn")
needs_onednn = pytest.mark.skipif(not Packed.available(), reason="this build of torch has no oneDNN")


class Handed(TorchDispatchMode):
    """Refuses memory that is not aligned before a kernel reads it. `names`: the kernels that were called."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if str(func).removeprefix("aten.").startswith(KERNELS):
            tensors = [one for one in args if isinstance(one, Tensor) and one.layout is torch.strided]
            assert [one.data_ptr() % ALIGNMENT for one in tensors] == [0] * len(tensors), func
            self.names.add(str(func).split(".")[1])
        return func(*args, **(kwargs or {}))


def odd(tensor: Tensor) -> Tensor:
    """The same values, one element behind an aligned address."""
    moved = tensor.new_empty(tensor.numel() + 1)[1:].view(tensor.shape).copy_(tensor)
    assert moved.data_ptr() % ALIGNMENT, "this is what the test is about"
    return moved


def mapped(path: Path, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The same values out of a safetensors file."""
    save_file(tensors, path)
    found = load_file(path)
    assert any(one.data_ptr() % ALIGNMENT for one in found.values()), "this is what the test is about"
    return found


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("kind", [Int8, Int4, pytest.param(Packed, marks=needs_onednn)])
def test_a_kernel_is_handed_aligned_memory_alone(kind: Any, dtype: torch.dtype) -> None:
    if kind is Packed and dtype is not torch.float32:
        pytest.skip("oneDNN's product is used in float32 alone")
    torch.manual_seed(0)
    weight, bias, x = torch.randn(96, 64), torch.randn(96), torch.randn(5, 64).to(dtype)
    with Handed() as handed:
        got = kind(odd(weight), odd(bias))(odd(x))
    assert handed.names
    assert torch.equal(got, kind(weight, bias)(x))


def test_so_it_is_where_int8_weights_lie_in_a_mapped_file(tmp_path: Path) -> None:
    torch.manual_seed(0)
    weight, scale = quantise(torch.randn(96, 64))
    x = torch.randn(5, 64)
    expected = Int8.of(weight, scale)(x)
    one = torch.ones(1, dtype=torch.int8)
    found = mapped(tmp_path / "a.safetensors", {"a": one, "b": weight, "c": scale})
    with Handed() as handed:
        got = Int8.of(found["b"], found["c"])(x)
    assert "_weight_int8pack_mm" in handed.names
    assert torch.equal(got, expected)


@pytest.fixture(scope="module")
def wide() -> Any:
    """A random model with SmolLM2's widths, so that the shipped drafts open over it."""
    return tiny(vocab=49152, hidden_size=576, num_attention_heads=9, num_key_value_heads=3, layers=30, inner=16)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.safetensors")), ids=lambda path: path.stem)
def test_so_it_is_through_the_shipped_drafts(path: Path, wide: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    info = drafts.read_info(path)
    monkeypatch.setattr(drafts, "fingerprint", lambda decoder: info.fingerprint)
    ids, states = [1, 2, 3, 4, 5], torch.randn(5, 576)
    with Handed() as handed:
        head = drafts.read_draft(path, wide, draft_forms())
        if info.heads:
            head.predict(states[:1], head.new_cache(8), ids, 0)
        elif info.window:
            keys, values = torch.randn(2, 3, 4, 64)  # of the target's last layer
            head.rows(ids, 1, head.new_cache(8), keys, values)
        else:
            fed = head.join(torch.randn(5, 3 * 576)) if info.joined else states if info.fed else None
            head.forward(Pass(ids, wanted=5), states, head.new_cache(8), ids, fed)
    assert "_weight_int8pack_mm" in handed.names


def test_aligned_memory_is_not_copied() -> None:
    there = torch.zeros(4, 16)
    assert aligned(there) is there
    assert aligned(there.T).is_contiguous()


@pytest.mark.parametrize("inputs", [4, 8, 12, 24, 40, 72, 100, 200])
def test_widths_that_int8_cannot_take_are_refused_with_the_cure(inputs: int) -> None:
    with pytest.raises(DecoderError, match=f"a layer has {inputs} inputs and 64 outputs; use float32"):
        Int8(torch.zeros(64, inputs))
    with pytest.raises(DecoderError, match="int8 takes inputs by 16 and outputs by 4"):
        Int8.of(torch.zeros(64, inputs, dtype=torch.int8), torch.ones(64).bfloat16())
    with pytest.raises(DecoderError, match="62 outputs"):
        Int8(torch.zeros(62, 64))


@pytest.mark.parametrize("inputs", [16, 48, 80, 576])
@pytest.mark.parametrize("outputs", [4, 12, 100])
def test_all_others_give_the_product(inputs: int, outputs: int) -> None:
    torch.manual_seed(0)
    linear = Int8(torch.randn(outputs, inputs))
    for rows in (1, 3, 4, 5, 9):
        x = torch.randn(rows, inputs)
        expected = x.bfloat16().float() @ linear.dense().T
        assert (linear(x) - expected).abs().max() < 0.02 * expected.abs().max()


@needs_onednn
@pytest.mark.parametrize("sizes", [(1, 1), (3, 5), (7, 61), (33, 129), (24, 40)])
def test_onednn_takes_any_width(sizes: tuple[int, int]) -> None:
    torch.manual_seed(0)
    inputs, outputs = sizes
    weight, bias = torch.randn(outputs, inputs), torch.randn(outputs)
    for rows in (1, 4, 9):
        x = torch.randn(rows, inputs)
        assert torch.allclose(Packed(weight, bias)(x), F.linear(x, weight, bias), atol=1e-4)


def test_a_model_of_such_a_width_is_refused_as_a_copy_and_runs_in_float32() -> None:
    sizes = {"hidden_size": 40, "num_attention_heads": 5, "num_key_value_heads": 5}
    with pytest.raises(DecoderError, match="a layer has 40 inputs"):
        tiny(dtype="int8", **sizes)
    decoder = tiny(**sizes)
    assert decoder.forward(Pass([1, 2, 3, 4, 5], 0, 5), decoder.new_cache(8)).isfinite().all()
