"""A climb through exits: which one drafts, what is deferred, what the trace says of it, and what is refused."""

from __future__ import annotations

import notes_of
import pytest
from lean_stacks import LeanStacks, RandomDraft
from ledger import audit
from toys import output_of

import hsd_core
from hsd_core.core import events as trace
from hsd_core.grammar.keys import AT, THETA
from hsd_core.grammar.stack_names import stack_name, stack_names
from hsd_core.grammar.stack_text import StackError, bare, format_stack, parse
from hsd_core.levels.readout import Lens
from hsd_core.models.sampling import Sampling
from hsd_core.systems.exits.climb import ClimbLevel
from hsd_core.systems.exits.exit_level import ExitLevel
from hsd_core.trace.checks import check

GREEDY, SAMPLED = Sampling(0.0), Sampling(1.0)
PROMPT = [5, 50, 3, 17]


def stacks(*, trained: bool = False, **more) -> LeanStacks:
    made = LeanStacks(layers=6, **more)
    if trained:
        made.drafts = {f"at{at}": RandomDraft(made.target, seed=at) for at in (2, 4)}
    return made


def ran(made: LeanStacks, text: str, sampling: Sampling = GREEDY, tokens: int = 24) -> list[trace.Event]:
    return list(hsd_core.run(made.stack(text), PROMPT, sampling, 3, max_new_tokens=tokens))


STACKS = [
    "climb:4@at=2-4@theta=0.1,target",
    "climb:4@at=2-4@theta=0.3,target@bonus=0",
    "climb:3@at=1-2-3@theta=0.2,exit:5@at=5,target",
    "climb:3@at=2-4@theta=0.2,exit:4@at=5@bonus=0,target@bonus=0",
    "climb:3@at=2-4@theta=0.2@dtype=int8,int8:4@policy=flush,target",
    "climb:4@at=2-4@theta=0.2,target@rule=block",
    "climb:4@at=3,target",
    "climb:4@at=2-4@theta=0.2,target@with=pearl",
]


@pytest.mark.covering("text", "trained", kinds=True)
@pytest.mark.parametrize("trained", [True, False])
@pytest.mark.parametrize("text", STACKS)
def test_greedy_text_is_plain_decodings_and_the_trace_holds(text: str, trained: bool) -> None:
    made = stacks(trained=trained)
    events = ran(made, text)
    assert output_of(events) == output_of(ran(made, "target"))
    for found in (events, ran(made, text, SAMPLED)):
        assert check(found) == []
        if "@with=" not in text:
            assert audit(found, cacheless=frozenset(), ends=frozenset()).done


def test_always_sure_is_the_first_exit_and_never_sure_is_the_target() -> None:
    made = stacks()
    for sampling in (GREEDY, SAMPLED):
        climbed, one = (
            [e.ids for e in ran(made, text, sampling) if e.event == "draft"]
            for text in ("climb:3@at=2-4@theta=0,target", "exit:3@at=2,target")
        )
        assert climbed == one and any(climbed)
    assert not any(e.ids for e in ran(made, "climb:3@at=2-4@theta=1,target") if e.event == "draft")


def test_what_is_deferred_is_run_once_in_one_pass() -> None:
    """Every layer sees every position once, whoever asked for it first."""
    events = ran(stacks(), "climb:4@at=2-4@theta=0.3,target", tokens=60)
    drafts = [e for e in events if e.event == "draft"]
    assert {source for e in drafts for source in e.sources} == {"layer 2", "layer 4"}
    catching_up = [span for e in drafts for span in e.work.ran if (span.lo, span.hi) == (2, 4) and span.rows > 1]
    assert catching_up, "a token that climbs takes those along whose layers were deferred"
    upper = [span for e in events if e.event == "verify" for span in e.work.ran if span.lo == 4]
    assert upper and all(span.hi == 6 for span in upper)
    for e in events:  # the target runs the layers that nobody has run; below its own they are at most as many
        if e.event == "verify" and e.work.ran:
            rows = [sum(s.rows for s in e.work.ran if s.lo <= layer < s.hi) for layer in range(6)]
            assert rows == sorted(rows) and rows[5] == e.work.rows


def test_a_draft_ends_where_no_exit_is_sure() -> None:
    events = ran(stacks(), "climb:4@at=2-4@theta=0.5,target", SAMPLED, tokens=60)
    drafts = [e for e in events if e.event == "draft"]
    assert all(sure >= 0.5 - 1e-4 for e in drafts for sure in notes_of.confidence(e))
    short = [e for e in drafts if len(e.ids) < 4 and e.at < 50]
    assert short and all(e.work.forwards == len(e.ids) + 1 for e in short)
    assert {notes_of.theta(e) for e in drafts} == {0.5}


def test_exits_that_are_none_are_refused() -> None:
    decoder = stacks().target
    for readouts in ({}, {6: Lens(decoder)}, {0: Lens(decoder)}):
        with pytest.raises(ValueError, match="not within layers 1 to 5"):
            ClimbLevel(decoder, readouts, 0.6)
    assert ClimbLevel(decoder, {4: Lens(decoder), 2: Lens(decoder)}, 0.6).about.layers == 4
    assert ExitLevel(decoder, 2).about.kind != ClimbLevel(decoder, {2: Lens(decoder)}, 0.6).about.kind


def test_several_depths_are_one_value_of_a_key() -> None:
    climb, target = parse("climb:4@theta=0.8@at=4-8,target")
    assert (climb[AT], climb[THETA]) == ("4-8", 0.8)
    assert format_stack((climb, target)) == "climb:4@at=4-8@theta=0.8,target"
    assert format_stack([bare(climb)]) == "climb@at=4-8@theta=0.8", "its threshold is no stop policy's"
    assert format_stack(parse("climb:4@at=04-8@theta=0.6,target")) == "climb:4@at=4-8,target"
    assert parse("climb@at=8,target")[0][AT] == "8"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("climb:4@at=8-4,target", "rising numbers of layers from 1 to 512, joined by -, such as 4-8"),
        ("climb:4@at=4-,target", "rising numbers"),
        ("climb:4@at=4-4,target", "rising numbers"),
        ("climb:4@at=0-4,target", "rising numbers"),
        ("climb:4,target", "needs the number of layers"),
        ("exit:4@at=4-8,target", "use a whole number from 1 to 512"),
        ("climb:4@at=4-8@policy=flush,target", "@policy means nothing here"),
        ("int8:4,climb:4@at=4-8,target", "climb has no distribution and cannot verify"),
        ("climb:4@at=4-8,exit:4@at=8,target", "exit at 8 stands above an exit at 8"),
    ],
)
def test_what_is_no_climb_is_refused(text: str, why: str) -> None:
    with pytest.raises(StackError, match=why):
        parse(text)


def test_it_has_a_name_in_words() -> None:
    assert stack_name("climb:4@at=8,target") == "A sure exit at layer 8, then the model"
    told = stack_names(["climb:4@at=4-8,target", "climb:4@at=4-8@theta=0.8,target"])
    assert told["climb:4@at=4-8@theta=0.8,target"].startswith("A sure exit at layer 4-8 (\u03b8 = 0.8)")
