"""Layers of the Llama shape over fused weights, and the cache that they write.

The block is x += attention(norm(x)); x += mlp(norm(x)) with RMSNorm, rotary positions (RoPE), grouped
key/value heads and a SiLU gate. q, k, v are one product, gate and up another; the cache is two tensors
allocated once per run, so rolling back is starting at a smaller position. Nothing is wrapped or allocated
per call beyond the activations.

Names: n inputs, H query heads, G key/value heads, d head size, L layers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.decoders.linear import Linear
from hsd_core.decoders.shape import LeanShape, rotary_tables

# Attention sees whole multiples of these (the rest masked): then the sums of a row run in the same order whatever
# other rows are computed beside it, and n rows give bit for bit what n single rows give, on the CPUs we measured.
KEY_STEP, ROW_STEP = 64, 8

# (layer, (n, H, d) queries, (n, G, d) keys, (n, G, d) values) -> (n, H, d): keeps keys and values, and attends.
Attend = Callable[[int, Tensor, Tensor, Tensor], Tensor]


@dataclass(frozen=True, slots=True)
class Layer:
    attention_norm: Tensor
    qkv: Linear
    q_norm: Tensor | None
    k_norm: Tensor | None
    out: Linear
    mlp_norm: Tensor
    gate_up: Linear
    down: Linear


class KVCache:
    """Keys and values of one run: two tensors (L, G, capacity rounded up to KEY_STEP, d), always finite."""

    __slots__ = ("capacity", "keys", "values")

    def __init__(self, layers: int, heads: int, capacity: int, size: int, dtype: torch.dtype, device: str) -> None:
        self.capacity = capacity
        room = _up(capacity, KEY_STEP)
        self.keys = torch.zeros(layers, heads, room, size, dtype=dtype, device=device)
        self.values = torch.zeros_like(self.keys)


class Layers:
    """Some layers of one shape, run in ranges over one cache. `rotary`: shared tables, made anew if not given."""

    def __init__(
        self,
        shape: LeanShape,
        layers: Sequence[Layer],
        *,
        dtype: torch.dtype,
        device: str,
        rotary: tuple[Tensor, Tensor] | None = None,
    ) -> None:
        self.shape, self._layers, self._float, self._device = shape, layers, dtype, device
        cos, sin = rotary or rotary_tables(shape)
        self.rotary = (cos.to(device=device, dtype=dtype), sin.to(device=device, dtype=dtype))

    def __len__(self) -> int:
        return len(self._layers)

    def __getitem__(self, i: int) -> Layer:
        return self._layers[i]

    def new_cache(self, capacity: int) -> KVCache:
        s = self.shape
        return KVCache(len(self._layers), s.kv_heads, capacity, s.head_size, self._float, self._device)

    def forward(self, x: Tensor, cache: KVCache, start: int, lo: int, hi: int) -> Tensor:
        """Run layers lo, ..., hi - 1 on inputs at positions start, ...; writes their keys and values.

        x (n, hidden) -> (n, hidden). Layers may be run in any division, 0..a then a..L, over one cache.
        """
        n, s = len(x), self.shape
        end, group = start + n, s.heads // s.kv_heads
        cos, sin = (t[start:end, None] for t in self.rotary)  # (n, 1, d)
        mask = self._mask(n, end, group)  # (rows, seen)
        rows, seen = mask.shape

        def attend(i: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            cache.keys[i, :, start:end] = k.transpose(0, 1)
            cache.values[i, :, start:end] = v.transpose(0, 1)
            # query heads of one key/value head become rows of one product: (G, group * n, d), nothing is repeated
            q = q.transpose(0, 1).reshape(1, s.kv_heads, group * n, s.head_size)
            q = F.pad(q, (0, 0, 0, rows - group * n))
            keys, values = cache.keys[None, i, :, :seen], cache.values[None, i, :, :seen]
            a = F.scaled_dot_product_attention(q, keys, values, attn_mask=mask)[:, :, : group * n]
            return a.reshape(s.heads, n, s.head_size).transpose(0, 1)

        for i in range(lo, hi):
            x = self.block(i, x, cos, sin, attend)
        return x

    def block(self, i: int, x: Tensor, cos: Tensor, sin: Tensor, attend: Attend) -> Tensor:
        """Layer i on n inputs, whoever keeps their keys and values: x (n, hidden) -> (n, hidden).

        Args:
            cos, sin: (n, 1, d) rotary tables at the inputs' positions. attend: see `Attend`.
        """
        n, s, layer = len(x), self.shape, self._layers[i]
        qkv = layer.qkv(self.rms(x, layer.attention_norm)).view(n, s.heads + 2 * s.kv_heads, s.head_size)
        qk, v = qkv[:, : s.heads + s.kv_heads], qkv[:, s.heads + s.kv_heads :]
        if layer.q_norm is not None and layer.k_norm is not None:
            q, k = qk[:, : s.heads], qk[:, s.heads :]
            qk = torch.cat((self.rms(q, layer.q_norm), self.rms(k, layer.k_norm)), dim=1)
        # rotate pairs (j, j + d/2); sin carries the sign of the swapped halves
        qk = qk * cos + qk.roll(s.head_size // 2, dims=-1) * sin
        a = attend(i, qk[:, : s.heads], qk[:, s.heads :], v)
        x = x + layer.out(a.reshape(n, s.heads * s.head_size))
        gate, up = layer.gate_up(self.rms(x, layer.mlp_norm)).chunk(2, dim=-1)
        return x + layer.down(F.silu(gate) * up)

    def _mask(self, n: int, end: int, group: int) -> Tensor:
        """0 where input t may look (positions <= end - n + t), -inf elsewhere.

        (group * n rounded up to ROW_STEP, end rounded up to KEY_STEP); the added rows look everywhere and are unused.
        """
        full = torch.full((n, _up(end, KEY_STEP)), float("-inf"), dtype=self._float, device=self._device)
        full = full.triu_(end - n + 1).repeat(group, 1)
        return F.pad(full, (0, 0, 0, _up(group * n, ROW_STEP) - group * n))

    def rms(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(x, weight.shape, weight, self.shape.norm_eps)


def _up(n: int, step: int) -> int:
    """n rounded up to a multiple of step."""
    return -(-n // step) * step
