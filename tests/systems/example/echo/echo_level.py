"""A level that expects the token that stood some places before."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from hsd_core.systems.echo.notes import Echoed
from torch import Tensor

from hsd_core.core.level import DraftOrder, LevelAbout, Proposal
from hsd_core.core.notes import noted
from hsd_core.models.context import Context
from hsd_core.systems.table.table_level import TableLevel, TableRun

if TYPE_CHECKING:
    from hsd_core.levels.shared import SharedState


class EchoLevel(TableLevel):
    """It expects the token that stood `back` tokens before."""

    def __init__(self, vocabulary: int, back: int) -> None:
        super().__init__(self._row, vocabulary, name="echo")
        self.back, self.about = back, LevelAbout(kind="echo", label=f"echo of {back} back", params={"back": back})

    def open(self, capacity: int, shared: SharedState) -> EchoRun:
        return EchoRun(self)

    def _row(self, prefix: tuple[int, ...]) -> Tensor:
        row = torch.full((self.vocab_size,), 0.1 / self.vocab_size, dtype=torch.float64)
        row[prefix[-self.back] if len(prefix) >= self.back else 0] += 0.9
        return row


class EchoRun(TableRun):
    """Its state in one run; every draft has a note."""

    def __init__(self, level: EchoLevel) -> None:
        super().__init__(level.table, level.name)
        self._back = level.back

    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        return replace(super().propose(context, order), notes=noted(Echoed(self._back)))
