"""From counts to a profile of one drafter under one target: acceptance by position, times, and what is missing.

Survival S_i: the share of drafts whose first i tokens were accepted. Conditional acceptance a_i = S_i / S_(i-1): the
share of those that reached position i. Where positions are known, acceptance is not reduced to one number. Every share
has the confidence interval of its counted trials.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hsd_core.doctor.reading.counts import Counts, DoctorError, sum_counts

Z = 1.959964  # standard deviations that contain 95 % of a normal distribution


@dataclass(frozen=True, slots=True)
class Share:
    """An estimated probability. low, high: its 95 % interval, None where the trials were not counted.

    at_least: not every trial had this position, so the true share is this large or larger. trials: None like low.
    """

    value: float
    low: float | None = None
    high: float | None = None
    at_least: bool = False
    trials: float | None = None

    def __str__(self) -> str:
        if self.at_least:
            return f"at least {self.value:.2f}"
        return f"{self.value:.2f}" if self.low is None else f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


def wilson(hits: float, trials: float) -> Share:
    """hits / trials with Wilson's score interval (1927), which holds near 0 and 1 and for few trials."""
    if trials <= 0:
        return Share(0.0)
    share = min(1.0, hits / trials)
    square = Z * Z / trials
    middle = (share + square / 2) / (1 + square)
    half = Z * math.sqrt(max(0.0, share * (1 - share) / trials + square / (4 * trials))) / (1 + square)
    return Share(share, max(0.0, middle - half), min(1.0, middle + half), trials=trials)


def flat_share(accepted: float, length: float) -> float:
    """The one share a of all positions with which drafts of `length` tokens have `accepted` of them accepted.

    a + a^2 + ... + a^length = accepted; a length that is no whole number counts the last token in part.
    """
    if accepted <= 0 or length <= 0:
        return 0.0
    if accepted >= length:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if mean_accepted(middle, length) < accepted else (low, middle)
    return (low + high) / 2


def mean_accepted(share: float, length: float) -> float:
    """Accepted tokens of a draft of `length` tokens at one share for all of them: a geometric sum."""
    whole = int(length)
    full = float(whole) if share >= 1.0 else share * (1.0 - share**whole) / (1.0 - share)
    return full + (length - whole) * share ** (whole + 1)


OFTEN = 0.75  # of the limit: drafts with a smaller mean length are timed by that mean, not by the limit
ALWAYS = 0.97  # share of passes with a draft, above which all of them count as such


@dataclass(frozen=True, slots=True)
class DraftProfile:
    """What is known of a drafter and its target. None: not known.

    conditional, survival: by position, empty where positions are not printed; flat: the one share for all positions
    that fits then. drafting: share of the target's passes that verified a draft. draft_ms: time per drafted token.
    pass_ms: one pass of the target over a draft. round_ms: one pass with its draft. round_at: round_ms by draft length,
    0 for plain decoding. running: concurrent requests.

    first: acceptance of the first position, where positions are not printed. block: one pass of the drafter gives a
    complete draft, so draft_ms is per draft. at_most_ms: a bound on ms_per_token. no_drafts: there was no draft at all;
    reported_none: the engine reports that. unknown: a drafter was on, but nothing about its drafts is printed.
    """

    engine: str
    drafter: str = ""
    k: int | None = None
    rounds: float | None = None
    drafted: float | None = None
    accepted: float | None = None
    conditional: tuple[Share, ...] = ()
    survival: tuple[Share, ...] = ()
    flat: Share | None = None
    drafting: float = 1.0
    tokens_per_pass: float | None = None
    ms_per_token: float | None = None
    round_ms: float | None = None
    draft_ms: float | None = None
    pass_ms: float | None = None
    plain_ms: float | None = None
    round_at: Mapping[float, float] = field(default_factory=dict)
    running: float | None = None
    varying: bool = False
    no_drafts: bool = False
    reported_none: bool = False
    unknown: bool = False
    block: bool = False
    first: Share | None = None
    at_most_ms: float | None = None
    tokens_at: Mapping[int, float] = field(default_factory=dict)  # a pass, by draft length
    kinds: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def length(self) -> float | None:
        """Mean tokens of a draft."""
        return self.drafted / self.rounds if self.drafted and self.rounds else self.k

    def accepts(self, position: int) -> float:
        """The acceptance at `position`, from 0; that of the last measured position goes on beyond it."""
        if self.conditional:
            return self.conditional[min(position, len(self.conditional) - 1)].value
        if position == 0 and self.first is not None:
            return self.first.value
        return self.flat.value if self.flat else 0.0


def profile_of(seen: Sequence[Counts], *, plain_ms: float | None = None) -> DraftProfile:
    """The profile of outputs of one engine and drafter: runs with drafts of one or several lengths, and plain runs.

    Args:
        plain_ms: ms of a token without speculation, if measured elsewhere.
    Raises:
        DoctorError: there is no output, or the outputs are of two drafters.
    """
    if not seen:
        raise DoctorError("nothing was given; name a file with an engine's metrics, replies or log")
    if plain_ms is not None and not 0 < plain_ms < 1e6:
        raise DoctorError(f"the plain time is {plain_ms}; give the ms of a token without speculation, such as 35")
    drafting = [one for one in seen if one.drafts]
    plain = [one for one in seen if not one.drafts and "unclear" not in one.notes]
    if plain_ms is None:
        plain_ms = _plain(plain) if drafting else None
    if not drafting:
        total = sum_counts(plain or seen)
        ms = _ratio(total.decode_ms, total.timed_tokens)
        return DraftProfile(
            engine=total.engine,
            drafter=total.drafter,
            no_drafts=True,
            reported_none=any(one.drafted == 0 or one.rounds == 0 for one in plain),
            at_most_ms=total.at_most_ms,
            tokens_per_pass=1.0 if plain else None,
            ms_per_token=ms,
            plain_ms=plain_ms if plain_ms is not None or not plain else ms,
            kinds=_kinds(seen),
            notes=tuple(total.notes),
            running=total.running,
            rounds=0.0,
            drafted=0.0,
            accepted=0.0,
        )
    drafters = sorted({one.drafter for one in drafting if one.drafter})
    if len(drafters) > 1:
        raise DoctorError(f"the files are of two drafters ({', '.join(drafters)}); ask about one at a time")
    by_k: dict[int | None, list[Counts]] = {}
    for one in drafting:
        by_k.setdefault(one.k, []).append(one)
    at = {k: sum_counts(_most_counted(parts)) for k, parts in by_k.items()}
    main = at[max(at, key=lambda k: (at[k].accepted is not None, at[k].rounds or 0.0, -_uncounted_ms(at[k]), k or 0))]
    return _profile(main, list(at.values()), plain_ms, drafters[0] if drafters else "", _kinds(seen))


def _timed_length(part: Counts) -> float:
    """The draft length that the time belongs to: the mean, if drafts are often shorter than the limit."""
    mean = part.drafted / part.rounds if part.drafted and part.rounds else 0.0
    return mean if part.k and 0 < mean < OFTEN * part.k else float(part.k or 0)


def _uncounted_ms(one: Counts) -> float:
    """ms of a token if nothing was counted, so that the fastest of several lengths is chosen; else 0."""
    return (_ratio(one.decode_ms, one.timed_tokens) or 0.0) if not one.rounds or "means" in one.notes else 0.0


def _most_counted(parts: Sequence[Counts]) -> list[Counts]:
    """The outputs of the setting with the most counted rounds; counts are preferred to means."""
    labels = {one.label for one in parts}
    if len(labels) > 1:
        most = max(labels, key=lambda label: sum(one.rounds or 0.0 for one in parts if one.label == label))
        parts = [one for one in parts if one.label == most]
    counted = [one for one in parts if "means" not in one.notes and not one.speculated]
    return counted or list(parts)


def _profile(
    main: Counts, parts: Sequence[Counts], plain_ms: float | None, drafter: str, kinds: tuple[str, ...]
) -> DraftProfile:
    conditional = _conditional(parts)
    rounds, accepted, drafted = main.rounds, main.accepted, main.drafted
    passes = main.timed_passes
    share = min(1.0, rounds / passes) if rounds and passes and "means" not in main.notes else 1.0
    drafting = 1.0 if share >= ALWAYS else share
    per_pass = _ratio(main.timed_tokens, passes)
    if drafting == 1.0 and rounds and accepted is not None:
        per_pass = 1.0 + accepted / rounds
    flat = None
    length = _ratio(drafted, rounds) or (float(main.k) if main.k else None)
    if main.acceptance is not None:
        flat = Share(main.acceptance)
        if main.k and per_pass is None:
            per_pass = 1.0 + sum(main.acceptance**position for position in range(1, main.k + 1))
    elif not conditional and rounds and accepted is not None and length:
        flat = Share(flat_share(accepted / rounds, length))
    first = wilson(main.first, rounds) if main.first is not None and rounds and not conditional else None
    if first is not None and length and length > 1 and rounds and accepted is not None:
        # the first position is known: one share for the remaining positions
        behind = accepted / rounds / first.value - 1.0 if first.value else 0.0
        flat = Share(flat_share(max(0.0, behind), length - 1.0))
    draft_ms = _ratio(main.draft_ms, main.draft_timed)
    round_ms = _ratio(main.decode_ms, passes)
    if round_ms is not None and drafting == 1.0 and rounds and accepted is not None and per_pass and main.timed_tokens:
        round_ms = per_pass * (main.decode_ms or 0.0) / main.timed_tokens  # ignores the few passes without a draft
    pass_ms = main.verify_ms
    if pass_ms is not None and draft_ms is not None and length and round_ms is None:
        round_ms = pass_ms + draft_ms * length
    elif pass_ms is None and draft_ms is not None and round_ms is not None and length:
        spent = draft_ms * (1.0 if main.block else length) * drafting
        pass_ms = round_ms - spent if spent < round_ms else None
    ms = _ratio(main.decode_ms, main.timed_tokens)
    if ms is None and round_ms is not None and per_pass:
        ms = round_ms / per_pass
    round_at: dict[float, float] = {
        _timed_length(part): part.decode_ms / part.timed_passes
        for part in parts
        if part.k and part.decode_ms and part.timed_passes
    }
    if plain_ms is None:
        plain_ms = main.plain_ms
    if plain_ms is not None:
        round_at[0] = plain_ms
    return DraftProfile(
        engine=main.engine,
        drafter=drafter,
        k=main.k,
        rounds=rounds,
        drafted=drafted,
        accepted=accepted,
        conditional=conditional,
        survival=_survival(conditional, main),
        flat=flat,
        drafting=drafting,
        tokens_per_pass=per_pass,
        ms_per_token=ms,
        round_ms=round_ms,
        draft_ms=draft_ms,
        pass_ms=pass_ms,
        plain_ms=plain_ms,
        round_at=dict(sorted(round_at.items())),
        running=max((part.running for part in parts if part.running is not None), default=None),
        varying=main.lengths_vary,
        unknown=accepted is None and main.acceptance is None,
        block=main.block,
        first=first,
        tokens_at={
            part.k: 1.0 + part.accepted / part.rounds
            for part in parts
            if part.k and part.rounds and part.accepted is not None
        },
        at_most_ms=main.at_most_ms,
        kinds=kinds,
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
    )


def _conditional(parts: Sequence[Counts]) -> tuple[Share, ...]:
    """Pooled over all draft lengths: acceptance at a position does not depend on how many tokens follow it."""
    counted = [part for part in parts if part.kept and part.rounds]
    if not counted:
        return ()
    shares = []
    for position in range(max(len(part.kept) for part in counted)):
        hits = trials = 0.0
        bound = False
        for part in counted:
            if position >= len(part.kept):
                continue
            if position < len(part.tried):
                trials += part.tried[position]
            else:  # some of these drafts had no such position
                trials += part.rounds or 0.0 if position == 0 else part.kept[position - 1]
                bound = bound or position > 0
            hits += part.kept[position]
        if trials <= 0:
            break
        means = any("means" in part.notes for part in counted)
        share = Share(min(1.0, hits / trials)) if means else wilson(hits, trials)
        shares.append(replace(share, high=None, at_least=True) if bound else share)
    return tuple(shares)


def _survival(conditional: Sequence[Share], main: Counts) -> tuple[Share, ...]:
    """As engines print it: the share of all drafts whose first i tokens were accepted."""
    if not conditional:
        return ()
    if main.rounds and main.kept:
        if "means" in main.notes:
            return tuple(Share(min(1.0, count / main.rounds)) for count in main.kept)
        return tuple(wilson(count, main.rounds) for count in main.kept)
    shares, survived = [], 1.0
    for share in conditional:
        survived *= share.value
        shares.append(Share(survived))
    return tuple(shares)


def _plain(parts: Sequence[Counts]) -> float | None:
    return _ratio(sum_counts(parts).decode_ms, sum_counts(parts).timed_tokens) if parts else None


def _ratio(value: float | None, by: float | None) -> float | None:
    return value / by if value is not None and by else None


def _kinds(seen: Sequence[Counts]) -> tuple[str, ...]:
    return tuple(sorted({one.kind for one in seen if one.kind}))
