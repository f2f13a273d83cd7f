"""The shape of a tree of drafts: behind which tokens it goes on, and how many it offers there.

Widths that are fixed by depth, or a shape that follows the drafter's own confidence (EAGLE-2, arXiv 2406.16858):
offered are the likeliest paths, a path being as likely as the product of its tokens' probabilities. EAGLE-2 drafts more
than it offers and keeps the likeliest of it, which is exact for named tokens alone: of drawn ones none may be dropped.
So everything is settled here before it is drawn, from rows and from tokens that stand: the tree is laid out to its end
as if every row to come were as sure as the one that its token was offered from, and of this layout only the next depth
is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import exp
from typing import NamedTuple, Protocol

from torch import Tensor

from hsd_core.models.sampling import largest


class Fork(NamedTuple):
    """A place that tokens may be offered behind: a token, or the end of the context.

    chance: of its path, by the drafter. sure: the probabilities of the likeliest tokens behind it, falling; before its
    row is read, those of the row that it was offered from. mass: the logarithm of what its row's logits sum up to.
    """

    chance: float = 1.0
    sure: Sequence[float] = ()
    mass: float = 0.0


BEFORE = Fork()  # the end of the context, before its row is read


class Shape(Protocol):
    """What decides on a tree while it grows. `left`: how many depths it may still have, 1 for one more token."""

    def goes_on(self, forks: Sequence[Fork], left: int) -> Sequence[bool]:
        """Behind which of the last tokens a row is read."""
        ...

    def read(self, forks: Sequence[Fork], logits: Tensor, drawn: Tensor | None) -> Sequence[Fork]:
        """The forks, now that their rows are read.

        Args:
            logits: (n, V) behind them. drawn: (n, V) what tokens are drawn from; None where they are not.
        """
        ...

    def widths(self, forks: Sequence[Fork], left: int) -> Sequence[int]:
        """How many tokens the drafter offers behind each, one at least: a node whose row was read has children, so that
        those without can be left out of a pass and the others keep their places."""
        ...

    def offered(self, fork: Fork, logits: Tensor, token: int) -> Fork:
        """A new token behind a fork, as a fork. logits: (V,) behind that one."""
        ...


@dataclass(slots=True)
class Fixed:
    """The same number of tokens behind every token of a depth; one where none is given."""

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


@dataclass(slots=True)
class Confident:
    """The likeliest paths, `nodes` tokens in all.

    Probabilities are those at temperature 1, as everywhere where confidence is read: trained to say how likely a token
    is, they say it of the target's first choice too, where a run is greedy or cold.
    """

    nodes: int

    def goes_on(self, forks: Sequence[Fork], left: int) -> Sequence[bool]:
        return [share > 0 for share in shares(forks, self.nodes, left)]

    def read(self, forks: Sequence[Fork], logits: Tensor, drawn: Tensor | None) -> Sequence[Fork]:
        masses = logits.logsumexp(-1, keepdim=True)
        best = (largest(logits, max(1, self.nodes))[0] - masses).exp().tolist()
        most = [None] * len(best) if drawn is None else drawn.count_nonzero(-1).tolist()  # what a cut left
        parts = zip(forks, best, masses[:, 0].tolist(), most, strict=True)
        return [Fork(fork.chance, sure[:can], mass) for fork, sure, mass, can in parts]

    def widths(self, forks: Sequence[Fork], left: int) -> Sequence[int]:
        return shares(forks, self.nodes, left, least=1)

    def offered(self, fork: Fork, logits: Tensor, token: int) -> Fork:
        self.nodes -= 1
        return Fork(fork.chance * exp(float(logits[token]) - fork.mass), fork.sure)


def shares(forks: Sequence[Fork], nodes: int, left: int, least: int = 0) -> list[int]:
    """How many tokens behind each fork are among the `nodes` likeliest of all that may come, at most `left` deep.

    Behind a token that is not there yet the probabilities are taken for those of the fork that it grows from.

    Args:
        least: 1 for one token behind every fork, however unlikely; there have to be nodes enough.
    """
    found, ahead = [0] * len(forks), list[tuple[float, int, float, int, int]]()

    def wait(at: int, above: float, rank: int, depth: int) -> None:
        """A token that grows from a fork: the chance of what is above it, its rank among its siblings, its depth."""
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
