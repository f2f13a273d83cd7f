"""Acceptances from rows, for every pair of levels.

A token of level j is accepted by level i with probability sum_x min(p_j(x), p_i(x)) (Leviathan et al. 2023, theorem
3.5). A fork offers the k likeliest tokens of a greedy row, or k tokens drawn without replacement, of which recursive
rejection accepts one or none (`fork_chances`).

Lookups, and levels that are measured in runs (`measured_in_runs`), are judged along the text down their trees
(`judge`): at every fork the chance that one of the offers is accepted. The texts are the target's, while a draft may
deviate: a place at which an earlier token of the draft must have been accepted counts with the probability of that.
This is exact if i is the target, and approximate for pairs further down.

Drafts begin where the last one ended, which is more often before a hard token than before an easy one. So the hit rate
of a lookup and the acceptance of its tokens are taken along the rounds that drafts of `BLOCK` tokens would have made of
the text: `begins[s]` is the probability that a round began at token s.

A stop policy ends a block behind a token whose row is not sure; of the sure ones the acceptance is counted too.

Names in the tally: ("pair", j, i), ("width", j, i, k), ("hit", l), ("reach", l, m), ("beside", l, m): tokens at depth m
of an offer of at least that depth; ("sure", j, policy, theta), ("kept", j, i, policy, theta): of j's sure tokens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from hsd_core.core.rules import drawn_from
from hsd_core.core.tree import Offer, Tree, named
from hsd_core.measure.calibrate.reading import LONGEST, STRIDE, WIDEST, Reading
from hsd_core.measure.intervals import Name, Tally

Floats = npt.NDArray[np.float64]
Judged = dict[int, tuple[Floats, Floats]]


def judge(dists: Mapping[int, Tensor], ids: Sequence[int], start: int, tree: Tree) -> Judged:
    """For each judge, at each fork along a text: the chance that it accepts an offer, and the weight of the text's
    token as the accepted one, at most 1, and 0 if it is not offered.

    Args:
        dists: (n, V) rows of the judges; the last judge wrote the text. ids: the text's n tokens. start: the index of
            the tree's first token.
    """
    forks, fork = list[list[Offer]](), -1
    for token in ids[start:]:
        if not (at := tree.forks.get(fork)):
            # If other sequences are longer than the kept one, the offer is deeper, and nothing is accepted there.
            forks += [[]] if fork >= 0 and len(forks) < tree.longest else []
            break
        forks.append([tree.offers[o] for o in at])
        fork = next((offer.node for offer in forks[-1] if tree.ids[offer.node] == token), -2)
    text = np.array(ids[start : start + len(forks)])
    accepted = {i: _accepted(rows[start : start + len(forks)], text, tree, forks) for i, rows in dists.items()}
    wrote = accepted[max(dists)][1]
    return {
        i: (chance, np.minimum(np.divide(own, wrote, out=np.zeros_like(own), where=wrote > 0.0), 1.0))
        for i, (chance, own) in accepted.items()
    }


def _accepted(
    rows: Tensor, text: npt.NDArray[np.int64], tree: Tree, forks: Sequence[Sequence[Offer]]
) -> tuple[Floats, Floats]:
    """At each fork P(an offer is accepted) and P(the text's token is), given what was drawn there.

    Named tokens are distinct, so they are accepted with the sum of their probabilities. A drawn token is judged before
    them: its acceptance is sum_x min(p, q) on average and alpha as drawn, and the named ones share the rest.
    """
    depth = np.repeat(np.arange(len(forks)), [len(fork) for fork in forks])
    ids = [tree.ids[offer.node] for fork in forks for offer in fork]
    chances = rows[depth, ids].double().cpu().numpy() if ids else np.zeros(0)
    found, own = np.zeros(len(forks)), np.zeros(len(forks))
    np.add.at(found, depth, chances)
    np.add.at(own, depth, chances * (np.array(ids) == text[depth]))
    for m, fork in enumerate(forks if tree.rows is not None else ()):
        if (q := drawn_from(tree, [*fork])) is None:
            continue
        (token,) = (tree.ids[offer.node] for offer in fork if offer.row is not None)
        p, q = rows[m], q.to(rows)
        both, chance, mine = float(torch.minimum(p, q).sum()), float(p[token]), float(q[token])
        alpha = min(1.0, chance / mine) if mine > 0.0 else float(chance > 0.0)
        found[m] = min(1.0, found[m] - chance + both)
        if text[m] == token:
            own[m] = alpha
        else:
            own[m] *= (1.0 - alpha) / (1.0 - both) if both < 1.0 else 0.0
    return found, own


def sizes(tree: Tree) -> Counter[int]:
    """The number of tokens of a tree by depth, from 1."""
    depths: list[int] = []
    for parent in tree.lineage:
        depths.append(depths[parent] + 1 if parent >= 0 else 1)
    return Counter(depths)


def fork_chances(q: Tensor, p: Tensor, most: int, *, seed: int) -> Iterator[Floats]:
    """(n,) probability that one of k tokens is accepted, for k = 1, ..., `most`.

    Recursive rejection (SpecInfer, arXiv 2305.09781; MCSD, arXiv 2401.06706) of tokens drawn from q without replacement
    and judged in order. The first token's chance is exact, sum_x min(p, q); the others' are given the tokens that were
    drawn here, so their mean takes many rows.

    Args:
        q, p: (n, V) rows of the drafter and of its judge.
    """
    source = torch.Generator(device="cpu").manual_seed(seed)
    q, p = q.float(), p.float()
    # Draws without replacement are in the order of exponential waiting times with rates q.
    waits = torch.empty(q.shape).exponential_(generator=source).to(q.device)
    drawn = (q / waits).topk(min(most, q.shape[1])).indices
    refused = torch.ones(len(q), device=q.device)
    for k in range(drawn.shape[1]):
        token = drawn[:, k : k + 1]
        kept = 1.0 - refused * (1.0 - torch.minimum(p, q).sum(1).clamp_max(1.0))
        yield kept.double().cpu().numpy()
        own, judge = q.gather(1, token), p.gather(1, token)
        alpha = (judge / own.clamp_min(torch.finfo(q.dtype).tiny)).clamp_max(1.0) * (own > 0.0)
        refused = refused * (1.0 - alpha).squeeze(1)
        p = _whole((p - q).clamp_min(0.0), p)
        q = _whole(q.scatter(1, token, 0.0), q)


def _whole(mass: Tensor, instead: Tensor) -> Tensor:
    """Rows normalised to sum 1; rows without mass are replaced by `instead`: these places are decided already."""
    total = mass.sum(1, keepdim=True)
    return torch.where(total > 0.0, mass / total.clamp_min(torch.finfo(mass.dtype).tiny), instead)


THETAS = (0.1, 0.2, 0.3, 0.5, 0.7, 0.9)  # of stop policies
BLOCK = STRIDE  # T of the rounds along a text
FORK_PART = 4  # forks are drawn for one in this many tokens, as each takes several passes over full rows


def count(tally: Tally, number: int, reading: Reading) -> None:
    """Add text `number` to the tally."""
    _Count(tally, number, reading).all()


def count_offers(tally: Tally, number: int, reading: Reading, level: int, offers: Mapping[int, Tree]) -> None:
    """Add a level's offers, by the index of the token at which the round began; greedy offers have no rows."""
    _Count(tally, number, reading).offered(level, offers)


class _Count:
    def __init__(self, tally: Tally, number: int, reading: Reading) -> None:
        self.tally, self.number, self.reading = tally, number, reading
        self.dists, self.levels = reading.dists, sorted(reading.dists)
        self.ids: list[int] = reading.ids.tolist()

    def all(self) -> None:
        for place, j in enumerate(self.levels):
            stops = {
                (policy, theta): _floats(confidence >= theta)
                for policy, confidence in self.reading.sure.get(j, {}).items()
                for theta in THETAS
            }
            for stop, sure in stops.items():
                self._add(("sure", j, *stop), float(sure.sum()), len(sure))
            for i in self.levels[place + 1 :]:
                overlap = _floats(torch.minimum(self.dists[j], self.dists[i]).sum(1))
                self._add(("pair", j, i), overlap.sum(), len(overlap))
                for stop, sure in stops.items():
                    self._add(("kept", j, i, *stop), float(overlap @ sure), float(sure.sum()))
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
        """A range of tokens; another part for every text."""
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
        self._shape(lookup, offers, begins)  # weighted by the target's rounds

    def offered(self, level: int, offers: Mapping[int, Tree]) -> None:
        """Offers of real rounds, each with weight 1."""
        judged = {start: judge(self.dists, self.ids, start, tree) for start, tree in offers.items()}
        each = np.ones(len(offers))
        for i in self.levels:
            self._rounds(level, i, judged, each)
        self._shape(level, offers, each)

    def _rounds(self, level: int, i: int, judged: Mapping[int, Judged], begins: Floats) -> None:
        """Level i's acceptance of offers, weighted by the probabilities that their rounds begin."""
        for begun, one in zip(begins, judged.values(), strict=True):
            overlap, passed = one[i]
            if not len(overlap):
                continue
            # Over the first places of an offer, each given that those before it were accepted.
            weights = begun * np.cumprod(np.concatenate(([1.0], passed)))[: min(len(overlap), BLOCK)]
            self._add(("pair", level, i), float(weights @ overlap[: len(weights)]), float(weights.sum()))

    def _shape(self, level: int, offers: Mapping[int, Tree], begins: Floats) -> None:
        """The hit rate, and the depth and number of tokens of offers."""
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
        passed: for a draft from each token on: the probability that each of its tokens is accepted, given the text.
            The accepted ones are followed by a correction or bonus token, then by a new round.
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
