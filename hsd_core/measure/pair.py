"""Would a draft model pay below a target? Answered before anybody rents a GPU.

`fit_of`: whether their tokenizers agree. `read_pair`, `acceptance_of`: how often the target accepts the draft's tokens,
over texts. `by_size`, `by_passes`: the costs of passes. `verdict_of`: the verdict.

Both models read a text in one pass each. Greedy: a token is accepted if the draft's likeliest is the target's. Sampled:
with probability 1 - TV = sum of min(p, q) (Leviathan et al. 2023, section 3). Rounds are followed through the text in
expectation, each beginning behind the last one's correction, so positions count as often as in a run; a text that the
target wrote greedily gives exactly the greedy run's figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from hsd_core.core.level import StackEntry
from hsd_core.doctor.draft_profile import DraftProfile, Share
from hsd_core.doctor.gain import Gain, Length, break_even_acceptance, gain_of
from hsd_core.measure.calibrate.acceptance import walk
from hsd_core.measure.intervals import Tally, median_interval
from hsd_core.measure.passes.level_passes import IdleLevel
from hsd_core.measure.tables import markdown
from hsd_core.measure.teacher_forced import pair_rows
from hsd_core.measure.timed import in_turns
from hsd_core.models.loading import least_bytes
from hsd_core.models.tokenizer import Tokenizer, TokenizerError, special_differences
from hsd_core.models.weights import Source

_SHOWN = 5  # tokens, as examples
AGAIN = (
    "A draft like this goes only where its text is tokenised again for the target: as the level `cross` here, or in "
    "engines with TokenTiming or universal assisted decoding"
)


@dataclass(frozen=True, slots=True)
class Fit:
    """Whether two tokenizers fit. fits: every text gives the same ids. differences: in words, most important first."""

    fits: bool
    differences: tuple[str, ...]
    same_ids: int
    draft_ids: int
    target_ids: int

    def sentence(self) -> str:
        if not self.fits:
            return f"The tokenizers differ: {'; '.join(self.differences)}. {AGAIN}."
        if self.differences:
            return f"The tokenizers cut every text alike ({'; '.join(self.differences)})."
        return f"The tokenizers are the same ({self.target_ids} ids)."


def fit_of(draft: Tokenizer, target: Tokenizer) -> Fit:
    """Compare the vocabulary, the merges and the special ids of two tokenizers."""
    mine, theirs = draft.ids, target.ids
    same = sum(theirs.get(token) == i for token, i in mine.items())
    try:
        apart = special_differences(draft, target)
    except TokenizerError:
        return Fit(False, tuple(_apart(draft, target, same)), same, len(mine), len(theirs))
    said = []
    if apart:
        tokens = "1 special token differs" if len(apart) == 1 else f"{len(apart)} special tokens differ"
        said.append(f"{tokens}, such as id {apart[0]}, which the draft never drafts")
    return Fit(True, tuple(said), same, len(mine), len(theirs))


def _apart(draft: Tokenizer, target: Tokenizer, same: int) -> Iterable[str]:
    mine, theirs = draft.ids, target.ids
    shared = mine.keys() & theirs.keys()
    if alone := mine.keys() - theirs.keys():
        yield f"{len(alone)} of the draft's {len(mine)} tokens are not the target's, such as {_few(alone)}"
    if alone := theirs.keys() - mine.keys():
        yield f"{len(alone)} of the target's {len(theirs)} are not the draft's, such as {_few(alone)}"
    if moved := [token for token in shared if mine[token] != theirs[token]]:
        yield f"{len(moved)} tokens have other ids, such as {_few(moved)}"
    if draft.merges != target.merges:
        place = next(
            (n for n, (a, b) in enumerate(zip(draft.merges, target.merges, strict=False)) if a != b),
            min(len(draft.merges), len(target.merges)),
        )
        yield f"the merges differ from number {place + 1} on ({len(draft.merges)} and {len(target.merges)})"
    ours, others = draft.specials, target.specials
    if names := [name for name in ours.keys() | others.keys() if ours.get(name) != others.get(name)]:
        yield f"{len(names)} special tokens have other ids or are missing in one, such as {_few(names)}"


def _few(tokens: Iterable[str]) -> str:
    listed = sorted(tokens, key=lambda token: (len(token), token))
    return ", ".join(repr(token) for token in listed[:_SHOWN])


Floats = npt.NDArray[np.float64]
CHUNK = 64  # rows whose distributions are in memory at once


@dataclass(frozen=True, slots=True)
class Acceptance:
    """By position in a draft, with intervals over texts: greedy, and sampled at temperature 1. *_each: over all places
    of the texts."""

    greedy: tuple[Share, ...]
    sampled: tuple[Share, ...]
    greedy_each: Share
    sampled_each: Share
    texts: int
    tokens: int


@torch.inference_mode()
def read_pair(entries: Sequence[StackEntry], context: Sequence[int], text: Sequence[int]) -> tuple[Floats, Floats]:
    """Acceptance of the draft's token before each of the n tokens of a text: greedy (0 or 1) and sampled, (n,) each.

    Args:
        entries: the draft and the target. context: the tokens before the text, at least one.
    """
    (q, p), n = pair_rows(entries, context, text), len(text)
    agree = (p.argmax(-1) == q.argmax(-1)).double()
    overlap = torch.cat([_overlap(p[at : at + CHUNK], q[at : at + CHUNK]) for at in range(0, n, CHUNK)])
    return agree.cpu().numpy(), overlap.cpu().numpy()


def _overlap(p: Tensor, q: Tensor) -> Tensor:
    """(n,) sum of min(p, q) for two blocks of logits; ids beyond the smaller vocabulary count 0."""
    shared = min(p.shape[-1], q.shape[-1])
    mine, theirs = torch.softmax(p.double(), -1)[:, :shared], torch.softmax(q.double(), -1)[:, :shared]
    return torch.minimum(mine, theirs).sum(-1)


def rounds_over(accepts: Floats, k: int) -> tuple[Floats, Floats]:
    """Expected drafts that kept, and that tried, each of k positions, over one text: (k,) and (k,).

    Args:
        accepts: (n,) the probability of acceptance at each token. Positions behind the end are not tried.
    """
    drafts = [accepts[place : place + k] for place in range(len(accepts))]
    kept, tried = np.zeros(k), np.zeros(k)
    for draft, reach in zip(drafts, walk(drafts), strict=True):
        for i, chance in enumerate(draft):
            tried[i] += reach
            reach *= chance
            kept[i] += reach
    return kept, tried


def acceptance_of(read: Sequence[tuple[Floats, Floats]], k: int) -> Acceptance:
    """The acceptance over all texts, by position up to k; positions that too few rounds reached are left out."""
    tally = Tally(len(read))
    for text, pair in enumerate(read):
        for which, accepts in zip(("greedy", "sampled"), pair, strict=True):
            kept, tried = rounds_over(accepts, k)
            for place in range(k):
                tally.add((which, place), text, float(kept[place]), float(tried[place]))
            tally.add((which, "each"), text, float(accepts.sum()), len(accepts))

    def share(which: str, place: object) -> Share:
        low, high = tally.interval((which, place)) or (0.0, 1.0)
        return Share(tally.ratio((which, place)) or 0.0, low, high, trials=tally.weight((which, place)))

    def by_place(which: str) -> tuple[Share, ...]:
        enough = [place for place in range(k) if tally.weight((which, place)) >= FEWEST]
        return tuple(share(which, place) for place in enough or [0])

    tokens = sum(len(greedy) for greedy, _ in read)
    every = (share("greedy", "each"), share("sampled", "each"))
    return Acceptance(by_place("greedy"), by_place("sampled"), *every, len(read), tokens)


FEWEST = 20.0  # the fewest rounds that must reach a position


MOST = 8  # tokens of a draft
TURNS, WARM_UP = 7, 2


@dataclass(frozen=True, slots=True)
class PairCosts:
    """draft: cost of a drafted token. target: of a pass of 1, ..., MOST + 1 rows. In ms, or in passes of the target.

    measured: by passes on this machine; False: estimated from the bytes read.
    """

    draft: float
    target: tuple[float, ...]
    measured: bool

    def round_at(self) -> dict[float, float]:
        """The cost of a pass with its draft, by draft length; 0 is plain decoding."""
        return {0: self.target[0], **{k: k * self.draft + self.target[k] for k in range(1, MOST + 1)}}


def read_bytes(source: Source, folder: Path, dtype: str | None) -> int:
    """Bytes of weights that a pass reads: the size of a .gguf file, else in `dtype` or 16 bits."""
    return Path(source.id).stat().st_size if _from_file(source, dtype) else least_bytes(folder, dtype or "float16")


def size_words(count: int, source: Source, dtype: str | None) -> str:
    """The same in words."""
    size = f"{count / 1e6:.0f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"
    return f"{size} as the file has it" if _from_file(source, dtype) else f"{size} in {dtype or '16 bits'}"


def _from_file(source: Source, dtype: str | None) -> bool:
    return source.kind == "gguf" and dtype is None


def by_size(draft_bytes: int, target_bytes: int) -> PairCosts:
    """Costs if memory bandwidth is the limit: a pass takes the time to read its weights, whatever its rows. This is the
    usual case for one request on a GPU, and the best one for a draft."""
    return PairCosts(draft_bytes / target_bytes, (1.0,) * (MOST + 1), measured=False)


def by_passes(entries: Sequence[StackEntry], text: Sequence[int], progress: Callable[[int, int], None]) -> PairCosts:
    """Median costs of passes of both models on this machine, in turn, behind a text.

    Args:
        text: at least MOST + 2 ids. progress: called with the turns done, and all.
    """
    length = len(text) - MOST - 2
    target = entries[-1].level
    resting = [IdleLevel(entry.level, target, text, MOST + 1) for entry in (entries[0], entries[-1])]
    for level in resting:
        level.rest(length)
    cells = [(0, 1), *((1, rows) for rows in range(1, MOST + 2))]
    found = in_turns({(i, n): partial(resting[i].one, n) for i, n in cells}, TURNS, WARM_UP, progress=progress)
    medians = {cell: median_interval(values)[0] for cell, values in found.items()}
    return PairCosts(medians[0, 1], tuple(medians[1, rows] for rows in range(1, MOST + 2)), measured=True)


SURE = 1.02  # times plain decoding: the smallest speed-up that counts as a gain


@dataclass(frozen=True, slots=True)
class Verdict:
    """lengths: 1 to MOST. best: of those and of plain decoding (k = 0). needed: the acceptance (the same at all
    positions) from which on each length pays; above 1 it never does."""

    lengths: tuple[Length, ...]
    best: Length
    break_even_acceptance: tuple[float, ...]

    def sentence(self, costs: PairCosts, given: str) -> str:
        """Whether to use the pair, in words. given: the source of the acceptance."""
        where = "measured here" if costs.measured else "by size alone, a bound that no machine beats"
        first = f"{acceptance_words(self.break_even_acceptance[0])} to pay at one token"
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


def acceptance_words(share: float) -> str:
    return f"an acceptance of {share:.2f}" if share <= 1.0 else "more than every token accepted"


def verdict_of(shares: Sequence[Share], costs: PairCosts) -> Verdict:
    """The verdict for acceptances by position at these costs; positions behind the last are like it."""
    profile = _profile(shares, costs)
    gain = gain_of(profile)
    assert isinstance(gain, Gain)  # plain decoding and every length are known
    lengths = tuple(length for length in gain.lengths if 1 <= length.k <= MOST)
    plain = next(length for length in gain.lengths if length.k == 0)
    at = tuple(break_even_acceptance(profile, k) or 0.0 for k in range(1, MOST + 1))
    return Verdict(lengths, min((plain, *lengths), key=lambda length: length.ms), at)


def _profile(shares: Sequence[Share], costs: PairCosts) -> DraftProfile:
    at = costs.round_at()
    return DraftProfile(
        engine="pair", k=MOST, conditional=tuple(shares), plain_ms=at[0], round_at=at, round_ms=at[MOST]
    )


def table(verdict: Verdict, costs: PairCosts) -> str:
    """A row per draft length."""
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
        for length, at in zip(verdict.lengths, verdict.break_even_acceptance, strict=True)
    ]
    head = ("draft length", "tokens a pass", unit, "times plain", "95 % of it", "pays from an acceptance of")
    return markdown(head, rows)


def as_json(verdict: Verdict) -> dict[str, Any]:
    """Plain JSON types."""
    lengths = [
        {"k": one.k, "tokens_per_pass": one.tokens, "cost_per_token": one.ms, "speed_up": one.speed_up}
        | {"low": one.low, "high": one.high, "pays_from_acceptance": at}
        for one, at in zip(verdict.lengths, verdict.break_even_acceptance, strict=True)
    ]
    return {"lengths": lengths, "best": {"k": verdict.best.k, "speed_up": verdict.best.speed_up}}
