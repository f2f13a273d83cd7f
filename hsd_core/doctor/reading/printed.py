"""What one output tells, as it tells it, and the counts that follow: readers fill `Printed`, `counts_of` does the rest.

An engine prints some of these figures; the others follow from them. Rounds: drafted / k, accepted / (length - 1), or
tokens - accepted, because every pass gives one token of the target's own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from hsd_core.doctor.reading.counts import MOST_POSITIONS, Counts, check, length_of, timed_tokens, tried_of

ROUNDED = 0.005  # half of the last digit of a mean acceptance length
SLOW = 1.2  # times the time of a token, from which a gap between chunks is one of whole rounds


@dataclass(slots=True)
class Printed:
    """Figures of one output; None: not told.

    length: tokens a pass, the target's own included. rate: accepted of drafted, 0 to 1. places: of all drafts, those
    accepted at each position. speed: tokens/s of all running requests. per_token: ms. round_ms: ms between two passes.
    passes: of the target, with a draft or without. pass_ms: of the target's pass over a draft. draft_ms: of a drafted
    token.
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
    places: list[float] = field(default_factory=list)
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
    def speaks(self) -> bool:
        """Whether any figure is of drafts."""
        given = (self.rounds, self.drafted, self.accepted, self.length, self.rate)
        return bool(self.places) or any(value is not None for value in given)


def counts_of(told: Printed, name: str) -> Counts:
    """The counts of what was told.

    Raises:
        DoctorError: they contradict each other.
    """
    seen = Counts(engine=told.engine, name=name, kind=told.kind, drafter=told.drafter[:60], label=told.label)
    seen.running, seen.notes, seen.speculated = told.running, list(told.notes), told.speculated
    if told.speaks:
        _counts(told, seen)
    elif told.plain:
        seen.speculated = False
    else:
        seen.k = told.k
    _time(told, seen)
    if told.pass_ms is not None and (told.draft_ms is not None or seen.drafts):
        seen.verify_ms = told.pass_ms
    if told.draft_ms is not None:
        seen.draft_ms, seen.draft_timed = told.draft_ms, 1.0
    return check(seen)


def _counts(told: Printed, seen: Counts) -> None:
    accepted, drafted, rounds, k = told.accepted, told.drafted, told.rounds, told.k
    length = told.length if told.length is not None and told.length >= 1 else None
    if told.places:
        k = len(told.places)
        more = rounds and drafted and drafted > (k + 0.5) * rounds  # not all positions are there
        if more and told.first is None and rounds:
            told.first, told.places, k = told.places[0] * rounds, [], None
        elif length is None:
            length = 1.0 + sum(told.places)
    if accepted is None and drafted is not None and told.rate is not None:
        accepted = told.rate * drafted
    if drafted is None and accepted is not None and told.rate:
        drafted = accepted / told.rate
    if rounds is None and accepted is not None:
        rounds = _rounds(told, accepted, drafted, k, length)
    if accepted is None and rounds is not None and length is not None:
        accepted = rounds * (length - 1.0)
    if drafted is None and rounds is not None and k:
        drafted = rounds * k
    if rounds is None and drafted is None and accepted is None:
        return _means(told, seen, length, k)
    if k is None and rounds and drafted:
        k = length_of(float(math.ceil(drafted / rounds - 1e-9)))
    seen.rounds, seen.drafted, seen.accepted, seen.k, seen.first = rounds, drafted, accepted, k, told.first
    if rounds and told.places:
        kept = [rate * rounds for rate in told.places]
        seen.kept = _whole(kept, accepted) if accepted is not None else kept
        if not seen.lengths_vary:
            seen.tried = tried_of(seen.kept, rounds)
    return None


def _rounds(told: Printed, accepted: float, drafted: float | None, k: int | None, length: float | None) -> float | None:
    """Drafts that were verified, from what is most exact."""
    by_k = drafted / k if drafted is not None and k else None
    by_length = accepted / (length - 1.0) if length is not None and length > 1.0 and accepted else None
    if by_length is not None and length is not None:
        slack = by_length * ROUNDED / (length - 1.0) + 1.0
        for exact in (by_k, told.passes):
            if exact is not None and abs(exact - by_length) <= slack:
                return exact
        return by_length
    if by_k is not None and (told.places or told.passes is None or by_k <= told.passes * 1.02):
        return by_k
    if told.passes is not None:
        # as many drafts as passes, unless that leaves less than a token to each
        return told.passes if drafted is None or drafted >= told.passes * 0.98 else None
    return None


def _means(told: Printed, seen: Counts, length: float | None, k: int | None) -> None:
    """Means alone: what one round did, of no known number."""
    seen.notes.append("means")
    seen.k = k if "stops_early" not in told.notes else None
    if length is not None:
        seen.rounds, seen.accepted = 1.0, length - 1.0
        if k is None and told.rate:
            k = seen.k = length_of(float(round((length - 1.0) / told.rate)))
        if k:
            seen.drafted = max(float(k), seen.accepted)
        seen.kept = list(told.places)
        seen.tried = tried_of(seen.kept, 1.0)
    elif told.rate is not None and k and "stops_early" not in told.notes:
        seen.rounds, seen.drafted, seen.accepted = 1.0, float(k), told.rate * k
        seen.notes.append("whole_drafts")
        if told.pass_ms is not None:
            seen.notes.append("rate_in_words")
    elif told.rate is not None:
        seen.drafted, seen.accepted = 1.0, told.rate


def _time(told: Printed, seen: Counts) -> None:
    """Time of decoding, for as many tokens and passes as are told, else for one round."""
    per_token = told.per_token
    if per_token is None and told.ms is None and told.speed:
        per_token = 1e3 * max(1.0, told.running or 1.0) / told.speed
    if per_token is None and told.ms is None and told.round_ms and (told.plain or told.length):
        per_token = told.round_ms / (1.0 if told.plain else told.length or 1.0)
    tokens = told.tokens
    if told.ms is not None:
        if not tokens:
            return
        tokens = timed_tokens(tokens, told.ms, told.per_token) if told.engine == "llama.cpp" else tokens
        ms = told.ms
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
    if told.round_ms and per_token and told.round_ms > SLOW * per_token and seen.drafts:
        seen.timed_passes = ms / told.round_ms
    elif told.passes is not None:
        seen.timed_passes = told.passes
    elif told.tokens is None and seen.rounds:
        seen.timed_passes = seen.rounds
    elif seen.rounds and seen.accepted is not None and "means" in seen.notes:
        seen.timed_passes = tokens / (1.0 + seen.accepted)
    elif seen.accepted is not None and "means" not in seen.notes:
        seen.timed_passes = max(1.0, tokens - seen.accepted)
    elif not seen.drafts:
        seen.timed_passes = tokens


def _whole(kept: list[float], accepted: float) -> list[float]:
    """Counts of rounded rates: rounded to whole ones where these add up to what was accepted."""
    near = [float(round(count)) for count in kept]
    return near if abs(sum(near) - accepted) <= 0.5 else kept


def fits(told: Printed) -> bool:
    """Whether the figures of a line belong together, as those of a line that was joined wrongly do not."""
    if any(place > 1 for place in told.places) or len(told.places) > MOST_POSITIONS:
        return False
    if told.places and told.length is not None:
        return abs(1.0 + sum(told.places) - told.length) < 0.02 + 0.001 * len(told.places)
    return True
