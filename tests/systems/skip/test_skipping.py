"""A draft without some sublayers: they are the identity, truth replaces what it wrote, and sets belong to weights."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import torch
from enumerator import distance, run_distribution
from fuzzy_drafts import IDS, LAYERS, SIZES, behind, by_hand, greedy_and_sampled, over_a_tree
from lean_stacks import LeanStacks, model_distribution
from tiny import tiny, tiny_compiled
from toys import changed

import hsd_core
from hsd_core.core import events as trace
from hsd_core.core.level import CommittedIds
from hsd_core.core.tree import named
from hsd_core.grammar.stack_names import stack_name
from hsd_core.levels.self_draft import CalibratedRun, SkipLevel
from hsd_core.levels.shared import SharedState
from hsd_core.models.context import Context
from hsd_core.models.drafts.draft_file import fingerprint
from hsd_core.models.lean.sublayers import ATTENTION, MLP, NONE, Sublayers
from hsd_core.models.one_pass import Pass
from hsd_core.models.sampling import Sampling
from hsd_core.systems.skip.sublayer_sets import SetError, find_set, read_set, shipped_sets

OUT = Sublayers.of([(ATTENTION, 1), (ATTENTION, 3), (MLP, 3), (MLP, 4), (ATTENTION, 5)])
EXACT = 1e-5


def without(decoder, context: list[int], true: int, out: Sublayers) -> torch.Tensor:
    """(len(context) - true, V): the first positions by all layers, the others without those left out."""
    return behind(decoder, context, true, lambda cache: decoder.leaving_out(cache, out))


def test_what_is_left_out_is_the_identity() -> None:
    decoder = tiny(layers=LAYERS)
    expected = by_hand(decoder, IDS, [[i] for i in range(LAYERS)], OUT.attention, OUT.mlp)
    assert torch.allclose(without(decoder, IDS, 0, OUT), expected, atol=1e-4)


@pytest.mark.parametrize("make", [tiny, tiny_compiled])
def test_the_empty_set_is_the_target_bit_for_bit(make) -> None:
    decoder = make(layers=LAYERS)
    whole = decoder.forward(Pass(IDS, 0, len(IDS)), decoder.new_cache(len(IDS)))
    assert torch.equal(without(decoder, IDS, 0, NONE), whole)
    assert not torch.allclose(without(decoder, IDS, 0, OUT), whole, atol=1e-2), "or nothing is tested"


def test_the_compiled_layers_leave_out_what_the_lean_ones_do() -> None:
    lean, compiled = tiny(**SIZES), tiny_compiled(**SIZES)
    all_of_one = Sublayers.of([(kind, 2) for kind in (ATTENTION, MLP)] + [(ATTENTION, i) for i in range(LAYERS)])
    for out in (OUT, all_of_one):
        assert torch.allclose(without(lean, IDS, 4, out), without(compiled, IDS, 4, out), atol=1e-3)
    found = [over_a_tree(one, lambda cache, one=one: one.leaving_out(cache, OUT)) for one in (lean, compiled)]
    assert torch.allclose(*found, atol=1e-3)


def test_the_layers_lie_there_a_second_time_for_one_set_alone() -> None:
    decoder = tiny_compiled(layers=LAYERS)
    before = decoder.weight_bytes()
    decoder.leaving_out(decoder.new_cache(1), NONE)
    assert decoder.weight_bytes() == before
    for out in (OUT, Sublayers.of([(MLP, 0)]), OUT):
        decoder.leaving_out(decoder.new_cache(1), out)
        again = decoder.weight_bytes() - before
        assert 0 < again < decoder.weight_bytes(LAYERS, head=False), "what is left out is not laid out"


@pytest.mark.parametrize("filled", [True, False])
@pytest.mark.parametrize("make", [tiny, tiny_compiled])
def test_fuzzed_rounds_leave_the_rows_of_a_fresh_computation(make, filled: bool) -> None:
    rng, decoder = random.Random(3), make(layers=LAYERS)
    shared = SharedState(150)
    trunk = shared.trunk(decoder, LAYERS) if filled else None
    run = SkipLevel(decoder, OUT).open(150, shared)
    assert isinstance(run, CalibratedRun)
    context = [rng.randrange(61) for _ in range(5)]
    for _ in range(10):
        if trunk is not None:
            trunk.run(context, LAYERS, len(context) - 1)
            run.observe(CommittedIds(context))
        drafted = [rng.randrange(61) for _ in range(rng.randint(1, 4))]
        rows, _ = run.score(Context(context), named(tuple(drafted)))
        if filled:
            expected = without(decoder, context + drafted, len(context) - 1, OUT)
        else:  # the row behind the context is the model's own
            whole = decoder.forward(Pass(context), decoder.new_cache(len(context)))
            expected = torch.cat((whole, without(decoder, context + drafted, len(context), OUT)))
        assert torch.allclose(rows, expected, atol=1e-3)
        kept = rng.randint(0, len(drafted))
        if trunk is not None:
            trunk.run(context + drafted, LAYERS, len(context) + len(drafted))
        run.keep(len(context), tuple(range(kept)))
        if trunk is not None:
            trunk.keep(len(context), tuple(range(kept)), LAYERS)
        context = [*context, *drafted[:kept], rng.randrange(61)]


STACKS = [
    "skip:4@set=a.1-m.2,target",
    "skip:4@set=a.1-m.2@policy=adaptive,target@bonus=0",
    "skip:2@set=m.2@dtype=int8,int8:4,target",
    "ngram:2,skip:4@set=a.1@policy=flush,target@rule=block",
    "skip:3@set=a.1@tree=2.1.1,target",
    "exit:2@at=2,skip:3@set=a.3,target",
    "skip:3@set=a.1-a.2,target@with=pearl",
]


def a_run(text: str, temperature: float = 0.0, tokens: int = 24) -> list[trace.Event]:
    stack = LeanStacks(layers=4).stack(text)
    return list(hsd_core.run(stack, IDS, Sampling(temperature), 3, max_new_tokens=tokens))


@pytest.mark.covering("text", kinds=True)
@pytest.mark.parametrize("text", STACKS)
def test_greedy_text_is_plain_decodings_and_the_trace_holds(text: str) -> None:
    greedy_and_sampled(a_run, text)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_with_nothing_left_out_everything_is_accepted(temperature: float) -> None:
    events = a_run("skip:4@set=none,target", temperature)
    outcomes = [c.outcome for e in events if isinstance(e, trace.Verify) for c in e.checks]
    assert outcomes and set(outcomes) == {"accepted"}


@pytest.mark.covering("text", kinds=True)
@pytest.mark.parametrize(
    ("text", "tokens", "vocab"),
    [
        ("skip:2@set=a.1-m.2,target", 3, 2),
        ("skip:2@set=m.1,target@rule=block", 3, 2),
        ("skip:2@set=a.0@policy=adaptive,target@bonus=0", 3, 2),
        ("skip:1@set=a.1@dtype=int8,int8:2@policy=flush,target", 3, 2),
        ("ngram:1,skip:2@set=a.1-a.2-m.3,target", 3, 2),
    ],
)
def test_its_law_is_the_targets(text: str, tokens: int, vocab: int) -> None:
    made, prompt = LeanStacks(layers=4, vocab=vocab, seed=5), [1, 0]
    found = run_distribution(made.stack(text), prompt, tokens)
    assert distance(found, model_distribution(made.target, prompt, tokens)) < EXACT


def test_rows_that_are_not_those_drawn_from_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the whole model's rows went up with tokens that the draft drew."""
    made, prompt = LeanStacks(layers=4, vocab=2, seed=5), [1, 0]
    real = CalibratedRun.propose

    def boastful(self, context, order):
        proposal = real(self, context, order)
        ids = [*context, *proposal.ids[:-1]]
        rows = order.sampler.to_probs(
            made.target.forward(Pass(ids, 0, len(proposal.ids)), made.target.new_cache(len(ids)))
        )
        return changed(proposal, rows=rows)

    monkeypatch.setattr(CalibratedRun, "propose", boastful)
    found = run_distribution(made.stack("skip:2@set=a.1-m.2,target"), prompt, 3)
    assert distance(found, model_distribution(made.target, prompt, 3)) > 1e-3


def test_layers_that_are_not_there_are_refused() -> None:
    with pytest.raises(ValueError, match="layer 6 is none of the model's 6"):
        SkipLevel(tiny(layers=LAYERS), Sublayers.of([(MLP, 6)]))


def test_it_has_a_name_in_words() -> None:
    assert stack_name("skip:8@set=none,target") == "The model with layers left out, then the model"


# ---- files of sets

GOOD = {
    "format": "hsd-sublayers/1",
    "preset": "smollm2",
    "target": "SmolLM2",
    "fingerprint": "0" * 16,
    "layers": 6,
    "attention": [3, 1],
    "mlp": [],
}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"format": "other"}, "of format 'other'"),
        ({"attention": [6]}, "leaves out layer 6 of 6"),
        ({"mlp": [-1]}, "is no set of sublayers"),
        ({"layers": "six"}, "is no set of sublayers"),
    ],
)
def test_a_file_that_is_no_set_is_refused_with_the_command_for_one(tmp_path: Path, change: dict, why: str) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(GOOD), "utf-8")
    assert (read_set(path).attention, read_set(path).count) == ((1, 3), 2)
    path.write_text(json.dumps({**GOOD, **change}), "utf-8")
    with pytest.raises(SetError, match=rf"{why}.*python -m hsd_core sets"):
        read_set(path)
    path.write_bytes(b"\xff{")
    with pytest.raises(SetError, match="no set of sublayers"):
        read_set(path)
    with pytest.raises(SetError, match="cannot be read"):
        read_set(tmp_path / "absent.json")


def test_sets_are_found_by_name_or_by_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(GOOD), "utf-8")
    assert find_set("none", "smollm2") is None
    assert find_set(str(path), "smollm2", path).name == "mine"
    with pytest.raises(SetError, match=r"no set 'other' for preset smollm2; there are .*none; search one"):
        find_set("other", "smollm2")
    assert [one.count for one in shipped_sets("smollm2")] == sorted(one.count for one in shipped_sets("smollm2"))
    assert shipped_sets("no-such") == []


def test_weights_are_named_by_their_last_norm() -> None:
    assert fingerprint(tiny(layers=2)) != fingerprint(tiny(layers=2, seed=1))
