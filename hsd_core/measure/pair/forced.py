"""How often a target accepts a draft's tokens, read over texts: both see the text as it stands, in one pass each.

Greedy: accepted where the draft's likeliest token is the target's. Sampled: with probability 1 - TV = sum of min(p, q)
(Leviathan et al. 2023, section 3). Rounds are followed through the text in expectation, each beginning behind the last
one's correction, so positions count as often as a run would meet them; a text that the target itself wrote greedily
gives exactly the greedy run's figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from hsd_core.core.entry import StackEntry
from hsd_core.doctor.counted_share import Share
from hsd_core.measure.calibrate.overlap import walk
from hsd_core.measure.tally import Tally
from hsd_core.measure.teacher_forced import pair_rows

Floats = npt.NDArray[np.float64]
CHUNK = 64  # rows whose distributions are held at once


@dataclass(frozen=True, slots=True)
class Acceptance:
    """By position with intervals over texts: `greedy`, and `sampled` at temperature 1. each: all places alike."""

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
        entries: the draft and the target. context: what stands before the text, one token at least.
    """
    (q, p), n = pair_rows(entries, context, text), len(text)
    agree = (p.argmax(-1) == q.argmax(-1)).double()
    overlap = torch.cat([_overlap(p[at : at + CHUNK], q[at : at + CHUNK]) for at in range(0, n, CHUNK)])
    return agree.cpu().numpy(), overlap.cpu().numpy()


def _overlap(p: Tensor, q: Tensor) -> Tensor:
    """Sum of min(p, q) of two blocks of logits; a vocabulary that was cut has no share of the rest: (n,)."""
    shared = min(p.shape[-1], q.shape[-1])
    mine, theirs = torch.softmax(p.double(), -1)[:, :shared], torch.softmax(q.double(), -1)[:, :shared]
    return torch.minimum(mine, theirs).sum(-1)


def rounds_over(accepts: Floats, k: int) -> tuple[Floats, Floats]:
    """Expected drafts that kept, and that tried, each of k positions, over one text: (k,) and (k,).

    Args:
        accepts: (n,) the probability of acceptance before each token. Positions behind the end are not tried.
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
    """What texts say together, by position up to k; positions that too few rounds reached are left out."""
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


FEWEST = 20.0  # rounds that must have reached a position
