"""`lean`: a readable forward pass for the Llama, Mistral, Qwen2, Qwen3 and SmolLM shape.

The block is x += attention(norm(x)); x += mlp(norm(x)) with RMSNorm, rotary positions (RoPE), grouped
key/value heads and a SiLU gate. q, k, v are one product, gate and up another; the cache is two tensors
allocated once per run, so rolling back is starting at a smaller position. Nothing is wrapped or allocated
per call beyond the activations.

Names: n inputs, H query heads, G key/value heads, d head size, L layers, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.decoders.linear import Int8, Linear, Packed, Plain
from hsd_core.decoders.protocol import DecoderError
from hsd_core.decoders.shape import LeanShape, rotary_tables

CHUNK = 512  # inputs per pass: bounds the attention mask of a long prompt
# Attention sees whole multiples of these (the rest masked): then the sums of a row run in the same order whatever
# other rows are computed beside it, and n rows give bit for bit what n single rows give, on the CPUs we measured.
KEY_STEP, ROW_STEP = 64, 8


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


class LeanDecoder:
    """A `Decoder` over fused weights.

    Args:
        shape: read from the model's config by `LeanShape.from_config`.
        tensor: name -> weight in the Hugging Face naming, called once per weight.
        names: all the weight names there are.
        dtype: "float32", "bfloat16" or "int8" (int8 products, float32 everything else, float32 head).
        device: "cpu", "cuda", "cuda:0", ...
        vocab: keep only the first `vocab` columns of the logits.
    """

    def __init__(
        self,
        shape: LeanShape,
        tensor: Callable[[str], Tensor],
        names: Mapping[str, object] | set[str],
        *,
        dtype: str = "float32",
        device: str = "cpu",
        vocab: int | None = None,
    ) -> None:
        self.shape, self.dtype, self.device = shape, dtype, device
        self.layers, self.max_positions = shape.layers, shape.max_positions
        self.vocab_size = min(vocab or shape.vocab_size, shape.vocab_size)
        self._float = torch.bfloat16 if dtype == "bfloat16" else torch.float32
        on_cpu = torch.device(device).type == "cpu"
        dense = Packed if on_cpu and dtype != "bfloat16" and Packed.available() else Plain
        linear = Int8 if dtype == "int8" else dense

        def get(name: str) -> Tensor:
            if name not in names:
                raise DecoderError(f"the weights lack {name!r}, which a {shape.model_type} of this config has")
            return tensor(name).to(device=device, dtype=self._float)

        def fused(prefix: str, *parts: str) -> Linear:
            weight = torch.cat([get(f"{prefix}.{p}.weight") for p in parts])
            has_bias = f"{prefix}.{parts[0]}.bias" in names
            return linear(weight, torch.cat([get(f"{prefix}.{p}.bias") for p in parts]) if has_bias else None)

        def layer(at: str) -> Layer:
            head_norms = f"{at}.self_attn.q_norm.weight" in names
            return Layer(
                attention_norm=get(f"{at}.input_layernorm.weight"),
                qkv=fused(f"{at}.self_attn", "q_proj", "k_proj", "v_proj"),
                q_norm=get(f"{at}.self_attn.q_norm.weight") if head_norms else None,
                k_norm=get(f"{at}.self_attn.k_norm.weight") if head_norms else None,
                out=fused(f"{at}.self_attn", "o_proj"),
                mlp_norm=get(f"{at}.post_attention_layernorm.weight"),
                gate_up=fused(f"{at}.mlp", "gate_proj", "up_proj"),
                down=fused(f"{at}.mlp", "down_proj"),
            )

        self._layers = [layer(f"model.layers.{i}") for i in range(shape.layers)]
        self._norm = get("model.norm.weight")
        self._embedding = tensor("model.embed_tokens.weight").to(device)  # kept as it is stored: a lookup is exact
        head = "model.embed_tokens.weight" if shape.tied else "lm_head.weight"
        # A bfloat16 product would round the logits to a step of 0.125 at 16 and make ties, so every head is float32;
        # in oneDNN's layout it costs about as much as int8 from 8 rows on.
        whole = Packed if on_cpu and Packed.available() else Plain
        self._head = whole(tensor(head)[: self.vocab_size].to(device=device, dtype=torch.float32))
        cos, sin = rotary_tables(shape)
        self._cos, self._sin = (t.to(device=device, dtype=self._float) for t in (cos, sin))

    def new_cache(self, capacity: int) -> KVCache:
        """Room for `capacity` positions.

        Raises:
            DecoderError: the model was not built for that many positions.
        """
        if capacity > self.max_positions:
            raise DecoderError(f"{capacity} positions are more than the model's {self.max_positions}")
        return KVCache(self.layers, self.shape.kv_heads, capacity, self.shape.head_size, self._float, self.device)

    @torch.inference_mode()
    def forward(self, ids: list[int], cache: KVCache, start: int, rows: int) -> Tensor:
        """See `Decoder.forward`. ids (n,) -> logits (rows, V) float32."""
        if start + len(ids) > cache.capacity:
            raise DecoderError(f"position {start + len(ids)} lies beyond the cache's capacity of {cache.capacity}")
        kept = []
        for lo in range(0, len(ids), CHUNK):
            x = self.embed(ids[lo : lo + CHUNK])
            x = self.forward_layers(x, cache, start + lo, 0, self.layers)
            wanted = rows - max(0, len(ids) - lo - len(x))  # of this chunk: those not covered by later chunks
            if wanted > 0:
                kept.append(x[-wanted:])
        return self.head(kept[0] if len(kept) == 1 else torch.cat(kept))

    def embed(self, ids: list[int]) -> Tensor:
        """ids (n,) -> x (n, hidden)."""
        index = torch.tensor(ids, device=self.device)
        return self._embedding[index].to(self._float)

    def head(self, x: Tensor) -> Tensor:
        """x (n, hidden) after the last layer -> logits (n, V) float32."""
        return self._head(self._rms(x, self._norm).float())

    def forward_layers(self, x: Tensor, cache: KVCache, start: int, lo: int, hi: int) -> Tensor:
        """Run layers lo, ..., hi - 1 on inputs at positions start, ...; writes their keys and values.

        x (n, hidden) -> (n, hidden). Layers may be run in any division, 0..a then a..L, over one cache.
        """
        n, s = len(x), self.shape
        end, group = start + n, s.heads // s.kv_heads
        cos, sin = self._cos[start:end, None], self._sin[start:end, None]  # (n, 1, d)
        mask = self._mask(n, end, group)  # (rows, seen)
        rows, seen = mask.shape
        for i in range(lo, hi):
            layer = self._layers[i]
            qkv = layer.qkv(self._rms(x, layer.attention_norm)).view(n, s.heads + 2 * s.kv_heads, s.head_size)
            qk, v = qkv[:, : s.heads + s.kv_heads], qkv[:, s.heads + s.kv_heads :]
            if layer.q_norm is not None and layer.k_norm is not None:
                q, k = qk[:, : s.heads], qk[:, s.heads :]
                qk = torch.cat((self._rms(q, layer.q_norm), self._rms(k, layer.k_norm)), dim=1)
            # rotate pairs (j, j + d/2); sin carries the sign of the swapped halves
            qk = qk * cos + qk.roll(s.head_size // 2, dims=-1) * sin
            cache.keys[i, :, start:end] = qk[:, s.heads :].transpose(0, 1)
            cache.values[i, :, start:end] = v.transpose(0, 1)
            # query heads of one key/value head become rows of one product: (G, group * n, d), nothing is repeated
            q = qk[:, : s.heads].transpose(0, 1).reshape(1, s.kv_heads, group * n, s.head_size)
            q = F.pad(q, (0, 0, 0, rows - group * n))
            keys, values = cache.keys[None, i, :, :seen], cache.values[None, i, :, :seen]
            a = F.scaled_dot_product_attention(q, keys, values, attn_mask=mask)[:, :, : group * n]
            a = a.reshape(s.heads, n, s.head_size).transpose(0, 1).reshape(n, s.heads * s.head_size)
            x = x + layer.out(a)
            gate, up = layer.gate_up(self._rms(x, layer.mlp_norm)).chunk(2, dim=-1)
            x = x + layer.down(F.silu(gate) * up)
        return x

    def _mask(self, n: int, end: int, group: int) -> Tensor:
        """0 where input t may look (positions <= end - n + t), -inf elsewhere.

        (group * n rounded up to ROW_STEP, end rounded up to KEY_STEP); the added rows look everywhere and are unused.
        """
        full = torch.full((n, _up(end, KEY_STEP)), float("-inf"), dtype=self._float, device=self.device)
        full = full.triu_(end - n + 1).repeat(group, 1)
        return F.pad(full, (0, 0, 0, _up(group * n, ROW_STEP) - group * n))

    def _rms(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(x, weight.shape, weight, self.shape.norm_eps)


def _up(n: int, step: int) -> int:
    """n rounded up to a multiple of step."""
    return -(-n // step) * step
