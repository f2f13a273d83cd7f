"""A draft made on a device: its tokens are drawn and read there, and the host sees them once, behind the last one.

Until then a token is a () tensor of the device, also where it stands in a context. What follows an end of the text was
drafted in vain and is dropped: with the host waiting for every token each one would cost a whole launch of its pass.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from hsd_core.drafts.copying_there import Mark
from hsd_core.models.gpu.transfer import fetched
from hsd_core.trace import Copied

if TYPE_CHECKING:
    from hsd_core.levels.protocol import DraftOrder


class Seen(NamedTuple):
    """A draft on the host: n ids, (n, V) rows and logits, what was copied."""

    ids: list[int]
    rows: Tensor
    logits: Tensor
    copied: list[Copied | None]


def see(ids: Sequence[Tensor], rows: Tensor, logits: Tensor, marks: Sequence[Mark], order: DraftOrder) -> Seen:
    """Wait for a draft of n tokens, once. It ends with the first id of `order.ends`.

    Args:
        rows, logits: (n, V). marks: one for every token, or none for a drafter that copies nothing.
    """
    more = [torch.stack(part) for part in zip(*marks, strict=True)]
    drawn, rows, logits, *more = fetched(torch.stack(list(ids)), rows, logits, *more)
    order.check(logits)
    seen: list[int] = drawn.tolist()
    n = next((at + 1 for at, id_ in enumerate(seen) if id_ in order.ends), len(seen))
    copied: list[Copied | None] = []
    for at, (token, place, alike, share) in enumerate(zip(*(part.tolist() for part in more), strict=True)):
        law = float(logits[at, seen[at]])
        says = alike and token == seen[at]
        copied.append(Copied(place, alike, min(1.0, math.exp(share - law))) if says else None)
    return Seen(seen[:n], rows[:n], logits[:n], copied[:n])
