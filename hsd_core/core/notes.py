"""Notes: data of one system on a draft, a verification or a `Report`, in addition to the fields of the event.

A system declares its notes as small structs, lists them as `NOTES` in the file `notes.py` of its folder, and adds them
to the mapping `notes` of an event by name. A reader without the system keeps them as plain JSON and writes them
unchanged:

    class Asked(Note, frozen=True):
        rows: Int
        ns: Int

    Verify(..., notes=noted(Asked(rows=3, ns=40_000)))  # in the file: "notes": {"asked": {"rows": 3, "ns": 40000}}
    Asked.of(event)  # the note, None where the event has none

The file may also have `CHECKS`: functions of (events, header) that yield what is wrong with the notes of a trace;
`GAUGES`: functions that give a run a function, which is called after every pass and returns a note on what this thread
did since its last call, or None; and `lines`: a function of a run's figures that yields lines for the terminal's
totals.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from hsd_core.grammar.registry import SYSTEMS, plugins
from hsd_core.typed import Int, Wrong, check_free, convert

if TYPE_CHECKING:
    from hsd_core.core.events import Draft, Event, Header

MAX_ENTRIES = 1_000_000  # of an unknown note: every layer of a text of 10,000 tokens, twice
SHARED = "hsd_core.levels.notes"  # the notes of several systems
_Own = TypeVar("_Own", bound="Note")
Gauge: TypeAlias = "Callable[[], Callable[[], Note | None]]"
Check: TypeAlias = "Callable[[Sequence[Event], Header], Iterable[str]]"


class Noted(Protocol):
    """An event that carries notes."""

    @property
    def notes(self) -> Mapping[str, Any]: ...


class Note(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """`note`: its name, that of the class in lower case. `per_token`: its fields that have an entry for each token of
    the draft, or none."""

    note: ClassVar[str]
    per_token: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.note = cls.__name__.lower()

    @classmethod
    def of(cls: type[_Own], event: Noted) -> _Own | None:
        """The event's note of this kind."""
        found = event.notes.get(cls.note)
        return found if isinstance(found, cls) else None

    def placed(self: _Own, prompt: int) -> _Own:
        """The note as it is written: positions, which levels count from the start of the prompt, are counted from the
        end of its `prompt` tokens."""
        return self

    def ids(self) -> Iterable[Iterable[int]]:
        """Ids of tokens that it names, in parts; the trace adds their bytes for readers without a tokenizer."""
        return ()

    def plus(self: _Own, more: _Own) -> _Own:
        """The sum of two measurements of one pass."""
        raise NotImplementedError

    def figures(self) -> Mapping[str, float]:
        """Figures that are summed over a run, by name."""
        return {}

    def wrong(self, draft: Draft, lines: Iterable[tuple[int, Mapping[int, int]]]) -> Iterable[str]:
        """What is inconsistent, for `trace.checks`. lines: for each token of the draft its position, and the ids of its
        line of text by position, the token included."""
        return ()


class Threshold(Note, frozen=True):
    """The level's stop threshold at that time, if it moves during a run."""

    theta: float


class Stale(Note, frozen=True):
    """With levels on several lanes: the text before the pass was cut while it ran, so its tokens were dropped, or
    nothing was judged."""


class Dropped(Note, frozen=True):
    """With levels on several lanes: tokens that were drafted meanwhile after the judged ones, and are dropped because
    one before them was rejected or another branch was kept."""

    serials: tuple[Int, ...]


NOTES = (Threshold, Stale, Dropped)


def noted(*notes: Note | None) -> dict[str, Any]:
    """Notes by name, without None."""
    return {note.note: note for note in notes if note is not None}


def added(*parts: Mapping[str, Note]) -> dict[str, Note]:
    """The sums of several measurements of one pass."""
    found: dict[str, Note] = {}
    for part in parts:
        for name, note in part.items():
            found[name] = found[name].plus(note) if name in found else note
    return found


def read_notes(given: Mapping[str, Any], tokens: int | None = None) -> dict[str, Any]:
    """Notes of a file: those of known systems as their structs, others unchanged.

    Args:
        tokens: the number of tokens of their draft.

    Raises:
        ValueError: a known note has other fields, or not one entry for each token; an unknown one is not an object, or
            larger than `check_free` allows.
    """
    kinds, found = known(), {}
    for name, value in given.items():
        note = value
        if not isinstance(value, Note):
            if not isinstance(value, dict):
                raise Wrong("expected an object", f"notes.{name[:80]}")
            if (kind := kinds.get(name)) is None:
                check_free(value, f"notes.{name[:80]}", MAX_ENTRIES)
            else:
                note = _typed(name, value, kind)
        if isinstance(note, Note) and tokens is not None:
            for field in note.per_token:
                if (entries := getattr(note, field)) and len(entries) != tokens:
                    raise Wrong(f"not one entry for each of {tokens} tokens", f"notes.{name}.{field}")
        found[name] = note
    return found


class _Declared(NamedTuple):
    notes: Mapping[str, type[Note]]
    checks: tuple[Check, ...]
    gauges: tuple[Gauge, ...]


def known() -> Mapping[str, type[Note]]:
    """The declared kinds of notes, by name."""
    return _here().notes


def checks() -> tuple[Check, ...]:
    """The checks that systems declare."""
    return _here().checks


def gauges() -> tuple[Gauge, ...]:
    """The gauges that systems declare."""
    return _here().gauges


def _here() -> _Declared:
    return _declared(tuple(importlib.import_module(SYSTEMS).__path__))


@lru_cache(maxsize=2)
def _declared(path: tuple[str, ...]) -> _Declared:
    modules = [importlib.import_module(SHARED), *plugins("notes")]
    found = [*NOTES, *(note for module in modules for note in module.NOTES)]
    checks, gauges = (
        tuple(one for module in modules for one in getattr(module, name, ())) for name in ("CHECKS", "GAUGES")
    )
    return _Declared({note.note: note for note in found}, checks, gauges)


def _typed(name: str, value: dict[str, Any], kind: type[_Own]) -> _Own:
    try:
        return convert(value, kind)
    except Wrong as error:
        raise Wrong(error.what, f"notes.{name}" + (f".{error.where}" if error.where else "")) from None
