"""What events are made of: their bases, the kinds of their fields, and records that several of them hold."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct

from hsd_core.typed import MAX_ENTRIES, Int

# Readers check it against the header's levels.
Level = Annotated[Int, Meta(description="an index into the header's levels", extra={"names": "level"})]
Words = Annotated[dict[str, str], Meta(max_length=MAX_ENTRIES)]
Figures = Annotated[dict[str, float], Meta(max_length=MAX_ENTRIES)]
Notes = Annotated[dict[str, Any], Meta(max_length=64, description="what systems say, by the name of the note")]


class Part(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """What events are made of. It refers to nothing that could refer back, so no collector need look at it."""


class Record(Part, frozen=True, tag=str.lower, tag_field="event"):
    """An event; `event` is its name, which stands first in its JSON."""

    event: ClassVar[str]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.event = cls.__name__.lower()


def check_lengths(record: Struct, *names: str) -> None:
    """Refuse lists that run side by side and differ in length."""
    if len({len(getattr(record, name)) for name in names}) > 1:
        raise ValueError(f"{', '.join(names)} differ in length")


class Row(Part, frozen=True):
    """The head of a probability row: the most likely ids, their probabilities, and what is left."""

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
