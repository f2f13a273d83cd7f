"""Acceptances from rows, of every pair of levels.

A token of level j survives level i with probability sum_x min(p_j(x), p_i(x)) (Leviathan et al. 2023, theorem 3.5). A
fork offers the k likeliest tokens of a greedy row, or k drawn without replacement from another, and one of them is
accepted as recursive rejection does (see `fork_chances`).

A lookup, and a level that is met at work where it really offered something (`at_work`), are judged
down their trees along the text: at every fork the chance that one of the offers is accepted. The texts are the
target's, while a draft goes its own way. Where an earlier token of a draft must have been accepted, a place of the text
counts with the weight of that (see `offers`). With i the target this is exact; of a pair further down it is so far as
the target's text follows what both may say.

Drafts begin where the last one ended, which is more often before a hard token than before an easy one. So how often a
lookup hits, and what is kept of it, is taken along the rounds that drafts of `BLOCK` tokens would have made of the
text: `begins[s]` is the probability that a round began at its token s.

Names in the tally: ("pair", j, i), ("width", j, i, k), ("hit", l), ("reach", l, m), ("beside", l, m): tokens m deep of
an offer that is so deep.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from hsd_core.core.tree import Tree, named
from hsd_core.measure.calibrate.offers import Judged, fork_chances, judge, sizes
from hsd_core.measure.calibrate.over_target import STRIDE
from hsd_core.measure.calibrate.reading import LONGEST, WIDEST, Reading
from hsd_core.measure.tally import Name, Tally

BLOCK = STRIDE  # T of the rounds that a text is walked through in
FORK_PART = 4  # of a text's tokens one in so many has a fork drawn: each goes through whole rows several times
Floats = npt.NDArray[np.float64]


def count(tally: Tally, number: int, reading: Reading) -> None:
    """Add text `number` to the tally."""
    _Count(tally, number, reading).all()


def count_offers(tally: Tally, number: int, reading: Reading, level: int, offers: Mapping[int, Tree]) -> None:
    """Add what a level offered, by the token of the text that its round began at; greedy offers have no rows."""
    _Count(tally, number, reading).offered(level, offers)


class _Count:
    def __init__(self, tally: Tally, number: int, reading: Reading) -> None:
        self.tally, self.number, self.reading = tally, number, reading
        self.dists, self.levels = reading.dists, sorted(reading.dists)
        self.ids: list[int] = reading.ids.tolist()

    def all(self) -> None:
        for place, j in enumerate(self.levels):
            for i in self.levels[place + 1 :]:
                overlap = _floats(torch.minimum(self.dists[j], self.dists[i]).sum(1))
                self._add(("pair", j, i), overlap.sum(), len(overlap))
                self._forks(j, i)
        for lookup, guesses in self.reading.guesses.items():
            self._lookup(lookup, guesses)

    def _add(self, key: Name, over: float, under: float) -> None:
        self.tally.add(key, self.number, over, under)

    def _forks(self, j: int, i: int) -> None:
        if j not in self.reading.ranked:
            part = self._drawn_part()
            q, p = (self.dists[level][part] for level in (j, i))
            for k, chances in enumerate(fork_chances(q, p, WIDEST, seed=self.number), start=1):
                self._add(("width", j, i, k), chances.sum(), len(chances))
            return
        ranked, wanted = self.reading.ranked[j].cpu().numpy(), self.dists[i].argmax(1).cpu().numpy()
        for k in range(1, ranked.shape[1] + 1):
            judged = (ranked[:, :k] == wanted[:, None]).any(1)
            self._add(("width", j, i, k), float(judged.sum()), len(judged))

    def _drawn_part(self) -> slice:
        """Neighbouring tokens; another part for every text."""
        n = len(self.ids)
        size = min(n, max(LONGEST, n // FORK_PART))
        start = self.number * size % (n - size + 1)
        return slice(start, start + size)

    def _lookup(self, lookup: int, guesses: Sequence[tuple[int, ...]]) -> None:
        offers = {start: named(guess) for start, guess in enumerate(guesses)}
        judged = {start: judge(self.dists, self.ids, start, tree) for start, tree in offers.items()}
        begins = np.ones(0)
        for i in (i for i in self.levels if i > lookup):
            begins = walk([one[i][1][:BLOCK] for one in judged.values()])
            self._rounds(lookup, i, judged, begins)
        self._shape(lookup, offers, begins)  # where the target's rounds begin

    def offered(self, level: int, offers: Mapping[int, Tree]) -> None:
        """Offers of real rounds, whatever each of them holds."""
        judged = {start: judge(self.dists, self.ids, start, tree) for start, tree in offers.items()}
        each = np.ones(len(offers))
        for i in self.levels:
            self._rounds(level, i, judged, each)
        self._shape(level, offers, each)

    def _rounds(self, level: int, i: int, judged: Mapping[int, Judged], begins: Floats) -> None:
        """What i makes of offers, each in a round that begins with so much probability."""
        for begun, one in zip(begins, judged.values(), strict=True):
            overlap, passed = one[i]
            if not len(overlap):
                continue
            # Over the first places of an offer, each given that those before it passed.
            weights = begun * np.cumprod(np.concatenate(([1.0], passed)))[: min(len(overlap), BLOCK)]
            self._add(("pair", level, i), float(weights @ overlap[: len(weights)]), float(weights.sum()))

    def _shape(self, level: int, offers: Mapping[int, Tree], begins: Floats) -> None:
        """How often there is an offer, how deep it is, and how many tokens it has at each depth."""
        shapes = [sizes(tree) for tree in offers.values()]
        hits = float(begins @ np.array([bool(shape) for shape in shapes]))
        self._add(("hit", level), hits, float(begins.sum()))
        for m in range(1, LONGEST + 1):
            wide = np.array([shape[m] for shape in shapes])
            deep = float(begins @ (wide > 0))
            self._add(("reach", level, m), deep, hits)
            self._add(("beside", level, m), float(begins @ wide), deep)


def walk(passed: Sequence[Floats]) -> Floats:
    """(n,) probability that a round begins at each of n tokens; the first one begins at token 0.

    Args:
        passed: of a draft from each token on: for each of its tokens the probability that it is an accepted one, given
            that the text goes on as it does. Behind the accepted ones stands a correction or bonus, then a new round.
    """
    begins = np.zeros(len(passed))
    begins[:1] = 1.0
    for start, draft in enumerate(passed):
        still = begins[start]
        for k, chance in enumerate((*draft, 0.0)):  # the bonus is the last of a round
            if still and start + k + 1 < len(begins):
                begins[start + k + 1] += still * (1.0 - chance)
            still *= chance
    return begins


def _floats(values: Tensor) -> Floats:
    found: Floats = values.double().cpu().numpy()
    return found
