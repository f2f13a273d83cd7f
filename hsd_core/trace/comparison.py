"""What "equal to plain decoding" means for greedy runs: the same ids, or a near tie at the first difference.

A product of one row and a product of n rows may differ in their last bits, so either of two nearly equal best logits
may win. The first divergence and plain decoding's margin there are always reported.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from hsd_core.core import events as trace
from hsd_core.core.events import Event
from hsd_core.models.sampling import is_greedy
from hsd_core.trace.metrics import committed_ids, finished, token_times

TIE = 1e-3  # logits


@dataclass(frozen=True, slots=True)
class Comparison:
    """`equal` leading ids agree; `margin`: plain decoding's top-two logit margin at the first difference, if known.

    If one text is only longer than the other, there is no margin.
    """

    equal: int
    diverges: bool
    margin: float | None

    @property
    def holds(self) -> bool:
        """Whether the texts are equal up to a near tie."""
        return not self.diverges or (self.margin is not None and self.margin < TIE)


def compare(run: Sequence[Event], plain: Sequence[Event]) -> Comparison:
    """Compare a run with plain decoding, or with another run of the same target (either recorded with at least two
    likeliest tokens a row for a margin)."""
    own, other = committed_ids(run), committed_ids(plain)
    equal = shared_prefix(own, other)
    if equal < min(len(own), len(other)):
        return Comparison(equal, True, _margin(plain, equal))
    return Comparison(equal, len(own) != len(other) and finished(run) and finished(plain), None)


def differing(run: Iterable[Event]) -> Comparison | None:
    """The first difference of a greedy run from its baseline; None if there is none, or for samples, which agree in
    distribution only."""
    events = list(run)
    found = next((event for event in events if isinstance(event, trace.Baseline)), None)
    header = events[0]
    if found is None or not found.diverges or not isinstance(header, trace.Header) or not is_greedy(header.sampling):
        return None
    return Comparison(found.equal, True, found.margin)


def shared_prefix(one: Sequence[object], other: Sequence[object]) -> int:
    """How many leading items agree."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def baseline_of(run: Sequence[Event], plain: Sequence[Event]) -> trace.Baseline | None:
    """Plain decoding as the baseline of a run with the same prompt and seed; None if it was stopped."""
    header, footer = plain[0], plain[-1]
    if not isinstance(header, trace.Header) or not isinstance(footer, trace.Footer) or footer.reason == "stopped":
        return None
    same, times, ids = compare(run, plain), tuple(token_times(plain)), tuple(committed_ids(plain))
    gaps = margins(plain)[: len(ids)]  # a token after the end may have been drawn and cut
    return trace.Baseline(header.stack, footer.prefill_ns, times, same.equal, same.diverges, same.margin, ids, gaps)


def _margin(run: Sequence[Event], at: int) -> float | None:
    """The gap between the two best logits of the target's row that decided on the committed token at position `at`."""
    commits = [e for e in run if isinstance(e, trace.Commit)]
    serial = next((t.serial for e in commits for i, t in enumerate(e.tokens, e.at) if i == at), None)
    row = next((row for own, row in _target_rows(run) if own == serial), None)
    if row is None or len(row.probs) < 2 or not row.probs[1]:
        return None
    return _gap(row)


def _target_rows(run: Iterable[Event]) -> Iterator[tuple[int, trace.Row | None]]:
    """(serial, the target's row that decided on it) of every token."""
    top = 0
    for event in run:
        if isinstance(event, trace.Header):
            top = len(event.levels) - 1
        elif isinstance(event, trace.Bonus | trace.Correct) and event.level == top:
            yield event.serial, event.p_row
        elif isinstance(event, trace.Verify) and event.level == top:
            yield from ((check.serial, check.p_row) for check in event.checks)


def margins(plain: Iterable[Event]) -> tuple[float | None, ...]:
    """The gap between the two best logits at every token of a plain run; None if fewer than two were recorded."""
    rows = [event.p_row for event in plain if isinstance(event, trace.Bonus)]
    return tuple(float(f"{_gap(row):.6g}") if row and len(row.probs) > 1 else None for row in rows)


def _gap(row: trace.Row) -> float:
    return math.log(row.probs[0] / row.probs[1])


def followed(
    run: Iterator[Event],
    plain: Callable[[], Iterator[Event]] | None,
    read: Callable[[list[int]], trace.Report | None] | None,
    price: Callable[[Sequence[Event], Sequence[int]], trace.Report | None],
    priced: bool | None,
) -> Generator[Event, None, None]:
    """A run, then what is measured of it afterwards. priced: whether its text's price is; None: if it is not exact."""
    seen: list[Event] = []
    kept: tuple[type, ...] = (trace.Header, trace.Commit, trace.Footer)
    with closing(run):  # type: ignore[type-var]
        for event in run:
            if isinstance(event, trace.Header) and (not event.lossless if priced is None else priced):
                kept = (*kept, trace.Verify, trace.Correct, trace.Bonus)
            if isinstance(event, kept):
                seen.append(event)
            yield event
    if any(isinstance(e, trace.Footer) and e.reason == "stopped" for e in seen):
        return
    baseline = plain and baseline_of(seen, list(plain()))
    if baseline:
        yield baseline
    output = committed_ids(seen)
    if trace.Verify in kept and output and (found := price(seen, baseline.ids if baseline else ())):
        yield found
    if read and output and (depths := read(output)):
        yield depths
