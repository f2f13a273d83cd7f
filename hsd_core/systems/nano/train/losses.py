"""The losses of training: distances of a student's distribution from the target's.

All are per position over the same trimmed vocabulary, from logits (n, R). A draft is judged by 1 - TV, the acceptance
of a drafted token under rule `tokenwise` (Leviathan et al. 2023, corollary 3.6).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import torch.nn.functional as F
from torch import Tensor

Loss = Callable[[Tensor, Tensor], Tensor]


def forward_kl(student: Tensor, teacher: Tensor) -> Tensor:
    """KL(p || q), mode covering. Logits (n, R) twice -> (n,) nats."""
    q, p = F.log_softmax(student, -1), F.log_softmax(teacher, -1)
    return (p.exp() * (p - q)).sum(-1)


def reverse_kl(student: Tensor, teacher: Tensor) -> Tensor:
    """KL(q || p), mode seeking."""
    return forward_kl(teacher, student)


def total_variation(student: Tensor, teacher: Tensor) -> Tensor:
    """TV(p, q), the chance of a rejection; its gradient vanishes where the distributions hardly overlap."""
    return 0.5 * (student.softmax(-1) - teacher.softmax(-1)).abs().sum(-1)


LOSSES: Mapping[str, Loss] = MappingProxyType({"kl": forward_kl, "rkl": reverse_kl, "tv": total_variation})
