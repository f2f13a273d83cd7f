"""Passes of several runs in one: a decoder offers each of its passes here before it runs it.

A run that is alone on its thread runs its passes itself. In a batch (`hsd_core/batch`) each run is on a thread of its
own, with a `Joins` that collects the passes of all runs and runs those through the same layers together. The products
are then computed once over the rows of all texts; each text attends to its own cache.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from hsd_core.models.cache import Cache
from hsd_core.models.one_pass import Pass


@dataclass(frozen=True, slots=True)
class Inputs:
    """Inputs of one run's pass. rows: that layers compute. x: (n, hidden) states; None where the decoder starts from
    ids. given, cache: None for a head, which has neither."""

    rows: int
    x: Tensor | None = None
    given: Pass | None = None
    cache: Cache | None = None

    @property
    def states(self) -> Tensor:
        assert self.x is not None
        return self.x


@dataclass(frozen=True, slots=True)
class Offered:
    """A pass that waits.

    key: passes with the same key may be joined. nbytes: of weights that it reads; cheap passes are run first, so that
    more runs meet in dear ones. alone: runs it. together: runs it with others, in their order; None with `why` not.
    """

    key: Hashable
    mine: Inputs
    nbytes: Callable[[], int]
    alone: Callable[[Inputs], Tensor]
    together: Callable[[Sequence[Inputs]], Sequence[Tensor]] | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Shared:
    """What a run's passes shared since the last call.

    rows: run -> its rows in these passes together. passes: through a range of layers. ns: their time. alone: why passes
    were not joined although other runs waited, or "".
    """

    rows: dict[int, int]
    passes: int
    ns: int
    alone: str


class Joins(Protocol):
    """Runs the passes of one run of a batch."""

    @property
    def live(self) -> int:
        """The runs that are decoded together now, this one among them."""
        ...

    def run(self, offered: Offered) -> Tensor: ...

    def taken(self) -> Shared | None:
        """What was shared since the last call; None without a pass."""
        ...


JOINS: ContextVar[Joins | None] = ContextVar("JOINS", default=None)  # of this thread's run


def runs_at_once() -> int:
    """The runs that are decoded together with this thread's, itself among them."""
    joins = JOINS.get()
    return 1 if joins is None else joins.live


class Weighed(Protocol):
    """A decoder, as far as a pass of it is priced."""

    layers: int

    def weight_bytes(self, depth: int | None = None, *, head: bool = True) -> int: ...


def layers_offered(
    decoder: Weighed,
    lo: int,
    hi: int,
    mine: Inputs,
    alone: Callable[[Inputs], Tensor],
    together: Callable[[Sequence[Inputs]], Sequence[Tensor]] | None,
    why: str = "",
) -> Offered:
    """A pass through the layers lo to hi - 1 of a decoder. together, why: see `Offered`."""

    def nbytes() -> int:
        return decoder.weight_bytes() * (hi - lo) // decoder.layers

    return Offered((id(decoder), lo, hi), mine, nbytes, alone, together, why)


def head_offered(decoder: Weighed, x: Tensor, head: Callable[[Tensor], Tensor]) -> Offered:
    """A product of a decoder's head with states (n, hidden). Its rows are of no account, and it is run first: the pass
    that made the states is not over without it."""

    def together(all_of: Sequence[Inputs]) -> Sequence[Tensor]:
        each = [inputs.states for inputs in all_of]
        return torch.split(head(torch.cat(each)), [len(x) for x in each])

    return Offered((id(decoder), "head"), Inputs(0, x), lambda: 0, lambda inputs: head(inputs.states), together)
