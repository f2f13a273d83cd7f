"""Contexts that end in tokens drawn on a device, which the host does not know yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

from torch import Tensor

from hsd_core.models.context import Context


class PendingContext(Context):
    """A context of `seen`, token ids, followed by `there`, () tensors on a device.

    `sent_ids` uses the tensors directly; reading one as a number waits for the device.
    """

    __slots__ = ("seen", "there")

    def __init__(self, seen: Sequence[int], there: tuple[Tensor, ...]) -> None:
        self.seen, self.there = seen, there

    def then(self, token: Tensor) -> PendingContext:
        """The context with one more token."""
        return PendingContext(self.seen, (*self.there, token))

    def cut(self, length: int) -> Context:
        return Context(self).cut(length)

    def __add__(self, ids: Sequence[int]) -> Context:
        return Context(self) + ids if ids else self

    def __len__(self) -> int:
        return len(self.seen) + len(self.there)

    @overload
    def __getitem__(self, at: int) -> int: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[int]: ...

    def __getitem__(self, at: int | slice) -> int | Sequence[int]:
        if isinstance(at, int):
            return list(self)[at]
        lo, hi, step = at.indices(len(self))
        if step != 1:
            return list(self)[at]
        n = len(self.seen)
        return PendingContext(self.seen[lo:hi], self.there[max(0, lo - n) : max(0, hi - n)])

    def __iter__(self) -> Iterator[int]:
        yield from self.seen
        yield from (int(token) for token in self.there)
