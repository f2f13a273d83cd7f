"""What a draft says at each distance from the last verified token, as a run has it, for all positions at once.

At distance 0 every state that it reads is the target's. At distance d it wrote the d tokens before itself: it reads its
own states there, and the keys and values of its own passes, and those of true passes before them. One pass a distance
does that for every position (training-time test of EAGLE-3, arXiv 2503.01840, does the same).

Names: B texts, S positions, H hidden.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.lab.train.student import Student, StudentLayer

Kept = list[tuple[Tensor, Tensor]]  # keys and values (B, S, heads, size) of the passes so far, one a distance


@torch.no_grad()
def chained(student: Student, x: Tensor, fed: Tensor | None, steps: int) -> Iterator[Tensor]:
    """Its last states (B, S, H) at distance 0, 1, ..., steps - 1 from the last verified token.

    Position t at distance d stands behind a chain that began at position t - d; where t < d there is none. The states
    of a draft that is not fed are the same at every distance.
    """
    kept: list[Kept] = [[] for _ in student.layers]
    for distance in range(steps if fed is not None else 1):
        y = F.linear(student.inputs(x, fed), student.read)
        for i, held in enumerate(kept):
            y = _layer(student, i, y, held)
        yield y
        if fed is not None and distance < steps - 1:
            fed = torch.cat((torch.zeros_like(y[:, :1]), y[:, :-1]), 1)


def _layer(student: Student, i: int, x: Tensor, kept: Kept) -> Tensor:
    """A layer's pass at the next distance; see `StudentLayer.forward`. Adds its keys and values to `kept`."""
    layer = student.layers[i]
    assert isinstance(layer, StudentLayer)
    b, s, _ = x.shape
    h, g, d = layer.heads, layer.kv_heads, layer.size
    cos, sin = student.cos[:s, None], student.sin[:s, None]
    seen = F.rms_norm(x, (x.shape[-1],), layer.attention_norm, layer.eps)
    q, k, v = torch.split(F.linear(seen, layer.qkv).view(b, s, h + 2 * g, d), [h, g, g], 2)
    q, k = (each * cos + each.roll(d // 2, -1) * sin for each in (q, k))
    kept.append((k, v))
    keys, values = (torch.cat(each, 1).transpose(1, 2).repeat_interleave(h // g, 1) for each in zip(*kept, strict=True))
    a = F.scaled_dot_product_attention(q.transpose(1, 2), keys, values, attn_mask=_mask(s, len(kept), x.device))
    x = x + F.linear(a.transpose(1, 2).reshape(b, s, h * d), layer.out)
    gate, up = F.linear(F.rms_norm(x, (x.shape[-1],), layer.mlp_norm, layer.eps), layer.gate_up).chunk(2, -1)
    return x + F.linear(F.silu(gate) * up, layer.down)


def _mask(s: int, passes: int, device: torch.device) -> Tensor:
    """(S, passes * S): of the first pass what lies before the chain, of each later one the position it has there."""
    last = passes - 1
    t = torch.arange(s, device=device)
    behind = t[:, None] - t[None]
    return torch.cat([behind >= last, *(behind == last - e for e in range(1, passes))], 1)
