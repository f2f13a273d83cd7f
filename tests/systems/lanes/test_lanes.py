"""Levels that work at the same time: what their traces say."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from functools import cache

import notes_of
import pytest
import torch
from enumerator import OnceEach
from timed import timed_stack
from toys import output_of, toy_stack

import hsd_core
from hsd_core.cli.terminal import totals_lines
from hsd_core.core import events as trace
from hsd_core.grammar import StackError
from hsd_core.grammar.stack_text import parse
from hsd_core.grammar.strategies import Orders, Submission, View
from hsd_core.models.sampling import Sampling
from hsd_core.systems.lanes.declaration import Free, Pearl
from hsd_core.trace import metrics
from hsd_core.trace.checks import check
from hsd_core.trace.conventions import lanes_of

GREEDY, SAMPLED = Sampling(0.0), Sampling(1.0)
STACKS = (
    "table:3,table@with=pearl",
    "table:1,table@with=pearl@ahead=4@rule=block",
    "ngram:3,table@with=pearl",
    "table:2,table:3,table@with=pearl",
    "table:3,table@with=ahead",
    "ngram:3,table@with=ahead",
    "ngram:2,table:3,table@with=ahead",
    "table:2@policy=flush,table:3,table@with=ahead@ahead=9@least=2",
    "table:2,table:3@with=ahead,table@with=ahead",
    "ngram:3,table:2@with=ahead,table",
    "ngram:2,table:2@with=ahead@ahead=3,table:2@with=ahead@least=2,table@with=ahead",
    "ngram:2,table:3@with=ahead,table@with=ahead",
)


def uneven(level: int, ids: tuple[int, ...]) -> int:
    return random.Random(f"{level}:{ids}").randint(1, 20)


def run(text: str, sampling: Sampling = SAMPLED, tokens: int = 60, **options: object) -> list[trace.Event]:
    stack, clock = timed_stack(text, 6, uneven, 4)
    given = {"seed": 3, "max_new_tokens": tokens, "clock": clock, **options}
    return list(hsd_core.run(stack, [0, 1], sampling, **given))


@cache
def ran(text: str) -> tuple[trace.Event, ...]:
    """The events of a sampled run, made once."""
    return tuple(run(text))


@pytest.mark.covering("text", "sampling")
@pytest.mark.parametrize("text", STACKS)
@pytest.mark.parametrize("sampling", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
def test_every_identity_holds(text: str, sampling: Sampling) -> None:
    for ends in (frozenset[int](), frozenset({5})):
        events = run(text, sampling, ends=ends, choices=OnceEach(3))
        assert check(events) == []
        assert metrics.header_of(events).reckoned


@pytest.mark.covering("text")
@pytest.mark.parametrize("text", STACKS)
def test_greedy_text_is_the_targets_own(text: str) -> None:
    stack, *_ = timed_stack(text, 6, uneven, 4)
    alone = stack[-1].spec.having(**{"with": None, "ahead": None, "least": None})
    target = [type(stack[-1])(stack[-1].level, alone, None)]
    assert output_of(run(text, GREEDY)) == output_of(list(hsd_core.run(target, [0, 1], GREEDY, 3, max_new_tokens=60)))


@pytest.mark.covering("text")
@pytest.mark.parametrize("text", STACKS)
def test_lanes_never_overlap_themselves_and_do_overlap(text: str) -> None:
    events = ran(text)
    lanes = lanes_of(metrics.header_of(events))
    ends, last, both = [0] * (max(lanes) + 1), 0, 0
    for event in events:
        if isinstance(event, (trace.Draft, trace.Verify)):
            lane = lanes[event.level]
            assert event.t0 >= ends[lane]
            both += max(0, *(min(event.t1, end) - event.t0 for at, end in enumerate(ends) if at != lane))
            ends[lane] = event.t1
        elif not isinstance(event, trace.Prefill) and hasattr(event, "t"):
            assert event.t >= last
            last = event.t
    assert both > 0
    found = metrics.lanes(events)
    assert found is not None and max(found.busy) <= found.span < sum(found.busy)


@pytest.mark.covering("text")
@pytest.mark.parametrize("text", STACKS)
def test_the_use_of_lanes_is_what_a_clock_counts(text: str) -> None:
    events = ran(text)
    lanes = lanes_of(metrics.header_of(events))
    begin = max(e.t1 for e in events if isinstance(e, trace.Prefill))
    end = max(e.t for e in events if isinstance(e, trace.Commit))
    passes = [e for e in events if isinstance(e, (trace.Draft, trace.Verify))]
    edges = sorted({begin, end, *(t for e in passes for t in (e.t0, e.t1) if begin < t < end)})
    counted, both = [0] * (max(lanes) + 1), 0
    for a, b in itertools.pairwise(edges):
        own = [any(e.t0 <= a and b <= e.t1 for e in passes if lanes[e.level] == lane) for lane in range(len(counted))]
        counted = [n + (b - a) * on for n, on in zip(counted, own, strict=True)]
        both += (b - a) * (sum(own) > 1)
    found = metrics.lanes(events)
    assert found is not None and (*found.busy, found.both, found.span) == (*counted, both, end - begin)
    assert found.gain == pytest.approx(sum(counted) / (end - begin)) and 1 < found.gain <= len(counted)
    assert metrics.measure(events)["lanes"] == {"clock": "reckoned", **found.figures()}


@pytest.mark.covering("text")
@pytest.mark.parametrize("text", [*STACKS, "table:3,table@with=card", "table:4,table@with=duo"])
def test_rows_in_vain_are_those_of_what_fell(text: str) -> None:
    events = ran(text)
    fell = {serial for e in events if isinstance(e, trace.Verify) for serial in notes_of.dropped(e)}
    rows = 0
    for e in events:
        if isinstance(e, (trace.Draft, trace.Verify)) and notes_of.stale(e):
            rows += e.work.rows - e.work.catch_up
        elif isinstance(e, trace.Draft):
            chosen = dict[int, set[int]]()
            for serial, parent in zip(e.serials, e.parent_serials, strict=True):
                chosen.setdefault(parent, set()).add(serial)
            rows += sum(one <= fell for one in chosen.values()) if e.work.rows else 0
        elif isinstance(e, trace.Verify):
            rows += sum(c.serial in fell and c.outcome == "accepted" for c in e.checks)
        elif isinstance(e, (trace.Correct, trace.Bonus)):
            rows += e.serial in fell
    found = metrics.lanes(events)
    assert found is not None and found.rows == rows < found.all_rows
    assert (rows == 0) == text.startswith("ngram:3,"), "a lookup computes no row"
    assert found.all_rows == sum(e.work.rows for e in events if isinstance(e, (trace.Draft, trace.Verify)))


def test_one_level_after_another_has_one_lane() -> None:
    events = run("table:3,table")
    assert metrics.lanes(events) is None and metrics.measure(events)["lanes"] is None


def test_stale_results_are_dropped_and_counted() -> None:
    stale = dropped = 0
    for text in STACKS:
        events = ran(text)
        seen: set[int] = set()
        for event in events:
            if isinstance(event, trace.Verify):
                judged = {c.serial for c in event.checks}
                assert not judged & seen, "a token was judged that had been dropped"
                assert not (notes_of.stale(event) and event.checks)
                rejected = any(c.outcome == "rejected" for c in event.checks)
                assert not notes_of.dropped(event) or rejected or notes_of.stale(event), (
                    "a token was dropped, and none before it was rejected"
                )
                seen |= set(notes_of.dropped(event))
                dropped += len(notes_of.dropped(event))
                stale += bool(notes_of.stale(event))
            elif isinstance(event, trace.Draft) and notes_of.stale(event):
                seen |= set(event.serials)
                stale += 1
            elif isinstance(event, trace.Commit):
                assert not seen & {token.serial for token in event.tokens}
        found = metrics.lanes(events)
        assert found is not None and found.dropped == len(seen)
    assert stale > 5 and dropped > 5


def test_every_drafted_token_is_judged_dropped_or_pending() -> None:
    for text in STACKS:
        events = ran(text)
        drafted, fate = list[int](), set[int]()
        for event in events:
            if isinstance(event, trace.Draft):
                drafted += event.serials
                fate |= set(event.serials if notes_of.stale(event) else ())
            elif isinstance(event, trace.Verify):
                fate |= {c.serial for c in event.checks} | set(notes_of.dropped(event))
        pending = [serial for serial in drafted if serial not in fate]
        assert pending == sorted(pending)[: len(pending)] and len(pending) < 12
        assert all(serial > max(fate) - 40 for serial in pending), "a token was forgotten on the way"


def test_pearl_pattern() -> None:
    """Section 3 of PEARL, worked: the drafter writes a b, c d, e f; the target keeps a, b, c and says w for d."""
    a, b, c, d, e, f, w = range(1, 8)

    def says(line: list[int]):  # type: ignore[no-untyped-def]
        def table(prefix: tuple[int, ...]) -> torch.Tensor:
            at = len(prefix) - 1
            row = torch.zeros(8, dtype=torch.float64)
            row[line[at] if at < len(line) else 0] = 1.0
            return row

        return table

    stack, clock = timed_stack("table:2,table@with=pearl", 8, lambda level, ids: 485 if level else 321)
    stack[0].level.table, stack[1].level.table = says([a, b, c, d, e, f]), says([a, b, c, w])  # type: ignore[attr-defined]
    events = list(hsd_core.run(stack, [0], GREEDY, 0, max_new_tokens=8, clock=clock))
    start = max(event.t1 for event in events if isinstance(event, trace.Prefill))
    drafts = [x for x in events if isinstance(x, trace.Draft)][:3]
    verdicts = [x for x in events if isinstance(x, trace.Verify)][:3]
    commits = [x for x in events if isinstance(x, trace.Commit)][:3]
    assert [x.ids for x in drafts] == [(a, b), (c, d), (e, f)]
    assert [[(x.id, x.outcome) for x in v.checks] for v in verdicts] == [
        [(a, "accepted")],
        [(b, "accepted"), (c, "accepted")],
        [(d, "rejected"), (e, "unjudged")],
    ]
    assert [v.work.rows - v.work.catch_up for v in verdicts] == [1, 2, 2]
    assert notes_of.dropped(verdicts[2]) == (drafts[2].serials[1],)
    assert [[t.id for t in x.tokens] for x in commits] == [[a], [b, c], [w]]
    assert [(x.t0 - start, x.t1 - start) for x in drafts] == [(0, 642), (642, 1284), (1284, 1926)]
    assert [(v.t0 - start, v.t1 - start) for v in verdicts] == [(0, 485), (642, 1127), (1284, 1769)]
    assert [x.t - start for x in commits] == [642, 1284, 1926]


def test_a_free_scheduler_waits_for_what_is_asked() -> None:
    view = View(undecided=0, submitted=0, drafting=False, verifying=False, drafted=0, block=2, room=9, silent=False)
    assert Free(0, 2).ended(view) == Orders(4)
    assert Free(0, 2).ended(view._replace(undecided=1, drafting=True)) == Orders()
    assert Free(0, 2).ended(view._replace(undecided=2, drafting=True)) == Orders(0, Submission(2))
    handed = view._replace(undecided=4)
    assert Free(0, 2).ended(handed) == Orders(4, Submission(4)), "what is handed over waits no longer"
    assert Free(0, 2).ended(view._replace(undecided=1, room=0)) == Orders(0, Submission(1))
    assert Free(0, 1).ended(view._replace(silent=True)) == Orders(0, Submission(0))
    assert Free(0, 1).ended(view._replace(verifying=True)) == Orders(), "beside a token of the verifier's own"
    assert Free(3, 1).ended(view._replace(undecided=4, submitted=2, verifying=True)) == Orders(1)


def test_lock_step_takes_its_own_token_where_a_draft_would_be_empty_again() -> None:
    view = View(undecided=2, submitted=0, drafting=False, verifying=False, drafted=0, block=2, room=9, silent=True)
    assert Pearl(0).ended(view) == Orders(0, Submission(2, next=True))
    assert Pearl(0).ended(view._replace(room=0)) == Orders(0, Submission(2))


def test_what_shares_with_the_target_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    stack = toy_stack("table:2,table@with=pearl", 4)
    level = stack[0].level
    for about, said in (({"fed": True}, "reads the target's last states"), ({"sequences": 3}, "more than one")):
        with monkeypatch.context() as patch:
            patch.setattr(level, "about", replace(level.about, **about))
            with pytest.raises(StackError, match=said):
                hsd_core.run(stack, [0], GREEDY, 0, max_new_tokens=4)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("table:2@with=ahead,table", "table@with=ahead verifies nothing, as no level stands below it; leave"),
        ("table:2,table:2@with=pearl,table", "write @with=pearl at the last level, or @with=ahead here"),
        ("table:2,table:2@with=duo,table@with=duo", "write @with=duo at the last level"),
        ("table:2,table:2@with=ahead,table@with=pearl", "write @with=ahead at both, or leave it out at table"),
        ("table:2,table:2@with=ahead,table@with=card", "table@with=ahead makes one more"),
        ("table:2@tree=2.1,table:2@with=ahead,table", "leave @with=ahead or @tree=2.1 out"),
        ("ngram:2@window=4,table:2@with=ahead,table", "leave @with=ahead out or write ngram@window=0"),
        ("table:2,table:2@with=ahead@rule=block,table", "rule block of table weighs whole blocks"),
        ("table:2,table:2@with=ahead,table:2@rule=block,table@with=ahead", "write @rule=tokenwise"),
        ("table:2,table:2@ahead=3,table", "write table@with=pearl@ahead=3"),
    ],
)
def test_what_cannot_be_a_pipeline_is_refused_with_the_cure(text: str, said: str) -> None:
    with pytest.raises(StackError, match=said):
        parse(text)


def test_a_pipeline_shares_nothing_between_lanes() -> None:
    said = [level.lane for level in metrics.header_of(run("table:2,table:2@with=ahead,table@with=ahead")).levels]
    assert said == [0, 1, 2]
    assert [level.lane for level in metrics.header_of(run("table:2,table:2,table@with=ahead")).levels] == [0, 0, 1]


def test_the_terminal_names_every_lane() -> None:
    said = "\n".join(totals_lines(run("ngram:2,table:3@with=ahead,table@with=ahead"), colour=False))
    assert "laid on 3 clocks: what 2 more machines of this kind would give" in said
    assert "3 lanes: the target busy" in said and ", ngram " in said and ", table " in said
    assert "two or more at once" in said and "overlap gain" in said


def test_plans_do_not_change_where_rounds_overlap() -> None:
    stack = toy_stack("table:2,table@with=pearl", 4)
    with pytest.raises(StackError, match="leave @with= or auto out"):
        hsd_core.run(stack, [0], GREEDY, 0, max_new_tokens=4, replan=object())  # type: ignore[arg-type]
