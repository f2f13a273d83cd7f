"""A layer with running states in training, in its quadratic form: the decay between two positions is the mask of an
attention without softmax. `systems/stree/scan.py` runs what is trained here, and has the formulas."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hsd_core.systems.nano.train.students.draft_layers import Seen, StudentLayer

TAPS = 4
OWN = ("conv", "step", "step_bias", "decay", "skip", "state_norm")  # weights that a layer with keys and values lacks
NEAREST, FARTHEST = 2.0, 256.0  # positions after which the heads' states are halved at first
SHRUNK = 0.5  # of the values' size, that of their average


class StateStudentLayer(StudentLayer):
    """It begins as an attention layer: the same products, a convolution that changes nothing, and heads that forget at
    different rates."""

    def __init__(self, hidden: int, heads: int, kv_heads: int, size: int, inner: int, eps: float) -> None:
        super().__init__(hidden, heads, kv_heads, size, inner, eps)
        width, rates = (heads + 2 * kv_heads) * size, torch.logspace(0, 1, heads, FARTHEST / NEAREST) * NEAREST
        self.conv = nn.Parameter(F.one_hot(torch.tensor([TAPS - 1]), TAPS).float().repeat(width, 1)[:, None])
        self.step = nn.Parameter(torch.zeros(heads, hidden))
        self.step_bias = nn.Parameter(torch.full((heads,), math.log(math.e - 1)))  # a softplus of 1
        self.decay = nn.Parameter((math.log(2) / rates).log())
        self.skip = nn.Parameter(torch.zeros(heads))
        self.state_norm = nn.Parameter(torch.ones(heads * size))

    @torch.no_grad()
    def begin_as(self, target: dict[str, Tensor]) -> None:
        """Take an attention layer's weights; a head's output begins with the size of its values."""
        self.load_state_dict(target, strict=False)
        v = (self.qkv[-self.kv_heads * self.size :] * self.attention_norm).norm(dim=1).view(self.kv_heads, -1)
        self.state_norm.copy_(SHRUNK * v.repeat_interleave(self._times, 0).flatten())

    @property
    def _times(self) -> int:
        return self.heads // self.kv_heads

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, first: int, seen: Seen) -> Tensor:
        """x (B, S, hidden) -> (B, S - first, hidden), the positions from `first` on; there are no angles."""
        s, parts = x.shape[1], [self.heads * self.size, *[self.kv_heads * self.size] * 2]
        read = F.rms_norm(x, (x.shape[-1],), self.attention_norm, self.eps)
        raw = F.pad(F.linear(read, self.qkv).transpose(1, 2), (TAPS - 1, 0))
        mixed = F.conv1d(raw, self.conv, groups=raw.shape[1]).transpose(1, 2)
        q, k, v = (part.reshape(len(x), s, -1, self.size).transpose(1, 2) for part in torch.split(mixed, parts, -1))
        k, v = (part.repeat_interleave(self._times, 1) for part in (k, v))
        step = F.softplus(F.linear(read, self.step) + self.step_bias).transpose(1, 2)  # (B, H, S)
        total = -(step * self.decay.exp()[:, None]).cumsum(-1)
        before = torch.ones(s - first, s, dtype=torch.bool, device=x.device).tril(first)
        lost = (total[:, :, first:, None] - total[:, :, None]).masked_fill(~before, float("-inf"))
        weights = (q[:, :, first:] @ k.transpose(2, 3)) * lost.exp() * step[:, :, None]
        y = weights @ v + self.skip[:, None, None] * v[:, :, first:]
        y = F.rms_norm(y, (self.size,), eps=self.eps) * self.state_norm.view(self.heads, 1, -1)
        return self._through(x[:, first:], y)
