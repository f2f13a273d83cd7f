"""The layers of a draft in training, and Medusa's head.

Behind its own tokens a draft does not have the target's states. Unrolled over several of its own steps (EAGLE-3, arXiv
2503.01840, section 3.2) it is trained on the inputs that it will have: at step j, position t reads the keys of the
first step up to t - j, and those of steps 1 to j at t - j + 1, ..., t. A draft that predicts several tokens in one pass
(P-EAGLE, arXiv 2602.01469) is trained by the same pattern, with learned inputs in place of its own states. The inputs
of a masked draft (SpecDiff, arXiv 2408.05636) see all of their block, and what lies before it.

A crossed layer (LongSpec, arXiv 2502.17421) has a window of its own and attends to the target's keys and values:
x += attention(norm(x)); x += cross(norm(x), keys, values); x += mlp(norm(x)). These are the keys and values of the
target's last layer, computed from the states before it by the target's frozen products.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hsd_core.models.lean.positions import window_mask


@dataclass(slots=True)
class Seen:
    """Keys and values (B, H, S, d) of one layer by step: in the first step of all positions, in later ones of positions
    from the first with a loss on."""

    keys: list[Tensor] = field(default_factory=list)
    values: list[Tensor] = field(default_factory=list)


def later(x: Tensor, by: int) -> Tensor:
    """(.., S, n) shifted by `by` positions; zeros before the first."""
    return F.pad(x, (0, 0, by, 0))[..., : x.shape[-2], :] if by else x


class StudentLayer(nn.Module):
    """A layer of the Llama shape: x += attention(norm(x)); x += mlp(norm(x)). Weights fused as the decoder's."""

    def __init__(self, hidden: int, heads: int, kv_heads: int, size: int, inner: int, eps: float) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.size, self.eps = heads, kv_heads, size, eps
        self.attention_norm = nn.Parameter(torch.ones(hidden))
        self.qkv = nn.Parameter(torch.zeros((heads + 2 * kv_heads) * size, hidden))
        self.out = nn.Parameter(torch.zeros(hidden, heads * size))
        self.mlp_norm = nn.Parameter(torch.ones(hidden))
        self.gate_up = nn.Parameter(torch.zeros(2 * inner, hidden))
        self.down = nn.Parameter(torch.zeros(hidden, inner))

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, first: int, seen: Seen) -> Tensor:
        """The first step: x (B, S, hidden) -> (B, S - first, hidden), the positions from `first` on, with causal
        attention."""
        read = F.rms_norm(x, (x.shape[-1],), self.attention_norm, self.eps)
        s = x.shape[1]
        # positions before `first` are needed only as keys and values
        q = self._queries(read[:, first:], cos[first:s], sin[first:s])
        k, v = self._remember(read, cos[:s], sin[:s], seen)
        ahead = torch.ones(s - first, s, dtype=torch.bool, device=x.device).tril(first)
        return self._through(x[:, first:], F.scaled_dot_product_attention(q, k, v, attn_mask=ahead))

    def again(self, x: Tensor, cos: Tensor, sin: Tensor, first: int, seen: Seen) -> Tensor:
        """The next step of the positions from `first` on: x (B, S - first, hidden) -> the same shape."""
        read, step = F.rms_norm(x, (x.shape[-1],), self.attention_norm, self.eps), len(seen.keys)
        s = first + x.shape[1]
        q = self._queries(read, cos[first:s], sin[first:s]) / self.size**0.5
        self._remember(read, cos[first:s], sin[first:s], seen)
        known = torch.ones(s - first, s, dtype=torch.bool, device=x.device).tril(first - step)
        scores = [(q @ seen.keys[0].transpose(2, 3)).masked_fill(~known, float("-inf"))]
        scores += [(q * later(seen.keys[i], step - i)).sum(-1, keepdim=True) for i in range(1, step + 1)]
        weights = torch.cat(scores, -1).softmax(-1)
        attended = weights[..., :s] @ seen.values[0]
        for i in range(1, step + 1):
            attended = attended + weights[..., s + i - 1 : s + i] * later(seen.values[i], step - i)
        return self._through(x, attended)

    def in_blocks(
        self, x: Tensor, block: Sequence[Tensor], wanted: Sequence[int], cos: Tensor, sin: Tensor, first: int
    ) -> list[Tensor]:
        """Blocks of inputs, one behind each position from `first` on; an input sees its whole block and what lies
        before it.

        Args:
            x: (B, S, hidden) the texts. block: its inputs, each (B, S - first, hidden) by where the block begins.
            wanted: the inputs whose outputs are returned.
        """
        s, n = x.shape[1], x.shape[1] - first
        inside, reads = Seen(), [F.rms_norm(y, (y.shape[-1],), self.attention_norm, self.eps) for y in block]
        for by, read in enumerate(reads):
            self._remember(read, cos[first + by : s + by], sin[first + by : s + by], inside)
        read = F.rms_norm(x, (x.shape[-1],), self.attention_norm, self.eps)
        k, v = self._remember(read, cos[:s], sin[:s], Seen())
        before, found = torch.ones(n, s, dtype=torch.bool, device=x.device).tril(first - 1), []
        for by in wanted:
            q = self._queries(reads[by], cos[first + by : s + by], sin[first + by : s + by]) / self.size**0.5
            scores = [(q @ k.transpose(2, 3)).masked_fill(~before, float("-inf"))]
            scores += [(q * kept).sum(-1, keepdim=True) for kept in inside.keys]
            weights = torch.cat(scores, -1).softmax(-1)
            attended = weights[..., :s] @ v
            for i, kept in enumerate(inside.values):
                attended = attended + weights[..., s + i : s + i + 1] * kept
            found.append(self._through(block[by], attended))
        return found

    def _queries(self, read: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        rows = self.heads * self.size
        return self._turned(F.linear(read, self.qkv[:rows]), self.heads, cos, sin)

    def _remember(self, read: Tensor, cos: Tensor, sin: Tensor, seen: Seen) -> tuple[Tensor, Tensor]:
        (b, s, _), times = read.shape, self.heads // self.kv_heads
        k, v = F.linear(read, self.qkv[self.heads * self.size :]).chunk(2, -1)
        keys = self._turned(k, self.kv_heads, cos, sin).repeat_interleave(times, 1)
        values = v.view(b, s, self.kv_heads, self.size).transpose(1, 2).repeat_interleave(times, 1)
        seen.keys.append(keys)
        seen.values.append(values)
        return keys, values

    def _turned(self, x: Tensor, heads: int, cos: Tensor, sin: Tensor) -> Tensor:
        x = x.view(*x.shape[:2], heads, self.size)
        return (x * cos[:, None] + x.roll(self.size // 2, -1) * sin[:, None]).to(x).transpose(1, 2)

    def _through(self, x: Tensor, attended: Tensor) -> Tensor:
        x = x + F.linear(attended.transpose(1, 2).reshape(*x.shape[:2], -1), self.out)
        gate, up = F.linear(F.rms_norm(x, (x.shape[-1],), self.mlp_norm, self.eps), self.gate_up).chunk(2, -1)
        return x + F.linear(F.silu(gate) * up, self.down)


class StudentHead(nn.Module):
    """A head that predicts a later token from the target's state (Medusa, arXiv 2401.10774).

    Medusa's is one residual product; here y = read(x), y + mlp(norm(y)): the product is fitted before training, and the
    MLP's output starts at zero.
    """

    def __init__(self, hidden: int, inner: int, norm: Tensor, eps: float, place: int) -> None:
        super().__init__()
        self.eps, chance = eps, torch.Generator().manual_seed(place)
        self.read = nn.Parameter(torch.zeros(hidden, hidden))
        self.mlp_norm = nn.Parameter(torch.ones(hidden))
        self.gate_up = nn.Parameter(torch.randn(2 * inner, hidden, generator=chance) / hidden**0.5)
        self.down = nn.Parameter(torch.zeros(hidden, inner))
        self.norm = nn.Parameter(norm.float().clone())

    def forward(self, x: Tensor) -> Tensor:
        """x (.., hidden) normalised states -> (.., hidden), in place of the target's last states further on."""
        y = F.linear(x, self.read)
        gate, up = F.linear(F.rms_norm(y, (y.shape[-1],), self.mlp_norm, self.eps), self.gate_up).chunk(2, -1)
        return y + F.linear(F.silu(gate) * up, self.down)


class CrossedLayer(StudentLayer):
    """See the module. window: positions of its own that it attends to."""

    target_kv: Tensor
    target_kv_norm: Tensor

    def __init__(self, hidden: int, heads: int, kv_heads: int, size: int, inner: int, eps: float, window: int) -> None:
        super().__init__(hidden, heads, kv_heads, size, inner, eps)
        self.window = window
        self.cross_norm = nn.Parameter(torch.ones(hidden))
        self.cross_q = nn.Parameter(torch.zeros(heads * size, hidden))
        self.cross_out = nn.Parameter(torch.zeros(hidden, heads * size))
        self.register_buffer("target_kv", torch.zeros(2 * kv_heads * size, hidden), persistent=False)
        self.register_buffer("target_kv_norm", torch.ones(hidden), persistent=False)

    @torch.no_grad()
    def begin_as(self, target: dict[str, Tensor]) -> None:
        """Initialize both attentions as that of the target's last layer, with half its output each."""
        rows = self.heads * self.size
        self.target_kv.copy_(target["qkv"][rows:])
        self.target_kv_norm.copy_(target["attention_norm"])
        begun = {
            **target,
            "out": target["out"] / 2,
            "cross_out": target["out"] / 2,
            "cross_q": target["qkv"][:rows],
            "cross_norm": target["attention_norm"],
        }
        self.load_state_dict(begun)

    def drafted(self, x: Tensor, under: Tensor, cos: Tensor, sin: Tensor, first: int, shift: int) -> Tensor:
        """x (B, S, hidden) -> (B, S - first, hidden), the positions from `first` on.

        Args:
            under: (B, S, hidden) states before the target's last layer. cos, sin: (S or more, d) rotary tables.
            shift: position t sees the target's keys and values up to t - shift, and the first ones.
        """
        s, read = x.shape[1], F.rms_norm(x, (x.shape[-1],), self.attention_norm, self.eps)
        place = torch.arange(s, device=x.device)
        q = self._queries(read[:, first:], cos[first:s], sin[first:s])
        k, v = self._remember(read, cos[:s], sin[:s], Seen())
        mine = window_mask(place[first:], place, self.window)
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=mine)
        x = x[:, first:] + F.linear(a.transpose(1, 2).flatten(2), self.out)
        read = F.rms_norm(x, (x.shape[-1],), self.cross_norm, self.eps)
        q = self._turned(F.linear(read, self.cross_q), self.heads, cos[first:s], sin[first:s])
        k, v = self._of_target(under, cos[:s], sin[:s])
        theirs = (place <= place[first:, None] - shift) | (place == 0)
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=theirs)
        x = x + F.linear(a.transpose(1, 2).flatten(2), self.cross_out)
        gate, up = F.linear(F.rms_norm(x, (x.shape[-1],), self.mlp_norm, self.eps), self.gate_up).chunk(2, -1)
        return x + F.linear(F.silu(gate) * up, self.down)

    @torch.no_grad()
    def _of_target(self, under: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
        """(B, H, S, d) keys and values of the target's last layer, for every query head."""
        b, s, _ = under.shape
        read = F.rms_norm(under, (under.shape[-1],), self.target_kv_norm, self.eps)
        k, v = F.linear(read, self.target_kv).chunk(2, -1)
        times = self.heads // self.kv_heads
        values = v.view(b, s, self.kv_heads, self.size).transpose(1, 2)
        return self._turned(k, self.kv_heads, cos, sin).repeat_interleave(times, 1), values.repeat_interleave(times, 1)
