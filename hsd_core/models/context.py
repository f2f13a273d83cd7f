"""The context of a run: the prompt, what the target committed, what levels hold, as a line that never changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import overload


class Context(Sequence[int]):
    """Token ids that never change: what is put behind them, or cut off, is another context.

    Those that grow out of each other share one list, of which each sees the first tokens alone. Going on where the list
    ends, or as it goes on already, copies nothing; going on otherwise copies it once. So a draft, its verification and
    what is held of it may each have a context of their own, also in different threads: nothing is ever written where
    somebody reads.
    """

    __slots__ = ("_length", "_line")

    def __init__(self, ids: Iterable[int] = ()) -> None:
        self._line = list(ids)
        self._length = len(self._line)

    def __add__(self, ids: Sequence[int]) -> Context:
        """With these ids behind it."""
        if not ids:
            return self
        more, line, end = list(ids), self._line, self._length + len(ids)
        if len(line) == self._length:
            line.extend(more)  # at once: whoever else goes on here meanwhile stands behind these, and finds them below
        if line[self._length : end] != more:
            line = [*line[: self._length], *more]
        return self._over(line, end)

    def cut(self, length: int) -> Context:
        """Its first `length` tokens, all of them where there are no more."""
        return self._over(self._line, min(length, self._length))

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, at: int) -> int: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[int]: ...

    def __getitem__(self, at: int | slice) -> int | Sequence[int]:
        if isinstance(at, slice):
            return self._line[: self._length][at] if at.step else self._line[slice(*at.indices(self._length))]
        if not -self._length <= at < self._length:
            raise IndexError(f"token {at} of a context of {self._length}")
        return self._line[at if at >= 0 else at + self._length]

    def __iter__(self) -> Iterator[int]:
        return iter(self._line[: self._length])

    def __eq__(self, other: object) -> bool:
        """The same ids, in a context or in a list."""
        return isinstance(other, (Context, list)) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Context({list(self)})"

    def _over(self, line: list[int], length: int) -> Context:
        made = Context.__new__(Context)
        made._line, made._length = line, length
        return made
