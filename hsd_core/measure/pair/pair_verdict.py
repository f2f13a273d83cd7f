"""The verdict on a pair: what each draft length gives, from which acceptance on it pays, and whether it does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hsd_core.doctor.counted_share import Share
from hsd_core.doctor.draft_profile import DraftProfile
from hsd_core.doctor.gain import Gain, Length, gain_of, needed
from hsd_core.measure.pair.pair_costs import MOST, PairCosts
from hsd_core.measure.results.sheet import markdown

SURE = 1.02  # times plain decoding: what counts as a gain


@dataclass(frozen=True, slots=True)
class Verdict:
    """lengths: 1 to MOST. best: of those and of plain decoding (k = 0). needed: the acceptance, the same for all
    positions, from which on each length pays; above 1 it never does."""

    lengths: tuple[Length, ...]
    best: Length
    needed: tuple[float, ...]

    def sentence(self, costs: PairCosts, given: str) -> str:
        """Whether to use the pair, as one sentence. given: whose acceptance it is."""
        where = "measured here" if costs.measured else "by size alone, a bound that no machine beats"
        first = f"{needed_words(self.needed[0])} to pay at one token"
        if not self.best.k:
            top = max(self.lengths, key=lambda length: length.speed_up or 0.0)
            return (
                f"Do not use it: at its best length, {top.k}, it gives {top.speed_up:.2f} times plain decoding "
                f"({given}; costs {where}). It needs {first}."
            )
        said = f"drafts of {self.best.k} give {self.best.speed_up:.2f} times plain decoding"
        if self.best.low is not None:
            said += f", {self.best.low:.2f} to {self.best.high:.2f} by these texts"
        said += f" ({given}; costs {where})"
        if (self.best.speed_up or 0.0) < SURE:
            return f"Not worth a test: {said}."
        if self.best.low is not None and self.best.low < SURE:
            return f"Open: {said}. Read more texts before you rent anything. It needs {first}."
        return f"Worth a test: {said}. It needs {first}."


def needed_words(share: float) -> str:
    return f"an acceptance of {share:.2f}" if share <= 1.0 else "more than every token accepted"


def verdict_of(shares: Sequence[Share], costs: PairCosts) -> Verdict:
    """Judge acceptances by position at these costs; positions behind the last go on like it."""
    profile = _profile(shares, costs)
    gain = gain_of(profile)
    assert isinstance(gain, Gain)  # plain decoding and every length are known
    lengths = tuple(length for length in gain.lengths if 1 <= length.k <= MOST)
    plain = next(length for length in gain.lengths if length.k == 0)
    at = tuple(needed(profile, k) or 0.0 for k in range(1, MOST + 1))
    return Verdict(lengths, min((plain, *lengths), key=lambda length: length.ms), at)


def _profile(shares: Sequence[Share], costs: PairCosts) -> DraftProfile:
    at = costs.round_at()
    return DraftProfile(
        engine="pair", k=MOST, conditional=tuple(shares), plain_ms=at[0], round_at=at, round_ms=at[MOST]
    )


def table(verdict: Verdict, costs: PairCosts) -> str:
    """A row for every draft length."""
    unit = "ms a token" if costs.measured else "passes of the target a token"
    rows = [
        (
            length.k,
            f"{length.tokens:.2f}",
            f"{length.ms:.2f}",
            f"{length.speed_up:.2f}",
            "" if length.low is None else f"{length.low:.2f} to {length.high:.2f}",
            f"{at:.2f}" if at <= 1 else "never",
        )
        for length, at in zip(verdict.lengths, verdict.needed, strict=True)
    ]
    head = ("draft length", "tokens a pass", unit, "times plain", "95 % of it", "pays from an acceptance of")
    return markdown(head, rows)


def as_json(verdict: Verdict) -> dict[str, Any]:
    """Plain JSON types."""
    lengths = [
        {"k": one.k, "tokens_per_pass": one.tokens, "cost_per_token": one.ms, "speed_up": one.speed_up}
        | {"low": one.low, "high": one.high, "pays_from_acceptance": at}
        for one, at in zip(verdict.lengths, verdict.needed, strict=True)
    ]
    return {"lengths": lengths, "best": {"k": verdict.best.k, "speed_up": verdict.best.speed_up}}
