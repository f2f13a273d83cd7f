"""What a level is: a `Drafter`, a `Scorer`, or both.

A `Level` is read-only and may serve many runs; `open` returns its state in one run. Every call is given the *context*:
the prompt, the committed tokens, and the tokens that levels hold. A level's catch-up list is the part of the context
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

    `ran`: the layers of a trunk that were run for it, without those that another level had already run. notes: of the
    level's system (`core/notes.py`).
    """

    forwards: int
    rows: int
    catch_up: int
    ran: tuple[Span, ...] = ()
    notes: Mapping[str, Note] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DrawnFrom:
    """The distributions of a draft's tokens. rows: (r, V), None as in `Tree`. logits: (r, V) before the sampling
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

    sources: which database, exit or model. probes: tokens that the level above computes along with them, see
    `Verified.probed`. notes: of the drafter's system (`core/notes.py`), including a stop threshold of this draft.
    """

    ids: tuple[int, ...]
    sources: tuple[str, ...]
    work: Work
    drawn: DrawnFrom = BY_NAME
    forks: Forks = IN_LINE
    probes: Probes = NO_PROBES
    notes: Mapping[str, Note] = field(default_factory=dict)

    def tree(self, number: Callable[[int, str], Token]) -> Tree:
        """The proposal as a tree; `number` makes a token with a serial from an id and its source."""
        tokens = [number(id_, source) for id_, source in zip(self.ids, self.sources, strict=True)]
        drawn, forks = self.drawn, self.forks
        return Tree(tokens, drawn.rows, drawn.logits, forks.parents, forks.offered, forks.repeats, self.probes)


@dataclass(frozen=True, slots=True)
class Sampler:
    """How a drafter's tokens are drawn.

    to_probs: logits (n, V) -> the rows (n, V) that tokens are drawn from. pick: a token's id from a (V,) row, given its
    depth and its number among the draws for that position. check: refuses logits that are not finite (arguments of
    `finite`); `to_probs` does so for logits on the host. greedy: rows are one-hot, so only the first offer is drawn.
    """

    to_probs: Callable[[Tensor], Tensor]
    pick: Callable[[Tensor, int, int], TokenId]
    check: Callable[..., None] = lambda *given: None
    greedy: bool = False


@dataclass(frozen=True, slots=True)
class TreeShape:
    """The tree that a drafter is asked for. widths: the children of each token, by depth; () for a chain. nodes: the
    number of tokens in all, placed by the drafter's confidence; 0 if `widths` are given. repeats: siblings are drawn
    with replacement."""

    widths: tuple[int, ...] = ()
    nodes: int = 0
    repeats: bool = False


CHAIN = TreeShape()


@dataclass(frozen=True, slots=True)
class DraftOrder:
    """What a drafter is asked for: a chain or tree of at most `limit` tokens depth.

    stops: called before each token with the number drafted so far and the last one's logits (for a tree: before each
    depth, with the logits of its last forks); True ends the draft. ends: ids after which nothing is drafted.
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
        """The same order with other fields of `Sampler`."""
        return replace(self, sampler=replace(self.sampler, **how))


@dataclass(frozen=True, slots=True)
class CommittedIds:
    """Outcome: the target committed these ids (at first: the prompt)."""

    ids: Sequence[int]


@dataclass(frozen=True, slots=True)
class Verified:
    """Outcome: the level above judged this one's draft after the first `start` tokens of the context.

    rows: of the verifier, after the context and after each kept token. to_probs: logits (n, V) -> rows (n, V) under the
    run's sampling. probed: the verifier's likeliest token after each of the proposal's probes; undefined after those
    that are not read.
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
    """A level's state in one run. `cached`: how many tokens of the context, and of a tree after it, it has
    processed."""

    @property
    def cached(self) -> int: ...

    def keep(self, start: int, path: Sequence[int]) -> None:
        """Of the tree after the first `start` tokens keep the nodes of `path`; forget everything else there.

        A run may forget more and catch up later. `path` holds indices of the tree's nodes, in the order in which the
        run was given them.
        """
        ...

    def observe(self, outcome: Outcome) -> Note | None:
        """The outcome of its work. Returns what its system reports since the last `CommittedIds`, if anything."""
        ...

    def close(self) -> None: ...


class Drafter(LevelRun, Protocol):
    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        """Draft after the context."""
        ...


class Scorer(LevelRun, Protocol):
    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        """Process the new part of the context, and the tree. Returns (len(tree) + 1, V) logits: after the context and
        after every node except those of `tree.unread`."""
        ...


def drafter(run: LevelRun) -> Drafter:
    """The run of a level below the target."""
    return cast("Drafter", run)


def scorer(run: LevelRun) -> Scorer:
    """The run of a level that `can_verify`, or that reads the prompt."""
    return cast("Scorer", run)


@dataclass(slots=True, kw_only=True)
class LevelAbout:
    """A level's description in headers and lists, and what its memory is estimated from.

    sequences: the most that it offers side by side without being asked for a tree. probes: the most that it adds to a
    draft. fed: whether it reads the last states of a full pass above it.
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
    """Read-only. `open` returns a `Scorer` if it `can_verify`, and a `Drafter` if it is below the target.

    has_cache: its state in a run keeps what it has processed.
    """

    name: str
    about: LevelAbout
    can_verify: bool
    has_cache: bool
    vocab_size: int
    max_positions: int | None

    def open(self, capacity: int, shared: Any) -> LevelRun:
        """State for one run over a context of at most `capacity` tokens; `shared`: what the levels of a run share."""
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
    """A cache that can go back."""

    def cut(self, length: int) -> None:
        """Forget every position from `length` on."""


def score_by_branches(
    score: Callable[[Context, int], tuple[Tensor, Work]],
    cache: Cut,
    context: Context,
    tree: Tree,
) -> tuple[Tensor, Work]:
    """Score a tree with a model that takes only chains: one branch after another, each after the context.

    Args:
        score: (ids, rows) -> logits after the last `rows` ids. cache: cut back between branches.

    It counts as one forward. Rows shared by several branches are computed for each; all but one count as catch-up.
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
        cache.cut(len(context) - 1)  # the next branch begins with the row after the context
    cache.cut(len(context))
    work = Work(1, computed, computed - len(tree) - 1, tuple(ran))
    return torch.stack([rows[node] for node in range(-1, len(tree))]), work


def score_ids(run: Scorer, ids: Sequence[int], rows: int) -> tuple[Tensor, Work]:
    """The logits after the last `rows` of these ids."""
    at = len(ids) - rows + 1
    return run.score(Context(ids[:at]), named(ids[at:]))
