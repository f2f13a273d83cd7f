"""What a GPU computes in: heads in the layers' precision with float32 logits, float16 where bfloat16 is slow, int4."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import counted_bytes as pass_bytes
import pytest
import torch
from lean_stacks import LeanStacks
from tiny import tiny
from toys import output_of

import hsd_core
from hsd_core.models.decoder_protocol import DecoderError
from hsd_core.models.gpu.precision import computes_in, quick
from hsd_core.models.gpu.tiled_int4 import TiledInt4, copy_device
from hsd_core.models.lean.linear import Int4
from hsd_core.models.one_pass import Pass
from hsd_core.models.sampling import Sampling
from hsd_core.trace import checks as identities
from tests.pretend_gpu import PretendGpu, pretend_gpu
from tests.recorded_graphs import RecordedGraphs

RESULTS = Path(__file__).parents[2] / "assets" / "results"
IDS = [3, 1, 4, 1, 5, 9, 2, 6]


@pytest.fixture
def gpu() -> Iterator[PretendGpu]:
    with pretend_gpu() as mode:
        yield mode


def logits_of(**how: Any) -> torch.Tensor:
    decoder = tiny(**how)
    return decoder.forward(Pass(IDS), decoder.new_cache(20)).cpu()


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_a_head_is_kept_in_halves_and_its_logits_are_float32(gpu: PretendGpu, dtype: str) -> None:
    got, want = logits_of(device="cuda", dtype=dtype), logits_of()
    assert got.dtype == torch.float32
    assert not torch.equal(got, got.to(getattr(torch, dtype)).float()), "logits rounded to halves would tie"
    assert (got - want).abs().max() < 0.05 * want.abs().max()
    decoder = tiny(device="cuda", dtype=dtype)
    head = decoder.weight_bytes(1) - decoder.weight_bytes(1, head=False)
    assert head == 2 * 61 * 32
    assert decoder.weight_bytes() == decoder.weight_bytes(4), "a tied head and the embeddings are one memory"


def test_float32_stays_float32_there(gpu: PretendGpu) -> None:
    assert torch.allclose(logits_of(device="cuda"), logits_of(), atol=1e-5)


@pytest.mark.parametrize(("capability", "dtype"), [((7, 5), "float16"), ((8, 0), "bfloat16"), ((9, 0), "bfloat16")])
def test_float16_is_taken_where_bfloat16_is_slow(gpu: PretendGpu, capability: tuple[int, int], dtype: str) -> None:
    gpu.capability = capability
    assert quick("bfloat16", "cuda") == dtype
    assert (quick("bfloat16", "cpu"), quick("float32", "cuda")) == ("bfloat16", "float32")
    assert copy_device("int4", "cuda") == ("cpu" if capability < (8, 0) else "cuda")
    assert (copy_device("int8", "cuda"), copy_device("int4", "cpu")) == ("cpu", "cpu")
    assert computes_in("int4", "cuda") == torch.bfloat16


# ---- int4


@pytest.mark.parametrize("inputs", [32, 64, 128, 576])
def test_int4_there_is_the_int4_of_the_cpu(gpu: PretendGpu, inputs: int) -> None:
    weight, x = (torch.randn(n, inputs, generator=torch.Generator().manual_seed(n)) for n in (48, 5))
    bias = torch.arange(48.0)
    there = TiledInt4(weight.to("cuda"), bias.to("cuda"))
    assert torch.equal(there(x.to("cuda")).cpu(), Int4(weight, bias)(x))
    assert torch.equal(there.dense().cpu(), Int4(weight).dense())


def test_a_copy_there_drafts_and_is_replayed(gpu: PretendGpu) -> None:
    sizes = {"inner": 64}
    usual = LeanStacks(**sizes)
    graphs = RecordedGraphs()
    stacks = LeanStacks(device="cuda", graphs=graphs, **sizes)
    stacks.int4 = tiny(device="cuda", graphs=graphs, dtype="int4", **sizes)
    for sampling in (Sampling(0.0), Sampling(0.9, top_p=0.95)):
        events = list(hsd_core.run(stacks.stack("ngram:2,int4:3,target"), IDS, sampling, seed=5, max_new_tokens=16))
        assert identities.check(events) == []
        assert [level.device for level in events[0].levels[1:]] == ["cuda", "cuda"]
        if sampling.greedy:
            plain = list(hsd_core.run(usual.stack("target"), IDS, sampling, seed=5, max_new_tokens=16))
            assert list(output_of(events)) == list(output_of(plain))
    assert graphs.replayed > 0


def test_what_has_no_kernel_there_says_so(gpu: PretendGpu) -> None:
    with pytest.raises(DecoderError, match="int8 is a CPU kernel and the device is cuda; write @device=cpu, or int4"):
        tiny(device="cuda", dtype="int8")
    with pytest.raises(DecoderError, match=r"inputs by 32 and outputs by 8.*use bfloat16"):
        TiledInt4(torch.randn(12, 32).to("cuda"))
    gpu.capability = (7, 5)
    with pytest.raises(DecoderError, match=r"int4 needs a GPU of compute capability 8\.0"):
        tiny(device="cuda", dtype="int4", inner=64)


# ---- what a pass reads


def test_the_table_of_bytes_is_what_passes_read() -> None:
    table = pass_bytes.table()
    assert table in (RESULTS / "bytes.md").read_text(encoding="utf-8")
    shares = {}
    for name, config in pass_bytes.CONFIGS.items():
        target, exit_, trimmed, copy, _ = pass_bytes.reads(config)
        shares[name] = tuple(round(100 * part) for part in (exit_.before / target.before, exit_.now / target.now))
        assert trimmed.now < exit_.now < copy.now < target.now
    assert shares == {"Llama 3.2 1B": (43, 31), "Llama 3.1 8B": (24, 19)}


def test_a_weightless_decoder_counts_what_one_with_weights_holds() -> None:
    shape = {"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 192}
    config = {**shape, "model_type": "llama", "vocab_size": 61, "hidden_size": 32, "intermediate_size": 64}
    config |= {"num_hidden_layers": 4, "tie_word_embeddings": True}
    for dtype in ("bfloat16", "int4"):
        counted = pass_bytes.weightless(config, dtype)
        with pretend_gpu():
            held = tiny(device="cuda", dtype=dtype, inner=64)
        assert counted.weight_bytes() == held.weight_bytes()
        assert counted.weight_bytes(2) == held.weight_bytes(2)


def test_the_day_a_gpu_was_asked_for_has_one_home() -> None:
    asked = json.loads((RESULTS / "gpu.json").read_text(encoding="utf-8"))["asked"]
    assert f"GPU: not measured; last asked for on {asked}" in (RESULTS / "README.md").read_text(encoding="utf-8")
