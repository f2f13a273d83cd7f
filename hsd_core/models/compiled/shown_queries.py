"""The queries of one pass of one input, as sessions show them that were laid out to."""

from __future__ import annotations

import torch
from torch import Tensor

from hsd_core.models.compiled.bound_cache import CompiledCache
from hsd_core.models.compiled.session import BoundInputs, Session
from hsd_core.models.lean.shape import LeanShape


class ShownQueries:
    """Where sessions write them. tables: cos and sin of the rotation, (positions, d / 2) each."""

    def __init__(self, shape: LeanShape, layers: int, tables: tuple[Tensor, Tensor]) -> None:
        self._found = torch.empty(layers, 1, 1, shape.heads * shape.head_size)
        self._shape, self._tables = shape, tables

    def bind(self, cache: CompiledCache, session: Session, layers: range) -> BoundInputs:
        """A session that runs these layers over a cache, bound to write here too."""
        bound = cache.bind(session, layers)
        for i in layers:
            bound.output(f"asked.{i}", self._found[i])
        return bound

    def rotated(self, position: int) -> Tensor:
        """(L, H, d) of what was written last, the queries of this position."""
        size = self._shape.head_size
        q = self._found.view(len(self._found), self._shape.heads, size)
        cos, sin = (table[position].repeat(2) for table in self._tables)
        return q * cos + torch.cat((-q[..., size // 2 :], q[..., : size // 2]), -1) * sin
