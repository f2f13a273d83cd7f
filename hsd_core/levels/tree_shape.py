"""The shape of a tree of drafts: which tokens get children, and how many.

Widths by depth, or a shape that follows the drafter's confidence (EAGLE-2, arXiv 2406.16858): the likeliest paths, by
the product of their tokens' probabilities. EAGLE-2 drafts more tokens than it offers and keeps the likeliest, which is
exact for named tokens only: drawn tokens must not be dropped. So the shape is decided before tokens are drawn, from the
rows and tokens so far: the tree is planned to its full depth, with the probabilities of a token's row as an estimate
for its children's row, and only the next depth of this plan is drawn.

Or sequences side by side (DuoDecoding, arXiv 2503.00784): as many as the drafter finds likelier than its first two
tokens together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import exp
from typing import NamedTuple, Protocol

from torch import Tensor

from hsd_core.core.level import TreeShape
from hsd_core.models.sampling import largest


class Fork(NamedTuple):
    """A node that may get children: a token, or the end of the context.

    chance: the probability of its path, by the drafter. sure: the probabilities of the likeliest next tokens,
    decreasing; before its row is computed, those of its parent's row. mass: the log-sum-exp of its row's logits.
    """

    chance: float = 1.0
    sure: Sequence[float] = ()
    mass: float = 0.0


BEFORE = Fork()  # the end of the context, before its row is computed


class Shape(Protocol):
    """Decides the shape of a tree while it grows. `left`: how many more depths it may have."""

    def goes_on(self, forks: Sequence[Fork], left: int) -> Sequence[bool]:
        """For each of the last tokens whether its row is computed."""
        ...

    def read(self, forks: Sequence[Fork], logits: Tensor, drawn: Tensor | None) -> Sequence[Fork]:
        """The forks, updated from their rows.

        Args:
            logits: (n, V) of their rows. drawn: (n, V) the distributions that tokens are drawn from; None when greedy.
        """
        ...

    def widths(self, forks: Sequence[Fork], left: int) -> Sequence[int]:
        """The number of children of each fork, at least 1: a node whose row was computed has children, so that
        childless nodes can be left out of a pass without renumbering the others."""
        ...

    def offered(self, fork: Fork, logits: Tensor, token: int) -> Fork:
        """A new child of a fork, as a fork. logits: (V,) of its parent's row."""
        ...

    def late(self, logits: Tensor) -> int:
        """How many more children the end of the context gets. logits: (n, V) of the last rows."""
        ...


@dataclass(frozen=True, slots=True)
class Beginnings(TreeShape):
    """At most `widths[0]` sequences that differ in their first token."""


def shape_of(asked: TreeShape) -> Shape:
    """The shape of one tree."""
    if isinstance(asked, Beginnings):
        return Chains(most=asked.widths[0])
    return Confident(asked.nodes) if asked.nodes else Fixed(asked.widths)


@dataclass(slots=True)
class Fixed:
    """The same number of children for every token of a depth; 1 if none is given."""

    by_depth: Sequence[int]
    _depth: int = -1

    def goes_on(self, forks: Sequence[Fork], left: int) -> Sequence[bool]:
        return [True] * len(forks)

    def read(self, forks: Sequence[Fork], logits: Tensor, drawn: Tensor | None) -> Sequence[Fork]:
        return forks

    def widths(self, forks: Sequence[Fork], left: int) -> Sequence[int]:
        self._depth += 1
        return [self.by_depth[self._depth] if self._depth < len(self.by_depth) else 1] * len(forks)

    def offered(self, fork: Fork, logits: Tensor, token: int) -> Fork:
        return fork

    def late(self, logits: Tensor) -> int:
        return 0


@dataclass(slots=True)
class Chains(Fixed):
    """Sequences with different first tokens, at most `most`.

    With the row behind the first token it is known how likely the first two are together, p1 p2; each other first token
    with a higher probability begins a sequence, a token shorter. The row behind a token that was drawn depends on that
    token only, which is judged before the others: so the output keeps its law.
    """

    by_depth: Sequence[int] = ()
    most: int = 1
    _others: Sequence[float] = ()
    _chance: float = 0.0

    def offered(self, fork: Fork, logits: Tensor, token: int) -> Fork:
        if not self._chance:
            row = logits.softmax(-1)
            ids, self._chance = largest(row[None], self.most)[1][0], float(row[token])
            self._others = row[ids[ids != token]][: self.most - 1].tolist()
        return fork

    def late(self, logits: Tensor) -> int:
        least, others = self._chance * float(logits[0].softmax(-1).max()), self._others
        self._others = ()
        return sum(chance > least for chance in others)


@dataclass(slots=True)
class Confident:
    """The likeliest paths, `nodes` tokens in all.

    Probabilities are those at temperature 1, as for every use of confidence: they also estimate how likely a token is
    the target's argmax, in a greedy run or at a low temperature.
    """

    nodes: int

    def goes_on(self, forks: Sequence[Fork], left: int) -> Sequence[bool]:
        return [share > 0 for share in shares(forks, self.nodes, left)]

    def read(self, forks: Sequence[Fork], logits: Tensor, drawn: Tensor | None) -> Sequence[Fork]:
        masses = logits.logsumexp(-1, keepdim=True)
        best = (largest(logits, max(1, self.nodes))[0] - masses).exp().tolist()
        most = [None] * len(best) if drawn is None else drawn.count_nonzero(-1).tolist()  # after top-k, top-p
        parts = zip(forks, best, masses[:, 0].tolist(), most, strict=True)
        return [Fork(fork.chance, sure[:can], mass) for fork, sure, mass, can in parts]

    def widths(self, forks: Sequence[Fork], left: int) -> Sequence[int]:
        return shares(forks, self.nodes, left, least=1)

    def offered(self, fork: Fork, logits: Tensor, token: int) -> Fork:
        self.nodes -= 1
        return Fork(fork.chance * exp(float(logits[token]) - fork.mass), fork.sure)

    def late(self, logits: Tensor) -> int:
        return 0


def shares(forks: Sequence[Fork], nodes: int, left: int, least: int = 0) -> list[int]:
    """The number of children of each fork among the `nodes` likeliest tokens of the next `left` depths.

    The children of a token without a row get the probabilities of the token's fork.

    Args:
        least: 1 for at least one child of every fork; `nodes` must be large enough.
    """
    found, ahead = [0] * len(forks), list[tuple[float, int, float, int, int]]()

    def wait(at: int, above: float, rank: int, depth: int) -> None:
        """Queue a descendant of a fork: the probability of its parent's path, its rank among siblings, its depth."""
        if rank < len(forks[at].sure) and depth <= left:
            heappush(ahead, (-above * forks[at].sure[rank], at, above, rank, depth))

    def take(at: int, above: float, rank: int, depth: int) -> None:
        found[at] += depth == 1
        wait(at, above, rank + 1, depth)
        wait(at, above * forks[at].sure[rank], 0, depth + 1)

    for at, fork in enumerate(forks):
        (take if least else wait)(at, fork.chance, 0, 1)
    for _ in range(nodes - sum(found)):
        if not ahead:
            break
        take(*heappop(ahead)[1:])
    return found
