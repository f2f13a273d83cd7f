"""Notes that levels of several systems write (`core/notes.py`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar

from hsd_core.core.events import Draft, Event, Header, Verify
from hsd_core.core.notes import Note
from hsd_core.models.suffixes import Copied
from hsd_core.typed import Int


class Copies(Note, frozen=True):
    """For each token of a draft its origin, None if it is not a copy."""

    per_token: ClassVar[tuple[str, ...]] = ("copied",)
    copied: tuple[Copied | None, ...]

    def placed(self, prompt: int) -> Copies:
        return Copies(tuple(x and Copied(x.at - prompt, x.alike, float(f"{x.share:.6g}")) for x in self.copied))

    def wrong(self, draft: Draft, lines: Iterable[tuple[int, Mapping[int, int]]]) -> Iterable[str]:
        """A copy equals its origin, after the same tokens."""
        for copied, (at, line) in zip(self.copied, lines, strict=True):
            if copied is None:
                continue
            # lazily: an untrusted file may claim any length, and the text ends the comparison
            back = range(copied.alike + 1)
            same = all((own := line.get(at - i)) is not None and own == line.get(copied.at - i) for i in back)
            if copied.at >= at or copied.alike < 0 or not same:
                yield f"the token at {at} is not a copy of the one at {copied.at} after {copied.alike} others"


class Draws(Note, frozen=True):
    """Of siblings drawn with replacement: how often each token of a draft was drawn.

    Every draw is an offer: the verifier judges the first one of a token (`Check`); after its rejection the others are
    rejected without a coin, each with its residual."""

    per_token: ClassVar[tuple[str, ...]] = ("times",)
    times: tuple[Int, ...]

    def wrong(self, draft: Draft, lines: Iterable[tuple[int, Mapping[int, int]]]) -> Iterable[str]:
        if not draft.is_tree or min(self.times) < 1 or max(self.times) == 1:
            yield f"it says how often its tokens were drawn, {self.times}, and none was drawn again"


class Lookups(Note, frozen=True):
    """`keys`: for each token the length of the key that found it (0 for one that a model drafted; empty if none was
    looked up); one lookup in D_c returns several tokens, the first of them with `Copied.alike` equal to the key.
    `silent`: lookups that no database answered.

    The entries of D_c are not listed, as they can be computed from the committed text and the level's `params`
    (`Databases.settings`)."""

    per_token: ClassVar[tuple[str, ...]] = ("keys",)
    keys: tuple[Int, ...] = ()
    silent: Int = 0


def unanswered(notes: Mapping[str, Note], silent: int) -> Lookups | None:
    """A draft's note on lookups, from its other notes and `silent` more lookups without an answer."""
    known = notes.get(Lookups.note)
    keys = known.keys if isinstance(known, Lookups) else ()
    return Lookups(keys, silent) if keys or silent else None


def check_lookups(events: Sequence[Event], header: Header) -> Iterable[str]:
    """Keys are within the text, and a copy comes after its key."""
    for i, event in enumerate(events):
        where = f"event {i} ({event.event})"
        if isinstance(event, Draft) and (lookups := Lookups.of(event)):
            copies, before = Copies.of(event), len(header.prompt_ids) + event.at
            for node, key in enumerate(lookups.keys):
                copied = copies.copied[node] if copies else None
                if not (0 if event.work.rows else 1) <= key <= before + node:
                    yield f"{where}: a key of {key} tokens after {before + node}"
                elif copied is not None and copied.alike < key:
                    yield f"{where}: a key of {key} tokens, of which {copied.alike} are alike"
            if lookups.silent < 0:
                yield f"{where}: {lookups.silent} lookups without an answer"


class Moved(Note, frozen=True):
    """Copies between the machine's devices: ids, rows and states, in bytes, and their time by the device's clock, in
    ns."""

    bytes: Int
    ns: Int

    def plus(self, more: Moved) -> Moved:
        return Moved(self.bytes + more.bytes, self.ns + more.ns)

    def figures(self) -> Mapping[str, float]:
        return {"moved_bytes": self.bytes, "moved_ms": self.ns / 1e6}


def moved() -> Callable[[], Moved | None]:
    """Gives the copies of this thread since the last call; None for a run on one device."""
    from hsd_core.models.gpu.transfer import crossed

    return lambda: Moved(*found) if (found := crossed())[0] else None


def check_moves(events: Sequence[Event], header: Header) -> Iterable[str]:
    """Copies between devices need more than one device, and have bytes."""
    alone = all(level.device == "cpu" for level in header.levels)
    for i, event in enumerate(events):
        note = Moved.of(event) if isinstance(event, (Draft, Verify)) else None
        if note and (alone or not note.bytes):
            where = "all levels are on the CPU" if alone else "nothing did"
            yield f"event {i} ({event.event}): {note.bytes} bytes crossed between devices, and {where}"


class Batch(Note, frozen=True):
    """The passes of a draft or a verification in a batch of runs (`hsd_core/batch`).

    runs, rows: the numbers of the runs whose rows were computed in these passes, its own among them, and the rows of
    each, over all `passes` through a range of layers, which took `ns`; the rest of the event's time the run waited.
    alone: why passes were not joined while others waited.
    """

    runs: tuple[Int, ...]
    rows: tuple[Int, ...]
    passes: Int
    ns: Int
    alone: str = ""

    def plus(self, more: Batch) -> Batch:
        rows = Counter(dict(zip(self.runs, self.rows, strict=True)))
        rows.update(dict(zip(more.runs, more.rows, strict=True)))
        runs = tuple(sorted(rows))
        took = self.passes + more.passes, self.ns + more.ns
        return Batch(runs, tuple(rows[run] for run in runs), *took, self.alone or more.alone)


def shared() -> Callable[[], Batch | None]:
    """Gives the passes of this thread's run since the last call; None if it is in no batch."""
    from hsd_core.models.joint_pass import JOINS

    def taken() -> Batch | None:
        if (joins := JOINS.get()) is None or (found := joins.taken()) is None:
            return None
        return Batch(tuple(found.rows), tuple(found.rows.values()), found.passes, found.ns, found.alone)

    return taken


def check_batches(events: Sequence[Event], header: Header) -> Iterable[str]:
    """Every run in a pass has rows, and the event itself computed some."""
    for i, event in enumerate(events):
        note = Batch.of(event) if isinstance(event, (Draft, Verify)) else None
        if note is None:
            continue
        if len(note.runs) != len(note.rows) or sorted({*note.runs}) != [*note.runs] or min(note.rows, default=0) < 1:
            yield f"event {i} ({event.event}): runs {note.runs} with rows {note.rows} in its passes"
        elif isinstance(event, Verify) and not event.work.rows:
            yield f"event {i} ({event.event}): it shared passes, and computed no row"


NOTES = (Copies, Draws, Lookups, Moved, Batch)
CHECKS = (check_lookups, check_moves, check_batches)
GAUGES = (moved, shared)
