"""The state in a run of a draft that reads the target's last keys and values (LongSpec, arXiv 2502.17421).

It sees the target's keys and values of verified tokens; the pending token and all drafts are only in the draft's own
window. How far the target has read depends on the past, so every token is still drawn from a distribution that the past
decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Protocol

import torch
from torch import Tensor

from hsd_core.core.level import DraftOrder, Outcome, Proposal, Work
from hsd_core.core.tree import NOTHING, Tree
from hsd_core.levels.growing import draft
from hsd_core.levels.trunk import Trunk, nearest
from hsd_core.models.cache import Cache, Positions
from hsd_core.models.context import Context
from hsd_core.models.gpu.device_text import Mark
from hsd_core.models.one_pass import Branches
from hsd_core.models.suffixes import Copied


class Windowed(Protocol):
    """The draft as a run uses it: `WindowedDraft`."""

    name: str
    layers: int
    window: int

    def new_cache(self, nodes: int) -> Cache: ...

    def rows(
        self,
        line: Sequence[int],
        wanted: int,
        cache: Cache,
        keys: Tensor,
        values: Tensor,
        branches: Branches | None = None,
    ) -> Tensor:
        """See `WindowedDraft.rows`."""
        ...

    def copied(self, cache: Cache, token: int, row: int = -1) -> Copied | None: ...

    def mark(self, cache: Cache) -> Mark | None: ...


class WindowedRun:
    """features: the trunks whose last keys and values it may read (see `DraftRun`). nodes: of the largest tree."""

    def __init__(self, draft: Windowed, features: Sequence[Trunk], nodes: int, source: str) -> None:
        self._draft, self._trunks, self._source = draft, features, source
        self._cache = draft.new_cache(nodes)

    @property
    def cached(self) -> int:
        return self._cache.length

    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        copied, mark = partial(self._draft.copied, self._cache), partial(self._draft.mark, self._cache)
        return draft(self, context, order, self._source, copied, mark)

    def grow(self, context: Context, ids: Sequence[int], branches: Branches, new: int) -> tuple[Tensor, Work]:
        """See `Grows.grow`."""
        return self._score(context + ids, max(1, new), branches)

    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        branches = None if tree.is_chain else Branches(len(context), tree.lineage)
        return self._score(context + tree.ids if len(tree) else context, len(tree) + 1, branches)

    @torch.inference_mode()
    def _score(self, ids: Sequence[int], rows: int, branches: Branches | None = None) -> tuple[Tensor, Work]:
        new = len(ids) - self.cached
        if new < rows:
            raise ValueError(f"{self._source}: {rows} rows asked for, but {new} tokens are new")
        trunk = nearest(self._trunks)
        kv, depth = trunk.kv(), trunk.decoder.layers
        seen = min(trunk.valid(depth), len(ids) - rows)
        keys, values = (kept[depth - 1, 0, :, :seen] for kept in (kv.keys, kv.values))
        return self._draft.rows(ids, rows, self._cache, keys, values, branches), Work(1, new, new - rows)

    def keep(self, start: int, path: Sequence[int]) -> None:
        self._cache.keep(start, path)

    def observe(self, outcome: Outcome) -> None:
        """Nothing to do: the target's keys and values are read when the next token is asked for."""

    def close(self) -> None:
        self._cache = Positions()
