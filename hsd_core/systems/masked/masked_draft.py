"""The forward pass of a masked draft: one layer that fills a block of cells, known or masked, over the target's states.

    a context     keys and values of its positions, each from (embedding, the target's last state one position before)
    a block       its last such position, the tokens since, and cells: tokens, or a learned input for each mask
    attention     of the block to the context and to the whole block; of a draft that was trained for one pass only
                  (P-EAGLE's) to what lies before

The row of an input is the distribution of the token behind it, so the first cell is predicted by the last known token.
Names: n inputs, G key/value heads, d head size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.models.cache import Cache, KVCache, own
from hsd_core.models.drafts.copying import copier
from hsd_core.models.drafts.head import DraftCache, LeanDraft
from hsd_core.models.lean.layers import Layer, Layers
from hsd_core.models.lean.linear import nbytes

if TYPE_CHECKING:
    from hsd_core.models.compiled.decoder import CompiledDecoder
    from hsd_core.models.drafts.draft_file import DraftInfo
    from hsd_core.models.lean.decoder import LeanDecoder


class MaskedDraft(LeanDraft):
    """Run by torch, over either decoder. ahead: the most cells of a block."""

    def __init__(self, info: DraftInfo, tensors: dict[str, Tensor], decoder: LeanDecoder | CompiledDecoder) -> None:
        super().__init__(info, tensors, decoder)
        self._embed, self._both_sides, at = decoder.embed, info.masked, "layers.0."
        layer = Layer(
            attention_norm=self._vector(f"{at}attention_norm"),
            qkv=self._product(f"{at}qkv"),
            q_norm=None,
            k_norm=None,
            out=self._product(f"{at}out"),
            mlp_norm=self._vector(f"{at}mlp_norm"),
            gate_up=self._product(f"{at}gate_up"),
            down=self._product(f"{at}down"),
        )
        self._layers = Layers(self._shape, [layer], dtype=self._float, device=decoder.device)
        self._read, self._norm = self._product("read"), self._vector("norm")

    def new_cache(self, capacity: int) -> DraftCache:
        """Keys and values of the positions that it has read, and the copies of the context."""
        return DraftCache(self._layers.new_cache(capacity), copier(*self._gates))

    @torch.inference_mode()
    def read(self, ids: Sequence[int], fed: Tensor, cache: Cache) -> None:
        """Read the next n positions. fed: (n, hidden) the target's state one position before each."""
        kept = own(cache, DraftCache).layers
        assert isinstance(kept, KVCache)
        x, at, s = self._inputs(self._embed(ids), fed), slice(kept.length, kept.length + len(ids)), self._layers.shape
        cos, sin = (table[at, None] for table in self._layers.rotary)
        layer = self._layers[0]
        grouped = layer.qkv(self._layers.rms(x, layer.attention_norm)).view(len(x), -1, s.head_size)[:, s.heads :]
        k, v = grouped.chunk(2, 1)
        kept.keys[0, 0, :, at] = (k * cos + k.roll(s.head_size // 2, -1) * sin).transpose(0, 1)
        kept.values[0, 0, :, at] = v.transpose(0, 1)
        kept.length = at.stop

    @torch.inference_mode()
    def rows(self, line: Sequence[int], begun: int, later: Sequence[int | None], fed: Tensor, cache: Cache) -> Tensor:
        """The rows of the cells behind a line: of a masked one what it may hold; those of known ones mean nothing.

        Args:
            line: a context, and the known cells right behind it. begun: the positions of it that were read; the block
                begins there. later: the cells behind the line, None for a mask. fed: (hidden,) the target's state one
                position before the block's first.
        Returns:
            (len(later), V) log-probabilities, -inf for tokens that neither the trimmed head nor a copy has.
        """
        kept, known, s = own(cache, DraftCache), line[begun:], self._layers.shape
        seen = kept.layers
        assert isinstance(seen, KVCache) and seen.length == begun and self.unknown is not None
        cells = later[:-1]  # the last one predicts nothing, and is no input
        masks = self.unknown[torch.arange(len(known) - 1, len(known) - 1 + len(cells))]
        tokens = self._embed([*known, *(0 if cell is None else cell for cell in cells)])
        x = torch.cat((tokens[: len(known)], masks.to(tokens)))
        for i, cell in enumerate(cells):
            if cell is not None:
                x[len(known) + i] = tokens[len(known) + i]
        x = self._inputs(x, fed[None].expand(len(x), -1))
        cos, sin = (table[begun : begun + len(x), None] for table in self._layers.rotary)
        before = torch.ones(len(x), begun + len(x), dtype=torch.bool, device=x.device).tril(begun)
        sees = None if self._both_sides else before

        def attend(i: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            keys = torch.cat((seen.keys[0, 0, :, :begun], k.transpose(0, 1)), 1)
            values = torch.cat((seen.values[0, 0, :, :begun], v.transpose(0, 1)), 1)
            keys, values = (part.repeat_interleave(s.heads // s.kv_heads, 0)[None] for part in (keys, values))
            return F.scaled_dot_product_attention(q.transpose(0, 1)[None], keys, values, sees)[0].transpose(0, 1)

        x = self._layers.mixed(0, x + self._layers.attended(0, x, cos, sin, attend))
        last = x[len(known) - 1 : len(known) - 1 + len(later)]
        logits = self._logits(self._layers.rms(last, self._norm))
        return kept.copier.mix(line, logits, last, None, 0)

    def _inputs(self, x: Tensor, fed: Tensor) -> Tensor:
        """(n, hidden) embeddings and states -> (n, hidden) the layer's inputs."""
        return self._read(torch.cat((self._normal(x), self._normal(fed)), -1))

    def weight_bytes(self) -> int:
        """Bytes that a pass reads."""
        return nbytes(self._read) + self._layers[0].nbytes + self._head.nbytes
