"""The requests of the hierarchy, each with its context, and the types of their answers."""

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
    """Request: let `level` draft after the context. The answer: `Tree`.

    theta: the level's present stop threshold, if it moves. epoch: of the random choices, see `ChoiceKey`.
    """

    level: int
    context: Context
    order: DraftOrder
    theta: float | None
    epoch: int


@dataclass(frozen=True, slots=True)
class TakeRequest:
    """Request: take at most `budget` tokens that wait for `level` after the context. The answer: `Tree`, empty if none
    can come.

    For a level whose drafter works on while it verifies (`@with=`).
    """

    level: int
    context: Context
    budget: int


@dataclass(frozen=True, slots=True)
class ScoreRequest:
    """Request: `level`'s logits after the context and after every node of `tree` except its unread ones:
    (len(tree) + 1, V). The drafter's probes (`Tree.probes`) are the last nodes.
    """

    level: int
    context: Context
    tree: Tree


@dataclass(frozen=True, slots=True)
class Rows:
    """A verifier's (r, V) rows, after and before the sampling transform. places: fork -> the index of its row."""

    dists: Distributions
    logits: Logits
    places: Mapping[int, int]


@dataclass(frozen=True)
class Judged:
    """A tree, the rule's verdict, and the rows that it was decided by.

    path: the kept nodes by their index in the scored tree, up to the last one that was scored.
    """

    tree: Tree
    verdict: Verdict
    rows: Rows
    path: tuple[int, ...]

    @cached_property
    def line(self) -> tuple[Distributions, Logits]:
        """Distributions and logits after the context and after the nodes of `path`; others may follow."""
        dists, logits = self.rows.dists, self.rows.logits
        if in_order(self.path):
            return dists, logits
        kept = [0, *(node + 1 for node in self.path)]
        return dists[kept], logits[kept]


@dataclass(frozen=True, slots=True)
class KeepRequest:
    """Request: `level` has judged a tree of the level `below` after the context; only its path is kept. The answer:
    `Token | None`, its own token after the path, with a serial.

    to_probs, theta: see `Verified`, `DraftRequest`. probed: the verifier's likeliest token after each probe, an argmax
    under any sampling.
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
