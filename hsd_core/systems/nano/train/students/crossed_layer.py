"""A layer in training that has a window of its own and attends to the target's keys and values (LongSpec, arXiv
2502.17421): x += attention(norm(x)); x += cross(norm(x), keys, values); x += mlp(norm(x)).

The keys and values are those of the target's last layer, so they are made of the states before it by the target's own
products, which are frozen.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hsd_core.models.lean.positions import window_mask
from hsd_core.systems.nano.train.students.student_layer import Seen, StudentLayer


class CrossedLayer(StudentLayer):
    """See above. window: positions of its own that it attends to."""

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
        """Both attentions begin as that of the target's last layer, and give a half each."""
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
            under: (B, S, hidden) states before the target's last layer. cos, sin: (S or more, d) tables at the
                positions. shift: position t sees the target's keys and values up to t - shift, and the first one.
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
