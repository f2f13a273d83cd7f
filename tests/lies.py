"""Changes of the small run: those that leave it honest, and lies with what the check says of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace
from small_trace import drafted, judged

from hsd_core.core.events import Bound, Commit, Draft, Event, Kv, KvLength, LevelTotal, Plan, Report, Verify
from hsd_core.core.notes import Note, noted
from hsd_core.levels.notes import Copied, Copies, Draws, Lookups
from hsd_core.systems.views.notes import Chosen, Held

Change = Callable[[list[Any]], None]


def on(at: int, change: Callable[[Any], Event]) -> Change:
    def changed(run: list[Any]) -> None:
        run[at] = change(run[at])

    return changed


def put(at: int, *events: Event) -> Change:
    return lambda run: run.__setitem__(slice(at, at), events)


def both(*changes: Change) -> Change:
    return lambda run: [change(run) for change in changes] and None


def rounds_of(at: int, **levels: Any) -> Plan:
    """A plan from round `at` on."""
    t = 470 if at == 0 else 550
    return Plan(at, "", t0=t, t=t, **levels)


def view(*held: tuple[int, int, int], level: int = 0) -> Change:
    """Of two positions in two heads, one slot each."""
    return put(3, Report(level, 200, 200, noted(Chosen(2, 1, 2, tuple(Held(*span) for span in held)))))


def _with_token(commit: Commit, **changes: object) -> Commit:
    return replace(commit, tokens=(replace(commit.tokens[0], **changes), commit.tokens[1]))


def outcomes(verify: Verify, *said: str) -> Verify:
    return replace(verify, checks=tuple(replace(c, outcome=o) for c, o in zip(verify.checks, said, strict=True)))


def saying(event: Draft, *notes: Note) -> Draft:
    return replace(event, notes={**event.notes, **noted(*notes)})


def working(event: Any, **changes: int) -> Any:
    return replace(event, work=replace(event.work, **changes))


def copying(copied: Copied) -> Change:
    return on(10, lambda e: saying(e, Copies((None, copied, None))))


def told(serials: tuple[int, ...] = (), parents: tuple[int, ...] = ()) -> Callable[[Draft], Draft]:
    """A draft with other serials, or as a tree."""
    return lambda e: replace(e, tokens=drafted(serials or e.serials, e.ids, parents=parents))


TREE = on(3, told(parents=(-1, 0, 0)))  # a, and b or c behind it
KEPT, LOST, SKIPPED = "accepted", "rejected", "unjudged"

HONEST = {
    "as it is": both(),
    "a view": view((0, 1, 1), (1, 2, 1)),
    "a tree": both(TREE, on(4, lambda e: outcomes(e, KEPT, LOST, LOST))),
    "a tree of which nothing was kept": both(
        TREE,
        on(3, told(parents=(-1, -1, 0))),
        on(4, lambda e: outcomes(e, LOST, LOST, SKIPPED)),
        lambda run: run.__delitem__(slice(7, None)),
    ),
    "an interrupted run": lambda run: run.__delitem__(slice(7, None)),
    "a token drawn twice": both(
        TREE, on(3, lambda e: saying(e, Draws((1, 2, 1)))), on(4, lambda e: outcomes(e, KEPT, LOST, LOST))
    ),
    "a plan between rounds": put(10, rounds_of(1, levels=(0, 1), blocks=(3,))),
    "bounds of what was judged": on(4, lambda e: replace(e, bounds=(Bound(0, 0.5, 0.5), Bound(1, None, 1.0)))),
    "keys of a lookup, and one left unanswered": on(3, lambda e: saying(e, Lookups((2, 0, 0), 1))),
}

LIES = {
    "no header": (lambda run: run.__delitem__(0), "the first event is not a header"),
    # the order of events
    "two ends": (lambda run: run.append(run[-1]), "2 footers"),
    "a level beyond the stack": (on(3, lambda e: replace(e, level=2)), "level 2 of a stack of 2"),
    "a level before the first": (on(5, lambda e: replace(e, level=-1)), "level -1 of a stack of 2"),
    "work behind the end": (lambda run: run.append(run[9]), "event 15 (kv) after the footer"),
    "an end before its beginning": (on(3, lambda e: replace(e, t0=301)), "ends before it begins"),
    "a time that runs backwards": (on(10, lambda e: replace(e, t0=0, t1=10)), "the clock runs backwards"),
    "a round left out": (on(9, lambda e: replace(e, round=2)), "round 3 follows round 1"),
    "a round that comes back": (on(11, lambda e: replace(e, round=0)), "round 1 follows round 2"),
    # views
    "positions that a view holds twice": (view((0, 2, 1), (1, 2, 1)), "is no part of 2 positions in 2 heads"),
    "positions that nobody has read": (view((1, 3, 1)), "is no part of 2 positions in 2 heads"),
    "more heads than there are": (view((0, 1, 3)), "is no part of 2 positions in 2 heads"),
    "a view of more than it has room for": (view((0, 1, 2), (1, 2, 1)), "it holds more than its 1 slots a head"),
    "a view of its own cache": (view((0, 1, 1), level=1), "level 1 has no view of a target above it"),
    # plans
    "a plan that falls": (put(10, rounds_of(1, levels=(1, 0), blocks=(3,))), "are not a plan of 2 levels"),
    "a plan of nothing": (put(10, rounds_of(1, levels=(), blocks=())), "levels () with blocks () are not a plan"),
    "a plan without the target": (put(10, rounds_of(1, levels=(0,), blocks=())), "are not a plan of 2 levels"),
    "a plan of a level twice": (put(10, rounds_of(1, levels=(1, 1), blocks=(3,))), "are not a plan of 2 levels"),
    "a plan with a length too many": (
        put(10, rounds_of(1, levels=(0, 1), blocks=(3, 3))),
        "are not a plan of 2 levels",
    ),
    "a plan within a round": (put(8, rounds_of(0, levels=(0, 1), blocks=(3,))), "the plan changes within round 1"),
    "a draft of a level that rests": (put(10, rounds_of(1, levels=(1,), blocks=())), "level 0 is not in the plan"),
    "a draft of a verifier": (on(3, lambda e: replace(e, level=1)), "level 1 drafts, but it is not the lowest"),
    "a verifier of another level": (on(4, lambda e: replace(e, below=None)), "verifies level None, the plan has 0"),
    # copies
    "a copy of what is not there": (
        copying(Copied(-2, 0, 0.9)),
        "the token at 3 is not a copy of the one at -2",
    ),
    "a copy behind other tokens": (
        copying(Copied(-1, 2, 0.9)),
        "not a copy of the one at -1 after 2 others",
    ),
    "a copy behind more tokens than there are": (
        copying(Copied(-1, 10**15, 0.9)),
        "not a copy of the one at -1",
    ),
    "a copy behind fewer than none": (
        copying(Copied(-1, -1, 0.9)),
        "not a copy of the one at -1",
    ),
    "a copy of itself": (
        copying(Copied(3, 0, 0.9)),
        "not a copy of the one at 3",
    ),
    # tokens
    "a tree whose node hangs on a later one": (
        on(3, told(parents=(-1, 2, 0))),
        "no tree of 3 tokens, nor a chain",
    ),
    "a tree of fewer parents": (
        both(TREE, on(3, lambda e: replace(e, tokens=(*e.tokens[:2], replace(e.tokens[2], parent=None))))),
        "no tree of 3 tokens, nor a chain",
    ),
    "drawn twice, on a line": (on(3, lambda e: saying(e, Draws((1, 2, 1)))), "and none was drawn again"),
    "drawn again, once each": (both(TREE, on(3, lambda e: saying(e, Draws((1, 1, 1))))), "and none was drawn again"),
    "drawn less than once": (both(TREE, on(3, lambda e: saying(e, Draws((0, 2, 1))))), "and none was drawn again"),
    "a correction with a drafted token's number": (
        both(on(7, lambda e: replace(e, serial=1)), on(8, lambda e: replace(e, tokens=e.tokens[:1]))),
        "token 1 was made twice",
    ),
    "a bonus with a drafted token's number": (on(12, lambda e: replace(e, serial=4)), "token 4 was made twice"),
    "two drafts with one number": (on(10, told((2, 5, 6))), "token 2 was made twice"),
    "two drafted tokens with one number": (on(10, told((4, 5, 5))), "token 5 was made twice"),
    "a commit out of place": (on(13, lambda e: replace(e, at=3)), "begins at 3, but 2 tokens were committed"),
    "a token committed twice": (
        on(8, lambda e: replace(e, tokens=(e.tokens[0], e.tokens[0]))),
        "token 0 was not made as stated, or was committed before",
    ),
    "another id than was drafted": (on(8, lambda e: _with_token(e, id=77)), "token 0 was not made as stated"),
    "another maker": (on(8, lambda e: _with_token(e, level=1)), "token 0 was not made as stated"),
    "a draft called a bonus": (on(8, lambda e: _with_token(e, how="bonus")), "token 0 was not made as stated"),
    "a level that never passed it": (on(8, lambda e: _with_token(e, passed=(0, 1))), "token 0 passed (1,), not (0, 1)"),
    "a draft that nobody judged": (
        both(
            on(4, lambda e: outcomes(e, SKIPPED, SKIPPED, SKIPPED)),
            on(8, lambda e: _with_token(e, passed=())),
        ),
        "token 0 was never accepted by the target",
    ),
    "more tokens than were committed": (
        on(14, lambda e: replace(e, committed=7)),
        "says 7 tokens, 6 were committed",
    ),
    # lookups
    "a key longer than the text": (
        on(3, lambda e: saying(working(e, rows=3), Lookups((3, 0, 0)))),
        "a key of 3 tokens after 2",
    ),
    "a key longer than the text and the draft": (
        on(3, lambda e: saying(e, Lookups((1, 4, 0)))),
        "a key of 4 tokens after 3",
    ),
    "a lookup without a key": (
        on(3, lambda e: saying(working(e, rows=0), Lookups((0, 1, 1)))),
        "a key of 0 tokens after 2",
    ),
    "a key of other tokens": (
        on(10, lambda e: saying(e, Lookups((1, 2, 0)))),
        "a key of 2 tokens, of which 1 are alike",
    ),
    "fewer lookups than none": (on(3, lambda e: saying(e, Lookups(silent=-1))), "-1 lookups without an answer"),
    # verifications
    "an accepted token behind a rejected one": (
        on(4, lambda e: outcomes(e, LOST, KEPT, SKIPPED)),
        "is not accepted, then one rejected, then unjudged",
    ),
    "two rejected ones": (on(4, lambda e: outcomes(e, KEPT, LOST, LOST)), "is not accepted, then one rejected"),
    "too few deciding rows": (on(4, lambda e: working(e, rows=1)), "1 deciding rows for 3 tokens"),
    "too many deciding rows": (on(4, lambda e: working(e, rows=5)), "5 deciding rows for 3 tokens"),
    "no deciding row of a tree": (both(TREE, on(4, lambda e: working(e, rows=0))), "0 deciding rows for 3 tokens"),
    "rows to catch up that decide": (on(4, lambda e: working(e, catch_up=2)), "2 deciding rows for 3 tokens"),
    "probes that decide": (on(4, lambda e: working(e, probes=2)), "2 deciding rows for 3 tokens"),
    "a token judged that nobody made": (
        on(4, lambda e: replace(e, checks=(*e.checks[:2], judged(9, 7, SKIPPED)))),
        "token 9 (id 7) was not made",
    ),
    "a token judged by another id": (
        on(4, lambda e: replace(e, checks=(*e.checks[:2], judged(2, 8, SKIPPED)))),
        "token 2 (id 8) was not made",
    ),
    "a bound of an unjudged token": (
        on(4, lambda e: replace(e, bounds=(Bound(2, 0.5, 0.5),))),
        "a bound for token 2, which was not judged",
    ),
    "a rule beyond the best": (
        on(4, lambda e: replace(e, bounds=(Bound(0, 0.6, 0.5),))),
        "a rule that reaches 0.6, and 0.5 at best",
    ),
    "a best beyond certainty": (on(4, lambda e: replace(e, bounds=(Bound(0, None, 1.5),))), "and 1.5 at best"),
    "a rule below nothing": (on(4, lambda e: replace(e, bounds=(Bound(0, -0.5, 0.5),))), "a rule that reaches -0.5"),
    "a place of a tree that was left half judged": (
        both(TREE, on(4, lambda e: outcomes(e, KEPT, LOST, SKIPPED))),
        "at one place is not rejected, then one accepted",
    ),
    "two of one place kept": (
        both(TREE, on(4, lambda e: outcomes(e, KEPT, KEPT, KEPT))),
        "at one place is not rejected, then one accepted",
    ),
    "a token judged behind a rejected one": (
        both(TREE, on(4, lambda e: outcomes(e, LOST, LOST, SKIPPED))),
        "a token was judged after one that was not kept",
    ),
    # caches and totals
    "a rollback forwards": (on(5, lambda e: replace(e, after=9)), "from 4 to 9"),
    "a rollback of nothing": (on(5, lambda e: replace(e, after=4)), "from 4 to 4"),
    "a cache that is too long": (
        on(9, lambda e: replace(e, levels=(KvLength(0, 4, 0, 4, 0),))),
        "level 0 has 4 cached + 0 to catch up, 4 committed + 0 held",
    ),
    "a cache that holds one too many": (
        on(9, lambda e: replace(e, levels=(KvLength(0, 4, 1, 4, 0),))),
        "level 0 has 4 cached + 1 to catch up, 4 committed + 0 held",
    ),
    "a cache that does not add up": (
        on(9, lambda e: Kv(0, (KvLength(0, 3, 1, 4, 1),), 500)),
        "level 0 has 3 cached + 1 to catch up, 4 committed + 1 held",
    ),
    "rows that nobody computed": (
        on(14, lambda e: replace(e, totals=(LevelTotal(0, 6, 9, 0, 6, 300),))),
        "level 0 counts (6, 9, 0, 300), the events (6, 7, 0, 300)",
    ),
    "forwards that nobody ran": (
        on(14, lambda e: replace(e, totals=(LevelTotal(1, 3, 8, 6, 6, 450),))),
        "level 1 counts (3, 8, 6, 450), the events (2, 8, 6, 450)",
    ),
    "another decode time": (on(14, lambda e: replace(e, decode_ns=999)), "decode time 999 ns, the events span 1000 ns"),
}
