"""Attention over a long text with its keys split into parts that are processed in parallel (Flash-Decoding).

A pass of few rows has few blocks of queries, so a GPU would read the keys of each head block after block, with most of
its units idle. Each part also returns its log-sum-exp, from which the weights of the parts follow.
"""

from __future__ import annotations

import torch
from torch import Tensor

LONGEST = 1024  # keys that are read by one block
ALIGNED = 8  # keys: the alignment of the rows of a mask
PARTS = 4  # of `LONGEST` keys
NEVER = -1e30  # instead of -inf, which would give NaN in a part whose keys are all hidden


def in_parts(q: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """Attention of one text on a GPU, all tensors of one dtype.

    Args:
        q: (1, G, R, d). keys, values: (1, G, S * c, d). mask: (1, 1, R, S * c), 0 or -inf.
    Returns:
        (1, G, R, d).
    """
    (groups, rows, size), seen = q.shape[1:], keys.shape[2]
    parts = parts_of(seen)
    apart = mask.clamp_min(NEVER).view(rows, parts, -1).transpose(0, 1)[None]  # (1, S, R, c)
    out, total, *_ = torch.ops.aten._scaled_dot_product_efficient_attention(
        q[0, :, None].expand(groups, parts, rows, size),
        keys[0].view(groups, parts, -1, size),
        values[0].view(groups, parts, -1, size),
        apart.expand(groups, -1, -1, -1),
        True,
    )
    share = total[..., :rows].softmax(1)  # (G, S, R): the kernel rounds its rows up
    found: Tensor = (out.float() * share[..., None]).sum(1)[None].to(q.dtype)
    return found


def parts_of(seen: int) -> int:
    """The number of equal splits for this many keys."""
    if seen <= LONGEST:
        return 1
    parts = PARTS * -(-seen // LONGEST)
    return next((n for n in range(parts, 1, -1) if seen % (n * ALIGNED) == 0), 1)
