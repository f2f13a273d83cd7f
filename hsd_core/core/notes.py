"""Notes: what one system says of a draft, of a verification or in a `Report`, beside the fields that all of them have.

A system declares its notes as small structs, collects them as `NOTES` in the file `notes.py` of its folder, and puts
them into the mapping `notes` of an event under their names. A reader that lacks the system keeps what it read as plain
JSON and writes it again as it was:

    class Asked(Note, frozen=True):
        rows: Int
        ns: Int

    Verify(..., notes=noted(Asked(rows=3, ns=40_000)))  # in the file: "notes": {"asked": {"rows": 3, "ns": 40000}}
    Asked.of(event)  # the note, None where the event has none

Beside `NOTES` the file may have `CHECKS`: what holds of notes over a whole trace, as functions of (events, header) that
yield what is wrong; `GAUGES`: what is measured beside every pass, as functions that give the note of what this thread
did since they were last asked, None where there is nothing to say; and `lines`: of a run's figures, what the terminal
adds to its totals.
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

SHARED = "hsd_core.levels.notes"  # where those of several systems are declared
_Own = TypeVar("_Own", bound="Note")
Gauge: TypeAlias = "Callable[[], Note | None]"
Check: TypeAlias = "Callable[[Sequence[Event], Header], Iterable[str]]"


class Noted(Protocol):
    """An event that carries notes."""

    @property
    def notes(self) -> Mapping[str, Any]: ...


class Note(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """`note`: its name, that of the class in lower case. `beside`: its fields that have an entry for each token of the
    draft, or none."""

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
        """The note of a level, which counts positions from the prompt's beginning, as it is written: counted from the
        end of its `prompt` tokens."""
        return self

    def ids(self) -> Iterable[Iterable[int]]:
        """Ids of tokens that it names, in parts: a reader without a tokenizer is given their bytes."""
        return ()

    def plus(self: _Own, more: _Own) -> _Own:
        """What a gauge measured of one pass in two parts."""
        raise NotImplementedError

    def figures(self) -> Mapping[str, float]:
        """What a run's figures add up, by the figure's name."""
        return {}

    def wrong(self, draft: Draft, lines: Iterable[tuple[int, Mapping[int, int]]]) -> Iterable[str]:
        """What does not add up, as `trace.checks` reads a stranger's file. lines: for each token of the draft its
        position, and the ids on its line of the text by position, itself included."""
        return ()


class Threshold(Note, frozen=True):
    """The level's stop threshold as it stood, where it moves during a run."""

    theta: float


class Stale(Note, frozen=True):
    """Of levels that work at the same time: while the pass ran, the text that it stands behind was cut, so its tokens
    were dropped, or nothing was judged."""


class Dropped(Note, frozen=True):
    """Of levels that work at the same time: tokens that were drafted meanwhile behind those judged, and fall with the
    rejected one or beside the one that was kept."""

    serials: tuple[Int, ...]


NOTES = (Threshold, Stale, Dropped)


def noted(*notes: Note | None) -> dict[str, Any]:
    """The notes that there are, by name."""
    return {note.note: note for note in notes if note is not None}


def added(*parts: Mapping[str, Note]) -> dict[str, Note]:
    """What gauges measured of one pass in several parts."""
    found: dict[str, Note] = {}
    for part in parts:
        for name, note in part.items():
            found[name] = found[name].plus(note) if name in found else note
    return found


def read_notes(given: Mapping[str, Any], tokens: int | None = None) -> dict[str, Any]:
    """Notes as they stand in a file: those of known systems as their structs, others as they are.

    Args:
        tokens: how many the draft has that they are about.

    Raises:
        ValueError: a known note has other fields, or not one entry for each token; an unknown one is no object, or
            larger than a free object of a file may be.
    """
    kinds, found = known(), {}
    for name, value in given.items():
        note = value
        if not isinstance(value, Note):
            if not isinstance(value, dict):
                raise Wrong("expected an object", f"notes.{name[:80]}")
            if (kind := kinds.get(name)) is None:
                check_free(value, f"notes.{name[:80]}")
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
    """The kinds of notes that are declared here, by name."""
    return _here().notes


def checks() -> tuple[Check, ...]:
    """What systems check of their notes."""
    return _here().checks


def gauges() -> tuple[Gauge, ...]:
    """What is measured beside every pass."""
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
