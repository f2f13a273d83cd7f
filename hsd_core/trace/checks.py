"""The identities that every trace satisfies, whoever wrote it.

`check` reads a trace without trusting it and lists inconsistencies: it protects readers from damaged files, and tests
the engine and its writer.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise

from hsd_core.core import events as trace
from hsd_core.core.events import Event
from hsd_core.core.notes import Note, Stale, checks
from hsd_core.trace.conventions import lanes_of, round_number


def check(events: Sequence[Event]) -> list[str]:
    """The identities that a trace violates, as sentences; empty if all hold."""
    header = events[0] if events else None
    if not isinstance(header, trace.Header):
        return ["the first event is not a header"]
    levels = len(header.levels)
    found = (_order(events, levels), _courses(events, levels - 1), _tokens(events, header))
    ours = (_caches(events), _totals(events))
    return [*chain(*found, *(check(events, header) for check in checks()), *ours)]


def _order(events: Sequence[Event], levels: int) -> Iterable[str]:
    footers = [i for i, e in enumerate(events) if isinstance(e, trace.Footer)]
    if len(footers) > 1:
        yield f"{len(footers)} footers"
    header = events[0]
    lanes = lanes_of(header) if isinstance(header, trace.Header) else (0,) * levels
    apart = len({*lanes}) > 1
    clocks: dict[int | None, int] = {}  # by lane if there are several; None: events of no lane
    rounds = 0
    for i, event in enumerate(events):
        level = getattr(event, "level", 0)
        if not 0 <= level < levels:
            yield f"event {i} ({event.event}): level {level} of a stack of {levels}"
        if footers and i > footers[0] and not isinstance(event, (trace.Baseline, trace.Report, trace.Piece)):
            yield f"event {i} ({event.event}) after the footer"
        begin, end = getattr(event, "t0", None), getattr(event, "t1", getattr(event, "t", None))
        if begin is not None and end is not None and begin > end:
            yield f"event {i} ({event.event}): ends before it begins"
        is_pass = isinstance(event, (trace.Draft, trace.Verify, trace.Prefill))
        lane = lanes[level] if apart and is_pass and 0 <= level < levels else None
        clock = 0 if end is None else end if begin is None or not apart else begin
        if end is not None:
            if clock < clocks.get(lane, 0):
                yield f"event {i} ({event.event}): the clock runs backwards"
            clocks[lane] = max(clocks.get(lane, 0), end)
        round_ = rounds if (named := getattr(event, "round", None)) is None else named
        if round_ not in (rounds, rounds + 1):
            yield f"event {i} ({event.event}): round {round_number(round_)} follows round {round_number(rounds)}"
        rounds = round_


def _courses(events: Sequence[Event], target: int) -> Iterable[str]:
    """A plan holds from the beginning of a round: its bottom level drafts, every other one verifies the next lower."""
    below: dict[int, int | None] = {i: i - 1 if i else None for i in range(target + 1)}
    working = -1  # the last round in which a level was run
    for i, event in enumerate(events):
        where = f"event {i} ({event.event})"
        if isinstance(event, trace.Plan):
            rising = all(a < b for a, b in pairwise(event.levels))
            if not rising or event.levels[-1:] != (target,) or len(event.blocks) != len(event.levels) - 1:
                yield f"{where}: levels {event.levels} with blocks {event.blocks} are not a plan of {target + 1} levels"
            if event.round <= working:
                yield f"{where}: the plan changes within round {round_number(event.round)}"
            below = dict(zip(event.levels, (None, *event.levels), strict=False))
        elif isinstance(event, (trace.Draft, trace.Verify, trace.Prefill)):
            working = working if event.round is None else event.round
            if event.level not in below:
                yield f"{where}: level {event.level} is not in the plan"
            elif isinstance(event, trace.Draft) and below[event.level] is not None:
                yield f"{where}: level {event.level} drafts, but it is not the lowest of the plan"
            elif isinstance(event, trace.Verify) and below[event.level] != event.below:
                yield f"{where}: verifies level {event.below}, the plan has {below[event.level]} there"


def _line(serial: int, branches: dict[int, tuple[int, int]], made: dict[int, tuple[int, int, str]]) -> dict[int, int]:
    """Position -> id of an unjudged token and of the unjudged ones before it."""
    found: dict[int, int] = {}
    while serial in branches:
        parent, at = branches[serial]
        found[at], serial = made[serial][1], parent
    return found


def _lines(
    event: trace.Draft,
    written: dict[int, int],
    branches: dict[int, tuple[int, int]],
    made: dict[int, tuple[int, int, str]],
) -> Iterable[tuple[int, Mapping[int, int]]]:
    """For each drafted token its position, and the ids of its line of text by position."""
    parents, serials = event.parents, event.parent_serials
    for node in range(len(event.tokens)):
        path = _path(parents, node)
        own = {event.at + depth: event.ids[one] for depth, one in enumerate(path)}
        yield event.at + len(path) - 1, ChainMap(own, _line(serials[path[0]], branches, made), written)


def _path(parents: Sequence[int], node: int) -> list[int]:
    """The nodes from the root of a drafted tree to `node`."""
    path = [node]
    while 0 <= (above := parents[path[-1]]) < path[-1]:
        path.append(above)
    return path[::-1]


def _tokens(events: Sequence[Event], header: trace.Header) -> Iterable[str]:
    """Every token is made once, judged under its id, and committed once, in order, after the target accepted it."""
    made: dict[int, tuple[int, int, str]] = {}  # serial -> (level, id, how)
    passed: dict[int, tuple[int, ...]] = {}
    written = dict(enumerate(header.prompt_ids, -len(header.prompt_ids)))  # position -> the id written there last
    branches: dict[int, tuple[int, int]] = {}  # serial of a tree's node -> parent (-1: none), position
    places: dict[int, int] = {}  # serial -> position, judged nodes included
    committed, target = 0, len(header.levels) - 1
    for i, event in enumerate(events):
        where = f"event {i} ({event.event})"
        if isinstance(event, trace.Draft):
            for serial, id_ in zip(event.serials, event.ids, strict=False):
                if serial in made:
                    yield f"{where}: token {serial} was made twice"
                made[serial] = (event.level, id_, "draft")
            if not _in_order(event):
                yield f"{where}: it is no tree of {len(event.tokens)} tokens, nor a chain"
                continue
            if any(on >= 0 and on not in made for on in event.parent_serials):
                yield f"{where}: it follows a token that was never made"
            notes = [note for note in event.notes.values() if isinstance(note, Note)]
            if Stale.of(event):  # its text was cut
                continue
            for note in notes:
                yield from (f"{where}: {wrong}" for wrong in note.wrong(event, _lines(event, written, branches, made)))
            if not event.is_tree:
                written.update(enumerate(event.ids, event.at))
            for serial, parent in zip(event.serials, event.parent_serials, strict=True) if event.is_tree else ():
                at = places[parent] + 1 if parent in places else event.at
                branches[serial] = (parent, at)
                places[serial] = at
        elif isinstance(event, (trace.Correct, trace.Bonus)):
            if event.serial in made:
                yield f"{where}: token {event.serial} was made twice"
            made[event.serial] = (event.level, event.id, event.event)
            written[event.at] = event.id
        elif isinstance(event, trace.Verify):
            yield from _verification(event, made, branches, where)
            for c in event.checks:
                if c.outcome == "accepted":
                    if c.serial in branches:
                        written[branches.pop(c.serial)[1]] = c.id
                    passed[c.serial] = (*passed.get(c.serial, ()), event.level)
        elif isinstance(event, trace.Commit):
            if event.at != committed:
                yield f"{where}: begins at {event.at}, but {committed} tokens were committed"
            committed += len(event.tokens)
            for token in event.tokens:
                if made.pop(token.serial, None) != (token.level, token.id, token.how):
                    yield f"{where}: token {token.serial} was not made as stated, or was committed before"
                if token.passed != passed.get(token.serial, ()):
                    yield f"{where}: token {token.serial} passed {passed.get(token.serial, ())}, not {token.passed}"
                if token.level != target and target not in token.passed:
                    yield f"{where}: token {token.serial} was never accepted by the target"
        elif isinstance(event, trace.Footer) and event.committed != committed:
            yield f"{where}: says {event.committed} tokens, {committed} were committed"


def _in_order(event: trace.Draft) -> bool:
    """Whether all tokens of a draft name a parent or none does, and parents of this draft come first."""
    own = {serial: place for place, serial in enumerate(event.serials)}
    places = [own.get(serial, -1) for serial in event.parent_serials]
    same = all((token.parent is not None) == event.is_tree for token in event.tokens)
    return same and all(place < node for node, place in enumerate(places))


def _verification(
    event: trace.Verify, made: dict[int, tuple[int, int, str]], branches: dict[int, tuple[int, int]], where: str
) -> Iterable[str]:
    outcomes = [c.outcome for c in event.checks]
    is_tree = any(c.serial in branches for c in event.checks)
    if is_tree:
        yield from _forks(event, branches, where)
    elif not _in_a_line(outcomes):
        yield f"{where}: {outcomes} is not accepted, then one rejected, then unjudged"
    decided = event.work.deciding
    if not Stale.of(event) and not (1 if is_tree else max(1, len(event.checks))) <= decided <= len(event.checks) + 1:
        yield f"{where}: {decided} deciding rows for {len(event.checks)} tokens"
    for c in event.checks:
        if c.serial not in made or made[c.serial][1] != c.id:
            yield f"{where}: token {c.serial} (id {c.id}) was not made"
    judged = {c.serial for c in event.checks if c.outcome != "unjudged"}
    for bound in event.bounds:
        if bound.first not in judged:
            yield f"{where}: a bound for token {bound.first}, which was not judged"
        if not 0.0 <= (bound.best if bound.rule is None else bound.rule) <= bound.best <= 1.0:
            yield f"{where}: a rule that reaches {bound.rule}, and {bound.best} at best"


def _in_a_line(outcomes: Sequence[str]) -> bool:
    """Whether outcomes are those of a chain: accepted, then at most one rejected, then unjudged."""
    kept = outcomes.count("accepted")
    return list(outcomes) == (["accepted"] * kept + ["rejected"] + ["unjudged"] * len(outcomes))[: len(outcomes)]


def _forks(event: trace.Verify, branches: dict[int, tuple[int, int]], where: str) -> Iterable[str]:
    """In a tree every fork on the kept path rejects some offers, then accepts one or none; others are unjudged."""
    at: dict[int, list[trace.Check]] = {}
    judged = {c.serial for c in event.checks}
    for c in event.checks:
        parent = branches.get(c.serial, (-1, 0))[0]
        at.setdefault(parent if parent in judged else -1, []).append(c)  # a kept parent is part of the text
    fork: int | None = -1
    while fork is not None and (offers := at.pop(fork, [])):
        outcomes = [c.outcome for c in offers]
        kept = next((c.serial for c in offers if c.outcome == "accepted"), None)
        rejected = outcomes.index("accepted") if kept is not None else len(outcomes)
        rest = ["unjudged"] * (len(outcomes) - rejected - 1)
        if outcomes != ["rejected"] * rejected + (["accepted", *rest] if kept is not None else []):
            yield f"{where}: {outcomes} at one place is not rejected, then one accepted, then unjudged"
        fork = kept
    if any(c.outcome != "unjudged" for offers in at.values() for c in offers):
        yield f"{where}: a token was judged after one that was not kept"


def _caches(events: Sequence[Event]) -> Iterable[str]:
    for i, event in enumerate(events):
        if isinstance(event, trace.Rollback) and event.after >= event.before:
            yield f"event {i} (rollback): from {event.before} to {event.after}"
        if not isinstance(event, trace.Kv):
            continue
        for kv in event.levels:
            if kv.cached + kv.catch_up != kv.committed + kv.held or kv.catch_up < 1:
                yield (
                    f"event {i} (kv): level {kv.level} has {kv.cached} cached + {kv.catch_up} to catch up, "
                    f"{kv.committed} committed + {kv.held} held"
                )


def _totals(events: Sequence[Event]) -> Iterable[str]:
    footer = next((e for e in events if isinstance(e, trace.Footer)), None)
    if footer is None:
        return
    for total in footer.totals:
        drafts = [e for e in events if isinstance(e, trace.Draft) and e.level == total.level]
        verifies = [e for e in events if isinstance(e, trace.Verify) and e.level == total.level]
        works = [e.work for e in drafts] + [e.work for e in verifies]
        forwards = sum(work.forwards for work in works)
        rows = sum(work.rows for work in works)
        judged = sum(len(e.checks) for e in verifies)
        busy = sum(e.t1 - e.t0 for e in drafts) + sum(e.t1 - e.t0 for e in verifies)
        counted = (total.forwards, total.rows, total.tokens_in, total.ns)
        if counted != (forwards, rows, judged, busy):
            yield f"footer: level {total.level} counts {counted}, the events {(forwards, rows, judged, busy)}"
    times = [e.t for e in events if isinstance(e, trace.Commit)]
    prefilled = max((e.t1 for e in events if isinstance(e, trace.Prefill) and e.round is None), default=0)
    if times and times[-1] - prefilled != footer.decode_ns:
        yield f"footer: decode time {footer.decode_ns} ns, the events span {times[-1] - prefilled} ns"
