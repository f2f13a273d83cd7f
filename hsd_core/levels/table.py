"""A level that is a function from a prefix to probabilities: what the exactness tests run on.

It keeps the ids that it has processed, as a model keeps keys and values, and refuses to score a tape that
disagrees with them: a missed rollback is an error here, never a silently wrong row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hsd_core.levels.protocol import DraftOrder, Proposal, Work, draft_token_by_token

if TYPE_CHECKING:
    from torch import Tensor

    from hsd_core.levels.commons import Commons

Table = Callable[[tuple[int, ...]], "Tensor"]


class TableLevel:
    """`table(prefix)` gives the (V,) probabilities of the next token, in any floating dtype."""

    kind = "table"
    can_draft = True
    can_verify = True
    has_cache = True
    max_positions: int | None = None
    layers: int | None = None
    device = "cpu"
    weights: dict[str, object] | None = None

    def __init__(self, table: Table, vocab_size: int, *, name: str = "table", label: str = "table") -> None:
        self.table, self.vocab_size = table, vocab_size
        self.name, self.label = name, label
        self.dtype = "float"
        self.params: dict[str, object] = {}

    def open(self, capacity: int, commons: Commons) -> TableRun:
        return TableRun(self.table, self.name)


class TableRun:
    def __init__(self, table: Table, source: str) -> None:
        self._table, self._source = table, source
        self._seen: list[int] = []

    @property
    def cached(self) -> int:
        return len(self._seen)

    def propose(self, tape: list[int], order: DraftOrder) -> Proposal:
        return draft_token_by_token(self, tape, order, self._source)

    def score(self, tape: Sequence[int], rows: int) -> tuple[Tensor, Work]:
        import torch

        ids = list(tape)
        if self._seen != ids[: len(self._seen)]:
            raise AssertionError(f"{self._source}: cache holds {self._seen}, which is no prefix of the tape {ids}")
        computed = len(ids) - len(self._seen)
        if computed < rows:
            raise AssertionError(f"{self._source}: {rows} rows asked for, {computed} tokens are new")
        self._seen = ids
        chances = torch.stack([self._table(tuple(ids[: len(ids) - rows + 1 + r])) for r in range(rows)])
        return chances.log(), Work(1, computed, computed - rows)

    def commit(self, ids: Sequence[int]) -> None:
        """Nothing to do."""

    def rollback(self, length: int) -> None:
        del self._seen[length:]

    def close(self) -> None:
        self._seen = []
