"""The compiled decoder against the lean one, on small random models of every shape that both run."""

from __future__ import annotations

import ctypes
import threading
from contextlib import nullcontext
from functools import partial
from itertools import pairwise

import pytest
import torch

pytest.importorskip("onnxruntime")

from lean_stacks import LeanStacks, RandomDraft
from test_lean_decoder import SHAPES, saved, truth
from tiny import made, tiny, tiny_compiled
from toys import output_of

import hsd_core
from hsd_core.levels.trunk import Layered
from hsd_core.models import QUANTISED, DecoderError, load_decoder
from hsd_core.models.compiled import BYTES
from hsd_core.models.compiled import decoder as decoders
from hsd_core.models.compiled.decoder import CompiledDecoder
from hsd_core.models.compiled.graph import Graph
from hsd_core.models.compiled.products import of_rows, product
from hsd_core.models.compiled.session import BoundInputs, Session
from hsd_core.models.decoder_protocol import Decoder
from hsd_core.models.drafts.compiled_head import CompiledDraft
from hsd_core.models.drafts.copying import Gate
from hsd_core.models.drafts.draft_file import DraftInfo
from hsd_core.models.drafts.head import DraftHead
from hsd_core.models.lean import decoder as lean
from hsd_core.models.lean.linear import Int4, Int8, quantise
from hsd_core.models.one_pass import Branches, Pass
from hsd_core.models.sampling import Sampling

IDS = [5, 50, 3, 17, 44, 44, 8, 60, 2, 30, 31, 12]
KINDS = ("llama", "mistral", "qwen2", "qwen3")
DTYPES = ("float32", *QUANTISED)
WIDE = {"inner": 64}  # whole groups of 32 inputs, as 4 bits are kept
LAYER = {
    kind: sum(w.numel() for name, w in made(kind, head_dim=16, **WIDE)[1].items() if "layers.0." in name)
    for kind in KINDS
}


def read(decoder: Decoder, ids: list[int] = IDS) -> torch.Tensor:
    """All rows of one pass."""
    return decoder.forward(Pass(ids, 0, len(ids)), decoder.new_cache(len(ids)))


def ran(made: object, x: torch.Tensor, outputs: int) -> torch.Tensor:
    """One product of a graph, x (n, K) -> (n, outputs)."""
    graph = Graph()
    y = made(graph, "w", graph.input("x", "float32", [1, "n", x.shape[1]]))  # type: ignore[operator]
    graph.put("Identity", [y], [graph.output("y", [1, "n", outputs])])
    bound, result = Session(graph, 2).bound(), torch.empty(1, len(x), outputs)
    bound.input("x", x[None])
    bound.output("y", result)
    bound()
    return result[0]


@pytest.mark.parametrize("shape", SHAPES)
def test_logits_are_those_of_transformers(tmp_path, shape: str) -> None:
    name, more = SHAPES[shape]
    expected = truth(saved(tmp_path, name, **more), IDS)
    decoder = load_decoder(tmp_path, kind="compiled")
    assert isinstance(decoder, CompiledDecoder)
    assert (read(decoder) - expected).abs().max() < 1e-4


@pytest.mark.covering
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_rows_computed_together_are_the_rows_computed_alone(kind: str, dtype: str) -> None:
    decoder = tiny_compiled(kind, dtype=dtype, **WIDE)
    ids = IDS * 8
    together = read(decoder, ids)
    for size in (1, 2, 3, 5, 8, 33, 65):  # 33: attention's blocks have 32 rows here, and one is left over
        cache = decoder.new_cache(len(ids))
        parts = [decoder.forward(Pass(p, i, len(p)), cache) for i in range(0, 96, size) if (p := ids[i : i + size])]
        assert torch.equal(torch.cat(parts), together), f"blocks of {size}"


@pytest.mark.parametrize("dtype", QUANTISED)
@pytest.mark.parametrize(("differs", "rows", "independent"), [((), 1, True), ((1,), 2, True), ((1, 2), 2, False)])
def test_where_one_row_comes_out_otherwise_alone_it_runs_as_two(
    differs: tuple[int, ...], rows: int, independent: bool, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kernels of a processor that compute passes of one row, or of one and of two, in another order."""
    untouched, runs = tiny_compiled(dtype=dtype, layers=6, **WIDE), BoundInputs.__call__
    honest = read(untouched)

    def other(bound: BoundInputs) -> None:
        runs(bound)
        (made,) = (tensor for name, tensor in bound._held.items() if name in ("states", "logits"))
        if made.shape[1] in differs:
            made += 1e-6

    monkeypatch.setattr(BoundInputs, "__call__", other)
    stacks = LeanStacks(make=tiny_compiled, layers=6, **WIDE)
    decoder = {"int8": stacks.int8, "int4": stacks.int4}[dtype]
    rows = max(rows, untouched.least_rows)  # this machine's own kernels may be such
    assert (decoder.least_rows, decoder.independent) == (rows, independent)
    if independent:
        cache, alone = decoder.new_cache(12), []
        for i, id_ in enumerate(IDS):
            x = decoder.forward_layers(Pass([id_], i), cache, 0, 2)
            alone.append(decoder.head(decoder.forward_layers(Pass([id_], i), cache, 2, 6, x)))
        assert torch.equal(torch.cat(alone), honest)
    for text, exact in ((f"ngram:4,target@dtype={dtype}", independent), ("ngram:4,target", True)):
        header = next(iter(hsd_core.run(stacks.stack(text), IDS, Sampling(0.0), 0, max_new_tokens=2)))
        assert header.lossless is exact, "where rows differ the run says so; in float32 their last bits alone do"
        assert exact or "rows depend on how many" in header.lossless_reason


@pytest.mark.parametrize("dtype", DTYPES)
def test_layers_run_in_any_division_give_the_same_bits(dtype: str) -> None:
    decoder = tiny_compiled("qwen3", layers=6, dtype=dtype, **WIDE)
    whole = read(decoder)
    for cuts in ((0, 2, 6), (0, 1, 2, 6), (0, 4, 6), (0, 6), (0, 1, 2, 3, 4, 5, 6)):
        for size in (1, 12):
            cache, rows = decoder.new_cache(12), []
            for start in range(0, 12, size):
                x, given = None, Pass(IDS[start : start + size], start)
                for lo, hi in pairwise(cuts):
                    x = decoder.forward_layers(given, cache, lo, hi, x)
                rows.append(decoder.head(x))
            assert torch.equal(torch.cat(rows), whole), cuts


@pytest.mark.covering
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["llama", "qwen2"])
def test_a_large_model_is_laid_out_part_by_part_and_computes_the_same_bits(
    kind: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = tiny_compiled(kind, layers=5, dtype=dtype, **WIDE)
    monkeypatch.setattr(decoders, "PART_BYTES", 2.5 * BYTES[dtype] * LAYER[kind])
    told: list[tuple[float, float]] = []
    parts = tiny_compiled(kind, layers=5, dtype=dtype, progress=lambda *so_far: told.append(so_far), **WIDE)
    assert [(part.lo, part.hi) for part in parts.parts] == [(0, 2), (2, 4), (4, 5)]
    assert told == [(0, 5), (2, 5), (4, 5)]
    assert torch.equal(read(parts), read(whole))
    cache, rows = parts.new_cache(12), []
    for lo, hi in ((0, 1), (1, 5)):
        rows.append(parts.forward_layers(Pass(IDS), cache, lo, hi, rows[-1] if rows else None))
    assert torch.equal(parts.head(rows[-1]), read(whole)), "an exit within a part"


def test_a_cut_lays_no_weight_out_twice_and_closes_what_it_replaces() -> None:
    decoder = tiny_compiled(layers=6)
    cache = decoder.new_cache(4)
    before = decoder.parts[0].session
    decoder.forward_layers(Pass([1]), cache, 0, 2)
    decoder.forward_layers(Pass([1]), cache, 0, 6)
    assert [(part.lo, part.hi) for part in decoder.parts] == [(0, 2), (2, 6)]
    assert before not in cache._bound and len(cache._bound) == 2
    with pytest.raises(ValueError, match="layers 3 to 7"):
        decoder.forward_layers(Pass([1]), cache, 3, 7)


@pytest.mark.parametrize("kind", KINDS)
def test_nodes_of_a_tree_see_their_ancestors_alone(kind: str) -> None:
    decoder = tiny_compiled(kind)
    parents, nodes = (-1, 0, 0, -1, 2), [7, 9, 11, 13, 15]
    cache = decoder.new_cache(4, branches=len(nodes))
    decoder.forward(Pass(IDS[:4], 0, 1), cache)
    rows = decoder.forward(Pass(nodes, 4, 5, Branches(4, parents)), cache)
    for node in range(len(nodes)):
        path = [node]
        while parents[path[0]] >= 0:
            path.insert(0, parents[path[0]])
        chain = read(decoder, [*IDS[:4], *(nodes[at] for at in path)])
        assert (rows[node] - chain[-1]).abs().max() < 1e-4, f"node {node}"
    # in two passes, one node alone in the second: its row stands, and its siblings' keys stay
    cache = decoder.new_cache(4, branches=len(nodes))
    decoder.forward(Pass(IDS[:4], 0, 1), cache)
    parts = [decoder.forward(Pass(nodes[:4], 4, 4, Branches(4, parents)), cache)]
    parts.append(decoder.forward(Pass(nodes[4:], 8, 1, Branches(4, parents)), cache))
    assert (torch.cat(parts) - rows).abs().max() < 1e-5
    cache.keep(4, (0, 2, 4))
    after = decoder.forward(Pass([21, 22], 7, 2), cache)
    assert (after - read(decoder, [*IDS[:4], 7, 11, 15, 21, 22])[-2:]).abs().max() < 1e-4


@pytest.mark.parametrize("dtype", DTYPES)
def test_rolling_back_is_starting_earlier(dtype: str) -> None:
    decoder = tiny_compiled(dtype=dtype, **WIDE)
    cache = decoder.new_cache(40)
    decoder.forward(Pass(IDS[:6], 0, 1), cache)
    decoder.forward(Pass([1, 1, 1, 1], 6, 4), cache)
    decoder.forward(Pass([9, 9], 3, 2), cache)
    assert torch.equal(decoder.forward(Pass(IDS[3:], 3, len(IDS) - 3), cache), read(decoder)[3:])


def test_a_long_prompt_in_chunks_is_the_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    decoder = tiny_compiled()
    expected = read(decoder)
    monkeypatch.setattr(lean, "CHUNK", 5)
    for rows in (1, 2, 3, 7, 12):
        assert torch.equal(decoder.forward(Pass(IDS, 0, rows), decoder.new_cache(12)), expected[-rows:])


def test_a_cache_takes_what_the_model_was_built_for_and_no_more() -> None:
    decoder = tiny_compiled(max_position_embeddings=64)
    ids = [i % 61 for i in range(64)]
    cache = decoder.new_cache(64, branches=3)
    decoder.forward(Pass(ids[:63], 0, 1), cache)
    last = decoder.forward(Pass(ids[63:], 63, 1), cache)
    assert (last - read(tiny(max_position_embeddings=64, head_dim=16), ids)[-1:]).abs().max() < 1e-4
    assert decoder.forward(Pass([1, 2, 3], 64, 3, Branches(64, (-1, -1, -1))), cache).isfinite().all()
    with pytest.raises(DecoderError, match="capacity of 67"):
        decoder.forward(Pass([1] * 4, 64, 1), cache)
    with pytest.raises(DecoderError, match="capacity of 67"):
        decoder.forward_layers(Pass([1] * 200), cache, 0, 4)
    with pytest.raises(DecoderError, match="65 positions"):
        decoder.new_cache(65)


def test_inputs_may_begin_at_any_address() -> None:
    decoder = tiny_compiled()
    x, given = decoder.embed(IDS), Pass(IDS)
    expected = decoder.forward_layers(given, decoder.new_cache(12), 0, 4)
    memory = torch.zeros(x.numel() + 16)
    for at in (1, 3, 15):
        shifted = memory[at : at + x.numel()].view_as(x).copy_(x)
        assert shifted.data_ptr() % 64
        assert torch.equal(decoder.forward_layers(given, decoder.new_cache(12), 0, 4, shifted), expected)
    spread = torch.zeros(12, 64)[:, :32].copy_(x)  # rows that do not follow each other
    assert torch.equal(decoder.forward_layers(given, decoder.new_cache(12), 0, 4, spread), expected)


@pytest.mark.covering
@pytest.mark.parametrize("dtype", QUANTISED)
@pytest.mark.parametrize("kind", KINDS)
def test_copies_stay_near_float32(kind: str, dtype: str) -> None:
    off = []
    for seed in range(3):  # a model of 32 channels has few groups, and each its luck
        shape, weights = made(kind, head_dim=16, seed=seed, **WIDE)
        if dtype == "int4":  # weights of 16 steps a group, as a 4-bit file has them
            weights = {name: Int4(w).dense() if "proj.weight" in name else w for name, w in weights.items()}
        source = weights.__getitem__, set(weights)
        expected = read(lean.LeanDecoder(shape, *source))
        got = read(CompiledDecoder(shape, partial(nullcontext, source), dtype=dtype))
        assert got.dtype == torch.float32
        off.append(((got - expected).abs().mean() / expected.abs().mean()).item())
    assert sum(off) / len(off) < 0.05


@pytest.mark.parametrize("kind", ["int8", "rows"])  # what processors with and without VNNI take
def test_a_smoothed_copy_keeps_rows_apart_by_either_kernel(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoders, "smoothed_kind", lambda: kind)
    decoder, exact = tiny_compiled(dtype="int8", **WIDE), read(tiny_compiled(**WIDE))
    together, cache = read(decoder), decoder.new_cache(12)
    assert decoder.independent and (together - exact).abs().mean() < 0.1 * exact.abs().mean()
    alone = [decoder.forward(Pass([token], i, 1), cache) for i, token in enumerate(IDS)]
    assert torch.equal(torch.cat(alone), together)


@pytest.mark.parametrize("kind", [*DTYPES, "rows"])
@pytest.mark.parametrize("inputs", [64, 96])
def test_products_are_those_of_their_weights(kind: str, inputs: int) -> None:
    random = torch.Generator().manual_seed(0)
    weight, bias = torch.randn(48, inputs, generator=random), torch.randn(48, generator=random)
    x = torch.randn(7, inputs, generator=random)
    if kind == "int4":
        weight = Int4(weight).dense()
    expected = x @ weight.T + bias
    off = (ran(product(weight, kind, bias), x, 48) - expected).abs().max() / expected.abs().max()
    assert off < {"float32": 1e-6, "int8": 0.02, "int4": 0.02, "rows": 0.02}[kind]


def test_a_loud_channel_costs_products_by_rows_little_and_a_row_of_zeros_gives_zeros() -> None:
    random = torch.Generator().manual_seed(0)
    weight, x = torch.randn(48, 128, generator=random), torch.randn(7, 128, generator=random)
    x[:, 5], x[2] = 60.0, 0.0
    weight[:, 5] /= 60
    got, expected = ran(product(weight, "rows"), x, 48), x @ weight.T
    assert torch.equal(got[2], torch.zeros(48))
    assert (got - expected).square().mean() < 0.06**2 * expected.square().mean(), "0.14 if inputs were not turned"


def test_four_bits_keep_offsets_that_are_no_whole_steps() -> None:
    random = torch.Generator().manual_seed(0)
    codes = torch.randint(0, 16, (48, 2, 32), generator=random).float()
    codes[..., :2] = torch.tensor([0.0, 15.0])
    weight = (codes * 0.125 - 0.9).view(48, 64)  # -0.9 is 7.2 steps
    x = torch.ones(3, 64)  # which 8 bits hold exactly
    assert (ran(product(weight, "int4"), x, 48) - x @ weight.T).abs().max() < 1e-4


def test_four_bits_keep_offsets_that_differ_from_group_to_group_better_than_whole_steps_do() -> None:
    random = torch.Generator().manual_seed(0)
    codes = torch.randint(0, 16, (48, 48, 32), generator=random).float()
    codes[..., :2] = torch.tensor([0.0, 15.0])
    steps = 0.05 + 0.1 * torch.rand(48, 48, 1, generator=random)
    low = -steps * (4 + 8 * torch.rand(48, 48, 1, generator=random))
    weight = (codes * steps + low).view(48, -1)
    x = torch.ones(3, 48 * 32)  # which 8 bits hold exactly
    off = (ran(product(weight, "int4"), x, 48) - x @ weight.T).abs().max()
    whole = (codes + (low / steps).round()) * steps
    assert off < 0.02 * (x @ whole.view(48, -1).T - x @ weight.T).abs().max()


def test_int8_weights_of_a_file_are_kept_as_they_are() -> None:
    weight, scale = quantise(torch.randn(48, 80, generator=torch.Generator().manual_seed(0)))
    x = torch.ones(3, 80)
    expected = x @ Int8.of(weight, scale).dense().T
    assert (ran(of_rows(weight, scale), x, 48) - expected).abs().max() < 1e-4


def test_sizes_that_are_no_whole_groups() -> None:
    assert (read(tiny_compiled(dtype="int8", inner=40)) - read(tiny(head_dim=16, inner=40))).abs().mean() < 0.5
    with pytest.raises(DecoderError, match="use int8"):
        tiny_compiled(dtype="int4", inner=40)


def test_runs_at_once_do_not_disturb_each_other() -> None:
    decoder = tiny_compiled(layers=6)
    texts = [[i, *IDS] for i in range(6)]
    expected = [read(decoder, ids) for ids in texts]
    found: dict[int, list[torch.Tensor]] = {}

    def work(i: int) -> None:
        found[i] = []
        for cut in (6, 1, 3, 5, 2, 4):  # layers are cut again meanwhile
            cache = decoder.new_cache(16)
            x = decoder.forward_layers(Pass(texts[i]), cache, 0, cut)
            found[i].append(decoder.head(decoder.forward_layers(Pass(texts[i]), cache, cut, 6, x) if cut < 6 else x))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i, rows in found.items():
        assert len(rows) == 6 and all(torch.equal(row, expected[i]) for row in rows)


def test_what_the_kernels_do_not_take_runs_in_torch(tmp_path) -> None:
    saved(tmp_path, "Llama", num_attention_heads=8)
    assert isinstance(load_decoder(tmp_path), lean.LeanDecoder)
    with pytest.raises(DecoderError, match="heads by 16"):
        load_decoder(tmp_path, kind="compiled")
    saved(tmp_path, "Llama")
    assert isinstance(load_decoder(tmp_path), CompiledDecoder)
    assert isinstance(load_decoder(tmp_path, dtype="bfloat16"), lean.LeanDecoder)
    with pytest.raises(DecoderError, match="not as bfloat16"):
        load_decoder(tmp_path, dtype="bfloat16", kind="compiled")


def test_without_onnxruntime_torch_runs(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hsd_core.models import compiled

    saved(tmp_path, "Llama")
    monkeypatch.setattr(compiled, "find_spec", lambda name: None)
    assert isinstance(load_decoder(tmp_path), lean.LeanDecoder)
    with pytest.raises(DecoderError, match="pip install onnxruntime"):
        load_decoder(tmp_path, kind="compiled")


def test_several_texts_in_a_pass_are_refused_with_the_cure() -> None:
    decoder = tiny_compiled()
    with pytest.raises(DecoderError, match="kind='lean'"):
        decoder.forward(Pass([1, 2], slots=(0, 0)), decoder.new_cache(4))


def test_weights_of_other_sizes_are_refused() -> None:
    shape, weights = made(head_dim=16)

    def refused(name: str, tensor: torch.Tensor | None, why: str) -> None:
        changed = {**weights, name: tensor}
        kept = {k: v for k, v in changed.items() if v is not None}
        with pytest.raises(DecoderError, match=why):
            CompiledDecoder(shape, lambda: nullcontext((kept.__getitem__, set(kept))))

    refused("model.layers.2.mlp.up_proj.weight", None, "lack 'model.layers.2.mlp.up_proj.weight'")
    refused("model.norm.weight", None, "lack 'model.norm.weight'")
    for name in ("self_attn.q_proj", "self_attn.o_proj", "mlp.gate_proj", "mlp.down_proj", "input_layernorm"):
        whole = weights[f"model.layers.1.{name}.weight"]
        refused(f"model.layers.1.{name}.weight", whole[:-16], "has sizes")
    refused("model.embed_tokens.weight", weights["model.embed_tokens.weight"][:, :-8], "has sizes")


STACKS = (
    "exit:2@at=2,target",
    "exit:2@at=2,exit:3@at=4,target",
    "int8:4,target",
    "int4:3,int8:4,target",
    "nano:3@id=own,int8:4,target",
    "nano:3@id=fed,int8:4,target",
    "nano:2@id=fed,exit:3@at=3,target",
    "ngram:4,exit:3@at=2,int8:4,target@dtype=int8",
    "ngram:4,target@dtype=int4",
)


@pytest.mark.parametrize(
    "kind", ["qwen2", *(pytest.param(one, marks=pytest.mark.everything) for one in KINDS if one != "qwen2")]
)
def test_greedy_stacks_repeat_plain_decoding(kind: str) -> None:
    target = tiny_compiled(kind, layers=6)
    assert isinstance(target, Layered)
    drafts = {"own": RandomDraft(target, layers=2), "fed": RandomDraft(target, fed=True, layers=1, seed=1)}
    stacks = LeanStacks(kind, drafts, make=tiny_compiled, layers=6)
    for text in STACKS:
        plain = text.rpartition(",")[2]
        outputs = [
            output_of(list(hsd_core.run(stacks.stack(stack), IDS, Sampling(0.0), 0, max_new_tokens=18, heads=0)))
            for stack in (text, plain)
        ]
        assert outputs[0] == outputs[1], text


@pytest.mark.parametrize("fed", [False, True])
def test_a_compiled_draft_is_the_draft(tmp_path, monkeypatch, fed: bool) -> None:
    random = torch.Generator().manual_seed(0)
    target, compiled = tiny(head_dim=16, **WIDE), tiny_compiled(**WIDE)
    wide, heads = 32, (4 + 2 * 2) * 16
    sizes = {"qkv": (heads, wide), "out": (wide, 64), "gate_up": (128, wide), "down": (wide, 64)}
    tensors = {"ids": torch.arange(3, 51, dtype=torch.int32), "norm": torch.ones(wide)}

    def put(name: str, size: tuple[int, int]) -> None:
        tensors[name], tensors[f"{name}.scale"] = quantise(torch.randn(size, generator=random) * 0.3)

    put("read", (wide, wide * (1 + fed)))
    for i in range(2):
        for name, size in sizes.items():
            put(f"layers.{i}.{name}", size)
        for name in ("attention_norm", "mlp_norm"):
            tensors[f"layers.{i}.{name}"] = 1 + 0.1 * torch.randn(wide, generator=random)
    gate = Gate.fresh(wide)._replace(state=torch.randn(wide, generator=random))
    tensors |= {f"copy.{name}": part for name, part in gate._asdict().items()}
    info = DraftInfo("d", "p", 0, fed, 2, 48, wide, "t", "f", tmp_path, None, {})
    x, features = target.embed(IDS), torch.randn(12, wide, generator=random) if fed else None
    rows = {}
    for kind, decoder in ((DraftHead, target), (CompiledDraft, compiled)):
        draft = kind(info, tensors, decoder)
        together, own = draft.forward(Pass(IDS, wanted=12), x, draft.new_cache(12), IDS, features)
        cache, alone = draft.new_cache(12), []
        for i in range(12):
            fed_here = None if features is None else features[i : i + 1]
            alone.append(draft.forward(Pass([IDS[i]], i), x[i : i + 1], cache, IDS[: i + 1], fed_here)[0])
        assert torch.equal(torch.cat(alone), together)
        rows[kind] = together.softmax(-1)
        assert own.shape == (12, wide)
        assert (together.isfinite() == rows[kind].gt(0)).all()
    assert torch.minimum(*rows.values()).sum(-1).min() > 0.9
    compiled.threads = 2
    for quick in (1, 2):
        medians = iter([quick - 1, 2 - quick])  # of one thread, of both
        monkeypatch.setattr("hsd_core.models.drafts.compiled_head.median", lambda _, told=medians: next(told))
        chosen = CompiledDraft(info, tensors, compiled)
        assert chosen.threads == quick
        got, _ = chosen.forward(Pass(IDS, wanted=12), x, chosen.new_cache(12), IDS, features)
        assert torch.equal(got.softmax(-1), rows[CompiledDraft])


@pytest.mark.parametrize("kind", DTYPES)
def test_a_session_reads_nothing_of_the_memory_that_its_weights_came_in(kind: str) -> None:
    graph, random = Graph(), torch.Generator().manual_seed(0)
    weight, bias = torch.randn(64, 64, generator=random), torch.randn(64, generator=random)
    x = graph.norm(graph.input("x", "float32", [1, "n", 64]), "norm", torch.randn(64, generator=random), 1e-5)
    graph.put("Identity", [product(weight, kind, bias)(graph, "w", x)], [graph.output("y", [1, "n", 64])])
    given = list(graph.tensors.values())
    bound, result = Session(graph, 1).bound(), torch.empty(1, 2, 64)
    bound.input("x", torch.ones(1, 2, 64))
    bound.output("y", result)
    bound()
    before = result.clone()
    for array in given:
        ctypes.memset(array.ctypes.data, 0, array.nbytes)
    bound()
    assert torch.equal(result, before)
