"""The trunk and what reads it: every layer runs once on a position, and nothing stale is ever read."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch
from cases import first_always
from lean_stacks import LeanStacks, RandomDraft, from_scratch
from ledger import audit
from tiny import tiny
from toys import output_of

import hsd_core
from hsd_core.core.events import Header, Span
from hsd_core.levels.shared import SharedState, shares
from hsd_core.levels.trunk import Trunk
from hsd_core.models.one_pass import Pass
from hsd_core.models.sampling import Sampling
from hsd_core.trace.checks import check

GREEDY = Sampling(0.0)
SAMPLED = Sampling(1.0)
IDS = [5, 50, 3, 17, 44, 44, 8, 60, 2, 30, 31, 12]


def trunk(*depths: int, capacity: int = 64, layers: int = 6) -> Trunk:
    made = Trunk(tiny(layers=layers), capacity)
    for depth in depths:
        made.mark(depth)
    return made


def test_a_layer_runs_once_on_a_position() -> None:
    shared = trunk(2, 4, 6)
    assert shared.run(IDS, 2, 3) == (Span(0, 2, 3),)
    assert shared.run(IDS, 4, 3) == (Span(2, 4, 3),)
    assert shared.run(IDS, 6, 4) == (Span(0, 4, 1), Span(4, 6, 4))
    assert shared.run(IDS, 2, 4) == ()
    assert [shared.valid(depth) for depth in (2, 4, 6)] == [4, 4, 4]


def test_layers_that_nobody_ran_yet_are_one_span() -> None:
    assert trunk(2, 4, 6).run(IDS, 6, 12) == (Span(0, 6, 12),)


def test_a_long_tape_runs_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    from hsd_core.models.lean import decoder as lean

    monkeypatch.setattr(lean, "CHUNK", 5)
    shared = trunk(2, 6)
    assert shared.run(IDS, 2, 12) == (Span(0, 2, 5), Span(0, 2, 5), Span(0, 2, 2))
    shared.run(IDS, 6, 12)
    assert torch.allclose(shared.hidden(6, 0, 12), from_scratch(shared.decoder, IDS, 6), rtol=1e-4, atol=1e-5)


def test_cutting_a_depth_cuts_the_shallower_ones_and_no_deeper_one() -> None:
    shared = trunk(2, 4, 6)
    shared.run(IDS, 6, 10)
    shared.cut(7, 4)
    assert [shared.valid(depth) for depth in (2, 4, 6)] == [7, 7, 10]
    shared.cut(5)
    assert [shared.valid(depth) for depth in (2, 4, 6)] == [5, 5, 5]


def test_a_depth_is_marked_before_the_first_layer_runs() -> None:
    shared = trunk(4)
    shared.run(IDS, 4, 2)
    shared.mark(4)
    with pytest.raises(ValueError, match="not marked before"):
        shared.mark(2)
    for depth in (0, 7):
        with pytest.raises(ValueError, match="outside 1 to 6"):
            trunk(depth)


def test_plain_decoding_is_bit_for_bit_the_decoders_own_forward() -> None:
    shared, decoder = trunk(2, 6), tiny(layers=6)
    cache = decoder.new_cache(64)
    for lo, hi in ((0, 5), (5, 6), (6, 10), (10, 12)):
        shared.run(IDS, 2, hi)
        shared.run(IDS, 6, hi)
        with torch.inference_mode():
            got = decoder.head(shared.hidden(6, lo, hi))
        assert torch.equal(got, decoder.forward(Pass(IDS[lo:hi], lo, hi - lo), cache))


@first_always("kind", ["qwen3", "llama", "mistral", "qwen2"])
def test_fuzzed_accepts_and_rejects_leave_the_states_of_one_pass(kind: str) -> None:
    rng, depths = random.Random(kind), (2, 3, 6)
    decoder = tiny(kind, layers=6)
    shared, context = Trunk(decoder, 64), [rng.randrange(61)]
    for depth in depths:
        shared.mark(depth)
    for step in range(120):
        depth = rng.choice(depths)
        context += [rng.randrange(61) for _ in range(min(rng.randrange(1, 4), 60 - len(context)))]
        shared.run(context, depth, len(context) - rng.randrange(2))
        if rng.random() < 0.6 or len(context) > 50:
            del context[rng.randrange(1, len(context) + 1) :]
            shared.cut(len(context))
        if step % 10 == 0:
            for at in (at for at in depths if shared.valid(at)):
                true = from_scratch(decoder, context, at)[: shared.valid(at)]
                assert torch.allclose(shared.hidden(at, 0, shared.valid(at)), true, rtol=1e-4, atol=1e-5)
    assert shared._cache is not None
    fresh = decoder.new_cache(64)
    with torch.inference_mode():
        shared.run(context, 6, len(context))
        decoder.forward_layers(Pass(context), fresh, 0, 6)
    for mine, true in ((shared._cache.keys, fresh.keys), (shared._cache.values, fresh.values)):
        assert torch.allclose(mine[..., : len(context), :], true[..., : len(context), :], rtol=1e-4, atol=1e-5)


def test_levels_over_one_model_share_a_trunk_and_others_do_not() -> None:
    stacks = LeanStacks(layers=6, drafts={"fed": RandomDraft(tiny(layers=6), fed=True)})

    def who(text: str) -> tuple[int | None, ...]:
        return shares([entry.level for entry in stacks.stack(text)])

    assert who("exit:2@at=2,exit:4@at=4,target") == (2, 2, 2)
    assert who("ngram:2,int8:4,target") == (None, None, None)
    assert who("exit:2@at=2@dtype=int8,int8:4,target") == (1, 1, None)
    assert who("exit:2@at=2@dtype=int8,exit:2@at=4,int8:4,target") == (2, 3, 2, 3)
    assert who("nano:2@id=fed,int8:4,target") == (1, 1, None)
    assert who("nano:2@id=fed,exit:4@at=4,target") == (2, 2, 2)
    # a draft as expensive as its verifier pays for itself
    assert who("int8:4,target@dtype=int8") == (None, None)
    assert who("exit:2@at=2,target@dtype=int8") == (1, 1)
    assert who("exit:2@at=2@dtype=float32,target@dtype=int8") == (None, None)


def test_depths_that_a_drafter_is_fed_by_take_no_trunk_from_an_exit_below_it() -> None:
    shared, target = SharedState(64), tiny(layers=6)
    top = shared.trunk(target, 6, features=True)
    assert shared.features((1, 3, 6)) == (top,)
    assert shared.trunk(target, 4) is top, "nobody reads the model before it"
    assert shared.trunk(target, 1) is top, "where a drafter is fed, an exit may read too"
    assert shared.trunk(target, 3) is not top, "deeper than the exit above it"
    assert top.run(IDS, 6, 5) == (Span(0, 6, 5),)
    for depth in (1, 3, 4, 6):
        assert torch.allclose(top.hidden(depth, 0, 5), from_scratch(target, IDS[:5], depth), atol=1e-5)


def test_the_header_says_who_shares() -> None:
    stack = LeanStacks(layers=6).stack("exit:2@at=2,target")
    header = next(iter(hsd_core.run(stack, [1], GREEDY, 0, max_new_tokens=2)))
    assert isinstance(header, Header)
    assert [(level.layers, level.shares) for level in header.levels] == [(2, 1), (6, 1)]
    assert header.levels[0].params == {"at": 2, "readout": "lens", "layers": 0}


def test_a_drafter_that_reads_features_needs_a_full_pass_above() -> None:
    with pytest.raises(ValueError, match="put int8, int4 or target above"):
        SharedState(8).features()


def test_the_prompt_goes_through_each_layer_once() -> None:
    stacks, ran = LeanStacks(layers=6), []
    entries = stacks.stack("exit:2@at=2,exit:4@at=4,target")
    real = stacks.target.forward_layers

    def spy(given: Pass, cache: Any, lo: int, hi: int, *more: Any) -> torch.Tensor:
        ran.append((lo, hi, len(given.ids)))
        return real(given, cache, lo, hi, *more)

    stacks.target.forward_layers = spy  # type: ignore[method-assign]
    events = hsd_core.run(entries, IDS, GREEDY, 0, max_new_tokens=4)
    for event in events:
        if event.event == "draft":
            break
    assert ran[:3] == [(0, 2, 11), (2, 4, 11), (4, 6, 11)]
    assert ran[3] == (0, 2, 1)


STACKS = [
    "exit:2@at=2,exit:4@at=4,target",
    "exit:2@at=2@policy=flush,exit:4@at=4@policy=flush,target",
    "exit:3@at=2@policy=confidence@theta=0.3,exit:4@at=4@policy=confidence@theta=0.3,target",
    "exit:2@at=2@bonus=0,exit:4@at=4@bonus=0,target@bonus=0",
    "exit:3@at=2@bonus=0,exit:5@at=4,target@bonus=0@rule=block",
    "exit:4@at=5,target",
    "ngram:3,exit:4@at=3,target",
    "exit:2@at=2@dtype=int8,int8:4,target",
    "exit:2@at=2@id=own,exit:4@at=4@id=own,target@bonus=0",
    "nano:2@id=own,exit:3@at=3,target",
    "nano:3@id=fed,target",
    "nano:2@id=fed,exit:4@at=3@policy=flush,target",
    "nano:2@id=fed,int8:4@bonus=0,target",
    "ngram:2,nano:4@id=fed,target",
    "int8:3,target@dtype=int8",
]


def drafts() -> dict[str, RandomDraft]:
    target = tiny(layers=6)
    return {"own": RandomDraft(target, layers=2), "fed": RandomDraft(target, fed=True, layers=1, seed=1)}


@pytest.mark.parametrize(
    "kind", ["qwen3", *(pytest.param(one, marks=pytest.mark.everything) for one in ("llama", "mistral", "qwen2"))]
)
def test_greedy_stacks_repeat_plain_decoding(kind: str) -> None:
    stacks = LeanStacks(kind, layers=6, drafts=drafts())
    for text in STACKS if kind == "llama" else STACKS[::3]:
        plain = stacks.stack("target@dtype=int8" if "target@dtype=int8" in text else "target")
        for prompt in ([1], IDS)[: 2 if kind == "llama" else 1]:
            outputs = [
                output_of(list(hsd_core.run(stack, prompt, GREEDY, 0, max_new_tokens=18, heads=0)))
                for stack in (stacks.stack(text), plain)
            ]
            assert outputs[0] == outputs[1], text


@pytest.mark.covering("text")
@pytest.mark.parametrize("text", STACKS)
@pytest.mark.parametrize("seed", range(6))
def test_fuzzed_runs_keep_caches_and_tape_in_step(text: str, seed: int) -> None:
    rng = random.Random(f"{text} {seed}")
    stack = LeanStacks(layers=6, drafts=drafts()).stack(text)
    ends = frozenset({rng.randrange(61)}) if rng.random() < 0.5 else frozenset()
    sampling = rng.choice((GREEDY, SAMPLED, Sampling(0.3), Sampling(0.5, top_p=0.7)))
    prompt = [rng.randrange(61) for _ in range(rng.randint(1, 9))]
    events = list(hsd_core.run(stack, prompt, sampling, seed, max_new_tokens=40, heads=0, ends=ends))
    cacheless = frozenset(i for i, entry in enumerate(stack) if not entry.level.has_cache)
    assert audit(events, cacheless=cacheless, ends=ends).done
    assert check(events) == []
