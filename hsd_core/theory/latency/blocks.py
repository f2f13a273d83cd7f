"""Acceptances, blocks and rounds, of many plans at once.

A level hands up a block; a round is its verification by the level above. A verifier accepts each token of the level
below with one probability a_ij, independently of the others (Leviathan et al. 2023; the formulas of HSD assume it). Of
several candidate tokens at one position one is accepted more often: a_ij by their number.

A stop policy ends a block behind the round that brought a token whose row is not sure. Whether a row is sure is taken
as independent of the others too; a sure token is accepted more often than one that is not.

Every array has one row per plan, b; shorter distributions are padded with zeros. Near a length limit a round may commit
only as many tokens as there is room for; then the rows are not plans but rooms: row b of a plan's rounds has room for b
tokens (row 0 is never used).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hsd_core.theory.profiles.costs import Array
from hsd_core.theory.profiles.profile import TOKENWISE, Profile, ProfileLevel


def accepts(
    profile: Profile, below: int, level: int, n: int, *, rule: str = TOKENWISE, widths: tuple[int, ...] = ()
) -> Array:
    """For n tokens of `below`: P(`level` accepts each, given that it accepted those before it), (n,).

    Args:
        widths: of a tree: the tokens at each depth below one parent. A position is then a fork, accepted if one of its
            tokens is; beyond the tree the probability of its last fork is repeated.
    Raises:
        ProfileError: the profile has no acceptances for the rule.
    """
    if max(widths, default=1) == 1:
        return np.full(n, profile.accepts(below, level, rule))
    forks = [profile.by_width[below, level][k - 1] for k in widths]
    return np.array([*forks, *[forks[-1]] * (n - len(forks))])


def rows_of(drafter: ProfileLevel, block: int, bonus: bool) -> Array:
    """Rows of the verification of a level's block that is 0, 1, ..., `block` tokens deep: (block + 1,).

    Means, if the level offers several candidates. Without a bonus the last rows are not needed.
    """
    offered = drafter.offered(block)
    return 1.0 + (offered if bonus else np.append(0.0, offered[:-1]))


@lru_cache(maxsize=1024)  # the planner uses the same few again and again
def lookup_lengths(hit_rate: float, reach: tuple[float, ...], block: int) -> Array:
    """P(a lookup asked for `block` tokens returns n of them), n = 0, ..., block. Read-only."""
    head = reach[:block] or (1.0,)
    at_least = np.array([1.0, *(hit_rate * p for p in head), *[hit_rate * head[-1]] * (block - len(head))])
    dist: Array = at_least - np.append(at_least[1:], 0.0)
    dist.flags.writeable = False
    return dist


Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PlaceWork:
    """The contribution of the levels at one place: calls and ms (b,), the distribution of their blocks (b, n), and its
    last n (b,)."""

    calls: Array
    ms: Array
    dist: Array
    last: Ints


@dataclass(frozen=True, slots=True)
class Rounds:
    """One verification, including the drafting of its block.

    `dist[b, x]`: P(x tokens). `parts`: the contributions of the places below, per round of this one. `calls_ms`: the
    part of `ms` at this place. `row_ms`: the cost of one more row. `last`: the most tokens (b,).
    """

    ms: Array
    dist: Array
    last: Ints
    parts: tuple[PlaceWork, ...]
    calls_ms: Array
    row_ms: Array


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks handed up. `dist[b, n]`: P(n tokens). `row_ms`: the cost of one more row in the first forward.

    With stop policies, `rounds[b, h, x]`: P(a round begins with h tokens, all sure, and brings x); `length` (b,).
    """

    ms: Array
    dist: Array
    last: Ints
    parts: tuple[PlaceWork, ...]
    row_ms: Array
    rounds: Array | None = None
    length: Ints | None = None

    def fate(self, given: Array, sure: Array) -> tuple[Array, Array]:
        """Their verification: P(m accepted, then a rejection) and P(n tokens, all accepted), each (b, n).

        Args:
            given: P(a token is accepted, given that those before it were): (b, n - 1).
            sure: P(a token is sure), P(a sure one is accepted): (b, 2); (1, 0) without a policy.
        """
        kept = np.concatenate((np.ones((len(given), 1)), np.cumprod(given, axis=1)), axis=1)
        at_least = np.cumsum(self.dist[:, ::-1], axis=1)[:, ::-1]
        rejected, accepted = at_least[:, 1:] * kept[:, :-1] * (1.0 - given), self.dist * kept
        if self.rounds is not None and (some := np.flatnonzero(sure[:, 0] < 1.0)).size:
            prefix = self._prefixes(kept, sure)[some]
            accepted[some] = np.diagonal(prefix, axis1=1, axis2=2)
            rejected[some] = (prefix[:, :, :-1] - prefix[:, :, 1:]).sum(axis=1) - accepted[some, :-1]
        return rejected, accepted

    def _prefixes(self, kept: Array, sure: Array) -> Array:
        """P(a block has n tokens and the first m are accepted): (b, n, m)."""
        assert self.rounds is not None and self.length is not None
        n = self.dist.shape[1]
        found = np.zeros((len(kept), n, n))
        of_sure = sure[:, 1:] ** np.arange(n)
        for start in range(self.rounds.shape[1]):
            for brought in range(1, min(self.rounds.shape[2], n - start)):
                end, begun = start + brought, self.rounds[:, start, brought, None]
                all_sure = begun * sure[:, :1] ** brought
                whole = np.where(self.length[:, None] <= end, all_sure, 0.0)  # else another round follows
                found[:, end, : end + 1] += whole * of_sure[:, : end + 1]
                found[:, end, :start] += (begun - all_sure) * of_sure[:, :start]
                last = begun * kept[:, : brought + 1] - all_sure * of_sure[:, : brought + 1]
                found[:, end, start : end + 1] += of_sure[:, start, None] * last
        return found


Rows = TypeVar("Rows", PlaceWork, Rounds, Blocks)


def rows_of_record(of: Rows, b: slice | Ints) -> Rows:
    """A record with some of the rows of each array, also in its parts."""
    cut: dict[str, Any] = {one.name: x[b] for one in fields(of) if isinstance(x := getattr(of, one.name), np.ndarray)}
    if not isinstance(of, PlaceWork):
        cut["parts"] = tuple(rows_of_record(part, b) for part in of.parts)
    return replace(of, **cut)


def collect_blocks(inner: Rounds, length: Ints, sure: Array, rooms: Ints | None = None) -> Blocks:
    """Rounds of a verifier until at least `length` tokens are collected, or one that is not sure.

    Args:
        sure: P(a token is sure): (b,).
        rooms: the room of each row (b,), if the rows of `inner` are rooms: a round of a block with n tokens so far is
            its row rooms - n, and `length` is at most the room of its row. None: rows are plans.
    """
    dist, rounds = _renewal(inner.dist, length, sure, rooms)
    early = np.arange(dist.shape[1]) < length[:, None]
    begun = np.where(early, dist, 0.0)  # P(a round begins with n tokens collected)
    dist[early] = 0.0
    each = total(begun)
    if stopped := bool((sure < 1.0).any()):
        ended = rounds * (1.0 - sure[:, None] ** np.arange(rounds.shape[2]))[:, None]
        for start in range(rounds.shape[1]):
            dist[:, start : start + rounds.shape[2]] += ended[:, start]

    def over(per_round: Array) -> Array:
        if rooms is None:
            return per_round * each
        return total(np.stack([begun[:, n] * _left(per_round, rooms, n) for n in range(max(1, length.max()))], axis=1))

    last = length - 1 + inner.last if rooms is None else rooms
    below = (replace(part, calls=over(part.calls), ms=over(part.ms)) for part in inner.parts)
    own = PlaceWork(each, over(inner.calls_ms), dist, last)
    more = (rounds, length) if stopped else ()
    return Blocks(over(inner.ms), dist, last, (*below, own), inner.row_ms, *more)


def _renewal(steps: Array, length: Ints, sure: Array, rooms: Ints | None) -> tuple[Array, Array]:
    """v_0 = 1, v_n = sum over s < min(n, length) of v_s steps[n - s] P(n - s are sure): (b, longest length + x - 1);
    and `Blocks.rounds`, the terms v_s steps[n - s]."""
    out = np.zeros((len(steps), length.max() + steps.shape[1] - 1))
    rounds = np.zeros((len(steps), length.max(), steps.shape[1]))
    all_sure = sure[:, None] ** np.arange(steps.shape[1])
    out[:, 0] = 1.0
    for start in range(length.max()):
        starts = np.where(start < length, out[:, start], 0.0)
        rounds[:, start] = starts[:, None] * _left(steps, rooms, start)
        out[:, start : start + steps.shape[1]] += rounds[:, start] * all_sure
    return out, rounds


def _left(values: Array, rooms: Ints | None, held: int) -> Array:
    """The rows for rounds that begin with `held` tokens collected."""
    return values if rooms is None else values[np.maximum(rooms - held, 0)]


def total(values: Array) -> Array:
    """Row sums, added in order, so that padding zeros, and with them the other plans, do not change any bit."""
    return np.asarray(np.cumsum(values, axis=1)[:, -1])
