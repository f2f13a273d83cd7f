"""CALM: where a token leaves, what the layers above it get, the law of its text, and its exact end."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from enumerator import SAMPLED, Distribution, distance, run_distribution
from lean_stacks import model_distribution
from tiny import tiny, tiny_compiled
from toys import LookupLevel, lookup, output_of

import hsd_core
from hsd_core.core.level import StackEntry
from hsd_core.grammar.keys import DTYPE
from hsd_core.grammar.stack_text import StackError, parse, plain_target
from hsd_core.levels.model_level import ModelLevel
from hsd_core.models.one_pass import Pass
from hsd_core.models.sampling import Sampling, softmax
from hsd_core.systems.calm.calm_level import CalmLevel, Leaving
from hsd_core.systems.calm.notes import Left
from hsd_core.systems.price.price_reading import read_price
from hsd_core.trace.checks import check

CLOSE = 1e-5  # the model computes in float32
PROMPT = [1, 0]


def calm(decoder: Any, sure: float, depths: tuple[int, ...] = (1, 3), **more: Any) -> list[StackEntry]:
    (spec,) = parse("calm@at=1-3")
    return [StackEntry(CalmLevel(decoder, Leaving(depths, sure, **more)), spec, None)]


def known_law(decoder: Any, sure: float, depths: tuple[int, ...], tokens: int) -> Distribution:
    """Written down once more, without `fill`: the layers above an exit are run on its state, and only their keys and
    values are kept."""

    def row(prefix: list[int]) -> list[float]:
        cache = decoder.new_cache(len(prefix))
        if len(PROMPT) > 1:
            decoder.forward_layers(Pass(PROMPT[:-1]), cache, 0, decoder.layers)
        for at in range(len(PROMPT) - 1, len(prefix)):
            given, x = Pass([prefix[at]], at), decoder.embed([prefix[at]])
            for layer in range(decoder.layers):
                x = decoder.forward_layers(given, cache, layer, layer + 1, x)
                best = softmax(decoder.head(x))[0].topk(2).values.tolist()
                if layer + 1 in depths and best[0] - best[1] > sure:
                    break
            for above in range(layer + 1, decoder.layers):
                decoder.forward_layers(given, cache, above, above + 1, x)
        return softmax(decoder.head(x))[0].tolist()

    found: Distribution = {(): 1.0}
    for _ in range(tokens):
        each = [(output, mass, row([*PROMPT, *output])) for output, mass in found.items()]
        found = {(*output, i): mass * chance for output, mass, chances in each for i, chance in enumerate(chances)}
    return found


@torch.inference_mode()
def test_its_text_follows_the_law_that_is_known() -> None:
    model = tiny(vocab=3, layers=5, seed=5)
    found = run_distribution(calm(model, 0.3), PROMPT, 3)
    assert distance(found, known_law(model, 0.3, (1, 3), 3)) < CLOSE
    assert distance(found, model_distribution(model, PROMPT, 3)) > 0.01, "and that is not the model's"


def test_drafts_below_it_leave_its_law_alone() -> None:
    model, (spec, target) = tiny(vocab=3, layers=5, seed=5), parse("ngram:2,calm@at=1-3")
    below = StackEntry(LookupLevel(lookup(3, 5), 3), spec, spec.block)
    stack = [below, StackEntry(calm(model, 0.3)[0].level, target, None)]
    assert distance(run_distribution(stack, PROMPT, 3), run_distribution(calm(model, 0.3), PROMPT, 3)) < CLOSE


@pytest.mark.parametrize("states", [False, True])
def test_never_sure_is_plain_decoding(states: bool) -> None:
    model = tiny(vocab=3, layers=5, seed=5)
    found = run_distribution(calm(model, 1.0, states=states), PROMPT, 2)
    assert distance(found, model_distribution(model, PROMPT, 2)) < CLOSE


@torch.inference_mode()
@pytest.mark.parametrize("made", [tiny, tiny_compiled])
def test_layers_above_get_keys_and_values_of_the_state_that_left(made: Any) -> None:
    model = made(layers=4)
    run, copied = model.new_cache(4), model.new_cache(4)
    given = Pass([7, 3], 0)
    x = model.forward_layers(given, run, 0, 2)
    model.forward_layers(given, copied, 0, 2)
    model.fill(given, copied, 2, x)
    assert copied.length == 2
    for layer in (2, 3):
        model.forward_layers(given, run, layer, layer + 1, x)
    for one, other in ((run.keys, copied.keys), (run.values, copied.values)):
        assert torch.allclose(one[:, :, :, :2], other[:, :, :, :2], atol=CLOSE)


def test_the_trace_says_where_each_token_left() -> None:
    model = tiny(layers=5)

    def ran(sure: float, **more: Any) -> list[Any]:
        return list(
            hsd_core.run(calm(model, sure, **more), [5, 50, 3, 17], Sampling(0.0), 3, max_new_tokens=12, heads=0)
        )

    events = ran(0.02)
    assert check(events) == []
    left = [Left.of(e) for e in events if e.event == "verify"]
    depths = [at for note in left if note for at in note.at]
    assert len(depths) == 12 and len({*depths}) > 1 and {*depths} <= {1, 3, 5}
    assert output_of(ran(1.0)) == output_of(ran(1.0, states=True)) != output_of(events)


def test_a_drawn_text_costs_what_an_exact_rule_would_have_rejected() -> None:
    model = tiny(layers=5)
    target = StackEntry(ModelLevel(model, name="target", kind="target", label="target"), parse("target")[0], None)

    def lost(sure: float) -> float:
        events = list(hsd_core.run(calm(model, sure), [5, 50, 3, 17], SAMPLED, 3, max_new_tokens=12))
        return read_price(target, events, (), stop=lambda: False).spared

    assert lost(1.0) == pytest.approx(0.0, abs=1e-3) and lost(0.02) > 0.5


def test_the_threshold_falls_to_nine_tenths() -> None:
    assert Leaving((1,), 0.9).threshold(0.7) == pytest.approx(0.9)
    falling = Leaving((1,), 0.9, 4.0)
    assert falling.threshold(0.0) == pytest.approx(0.9) and falling.threshold(1.0) == pytest.approx(0.811, abs=1e-3)


def test_it_says_what_it_is_not() -> None:
    assert not hsd_core.stack_lossless(parse("calm@at=4-8"), SAMPLED)
    assert hsd_core.stack_lossless(parse("calm@at=4-8@sure=1"), SAMPLED)
    (plain,) = (plain_target(parse("ngram:4,calm@at=4-8@dtype=int8")[-1]),)
    assert (plain.name, plain.get(DTYPE)) == ("target", "int8")
    with pytest.raises(ValueError, match="not within layers 1 to 4"):
        CalmLevel(tiny(layers=5), Leaving((5,), 0.9))
    with pytest.raises(StackError, match="must be the last one"):
        parse("calm@at=4,target")
