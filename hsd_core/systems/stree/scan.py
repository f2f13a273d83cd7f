"""Layers with running states over a tree of tokens (STree, arXiv 2505.14969; the layer is Mamba-2's, arXiv 2405.21060).

A head keeps one state h (d, d) in place of keys and values, and reads token after token:

    h = e^(dt a) h + dt k vᵀ          y = q h + skip v          a < 0, dt = softplus(..) > 0

A tree of tokens needs no state for each branch. With s the sum of dt a from the root to a node, one pass gives

    y_i = Σ_j (q_i · k_j) e^(s_i - s_j) dt_j v_j + e^(s_i) q_i h + skip v_i          j: the ancestors of i, and i

so the causal mask of a chain becomes the mask of ancestors. q, k and v pass a short convolution first, which reads a
node's last three ancestors too. The inputs since h are kept: the state after an accepted path is computed from them
when it is needed (`Inputs.folded`), so going back means forgetting inputs.

Names: n new inputs, m inputs since h, H heads, G groups of heads with one k and v, d head size, C = (H + 2 G) d.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.models.lean.linear import Linear
from hsd_core.models.one_pass import Pass, in_order, path_to

TAPS = 4  # inputs of the convolution: a token and its last three ancestors
HELD = 64  # positions before the end that can be taken back without reading the text again
CHUNK = 64  # inputs of a text in one part of a pass


@dataclass(frozen=True, slots=True)
class StateLayer:
    """x += out(norm(states(norm(x)))); x += mlp(norm(x)).

    conv: (C, TAPS), the token's own weight last. step, step_bias: dt before softplus, (H,) each. decay: (H,) log(-a).
    skip: (H,). state_norm: (H d,).
    """

    attention_norm: Tensor
    qkv: Linear
    conv: Tensor
    step: Linear
    step_bias: Tensor
    decay: Tensor
    skip: Tensor
    state_norm: Tensor
    out: Linear
    mlp_norm: Tensor
    gate_up: Linear
    down: Linear


class Heads(NamedTuple):
    """Sizes of a layer. eps: of its norms."""

    heads: int
    groups: int
    size: int
    eps: float


@dataclass(frozen=True, slots=True)
class Inputs:
    """What one layer keeps. Read-only, so that a copy of it is a reference.

    state: (H, d, d) h after the first positions. tail: (TAPS - 1, C) the inputs of the convolution before the others.
    Since then: raw (m, C) before the convolution; k, v (m, G, d) after it; step, total: (m, H) dt and s.
    """

    state: Tensor
    tail: Tensor
    raw: Tensor
    k: Tensor
    v: Tensor
    step: Tensor
    total: Tensor

    @classmethod
    def none(cls, sizes: Heads, like: Tensor) -> Inputs:
        heads, groups, size, _ = sizes
        width = (heads + 2 * groups) * size
        shapes = (heads, size, size), (TAPS - 1, width), (0, width), *[(0, groups, size)] * 2, *[(0, heads)] * 2
        return cls(*(like.new_zeros(shape) for shape in shapes))

    def taken(self, nodes: list[int] | slice) -> Inputs:
        """With these inputs only, a path from the state on."""
        since = (part[nodes] for part in (self.raw, self.k, self.v, self.step, self.total))
        return Inputs(self.state, self.tail, *since)

    def folded(self, count: int) -> Inputs:
        """With the first `count` inputs, which are in a line, read into the state."""
        heads, last = self.state.shape[0], self.total[count - 1]
        weight = (last - self.total[:count]).exp() * self.step[:count]
        times = heads // self.k.shape[1]
        k, v = (part[:count].repeat_interleave(times, 1) for part in (self.k, self.v))
        state = last.exp()[:, None, None] * self.state + torch.einsum("mhk,mhv->hkv", k * weight[..., None], v)
        tail = torch.cat((self.tail, self.raw[:count]))[-(TAPS - 1) :]
        raw, k, v, step, total = (x[count:] for x in (self.raw, self.k, self.v, self.step, self.total))
        return Inputs(state, tail, raw, k, v, step, total - last)


class StateCache:
    """One run's states of some layers after `base` positions, and the inputs since then, each after its parent.

    A cut to before `base` forgets everything, and the text is read again.
    """

    def __init__(self, layers: Sequence[StateLayer], sizes: Heads, like: Tensor) -> None:
        self._begun = [Inputs.none(sizes, like) for _ in layers]
        self.base, self.parents, self.inputs = 0, list[int](), self._begun

    @property
    def length(self) -> int:
        """See `Cache`."""
        return self.base + len(self.parents)

    def cut(self, length: int) -> None:
        """See `Cache.cut`. What is kept must be in a line."""
        if length < self.length:
            self.keep(length, ())

    def keep(self, base: int, path: Sequence[int]) -> None:
        """See `Cache.keep`: the kept path's inputs are gathered."""
        if base < self.base:
            self.base, self.parents, self.inputs = 0, [], self._begun
            return
        line = base - self.base
        nodes = [*range(min(line, len(self.parents))), *(line + node for node in path if base + node < self.length)]
        at = slice(len(nodes)) if in_order(nodes) else nodes
        self.inputs, self.parents = [one.taken(at) for one in self.inputs], list(range(-1, len(nodes) - 1))

    def mark(self) -> object:
        """See `Cache.mark`."""
        return self.base, [*self.parents], self.inputs

    def restore(self, mark: object) -> None:
        """See `Cache.restore`."""
        self.base, self.parents, self.inputs = mark  # type: ignore[misc]

    def fold(self, line: int) -> None:
        """Read inputs into the states if many are kept; of the first `line`, all but the last `HELD`."""
        if (count := line - HELD) >= HELD:
            self.inputs = [one.folded(count) for one in self.inputs]
            self.base, self.parents = self.base + count, [parent - count for parent in self.parents[count:]]

    @property
    def nbytes(self) -> int:
        """Bytes of states and kept inputs; they do not grow with the text."""
        parts = (getattr(one, name) for one in self.inputs for name in Inputs.__slots__)
        return sum(part.nbytes for part in parts)


def run_layers(layers: Sequence[StateLayer], sizes: Heads, given: Pass, x: Tensor, cache: StateCache) -> Tensor:
    """Process a pass's inputs x (n, hidden); returns the (n, hidden) states after all layers."""
    tree, done = given.tree, list[Tensor]()
    line = len(given.ids) if tree is None else max(0, tree.base - given.start)
    cuts = [*range(0, line, CHUNK), *([line] if line < len(given.ids) else []), len(given.ids)]
    cache.cut(given.start)
    for lo, hi in pairwise(cuts):
        first = given.start + lo
        cache.fold(_in_a_line(cache.parents))
        at = first - cache.base
        if tree is None or first < tree.base:
            new = list(range(at - 1, at - 1 + hi - lo))
        else:
            root = tree.base - cache.base - 1
            of = tree.parents[first - tree.base : given.start + hi - tree.base]
            new = [root if parent < 0 else tree.base - cache.base + parent for parent in of]
        done.append(_run_part(layers, sizes, x[lo:hi], cache, [*cache.parents, *new]))
    return done[0] if len(done) == 1 else torch.cat(done)


def _in_a_line(parents: Sequence[int]) -> int:
    """How many inputs follow each other before the first that does not."""
    return next((i for i, parent in enumerate(parents) if parent != i - 1), len(parents))


def _run_part(layers: Sequence[StateLayer], sizes: Heads, x: Tensor, cache: StateCache, parents: list[int]) -> Tensor:
    seen, taps = ancestors(parents, len(x))
    there, taps = seen.to(x.device), taps.to(x.device)
    kept = list[Inputs]()
    for layer, before in zip(layers, cache.inputs, strict=True):
        x, now = _step(layer, sizes, x, before, there, taps)
        kept.append(now)
    cache.inputs, cache.parents = kept, parents
    return x


def ancestors(parents: Sequence[int], new: int) -> tuple[Tensor, Tensor]:
    """Of the last `new` inputs: (new, m + new) bool, each one's ancestors and itself; (new, TAPS) the rows that its
    convolution reads, the farthest first, of the tail and all inputs."""
    total, taps = len(parents), list[list[int]]()
    begun = total - new
    sees = torch.zeros(new, total, dtype=torch.bool)
    for row, node in enumerate(range(begun, total)):
        parent = parents[node]
        sees[row] = sees[parent - begun] if parent >= begun else _path(parents, parent, total)
        sees[row, node] = True
        last, at = list[int](), node
        while len(last) < TAPS:
            last.append(TAPS - 1 + at)
            at = parents[at] if at >= 0 else at - 1
        taps.append(last[::-1])
    return sees, torch.tensor(taps)


def _path(parents: Sequence[int], node: int, total: int) -> Tensor:
    """(total,) bool: a node and its ancestors."""
    path = torch.tensor(path_to(node, parents), dtype=torch.long)
    return torch.zeros(total, dtype=torch.bool).index_fill_(0, path, True)


def _step(
    layer: StateLayer, sizes: Heads, x: Tensor, before: Inputs, sees: Tensor, taps: Tensor
) -> tuple[Tensor, Inputs]:
    """One layer on x (n, hidden), and what it keeps then."""
    heads, groups, size, eps = sizes
    read = F.rms_norm(x, x.shape[-1:], layer.attention_norm, eps)
    raw = torch.cat((before.raw, layer.qkv(read)))
    mixed = (torch.cat((before.tail, raw))[taps] * layer.conv.T).sum(1)
    q, k, v = (part.reshape(len(x), -1, size) for part in torch.split(mixed, [heads * size, *[groups * size] * 2], -1))
    new = F.softplus(layer.step(read) + layer.step_bias)
    step, k, v = torch.cat((before.step, new)), torch.cat((before.k, k)), torch.cat((before.v, v))
    s = -(sees.to(new) @ (step * layer.decay.exp()))  # (n, H)
    total = torch.cat((before.total, s))
    decayed = (s[:, None] - total).masked_fill(~sees[..., None], float("-inf")).exp() * step  # (n, m + n, H)
    by_group = q.view(len(x), groups, -1, size)  # query heads of one k and v stand together
    scores = torch.einsum("ngrd,mgd->nmgr", by_group, k) * decayed.view(len(x), len(k), groups, -1)
    y = torch.einsum("nmgr,mgd->ngrd", scores, v).flatten(1, 2)
    y = y + s.exp()[..., None] * torch.einsum("nhk,hkv->nhv", q, before.state)
    y = y + layer.skip[:, None] * v[len(v) - len(x) :].repeat_interleave(heads // groups, 1)
    y = F.rms_norm(y, (size,), eps=eps).flatten(1) * layer.state_norm
    x = x + layer.out(y)
    gate, up = layer.gate_up(F.rms_norm(x, x.shape[-1:], layer.mlp_norm, eps)).chunk(2, -1)
    x = x + layer.down(F.silu(gate) * up)
    return x, Inputs(before.state, before.tail, raw, k, v, step, total)
