"""EAD: two models in turn. The law of their text is known: that of a chain whose router is the entropies so far."""

from __future__ import annotations

from math import log2
from typing import Any

import pytest
from enumerator import SAMPLED, Distribution, distance, run_distribution
from lean_stacks import model_distribution
from tiny import tiny
from toys import LookupLevel, lookup, output_of

import hsd_core
from hsd_core.core.level import StackEntry
from hsd_core.grammar.stack_text import parse, plain_target
from hsd_core.levels.model_level import ModelLevel
from hsd_core.models.one_pass import Pass
from hsd_core.models.sampling import Sampling, softmax
from hsd_core.systems.exits.exit_level import ExitLevel
from hsd_core.systems.turns.notes import Turns
from hsd_core.systems.turns.turns_level import Turning, TurnsLevel
from hsd_core.trace.checks import check

CLOSE, PROMPT = 1e-5, [1, 0]


def models(vocab: int = 3) -> tuple[Any, Any]:
    return tiny(vocab=vocab, layers=2, seed=3), tiny(vocab=vocab, layers=4, seed=5)


def turns(small: Any, large: Any, turning: Turning) -> list[StackEntry]:
    def level(decoder: Any) -> Any:
        return ModelLevel(decoder, name="model", kind="model", label="model", feeds=False)

    (spec,) = parse("turns")
    writer = level(small) if small is not large else ExitLevel(large, 1)
    return [StackEntry(TurnsLevel(large, writer, level(large), turning), spec, None)]


def row_of(decoder: Any, ids: list[int], depth: int | None = None) -> list[float]:
    x = decoder.forward_layers(Pass(ids), decoder.new_cache(len(ids)), 0, depth or decoder.layers)
    return softmax(decoder.head(x[-1:]))[0].tolist()


def known_law(small: Any, large: Any, turning: Turning, tokens: int) -> Distribution:
    """Every row from scratch, and a router that is written down once more."""
    found = Distribution()

    def said(output: tuple[int, ...], mass: float, who: str, since: int, bits: tuple[float, ...]) -> None:
        if len(output) == tokens:
            found[output] = found.get(output, 0.0) + mass
            return
        last = bits[-turning.window :]
        wanted = "large" if (sum(last) / len(last) if last else 0.0) >= turning.tau else "small"
        if who and wanted != who and since >= turning.stay:
            who, since = wanted, 0
        if not who:
            who, since = wanted, turning.stay
        small_depth = 1 if small is large else None
        ids = [*PROMPT, *output]
        row = row_of(large, ids) if who == "large" else row_of(small, ids, small_depth)
        entropy = -sum(p * log2(p) for p in row if p)
        for token, chance in enumerate(row):
            said((*output, token), mass * chance, who, since + 1, (*bits, entropy))

    said((), 1.0, "", 0, ())
    return found


@pytest.mark.parametrize(("exit_", "tau"), [pytest.param(False, 0.3, marks=pytest.mark.everything), (True, 0.8)])
def test_its_text_follows_the_law_that_is_known(exit_: bool, tau: float) -> None:
    small, large = models()
    small = large if exit_ else small
    turning = Turning(tau, window=2, stay=2)
    found, law = run_distribution(turns(small, large, turning), PROMPT, 4), known_law(small, large, turning, 4)
    assert distance(found, law) < CLOSE
    assert min(distance(found, model_distribution(one, PROMPT, 4)) for one in models()) > 0.01, "it is neither's"


def test_at_its_ends_it_is_one_of_the_models() -> None:
    small, large = models()
    assert (
        distance(run_distribution(turns(small, large, Turning(0.0)), PROMPT, 3), model_distribution(large, PROMPT, 3))
        < CLOSE
    )
    assert (
        distance(run_distribution(turns(small, large, Turning(20.0)), PROMPT, 3), model_distribution(small, PROMPT, 3))
        < CLOSE
    )


@pytest.mark.everything
def test_drafts_below_it_leave_its_law_alone() -> None:
    (spec, target), turning = parse("ngram:2,turns"), Turning(0.3, window=2, stay=2)
    alone = turns(*models(), turning)
    stack = [StackEntry(LookupLevel(lookup(3, 5), 3), spec, spec.block), StackEntry(alone[0].level, target, None)]
    assert distance(run_distribution(stack, PROMPT, 3), run_distribution(alone, PROMPT, 3)) < CLOSE


def test_who_takes_over_reads_what_it_missed_in_one_pass() -> None:
    stack = turns(*models(61), Turning(2.3, window=3, stay=4))
    events = list(hsd_core.run(stack, [5, 50, 3, 17], Sampling(1.0), 3, max_new_tokens=40, heads=0))
    assert check(events) == [] and len(output_of(events)) == 40
    rounds = [(note, e.work) for e in events if e.event == "verify" and (note := Turns.of(e))]
    who = [note.large[0] for note, _ in rounds]
    assert {*who} == {0, 1}
    for (note, work), before in zip(rounds[1:], who, strict=False):
        assert (work.rows > 1) == (note.large[0] != before) and work.catch_up == work.rows - 1
    stretches = "".join(map(str, who)).replace("01", "0 1").replace("10", "1 0").split()
    assert all(len(part) >= 4 for part in stretches[1:-1]), "a writer stays"


def test_it_says_what_it_is_not() -> None:
    assert not hsd_core.stack_lossless(parse("turns"), SAMPLED)
    assert hsd_core.stack_lossless(parse("turns@bits=0"), SAMPLED)
    assert plain_target(parse("turns@at=8")[-1]) == parse("target")[0]
