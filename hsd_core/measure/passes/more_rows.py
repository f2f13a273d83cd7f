"""What several rows cost beside one: the ratio, its limit, and what a pass that misses it costs more for, in words.

A pass of a few rows reads its weights once like a pass of one row, so it should cost little more. Where it costs more,
either the products are at what their kernel multiplies at most with so many rows, or something else is in the way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hsd_core.grammar import kinds

FEW, MANY = 8, 256  # rows
KINDS = ("float32", "int8", "int4")  # of weights, as levels keep them
FLOATS, ROUNDED = 1.3, 1.6  # times one row, at most: of float32 weights, of 8 and 4 bits
NEAR = 0.8  # of a kernel's rate: no quicker products are to be had
_OF_WEIGHTS = ("products", "head")  # parts of a pass


class MoreRows(NamedTuple):
    """A level behind a text: ms of one row and of `FEW`.

    `reached`: multiply-adds with weights in a ms, of a pass of `FEW` rows; `kernel`, `many`: what its kernel reaches
    alone with as many rows and with many; None where nobody told. `why`: "" where the limit is kept.
    """

    level: str
    context: int
    one: float
    few: float
    limit: float
    reached: float | None
    kernel: float | None
    many: float | None
    why: str

    @property
    def ratio(self) -> float:
        return self.few / self.one


def key_of(kind: str, rows: int) -> str:
    """Where a kernel's rate stands among a machine's limits: multiply-adds in a ms."""
    return f"{kind}_{'many' if rows == MANY else 'few'}_per_ms"


def kernel_rate(limits: Mapping[str, Any], kind: str, rows: int) -> float | None:
    """A rate among a machine's limits; None of limits that were measured before there were any."""
    return limits.get(key_of(kind, rows))


def limit_of(level: str) -> float:
    """A level's limit, by its spec: copies of few bits, and drafts above no layer of the target, multiply integers on a
    CPU."""
    kind = kinds().get(level.partition("@")[0])
    alone = kind is not None and kind.shares.reads is not None and kind.shares.reads.depth == 0
    return ROUNDED if alone or "int8" in level or "int4" in level else FLOATS


def more_rows(records: Sequence[Mapping[str, Any]]) -> Iterator[MoreRows]:
    """Of every level and text with passes of one row and of `FEW`, in their order."""
    found = {(r["level"], r["context"], r["rows"]): r for r in records if r["what"] == "pass"}
    for (level, context, rows), one in found.items():
        few = found.get((level, context, FEW))
        if rows == 1 and few is not None:
            told, limit = few.get("multiplies") or {}, limit_of(level)
            rates = (told.get("reached"), told.get("few"), told.get("many"))
            why = _why(one, few, rates[0], rates[1]) if few["ms"] > limit * one["ms"] else ""
            yield MoreRows(level, context, one["ms"], few["ms"], limit, *rates, why)


def _why(one: Mapping[str, Any], few: Mapping[str, Any], reached: float | None, kernel: float | None) -> str:
    if not (one["parts"] and few["parts"]):
        return "passes were not taken apart"
    more = {part: few["parts"][part] - one["parts"][part] for part in few["parts"] if part not in _OF_WEIGHTS}
    more["products"] = sum(few["parts"][part] - one["parts"][part] for part in _OF_WEIGHTS)
    part = max(more, key=lambda name: more[name])
    share = f"{part}: {more[part] / (few['ms'] - one['ms']):.0%} of the difference"
    if part != "products" or reached is None or kernel is None:
        return share
    if reached >= NEAR * kernel:
        return f"{share}, as quick as the kernel multiplies {FEW} rows"
    return f"{share}, at {reached / kernel:.0%} of what the kernel multiplies with {FEW} rows out of a cache"
