"""Models whose layers attend to a window: exact over drafts, crops and trees, beside transformers' own decoding."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from enumerator import SAMPLED, distance, run_distribution
from every_family import save as save_any
from families import WINDOWED, save
from lean_stacks import LeanStacks, RandomDraft, drafted_stacks, model_distribution
from recorded_graphs import RecordedGraphs
from tiny import made, tiny
from toys import output_of

import hsd_core
from hsd_core.core.events import Event
from hsd_core.models.compiled import refusal
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.models.lean.shape import LeanShape
from hsd_core.models.loading import load_decoder
from hsd_core.models.one_pass import Branches, Pass
from hsd_core.models.sampling import Sampling
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.targets import target_preset
from hsd_core.stacks.weight_sizes import weight_bytes, weight_counts
from hsd_core.trace.comparison import compare
from hsd_core.trace.metrics import committed_ids
from tests.pretend_gpu import pretend_gpu

TEXT, WINDOW, TOKENS = 300, 16, 40
PROMPT = "each one checks, each one checks, each"
STACKS = ("ngram:4,target", "ngram:2,model:3,target", "model@tree=2.2,target")
FEW = ("gemma3", "gpt-oss")  # the others with --all
FAMILIES = pytest.mark.parametrize(
    "family", [pytest.param(one, marks=[pytest.mark.everything] * (one not in FEW)) for one in WINDOWED]
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("windowed")


def folder_of(folders: Path, family: str) -> Path:
    folder = folders / family
    return folder if folder.is_dir() else save(folder, family)


def text(vocabulary: int, seed: int = 0) -> list[int]:
    draw = random.Random(seed)
    return [draw.randrange(3, vocabulary) for _ in range(TEXT)]


def apart(one: torch.Tensor, other: torch.Tensor) -> float:
    """The largest difference, relative to the spread of the logits."""
    return float((one - other).abs().max() / (other.max() - other.min()))


@FAMILIES
def test_rows_after_rejected_drafts_and_crops_are_those_of_one_pass(folders: Path, family: str) -> None:
    folder = folder_of(folders, family)
    decoder, draw = load_decoder(folder, kind="auto"), random.Random(1)
    ids = text(decoder.vocab_size)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    with torch.inference_mode():
        expected = model(torch.tensor([ids]), use_cache=False).logits[0]
        early = model(torch.tensor([[ids[0] + 1, *ids[1:]]]), use_cache=False).logits[0]
    assert apart(early[:WINDOW], expected[:WINDOW]) > 1e-3, "within the window the first token is seen"
    cache, end = decoder.new_cache(TEXT + 8), 3 * WINDOW
    decoder.forward(Pass(ids[:end], 0, 1), cache)
    while end < TEXT:
        wrong = text(decoder.vocab_size, end)[: draw.randrange(1, 7)]
        decoder.forward(Pass(wrong, end, len(wrong)), cache)
        start, end = end - draw.randrange(2 * WINDOW), min(TEXT, end + draw.randrange(1, 7))
        rows = decoder.forward(Pass(ids[start:end], start, end - start), cache)
        assert apart(rows, expected[start:end]) < 1e-4


@pytest.mark.parametrize(
    "family", [pytest.param(one, marks=[pytest.mark.everything] * (one != FEW[0])) for one in WINDOWED]
)
def test_stacks_write_what_plain_decoding_and_transformers_write(folders: Path, family: str) -> None:
    folder = folder_of(folders, family)
    small = folder_of(folders, "llama-tied")
    pipeline = Pipeline.open(target_preset(str(folder), str(small)), stack="target", device="cpu")

    def run(stack: str) -> list[Event]:
        return list(pipeline.run(stack, PROMPT, raw=True, max_new_tokens=TOKENS))

    plain = run("target")
    assert len(set(committed_ids(plain))) > 4
    for stack in STACKS:
        assert compare(run(stack), plain).holds, stack
    ids = torch.tensor([pipeline.encode(PROMPT, raw=True)])
    model: Any = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    written = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=TOKENS, do_sample=False)[0]
    assert written[ids.shape[1] :].tolist() == list(committed_ids(plain))


# Gemma 3 as a lean decoder: every second layer of the tiny one has a window of three positions

EXACT = 1e-5
IDS = [3, 1, 4, 1, 5, 3, 1, 4]
LEAN = (
    "exit:3@at=2,target",
    "nano:3@id=fed,target",
    "int8:3,target",
    "int4:3,target",
    "ngram:2,nano:2@id=own,exit:3@at=3,target",
    "exit:2@at=3@tree=2.2,target",
    "self:3,target",
    "view:3@budget=6@chunk=2,target",
)


def stacks_of(**sizes: object) -> LeanStacks:
    found = LeanStacks("gemma3_text", layers=4, **sizes)  # type: ignore[arg-type]
    found.drafts = {"own": RandomDraft(found.target), "fed": RandomDraft(found.target, fed=True)}
    return found


def written(stacks: LeanStacks, text: str) -> Sequence[int]:
    return output_of(list(hsd_core.run(stacks.stack(text), IDS, Sampling(0.0), 0, max_new_tokens=16, heads=0)))


def test_stacks_over_lean_gemma_3_write_what_plain_decoding_writes() -> None:
    stacks = stacks_of()
    plain = written(stacks, "target")
    for text in LEAN:
        assert written(stacks, text) == plain, text


@pytest.mark.parametrize(
    "text", [LEAN[5], *(pytest.param(one, marks=pytest.mark.everything) for one in LEAN if one != LEAN[5])]
)
def test_recorded_passes_over_lean_gemma_3_write_the_same(text: str) -> None:
    plain = written(stacks_of(), "target")
    with pretend_gpu():
        graphs = RecordedGraphs()
        assert written(stacks_of(device="cuda", graphs=graphs), text) == plain
    assert graphs.replayed


@pytest.mark.parametrize(
    ("text", "vocab"),
    [
        ("nano:1@id=fed,int4:2,target@rule=block", 2),
        pytest.param("exit:2@at=2,target", 3, marks=pytest.mark.everything),
        pytest.param("exit:1@at=2@dtype=int8,int8:2,target", 2, marks=pytest.mark.everything),
        pytest.param("nano:2@id=fed,target", 3, marks=pytest.mark.everything),
    ],
)
def test_sampled_stacks_over_lean_gemma_3_follow_its_distribution(text: str, vocab: int) -> None:
    stacks, prompt = drafted_stacks(vocab, "gemma3_text"), [1, 0]
    found = run_distribution(stacks.stack(text), prompt, 3)
    assert distance(found, model_distribution(stacks.target, prompt, 3, SAMPLED)) < EXACT


def test_branches_and_several_texts_have_the_rows_of_each_text_alone() -> None:
    decoder, draw = tiny("gemma3_text"), random.Random(0)
    context = [draw.randrange(61) for _ in range(9)]
    tree = Branches(9, (-1, -1, 0, 1, 3))
    nodes, cache = [7, 8, 9, 10, 11], decoder.new_cache(9, branches=5)
    rows = decoder.forward(Pass([*context, *nodes], 0, 5, tree), cache)
    texts = [[*context, 7], [*context, 8], [*context, 7, 9], [*context, 8, 10], [*context, 8, 10, 11]]
    alone = torch.cat([decoder.forward(Pass(ids), decoder.new_cache(len(ids))) for ids in texts])
    torch.testing.assert_close(rows, alone, rtol=0, atol=1e-4)
    cache = decoder.new_cache(13, texts=5)
    for b, ids in enumerate(texts):
        decoder.forward(Pass(ids), cache.text(b))
    together = decoder.forward(Pass([5] * 5, slots=tuple(map(len, texts))), cache)
    alone = torch.cat([decoder.forward(Pass([*ids, 5]), decoder.new_cache(13)) for ids in texts])
    torch.testing.assert_close(together, alone, rtol=0, atol=1e-4)


@pytest.mark.everything
def test_gemma_3_that_sees_images_is_lean_without_their_encoder(tmp_path: Path) -> None:
    save_any(tmp_path, "gemma3")
    decoder, ids = load_decoder(tmp_path), text(300)
    assert isinstance(decoder, LeanDecoder)
    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32)
    with torch.inference_mode():
        expected = model(torch.tensor([ids[:64]]), use_cache=False).logits[0]
    rows = decoder.forward(Pass(ids[:64], 0, 64), decoder.new_cache(64))
    assert apart(rows, expected) < 1e-4
    assert weight_bytes(weight_counts(tmp_path), "float32") == pytest.approx(decoder.weight_bytes(), rel=0.03)


def test_configs_of_gemma_3_on_the_hub_leave_out_what_is_the_default() -> None:
    written = {"hidden_size": 2560, "num_hidden_layers": 34, "rope_scaling": {"factor": 8.0, "rope_type": "linear"}}
    config = {"model_type": "gemma3", "text_config": {**written, "sliding_window": 1024}}
    shape, known = LeanShape.from_config(config), transformers.Gemma3Config(**config).text_config
    assert shape.windows == tuple(1024 * (one == "sliding_attention") for one in known.layer_types)
    assert (shape.heads, shape.kv_heads, shape.head_size) == (8, 4, 256)
    assert (shape.vocab_size, shape.max_positions, shape.tied) == (262_208, 131_072, True)
    whole, local = (known.rope_parameters[name] for name in ("full_attention", "sliding_attention"))
    assert (shape.rope_theta, shape.local_theta) == (whole["rope_theta"], local["rope_theta"])
    assert {key: shape.rope[key] for key in ("rope_type", "factor")} == {"rope_type": "linear", "factor": 8.0}


def test_a_window_as_long_as_the_context_hides_nothing() -> None:
    sizes = {"max_position_embeddings": 192, "head_dim": 16}
    assert refusal(made("mistral", sliding_window=192, **sizes)[0], "float32", "cpu") is None
    assert "without windows" in str(refusal(made("mistral", sliding_window=191, **sizes)[0], "float32", "cpu"))
