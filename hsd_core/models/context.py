"""The context of a run, an immutable sequence: the prompt, the committed tokens, and tokens that levels hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import overload


class Context(Sequence[int]):
    """Immutable token ids: appending or cutting gives another context.

    Contexts made from each other share one list, of which each sees a prefix. Appending at the end of the list, or the
    tokens that follow there anyway, copies nothing; other tokens copy it once. A draft, its verification and the held
    tokens can have different contexts, also in different threads: the part that a context sees is never written.
    """

    __slots__ = ("_length", "_line")

    def __init__(self, ids: Iterable[int] = ()) -> None:
        self._line = list(ids)
        self._length = len(self._line)

    def __add__(self, ids: Sequence[int]) -> Context:
        """The context followed by these ids."""
        if not ids:
            return self
        more, line, end = list(ids), self._line, self._length + len(ids)
        if len(line) == self._length:
            line.extend(more)  # atomic: another thread that appends here comes later, and finds these below
        if line[self._length : end] != more:
            line = [*line[: self._length], *more]
        return self._over(line, end)

    def cut(self, length: int) -> Context:
        """Its first `length` tokens, or all if it has fewer."""
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
