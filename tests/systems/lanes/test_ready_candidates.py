"""Candidates that are kept ready while the target verifies (duo, card): what traces say of them."""

from __future__ import annotations

import random
from functools import cache

import notes_of
import pytest
import torch
from msgspec import structs
from timed import timed_stack
from toys import drawn

import hsd_core
from hsd_core.core import events as trace
from hsd_core.core.choices import Judge, SeededChoices
from hsd_core.core.rules import match
from hsd_core.grammar.stack_text import StackError, parse
from hsd_core.grammar.strategies import Orders, Submission, View
from hsd_core.models.sampling import Sampling
from hsd_core.systems.lanes.declaration import Card, Duo
from hsd_core.trace import metrics
from hsd_core.trace.checks import check

GREEDY, SAMPLED = Sampling(0.0), Sampling(1.0)
STACKS = (
    "table:3,table@with=duo",
    "table:2,table@with=duo@width=4@rule=match",
    "table:2@policy=confidence,table@with=duo@width=3",
    "table:3,table@with=card",
    "table:1,table@with=card@width=2@rule=match",
    "table:2@policy=adaptive,table@with=card@width=3@ahead=9",
)


def uneven(level: int, ids: tuple[int, ...]) -> int:
    return random.Random(f"{level}:{ids}").randint(1, 20) * (3 if level else 1)


def run(
    text: str, sampling: Sampling = SAMPLED, tokens: int = 60, seed: int = 4, **options: object
) -> list[trace.Event]:
    stack, clock = timed_stack(text, 6, uneven, seed)
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
        for seed in range(4):
            events = run(text, sampling, seed=seed, ends=ends)
            assert check(events) == []
            assert metrics.header_of(events).reckoned


@pytest.mark.covering("text")
@pytest.mark.parametrize("text", STACKS)
def test_every_drafted_token_is_judged_dropped_or_pending_and_once(text: str) -> None:
    events = ran(text)
    drafted, fate = list[int](), list[int]()
    for event in events:
        if isinstance(event, trace.Draft):
            drafted += event.serials
        elif isinstance(event, trace.Verify):
            fate += [*(c.serial for c in event.checks), *(notes_of.dropped(event))]
    assert len(set(fate)) == len(fate), "a token was judged or dropped twice"
    assert set(fate) <= set(drafted)
    pending = set(drafted) - set(fate)
    last = next(e for e in reversed(events) if isinstance(e, trace.Draft))
    assert len(pending) <= 2 * 4 * 9 and min(pending, default=last.serials[0]) > max(drafted) - 200


@pytest.mark.covering("text")
@pytest.mark.parametrize("text", STACKS)
def test_lanes_meet_at_every_step(text: str) -> None:
    events = ran(text)
    both, end = 0, 0
    for event in events:
        if isinstance(event, trace.Draft):
            assert event.t0 >= end, "a step began before the one before was over"
            start = event.t0, event.t1
        elif isinstance(event, trace.Verify):
            both += max(0, min(event.t1, start[1]) - max(event.t0, start[0]))
            end = max(event.t1, start[1])
    assert both > 0
    found = metrics.lanes(events)
    assert found is not None and found.span < sum(found.busy)


def test_a_draft_says_which_waiting_tokens_it_goes_on_behind() -> None:
    for text in STACKS:
        made: dict[int, int] = {}  # serial -> its parent's
        judged: set[int] = set()
        went_on = 0
        for event in ran(text):
            if isinstance(event, trace.Draft):
                for serial, parent in zip(event.serials, event.parent_serials, strict=True):
                    assert parent == -1 or (parent in made and parent not in judged) or parent in event.serials
                    went_on += parent >= 0 and parent not in event.serials
                    made[serial] = parent
            elif isinstance(event, trace.Verify):
                judged |= {c.serial for c in event.checks} | {*(notes_of.dropped(event))}
        assert (went_on > 0) == ("table:1" not in text), "one token deep nothing waits"


def test_a_trace_that_goes_on_behind_nobodys_token_does_not_add_up() -> None:
    events = run("table:3,table@with=duo")
    at = next(i for i, event in enumerate(events) if isinstance(event, trace.Draft) and notes_of.onto(event))
    lost = tuple(structs.replace(token, parent=10_000) for token in events[at].tokens)  # type: ignore[union-attr]
    lies = [*events[:at], structs.replace(events[at], tokens=lost), *events[at + 1 :]]  # type: ignore[union-attr]
    assert any("a token that was never made" in wrong for wrong in check(lies))


def says(rows: dict[tuple[int, ...], tuple[int, ...]]):  # type: ignore[no-untyped-def]
    """A table with these likely tokens behind a prefix, each a little likelier than the next; else with 5 alone."""

    def table(prefix: tuple[int, ...]) -> torch.Tensor:
        row = torch.full((6,), 0.01, dtype=torch.float64)
        for place, token in enumerate(rows.get(prefix[1:], (5,))):
            row[token] = 1.0 - 0.2 * place
        return row / row.sum()

    return table


def test_duo_pattern() -> None:
    """The target says a, c, b; the drafter b or a, c, and d or b: the second beginning is right, the first PEARL's."""
    a, b, c, d = range(1, 5)
    stack, clock = timed_stack("table:3,table@with=duo", 6, lambda level, ids: 50 if level else 30)
    stack[0].level.table = says({(): (b, a), (b,): (5, c), (a,): (c, b), (a, c): (d, b), (a, c, d): (d, a)})  # type: ignore[attr-defined]
    stack[1].level.table = says({(): (a,), (a,): (c,), (a, c): (b,), (a, c, b): (d,)})  # type: ignore[attr-defined]
    events = list(hsd_core.run(stack, [0], GREEDY, 0, max_new_tokens=4, clock=clock))
    drafts = [x for x in events if isinstance(x, trace.Draft)]
    verdicts = [x for x in events if isinstance(x, trace.Verify)]
    assert drafts[0].ids == (b, 5, a, 5, c) and drafts[0].parents == (-1, 0, -1, 1, 2) and not notes_of.onto(drafts[0])
    assert [(x.id, x.outcome) for x in verdicts[0].checks] == [(b, "rejected"), (a, "accepted")]
    behind = drafts[0].serials[1], drafts[0].serials[3]
    assert notes_of.dropped(verdicts[0]) == behind, "what stood behind the other beginning"
    assert drafts[1].ids == (d, d, b) and drafts[1].parent_serials[::2] == (drafts[0].serials[4],) * 2, (
        "the next fan stands behind the rest of the kept one"
    )
    assert [(x.id, x.outcome) for x in verdicts[1].checks] == [(c, "accepted"), (d, "rejected"), (b, "accepted")]
    assert [x.t1 - x.t0 for x in drafts[:2]] == [90, 60] and drafts[1].t0 == drafts[0].t0 + 90


@pytest.mark.parametrize(("second", "width", "found"), [(0.9, 8, 1), (0.5, 8, 2), (0.3, 8, 3), (0.3, 2, 2)])
def test_a_first_token_begins_a_sequence_if_it_is_likelier_than_the_first_two(
    second: float, width: int, found: int
) -> None:
    """Behind the drafter's first choice the likeliest token has `second`."""

    def table(prefix: tuple[int, ...]) -> torch.Tensor:
        row = (second, *[(1 - second) / 5] * 5) if len(prefix) > 1 else (0.5, 0.3, 0.2, 0.0, 0.0, 0.0)
        return torch.tensor(row, dtype=torch.float64)

    for text, sampling in (("", GREEDY), ("@rule=match", SAMPLED)):
        stack, clock = timed_stack(f"table:4,table@with=duo@width={width}{text}", 6, uneven)
        stack[0].level.table = table  # type: ignore[attr-defined]
        events = list(hsd_core.run(stack, [0], sampling, 0, max_new_tokens=6, clock=clock))
        draft = next(x for x in events if isinstance(x, trace.Draft))
        firsts = [token for token, parent in zip(draft.ids, draft.parents, strict=True) if parent < 0]
        assert firsts == [*range(found)] and len(draft.ids) == 4 + 3 * (found - 1)


@pytest.mark.parametrize(("target", "longest"), [(70, 3), (29, 1), (1000, 8)])
def test_sequences_are_as_long_as_the_targets_pass_has_time_for(target: int, longest: int) -> None:
    """A pass of the drafter takes 20; the first step, which reads the prompt, says nothing of that."""
    text, duration = "table:8,table@with=duo@rule=match", (20, target)
    stack, clock = timed_stack(text, 6, lambda level, ids: duration[level] * (9 if len(ids) < 3 else 1))
    events = list(hsd_core.run(stack, [0, 1], GREEDY, 0, max_new_tokens=40, clock=clock))
    drafts = [x for x in events if isinstance(x, trace.Draft)]
    assert drafts[0].work.forwards == 8
    later = [x.work.forwards for x in drafts[2:-8]]
    assert max(later) == longest


def test_card_roots_its_tree_anew() -> None:
    """What was grown behind a token beside the path is kept when the target says that one."""
    carried = misses = 0
    for seed in range(8):
        events = run("table:2,table@with=card", GREEDY, seed=seed)
        home: dict[int, int] = {}
        for number, event in enumerate(events):
            if isinstance(event, trace.Draft):
                home |= dict.fromkeys(event.serials, number)
            elif isinstance(event, trace.Verify):
                drafts = {home[c.serial] for c in event.checks}
                carried += len(drafts) > 1
                misses += any(c.outcome == "rejected" for c in event.checks) and not any(
                    c.outcome == "accepted" for c in event.checks
                )
    assert carried > 20 and misses > 5


def test_schedulers_say_how_much_is_drafted() -> None:
    view = View(undecided=0, submitted=0, drafting=False, verifying=False, drafted=0, block=3, room=9, silent=False)
    assert Duo(2).ended(view) == Orders(3, Submission(0, next=True))
    assert Duo(2).ended(view._replace(undecided=2, room=0)) == Orders(0, Submission(2))
    assert Card(0, 4).ended(view._replace(undecided=3)) == Orders(3, Submission(3, next=True))
    assert Card(0, 4).ended(view._replace(undecided=5)) == Orders(1, Submission(5, next=True))
    assert Card(4, 4).ended(view._replace(undecided=4)) == Orders(0, Submission(4))


def test_match_keeps_what_it_draws() -> None:
    p = torch.tensor([[0.25, 0.75], [0.5, 0.5], [1.0, 0.0]], dtype=torch.float64)
    kept = 0
    for seed in range(400):
        tree = drawn([1, 0], torch.tensor([[0.5, 0.5], [0.5, 0.5]], dtype=torch.float64))
        verdict = match(tree, p, Judge(SeededChoices(seed), 1, 0, 0), True)
        assert verdict.alphas == (0.75, 0.5) and verdict.coins == (None, None)
        assert verdict.token is not None and (verdict.residual is None) == (verdict.accepted == 2)
        kept += verdict.accepted > 0
    assert 270 < kept < 330


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("target@with=duo", "put a level below it, as in nano:4,target@with=duo"),
        ("target@with=card", "target@with=card verifies nothing"),
        ("nano:4,int8:4,target@with=card", "from one level, and there are 2 below it; leave all but int8 out"),
        ("ngram:4,target@with=duo", "ngram cannot grow them; put a model there, as in nano:4"),
        ("nano:2@tree=2.2,target@with=duo", r"write @width= there and leave @tree=2.2 out"),
        ("nano:4@grow=12,target@with=card", r"leave @grow=12 out"),
        ("nano:4,target@with=card@rule=block", "rule block judges one; write @rule=match"),
        ("nano:9,target@with=duo@width=8", "8 sequences of 9 are 72 tokens, and 64 is the most; write nano:8"),
        ("nano:4,target@with=duo@ahead=2", "@ahead belongs to"),
        ("nano:4,target@with=card@ahead=65", "ahead is '65'; use a whole number from 0 to 64"),
        ("nano:4,target@with=duo@width=1", "width is '1'; use a whole number from 2 to 8"),
        ("nano:4@with=card,target", "nano@with=card verifies nothing, as no level stands below it"),
        ("nano:4,int8:4@with=card,target", "write @with=card at the last level, or @with=ahead here"),
        ("nano:4,target@width=3", "@width belongs to"),
    ],
)
def test_what_cannot_be_kept_ready_is_refused_with_the_cure(text: str, said: str) -> None:
    with pytest.raises(StackError, match=said):
        parse(text)
