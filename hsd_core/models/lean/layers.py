"""Layers of the Llama shape over fused weights, and the cache that they write.

The block is x += attention(norm(x)); x += mlp(norm(x)) with RMSNorm, rotary positions (RoPE), grouped key/value heads
and a SiLU gate. Layers may attend to a window, and have norms of their outputs (Gemma 3). q, k, v are one product, gate
and up another; the cache is two tensors allocated once per run, so a pass that starts at a smaller position rolls back.
Only activations are allocated per call.

Names: n inputs, H query heads, G key/value heads, d head size, L layers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.models.cache import KVCache
from hsd_core.models.gpu.graphs import Graphs
from hsd_core.models.gpu.replayed import LentCache, Memories
from hsd_core.models.gpu.split_keys import in_parts, parts_of
from hsd_core.models.gpu.transfer import sent
from hsd_core.models.lean.linear import Linear, nbytes
from hsd_core.models.lean.positions import KEY_STEP, Masks, rotary_tables, rounded_up
from hsd_core.models.lean.shape import LeanShape
from hsd_core.models.lean.sublayers import NONE, Sublayers, groups
from hsd_core.models.one_pass import Pass
from hsd_core.models.threads import model_threads, torch_with

# (layer, (n, H, d) queries, (n, G, d) keys, (n, G, d) values) -> (n, H, d): writes keys and values, and attends.
Attend = Callable[[int, Tensor, Tensor, Tensor], Tensor]
Write = Callable[[Tensor, Tensor], None]
Seen = tuple[Tensor, Tensor, Tensor]  # cos and sin (n, 1, d) and the mask of some inputs, for one kind of layers


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
    attention_after: Tensor | None = None
    mlp_after: Tensor | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of its products' weights."""
        return sum(nbytes(product) for product in (self.qkv, self.out, self.gate_up, self.down))


class Layers:
    """Some layers of one shape, run in ranges over one cache.

    Args:
        rotary: shared tables, computed if not given. graphs: records passes of few inputs; None: no recording.
    """

    def __init__(
        self,
        shape: LeanShape,
        layers: Sequence[Layer],
        *,
        dtype: torch.dtype,
        device: str,
        rotary: tuple[Tensor, Tensor] | None = None,
        graphs: Graphs | None = None,
    ) -> None:
        self.shape, self._layers, self._float, self._device = shape, layers, dtype, device
        windows = shape.windows or (0,) * len(layers)
        kinds = sorted(set(windows))
        self.kinds = [kinds.index(window) for window in windows]  # of each layer, an index of `rotaries`
        group = shape.heads // shape.kv_heads
        self._masks = [Masks(group, dtype=dtype, device=device, window=window) for window in kinds]
        self.windowed = any(kinds)

        def on_device(tables: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
            cos, sin = tables
            return cos.to(device=device, dtype=dtype), sin.to(device=device, dtype=dtype)

        self.rotary = on_device(rotary or rotary_tables(shape))
        local = on_device(rotary_tables(shape, shape.local_theta)) if shape.local_theta else self.rotary
        self.rotaries = [local if window else self.rotary for window in kinds]
        self.graphs, self._memories = graphs, None if graphs is None else Memories(graphs)

    def __len__(self) -> int:
        return len(self._layers)

    def __getitem__(self, i: int) -> Layer:
        return self._layers[i]

    @property
    def eager(self) -> str | None:
        """Why passes are not recorded although they should be, or None."""
        return None if self._memories is None else self._memories.refused

    def new_cache(self, capacity: int, texts: int = 1) -> KVCache:
        if self._memories is not None and texts == 1 and not self.eager:
            return LentCache(self._memories, self._memories.lend(self, capacity), capacity)
        slots = rounded_up(capacity, KEY_STEP)
        return KVCache(self.zeros(slots, texts), self.zeros(slots, texts), capacity)

    def zeros(self, slots: int, texts: int) -> Tensor:
        """Keys, or values, of several texts."""
        s = self.shape
        size = (len(self._layers), texts, s.kv_heads, slots, s.head_size)
        return torch.zeros(size, dtype=self._float, device=self._device)

    def prepare(self, cache: KVCache, depths: Sequence[int]) -> None:
        """Record the passes between 0 and these rising depths; `forward` replays them on this cache from now on.

        Called before the first pass, as recording writes to the cache.
        """
        if isinstance(cache, LentCache) and self._memories is not None:
            self._memories.capture(self, cache.memory, depths)

    def forward(
        self,
        given: Pass,
        x: Tensor,
        cache: KVCache,
        lo: int,
        hi: int,
        together: int = 1,
        asked: list[Tensor] | None = None,
        without: Sublayers = NONE,
        wide: Tensor | None = None,
    ) -> Tensor:
        """Run layers lo, ..., hi - 1 on a pass's inputs; writes their keys and values.

        x (n, hidden) -> (n, hidden). Layers may be run in any division, 0..a then a..L, over one cache. No text sees
        another: masked keys have weight zero. together: see `grouping.groups`. asked: filled with the queries of the
        last input, (H, d) rotated, layer by layer. without: sublayers that are left out, alone or in no group. wide:
        (n, m) what layer lo's attention reads in place of its normalised x.
        """
        plain = together == 1 and asked is None and not without.size and wide is None
        if given.slots is None and isinstance(cache, LentCache) and plain:
            replayed = cache.memory.replay(given, x, lo, hi)
            if replayed is not None:
                return self._reached(cache, given, hi, replayed)
        torch_with(model_threads())
        seen, write = self._placed(given, len(x))
        grouped = groups(lo, hi, len(self), together)
        x = self._run(x, cache.keys, cache.values, grouped, seen, write, attention, asked, without, wide)
        return self._reached(cache, given, hi, x)

    def together(self, texts: Sequence[tuple[Pass, Tensor, KVCache]], lo: int, hi: int) -> list[Tensor]:
        """`forward` of passes of several texts, each over its own cache: one product over the rows of all, attention
        text by text, each with the keys and rows that it has alone."""
        torch_with(model_threads())
        sizes, x = [len(x) for _, x, _ in texts], torch.cat([x for _, x, _ in texts])
        placed = [self._placed(given, n) for (given, _, _), n in zip(texts, sizes, strict=True)]
        kinds = zip(*(seen for seen, _ in placed), strict=True)
        rotaries = [tuple(torch.cat([one[part] for one in seen]) for part in (0, 1)) for seen in kinds]

        def attend(i: int, *qkv: Tensor) -> Tensor:
            found = list[Tensor]()
            each = zip(texts, placed, *(torch.split(part, sizes) for part in qkv), strict=True)
            for (_, _, cache), (seen, write), q, k, v in each:
                kept = cache.keys[i], cache.values[i]
                found.append(self._attend(q, k, v, kept, seen[self.kinds[i]][2], write, attention)[0])
            return torch.cat(found)

        for i in range(lo, hi):
            cos, sin = rotaries[self.kinds[i]]
            x = self.mixed(i, x + self.attended(i, x, cos, sin, attend))
        each = zip(texts, torch.split(x, sizes), strict=True)
        return [self._reached(cache, given, hi, made) for (given, _, cache), made in each]

    def _placed(self, given: Pass, n: int) -> tuple[list[Seen], Write]:
        """What the n inputs of a pass see, for each kind of layers, and a function that writes their keys or values
        into a layer's part of a cache."""
        start, end, slots, tree = given.start, given.end, given.slots, given.tree
        at: slice | Tensor
        if slots is not None:
            at, line = torch.tensor(slots, device=self._device), torch.arange(end, device=self._device)
            masks = [masks.of(line > at[:, None, None], at[:, None], line) for masks in self._masks]
        elif tree is not None:
            at, places = sent(given.positions(), self._device), tree.positions(0, end) + given.ahead
            masks = [masks.of(tree.hidden(start, end)[None], given.positions()[None], places) for masks in self._masks]
        else:
            at = slice(start + given.ahead, end + given.ahead)
            masks = [masks.causal(n, end) for masks in self._masks]
        seen = [(cos[at, None], sin[at, None], mask) for (cos, sin), mask in zip(self.rotaries, masks, strict=True)]

        def write(kept: Tensor, new: Tensor) -> None:
            if slots is None:
                kept[0, :, start:end] = new.transpose(0, 1)
            else:
                kept[torch.arange(len(new), device=self._device), :, at] = new

        return seen, write

    def _reached(self, cache: KVCache, given: Pass, hi: int, x: Tensor) -> Tensor:
        if hi == len(self):
            cache.length = given.end
        return x

    def over(
        self,
        kept: tuple[Tensor, Tensor],
        x: Tensor,
        lo: int,
        hi: int,
        positions: Tensor,
        places: Tensor,
        hidden: Tensor,
        rotaries: Sequence[Sequence[Tensor]],
        write: Write,
    ) -> Tensor:
        """Layers lo, ..., hi - 1 on inputs whose positions are on the device, without branching on values.

        Args:
            kept: keys and values of one text. positions: (n,). places: (slots,), their positions. hidden: (n, slots)
                bool, see `Masks.of`. rotaries: `rotaries` with a row for every slot. write: writes (n, G, d) keys or
                values into a layer's part of `kept`.
        """
        seen = list[Seen]()
        for rotary, masks in zip(rotaries, self._masks, strict=True):
            cos, sin = (table.index_select(0, positions)[:, None] for table in rotary)
            seen.append((cos, sin, masks.of(hidden[None], positions, places)))
        split = x.device.type != "cpu" and parts_of(hidden.shape[-1]) > 1
        alone = groups(lo, hi, len(self), 1)
        return self._run(x, *kept, alone, seen, write, in_parts if split else attention)

    def _run(
        self,
        x: Tensor,
        all_keys: Tensor,
        all_values: Tensor,
        grouped: Sequence[range],
        seen: Sequence[Seen],
        write: Write,
        attended: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor],
        asked: list[Tensor] | None = None,
        without: Sublayers = NONE,
        wide: Tensor | None = None,
    ) -> Tensor:
        """Layers in groups on x (B * n, hidden), B texts of n inputs each.

        seen: for each kind of layers cos and sin (B * n, 1, d), and the mask (B or 1, 1, rows, keys).
        """

        def attend(i: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            if asked is not None:
                asked.append(q[-1])
            kept = all_keys[i], all_values[i]
            return self._attend(q, k, v, kept, seen[self.kinds[i]][2], write, attended)

        for members in grouped:
            kept = [i for i in members if i not in without.attention]
            of = {i: seen[self.kinds[i]] for i in kept}  # attention all before x changes
            read = {i: self.attended(i, x, cos, sin, attend, wide) for i, (cos, sin, _) in of.items()}
            for i in members:
                x = x + read[i] if i in read else x
                x = x if i in without.mlp else self.mixed(i, x)
            wide = None
        return x

    def _attend(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        kept: tuple[Tensor, Tensor],
        mask: Tensor,
        write: Write,
        attended: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor],
    ) -> Tensor:
        """Write keys and values into a layer's part of the cache, and attend: q (B * n, H, d) -> (B, n, H, d).

        kept: two (B, G, slots, d). mask: (B or 1, 1, rows, keys).
        """
        write(kept[0], k)
        write(kept[1], v)
        s, texts, (rows, slots) = self.shape, len(kept[0]), mask.shape[-2:]
        n, group = len(q) // texts, s.heads // s.kv_heads
        # query heads of one key/value head become rows of one product: (G, group * n, d), without repeating keys
        q = q.reshape(texts, n, s.heads, s.head_size).transpose(1, 2)
        q = F.pad(q.reshape(texts, s.kv_heads, group * n, s.head_size), (0, 0, 0, rows - group * n))
        keys, values = (part[:, :, :slots] for part in kept)
        a = attended(q, keys, values, mask)[:, :, : group * n]
        return a.reshape(texts, s.heads, n, s.head_size).transpose(1, 2)

    def attended(
        self, i: int, x: Tensor, cos: Tensor, sin: Tensor, attend: Attend, wide: Tensor | None = None
    ) -> Tensor:
        """The output of layer i's attention, to be added to its inputs: x (n, hidden) -> (n, hidden).

        Args:
            cos, sin: (n, 1, d) rotary tables at the inputs' positions. attend: see `Attend`. wide: see `forward`.
        """
        n, s, layer = len(x), self.shape, self._layers[i]
        qk, v = self._projected(i, self.rms(x, layer.attention_norm) if wide is None else wide, cos, sin)
        a = attend(i, qk[:, : s.heads], qk[:, s.heads :], v)
        return self._after(layer.out(a.reshape(n, s.heads * s.head_size)), layer.attention_after)

    def _projected(self, i: int, read: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
        """(n, H + G, d) rotated queries and keys of layer i, and its (n, G, d) values, from its normalised inputs."""
        n, s, layer = len(read), self.shape, self._layers[i]
        qkv = layer.qkv(read).view(n, s.heads + 2 * s.kv_heads, s.head_size)
        qk, v = qkv[:, : s.heads + s.kv_heads], qkv[:, s.heads + s.kv_heads :]
        if layer.q_norm is not None and layer.k_norm is not None:
            q, k = qk[:, : s.heads], qk[:, s.heads :]
            qk = torch.cat((self.rms(q, layer.q_norm), self.rms(k, layer.k_norm)), dim=1)
        # rotate pairs (j, j + d/2); sin carries the sign of the swapped halves
        return qk * cos + qk.roll(s.head_size // 2, dims=-1) * sin, v

    def fill(self, given: Pass, x: Tensor, cache: KVCache, lo: int) -> None:
        """See `Fills.fill`. No layer is run; their keys and values are products of x."""
        torch_with(model_threads())
        seen, write = self._placed(given, len(x))
        for i in range(lo, len(self)):
            cos, sin, _ = seen[self.kinds[i]]
            qk, v = self._projected(i, self.rms(x, self._layers[i].attention_norm), cos, sin)
            write(cache.keys[i], qk[:, self.shape.heads :])
            write(cache.values[i], v if cache.divided is None else v / cache.divided[i])
        self._reached(cache, given, len(self), x)

    def mixed(self, i: int, x: Tensor) -> Tensor:
        """The rest of layer i, after its attention: x (n, hidden) -> (n, hidden)."""
        layer = self._layers[i]
        gate, up = layer.gate_up(self.rms(x, layer.mlp_norm)).chunk(2, dim=-1)
        gate = F.silu(gate) if self.shape.gate == "silu" else F.gelu(gate, approximate="tanh")
        return x + self._after(layer.down(gate * up), layer.mlp_after)

    def _after(self, x: Tensor, weight: Tensor | None) -> Tensor:
        return x if weight is None else self.rms(x, weight)

    def rms(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(x, weight.shape, weight, self.shape.norm_eps)


def attention(q: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """q (B, G, R, d) over keys and values (B, G, K, d) under a mask (B or 1, 1, R, K) -> (B, G, R, d)."""
    return F.scaled_dot_product_attention(q, keys, values, attn_mask=mask)
