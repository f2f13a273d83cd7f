"""How often one of several tokens side by side is accepted, from the rows of their drafter and of their judge."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

Floats = npt.NDArray[np.float64]


def accepted(q: Tensor, p: Tensor, most: int, *, seed: int) -> Iterator[Floats]:
    """(n,) probability that one of k tokens is accepted, for k = 1, ..., `most`.

    Recursive rejection (SpecInfer, arXiv 2305.09781; MCSD, arXiv 2401.06706) of tokens that are drawn from q without
    replacement, judged in their order.

    The first token's chance is exact, sum_x min(p, q). The others' are those behind the tokens that were drawn here, so
    their mean takes many rows.

    Args:
        q, p: (n, V) rows of the drafter and of its judge.
    """
    source = torch.Generator(device="cpu").manual_seed(seed)
    q, p = q.float(), p.float()
    # The order of draws without replacement is that of exponential waits with q as the rates.
    waits = torch.empty(q.shape).exponential_(generator=source).to(q.device)
    drawn = (q / waits).topk(min(most, q.shape[1])).indices
    refused = torch.ones(len(q), device=q.device)
    for k in range(drawn.shape[1]):
        token = drawn[:, k : k + 1]
        kept = 1.0 - refused * (1.0 - torch.minimum(p, q).sum(1).clamp_max(1.0))
        yield kept.double().cpu().numpy()
        own, judge = q.gather(1, token), p.gather(1, token)
        alpha = (judge / own.clamp_min(torch.finfo(q.dtype).tiny)).clamp_max(1.0) * (own > 0.0)
        refused = refused * (1.0 - alpha).squeeze(1)
        p = _whole((p - q).clamp_min(0.0), p)
        q = _whole(q.scatter(1, token, 0.0), q)


def _whole(mass: Tensor, instead: Tensor) -> Tensor:
    """Rows that sum to 1; where nothing is left, the ones before: that place is decided, or has no more to offer."""
    total = mass.sum(1, keepdim=True)
    return torch.where(total > 0.0, mass / total.clamp_min(torch.finfo(mass.dtype).tiny), instead)
