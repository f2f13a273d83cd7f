"""Every random choice of a run goes through one `Choices` object.

The engine draws tokens and throws coins nowhere else, so a test can replace the object with an enumerator and compute
the exact distribution of the engine itself.

A choice has a key: what is chosen, by which level, at which position, and in which epoch. Its uniform number depends
on the seed and the key only, not on the order of the calls.
"""

from __future__ import annotations

import struct
from hashlib import blake2b
from typing import NamedTuple, Protocol

from torch import Tensor

from hsd_core.models.sampling import TokenId, pick

_FACTOR, _BITS = 6_364_136_223_846_793_005, (1 << 63) - 1


class ChoiceKey(NamedTuple):
    """
    role: "draft" (a drafter's token), "coin" (whether a verifier keeps one) or "own" (its correction or bonus).
    position: of the token, counted from the start of the context. epoch: see `Epochs`. number: distinguishes the draws
    or coins for one position of a tree.
    """

    role: str
    level: int
    position: int
    epoch: int
    number: int = 0


class Choices(Protocol):
    def draw(self, row: Tensor, key: ChoiceKey) -> TokenId:
        """A token's id from a (V,) row that sums to 1."""
        ...

    def accept(self, alpha: float, key: ChoiceKey) -> tuple[bool, float | None]:
        """True with probability alpha, and the coin that decided it (None if alpha is 0 or 1)."""
        ...


class SeededChoices:
    """Uniform numbers by a keyed hash (BLAKE2b): the same seed gives the same run on the same kernels."""

    def __init__(self, seed: int) -> None:
        self._seed = blake2b(str(seed).encode(), digest_size=32).digest()

    def _uniform(self, key: ChoiceKey) -> float:
        """In [0, 1)."""
        message = struct.pack("<5sxxxqqqq", key.role.encode(), *key[1:])
        number = int.from_bytes(blake2b(message, digest_size=8, key=self._seed).digest(), "little")
        return (number >> 11) * 2.0**-53

    def draw(self, row: Tensor, key: ChoiceKey) -> TokenId:
        return pick(row, lambda: self._uniform(key))

    def accept(self, alpha: float, key: ChoiceKey) -> tuple[bool, float | None]:
        if alpha >= 1.0 or alpha <= 0.0:
            return alpha >= 1.0, None
        coin = self._uniform(key)
        return coin < alpha, coin


class Epochs(Protocol):
    """After drafted tokens are dropped, a new epoch gives their positions new random choices."""

    def of(self, level: int, at: int) -> int:
        """The epoch of a level's choices for the positions after the first `at` tokens."""
        ...

    def cut(self, level: int, at: int) -> None:
        """A level has rejected the token after the first `at`, and with it everything drafted after that."""
        ...


class EpochsByCount:
    """For levels that run one after another: how often this level and those above have dropped tokens."""

    def __init__(self, levels: int) -> None:
        self._cuts = [0] * levels

    def of(self, level: int, at: int) -> int:
        """See `Epochs.of`."""
        return sum(self._cuts[level:])

    def cut(self, level: int, at: int) -> None:
        """See `Epochs.cut`."""
        self._cuts[level] += 1


class EpochsByCorrections:
    """For levels that run ahead: a hash of the corrections in the text that are this level's or one above's.

    The number of rejections depends on timing, as some of them concern text that was dropped later. The corrections in
    the text do not, so one seed gives one text at any speed.
    """

    def __init__(self) -> None:
        self._corrected: list[tuple[int, int]] = []  # (position, level), in the order of the text

    def of(self, level: int, at: int) -> int:
        """See `Epochs.of`."""
        epoch = 0
        for place, by in self._corrected:
            if place < at and by >= level:
                epoch = (epoch * _FACTOR + (place << 8) + by + 1) & _BITS
        return epoch

    def cut(self, level: int, at: int) -> None:
        """See `Epochs.cut`."""
        while self._corrected and self._corrected[-1][0] >= at:
            self._corrected.pop()
        self._corrected.append((at, level))


class Judge:
    """The choices of one verification: `level` judges the draft after the first `start` tokens of the context."""

    __slots__ = ("_choices", "_epoch", "_level", "_start")

    def __init__(self, choices: Choices, level: int, start: int, epoch: int) -> None:
        self._choices, self._level, self._start, self._epoch = choices, level, start, epoch

    def accept(self, alpha: float, depth: int, number: int = 0) -> tuple[bool, float | None]:
        """Whether an offer for the position `start + depth` is kept; `number`: its index in judging order."""
        return self._choices.accept(alpha, ChoiceKey("coin", self._level, self._start + depth, self._epoch, number))

    def draw(self, row: Tensor, depth: int) -> int:
        """The verifier's own token for the position `start + depth`; the row is on the host."""
        token: int = self._choices.draw(row, ChoiceKey("own", self._level, self._start + depth, self._epoch))
        return token
