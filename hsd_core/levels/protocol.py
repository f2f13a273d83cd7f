"""What a level is: anything that can draft, verify or both.

A `Level` is read-only and may serve many runs; `open` gives the state of one run. The run's *tape* is one
list of token ids: the prompt, what the target committed, what each level holds, what the bottom drafted. Every
level sees the same tape, so a level's catch-up list is simply the part of the tape that it has not processed:

    cached + len(tape[cached:]) == committed + held,   len(tape[cached:]) >= 1 at rest
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from hsd_core.trace import Copied, Span

if TYPE_CHECKING:
    from torch import Tensor

    from hsd_core.levels.commons import Commons


@dataclass(frozen=True, slots=True)
class Work:
    """What a forward computed: `rows` in all, `catch_up` of them only to bring the cache up to date.

    `ran`: the layers of a trunk that were run for it, without those that another level had run already.
    """

    forwards: int
    rows: int
    catch_up: int
    ran: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """n drafted tokens.

    rows: (n, V) the law that each token was drawn from. sources: which database, exit or model.
    logits: (n, V) before the sampling transform, None for a drafter without a distribution. copied: for each token
    where it stood before, a position on the tape, if it was copied; empty for a drafter that copies nothing.
    """

    ids: tuple[int, ...]
    rows: Tensor
    sources: tuple[str, ...]
    logits: Tensor | None
    work: Work
    copied: tuple[Copied | None, ...] = ()


@dataclass(frozen=True, slots=True)
class DraftOrder:
    """What a drafter is asked for: at most `limit` tokens after `tape`.

    draw: (1, V) logits -> (token id, (V,) row that it was drawn from). stops: asked before each token with the
    number drafted so far and the last token's logits (None at first); True ends the draft.
    """

    limit: int
    draw: Callable[[Tensor], tuple[int, Tensor]]
    stops: Callable[[int, Tensor | None], bool]
    ends: frozenset[int]
    vocab_size: int


class LevelRun(Protocol):
    """A level's state in one run. `cached`: how many positions of the tape it has processed."""

    @property
    def cached(self) -> int: ...

    def propose(self, tape: list[int], order: DraftOrder) -> Proposal:
        """Draft after `tape`; must not change it."""
        ...

    def score(self, tape: Sequence[int], rows: int) -> tuple[Tensor, Work]:
        """Process what is new on the tape. Returns (rows, V) logits behind its last `rows` tokens."""
        ...

    def commit(self, ids: Sequence[int]) -> None:
        """The target committed `ids` (at first: the prompt)."""
        ...

    def rollback(self, length: int) -> None:
        """Forget everything behind the first `length` tokens of the tape."""
        ...

    def close(self) -> None: ...


# What some runs can do besides. Base classes, not protocols: the hierarchy asks for them in every round, and a protocol
# takes a hundred times as long to say no.


class Resting(ABC):
    """A level run whose readers must know whether it takes part in the rounds."""

    @abstractmethod
    def rest(self, resting: bool) -> None:
        """It does not take part from now on (False: it does again)."""


class Counting(ABC):
    """A level run that counts its own inserts, hits, misses and evictions."""

    @abstractmethod
    def take_counts(self) -> dict[str, Any]:
        """The counts since the last call, by the names of `trace.Store`."""


class Copying(ABC):
    """A level run that drafts token by token and knows which tokens it copied from the tape."""

    @abstractmethod
    def copied(self, token: int) -> Copied | None:
        """What `token`, drawn from the last row, was copied from: a position on the tape."""


class Level(Protocol):
    name: str
    kind: str
    label: str
    can_draft: bool
    can_verify: bool
    has_cache: bool
    vocab_size: int
    max_positions: int | None
    layers: int | None
    device: str
    dtype: str
    weights: dict[str, object] | None
    params: dict[str, object]

    def open(self, capacity: int, commons: Commons) -> LevelRun:
        """State for one run over a tape of at most `capacity` tokens; `commons` is what its levels share."""
        ...


def draft_token_by_token(run: LevelRun, tape: list[int], order: DraftOrder, source: str) -> Proposal:
    """Autoregressive drafting for any level that can score: one forward a token (HSD's level 0)."""
    import torch

    own = list(tape)
    ids: list[int] = []
    rows: list[Tensor] = []
    logits: list[Tensor] = []
    forwards = computed = catch_up = 0
    ran: list[Span] = []
    copied: list[Copied | None] = []
    while len(ids) < order.limit and not order.stops(len(ids), logits[-1] if logits else None):
        scores, work = run.score(own, 1)
        token, row = order.draw(scores)
        ids.append(token)
        if isinstance(run, Copying):
            copied.append(run.copied(token))
        own.append(token)
        rows.append(row)
        logits.append(scores[0])
        forwards, computed, catch_up = forwards + 1, computed + work.rows, catch_up + work.catch_up
        ran.extend(work.ran)
        if token in order.ends:
            break
    work = Work(forwards, computed, catch_up, tuple(ran))
    if not ids:
        return Proposal((), torch.empty(0, order.vocab_size), (), None, work)
    return Proposal(tuple(ids), torch.stack(rows), (source,) * len(ids), torch.stack(logits), work, tuple(copied))
