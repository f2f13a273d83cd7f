"""What a real GPU writes: greedy texts of stacks beside plain decoding, trees, exits, rollback, replayed passes, laws.

Over SmolLM2, or over the model in the folder HSD_GPU_TARGET. `python -m tests.on_gpu` runs it where a GPU is, and over
the pretended one in the tests of that command.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch
from enumerator import distance, run_distribution
from lean_stacks import LeanStacks, model_distribution

from hsd_core.models import load_decoder
from hsd_core.models.gpu import graphs
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.models.one_pass import Branches, Pass
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.targets import target_preset
from hsd_core.trace.checks import check
from hsd_core.trace.comparison import TIE, compare
from hsd_core.trace.metrics import committed_ids

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device"),
]
OWN = os.environ.get("HSD_GPU_TARGET")
TOKENS = 12 if OWN else 64
PROMPTS = (
    "Write a haiku about the sea, then explain it.",
    "List the first ten squares, then the first ten squares again.",
)[: 1 if OWN else None]
TIES = {"float32": TIE, "bfloat16": 0.3}  # logits: what halves add up to in another order
STACKS = (
    "ngram:4,target",
    "ngram:4@guess=3,target",
    "lookahead:3@window=3@n=3@guess=2,target@bonus=0",
    "exit:2@at=1@id=lens,exit:3@at=2@id=lens,target",
    "exit:3@at=2@id=lens@tree=2.2.1,target",
    "ngram:3,int4:4,target",
)
TRAINED = (
    "nano:3,target",
    "nano:3@id=smollm2-nano-joined,target",
    "medusa:3@tree=2.2.1,target",
    "exit:3@at=8,target",
    "exit:3@at=8@tree=2.2.1,target",
    "ngram:3,exit:4@at=8,target",
)


@pytest.fixture(scope="module")
def folder(request: pytest.FixtureRequest) -> Path:
    return Path(OWN) if OWN else request.getfixturevalue("smollm2_folder")


@pytest.fixture(scope="module", params=TIES)
def written(request: pytest.FixtureRequest, folder: Path) -> tuple[Pipeline, dict[str, list[Any]]]:
    """A pipeline of a precision, and what plain decoding wrote."""
    preset = target_preset(str(folder)) if OWN else "smollm2"
    pipeline = Pipeline.open(preset, stack="target", device="cuda", dtype=request.param)
    return pipeline, {text: list(pipeline.run("target", text, max_new_tokens=TOKENS, heads=2)) for text in PROMPTS}


@pytest.mark.parametrize("stack", STACKS if OWN else STACKS + TRAINED)
def test_a_stack_writes_what_plain_decoding_writes(written: Any, stack: str) -> None:
    pipeline, plain = written
    if "int4" in stack and torch.cuda.get_device_capability() < (8, 0):
        pytest.skip("int4 needs compute capability 8.0")
    for prompt in PROMPTS:
        run = list(pipeline.run(stack, prompt, max_new_tokens=TOKENS, heads=2))
        same, tie = compare(run, plain[prompt]), TIES[pipeline.dtype]
        print(f"{pipeline.dtype} {stack}: {same.equal} tokens alike, margin {same.margin}")
        assert not same.diverges or (same.margin is not None and same.margin < tie), same
        assert check(run) == []


@pytest.mark.parametrize("sampled", ["ngram:4,target", "exit:3@at=2@id=lens,target"])
def test_one_seed_gives_one_text(written: Any, sampled: str) -> None:
    pipeline, _ = written
    how = {"max_new_tokens": TOKENS, "temperature": 0.8, "top_p": 0.95, "seed": 3}
    runs = [list(pipeline.run(sampled, PROMPTS[0], **how)) for _ in range(2)]
    assert committed_ids(runs[0]) == committed_ids(runs[1])
    assert check(runs[0]) == []


@pytest.fixture(scope="module", params=TIES)
def pair(request: pytest.FixtureRequest, folder: Path) -> tuple[LeanDecoder, LeanDecoder, float]:
    """The same weights, launched kernel by kernel and replayed, and how far their logits may lie apart."""
    replaying = load_decoder(folder, dtype=request.param, device="cuda", kind="lean")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(graphs, "cuda_graphs", lambda device: None)
        launching = load_decoder(folder, dtype=request.param, device="cuda", kind="lean")
    assert isinstance(replaying, LeanDecoder) and isinstance(launching, LeanDecoder)
    return launching, replaying, TIES[request.param]


@pytest.mark.parametrize("rows", [1, 3, 8])
def test_replayed_passes_are_the_launched_ones_and_go_back(pair: Any, rows: int) -> None:
    launching, replaying, apart = pair
    ids = [(7 * i + 3) % launching.vocab_size for i in range(40)]
    found = []
    for decoder in (launching, replaying):
        cache = decoder.new_cache(64)
        if decoder is replaying:
            decoder.prepare(cache, [decoder.layers])
        decoder.forward(Pass(ids[:20]), cache)
        first = decoder.forward(Pass(ids[20 : 20 + rows], 20, rows), cache).cpu()
        decoder.forward(Pass([1] * rows, 20, rows), cache)
        cache.cut(20)
        again = decoder.forward(Pass(ids[20 : 20 + rows], 20, rows), cache).cpu()
        assert torch.equal(first, again), "a rollback is a position"
        found.append(first)
    assert replaying.eager is None, replaying.eager
    assert float((found[0] - found[1]).abs().max()) < apart


def test_a_tree_s_kept_path_is_the_line(pair: Any) -> None:
    _, decoder, apart = pair
    text, nodes = [3 + i for i in range(12)], [4, 9, 9, 30, 7, 1]
    cache = decoder.new_cache(32, branches=6)
    decoder.prepare(cache, [decoder.layers])
    decoder.forward(Pass([*text, *nodes], 0, 7, Branches(len(text), (-1, 0, -1, 2, 2, 4))), cache)
    cache.keep(12, (2, 4, 5))
    behind = decoder.forward(Pass([8], 15, 1), cache).cpu()
    line = decoder.new_cache(32)
    decoder.forward(Pass([*text, nodes[2], nodes[4], nodes[5]]), line)
    assert float((behind - decoder.forward(Pass([8], 15, 1), line).cpu()).abs().max()) < apart


@pytest.mark.parametrize("text", ["exit:2@at=2,target", "ngram:2,exit:2@at=2,target@rule=block"])
def test_sampled_runs_follow_the_targets_distribution(text: str) -> None:
    stacks, prompt = LeanStacks(device="cuda", vocab=3, seed=5), [1, 0]
    found = run_distribution(stacks.stack(text), prompt, 3)
    assert distance(found, model_distribution(stacks.target, prompt, 3)) < 1e-4
