"""Rounds and blocks of many plans at once: every array has one row per plan, b; shorter laws end in zeros.

A block is handed up by a level, a round is a verification of one by the level above. What the recursion of
`recursion` needs of them: their mean ms, the law of their tokens, and what a verifier makes of a block.

Near a length limit a round may commit no more tokens than there is room for. Then the rows are not plans but rooms:
row b of a plan's rounds has room for b tokens (row 0 is never played).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hsd_core.theory.latency.accepts import ACCEPTED, Accepts
from hsd_core.theory.profiles.costs import Array

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Place:
    """What the levels at one place contribute: calls and ms (b,), the law of their blocks (b, n), its last n (b,)."""

    calls: Array
    ms: Array
    law: Array
    last: Ints


@dataclass(frozen=True, slots=True)
class Rounds:
    """One verification and all that led to it.

    `law[b, x, mark]`: P(x tokens, the last of them came so). `parts`: of the places below, per round of this one.
    `calls_ms`: this place's own part of `ms`. `row_ms`: what a row more would cost it. `last`: the most tokens (b,).
    """

    ms: Array
    law: Array
    last: Ints
    parts: tuple[Place, ...]
    calls_ms: Array
    row_ms: Array


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks handed up. `law[b, n]`: P(n tokens). `length`: T (b,); `inner`: the rounds they were collected from, if.

    `row_ms`: what a row more in the first forward would cost. `rooms`: the room of each row (b,), where the rows of
    `inner` are rooms: a round of a block that holds n tokens is its row rooms - n. None: rows are plans.
    """

    ms: Array
    law: Array
    length: Ints
    last: Ints
    parts: tuple[Place, ...]
    inner: Rounds | None
    row_ms: Array
    rooms: Ints | None = None

    def with_room(self, rooms: Ints) -> Blocks:
        """Of blocks whose rows are rooms: those with room for so many tokens."""
        return replace(some(replace(self, inner=None), rooms), inner=self.inner, rooms=rooms)

    def fate(self, given: Sequence[Accepts], alike: bool) -> tuple[Array, Array]:
        """What the verifiers above do to them: P(m accepted, then a reject), P(n tokens, all accepted): (b, n).

        Args:
            alike: a token's mark does not matter.
        """
        marks = np.array([one.by_mark for one in given])
        if self.inner is None or alike:
            # Only the length of a block matters: each token is accepted by its position, or all alike.
            n = self.law.shape[1] - 1
            a = (
                np.array([one.drafted(n) for one in given])
                if self.inner is None
                else np.repeat(marks[:, :1], n, axis=1)
            )
            kept = np.concatenate((np.ones((len(a), 1)), np.cumprod(a, axis=1)), axis=1)
            return _at_least(self.law)[:, 1:] * kept[:, :-1] * (1.0 - a), self.law * kept
        refused, passed = _fate_of_round(self.inner.law, marks)
        whole = _renewal(passed, self.length, self.rooms)
        rejected = np.zeros_like(whole)
        for start in range(self.length.max()):
            starts = np.where(start < self.length, whole[:, start], 0.0)
            rejected[:, start : start + refused.shape[1]] += starts[:, None] * _left(refused, self.rooms, start)
        whole[_before(whole, self.length)] = 0.0
        return rejected, whole


Rows = TypeVar("Rows", Place, Rounds, Blocks)


def some(of: Rows, b: slice | Ints) -> Rows:
    """Of some of the rows: of each array of a record, and of those of its parts."""
    cut: dict[str, Any] = {one.name: x[b] for one in fields(of) if isinstance(x := getattr(of, one.name), np.ndarray)}
    if not isinstance(of, Place):
        cut["parts"] = tuple(some(part, b) for part in of.parts)
    return replace(of, **cut)


def collected(inner: Rounds, length: Ints, rooms: Ints | None = None) -> Blocks:
    """Rounds of verifiers until at least `length` tokens are held.

    Args:
        rooms: see `Blocks`; `length` is then no more than the room of its row.
    """
    law = _renewal(inner.law.sum(axis=2), length, rooms)
    early = _before(law, length)
    begun = np.where(early, law, 0.0)  # P(a round begins with n tokens held)
    law[early] = 0.0
    rounds = total(begun)

    def over(per_round: Array) -> Array:
        if rooms is None:
            return per_round * rounds
        return total(np.stack([begun[:, n] * _left(per_round, rooms, n) for n in range(max(1, length.max()))], axis=1))

    last = length - 1 + inner.last if rooms is None else rooms
    below = (replace(part, calls=over(part.calls), ms=over(part.ms)) for part in inner.parts)
    own = Place(rounds, over(inner.calls_ms), law, last)
    return Blocks(over(inner.ms), law, length, last, (*below, own), inner, inner.row_ms, rooms)


def _renewal(steps: Array, length: Ints, rooms: Ints | None) -> Array:
    """v_0 = 1, v_n = sum over s < min(n, length) of v_s steps[n - s]: (b, longest length + x - 1)."""
    out = np.zeros((len(steps), length.max() + steps.shape[1] - 1))
    out[:, 0] = 1.0
    for start in range(length.max()):
        starts = np.where(start < length, out[:, start], 0.0)
        out[:, start : start + steps.shape[1]] += starts[:, None] * _left(steps, rooms, start)
    return out


def _left(values: Array, rooms: Ints | None, held: int) -> Array:
    """Of the rounds of a block, those that begin when it holds so many tokens."""
    return values if rooms is None else values[np.maximum(rooms - held, 0)]


def total(values: Array) -> Array:
    """Row by row, added in their order: the zeros at a law's end, and so the plans priced with it, change no bit."""
    return np.asarray(np.cumsum(values, axis=1)[:, -1])


def _before(law: Array, length: Ints) -> NDArray[np.bool_]:
    """Where n < length: the shape of `law`."""
    return np.arange(law.shape[1]) < length[:, None]


def _at_least(law: Array) -> Array:
    """P(n tokens or more), from P(n tokens)."""
    return np.asarray(np.cumsum(law[:, ::-1], axis=1)[:, ::-1])


def _fate_of_round(law: Array, marks: Array) -> tuple[Array, Array]:
    """Of one round's tokens: P(m accepted by the verifier above, then a reject), P(x tokens, all accepted): (b, x)."""
    a = marks[:, ACCEPTED, None]
    by_length = law.sum(axis=2)
    passing = np.einsum("bxm,bm->bx", law, marks)  # P(x tokens, the last one passes)
    kept = a ** np.arange(law.shape[1], dtype=np.float64)
    longer = np.pad(_at_least(by_length)[:, 2:], ((0, 0), (0, 1)))  # P(more than x + 1 tokens)
    refused = kept[:, :-1] * ((1.0 - a) * longer + (by_length - passing)[:, 1:])
    passed = np.pad(kept[:, :-1] * passing[:, 1:], ((0, 0), (1, 0)))
    return refused, passed
