"""What one output tells, in counts that can be added: what every reader gives and every profile is made of. And the one
reader of numbers: whatever a text or a stranger's JSON calls a figure is bounded here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any

import msgspec

LEAST, MOST = 1e-9, 1e15  # of a count or a time that is not zero
LONGEST = 32  # characters of a written number: more digits are no figure that an engine prints
MOST_POSITIONS = 256  # of a draft


def number(value: Any) -> float | None:
    """A figure from 0 to `MOST`; None for everything else: text, NaN, signs, more digits than anything counts."""
    if isinstance(value, str):
        try:
            read = float(value) if len(value) <= LONGEST else MOST + 1
        except ValueError:
            return None
    elif isinstance(value, bool) or not isinstance(value, int | float):
        return None
    else:
        read = float(value) if value <= MOST else MOST + 1  # a long integer becomes no float
    return read if read == 0 or LEAST <= read <= MOST else None


def length_of(value: float | None) -> int | None:
    """A draft length in tokens; None for what is none."""
    return int(value) if value is not None and value == int(value) and 1 <= value <= MOST_POSITIONS else None


def written(text: str) -> int | float:
    """A number of a JSON text: infinite where it has more digits than any figure."""
    if len(text) > LONGEST:
        return math.inf
    return float(text) if set(text) & set(".eE") else int(text)


FULL = 0.98  # share of rounds times k that was drafted: above it the drafts count as being of one length
LONGEST_NAME = 100  # characters
_FIGURES = (
    *("rounds", "drafted", "accepted", "acceptance", "decode_ms", "timed_tokens", "timed_passes"),
    *("draft_ms", "draft_timed", "plain_ms", "verify_ms", "running", "first", "at_most_ms"),
)
_ABOVE_ZERO = ("decode_ms", "plain_ms", "verify_ms", "at_most_ms")


class DoctorError(ValueError):
    """An output that cannot be read, or says nothing of speculation; the message names what is missing and the cure."""


class Counts(msgspec.Struct, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Counts of one engine at one draft length. None: not told.

    rounds: drafts that the target verified. drafted, accepted: tokens, the target's own ones left out. k: tokens that a
    draft may have. kept[i]: drafts whose token at position i was accepted. tried[i]: drafts that had a position i, with
    all before it accepted; empty where it was not told and drafts may differ in length. acceptance: one share for all
    positions, where that is all there is.

    Times are of decoding alone: decode_ms for `timed_tokens` in `timed_passes` passes of the target.
    draft_ms: the drafter's own, for `draft_timed` tokens. plain_ms: a token without speculation. verify_ms: a pass of
    the target over a whole draft. running: requests at once, in the mean. at_most_ms: a bound on the time of a token,
    where only the throughput of an interval was told.

    first: drafts whose first token was accepted, where positions are not told. block: one pass of the drafter gives the
    whole draft. speculated: a drafter was on, though nothing of its drafts is told. label: the heading that it stood
    under.
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
    """The same counts, where they do not contradict each other.

    Raises:
        DoctorError: they do: the output is cut off, or of two things at once.
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
    """Counts and times that something can be reckoned with."""
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


def added(parts: Sequence[Counts]) -> Counts:
    """Several outputs of one engine at one draft length as one.

    A count that one of them lacks is lacking in the sum; times go with the tokens that they are of.
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
        kept=_by_place([part.kept for part in parts]) if all(part.kept for part in parts if part.rounds) else [],
        tried=_by_place([part.tried for part in parts]) if all_tried else [],
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
    """Drafts whose position i was accepted, from a histogram over accepted lengths 0, 1, ...: tail sums."""
    return [float(sum(histogram[place:])) for place in range(1, len(histogram))]


def tried_of(kept: Sequence[float], rounds: float) -> list[float]:
    """Where every draft had all positions: each position was tried by those that the one before it kept."""
    return [float(rounds), *map(float, kept[:-1])] if kept else []


def kept_by_step(accepted: Sequence[float], longest: int) -> list[float]:
    """Drafts whose token at each position was accepted, from what each draft had accepted."""
    return _tails([int(took) for took in accepted], longest)


def tried_by_step(accepted: Sequence[float], drafted: Sequence[float]) -> list[float]:
    """Drafts that reached each position, of drafts of any length, a pair of counts each."""
    longest = int(max(drafted, default=0))
    pairs = zip(accepted, drafted, strict=True)
    return _tails([int(min(took + 1, length)) for took, length in pairs], longest)


def _tails(counts: Sequence[int], longest: int) -> list[float]:
    """How many counts are above 0, 1, ..., longest - 1."""
    of = Counter(counts)
    above = len(counts) - sum(many for count, many in of.items() if count <= 0)
    tails = []
    for place in range(1, longest + 1):
        tails.append(float(above))
        above -= of[place]
    return tails


def timed_tokens(tokens: float, ms: float, per_token: float | None) -> float:
    """Tokens that llama.cpp's time is of: newer builds leave out the first, which the prompt's pass gave, as their own
    mean tells."""
    return tokens - 1.0 if per_token and tokens > 1 and round(ms / per_token) == tokens - 1 else tokens


def _timed(parts: Sequence[Counts]) -> dict[str, float | None]:
    names = ("decode_ms", "timed_tokens", "timed_passes")
    return {name: _sum((getattr(part, name) for part in parts), empty=None) for name in names}


def _sum(values: Iterable[float | None], empty: float | None = 0.0) -> float | None:
    listed = list(values)
    if not listed:
        return empty
    return None if any(value is None for value in listed) else float(sum(v for v in listed if v is not None))


def _by_place(lists: Sequence[Sequence[float]]) -> list[float]:
    return [float(sum(places)) for places in zip_longest(*lists, fillvalue=0.0)]
