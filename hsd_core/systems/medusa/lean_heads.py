"""Heads over the last state of a lean decoder, by torch."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.models.cache import Cache, Positions, own
from hsd_core.models.drafts.copying import copier
from hsd_core.models.drafts.draft_file import DraftInfo
from hsd_core.models.drafts.head import DraftCache, LeanDraft
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.models.lean.linear import nbytes


class DraftHeads(LeanDraft):
    """Heads over the last state of a lean decoder, one for each of the next tokens (Medusa, arXiv 2401.10774)."""

    def __init__(self, info: DraftInfo, tensors: dict[str, Tensor], decoder: LeanDecoder) -> None:
        super().__init__(info, tensors, decoder)
        names = [f"heads.{i}" for i in range(info.ahead)]
        self._heads = [[self._product(f"{at}.{part}") for part in ("read", "gate_up", "down")] for at in names]
        self._norms = [(self._vector(f"{at}.mlp_norm"), self._vector(f"{at}.norm")) for at in names]

    def new_cache(self, capacity: int) -> DraftCache:
        """For one run: the copies that its context offers."""
        return DraftCache(Positions(), copier(*self._gates))

    @torch.inference_mode()
    def predict(self, state: Tensor, cache: Cache, line: Sequence[int], first: int) -> Tensor:
        """The predictions of the heads from `first` on for the tokens behind a line.

        Args:
            state: (1, hidden) the target's last state of the line, which lies `first` positions before its last one.
        Returns:
            (ahead - first, V) log-probabilities, -inf for tokens that neither the trimmed head nor a copy has.
        """
        x, eps, states, reads = self._normal(state), self._shape.norm_eps, [], []
        for (read, gate_up, down), (mlp_norm, norm) in zip(self._heads[first:], self._norms[first:], strict=True):
            y = read(x)
            gate, up = gate_up(F.rms_norm(y, mlp_norm.shape, mlp_norm, eps)).chunk(2, -1)
            states.append(y + down(F.silu(gate) * up))
            reads.append(F.rms_norm(states[-1], norm.shape, norm, eps))
        logits = self._logits(torch.cat(reads))
        return own(cache, DraftCache).copier.mix(line, logits, torch.cat(states), None, first)

    def weight_bytes(self) -> int:
        """Bytes of weights that a pass reads."""
        return sum(nbytes(part) for head in self._heads for part in head) + self._head.nbytes
