"""Acceptances from rows: of every pair of levels, by how a token came to be, by its place in a draft.

A token of level j survives level i with probability sum_x min(p_j(x), p_i(x)) (Leviathan et al. 2023, theorem 3.5). If
j sits on a level l, its token is one that it accepted from l, one it drew from the residual of l's row, or a bonus:

    accepted   sum_x min(p_l, p_j) min(1, p_i / p_j)       / sum_x min(p_l, p_j)
    residual   sum_x max(p_j - p_l, 0) min(1, p_i / p_j)   / sum_x max(p_j - p_l, 0)
    bonus      sum_x min(p_j, p_i) behind tokens of l that both j and i accepted

The texts are the target's, while a draft goes its own way. Where an earlier token of a draft must have been accepted, a
place of the text counts with the weight of that: prod_t min(p_j, p_i)(x_t) / p_K(x_t) over the text's tokens x_t. With
i the target this is exact; of a pair further down it is so far as the target's text follows what both may say.

Drafts begin where the last one ended, which is more often before a hard token than before an easy one. So the place of
a token in its draft, and how often a lookup hits, are taken along the rounds that drafts of `BLOCK` tokens would have
made of the text: `begins[s]` is the probability that a round began at its token s.

A fork offers the k likeliest tokens of a greedy row, or k drawn without replacement from another, and one of them is
accepted as recursive rejection does (see `forks`). Behind a fork whose token was accepted the text goes on with the
weight of its own token: the mass of it that the fork kept, over the target's.

A level that offers several sequences side by side is judged where it really offered them (`several`): down its tree
along the text that the same run wrote, at every fork the chance that one of the offers is accepted.

Names in the tally: ("pair", j, i), ("kind", j, i, kind), ("place", j, i, m), ("accepted" | "residual" | "bonus", j, i)
and the same with l behind it, ("width", j, i, k), ("fork", j, i, m, k), ("hit", l), ("reach", l, m), ("beside", l, m):
tokens m deep of an offer that is so deep.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from hsd_core.levels.tree import Tree, named
from hsd_core.measure.calibrate import forks
from hsd_core.measure.calibrate.offers import Judged, judge, sizes
from hsd_core.measure.calibrate.reading import LONGEST, STRIDE, WIDEST, Reading
from hsd_core.measure.calibrate.tally import Name, Tally

BLOCK = STRIDE  # T of the rounds that a text is walked through in
FORK_PART = 4  # of a text's tokens one in so many has a fork drawn: each goes through whole rows several times
BONUS_AFTER = 2  # tokens of the level below that stand before a bonus
Floats = npt.NDArray[np.float64]


def count(tally: Tally, number: int, reading: Reading, kind: str) -> None:
    """Add text `number`, of a kind of prompt, to the tally."""
    _Count(tally, number, reading, kind).all()


def count_offers(
    tally: Tally, number: int, reading: Reading, kind: str, level: int, offers: Mapping[int, Tree]
) -> None:
    """Add what a level offered, by the token of the text that its round began at; greedy offers have no rows."""
    _Count(tally, number, reading, kind).offered(level, offers)


class _Count:
    def __init__(self, tally: Tally, number: int, reading: Reading, kind: str) -> None:
        self.tally, self.number, self.reading, self.kind = tally, number, reading, kind
        self.laws, self.levels = reading.laws, sorted(reading.laws)
        self.target = self.levels[-1]
        self.ids: list[int] = reading.ids.tolist()
        self.at_text = {i: _gather(rows, reading.ids) for i, rows in self.laws.items()}

    def all(self) -> None:
        for place, j in enumerate(self.levels):
            for i in self.levels[place + 1 :]:
                kept = (self.laws[i] / self.laws[j].clamp_min(torch.finfo(self.laws[j].dtype).tiny)).clamp_max(1.0)
                overlap = _floats(torch.minimum(self.laws[j], self.laws[i]).sum(1))
                self._pair(j, i, overlap)
                self._forks(j, i)
                for below in self.levels[:place]:
                    self._how(below, j, i, kept, overlap)
                for lookup, guesses in self.reading.guesses.items():
                    if lookup < j:
                        self._how_over_lookup(lookup, guesses, j, i, overlap)
        for lookup, guesses in self.reading.guesses.items():
            self._lookup(lookup, guesses)

    def _add(self, key: Name, over: float, under: float) -> None:
        self.tally.add(key, self.number, over, under)

    def _pair(self, j: int, i: int, overlap: Floats) -> None:
        self._add(("pair", j, i), overlap.sum(), len(overlap))
        self._add(("kind", j, i, self.kind), overlap.sum(), len(overlap))
        passed = np.minimum(self._per_text(np.minimum(self.at_text[j], self.at_text[i])), 1.0)
        begins = walk([passed[s : s + BLOCK] for s in range(len(passed))])
        if drafts := self.reading.drafts.get(j):
            for start, rows in drafts:
                judge = self.laws[i][start : start + len(rows)]
                ids = self.reading.ids[start : start + len(rows)]
                alone = _floats(torch.minimum(rows, judge).sum(1))
                both = self._per_text(np.minimum(_gather(rows, ids), _gather(judge, ids)), start)
                self._places(j, i, alone, both, begins[start : start + 1])
        else:
            self._places(j, i, overlap, passed, begins)

    def _places(self, j: int, i: int, overlap: Floats, passed: Floats, begins: Floats) -> None:
        """The m-th token of drafts that begin at the first positions, given that those before it passed."""
        self._along(("place", j, i), (), overlap, passed, begins)

    def _along(self, name: Name, behind: Name, values: Floats, passed: Floats, begins: Floats) -> None:
        """Of the m-th place of drafts, given that those before it passed: its name has m between the two parts."""
        weights = begins
        for m in range(min(LONGEST, len(values))):
            weights = weights[: len(values) - m]
            here = slice(m, m + len(weights))
            self._add((*name, m + 1, *behind), float(weights @ values[here]), float(weights.sum()))
            weights = weights * passed[here]

    def _forks(self, j: int, i: int) -> None:
        if j not in self.reading.ranked:
            part = self._drawn_part()
            q, p = (self.laws[level][part] for level in (j, i))
            drawn = forks.accepted(q, p, self.reading.ids[part], WIDEST, seed=self.number)
            for k, (chances, of_text) in enumerate(drawn, start=1):
                self._add(("width", j, i, k), chances.sum(), len(chances))
                passed = self._per_text(of_text, part.start)
                begins = walk([passed[s : s + BLOCK] for s in range(len(passed))])
                self._along(("fork", j, i), (k,), chances, passed, begins)
            return
        ranked = self.reading.ranked[j].cpu().numpy()
        wanted, text = self.laws[i].argmax(1).cpu().numpy(), np.array(self.ids)
        for k in range(1, ranked.shape[1] + 1):
            judged, own = ((ranked[:, :k] == token[:, None]).any(1).astype(float) for token in (wanted, text))
            self._add(("width", j, i, k), judged.sum(), len(judged))
            passed = judged * own  # along the text, which is the target's
            begins = walk([passed[s : s + BLOCK] for s in range(len(passed))])
            self._along(("fork", j, i), (k,), judged, passed, begins)

    def _drawn_part(self) -> slice:
        """Neighbouring tokens, so that forks can be looked at behind one another; another part for every text."""
        n = len(self.ids)
        size = min(n, max(LONGEST, n // FORK_PART))
        start = self.number * size % (n - size + 1)
        return slice(start, start + size)

    def _how(self, below: int, j: int, i: int, kept: Tensor, overlap: Floats) -> None:
        shared = torch.minimum(self.laws[below], self.laws[j])
        mass, alpha = _floats(shared.sum(1)), _floats((shared * kept).sum(1))
        before = self._survival(np.minimum(self.at_text[below], self.at_text[j]), j, i)
        weights = np.ones(len(overlap) - BONUS_AFTER) if len(overlap) > BONUS_AFTER else np.ones(0)
        for back in range(1, BONUS_AFTER + 1):
            weights = weights * before[BONUS_AFTER - back : len(overlap) - back][: len(weights)]
        self._came(below, j, i, mass, alpha, overlap, np.ones(len(overlap), dtype=bool))
        self._bonus(below, j, i, float(weights @ overlap[BONUS_AFTER:]), float(weights.sum()))

    def _how_over_lookup(
        self, lookup: int, guesses: Sequence[tuple[int, ...]], j: int, i: int, overlap: Floats
    ) -> None:
        first = torch.tensor([g[0] if g else 0 for g in guesses], device=self.reading.ids.device)
        hit = np.array([bool(g) for g in guesses])
        own, judge = _gather(self.laws[j], first), _gather(self.laws[i], first)
        self._came(lookup, j, i, own, np.minimum(own, judge), overlap, hit)
        before = self._survival(self.at_text[j], j, i)
        over = under = 0.0
        for start, guess in enumerate(guesses):
            length = min(len(guess), BONUS_AFTER)
            if start + length < len(overlap) and list(guess[:length]) == self.ids[start : start + length]:
                weight = float(before[start : start + length].prod())
                over, under = over + weight * float(overlap[start + length]), under + weight
        self._bonus(lookup, j, i, over, under)

    def _came(
        self, below: int, j: int, i: int, mass: Floats, alpha: Floats, overlap: Floats, where: npt.NDArray[np.bool_]
    ) -> None:
        """Tokens that j accepted from `below` (of that mass, of which alpha survives i), and the residual's."""
        rest, rest_alpha = np.maximum(1.0 - mass, 0.0), np.maximum(overlap - alpha, 0.0)
        for name, over, under in (("accepted", alpha, mass), ("residual", np.minimum(rest_alpha, rest), rest)):
            for key in ((name, j, i), (name, j, i, below)):
                self._add(key, float(over[where].sum()), float(under[where].sum()))

    def _bonus(self, below: int, j: int, i: int, over: float, under: float) -> None:
        self._add(("bonus", j, i), over, under)
        self._add(("bonus", j, i, below), over, under)

    def _survival(self, drafted: Floats, j: int, i: int) -> Floats:
        """(n,) weight of the text's token as one that j accepted (a mass of `drafted`) and that i then accepts too."""
        own, judge = self.at_text[j], self.at_text[i]
        kept = np.divide(judge, own, out=np.ones_like(own), where=own > judge)
        return self._per_text(drafted * kept)

    def _per_text(self, mass: Floats, start: int = 0) -> Floats:
        """(m,) masses of the text's tokens as weights against the law that wrote the text."""
        wrote = self.at_text[self.target][start : start + len(mass)]
        return np.divide(mass, wrote, out=np.zeros_like(mass), where=wrote > 0.0)

    def _lookup(self, lookup: int, guesses: Sequence[tuple[int, ...]]) -> None:
        offers = {start: named(guess) for start, guess in enumerate(guesses)}
        judged = {start: judge(self.laws, self.ids, start, tree) for start, tree in offers.items()}
        begins = np.ones(0)
        for i in (i for i in self.levels if i > lookup):
            begins = walk([one[i][1][:BLOCK] for one in judged.values()])
            self._rounds(lookup, i, judged, begins)
        self._shape(lookup, offers, begins)  # where the target's rounds begin

    def offered(self, level: int, offers: Mapping[int, Tree]) -> None:
        """Offers of real rounds, whatever each of them holds."""
        judged = {start: judge(self.laws, self.ids, start, tree) for start, tree in offers.items()}
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
            self._places(level, i, overlap, passed, np.array([begun]))
            # The pair's one number: over the first places of an offer, each given that those before it passed.
            weights = begun * np.cumprod(np.concatenate(([1.0], passed)))[: min(len(overlap), BLOCK)]
            over = float(weights @ overlap[: len(weights)])
            for key in (("pair", level, i), ("kind", level, i, self.kind)):
                self._add(key, over, float(weights.sum()))

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
            that the text goes on as it does; of drawn forks an estimate, perhaps above 1, which is right in the mean.
            Behind the accepted ones stands a correction or bonus, then a new round.
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


def _gather(rows: Tensor, ids: Tensor) -> Floats:
    """(n, V) rows, (n,) ids -> (n,) probabilities."""
    return _floats(rows.gather(1, ids.unsqueeze(1)).squeeze(1))


def _floats(values: Tensor) -> Floats:
    found: Floats = values.double().cpu().numpy()
    return found
