"""The components of events: base classes, field types, and structs that several of them hold."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct

from hsd_core.typed import MAX_ENTRIES, Int

# Readers check that the header has such a level.
Level = Annotated[Int, Meta(description="an index into the header's levels", extra={"names": "level"})]
Words = Annotated[dict[str, str], Meta(max_length=MAX_ENTRIES)]
Figures = Annotated[dict[str, float], Meta(max_length=MAX_ENTRIES)]
Notes = Annotated[dict[str, Any], Meta(max_length=64, description="data of systems, by the name of the note")]


class Part(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A component of events. It is never part of a reference cycle, so the garbage collector can skip it."""


class Record(Part, frozen=True, tag=str.lower, tag_field="event"):
    """An event; `event` is its name and the first key of its JSON."""

    event: ClassVar[str]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.event = cls.__name__.lower()


def check_lengths(record: Struct, *names: str) -> None:
    """Refuse parallel lists that differ in length."""
    if len({len(getattr(record, name)) for name in names}) > 1:
        raise ValueError(f"{', '.join(names)} differ in length")


class Row(Part, frozen=True):
    """The head of a probability row: the most likely ids, their probabilities, and the rest of the mass."""

    ids: tuple[Int, ...]
    probs: tuple[float, ...]
    tail: float

    def __post_init__(self) -> None:
        check_lengths(self, "ids", "probs")


class Span(Part, frozen=True):
    """Layers lo, ..., hi - 1 of a model, run once on `rows` positions: their weights were read once."""

    lo: Int
    hi: Int
    rows: Int


class Work(Part, frozen=True, omit_defaults=True):
    """What passes computed: `rows` in all; `catch_up` of them only brought the level's cache up to date, and `probes`
    went back to the drafter without deciding anything. `ran`: the layers of a shared model that were run, pass by pass
    (empty for a level that shares none); layers that a level below had already run on a position are not run again."""

    forwards: Int = 0
    rows: Int = 0
    catch_up: Int = 0
    ran: tuple[Span, ...] = ()
    probes: Int = 0

    @property
    def deciding(self) -> int:
        """Rows that each decide which token a position has."""
        return self.rows - self.catch_up - self.probes
