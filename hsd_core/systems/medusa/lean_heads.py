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
    """Heads over the last state of a lean decoder, each for a token further on (Medusa, arXiv 2401.10774)."""

    def __init__(self, info: DraftInfo, tensors: dict[str, Tensor], decoder: LeanDecoder) -> None:
        super().__init__(info, tensors, decoder)
        names = [f"heads.{i}" for i in range(info.ahead)]
        self._heads = [[self._product(f"{at}.{part}") for part in ("read", "gate_up", "down")] for at in names]
        self._norms = [(self._vector(f"{at}.mlp_norm"), self._vector(f"{at}.norm")) for at in names]

    def new_cache(self, capacity: int) -> DraftCache:
        """For one run: what its context says twice."""
        return DraftCache(Positions(), copier(*self._gates))

    @torch.inference_mode()
    def say(self, state: Tensor, cache: Cache, line: Sequence[int], begun: int) -> Tensor:
        """What the heads from `begun` on say of the tokens behind a line.

        Args:
            state: (1, hidden) the last one that the target has computed of it, so many positions before its end.
        Returns:
            (ahead - begun, V) log-probabilities, -inf for tokens that the trimmed head cannot say and nothing copies.
        """
        x, eps, states, reads = self._normal(state), self._shape.norm_eps, [], []
        for (read, gate_up, down), (mlp_norm, norm) in zip(self._heads[begun:], self._norms[begun:], strict=True):
            y = read(x)
            gate, up = gate_up(F.rms_norm(y, mlp_norm.shape, mlp_norm, eps)).chunk(2, -1)
            states.append(y + down(F.silu(gate) * up))
            reads.append(F.rms_norm(states[-1], norm.shape, norm, eps))
        logits = self._said(torch.cat(reads))
        return own(cache, DraftCache).copier.mix(line, logits, torch.cat(states), None, begun)

    def weight_bytes(self) -> int:
        """That a pass reads."""
        return sum(nbytes(part) for head in self._heads for part in head) + self._head.nbytes
