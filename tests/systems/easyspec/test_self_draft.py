"""The self-draft: attentions of a group read one input, truth replaces what is fuzzy, and nothing stale is left."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch
from cases import first_always
from enumerator import SAMPLED, distance, run_distribution
from fuzzy_drafts import IDS, LAYERS, SIZES, behind, by_hand, greedy_and_sampled, over_a_tree
from lean_stacks import LeanStacks, drafted_stacks, model_distribution
from tiny import tiny, tiny_compiled

import hsd_core
from hsd_core.core import events as trace
from hsd_core.core.level import CommittedIds, score_ids
from hsd_core.core.tree import named
from hsd_core.grammar.key import StackError
from hsd_core.grammar.stack_text import level_of
from hsd_core.levels.model_level import ModelLevel
from hsd_core.levels.self_draft import CalibratedRun, FuzzyRun, SelfLevel
from hsd_core.levels.shared import SharedState, shares
from hsd_core.models.context import Context
from hsd_core.models.lean.sublayers import groups
from hsd_core.models.one_pass import Pass
from hsd_core.models.sampling import Sampling
from hsd_core.systems.easyspec import declaration
from hsd_core.systems.easyspec import study as grouped

DECODER = tiny(layers=LAYERS)


def test_the_first_and_the_last_layer_stand_alone() -> None:
    assert groups(0, 6, 6, 2) == [range(1), range(1, 3), range(3, 5), range(5, 6)]
    assert groups(0, 6, 6, 3) == [range(1), range(1, 4), range(4, 5), range(5, 6)]
    assert groups(0, 6, 6, 1) == [range(i, i + 1) for i in range(6)]
    assert groups(0, 6, 6, 8) == [range(1), range(1, 5), range(5, 6)]
    assert (groups(0, 1, 1, 2), groups(0, 2, 2, 2)) == ([range(1)], [range(1), range(1, 2)])
    assert [*groups(0, 2, 6, 1), *groups(2, 6, 6, 1)] == groups(0, 6, 6, 1)


def fuzzy(decoder: Any, context: list[int], true: int, together: int) -> torch.Tensor:
    return behind(decoder, context, true, lambda cache: decoder.in_groups(cache, together))


@pytest.mark.parametrize("together", [1, 2, 3, 4])
def test_attentions_of_a_group_read_one_input(together: int) -> None:
    expected = by_hand(DECODER, IDS, groups(0, LAYERS, LAYERS, together))
    assert torch.allclose(fuzzy(DECODER, IDS, 0, together), expected, atol=1e-4)


@pytest.mark.parametrize("make", [tiny, tiny_compiled])
def test_one_attention_at_a_time_is_the_model_itself_bit_for_bit(make) -> None:
    decoder = make(layers=LAYERS)
    whole = decoder.forward(Pass(IDS, 0, len(IDS)), decoder.new_cache(len(IDS)))
    assert torch.equal(fuzzy(decoder, IDS, 0, 1), whole)
    assert not torch.allclose(fuzzy(decoder, IDS, 0, 2), whole, atol=1e-2), "groups differ, or nothing is tested"


@pytest.mark.parametrize("together", [2, 3])
def test_compiled_layers_group_as_the_lean_ones_do(together: int) -> None:
    lean, compiled = tiny(**SIZES), tiny_compiled(**SIZES)
    assert torch.allclose(fuzzy(lean, IDS, 4, together), fuzzy(compiled, IDS, 4, together), atol=1e-3)
    found = [over_a_tree(one, lambda cache, one=one: one.in_groups(cache, together)) for one in (lean, compiled)]
    assert torch.allclose(*found, atol=1e-3)


def test_the_layers_lie_there_a_second_time_for_one_grouping_alone() -> None:
    decoder = tiny_compiled(layers=LAYERS)
    before = decoder.weight_bytes()
    decoder.in_groups(decoder.new_cache(1), 1)
    assert decoder.weight_bytes() == before
    for together in (2, 3, 2):
        decoder.in_groups(decoder.new_cache(1), together)
        assert decoder.weight_bytes() - before == decoder.weight_bytes(LAYERS, head=False)


def opened(*, calibrated: bool = True, filled: bool = True, capacity: int = 64, branches: int = 0):
    shared = SharedState(capacity, branches)
    level = SelfLevel(DECODER, 2, calibrated=calibrated)
    trunk = shared.trunk(DECODER, LAYERS) if filled else None
    return level.open(capacity, shared), trunk


def test_a_level_above_over_the_same_weights_fills_the_trunk_and_others_do_without() -> None:
    run, trunk = opened()
    assert isinstance(run, CalibratedRun) and run._trunk is trunk
    run, _ = opened(filled=False)
    assert isinstance(run, CalibratedRun) and run._trunk.lent
    assert type(opened(calibrated=False)[0]) is FuzzyRun


def test_an_exit_below_has_layers_of_its_own() -> None:
    made = LeanStacks(layers=4)
    levels = [entry.level for entry in made.stack("exit:1@at=2,self:2,target")]
    assert shares(levels) == (None, 2, 2)


@pytest.mark.parametrize("filled", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_fuzzed_rounds_leave_the_rows_of_a_fresh_computation(filled: bool, seed: int) -> None:
    """Drafts of any length, verified or not, kept in part: what stands on truth does, what is fuzzy is the draft's."""
    rng = random.Random(seed)
    run, trunk = opened(filled=filled, capacity=150, branches=8)
    context = [rng.randrange(61) for _ in range(5)]
    for _ in range(12):
        if trunk is not None:
            trunk.run(context, LAYERS, len(context) - 1)
            run.observe(CommittedIds(context))
            assert run.cached == len(context) - 1
        drafted = [rng.randrange(61) for _ in range(rng.randint(1, 4))]
        tree = named(tuple(drafted))
        rows, work = run.score(Context(context), tree)
        assert run.cached == len(context) + len(drafted) and work.rows - work.catch_up == len(drafted) + 1
        true = len(context) - (1 if filled else 0)
        expected = fuzzy(DECODER, context + drafted, true, 2) if filled else None
        if expected is None:  # the row behind the context is one of the layers in their order
            whole = DECODER.forward(Pass(context), DECODER.new_cache(len(context)))
            expected = torch.cat((whole, fuzzy(DECODER, context + drafted, true, 2)))
        assert torch.allclose(rows, expected, atol=1e-4)
        kept = rng.randint(0, len(drafted))
        if trunk is not None:
            trunk.run(context + drafted, LAYERS, len(context) + len(drafted))
        run.keep(len(context), tuple(range(kept)))
        if trunk is not None:
            trunk.keep(len(context), tuple(range(kept)), LAYERS)
        context = [*context, *drafted[:kept], rng.randrange(61)]


def test_a_draft_reads_what_it_wrote_once() -> None:
    run, trunk = opened()
    assert trunk is not None
    trunk.run(IDS, LAYERS, len(IDS) - 1)
    run.observe(CommittedIds(IDS))
    made = score_ids(run, IDS, 1)[1], *(run.score(Context([*IDS, *range(n)]))[1] for n in (1, 2, 3))
    assert [work.rows for work in made] == [1, 1, 1, 1]


def test_without_calibration_everything_stays_fuzzy() -> None:
    run, trunk = opened(calibrated=False)
    assert trunk is not None
    trunk.run(IDS, LAYERS, len(IDS))
    score_ids(run, IDS[:7], 1)
    run.observe(CommittedIds(IDS[:7]))
    run.keep(6, ())
    rows, _ = score_ids(run, IDS, 4)
    assert torch.allclose(rows, fuzzy(DECODER, IDS, 0, 2)[-4:], atol=1e-4)


STACKS = [
    "self:4,target",
    "self:4@parallel=3@calibrate=0,target",
    "self:3@dtype=int8,target",
    "self:2@dtype=int8,int8:4,target",
    "ngram:2,self:4@policy=flush,target",
    "self:3@tree=2.1.1,target",
    "self:4@grow=6@dtype=int8,target",
    "exit:2@at=2,self:3,target",
    "nano:2@id=fed,self:3,target",
    "self:3,target@with=pearl",
    "self:3,target@with=ahead",
    "model:4@parallel=2,target",
    "ngram:2,model:3@parallel=3@policy=flush,target",
    "model:3@parallel=2@tree=2.1.1,target",
    "model:3@parallel=2,target@with=pearl",
]


def a_run(text: str, temperature: float = 0.0, tokens: int = 24) -> list[trace.Event]:
    stack = drafted_stacks(61).stack(text)
    return list(hsd_core.run(stack, IDS, Sampling(temperature), 3, max_new_tokens=tokens))


@pytest.mark.covering("text", kinds=True)
@pytest.mark.parametrize("text", STACKS)
def test_greedy_text_is_plain_decodings_and_the_trace_holds(text: str) -> None:
    for found in greedy_and_sampled(a_run, text):
        drafted = [e for e in found if isinstance(e, trace.Draft) and e.level == 0 and e.work.forwards]
        assert "self" not in text.split(",")[0] or all(sum(s.rows for s in e.work.ran) == e.work.rows for e in drafted)


@first_always("text", ["model:2@parallel=2,target", "ngram:2,model:2@parallel=2,target@rule=block", "self:2,target"])
def test_the_output_follows_the_targets_distribution(text: str) -> None:
    made, prompt = drafted_stacks(3), [1, 0]
    found = run_distribution(made.stack(text), prompt, 3)
    assert distance(found, model_distribution(made.target, prompt, 3, SAMPLED)) < 1e-5


def test_a_smaller_model_reads_the_verified_tokens_once_more_in_order() -> None:
    """Every draft stands on true keys and values of its own model, and one pass a round makes them."""
    made, context = drafted_stacks(61), list(IDS)
    made.model = tiny(layers=LAYERS, seed=4)
    events = list(hsd_core.run(made.stack("model:3@parallel=2,target"), IDS, Sampling(0.0), 3, max_new_tokens=24))
    for event in events:
        if isinstance(event, trace.Draft):
            true, ids = len(context), [*context]
            for drafted in event.ids:
                in_order = Pass(ids, 0, 1), made.model.new_cache(true)
                rows = fuzzy(made.model, ids, true, 2) if len(ids) > true else made.model.forward(*in_order)
                assert int(rows[-1].argmax()) == drafted
                ids.append(drafted)
        elif isinstance(event, trace.Commit):
            context += [token.id for token in event.tokens]
    drafts = [e for e in events if isinstance(e, trace.Draft)]
    assert len(drafts) > 4 and events[0].levels[0].kind == "model" and events[0].levels[0].params["parallel"] == 2
    assert "2 attentions at once" in events[0].levels[0].label


def test_a_smaller_model_groups_its_attentions_where_it_is_asked_to() -> None:
    plain = ModelLevel(DECODER, name="model", kind="model", label="small", feeds=False)
    site: Any = None

    def built(text: str) -> Any:
        return declaration.build_model(level_of(text), site, lambda spec, site: plain)

    assert built("model:2") is plain is built("model:2@parallel=1")
    grouped = built("model:2@parallel=3")
    assert (grouped.together, grouped.calibrated, grouped.about.kind) == (3, True, "model")
    assert grouped.about.label == "small, 3 attentions at once"
    with pytest.raises(StackError, match="leave @vocab= out"):
        built("model:2@parallel=2@vocab=5")
    plain.decoder = object()  # type: ignore[assignment]
    with pytest.raises(StackError, match="leave @parallel= out"):
        built("model:2@parallel=2")


def test_one_attention_at_a_time_is_always_right() -> None:
    events = a_run("self:4@parallel=1,target", tokens=20)
    judged = [c.outcome for e in events if isinstance(e, trace.Verify) for c in e.checks]
    assert judged and set(judged) == {"accepted"}


def test_the_study_counts_what_drafts_of_every_length_choose() -> None:
    prompt = 4
    ids = IDS * 2
    found = {(r["calibrated"], r["place"]): r for r in grouped.read(DECODER, [(ids, prompt)], [2])}
    with torch.inference_mode():
        whole = DECODER.forward(Pass(ids, 0, len(ids)), DECODER.new_cache(len(ids))).argmax(-1)
    rows = fuzzy(DECODER, ids, 0, 2).argmax(-1)
    never = (rows == whole)[prompt - 1 : -1]
    assert (found["never", 0]["agree"], found["never", 0]["tokens"]) == (
        pytest.approx(float(never.float().mean()), abs=1e-5),
        len(ids) - prompt,
    )
    behind = fuzzy(DECODER, ids, prompt - 1, 2).argmax(-1)
    assert found["prompt", 0]["agree"] == pytest.approx(
        float((behind == whole[prompt - 1 :])[:-1].float().mean()), abs=1e-5
    )
    starts = range(prompt - 1, len(ids) - 1, grouped.EVERY)
    first = [fuzzy(DECODER, ids[: at + 1], at, 2)[0].argmax() == whole[at] for at in starts]
    assert found["verified", 1]["tokens"] == len(first)
    assert found["verified", 1]["agree"] == pytest.approx(sum(map(float, first)) / len(first), abs=1e-5)
    for r in grouped.read(DECODER, [(ids, prompt)], [1]):
        assert r["agree"] == 1.0, "the layers in their order are the model"
    assert grouped.agreement([*found.values()]).count("\n") == 4
