"""The speed at each draft length, and whether an extra level would pay.

With conditional acceptances a_i a pass over a draft of k tokens gives E(k) = 1 + a_1 + a_1 a_2 + ... tokens (k of these
products) and takes R(k) ms. If the engine times drafting and verifying separately, R is their sum, else it is
interpolated between the measured lengths; plain decoding is length 0.

An extra level is an n-gram floor below the drafter, or a verifier between it and the target. No engine reports how
often such a level would be accepted, so the acceptance is that of the shipped pairs, measured here, and every answer
says so. The prediction is the exact recursion of `theory`, with one acceptance of the drafter for all positions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from hsd_core.doctor.draft_profile import DraftProfile, flat_share, mean_accepted
from hsd_core.theory import Costs, Profile, ProfileError, ProfileLevel
from hsd_core.theory.profiles.profile_store import shipped_profiles
from hsd_core.theory.search.planner import Planner

DRAWS = 400
BEYOND = 4  # lengths beyond the longest measured one, with its acceptance assumed to go on
MOST = 32
WORTH = 1.02  # speed-up below which no draft length counts as worth it


@dataclass(frozen=True, slots=True)
class Length:
    """One draft length: tokens per pass, ms per token, speed-up over plain decoding (None: plain time not known).

    low, high: 95 % interval of the speed-up, from the counts of acceptance only. assumed: beyond the measured lengths.
    """

    k: int
    tokens: float
    ms: float
    speed_up: float | None
    low: float | None = None
    high: float | None = None
    assumed: bool = False


@dataclass(frozen=True, slots=True)
class Gain:
    """All lengths and the best one; best.k is 0 if plain decoding is fastest.

    low, high: the lengths that are best in 95 % of the draws. split: drafting and verifying were timed separately.
    """

    lengths: tuple[Length, ...]
    best: Length
    low: int
    high: int
    split: bool


def gain_of(profile: DraftProfile) -> Gain | None:
    """The speed by draft length; None if only the time of the present length can be known."""
    longest = profile.k or 0
    if not longest or not (profile.conditional or profile.flat):
        return None
    if profile.varying and not profile.conditional and profile.draft_ms is None:
        return None  # the drafts were of many lengths below a limit: no single length was run
    # one length and no plain time: a shorter draft costs no more than this one, a longer one is unknown
    beyond = BEYOND if len(profile.round_at) > 1 or profile.plain_ms is not None else 0
    most = min(MOST, math.ceil(max(longest, *profile.round_at, 0)) + beyond)
    rounds = round_times(profile, most)
    if rounds is None:
        return None
    first = 0 if profile.plain_ms is not None else 1
    tokens = _tokens(np.array([[profile.accepts(position) for position in range(most)]]), profile.drafting)[0]
    if not profile.conditional and len(profile.tokens_at) > 1 and profile.drafting == 1.0:
        tokens = _measured(profile.tokens_at, tokens)
    drawn = _drawn(profile, most)
    measured = max(len(profile.conditional), longest)
    lengths = []
    for k in range(first, most + 1):
        ms = float(rounds[k] / tokens[k])
        gain = None if profile.plain_ms is None else profile.plain_ms / ms
        low = high = None
        if drawn is not None and profile.plain_ms is not None:
            low, high = (float(x) for x in np.quantile(profile.plain_ms * drawn[:, k] / rounds[k], (0.025, 0.975)))
        lengths.append(Length(k, float(tokens[k]), ms, gain, low, high, k > measured))
    best = min(lengths, key=lambda length: length.ms)
    ends = (best.k, best.k)
    if drawn is not None:
        choices = first + np.argmin(rounds[first : most + 1] / drawn[:, first : most + 1], axis=1)
        low_k, high_k = (int(x) for x in np.quantile(choices, (0.025, 0.975), method="nearest"))
        ends = (min(low_k, best.k), max(high_k, best.k))
    return Gain(tuple(lengths), best, *ends, split=profile.draft_ms is not None and profile.pass_ms is not None)


def worth(gain: Gain) -> bool:
    """Whether the best length is worth it; assumed where the plain time is not known."""
    return gain.best.k > 0 and (gain.best.speed_up is None or gain.best.speed_up >= WORTH)


def round_times(profile: DraftProfile, most: int) -> np.ndarray | None:
    """R(0), ..., R(most) in ms: (most + 1,). None if they cannot be known."""
    lengths = np.arange(most + 1, dtype=np.float64)
    if profile.draft_ms is not None and profile.pass_ms is not None and profile.length:
        verify = np.full(most + 1, profile.pass_ms)
        if profile.plain_ms is not None:
            verify = _between({0: profile.plain_ms, profile.length: max(profile.pass_ms, profile.plain_ms)}, lengths)
        drafted = np.minimum(lengths, 1.0) if profile.block else lengths
        return np.asarray(verify + profile.drafting * profile.draft_ms * drafted)
    if len(profile.round_at) < 2:
        return None
    return _between(profile.round_at, lengths)


def break_even_acceptance(profile: DraftProfile, k: int) -> float | None:
    """The acceptance, the same at all positions, from which drafts of k tokens pay; above 1 they never do.

    None if their time or the plain time is not known.
    """
    rounds = round_times(profile, k)
    if rounds is None or profile.plain_ms is None or k < 1:
        return None
    wanted = float(rounds[k] / profile.plain_ms) - 1.0
    if wanted <= 0:
        return 0.0
    if wanted > k:
        return wanted / k
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if mean_accepted(middle, k) < wanted else (low, middle)
    return (low + high) / 2


def _between(known: Mapping[Any, float], at: np.ndarray) -> np.ndarray:
    """Linear between the known points; beyond them the last slope goes on, unless it is negative."""
    positions, values = (
        np.array(sorted(known), dtype=np.float64),
        np.array([known[position] for position in sorted(known)]),
    )
    found = np.interp(at, positions, values)
    (x0, x1), (y0, y1) = positions[-2:], values[-2:]
    slope = max(0.0, (y1 - y0) / (x1 - x0))
    found = np.where(at > x1, y1 + slope * (at - x1), found)
    (x0, x1), (y0, y1) = positions[:2], values[:2]
    below = np.maximum(y0 - (y1 - y0) / (x1 - x0) * (x0 - at), 0.5 * y0)
    return np.asarray(np.where(at < x0, below, found))


def _tokens(shares: np.ndarray, drafting: float) -> np.ndarray:
    """E(0), ..., E(most) of rows of conditional shares: (n, most) to (n, most + 1)."""
    kept_tokens = np.cumsum(np.cumprod(shares, axis=1), axis=1)
    return np.asarray(1.0 + drafting * np.concatenate((np.zeros((len(shares), 1)), kept_tokens), axis=1))


def _measured(known: Mapping[int, float], tokens: np.ndarray) -> np.ndarray:
    """Tokens per pass: linear between the measured lengths, beyond the longest by one share for all positions."""
    at = {0: 1.0, **known}
    positions = np.array(sorted(at), dtype=np.float64)
    lengths = np.arange(len(tokens))
    last = min(int(positions[-1]), len(tokens) - 1)
    found = np.interp(lengths, positions, [at[int(position)] for position in positions])
    return np.asarray(np.where(lengths > last, found[last] + tokens - tokens[last], found))


def _drawn(profile: DraftProfile, most: int) -> np.ndarray | None:
    """Tokens per pass for `DRAWS` draws of acceptances from their posterior (Jeffreys' prior): (DRAWS, most + 1)."""
    shares = profile.conditional
    if not shares or any(share.trials is None or share.at_least for share in shares):
        return None
    rng = np.random.default_rng(0)
    columns = [
        rng.beta(share.value * (share.trials or 0) + 0.5, (1 - share.value) * (share.trials or 0) + 0.5, DRAWS)
        for share in shares
    ]
    columns += [columns[-1]] * max(0, most - len(columns))
    return _tokens(np.stack(columns[:most], axis=1), profile.drafting)


def slope_of(profile: DraftProfile) -> float | None:
    """ms that a drafted token adds, for drafting and its row, where the two are not timed separately."""
    positions: Sequence[tuple[float, float]] = sorted(profile.round_at.items())
    rises = [(y1 - y0) / (x1 - x0) for (x0, y0), (x1, y1) in pairwise(positions)]
    return sum(rises) / len(rises) if rises else None


LEVEL_WORTH = 1.02  # speed-up below which a level is not worth its memory
LONGEST = 8
FREE = 0.01  # of a pass of the target: a drafter that costs less per token needs no cheaper level below it


@dataclass(frozen=True, slots=True)
class ExtraLevel:
    """gain: best ms per token without the level / with it. assumed: its assumed costs and acceptance, in words."""

    level: str
    gain: float
    assumed: str

    @property
    def pays(self) -> bool:
        return self.gain >= LEVEL_WORTH


def extra_levels(profile: DraftProfile) -> list[ExtraLevel]:
    """The floor and the middle verifier, predicted; empty if the drafter's time is not known."""
    try:
        return _priced(profile)
    except ProfileError:  # no plan can be predicted at these costs
        return []


def _priced(profile: DraftProfile) -> list[ExtraLevel]:
    base, length = profile.plain_ms or profile.pass_ms, profile.length
    if profile.block or profile.drafting < 1.0:
        return []  # a draft costs the same at any length, or most passes have no draft
    if not base or not profile.draft_ms or not length or not profile.rounds or profile.accepted is None:
        return []
    shares = profile.flat.value if profile.flat else flat_share(profile.accepted / profile.rounds, length)
    pairs = _pairs()
    if pairs is None or not 0.0 < shares < 1.0:
        return []
    top = max(base, profile.pass_ms or base)
    target = Costs.constant(base) if top == base else Costs((1, max(2, round(length) + 1)), (base, top))
    drafter = ProfileLevel("drafter", Costs.constant(profile.draft_ms))
    goal = ProfileLevel("target", target)
    now = min(base, _best((drafter, goal), ((1.0, shares), (0.0, 1.0))))  # plain decoding is a candidate too
    floor = ProfileLevel("floor", Costs.constant(0.01 * base), hit_rate=pairs.hits, reach=pairs.reach)
    low = (1.0, pairs.floor, min(pairs.floor_target, shares))
    below = _best((floor, drafter, goal), (low, (0.0, 1.0, shares), (0.0, 0.0, 1.0)))
    copy = ProfileLevel("copy", target.scaled(pairs.copy_cost))
    between = _best((drafter, copy, goal), ((1.0, shares, shares), (0.0, 1.0, pairs.copy), (0.0, 0.0, 1.0)))
    hits, agrees, cost, same = map(_percent, (pairs.hits, pairs.floor, pairs.copy_cost, pairs.copy))
    copied = ExtraLevel(
        "middle",
        now / between,
        f"a copy of the target in 8 bits takes {cost} of its time, the target accepts {same} of its tokens",
    )
    if profile.draft_ms < FREE * base:
        return [copied]  # the drafter is a lookup itself
    looked = f"a lookup answers in {hits} of the cases, the drafter accepts {agrees} of its tokens"
    return [ExtraLevel("floor", now / below, looked), copied]


@dataclass(frozen=True, slots=True)
class _Pairs:
    """From the shipped profile: hits and acceptance of a lookup, the relative cost and the acceptance of a copy."""

    hits: float
    reach: tuple[float, ...]
    floor: float
    floor_target: float
    copy_cost: float
    copy: float


def _pairs() -> _Pairs | None:
    for profile in shipped_profiles():
        names = profile.names
        if profile.temperature or not {"ngram", "nano", "int8", "target"} <= set(names):
            continue
        lookup, draft, copy, target = map(profile.index, ("ngram", "nano", "int8", "target"))
        level = profile.levels[lookup]
        return _Pairs(
            level.hit_rate or 0.0,
            level.reach,
            profile.accepts(lookup, draft),
            profile.accepts(lookup, target),
            profile.levels[copy].cost(1) / profile.levels[target].cost(1),
            profile.accepts(copy, target),
        )
    return None


def _best(levels: tuple[ProfileLevel, ...], acceptance: tuple[tuple[float, ...], ...]) -> float:
    """ms per token of the fastest plan that has all of these levels."""
    matrix = tuple(tuple(row[n] if n < len(row) else 0.0 for n in range(len(levels))) for row in acceptance)
    profile = Profile(levels, matrix, max_block=LONGEST)
    return Planner(profile, trees=False).best(depth=len(levels)).by_depth[len(levels) - 1].prediction.ms_per_token


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
