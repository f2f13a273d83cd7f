"""What events are made of: their bases, the kinds of their fields, and records that several of them hold."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct

from hsd_core.typed import MAX_ENTRIES, Int

# Readers check it against the header's levels.
Level = Annotated[Int, Meta(description="an index into the header's levels", extra={"names": "level"})]
Words = Annotated[dict[str, str], Meta(max_length=MAX_ENTRIES)]
Counts = Annotated[dict[str, Int], Meta(max_length=MAX_ENTRIES)]
Figures = Annotated[dict[str, float], Meta(max_length=MAX_ENTRIES)]


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


class Moved(Part, frozen=True):
    """What crossed between the host and a device: ids, rows and states, in bytes, and how long the copies took by the
    device's own clock, in ns."""

    bytes: Int
    ns: Int


class Asked(Part, frozen=True):
    """What a pass asked a store of a text: rows in one query, and how long it took, in ns, as a part of the pass."""

    rows: Int
    ns: Int


class Copied(Part, frozen=True):
    """What a drafted token repeats: the token at `at` of the output (negative: of the prompt, -1 its last one), behind
    `alike` tokens that are the same in both places, as far as they were compared. `share`: how much of its raw
    probability is the copy's; 1 for a lookup."""

    at: Int
    alike: Int
    share: float
