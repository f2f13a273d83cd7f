"""Copies between the host and a GPU: sending does not wait, and fetching waits once.

Every wait empties the GPU's queue, and it idles until the host has launched the next kernel. Copies from and to pinned
memory are asynchronous; torch reuses such memory only after the copy.

Copies are counted for stacks on several devices (Dovetail, arXiv 2412.18934): ids and masks that are sent, ids, rows
and states that are fetched. The device measures their time, so counting does not wait.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from hsd_core.models.gpu.pending_context import PendingContext


class _Here(threading.local):
    """The copies of this thread since the last call of `crossed`. underway: those that may not be finished."""

    def __init__(self) -> None:
        self.bytes, self.ns = 0, 0.0
        self.underway: list[tuple[Any, Any]] = []

    def settle(self) -> None:
        over = [(begin, end) for begin, end in self.underway if end.query()]
        self.ns += sum(begin.elapsed_time(end) * 1e6 for begin, end in over)
        self.underway = [pair for pair in self.underway if pair not in over]


_HERE = _Here()
_UNSETTLED = 64  # copies


def crossed() -> tuple[int, int]:
    """The copies of this thread since the last call: bytes, and their time in ns. The time of an unfinished copy is
    counted in the next call."""
    if not _HERE.bytes:
        return 0, 0
    _HERE.settle()
    found = _HERE.bytes, round(_HERE.ns)
    _HERE.bytes, _HERE.ns = 0, 0.0
    return found


@contextmanager
def _counted(nbytes: int, device: torch.device | str) -> Iterator[None]:
    """Count copies of `nbytes` from or to a device."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
    stream = torch.cuda.current_stream(device)
    begin.record(stream)
    yield
    end.record(stream)
    _HERE.bytes += nbytes
    _HERE.underway.append((begin, end))
    if len(_HERE.underway) > _UNSETTLED:  # `crossed` is not called in this thread
        _HERE.settle()


def sent(values: Sequence[int] | Tensor, device: torch.device | str) -> Tensor:
    """Numbers on a device, sent without waiting."""
    held = values if isinstance(values, Tensor) else torch.tensor(values, dtype=torch.long)
    if torch.device(device).type == held.device.type:
        return held
    with _counted(held.nbytes, device):
        return held.pin_memory().to(device, non_blocking=True)


def sent_ids(ids: Sequence[int], device: torch.device | str) -> Tensor:
    """(n,) token ids on a device, where the last ones may already be."""
    if not isinstance(ids, PendingContext) or not ids.there:
        return sent(list(ids), device)
    there = torch.stack(ids.there)
    return torch.cat((sent(list(ids.seen), device), there)) if ids.seen else there


def awaited(tensor: Tensor) -> Tensor:
    """A tensor, after its device has computed it."""
    if tensor.device.type != "cpu":
        torch.cuda.current_stream(tensor.device).synchronize()
    return tensor


def fetched(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Tensors of one device on the host, with one wait for all; no wait if they are on the host."""
    if tensors[0].device.type == "cpu":
        return tensors
    here = [torch.empty(one.shape, dtype=one.dtype, pin_memory=True) for one in tensors]
    with _counted(sum(one.nbytes for one in tensors), tensors[0].device):
        for to, one in zip(here, tensors, strict=True):
            to.copy_(one, non_blocking=True)
    torch.cuda.current_stream(tensors[0].device).synchronize()
    return tuple(here)
