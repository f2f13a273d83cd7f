"""What "equal to plain decoding" means for greedy runs: the same ids, or a near tie at the first difference.

A product of one row and a product of n rows may differ in their last bits, so where plain decoding's two best logits
are nearly the same, either may win. The first divergence and plain decoding's margin there are reported, never hidden.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hsd_core import trace
from hsd_core.trace import Event
from hsd_core.trace.metrics import committed_ids

TIE = 1e-3  # logits


@dataclass(frozen=True, slots=True)
class Comparison:
    """`equal` leading ids agree; `margin`: plain decoding's top-two logit margin where the next ones differ, if known.

    Where one text is only longer than the other, no choice between two ids differed, and no margin excuses it.
    """

    equal: int
    diverges: bool
    margin: float | None

    @property
    def holds(self) -> bool:
        """Equal as the project defines it."""
        return not self.diverges or (self.margin is not None and self.margin < TIE)


def compare(run: Sequence[Event], plain: Sequence[Event]) -> Comparison:
    """Compare a run with plain decoding (recorded with at least two likeliest tokens a row for a margin)."""
    own, other = committed_ids(run), committed_ids(plain)
    equal = next((i for i, (a, b) in enumerate(zip(own, other, strict=False)) if a != b), min(len(own), len(other)))
    if equal < min(len(own), len(other)):
        return Comparison(equal, True, _margin(plain, equal))
    return Comparison(equal, len(own) != len(other) and not (_was_stopped(run) or _was_stopped(plain)), None)


def _margin(plain: Iterable[Event], at: int) -> float | None:
    for event in plain:
        if isinstance(event, trace.Bonus) and event.at == at and event.p_row is not None and len(event.p_row.probs) > 1:
            first, second = event.p_row.probs[:2]
            return math.log(first / second)
    return None


def margins(plain: Iterable[Event]) -> tuple[float | None, ...]:
    """The gap between the two best logits at every token of a plain run; None where fewer than two were kept."""
    rows = [event.p_row for event in plain if isinstance(event, trace.Bonus)]
    return tuple(float(f"{_gap(row):.6g}") if row and len(row.probs) > 1 else None for row in rows)


def _gap(row: trace.Row) -> float:
    return math.log(row.probs[0] / row.probs[1])


def _was_stopped(events: Iterable[Event]) -> bool:
    return not any(isinstance(e, trace.Footer) and e.reason != "stopped" for e in events)
