"""A level that is a function from a prefix to probabilities; the exactness tests run on it.

It keeps the ids that it has processed, as a model keeps keys and values, and refuses a context that disagrees with
them: a missed rollback is an error, not a wrong row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from hsd_core.core.level import DraftOrder, LevelAbout, Outcome, Proposal, Work
from hsd_core.core.tree import NOTHING, Tree, named
from hsd_core.levels.growing import draft
from hsd_core.models.context import Context
from hsd_core.models.one_pass import Branches, path_to

if TYPE_CHECKING:
    from hsd_core.levels.shared import SharedState

Table = Callable[[tuple[int, ...]], "Tensor"]


class TableLevel:
    """`table(prefix)` gives the (V,) probabilities of the next token, in any floating dtype."""

    can_verify = has_cache = True
    max_positions: int | None = None

    def __init__(self, table: Table, vocab_size: int, *, name: str = "table", label: str = "table") -> None:
        self.table, self.vocab_size = table, vocab_size
        self.name, self.about = name, LevelAbout(kind="table", label=label)

    def open(self, capacity: int, shared: SharedState) -> TableRun:
        return TableRun(self.table, self.name)


class TableRun:
    def __init__(self, table: Table, source: str) -> None:
        self._table, self._source = table, source
        self._seen: list[int] = []  # the ids of the context, then of the tree behind it

    @property
    def cached(self) -> int:
        return len(self._seen)

    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        return draft(self, context, order, self._source)

    def grow(self, context: Context, ids: Sequence[int], branches: Branches, new: int) -> tuple[Tensor, Work]:
        """See `Grows.grow`."""
        return self._scored(context, replace(named(ids), parents=branches.parents), max(1, new))

    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        return self._scored(context, tree, len(tree) + 1)

    def _scored(self, context: Context, tree: Tree, rows: int) -> tuple[Tensor, Work]:
        """See `score`; the logits behind the last `rows` nodes, the end of the context being the first."""
        ids = [*context, *tree.ids]
        if self._seen != ids[: len(self._seen)]:
            raise AssertionError(f"{self._source}: cache holds {self._seen}, which is not a prefix of {ids}")
        computed = len(ids) - len(self._seen)
        if computed < rows:
            raise AssertionError(f"{self._source}: {rows} rows asked for, {computed} tokens are new")
        self._seen = ids
        paths = [path_to(node, tree.lineage) for node in range(len(tree) - rows, len(tree))]
        chances = torch.stack([self._table((*context, *(tree.ids[node] for node in path))) for path in paths])
        return chances.log(), Work(1, computed, computed - rows)

    def keep(self, start: int, path: Sequence[int]) -> None:
        self._seen[start:] = [self._seen[start + node] for node in path if start + node < len(self._seen)]

    def observe(self, outcome: Outcome) -> None:
        """Nothing to do."""

    def close(self) -> None:
        self._seen = []
