"""The decoders against transformers, on tiny random models of every shape they claim to run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from hsd_core.models import QUANTISED, DecoderError, load_decoder
from hsd_core.models.lean import decoder as lean
from hsd_core.models.lean.int4_groups import int4_steps
from hsd_core.models.lean.linear import Int4, Int8, Packed, Plain, quantise
from hsd_core.models.one_pass import Pass

transformers = pytest.importorskip("transformers")

SIZES = {
    "vocab_size": 97,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
SHAPES = {
    "llama, tied head": ("Llama", {"tie_word_embeddings": True}),
    "llama, own head, another theta": ("Llama", {"rope_parameters": {"rope_type": "default", "rope_theta": 1e5}}),
    "llama, llama3 positions": ("Llama", {"rope_parameters": LLAMA3}),
    "llama, linear positions": (
        "Llama",
        {"rope_parameters": {"rope_type": "linear", "rope_theta": 1e4, "factor": 4.0}},
    ),
    "llama, biases": ("Llama", {"attention_bias": True, "mlp_bias": True}),
    "mistral, full attention": ("Mistral", {"sliding_window": None, "head_dim": 32}),
    "qwen2, biases on q, k, v": ("Qwen2", {}),
    "qwen3, norms on q and k": ("Qwen3", {"head_dim": 32}),
}
IDS = [5, 90, 3, 17, 44, 44, 8, 61, 2, 30, 71, 12]


def saved(folder: Path, name: str, **more: object) -> torch.nn.Module:
    """A random model of a class, saved as safetensors."""
    torch.manual_seed(1)
    config = getattr(transformers, f"{name}Config")(**{**SIZES, **more})
    model = getattr(transformers, f"{name}ForCausalLM")(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            # far from the initial 0.02, so that attention is not uniform and a wrong bias or norm shows
            parameter.copy_(torch.randn_like(parameter) * 0.2 + (parameter.ndim == 1))
    model.save_pretrained(folder)
    return model


def truth(model: torch.nn.Module, ids: list[int]) -> torch.Tensor:
    with torch.inference_mode():
        return model(torch.tensor([ids])).logits[0]


@pytest.mark.parametrize("shape", SHAPES)
def test_logits_are_those_of_transformers(tmp_path: Path, shape: str) -> None:
    name, more = SHAPES[shape]
    expected = truth(saved(tmp_path, name, **more), IDS)
    decoder = load_decoder(tmp_path, kind="lean")
    got = decoder.forward(Pass(IDS, 0, len(IDS)), decoder.new_cache(len(IDS)))
    assert got.dtype == torch.float32
    assert (got - expected).abs().max() < 1e-4


@pytest.mark.parametrize(("kind", "name"), [("lean", "Llama"), ("transformers", "Llama"), ("transformers", "GPTNeoX")])
def test_rolling_back_is_starting_earlier(tmp_path: Path, kind: str, name: str) -> None:
    model = saved(tmp_path, name)
    decoder = load_decoder(tmp_path, kind=kind)
    cache = decoder.new_cache(40)
    decoder.forward(Pass(IDS[:6], 0, 1), cache)
    decoder.forward(Pass([1, 1, 1, 1], 6, 4), cache)
    decoder.forward(Pass([9, 9], 3, 2), cache)
    got = decoder.forward(Pass(IDS[3:], 3, len(IDS) - 3), cache)
    assert (got - truth(model, IDS)[3:]).abs().max() < 1e-4


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "int4"])
def test_a_row_does_not_depend_on_later_inputs(tmp_path: Path, dtype: str) -> None:
    saved(tmp_path, "Llama")
    decoder = load_decoder(tmp_path, dtype=dtype, kind="lean")
    one, other = (decoder.forward(Pass(IDS[:8] + tail, 0, 12), decoder.new_cache(20)) for tail in ([1] * 4, [2] * 4))
    assert torch.equal(one[:8], other[:8])
    assert not torch.equal(one[8:], other[8:])


@pytest.mark.skipif(not Packed.available(), reason="this build of torch has no oneDNN; float32 rows may differ in bits")
@pytest.mark.parametrize("dtype", ["float32", "int8", "int4"])
def test_rows_computed_together_are_the_rows_computed_alone(tmp_path: Path, dtype: str) -> None:
    saved(tmp_path, "Llama")
    decoder = load_decoder(tmp_path, dtype=dtype, kind="lean")
    ids = IDS * 8
    together = decoder.forward(Pass(ids, 0, len(ids)), decoder.new_cache(len(ids)))
    for size in (1, 2, 3, 5, 8):
        cache = decoder.new_cache(len(ids))
        parts = [decoder.forward(Pass(p, i, len(p)), cache) for i in range(0, 96, size) if (p := ids[i : i + size])]
        assert torch.equal(torch.cat(parts), together), f"blocks of {size}"


def test_a_long_prompt_in_chunks_is_the_prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = truth(saved(tmp_path, "Llama"), IDS)
    monkeypatch.setattr(lean, "CHUNK", 5)
    decoder = load_decoder(tmp_path, kind="lean")
    for rows in (1, 2, 3, 7, 12):
        got = decoder.forward(Pass(IDS, 0, rows), decoder.new_cache(12))
        assert got.shape == (rows, 97)
        assert (got - expected[-rows:]).abs().max() < 1e-4


def test_layers_may_be_run_in_ranges(tmp_path: Path) -> None:
    saved(tmp_path, "Qwen3")
    decoder = load_decoder(tmp_path, kind="lean")
    whole = decoder.forward(Pass(IDS, 0, 12), decoder.new_cache(12))
    cache = decoder.new_cache(12)
    with torch.inference_mode():
        x = decoder.forward_layers(Pass(IDS), cache, 0, 2)
        assert torch.equal(decoder.head(decoder.forward_layers(Pass(IDS), cache, 2, 3, x)), whole)


@pytest.mark.parametrize("dtype", QUANTISED)
def test_copies_stay_near_float32_and_give_float32_logits(tmp_path: Path, dtype: str) -> None:
    model = saved(tmp_path, "Llama")
    if dtype == "int4":  # on weights of 16 steps a group, as a 4-bit file has them
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if "proj" in name:
                    parameter.copy_(Int4(parameter).dense())
        model.save_pretrained(tmp_path)
    expected = truth(model, IDS)
    decoder = load_decoder(tmp_path, dtype=dtype, kind="lean")
    got = decoder.forward(Pass(IDS, 0, 12), decoder.new_cache(12))
    assert got.dtype == torch.float32
    assert (got - expected).abs().mean() < 0.1 * expected.abs().mean()
    assert not torch.equal(got, got.bfloat16().float()), "logits rounded to bfloat16 would tie"


def test_vocab_cuts_the_columns(tmp_path: Path) -> None:
    model = saved(tmp_path, "Llama")
    for kind in ("lean", "transformers"):
        decoder = load_decoder(tmp_path, kind=kind, vocab=50)
        got = decoder.forward(Pass(IDS, 0, 2), decoder.new_cache(12))
        assert (decoder.vocab_size, got.shape) == (50, (2, 50))
        assert (got - truth(model, IDS)[-2:, :50]).abs().max() < 1e-4


def test_a_full_cache_is_refused(tmp_path: Path) -> None:
    saved(tmp_path, "Llama")
    for kind in ("lean", "transformers"):
        decoder = load_decoder(tmp_path, kind=kind)
        with pytest.raises(DecoderError, match="capacity of 4"):
            decoder.forward(Pass(IDS, 0, 1), decoder.new_cache(4))
        with pytest.raises(DecoderError, match="256"):
            decoder.new_cache(257)


def test_another_architecture_runs_through_transformers(tmp_path: Path) -> None:
    model = saved(tmp_path, "GPTNeoX")
    decoder = load_decoder(tmp_path, kind="auto")
    assert (decoder.layers, decoder.vocab_size) == (3, 97)
    assert (decoder.forward(Pass(IDS, 0, 12), decoder.new_cache(12)) - truth(model, IDS)).abs().max() < 1e-4
    with pytest.raises(DecoderError, match="gpt_neox"):
        load_decoder(tmp_path, kind="lean")
    for dtype in QUANTISED:
        with pytest.raises(DecoderError, match=f"{dtype} needs the lean decoder"):
            load_decoder(tmp_path, dtype=dtype)


REFUSED = {
    "unknown positions": ({"rope_parameters": {"rope_type": "yarn", "rope_theta": 1e4, "factor": 2.0}}, "'yarn'"),
    "half a rope": ({"rope_parameters": {"rope_type": "linear", "rope_theta": 1e4}}, "'linear' lacks 'factor'"),
    "another gate": ({"hidden_act": "gelu"}, "gelu"),
    "recurrent": ({"model_type": "mamba", "state_size": 16}, "running state"),
    "encoder and decoder": ({"model_type": "t5", "is_encoder_decoder": True}, "encoder and a decoder"),
    "other names of weights": ({"num_hidden_layers": 4}, r"lack 'model.layers.3"),
}


# What `lean` lacks, transformers may have: "auto" goes there, and only "lean" refuses.
KIND_OF = {"unknown positions": "lean", "half a rope": "lean", "another gate": "lean"}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_a_level_is_refused_with_the_reason(tmp_path: Path, case: str) -> None:
    change, reason = REFUSED[case]
    saved(tmp_path, "Llama")
    path = tmp_path / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps({**config, **change}))
    with pytest.raises(DecoderError, match=reason):
        load_decoder(tmp_path, kind=KIND_OF.get(case, "auto"))


def test_pickles_are_refused(tmp_path: Path) -> None:
    saved(tmp_path, "Llama")
    (tmp_path / "model.safetensors").rename(tmp_path / "pytorch_model.bin")
    for kind in ("lean", "transformers"):
        with pytest.raises(DecoderError, match=r"pytorch_model.bin, a pickle"):
            load_decoder(tmp_path, kind=kind)


@pytest.mark.parametrize("kind", ["lean", "transformers"])
def test_weights_that_broke_off_are_refused_with_the_cure(tmp_path: Path, kind: str) -> None:
    saved(tmp_path, "Llama")
    path = tmp_path / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(DecoderError, match=r"model.safetensors is damaged .* download it again"):
        load_decoder(tmp_path, kind=kind)
    (tmp_path / "model.safetensors.index.json").write_text("{}")
    with pytest.raises(DecoderError, match="not an index of weights"):
        load_decoder(tmp_path, kind=kind)


def test_shards_are_read_through_their_index(tmp_path: Path) -> None:
    model = saved(tmp_path, "Llama")
    (tmp_path / "model.safetensors").unlink()
    model.save_pretrained(tmp_path, max_shard_size="100KB")
    assert len(list(tmp_path.glob("*.safetensors"))) > 1
    decoder = load_decoder(tmp_path)
    assert (decoder.forward(Pass(IDS, 0, 12), decoder.new_cache(12)) - truth(model, IDS)).abs().max() < 1e-4
    min(tmp_path.glob("*.safetensors")).unlink()
    with pytest.raises(DecoderError, match="download it again"):
        load_decoder(tmp_path)


@pytest.mark.parametrize(
    ("options", "reason"), [({"dtype": "int3"}, "int3"), ({"device": "tpu"}, "tpu"), ({"kind": "eager"}, "eager")]
)
def test_unknown_options_name_what_is_known(tmp_path: Path, options: dict[str, str], reason: str) -> None:
    saved(tmp_path, "Llama")
    with pytest.raises(DecoderError, match=reason):
        load_decoder(tmp_path, **options)


@pytest.mark.parametrize("kind", [Int8, Int4])
def test_rows_of_a_copys_product_do_not_depend_on_each_other(kind: type) -> None:
    torch.manual_seed(0)
    x, linear = torch.randn(16, 64), kind(torch.randn(96, 64), torch.randn(96))
    together = linear(x)
    for size in (1, 2, 3, 7, 15):
        assert torch.equal(torch.cat([linear(part) for part in x.split(size)]), together)


def test_quantising_is_at_most_half_a_step_off() -> None:
    torch.manual_seed(0)
    weight = torch.randn(40, 64) * torch.logspace(-3, 2, 40)[:, None]
    q, scale = quantise(weight)
    error = (q.float() * scale.float()[:, None] - weight).abs() / scale.float()[:, None]
    assert error.max() <= 0.5 + 1e-4
    assert quantise(torch.zeros(2, 8))[0].abs().max() == 0


def test_int4_keeps_weights_that_are_16_steps_a_group_already() -> None:
    random = torch.Generator().manual_seed(0)
    codes = torch.randint(0, 16, (96, 4, 32), generator=random)
    codes[..., :2] = torch.tensor([0, 15])  # as a file has it: least and largest of a group are its first and last step
    step, least = (torch.randn(96, 4, 1, generator=random).bfloat16().float() for _ in range(2))
    step = step.abs() + 0.125
    weight = (codes * step + least).view(96, 128)
    kept = Int4(weight).dense()
    # what is rounded to bfloat16: the scale, times up to 8, the offset, and their sum; far less than half a step
    most = (8 * step.abs() + (least + 8 * step).abs() + weight.view(96, 4, 32).abs()).expand(96, 4, 32).reshape(96, 128)
    assert ((kept - weight).abs() <= 2**-7 * most).all()
    other = torch.randn(96, 128, generator=random)
    steps = (other.view(96, 4, 32).amax(-1) - other.view(96, 4, 32).amin(-1)) / 15
    off = (Int4(other).dense() - other).abs().view(96, 4, 32) / steps[..., None]
    assert 0.4 < off.max() < 0.6, "half a step, and what is rounded to bfloat16"


def test_int4_keeps_the_levels_of_a_group_that_leaves_its_first_or_last_one_out() -> None:
    random = torch.Generator().manual_seed(0)
    least = torch.randint(0, 2, (96, 4, 1), generator=random)  # levels 0 to 14 or 1 to 15, as GGUF's Q4_K has them
    codes = torch.randint(0, 15, (96, 4, 32), generator=random)
    codes[..., :2] = torch.tensor([0, 14])
    weight = (codes + least) * 0.37 - 1.3
    low, step, found = int4_steps(weight)
    assert torch.equal(found, codes.float())
    assert torch.allclose(low[..., None] + step[..., None] * found, weight, atol=1e-5)


def test_an_int4_product_is_that_of_its_own_weights() -> None:
    random = torch.Generator().manual_seed(1)
    weight, bias = torch.randn(96, 64, generator=random), torch.randn(96, generator=random)
    x = torch.randn(5, 64, generator=random)
    linear = Int4(weight, bias)
    expected = x.bfloat16().float() @ linear.dense().T + bias
    assert torch.allclose(linear(x), expected, atol=0.02 * float(expected.abs().max()))


@pytest.mark.parametrize("sizes", [(96, 48), (90, 64)])
def test_sizes_that_int4_cannot_take_are_refused_with_the_cure(sizes: tuple[int, int]) -> None:
    with pytest.raises(DecoderError, match="use int8"):
        Int4(torch.zeros(sizes))


@pytest.mark.parametrize("kind", [Plain, Packed])
def test_float32_products_are_those_of_torch(kind: type) -> None:
    if kind is Packed and not Packed.available():
        pytest.skip("this build of torch has no oneDNN")
    torch.manual_seed(0)
    weight, bias = torch.randn(96, 64), torch.randn(96)
    for rows in (1, 2, 9, 40):
        x = torch.randn(rows, 64)
        assert torch.allclose(kind(weight, bias)(x), F.linear(x, weight, bias), atol=1e-4)


@pytest.mark.weights
def test_smollm2_logits_are_those_of_transformers(
    smollm2_folder: Path, transformers_smollm2: torch.nn.Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hsd_core.models.tokenizer import Tokenizer

    ids = Tokenizer(smollm2_folder).chat("Why is the sky blue? Answer in one sentence.")
    expected = truth(transformers_smollm2, ids)

    def off() -> torch.Tensor:
        decoder = load_decoder(smollm2_folder, kind="lean")
        return (decoder.forward(Pass(ids, 0, len(ids)), decoder.new_cache(len(ids))) - expected).abs()

    # oneDNN adds in another order: its rows are 1.4e-4 off float64 at logits near 30, those of transformers 1.0e-4
    assert (off().amax(1) < 1e-5 * expected.abs().amax(1)).all()
    monkeypatch.setattr(Packed, "available", lambda: False)
    assert off().max() < 1e-4
