"""Between the host and a GPU: what is sent is not waited for, and what is fetched is waited for once.

Every wait empties the GPU's queue, so that it stands still until the host has launched the next kernel. Copies from and
to pinned memory wait for nothing; torch keeps such memory and gives it out again only behind the copy.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from hsd_core.models.gpu.unseen import Ahead


def sent(values: Sequence[int] | Tensor, device: torch.device | str) -> Tensor:
    """Numbers on a device; those of the host without a wait."""
    held = values if isinstance(values, Tensor) else torch.tensor(values, dtype=torch.long)
    if torch.device(device).type == held.device.type:
        return held
    return held.pin_memory().to(device, non_blocking=True)


def sent_ids(ids: Sequence[int], device: torch.device | str) -> Tensor:
    """(n,) token ids on a device, where the last ones may be already."""
    if not isinstance(ids, Ahead) or not ids.there:
        return sent(list(ids), device)
    there = torch.stack(ids.there)
    return torch.cat((sent(list(ids.seen), device), there)) if ids.seen else there


def awaited(tensor: Tensor) -> Tensor:
    """A tensor, once its device has made it."""
    if tensor.device.type != "cpu":
        torch.cuda.current_stream(tensor.device).synchronize()
    return tensor


def fetched(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Tensors of one device on the host: one wait for all of them, none where they are there already."""
    if tensors[0].device.type == "cpu":
        return tensors
    here = [torch.empty(one.shape, dtype=one.dtype, pin_memory=True) for one in tensors]
    for to, one in zip(here, tensors, strict=True):
        to.copy_(one, non_blocking=True)
    torch.cuda.current_stream(tensors[0].device).synchronize()
    return tuple(here)
