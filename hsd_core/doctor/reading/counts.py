"""The content of one output as counts that can be added: every reader returns them, every profile is made of them.
Numbers are parsed here only, so that every figure of a text or of foreign JSON is bounded.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any

import msgspec

LEAST, MOST = 1e-9, 1e15  # bounds on a count or a time that is not zero
LONGEST = 32  # characters of a number: no engine prints more digits
MOST_POSITIONS = 256  # of a draft


def number(value: Any) -> float | None:
    """A number from 0 to `MOST`; None for everything else: text, NaN, negative or overlong numbers."""
    if isinstance(value, str):
        try:
            read = float(value) if len(value) <= LONGEST else MOST + 1
        except ValueError:
            return None
    elif isinstance(value, bool) or not isinstance(value, int | float):
        return None
    else:
        read = float(value) if value <= MOST else MOST + 1  # a long integer does not fit a float
    return read if read == 0 or LEAST <= read <= MOST else None


def length_of(value: float | None) -> int | None:
    """A draft length in tokens; None if the value is not one."""
    return int(value) if value is not None and value == int(value) and 1 <= value <= MOST_POSITIONS else None


def parsed_number(text: str) -> int | float:
    """A number of a JSON text; infinite if it has too many digits."""
    if len(text) > LONGEST:
        return math.inf
    return float(text) if set(text) & set(".eE") else int(text)


FULL = 0.98  # drafted / (rounds * k) from which all drafts count as having length k
LONGEST_NAME = 100  # characters
_FIGURES = (
    *("rounds", "drafted", "accepted", "acceptance", "decode_ms", "timed_tokens", "timed_passes"),
    *("draft_ms", "draft_timed", "plain_ms", "verify_ms", "running", "first", "at_most_ms"),
)
_ABOVE_ZERO = ("decode_ms", "plain_ms", "verify_ms", "at_most_ms")


class DoctorError(ValueError):
    """An output cannot be read or contains nothing about speculation; the message names what is missing."""


class Counts(msgspec.Struct, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Counts of one engine at one draft length. None: not known.

    rounds: verified drafts. drafted, accepted: tokens, without the target's additional token of each pass. k: limit of
    the draft length. kept[i]: drafts whose token at position i was accepted. tried[i]: drafts that had a position i and
    all tokens before it accepted; empty if unknown because drafts may differ in length. acceptance: one share for all
    positions, where nothing else is known.

    Times cover decoding only: decode_ms for `timed_tokens` in `timed_passes` passes of the target. draft_ms: the
    drafter's time for `draft_timed` tokens. plain_ms: a token without speculation. verify_ms: a pass of the target over
    a complete draft. running: mean number of concurrent requests. at_most_ms: a bound on the time of a token, where
    only the throughput of an interval is known.

    first: drafts whose first token was accepted, where positions are not known. block: one pass of the drafter gives
    the complete draft. speculated: a drafter was on, though its drafts were not counted. label: the heading above it.
    """

    engine: str = ""
    drafter: str = ""
    name: str = ""  # of the file
    kind: str = ""  # scrape, reply, log, requests, runs
    rounds: float | None = None
    drafted: float | None = None
    accepted: float | None = None
    k: int | None = None
    kept: list[float] = []
    tried: list[float] = []
    acceptance: float | None = None
    decode_ms: float | None = None
    timed_tokens: float | None = None
    timed_passes: float | None = None
    draft_ms: float | None = None
    draft_timed: float | None = None
    plain_ms: float | None = None
    verify_ms: float | None = None
    running: float | None = None
    at_most_ms: float | None = None
    first: float | None = None
    block: bool = False
    speculated: bool = False
    label: str = ""
    requests: int = 1
    notes: list[str] = []

    @property
    def drafts(self) -> bool:
        """Whether anything was drafted."""
        return bool(self.drafted or self.rounds or self.speculated or self.acceptance is not None)

    @property
    def lengths_vary(self) -> bool:
        """Whether some drafts were shorter than k, so that not all of them reached its last position."""
        return bool(self.k and self.rounds and self.drafted is not None and self.drafted < FULL * self.rounds * self.k)


def check(seen: Counts) -> Counts:
    """The same counts, unless they contradict each other.

    Raises:
        DoctorError: they do: the output is cut off or mixes two runs.
    """
    where = f"{seen.name}: " if seen.name else ""
    _bounded(seen, where)
    accepted, drafted = seen.accepted, seen.drafted
    if accepted is not None and drafted is not None and accepted > drafted + 0.5:
        raise DoctorError(
            f"{where}{accepted:g} tokens were accepted of {drafted:g} drafted ones; take both counts from one output"
        )
    rounded = 0.5
    if seen.kind == "log" and accepted is not None:  # a log has rates of three digits
        rounded = max(1.0, 0.02 * accepted, 6e-4 * len(seen.kept) * (seen.rounds or 0.0))
    if seen.kept and accepted is not None and abs(sum(seen.kept) - accepted) > rounded:
        raise DoctorError(
            f"{where}the counts by position add up to {sum(seen.kept):.6g} accepted tokens, the total is "
            f"{accepted:.6g}; a part of the output is missing, so save all of it"
        )
    if any(b > a + 0.5 for a, b in zip(seen.kept, seen.kept[1:], strict=False)):
        raise DoctorError(f"{where}a later position was accepted more often than one before it; save the output again")
    if seen.kept and seen.rounds is not None and seen.kept[0] > seen.rounds + 0.5:
        raise DoctorError(f"{where}more drafts were accepted than made; take both counts from one output")
    return seen


def _bounded(seen: Counts, where: str) -> None:
    """Refuses counts and times outside their bounds."""
    given = [(name, getattr(seen, name)) for name in _FIGURES]
    for name, value in given + [("kept", one) for one in seen.kept] + [("tried", one) for one in seen.tried]:
        if value is not None and not (LEAST <= value <= MOST or (value == 0 and name not in _ABOVE_ZERO)):
            raise DoctorError(f"{where}{name} is {value:g}; save the output again")
    if seen.k is not None and not 1 <= seen.k <= MOST_POSITIONS:
        raise DoctorError(f"{where}drafts of {seen.k} tokens; give an output of 1 to {MOST_POSITIONS}")
    if max(len(seen.kept), len(seen.tried)) > MOST_POSITIONS:
        raise DoctorError(f"{where}more than {MOST_POSITIONS} positions; save the output again")
    if seen.acceptance is not None and seen.acceptance > 1:
        raise DoctorError(f"{where}acceptance is {seen.acceptance:g}; give a share from 0 to 1")
    if seen.rounds and seen.drafted and seen.drafted > MOST_POSITIONS * max(seen.rounds, 1e-6):
        raise DoctorError(f"{where}{seen.drafted:g} drafted tokens in {seen.rounds:g} drafts; save the output again")
    if max(len(seen.drafter), len(seen.engine), len(seen.kind), len(seen.label)) > LONGEST_NAME or len(seen.notes) > 9:
        raise DoctorError(f"{where}a name is longer than {LONGEST_NAME} characters; shorten it")


def sum_counts(parts: Sequence[Counts]) -> Counts:
    """The sum of several outputs of one engine at one draft length.

    A count that one of them lacks is missing in the sum; times stay with the tokens that they cover.
    """
    first = parts[0]
    all_tried = all(part.tried for part in parts if part.rounds)
    given = [part.running for part in parts if part.running is not None]
    return Counts(
        engine=first.engine,
        drafter=first.drafter,
        name=first.name,
        kind=first.kind,
        label=first.label,
        first=_sum(part.first for part in parts if part.rounds) if any(part.first for part in parts) else None,
        block=any(part.block for part in parts),
        speculated=any(part.speculated for part in parts),
        at_most_ms=max((part.at_most_ms for part in parts if part.at_most_ms is not None), default=None),
        rounds=_sum(part.rounds for part in parts),
        drafted=_sum(part.drafted for part in parts),
        accepted=_sum(part.accepted for part in parts),
        k=max((part.k for part in parts if part.k is not None), default=None),
        kept=_sum_by_position([part.kept for part in parts]) if all(part.kept for part in parts if part.rounds) else [],
        tried=_sum_by_position([part.tried for part in parts]) if all_tried else [],
        acceptance=first.acceptance,
        **_timed([part for part in parts if part.decode_ms is not None]),
        draft_ms=_sum((part.draft_ms for part in parts if part.draft_ms is not None), empty=None),
        draft_timed=_sum((part.draft_timed for part in parts if part.draft_ms is not None), empty=None),
        plain_ms=first.plain_ms,
        verify_ms=first.verify_ms,
        running=sum(given) / len(given) if given else None,
        requests=sum(part.requests for part in parts),
        notes=list(dict.fromkeys(note for part in parts for note in part.notes)),
    )


def kept_of(histogram: Sequence[float]) -> list[float]:
    """Drafts accepted at position i, from a histogram over accepted lengths 0, 1, ...: tail sums."""
    return [float(sum(histogram[position:])) for position in range(1, len(histogram))]


def tried_of(kept: Sequence[float], rounds: float) -> list[float]:
    """If every draft had all positions: a position was tried by the drafts accepted at the position before it."""
    return [float(rounds), *map(float, kept[:-1])] if kept else []


def kept_by_step(accepted: Sequence[float], longest: int) -> list[float]:
    """Drafts accepted at each position, from the accepted length of each draft."""
    return _tails([int(took) for took in accepted], longest)


def tried_by_step(accepted: Sequence[float], drafted: Sequence[float]) -> list[float]:
    """Drafts that reached each position, from the accepted and the drafted length of each draft."""
    longest = int(max(drafted, default=0))
    pairs = zip(accepted, drafted, strict=True)
    return _tails([int(min(took + 1, length)) for took, length in pairs], longest)


def _tails(counts: Sequence[int], longest: int) -> list[float]:
    """How many counts are above 0, 1, ..., longest - 1."""
    of = Counter(counts)
    above = len(counts) - sum(many for count, many in of.items() if count <= 0)
    tails = []
    for position in range(1, longest + 1):
        tails.append(float(above))
        above -= of[position]
    return tails


def timed_tokens(tokens: float, ms: float, per_token: float | None) -> float:
    """The tokens that llama.cpp's time covers: newer builds, recognised by the printed mean, leave out the first token,
    which the prompt's pass gave.
    """
    return tokens - 1.0 if per_token and tokens > 1 and round(ms / per_token) == tokens - 1 else tokens


def _timed(parts: Sequence[Counts]) -> dict[str, float | None]:
    names = ("decode_ms", "timed_tokens", "timed_passes")
    return {name: _sum((getattr(part, name) for part in parts), empty=None) for name in names}


def _sum(values: Iterable[float | None], empty: float | None = 0.0) -> float | None:
    listed = list(values)
    if not listed:
        return empty
    return None if any(value is None for value in listed) else float(sum(v for v in listed if v is not None))


def _sum_by_position(lists: Sequence[Sequence[float]]) -> list[float]:
    return [float(sum(positions)) for positions in zip_longest(*lists, fillvalue=0.0)]
