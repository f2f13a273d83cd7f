"""Earlier occurrences of a context's end, on a device, as the host may not know the last tokens yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from hsd_core.models.gpu.pending_context import PendingContext
from hsd_core.models.gpu.transfer import sent_ids

BEFORE = -1  # before the first token; not equal to any id


class Mark(NamedTuple):
    """The token to copy after a context, on the device: () tensors.

    token: its id. place: its position in the context. alike: the length of the matching suffix, 0 if there is nothing
    to copy. share: the log-probability of copying.
    """

    token: Tensor
    place: Tensor
    alike: Tensor
    share: Tensor


class DeviceText:
    """One context on a device. longest: tokens of a suffix that are compared."""

    def __init__(self, longest: int, device: torch.device) -> None:
        self._longest, self._device = longest, device
        self._ids = torch.full((0,), BEFORE, device=device)
        self._seen: list[int] = []  # those that the host knows

    def follow(self, context: Sequence[int]) -> Tensor:
        """(len(context) + longest - 1,) ids after longest - 1 BEFORE. Only new ids are sent."""
        known = context.seen if isinstance(context, PendingContext) else context
        n, first = min(len(self._seen), len(known)), self._longest - 1
        if self._seen[:n] != list(known[:n]):
            n = next(i for i in range(n) if self._seen[i] != known[i])
        if first + len(context) > len(self._ids):
            self._ids, n = torch.full((2 * (first + len(context)),), BEFORE, device=self._device), 0
        self._seen[n:] = known[n:]
        if n < len(context):
            self._ids[first + n : first + len(context)] = sent_ids(context[n:], self._device)
        return self._ids[: first + len(context)]

    def last(self, context: Sequence[int]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The result of `drafts.copying.Suffixes` after the context's last token: () tensors token, place, sort and
        alike, the length of the matching suffix."""
        ids = self.follow(context)
        windows = ids.unfold(0, self._longest, 1)  # row j: the tokens up to j
        same = (windows == windows[-1]) & (windows[-1] != BEFORE)
        alike = same.flip(-1).long().cumprod(-1).sum(-1)
        alike[-1].zero_()  # a token is not a copy of itself
        longest = alike.amax()
        after = torch.arange(1, len(context) + 1, device=self._device)
        places = torch.where((alike == longest) & (longest > 0), after, 0)
        place = places.amax()
        earlier = torch.where(places == place, 0, places).amax()
        token, before = ids.gather(0, torch.stack((place, earlier)) + self._longest - 1).unbind()
        sort = 3 * longest - torch.where(earlier > 0, (before == token).long(), 2)
        found = longest > 0
        return token * found, place, sort * found, longest
