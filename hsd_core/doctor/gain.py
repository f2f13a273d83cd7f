"""What each draft length would give: tokens of a pass, ms of a token, and the gain over plain decoding.

With conditional acceptances a_i a pass over a draft of k tokens gives E(k) = 1 + a_1 + a_1 a_2 + ... tokens (k of these
products) and takes R(k) ms. R is drafting and verifying where the engine tells them apart, else it is interpolated
between the lengths that were measured, plain decoding being length 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from hsd_core.doctor.counted_share import kept
from hsd_core.doctor.draft_profile import DraftProfile

DRAWS = 400
BEYOND = 4  # lengths beyond the longest that was measured, where acceptance is assumed to go on
MOST = 32
WORTH = 1.02  # times plain decoding, below which no length is worth its trouble


@dataclass(frozen=True, slots=True)
class Length:
    """One draft length: tokens a pass, ms a token, gain over plain decoding (None: plain time not known).

    low, high: 95 % of the gain, from the counts of acceptance alone. assumed: beyond what was measured.
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
    """All lengths and the best one; best.k is 0 where plain decoding is quickest.

    low, high: the lengths that are best in 95 % of draws. split: drafting and verifying were told apart.
    """

    lengths: tuple[Length, ...]
    best: Length
    low: int
    high: int
    split: bool


def gain_of(profile: DraftProfile) -> Gain | None:
    """The curve; None where the time of other lengths than the present one cannot be known."""
    longest = profile.k or 0
    if not longest or not (profile.conditional or profile.flat):
        return None
    if profile.varying and not profile.conditional and profile.draft_ms is None:
        return None  # the drafts' length is a mean below a limit: no length was run
    # one length and no plain time: a shorter draft costs no more than this one, of a longer one nothing is known
    beyond = BEYOND if len(profile.round_at) > 1 or profile.plain_ms is not None else 0
    most = min(MOST, math.ceil(max(longest, *profile.round_at, 0)) + beyond)
    rounds = round_times(profile, most)
    if rounds is None:
        return None
    first = 0 if profile.plain_ms is not None else 1
    tokens = _tokens(np.array([[profile.accepts(place) for place in range(most)]]), profile.drafting)[0]
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
    """Whether the best length is worth its trouble; where plain decoding is not known, it counts as such."""
    return gain.best.k > 0 and (gain.best.speed_up is None or gain.best.speed_up >= WORTH)


def round_times(profile: DraftProfile, most: int) -> np.ndarray | None:
    """R(0), ..., R(most) in ms: (most + 1,). None where they cannot be known."""
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


def needed(profile: DraftProfile, k: int) -> float | None:
    """The acceptance, one for all positions, from which drafts of k tokens pay; above 1 they never do.

    None where their time or the plain one is not known.
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
        low, high = (middle, high) if kept(middle, k) < wanted else (low, middle)
    return (low + high) / 2


def _between(known: Mapping[Any, float], at: np.ndarray) -> np.ndarray:
    """Linear between what is known; behind it the last slope goes on, unless it falls."""
    places, values = np.array(sorted(known), dtype=np.float64), np.array([known[place] for place in sorted(known)])
    found = np.interp(at, places, values)
    (x0, x1), (y0, y1) = places[-2:], values[-2:]
    slope = max(0.0, (y1 - y0) / (x1 - x0))
    found = np.where(at > x1, y1 + slope * (at - x1), found)
    (x0, x1), (y0, y1) = places[:2], values[:2]
    below = np.maximum(y0 - (y1 - y0) / (x1 - x0) * (x0 - at), 0.5 * y0)
    return np.asarray(np.where(at < x0, below, found))


def _tokens(shares: np.ndarray, drafting: float) -> np.ndarray:
    """E(0), ..., E(most) of rows of conditional shares: (n, most) to (n, most + 1)."""
    kept_tokens = np.cumsum(np.cumprod(shares, axis=1), axis=1)
    return np.asarray(1.0 + drafting * np.concatenate((np.zeros((len(shares), 1)), kept_tokens), axis=1))


def _measured(known: Mapping[int, float], tokens: np.ndarray) -> np.ndarray:
    """Tokens a pass of lengths that were run, linear between them; behind the longest as one share for all goes on."""
    at = {0: 1.0, **known}
    places = np.array(sorted(at), dtype=np.float64)
    lengths = np.arange(len(tokens))
    last = min(int(places[-1]), len(tokens) - 1)
    found = np.interp(lengths, places, [at[int(place)] for place in places])
    return np.asarray(np.where(lengths > last, found[last] + tokens - tokens[last], found))


def _drawn(profile: DraftProfile, most: int) -> np.ndarray | None:
    """Tokens a pass for `DRAWS` acceptances that the counts allow (Jeffreys' prior): (DRAWS, most + 1)."""
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
    """ms that a drafted token adds, drafting and its row together, where the two are not told apart."""
    places: Sequence[tuple[float, float]] = sorted(profile.round_at.items())
    rises = [(y1 - y0) / (x1 - x0) for (x0, y0), (x1, y1) in pairwise(places)]
    return sum(rises) / len(rises) if rises else None
