from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
import torch
from toys import LookupLevel, LookupRun, output_of, table, toy_stack

import hsd_core
from hsd_core.core.clock import EngineClock
from hsd_core.core.hierarchy import LevelError
from hsd_core.core.level import CommittedIds, StackEntry, Work
from hsd_core.core.tree import NOTHING, Tree
from hsd_core.grammar.stack_text import LevelSpec, StackError
from hsd_core.models import sampling
from hsd_core.models.sampling import Sampling
from hsd_core.systems.ngram.notes import Filed
from hsd_core.systems.table.table_level import TableLevel, TableRun
from hsd_core.trace import checks as identities

SAMPLED = Sampling(1.0)
TEXT = "table:2,table:3@policy=flush,table@rule=block"


class SpyRun(TableRun):
    def __init__(self, level: SpyLevel, capacity: int) -> None:
        super().__init__(level.table, level.name)
        self._level, self._capacity = level, capacity

    def score(self, context: Sequence[int], tree: Tree = NOTHING) -> tuple[torch.Tensor, Work]:
        assert len(context) + tree.longest <= self._capacity, "more positions than the engine asked room for"
        self._level.before_forward()
        return super().score(context, tree)

    def close(self) -> None:
        self._level.open_runs -= 1
        self._level.closed += 1
        super().close()


class SpyLevel(TableLevel):
    """Counts the runs that are open; `before_forward` is called at each forward."""

    open_runs = closed = 0

    def __init__(self, *args: Any, before_forward: Callable[[], object] = lambda: None) -> None:
        super().__init__(*args)
        self.before_forward = before_forward

    def open(self, capacity: int, shared: object) -> SpyRun:
        self.open_runs += 1
        return SpyRun(self, capacity)


def spied(text: str = TEXT, before_forward: Callable[[], object] = lambda: None) -> list[StackEntry]:
    entries = toy_stack(text, 4, seed=8)
    return [replace(s, level=SpyLevel(s.level.table, 4, before_forward=before_forward)) for s in entries]  # type: ignore


def open_runs(stack: Sequence[StackEntry]) -> list[int]:
    return [entry.level.open_runs for entry in stack]  # type: ignore[attr-defined]


def start(stack: Sequence[StackEntry], prompt: Sequence[int] = (0, 1), **options: Any) -> Any:
    return hsd_core.run(stack, prompt, **{"sampling": SAMPLED, "seed": 5, "max_new_tokens": 12, **options})


def test_a_run_begins_with_its_header_and_ends_with_its_footer() -> None:
    events = list(start(spied()))
    names = [event.event for event in events]
    assert names[:4] == ["header", "prefill", "prefill", "prefill"]
    assert names.count("header") == names.count("footer") == 1
    assert names[-1] == "footer"
    assert events[-1].reason == "length"
    assert events[-1].committed == len(output_of(events)) == 12
    assert events[-1].rounds == names.count("commit")


def test_the_header_says_how_the_run_was_made() -> None:
    stack = toy_stack("table:2@policy=confidence,table:3@bonus=0,table@rule=block", 4)
    header = next(start(stack, about={"title": "one", "versions": {"gpu": "none"}}))
    assert header.stack == "table:2@policy=confidence,table:3@bonus=0,table@rule=block"
    assert [level.index for level in header.levels] == [0, 1, 2]
    assert [level.block for level in header.levels] == [2, 3, None]
    assert [level.policy for level in header.levels] == ["confidence", "fixed", None]
    assert [level.theta for level in header.levels] == [0.6, None, None]
    assert [level.rule for level in header.levels] == [None, "tokenwise", "block"]
    assert [level.bonus for level in header.levels] == [True, False, True]
    assert (header.seed, header.prompt_ids, header.max_new_tokens) == (5, (0, 1), 12)
    assert header.lossless
    assert header.title == "one"
    assert header.versions.keys() == {"python", "torch", "gpu"}
    lossy = next(start(toy_stack("table:2,table@rule=greedy", 4)))
    assert not lossy.lossless
    assert "greedy" in lossy.lossless_reason


def test_an_end_token_ends_the_run_and_is_kept() -> None:
    ended = 0
    for seed in range(20):
        events = list(start(spied(), seed=seed, ends=frozenset({3})))
        output = output_of(events)
        assert 3 not in output[:-1]
        assert (events[-1].reason == "eos") == (output[-1] == 3)
        ended += output[-1] == 3
    assert ended > 5


@pytest.mark.covering
@pytest.mark.parametrize("most", [1, 2, 3, 5, 13])
@pytest.mark.parametrize("text", ["table", "table:5,table", "table:4@bonus=0,table@bonus=0", "table:3,table:9,table"])
def test_exactly_the_tokens_asked_for_are_committed(text: str, most: int) -> None:
    events = list(start(spied(text), max_new_tokens=most))
    assert len(output_of(events)) == most
    assert events[-1].reason == "length"


def test_the_target_s_context_ends_the_run() -> None:
    stack = spied()
    stack[-1].level.max_positions = 9
    events = list(start(stack, max_new_tokens=50))
    assert events[-1].reason == "context"
    assert len(output_of(events)) == 7
    assert list(start(stack, max_new_tokens=7))[-1].reason == "length", "as many as were asked for"


@pytest.mark.parametrize("short", [{0: 9}, {1: 9}, {0: 6, 1: 12}, {0: 12, 1: 6}, {0: 1, 1: 2}])
def test_a_level_whose_context_is_full_rests_and_says_so(short: dict[int, int]) -> None:
    stack = spied()
    for i, most in short.items():
        stack[i].level.max_positions = most
    events = list(start(stack, max_new_tokens=30))
    assert (events[-1].reason, len(output_of(events))) == ("length", 30)
    assert not identities.check(events)
    plans = [e for e in events if e.event == "plan"]
    assert plans[-1].levels == tuple(i for i in range(3) if i not in short)
    assert {i for i in short if any(f"{short[i]} tokens, is full" in plan.why for plan in plans)} == set(short)
    for event in events:
        if event.event in ("draft", "verify") and event.level in short:
            length = len(events[0].prompt_ids) + event.at
            assert length + len(event.ids if event.event == "draft" else event.checks) <= short[event.level]


def test_a_finished_run_has_closed_every_level() -> None:
    stack = spied()
    list(start(stack))
    assert open_runs(stack) == [0, 0, 0]
    assert [entry.level.closed for entry in stack] == [1, 1, 1]  # type: ignore[attr-defined]


def test_closing_at_any_event_leaves_nothing_open() -> None:
    events = len(list(start(spied())))
    for cut in range(events + 1):
        stack = spied()
        run = start(stack)
        for _ in range(cut):
            next(run)
        run.close()
        assert open_runs(stack) == [0, 0, 0]
        assert [entry.level.closed for entry in stack] == [int(cut > 1)] * 3  # type: ignore[attr-defined]
        assert next(run, None) is None


def test_dropping_the_iterator_leaves_nothing_open() -> None:
    stack = spied()
    run = start(stack)
    for _ in range(6):
        next(run)
    assert open_runs(stack) == [1, 1, 1]
    del run
    assert open_runs(stack) == [0, 0, 0]


def test_an_error_in_any_forward_leaves_nothing_open() -> None:
    class Broken(Exception):
        pass

    forwards: list[int] = []
    list(start(spied(before_forward=lambda: forwards.append(1))))
    for failing in range(len(forwards)):
        left = [failing]

        def forward(left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise Broken

        stack = spied(before_forward=forward)
        with pytest.raises(Broken):
            list(start(stack))
        assert open_runs(stack) == [0, 0, 0]


def test_a_level_that_cannot_open_leaves_nothing_open() -> None:
    stack = spied()

    def refuse(capacity: int, shared: object) -> SpyRun:
        raise MemoryError

    stack[0].level.open = refuse  # type: ignore[method-assign]
    with pytest.raises(MemoryError):
        list(start(stack))
    assert open_runs(stack) == [0, 0, 0]


def test_stop_ends_the_run_with_a_footer_whenever_it_turns_true() -> None:
    asked: list[bool] = []
    whole = list(start(spied(), stop=lambda: asked.append(True) or False))
    for most in range(len(asked)):
        stack = spied()
        left = iter([False] * most)
        events = list(start(stack, stop=lambda left=left: next(left, True)))
        footer = events[-1]
        assert (footer.event, footer.reason) == ("footer", "stopped")
        assert footer.committed == len(output_of(events)) < 12
        assert output_of(events) == output_of(whole)[: footer.committed], "what was committed is what would have been"
        assert footer.decode_ns >= 0
        assert footer.prefill_ns >= 0
        assert open_runs(stack) == [0, 0, 0]


@pytest.mark.parametrize("text", ["table", "table:4,table", TEXT])
def test_stop_is_asked_before_every_forward(text: str) -> None:
    heard: list[str] = []
    stack = spied(text, before_forward=lambda: heard.append("forward"))
    list(start(stack, [0, 1] * 300, stop=lambda: heard.append("stop") or False))
    forwards = [i for i, what in enumerate(heard) if what == "forward"]
    assert len(forwards) > 12
    assert all(heard[i - 1] == "stop" for i in forwards)


def test_a_long_prompt_goes_through_in_pieces_and_a_stop_is_heard_between() -> None:
    forwards: list[int] = []
    stack = spied(before_forward=lambda: forwards.append(1))
    events = list(start(stack, [0, 1] * 300, stop=lambda: len(forwards) == 2))
    assert len(forwards) == 2
    assert [event.event for event in events] == ["header", "footer"]
    assert open_runs(stack) == [0, 0, 0]


def test_every_level_tells_how_much_of_a_long_prompt_it_has_read() -> None:
    told: list[tuple[int, int, int]] = []
    list(start(spied(TEXT), [0, 1] * 150, reading=lambda *one: told.append(one)))
    pieces = [(level, done, 299) for level in (2, 1, 0) for done in (128, 256, 299)]
    assert told == pieces


def test_consumer_and_writer_cost_nothing_on_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    time = [0]

    def slow_softmax(logits: torch.Tensor) -> torch.Tensor:
        time[0] += 10**6
        return logits.softmax(-1)

    monkeypatch.setattr(sampling, "softmax", slow_softmax)

    def forward() -> None:
        time[0] += 10

    events, forwards = [], 0
    for event in start(spied(before_forward=forward), clock=EngineClock(lambda: time[0])):
        time[0] += 10**9
        events.append(event)
        forwards += event.work.forwards if event.event == "draft" else event.event in ("verify", "prefill")
    footer = events[-1]
    assert footer.prefill_ns == 30
    assert footer.prefill_ns + footer.decode_ns == 10 * forwards
    assert sum(total.ns for total in footer.totals) == footer.decode_ns
    for event in events:
        if event.event in ("verify", "prefill"):
            assert event.t1 - event.t0 == 10
        elif event.event == "draft":
            assert event.t1 - event.t0 == 10 * event.work.forwards


def test_totals_count_what_the_events_say() -> None:
    events = list(start(spied(), max_new_tokens=40))
    for total in events[-1].totals:
        mine = [e for e in events if e.event in ("draft", "verify") and e.level == total.level]
        own = [e for e in events if e.event in ("correct", "bonus") and e.level == total.level]
        assert total.forwards == sum(e.work.forwards for e in mine)
        assert total.rows == sum(e.work.rows for e in mine)
        assert total.ns == sum(e.t1 - e.t0 for e in mine)
        judged = [c for e in mine if e.event == "verify" for c in e.checks]
        assert total.tokens_in == len(judged)
        drafted = sum(len(e.ids) for e in mine if e.event == "draft")
        assert total.tokens_out == drafted + sum(c.outcome == "accepted" for c in judged) + len(own)


def test_what_a_level_reports_is_written_after_each_commit() -> None:
    class CountingRun(LookupRun):
        def observe(self, outcome: Any) -> Filed | None:
            return Filed(len(outcome.ids), 0) if isinstance(outcome, CommittedIds) else None

    class CountingLevel(LookupLevel):
        def open(self, capacity: int, shared: object) -> LookupRun:
            return CountingRun(self)

    stack = [
        StackEntry(CountingLevel(lambda prefix: [0], 4), LevelSpec("ngram", 2), 2),
        StackEntry(TableLevel(table(4, 1), 4), LevelSpec("table"), None),
    ]
    events = list(start(stack))
    told = [event.event for event in events if event.event in ("report", "commit", "draft")]
    assert told[0] == "report", "one says that the prompt is read"
    assert all(after == "report" for before, after in pairwise(told) if before == "commit")
    reports = [event for event in events if event.event == "report"]
    commits = [event for event in events if event.event == "commit"]
    assert [r.notes["filed"].inserts for r in reports] == [2, *(len(c.tokens) for c in commits)]


def test_two_runs_of_one_stack_do_not_disturb_each_other() -> None:
    stack = spied()
    alone = output_of(list(start(stack, seed=1)))
    one, two, seen = start(stack, seed=1), start(stack, seed=2), []
    for event in one:
        seen.append(event)
        next(two, None)
    assert output_of(seen) == alone


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"stack": []}, StackError, "the stack is empty; it needs at least a target"),
        ({"prompt": []}, ValueError, "the prompt is empty; give at least one token"),
        ({"max_new_tokens": 0}, ValueError, "ask for at least 1"),
        ({"prompt": [0] * 9}, ValueError, "the prompt has 9 tokens, the context 9; shorten the prompt"),
    ],
)
def test_a_run_that_cannot_work_is_refused_at_once(change: dict[str, Any], error: type, message: str) -> None:
    stack = spied()
    stack[-1].level.max_positions = 9
    options = {"stack": stack, "prompt": [0, 1], **change}
    with pytest.raises(error) as caught:
        start(options.pop("stack"), options.pop("prompt"), **options)
    assert message in str(caught.value)
    assert open_runs(stack) == [0, 0, 0]


def test_a_stack_that_cannot_work_is_refused_at_once() -> None:
    def level(vocab: int = 4) -> TableLevel:
        return TableLevel(table(vocab, 1), vocab)

    drafter, target = LookupLevel(lambda prefix: [], 4), StackEntry(level(), LevelSpec("table"), None)
    cases = [
        ([StackEntry(level(5), LevelSpec("table", 2), 2), target], "levels disagree on the vocabulary"),
        ([StackEntry(level(), LevelSpec("table"), None), target], "has no block length; write table:T"),
        ([target, target, StackEntry(level(), LevelSpec("table", 2), 2)], "is the last level, which hands nothing up"),
        (
            [StackEntry(level(), LevelSpec("table", 1), 1), StackEntry(drafter, LevelSpec("table"), None)],
            "cannot verify",
        ),
    ]
    for stack, message in cases:
        with pytest.raises(StackError) as caught:
            start(stack)
        assert message in str(caught.value)


def collect(run: Iterator[Any], events: list[Any]) -> None:
    """What a run yields before it ends or raises."""
    for event in run:
        events.append(event)


DAMAGE = {
    "NaN": lambda row: row.index_fill(0, torch.tensor([2]), float("nan")),
    "+inf": lambda row: row.index_fill(0, torch.tensor([2]), float("inf")),
    "nothing can be said": torch.zeros_like,
}


@pytest.mark.covering
@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize("sampling", [Sampling(0.0), SAMPLED], ids=["greedy", "sampled"])
def test_logits_that_are_not_finite_end_the_run_with_the_levels_name(
    damage: str, level: int, sampling: Sampling
) -> None:
    stack = spied()
    whole = stack[level].level.table  # type: ignore[attr-defined]
    bad = SpyLevel(lambda prefix: DAMAGE[damage](whole(prefix)) if len(prefix) > 20 else whole(prefix), 4)
    stack[level] = replace(stack[level], level=bad)  # type: ignore[arg-type]
    events: list[Any] = []
    with pytest.raises(LevelError, match=rf"^level {level} \(table\): its logits are not finite; its weights may be"):
        collect(hsd_core.run(stack, [1, 2, 3], sampling, 0, max_new_tokens=40), events)
    usual = output_of(list(hsd_core.run(spied(), [1, 2, 3], sampling, 0, max_new_tokens=40)))
    assert 0 < len(output_of(events)) < 40
    assert output_of(events) == usual[: len(output_of(events))], "what was committed before stays, and is right"
    assert identities.check(events) == []
    assert open_runs(stack) == [0, 0, 0]


def test_a_prompt_that_meets_damage_ends_before_the_first_token() -> None:
    stack = toy_stack("table:2,table", 4)
    stack[1] = replace(stack[1], level=TableLevel(lambda prefix: torch.full((4,), float("nan")), 4))
    events: list[Any] = []
    with pytest.raises(LevelError, match=r"level 1 \(table\)"):
        collect(hsd_core.run(stack, [1, 2, 3], SAMPLED, 0, max_new_tokens=4), events)
    assert [event.event for event in events] == ["header"]


def test_tokens_that_cannot_be_said_are_no_damage() -> None:
    events = list(hsd_core.run(toy_stack(TEXT, 4, zeros=0.6), [1], SAMPLED, 0, max_new_tokens=30))
    assert len(output_of(events)) == 30
