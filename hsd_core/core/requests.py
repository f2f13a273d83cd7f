"""What the hierarchy asks for: requests that carry the context that they are about, and what answers them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from torch import Tensor

from hsd_core.core.level import DraftOrder
from hsd_core.core.rules import Verdict
from hsd_core.core.tree import Token, Tree
from hsd_core.models.context import Context
from hsd_core.models.one_pass import in_order
from hsd_core.models.sampling import Distributions, Logits

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DraftRequest:
    """Request: what `level` drafts behind the context. The answer: `Tree`.

    theta: the level's stop threshold as it stands, where it moves. epoch: of the choices, see `ChoiceKey`.
    """

    level: int
    context: Context
    order: DraftOrder
    theta: float | None
    epoch: int


@dataclass(frozen=True, slots=True)
class TakeRequest:
    """Request: drafts for `level` behind the context, at most `budget` tokens of those that wait there. The answer:
    `Tree`, empty where none can come.

    Asked by a level below which drafting goes on while it verifies (`@with=`).
    """

    level: int
    context: Context
    budget: int


@dataclass(frozen=True, slots=True)
class ScoreRequest:
    """Request: `level`'s logits behind the context and every node of `tree` but its unread ones: (len(tree) + 1, V).

    What the drafter wants computed beside its tree (`Tree.probes`) stands as the last nodes.
    """

    level: int
    context: Context
    tree: Tree


@dataclass(frozen=True, slots=True)
class Rows:
    """A verifier's (r, V) rows, under the run's sampling and before it. places: fork -> its row among them."""

    dists: Distributions
    logits: Logits
    places: Mapping[int, int]


@dataclass(frozen=True)
class Judged:
    """A tree, what the rule decided, and all rows that it was decided by.

    path: the kept nodes as the scored tree numbers them, up to the last one that was scored.
    """

    tree: Tree
    verdict: Verdict
    rows: Rows
    path: tuple[int, ...]

    @cached_property
    def line(self) -> tuple[Distributions, Logits]:
        """Distributions and logits behind the context and the nodes of `path`; others may follow."""
        dists, logits = self.rows.dists, self.rows.logits
        if in_order(self.path):
            return dists, logits
        kept = [0, *(node + 1 for node in self.path)]
        return dists[kept], logits[kept]


@dataclass(frozen=True, slots=True)
class KeepRequest:
    """Request: `level` has judged a tree behind the context, by the level `below`; only its path is kept. The answer:
    `Token | None`, its own token behind the path with its number in the run.

    to_probs, theta: see `DraftRequest`. probed: the verifier's likeliest token behind each probe; no choice is made
    there, whatever the sampling.
    """

    level: int
    context: Context
    judged: Judged
    below: int | None
    theta: float | None
    to_probs: Callable[[Tensor], Tensor]
    probed: tuple[int, ...] = ()


Request = DraftRequest | TakeRequest | ScoreRequest | KeepRequest
Answer = Tree | Tensor | Token | None
Requests = Generator[Request, Answer, T]
