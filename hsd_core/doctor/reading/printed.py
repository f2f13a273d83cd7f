"""The figures of one output as printed, and the counts that follow: readers fill `Printed`, `counts_of` does the rest.

An engine prints some of these figures; the others follow from them. Rounds: drafted / k, accepted / (length - 1), or
tokens - accepted, because every pass gives one additional token of the target.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from hsd_core.doctor.reading.counts import MOST_POSITIONS, Counts, check, length_of, timed_tokens, tried_of

ROUNDED = 0.005  # half of the last digit of a mean acceptance length
SLOW = 1.2  # times the time of a token from which the time between chunks is that of a round


@dataclass(slots=True)
class Printed:
    """The figures of one output; None: not printed.

    length: tokens per pass, with the target's additional token. rate: accepted / drafted, 0 to 1. positions: the share
    of all drafts accepted at each position. speed: tokens/s of all running requests. per_token: ms. round_ms: ms
    between two passes. passes: of the target, with a draft or without. pass_ms: the target's pass over a draft.
    draft_ms: per drafted token.
    """

    engine: str = ""
    kind: str = "log"
    drafter: str = ""
    label: str = ""
    line: int = 0
    rounds: float | None = None
    drafted: float | None = None
    accepted: float | None = None
    k: int | None = None
    length: float | None = None
    rate: float | None = None
    positions: list[float] = field(default_factory=list)
    first: float | None = None
    tokens: float | None = None
    ms: float | None = None
    per_token: float | None = None
    speed: float | None = None
    round_ms: float | None = None
    passes: float | None = None
    pass_ms: float | None = None
    draft_ms: float | None = None
    running: float | None = None
    plain: bool = False
    speculated: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def mentions_drafts(self) -> bool:
        """Whether any figure is about drafts."""
        given = (self.rounds, self.drafted, self.accepted, self.length, self.rate)
        return bool(self.positions) or any(value is not None for value in given)


def counts_of(printed: Printed, name: str) -> Counts:
    """The counts that follow from the figures.

    Raises:
        DoctorError: they contradict each other.
    """
    seen = Counts(
        engine=printed.engine, name=name, kind=printed.kind, drafter=printed.drafter[:60], label=printed.label
    )
    seen.running, seen.notes, seen.speculated = printed.running, list(printed.notes), printed.speculated
    if printed.mentions_drafts:
        _counts(printed, seen)
    elif printed.plain:
        seen.speculated = False
    else:
        seen.k = printed.k
    _time(printed, seen)
    if printed.pass_ms is not None and (printed.draft_ms is not None or seen.drafts):
        seen.verify_ms = printed.pass_ms
    if printed.draft_ms is not None:
        seen.draft_ms, seen.draft_timed = printed.draft_ms, 1.0
    return check(seen)


def _counts(printed: Printed, seen: Counts) -> None:
    accepted, drafted, rounds, k = printed.accepted, printed.drafted, printed.rounds, printed.k
    length = printed.length if printed.length is not None and printed.length >= 1 else None
    if printed.positions:
        k = len(printed.positions)
        more = rounds and drafted and drafted > (k + 0.5) * rounds  # not all positions were printed
        if more and printed.first is None and rounds:
            printed.first, printed.positions, k = printed.positions[0] * rounds, [], None
        elif length is None:
            length = 1.0 + sum(printed.positions)
    if accepted is None and drafted is not None and printed.rate is not None:
        accepted = printed.rate * drafted
    if drafted is None and accepted is not None and printed.rate:
        drafted = accepted / printed.rate
    if rounds is None and accepted is not None:
        rounds = _rounds(printed, accepted, drafted, k, length)
    if accepted is None and rounds is not None and length is not None:
        accepted = rounds * (length - 1.0)
    if drafted is None and rounds is not None and k:
        drafted = rounds * k
    if rounds is None and drafted is None and accepted is None:
        return _means(printed, seen, length, k)
    if k is None and rounds and drafted:
        k = length_of(float(math.ceil(drafted / rounds - 1e-9)))
    seen.rounds, seen.drafted, seen.accepted, seen.k, seen.first = rounds, drafted, accepted, k, printed.first
    if rounds and printed.positions:
        kept = [rate * rounds for rate in printed.positions]
        seen.kept = _rounded_counts(kept, accepted) if accepted is not None else kept
        if not seen.lengths_vary:
            seen.tried = tried_of(seen.kept, rounds)
    return None


def _rounds(
    printed: Printed, accepted: float, drafted: float | None, k: int | None, length: float | None
) -> float | None:
    """The number of verified drafts, from the most exact figure."""
    by_k = drafted / k if drafted is not None and k else None
    by_length = accepted / (length - 1.0) if length is not None and length > 1.0 and accepted else None
    if by_length is not None and length is not None:
        slack = by_length * ROUNDED / (length - 1.0) + 1.0
        for exact in (by_k, printed.passes):
            if exact is not None and abs(exact - by_length) <= slack:
                return exact
        return by_length
    if by_k is not None and (printed.positions or printed.passes is None or by_k <= printed.passes * 1.02):
        return by_k
    if printed.passes is not None:
        # as many drafts as passes, unless that gives less than a token to each
        return printed.passes if drafted is None or drafted >= printed.passes * 0.98 else None
    return None


def _means(printed: Printed, seen: Counts, length: float | None, k: int | None) -> None:
    """Only means are known: the counts are those of one round."""
    seen.notes.append("means")
    seen.k = k if "stops_early" not in printed.notes else None
    if length is not None:
        seen.rounds, seen.accepted = 1.0, length - 1.0
        if k is None and printed.rate:
            k = seen.k = length_of(float(round((length - 1.0) / printed.rate)))
        if k:
            seen.drafted = max(float(k), seen.accepted)
        seen.kept = list(printed.positions)
        seen.tried = tried_of(seen.kept, 1.0)
    elif printed.rate is not None and k and "stops_early" not in printed.notes:
        seen.rounds, seen.drafted, seen.accepted = 1.0, float(k), printed.rate * k
        seen.notes.append("full_drafts")
        if printed.pass_ms is not None:
            seen.notes.append("rate_in_words")
    elif printed.rate is not None:
        seen.drafted, seen.accepted = 1.0, printed.rate


def _time(printed: Printed, seen: Counts) -> None:
    """The time of decoding, for the printed numbers of tokens and passes, else for one round."""
    per_token = printed.per_token
    if per_token is None and printed.ms is None and printed.speed:
        per_token = 1e3 * max(1.0, printed.running or 1.0) / printed.speed
    if per_token is None and printed.ms is None and printed.round_ms and (printed.plain or printed.length):
        per_token = printed.round_ms / (1.0 if printed.plain else printed.length or 1.0)
    tokens = printed.tokens
    if printed.ms is not None:
        if not tokens:
            return
        tokens = timed_tokens(tokens, printed.ms, printed.per_token) if printed.engine == "llama.cpp" else tokens
        ms = printed.ms
    elif per_token:
        if tokens is None:
            tokens = 1.0 + seen.accepted / seen.rounds if seen.rounds and seen.accepted is not None else 1.0
            if seen.rounds and "means" not in seen.notes:
                tokens *= seen.rounds
        ms = per_token * tokens
    else:
        return
    if ms <= 0:
        return
    seen.decode_ms, seen.timed_tokens = ms, tokens
    if printed.round_ms and per_token and printed.round_ms > SLOW * per_token and seen.drafts:
        seen.timed_passes = ms / printed.round_ms
    elif printed.passes is not None:
        seen.timed_passes = printed.passes
    elif printed.tokens is None and seen.rounds:
        seen.timed_passes = seen.rounds
    elif seen.rounds and seen.accepted is not None and "means" in seen.notes:
        seen.timed_passes = tokens / (1.0 + seen.accepted)
    elif seen.accepted is not None and "means" not in seen.notes:
        seen.timed_passes = max(1.0, tokens - seen.accepted)
    elif not seen.drafts:
        seen.timed_passes = tokens


def _rounded_counts(kept: list[float], accepted: float) -> list[float]:
    """Counts from rounded rates, rounded to integers if these add up to the accepted tokens."""
    near = [float(round(count)) for count in kept]
    return near if abs(sum(near) - accepted) <= 0.5 else kept


def fits(printed: Printed) -> bool:
    """Whether the figures of a line are consistent; those of a wrongly joined line are not."""
    if any(position > 1 for position in printed.positions) or len(printed.positions) > MOST_POSITIONS:
        return False
    if printed.positions and printed.length is not None:
        return abs(1.0 + sum(printed.positions) - printed.length) < 0.02 + 0.001 * len(printed.positions)
    return True
