"""Many texts at once over a lean decoder's weights: one new token of every row per forward.

Rows are of different lengths, and each has a slot of one big cache. A slot is filled by the decoder's own forward
(`slot` gives its part of the cache), then `step` runs one token of every row in one pass, each at its own position.
A row that ends leaves its slot to another. No row sees another: masked keys have weight zero.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.decoders.layers import KEY_STEP, ROW_STEP, KVCache
from hsd_core.decoders.lean import LeanDecoder
from hsd_core.decoders.protocol import DecoderError


class BatchedCache:
    """Keys and values of `slots` texts: two tensors (L, slots, G, capacity rounded up to KEY_STEP, d)."""

    def __init__(self, decoder: LeanDecoder, slots: int, capacity: int) -> None:
        if capacity > decoder.max_positions:
            raise DecoderError(f"{capacity} positions are more than the model's {decoder.max_positions}")
        one = decoder.new_cache(capacity).keys
        self.slots, self.capacity = slots, capacity
        self.keys = one.new_zeros(one.shape[0], slots, *one.shape[1:])
        self.values = torch.zeros_like(self.keys)

    def slot(self, b: int) -> KVCache:
        """Slot b as a cache of its own, for `LeanDecoder.forward`: the same memory."""
        part = KVCache.__new__(KVCache)  # not its constructor: that would allocate
        part.capacity, part.keys, part.values = self.capacity, self.keys[:, b], self.values[:, b]
        return part


class BatchedDecoder:
    """A forward of one token a row over the weights of a `LeanDecoder`, which it only reads."""

    def __init__(self, decoder: LeanDecoder) -> None:
        self.decoder = decoder

    def new_cache(self, slots: int, capacity: int) -> BatchedCache:
        """Room for `slots` texts of `capacity` positions each.

        Raises:
            DecoderError: the model was not built for that many positions.
        """
        return BatchedCache(self.decoder, slots, capacity)

    @torch.inference_mode()
    def step(
        self, ids: list[int], positions: list[int], cache: BatchedCache, states: dict[int, Tensor] | None = None
    ) -> Tensor:
        """One token of every slot: ids[b] at positions[b], behind what slot b holds before it.

        Args:
            states: filled with the (slots, hidden) states after each depth that is a key of it.
        Returns:
            (slots, V) float32 logits.
        Raises:
            DecoderError: a position lies beyond the cache's capacity.
        """
        last = max(positions)
        if last >= cache.capacity:
            raise DecoderError(f"position {last + 1} lies beyond the cache's capacity of {cache.capacity}")
        # The decoder's weights and tables are its own affair; this is the second half of the same idea.
        model, s = self.decoder, self.decoder.shape
        b, group = len(ids), s.heads // s.kv_heads
        at = torch.tensor(positions, device=model.device)
        each = torch.arange(b, device=model.device)
        cos, sin = (t[at, None] for t in model.stack.rotary)  # (b, 1, d)
        seen = -(-(last + 1) // KEY_STEP) * KEY_STEP
        hidden = torch.arange(seen, device=model.device) > at[:, None]
        mask = cos.new_zeros(b, 1, 1, seen).masked_fill_(hidden[:, None, None], float("-inf"))
        rows = -(-group // ROW_STEP) * ROW_STEP
        mask = mask.expand(b, 1, rows, seen)

        def attend(i: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            cache.keys[i, each, :, at] = k
            cache.values[i, each, :, at] = v
            q = F.pad(q.reshape(b, s.kv_heads, group, s.head_size), (0, 0, 0, rows - group))
            keys, values = cache.keys[i, :, :, :seen], cache.values[i, :, :, :seen]
            return F.scaled_dot_product_attention(q, keys, values, attn_mask=mask)[:, :, :group]

        x = model.embed(ids)  # (b, hidden)
        for i in range(model.layers):
            x = model.stack.block(i, x, cos, sin, attend)
            if states is not None and i + 1 in states:
                states[i + 1] = x
        return model.head(x)
