"""DiffuSpec's search (arXiv 2510.02358): a lattice of candidates for every cell, and the path through it that reads
best from left to right.

    candidates of a cell    its likeliest tokens, together `mass` of its row, at most `most`; an end of the text always
    score of a path         sum over its tokens of  weight * log q(v) + (1 - weight) * log g(v | the two tokens before)
    g                       counts of n-grams in a text and in the context: a causal model that costs next to nothing

A row q says nothing of the cells beside it, g does. The path is searched, not drawn: it is handed up by name.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from torch import Tensor

if TYPE_CHECKING:
    from numpy.typing import NDArray

PRIOR = 4.0  # occurrences that a shorter n-gram's share counts as
OWN = 20.0  # occurrences of general text that one in the context counts as


@dataclass(frozen=True, slots=True)
class Search:
    """How a lattice is made and searched. beam: paths that are kept from cell to cell. The paper: 15, 0.8, 3, 0.5."""

    most: int = 8
    mass: float = 0.8
    beam: int = 3
    weight: float = 0.5


class Candidate(NamedTuple):
    """chance: of its row."""

    id: int
    chance: float


class Trigrams:
    """Counts of the n-grams of a text, n at most 3.

    Args:
        tokens: (n,) ids of the text, of which `vocab` separates documents; empty: only contexts are counted.
    """

    def __init__(self, tokens: NDArray[Any], vocab: int) -> None:
        self._base, self._vocab, ids = vocab + 1, vocab, tokens.astype(np.int64)
        self._ones = np.bincount(ids, minlength=vocab + 1) if len(ids) else np.zeros(vocab + 1, np.int64)
        pairs = ids[:-1] * self._base + ids[1:]
        self._pairs, self._threes = np.sort(pairs), np.sort(pairs[:-1] * self._base + ids[2:])

    def count(self, *ids: int) -> int:
        """How often these one to three ids follow each other in the text."""
        if len(ids) == 1:
            return int(self._ones[ids[0]])
        key = 0
        for id_ in ids:
            key = key * self._base + id_
        low, high = np.searchsorted(self._pairs if len(ids) == 2 else self._threes, [key, key + 1])
        return int(high - low)

    @property
    def size(self) -> int:
        """Tokens of the text."""
        return len(self._pairs) + 1 if len(self._pairs) else 0


class Proxy:
    """g(v | a, b) of one run: the text's counts and the context's."""

    def __init__(self, text: Trigrams, vocab: int) -> None:
        self._text, self._vocab = text, vocab
        self._own, self._read = Counter[tuple[int, ...]](), 0

    def read(self, ids: Sequence[int]) -> None:
        """Count the context; only its growing end is new."""
        for at in range(self._read, len(ids)):
            for n in (1, 2, 3):
                if at + 1 >= n:
                    self._own[tuple(ids[at + 1 - n : at + 1])] += 1
        self._read = max(self._read, len(ids))

    def log(self, before: Sequence[int], token: int) -> float:
        """log g(token | the last two of `before`)."""
        size = self._text.size + OWN * self._read
        share = (self._of(token) + 1.0) / (size + self._vocab)
        for n in range(1, min(2, len(before)) + 1):
            key = tuple(before[-n:])
            share = (self._of(*key, token) + PRIOR * share) / (self._of(*key) + PRIOR)
        return math.log(share)

    def _of(self, *ids: int) -> float:
        return self._text.count(*ids) + OWN * self._own[ids]


def candidates(rows: Tensor, ends: frozenset[int], how: Search) -> list[list[Candidate]]:
    """The lattice of (n, V) logits, the likeliest first."""
    found = []
    for row in rows.softmax(-1):
        chances, ids = row.topk(min(how.most, len(row)))
        kept, mass = list[Candidate](), 0.0
        for chance, id_ in zip(chances.tolist(), ids.tolist(), strict=True):
            if kept and (mass >= how.mass or chance == 0.0):
                break
            kept.append(Candidate(id_, chance))
            mass += chance
        known = {one.id for one in kept}
        kept += [Candidate(id_, float(row[id_])) for id_ in sorted(ends - known) if float(row[id_]) > 0.0]
        found.append(kept)
    return found


def likeliest_path(
    lattice: Sequence[Sequence[Candidate]], before: Sequence[int], proxy: Proxy, ends: frozenset[int], how: Search
) -> list[int]:
    """The best path that the beam finds; it ends with the first end of the text."""
    beam: list[tuple[float, list[int]]] = [(0.0, [])]
    last = list(before[-2:])
    for column in lattice:
        grown = [(score, path) for score, path in beam if path and path[-1] in ends]
        for score, path in beam:
            if path and path[-1] in ends:
                continue
            for one in column:
                own = how.weight * math.log(one.chance) + (1 - how.weight) * proxy.log([*last, *path], one.id)
                grown.append((score + own, [*path, one.id]))
        # by the mean, as paths that ended have fewer tokens
        beam = sorted(grown, key=lambda scored: -scored[0] / len(scored[1]))[: how.beam]
    return beam[0][1]


@dataclass(slots=True)
class RecentLength:
    """DiffuSpec's adaptive length: the length of the next draft follows what was drafted and kept of late.

    made, kept: means with weight `rho` on the last draft, of its tokens before an end of the text and of those that the
    level above kept. The next length is `made`, and `step` more where all that is made is kept, to half a token:
    two means that meet only in the end would never grow it.
    """

    least: int
    most: int
    step: int = 1
    rho: float = 0.5
    made: float = 0.0
    kept: float = 0.0
    length: int = 0

    def __post_init__(self) -> None:
        self.made, self.length = float(self.most), self.most

    def drafted(self, ids: Sequence[int], ends: frozenset[int]) -> None:
        """The likeliest token of each cell of a draft, before any search."""
        before = next((at for at, id_ in enumerate(ids) if id_ in ends), len(ids))
        self.made += self.rho * (min(before, self.length) - self.made)

    def judged(self, kept: int) -> None:
        """The level above has kept so many tokens of a draft."""
        self.kept += self.rho * (kept - self.kept)
        grown = self.made + (self.step if self.kept >= self.made - 0.5 else 0)
        self.length = max(self.least, min(self.most, round(grown)))
