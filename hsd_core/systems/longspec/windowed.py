"""LongSpec's draft (arXiv 2502.17421): it attends to a window of positions, and to the target's last keys and values.

    x += attention(norm(x))                  over a few first positions and the last ones, `window` in all
    x += cross(norm(x), keys, values)        over what the target has verified
    x += mlp(norm(x))

Its cache holds the window and the drafted tokens, however long the text is. With one layer, keys and values depend only
on a token and its position, so positions that have left the window are computed again if the text is cut back to them.

Names: n wanted rows, G key/value heads, d head size.

In a run it sees the target's keys and values of verified tokens; the pending token and all drafts are only in the
draft's own window. How far the target has read depends on the past, so every token is still drawn from a distribution
that the past decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.core.level import DraftOrder, Outcome, Proposal, Work
from hsd_core.core.tree import NOTHING, Tree
from hsd_core.levels.growing import draft
from hsd_core.levels.trunk import Trunk, nearest
from hsd_core.models.cache import Cache, Positions, own
from hsd_core.models.context import Context
from hsd_core.models.decoder_protocol import DecoderError
from hsd_core.models.drafts.copying import copier
from hsd_core.models.drafts.head import DraftCache, LeanDraft
from hsd_core.models.lean.linear import nbytes
from hsd_core.models.lean.positions import SINK, rotary_tables, window_mask
from hsd_core.models.one_pass import Branches, in_order

if TYPE_CHECKING:
    from hsd_core.core.level import LevelRun
    from hsd_core.levels.shared import SharedState
    from hsd_core.models.compiled.decoder import CompiledDecoder
    from hsd_core.models.drafts.draft_file import DraftInfo
    from hsd_core.models.lean.decoder import LeanDecoder

ROOM = 64  # slots behind the window, at least: the number of tokens before it is moved


class WindowedKeys(Positions):
    """Keys and values (G, slots, d): of the first `SINK` positions, then of those from position `first` on."""

    __slots__ = ("first", "keys", "values")

    def __init__(self, keys: Tensor, values: Tensor) -> None:
        super().__init__()
        self.keys, self.values, self.first = keys, values, SINK

    @property
    def slots(self) -> int:
        return self.keys.shape[1]

    @property
    def nbytes(self) -> int:
        """The same for any length of text."""
        return self.keys.nbytes + self.values.nbytes

    def slot(self, position: int) -> int:
        """The slot of a position that is held."""
        return position if position < SINK else SINK + position - self.first

    def hold(self, low: int, end: int) -> list[range]:
        """Make room for the first positions and for low, ..., end - 1; returns the positions that must be written.

        Raises:
            DecoderError: they are more than there are slots.
        """
        if SINK + end - low > self.slots:
            raise DecoderError(f"{SINK + end - low} positions are more than the window's {self.slots} slots")
        begun = self.length
        if not self.first <= low <= begun:  # cut back to before the window, or continued far behind it
            self.first, held = low, low
        else:
            held = max(begun, SINK)
            if SINK + end - self.first > self.slots:
                from_, self_ = self.slot(low), self.slot(held)
                for kept in (self.keys, self.values):
                    kept[:, SINK : SINK + held - low] = kept[:, from_:self_].clone()
                self.first = low
        lacking = [range(begun, min(SINK, end))] if begun < SINK else []
        return [*lacking, *([range(held, end)] if held < end else [])]

    def write(self, begin: int, keys: Tensor, values: Tensor) -> None:
        """Write (n, G, d) keys and values for positions from `begin` on."""
        at = self.slot(begin)
        for kept, new in ((self.keys, keys), (self.values, values)):
            kept[:, at : at + len(new)] = new.transpose(0, 1)

    def seen(self, end: int) -> tuple[Tensor, Tensor, list[int]]:
        """The keys and values before `end`, and their positions."""
        numbers = [*range(min(SINK, end)), *range(self.first, end)]
        return self.keys[:, : len(numbers)], self.values[:, : len(numbers)], numbers

    def keep(self, base: int, path: Sequence[int]) -> None:
        """See `Cache.keep`."""
        mine = [node for node in path if base + node < self.length]
        if base < self.first and not in_order(mine):
            self.cut(base)
            return
        super().keep(base, path)

    def move(self, base: int, nodes: Sequence[int]) -> None:
        """See `Positions.move`."""
        source = [self.slot(base + node) for node in nodes]
        at = self.slot(base)
        for kept in (self.keys, self.values):
            kept[:, at : at + len(nodes)] = kept[:, source]


class WindowedDraft(LeanDraft):
    """Run by torch, over either decoder. window: positions that it attends to."""

    def __init__(self, info: DraftInfo, tensors: dict[str, Tensor], decoder: LeanDecoder | CompiledDecoder) -> None:
        super().__init__(info, tensors, decoder)
        self._embed = decoder.embed
        self._read, self._norm = self._product("read"), self._vector("norm")
        at = "layers.0."
        self._qkv, self._out, self._gate_up, self._down, self._cross_q, self._cross_out = (
            self._product(at + name) for name in ("qkv", "out", "gate_up", "down", "cross_q", "cross_out")
        )
        self._norms = [self._vector(at + name) for name in ("attention_norm", "cross_norm", "mlp_norm")]
        self._cos, self._sin = (
            table.to(device=self._device, dtype=self._float)[:, None] for table in rotary_tables(decoder.shape)
        )

    def new_cache(self, nodes: int) -> DraftCache:
        """For one run whose trees have at most `nodes` nodes; its size does not depend on the text."""
        s, slots = self._shape, self.window + max(ROOM, nodes + 1)
        keys, values = (
            torch.zeros(s.kv_heads, slots, s.head_size, dtype=self._float, device=self._device) for _ in range(2)
        )
        return DraftCache(WindowedKeys(keys, values), copier(*self._gates))

    def open_run(self, shared: SharedState, source: str) -> LevelRun:
        """See `OpensRun`."""
        trunks = [trunk for trunk in shared.features() if isinstance(trunk, Trunk)]
        return WindowedRun(self, trunks, shared.branches, source)

    @torch.inference_mode()
    def rows(
        self,
        line: Sequence[int],
        wanted: int,
        cache: Cache,
        keys: Tensor,
        values: Tensor,
        branches: Branches | None = None,
    ) -> Tensor:
        """The rows behind the last `wanted` tokens of a line, which it has not read yet.

        Args:
            line: a context and the nodes of a tree behind it. keys, values: (G, m, d) of the target's last layer at the
                first m >= 0 positions, all before the wanted ones.
        Returns:
            (wanted, V) log-probabilities, -inf for tokens that neither the trimmed head nor a copy has.
        """
        kept, end = own(cache, DraftCache), len(line)
        mine, first = kept.layers, end - wanted
        assert isinstance(mine, WindowedKeys)
        tree = branches if branches is not None and end > branches.base else None
        numbers = torch.arange(end) if tree is None else tree.positions(0, end)
        of = numbers[first:]
        low = max(SINK, int(of.min()) - (self.window - SINK) + 1)
        for lacking in mine.hold(low, end):
            x, q = self._remember(mine, line, numbers, lacking)
        mine.length = end
        x, q = x[len(x) - wanted :], q[len(q) - wanted :]
        k, v, slots = mine.seen(end)
        sees = window_mask(of, numbers[slots], self.window)
        if tree is not None:
            sees &= ~tree.hidden(first, end)[:, slots]
        x = x + self._out(self._attended(q, k, v, sees.to(self._device)))
        if keys.shape[1]:
            q = self._turned(self._heads(self._cross_q(self._rms(x, 1)), self._shape.heads), of)
            x = x + self._cross_out(self._attended(q, keys.to(q), values.to(q)))
        gate, up = self._gate_up(self._rms(x, 2)).chunk(2, -1)
        x = x + self._down(F.silu(gate) * up)
        logits = self._logits(F.rms_norm(x, self._norm.shape, self._norm, self._shape.norm_eps))
        return kept.copier.mix(line, logits, x, branches)

    def _remember(
        self, mine: WindowedKeys, line: Sequence[int], numbers: Tensor, lacking: range
    ) -> tuple[Tensor, Tensor]:
        """Write the keys and values of the positions `lacking`; their (n, hidden) inputs and (n, H, d) queries."""
        s, at = self._shape, numbers[lacking.start : lacking.stop]
        x = self._read(self._normal(self._embed(line[lacking.start : lacking.stop])))
        qkv = self._heads(self._qkv(self._rms(x, 0)), s.heads + 2 * s.kv_heads)
        turned = self._turned(qkv[:, : s.heads + s.kv_heads], at)
        mine.write(lacking.start, turned[:, s.heads :], qkv[:, s.heads + s.kv_heads :])
        return x, turned[:, : s.heads]

    def _heads(self, x: Tensor, count: int) -> Tensor:
        return x.view(len(x), count, self._shape.head_size)

    def _turned(self, x: Tensor, at: Tensor) -> Tensor:
        at = at.to(self._device)
        return x * self._cos[at] + x.roll(self._shape.head_size // 2, -1) * self._sin[at]

    def _attended(self, q: Tensor, keys: Tensor, values: Tensor, sees: Tensor | None = None) -> Tensor:
        """Attention of q (n, H, d) over keys and values (G, m, d), masked by `sees` (n, m) -> (n, H d)."""
        n, groups = len(q), len(keys)
        by_group = q.view(n, groups, -1, q.shape[-1]).permute(1, 2, 0, 3).flatten(1, 2)  # (G, H/G n, d)
        mask = None if sees is None else sees.repeat(by_group.shape[1] // n, 1)
        a = F.scaled_dot_product_attention(by_group[None], keys[None], values[None], attn_mask=mask)[0]
        return a.view(groups, -1, n, q.shape[-1]).permute(2, 0, 1, 3).reshape(n, -1)

    def _rms(self, x: Tensor, which: int) -> Tensor:
        weight = self._norms[which]
        return F.rms_norm(x, weight.shape, weight, self._shape.norm_eps)

    def weight_bytes(self) -> int:
        """Bytes of weights that a pass reads."""
        products = self._read, self._qkv, self._out, self._cross_q, self._cross_out, self._gate_up, self._down
        return sum(map(nbytes, products)) + self._head.nbytes


class WindowedRun:
    """features: the trunks whose last keys and values it may read (see `DraftRun`). nodes: of the largest tree."""

    def __init__(self, draft: WindowedDraft, features: Sequence[Trunk], nodes: int, source: str) -> None:
        self._draft, self._trunks, self._source = draft, features, source
        self._cache: Cache = draft.new_cache(nodes)

    @property
    def cached(self) -> int:
        return self._cache.length

    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        copied, mark = partial(self._draft.copied, self._cache), partial(self._draft.mark, self._cache)
        return draft(self, context, order, self._source, copied, mark)

    def grow(self, context: Context, ids: Sequence[int], branches: Branches, new: int) -> tuple[Tensor, Work]:
        """See `Grows.grow`."""
        return self._score(context + ids, max(1, new), branches)

    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        branches = None if tree.is_chain else Branches(len(context), tree.lineage)
        return self._score(context + tree.ids if len(tree) else context, len(tree) + 1, branches)

    @torch.inference_mode()
    def _score(self, ids: Sequence[int], rows: int, branches: Branches | None = None) -> tuple[Tensor, Work]:
        new = len(ids) - self.cached
        if new < rows:
            raise ValueError(f"{self._source}: {rows} rows asked for, but {new} tokens are new")
        trunk = nearest(self._trunks)
        kv, depth = trunk.kv(), trunk.decoder.layers
        seen = min(trunk.valid(depth), len(ids) - rows)
        keys, values = (kept[depth - 1, 0, :, :seen] for kept in (kv.keys, kv.values))
        return self._draft.rows(ids, rows, self._cache, keys, values, branches), Work(1, new, new - rows)

    def keep(self, start: int, path: Sequence[int]) -> None:
        self._cache.keep(start, path)

    def observe(self, outcome: Outcome) -> None:
        """Nothing to do: the target's keys and values are read when the next token is asked for."""

    def close(self) -> None:
        self._cache = Positions()
