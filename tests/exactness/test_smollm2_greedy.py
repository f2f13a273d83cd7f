"""Greedy output of SmolLM2 equals plain decoding, ours and transformers', over real stacks.

"Equal" is what hsd_core.trace.comparison says: the same ids, or a near tie of the two best logits at the first
difference. Needs the converted weights; they are fetched on first use, and without a network the tests say so.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from hsd_core.measure.bench import read_prompts
from hsd_core.models.one_pass import Pass
from hsd_core.trace.checks import check
from hsd_core.trace.comparison import TIE, compare
from hsd_core.trace.metrics import committed_ids

TOKENS, FEW = 48, 16
STACKS = (
    "ngram:4,target",
    "int8:4,target",
    "int4:8,target",
    "ngram:2,int8:8,target@rule=block",
    "ngram:5@db=c,int8:3@policy=flush@bonus=0,int4:9@policy=confidence@theta=0.7,target@bonus=0",
    "ngram:3,int8:16@policy=margin@theta=0.2,target",
    "ngram:4@guess=7,target",
    "ngram:4@guess=7,int8:6,target",
    "ngram:3@guess=3,exit@at=8,target",
    "ngram:3@guess=4@miss=nano,target@rule=greedy@bonus=0",
    "jacobi:3,target",
    "jacobi:4@window=8,int8:6,target",
    "lookahead:4,target",
    "lookahead:4,int8:6,target",
    "lookahead:2@window=3@n=3@guess=2,exit@at=8,target@bonus=0",
    "ngram:4@guess=7@window=7@key=1,target",
    "ngram:3@window=3@n=4@miss=nano,int4:5,target",
    "ngram:4,view:6@budget=32@chunk=4,target",
    "view:4@keep=stream@budget=24@dtype=int8,target",
    "ngram:2,int8:5,target@with=pearl",
    "exit:3@at=8@id=smollm2-exit8,target@with=ahead",
)
# A chain and a tree of names, an 8-bit copy, an exit with a head of its own, and lanes.
ALWAYS = (
    "ngram:2,int8:8,target@rule=block",
    "lookahead:2@window=3@n=3@guess=2,exit@at=8,target@bonus=0",
    "exit:3@at=8@id=smollm2-exit8,target@with=ahead",
)
PROMPTS = [p.text for p in read_prompts(Path(__file__).parents[2] / "assets" / "prompts" / "own.jsonl")][::3]
SOME = [pytest.param(text, id=f"{n}", marks=[pytest.mark.everything] * (n > 0)) for n, text in enumerate(PROMPTS)]

pytestmark = pytest.mark.weights


def cases():
    """Every stack over one prompt in four; always the few over the first prompt."""
    for i, stack in enumerate(STACKS):
        for n in range(i % 4, len(PROMPTS), 4):
            yield pytest.param(stack, PROMPTS[n], TOKENS, id=f"{stack}-{n}", marks=pytest.mark.everything)
    for stack in ALWAYS:
        yield pytest.param(stack, PROMPTS[0], FEW, id=stack)


@pytest.mark.parametrize(("stack", "prompt", "tokens"), [*cases()])
def test_a_stack_writes_what_plain_decoding_writes(smollm2, smollm2_plain, stack, prompt, tokens):
    run = list(smollm2.run(stack, prompt, max_new_tokens=tokens, heads=2))
    same = compare(run, smollm2_plain(prompt, tokens))
    assert same.holds, f"token {same.equal} differs at a margin of {same.margin}"
    assert check(run) == []


@pytest.mark.parametrize("prompt", SOME)
def test_plain_decoding_writes_what_transformers_writes(smollm2, smollm2_plain, transformers_smollm2, prompt):
    """One pass over the whole text: at every place transformers' best token, or one as good, is the next one of it."""
    torch = pytest.importorskip("torch")
    ids, ours = smollm2.encode(prompt, raw=False), committed_ids(smollm2_plain(prompt, FEW))
    assert len(ours) == FEW or ours[-1] in smollm2.ends
    with torch.inference_mode():
        logits = transformers_smollm2(torch.tensor([[*ids, *ours]])).logits[0, len(ids) - 1 : -1]
    short = logits.amax(-1) - logits[range(len(ours)), ours]
    assert float(short.max()) < TIE, f"transformers prefers another token by {short.tolist()}"


def test_lean_logits_are_those_of_transformers(smollm2, transformers_smollm2):
    torch = pytest.importorskip("torch")
    level = smollm2.entries("target")[0].level
    for prompt in PROMPTS[:2]:
        ids = smollm2.encode(prompt, raw=False)
        ours = level.decoder.forward(Pass(ids, 0, len(ids)), level.decoder.new_cache(len(ids)))
        with torch.inference_mode():
            theirs = transformers_smollm2(torch.tensor([ids])).logits[0]
        # Rounding grows with the logits (about 28 here): float64 is as far from transformers as from us.
        assert float((ours - theirs).abs().max()) < 1e-5 * float(theirs.abs().max())


def test_the_same_seed_gives_the_same_run(smollm2):
    def sampled(seed: int) -> list[int]:
        cut = {"temperature": 0.9, "top_k": 50, "top_p": 0.95}
        return committed_ids(smollm2.run("ngram:3,target", PROMPTS[0], **cut, seed=seed, max_new_tokens=12))

    assert sampled(7) == sampled(7) != sampled(8)
