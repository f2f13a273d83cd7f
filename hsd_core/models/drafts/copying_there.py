"""Copying on a device, where the end of a context may lie that the host has not seen yet."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from hsd_core.models.drafts.copying import LONGEST, Copier, Gate, mixed
from hsd_core.models.gpu.text import Mark, TextThere
from hsd_core.models.one_pass import Branches


class CopierThere(Copier):
    """What one run of a draft on a device copies. `mark`: what the last row of a single one would copy."""

    def __init__(self, gate: Gate) -> None:
        super().__init__(gate)
        self._text = TextThere(LONGEST, gate.bias.device)
        self.mark: Mark | None = None

    def mix(
        self,
        context: Sequence[int],
        logits: Tensor,
        states: Tensor,
        branches: Branches | None = None,
        begun: int | None = None,
    ) -> Tensor:
        """See `Copier.mix`. Without a tree a single row is mixed without a wait."""
        if len(logits) > 1 or branches is not None or begun is not None:
            return super().mix(context, logits, states, branches, begun)
        token, place, sort, alike = self._text.last(context)
        dist, share = mixed(logits, states, token.view(1), sort.view(1), self._gates[0])
        self.mark = Mark(token, place, alike, share[0])
        return dist


def copier(gate: Gate, *further: Gate) -> Copier:
    """For one run of a draft, where its gates lie. One that says several tokens in a pass says them behind what the
    host has seen."""
    return Copier(gate, *further) if further or gate.bias.device.type == "cpu" else CopierThere(gate)


def mark_of(copies: Copier) -> Mark | None:
    """What the last row would copy, where that is known on a device alone."""
    return copies.mark if isinstance(copies, CopierThere) else None
