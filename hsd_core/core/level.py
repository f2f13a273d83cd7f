"""What a level is: a `Drafter`, a `Scorer`, or both.

A `Level` is read-only and may serve many runs; `open` gives its state in one run. Every call carries the *context* that
it is about: the prompt, what the target committed, what levels hold. A level's catch-up list is the part of the context
that it has not processed:

    cached + len(context[cached:]) == committed + held,   len(context[cached:]) >= 1 at rest
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, cast

import torch
from torch import Tensor

from hsd_core.core.events import Span
from hsd_core.core.notes import Note
from hsd_core.core.tree import NO_PROBES, NOTHING, Offer, Probes, Token, Tree, named
from hsd_core.grammar.spec import LevelSpec
from hsd_core.models.context import Context
from hsd_core.models.sampling import Distributions, Logits, TokenId


@dataclass(frozen=True, slots=True)
class Work:
    """What a forward computed: `rows` in all, `catch_up` of them only to bring the cache up to date.

    `ran`: the layers of a trunk that were run for it, without those that another level had run already. notes: what the
    level's system says of it (`core/notes.py`).
    """

    forwards: int
    rows: int
    catch_up: int
    ran: tuple[Span, ...] = ()
    notes: Mapping[str, Note] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DrawnFrom:
    """What a draft's tokens were drawn from. rows: (r, V), None as in `Tree`. logits: (r, V) before the sampling
    transform."""

    rows: Tensor | None = None
    logits: Logits | None = None


@dataclass(frozen=True, slots=True)
class Forks:
    """How a draft branches: see `Tree`."""

    parents: tuple[int, ...] | None = None
    offered: tuple[Offer, ...] | None = None
    repeats: bool = False


BY_NAME, IN_LINE = DrawnFrom(), Forks()


@dataclass(frozen=True, slots=True)
class Proposal:
    """n drafted tokens, a parent before its children.

    sources: which database, exit or model. probes: what the level above is to compute beside them, see
    `Verified.probed`. notes: what the drafter's system says of them (`core/notes.py`), its own stop threshold for this
    draft among it, if it has one.
    """

    ids: tuple[int, ...]
    sources: tuple[str, ...]
    work: Work
    drawn: DrawnFrom = BY_NAME
    forks: Forks = IN_LINE
    probes: Probes = NO_PROBES
    notes: Mapping[str, Note] = field(default_factory=dict)

    def tree(self, number: Callable[[int, str], Token]) -> Tree:
        """The proposal as a tree; `number` makes a run's token of an id and its source."""
        tokens = [number(id_, source) for id_, source in zip(self.ids, self.sources, strict=True)]
        drawn, forks = self.drawn, self.forks
        return Tree(tokens, drawn.rows, drawn.logits, forks.parents, forks.offered, forks.repeats, self.probes)


@dataclass(frozen=True, slots=True)
class Sampler:
    """How a drafter's tokens are drawn.

    to_probs: logits (n, V) -> the rows (n, V) that tokens are drawn from. pick: a token's id from a (V,) row, for the
    place so many tokens deep; the number tells apart several drawn for one place. check: refuses logits that are not
    finite (arguments of `finite`); `to_probs` does that with those of the host. greedy: rows are one-hot: offers beside
    the first one cannot be drawn.
    """

    to_probs: Callable[[Tensor], Tensor]
    pick: Callable[[Tensor, int, int], TokenId]
    check: Callable[..., None] = lambda *given: None
    greedy: bool = False


@dataclass(frozen=True, slots=True)
class TreeShape:
    """The tree that a drafter is asked for. widths: how many tokens to offer behind each token, by depth; () for a
    chain. nodes: how many to offer in all, behind which the drafter's confidence says; 0 where `widths` do. repeats:
    those behind one token are drawn with replacement."""

    widths: tuple[int, ...] = ()
    nodes: int = 0
    repeats: bool = False


CHAIN = TreeShape()


@dataclass(frozen=True, slots=True)
class DraftOrder:
    """What a drafter is asked for: tokens at most `limit` deep behind the context.

    stops: asked before each token with the number drafted so far and the last one's logits (of a tree: before each
    depth, with the logits of all its last forks); True ends the draft. ends: ids behind which nothing is drafted.
    """

    limit: int
    sampler: Sampler
    stops: Callable[[int, Tensor | None], bool]
    ends: frozenset[int] = frozenset()
    shape: TreeShape = CHAIN

    @property
    def branches(self) -> bool:
        """Whether a tree is asked for."""
        return bool(self.shape.nodes) or any(wide > 1 for wide in self.shape.widths[: self.limit])

    def drawing(self, **how: Any) -> DraftOrder:
        """The same order, its tokens drawn in another way: other fields of `Sampler`."""
        return replace(self, sampler=replace(self.sampler, **how))


@dataclass(frozen=True, slots=True)
class CommittedIds:
    """Outcome: the target committed these ids (at first: the prompt)."""

    ids: Sequence[int]


@dataclass(frozen=True, slots=True)
class Verified:
    """Outcome: the level above judged what this one drafted behind the first `start` tokens of the context.

    rows: r of the verifier's, behind the context and each kept token. to_probs: logits (n, V) -> rows (n, V) under
    the run's sampling. probed: the verifier's likeliest token behind each of the proposal's probes; of no
    meaning behind those that are not read.
    """

    start: int
    rows: Distributions
    to_probs: Callable[[Tensor], Tensor]
    probed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TakesPart:
    """Outcome: from now on the level takes part in the rounds, or rests."""

    runs: bool


Outcome = CommittedIds | Verified | TakesPart


class LevelRun(Protocol):
    """A level's state in one run. `cached`: how much of the context, and of a tree behind it, it has processed."""

    @property
    def cached(self) -> int: ...

    def keep(self, start: int, path: Sequence[int]) -> None:
        """Of the tree behind the first `start` tokens keep the nodes of `path`; forget what else lies there.

        A run may forget more: what it lacks of the context it catches up on. `path` holds places in the order in which
        the tree's nodes were given to it.
        """
        ...

    def observe(self, outcome: Outcome) -> Note | None:
        """What became of its work. Returns what its system has to report since the last `CommittedIds`, if anything."""
        ...

    def close(self) -> None: ...


class Drafter(LevelRun, Protocol):
    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        """Draft behind the context."""
        ...


class Scorer(LevelRun, Protocol):
    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        """Process what is new of the context, and the tree. Returns (len(tree) + 1, V) logits: behind the context and
        behind every node but those of `tree.unread`."""
        ...


def drafter(run: LevelRun) -> Drafter:
    """The run of a level below the target."""
    return cast("Drafter", run)


def scorer(run: LevelRun) -> Scorer:
    """The run of a level that `can_verify`, or that has read a prompt."""
    return cast("Scorer", run)


@dataclass(slots=True, kw_only=True)
class LevelAbout:
    """What a run's header and lists say of a level, and what its memory is reckoned by.

    sequences: how many it offers side by side at most, without being asked for a tree. probes: how many it wants
    computed beside a draft at most. fed: whether it reads the last states of a full pass above it.
    """

    kind: str
    label: str
    layers: int | None = None
    device: str = "cpu"
    dtype: str = "float"
    weights: dict[str, object] | None = None
    params: dict[str, object] = field(default_factory=dict)
    sequences: int = 1
    probes: int = 0
    fed: bool = False


class Level(Protocol):
    """Read-only. `open` gives a `Scorer` if it `can_verify`, and a `Drafter` if it stands below the target.

    has_cache: its state in a run keeps what it has read.
    """

    name: str
    about: LevelAbout
    can_verify: bool
    has_cache: bool
    vocab_size: int
    max_positions: int | None

    def open(self, capacity: int, shared: Any) -> LevelRun:
        """State for one run over a context of at most `capacity` tokens; `shared` is what its levels share, as whoever
        opens them has it."""
        ...


@dataclass(frozen=True, slots=True)
class StackEntry:
    """A level in a stack. block: its T; None for the target."""

    level: Level
    spec: LevelSpec
    block: int | None

    @property
    def name(self) -> str:
        return self.level.name


class Cut(Protocol):
    """What can go back."""

    def cut(self, length: int) -> None:
        """Forget every position from `length` on."""


def score_by_branches(
    score: Callable[[Context, int], tuple[Tensor, Work]],
    cache: Cut,
    context: Context,
    tree: Tree,
) -> tuple[Tensor, Work]:
    """Score a tree with a model that takes chains alone: one branch after the other, each behind the context.

    Args:
        score: (ids, rows) -> logits behind the last `rows` of them. cache: what it goes back in.

    It counts as one forward. Rows that several branches need are computed for each; all but one of them are catch-up.
    """
    if tree.is_chain:
        return score(context + tree.ids, len(tree) + 1)
    rows: dict[int, Tensor] = {}
    computed, ran = 0, list[Span]()
    for branch in tree.branches():
        logits, work = score(context + [tree.ids[node] for node in branch], len(branch) + 1)
        rows.update(zip([-1, *branch], logits, strict=True))
        computed += work.rows
        ran.extend(work.ran)
        cache.cut(len(context) - 1)  # the next branch begins with the row behind the context
    cache.cut(len(context))
    work = Work(1, computed, computed - len(tree) - 1, tuple(ran))
    return torch.stack([rows[node] for node in range(-1, len(tree))]), work


def rows_behind(run: Scorer, ids: Sequence[int], rows: int) -> tuple[Tensor, Work]:
    """The logits behind the last `rows` of these ids."""
    at = len(ids) - rows + 1
    return run.score(Context(ids[:at]), named(ids[at:]))
