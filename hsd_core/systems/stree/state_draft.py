"""A draft of layers with running states: a form of nano draft, whose cache does not grow with the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.models.cache import Cache, own
from hsd_core.models.drafts.copying import copier
from hsd_core.models.drafts.head import DraftCache, LeanDraft
from hsd_core.models.lean.linear import nbytes
from hsd_core.models.one_pass import Pass
from hsd_core.systems.stree.scan import Heads, StateCache, StateLayer, run_layers

if TYPE_CHECKING:
    from hsd_core.models.compiled.decoder import CompiledDecoder
    from hsd_core.models.drafts.draft_file import DraftInfo
    from hsd_core.models.lean.decoder import LeanDecoder


class StateDraft(LeanDraft):
    """Run by torch, over either decoder."""

    def __init__(self, info: DraftInfo, tensors: dict[str, Tensor], decoder: LeanDecoder | CompiledDecoder) -> None:
        super().__init__(info, tensors, decoder)
        self._read, self._norm = self._product("read"), self._vector("norm")
        s = self._shape
        self._sizes = Heads(s.heads, s.kv_heads, s.head_size, s.norm_eps)
        self._layers = [self._layer(f"layers.{i}.") for i in range(info.layers)]

    def _layer(self, at: str) -> StateLayer:
        norms = "attention_norm", "mlp_norm", "step_bias", "decay", "skip", "state_norm"
        weights: dict[str, Any] = {name: self._vector(at + name) for name in norms}
        weights |= {name: self._product(at + name) for name in ("qkv", "step", "out", "gate_up", "down")}
        return StateLayer(conv=self._vector(f"{at}conv")[:, 0], **weights)

    def new_cache(self, capacity: int) -> DraftCache:
        """For one run; its size does not depend on the text."""
        cache = StateCache(self._layers, self._sizes, self._norm)
        return DraftCache(cache, copier(*self._gates))

    @torch.inference_mode()
    def forward(
        self,
        given: Pass,
        x: Tensor,
        cache: Cache,
        line: Sequence[int],
        fed: Tensor | None = None,
        begun: int | None = None,
    ) -> tuple[Tensor, Tensor]:
        """See `Readout.forward`. Logits are -inf for tokens that are neither in the trimmed head nor copied."""
        kept = own(cache, DraftCache)
        states = run_layers(self._layers, self._sizes, given, self._read(self._normal(x)), own(kept.layers, StateCache))
        last = states[len(states) - given.wanted :]
        logits = self._logits(F.rms_norm(last, self._norm.shape, self._norm, self._shape.norm_eps))
        return kept.copier.mix(line, logits, last, given.sees, begun), states

    def weight_bytes(self) -> int:
        """Bytes of weights that a pass reads."""
        layers = (p for x in self._layers for p in (x.qkv, x.step, x.out, x.gate_up, x.down))
        return nbytes(self._read) + sum(map(nbytes, layers)) + self._head.nbytes
