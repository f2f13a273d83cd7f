"""Every plan of a small profile, priced: slow, and with a recursion of its own.

Blocks are followed round by round (how many tokens are held after r rounds), not by a renewal sum. All block lengths
of a set of levels are carried at once: the leading axes of an array are T_0, T_1, ..., its last one counts tokens.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from hsd_core.theory import Profile, StackPlan


def every_plan(profile: Profile) -> dict[StackPlan, float]:
    """ms per token of every set of levels with every vector of block lengths (with a bonus, no lookups)."""
    target, out = profile.target, {}
    for size in range(target + 1):
        for below in combinations(range(target), size):
            levels = (*below, target)
            per_token = _every_length(profile, levels)
            for lengths in np.ndindex(per_token.shape):
                out[StackPlan(levels, tuple(t + 1 for t in lengths))] = float(per_token[lengths])
    return out


def _every_length(profile: Profile, levels: tuple[int, ...]) -> np.ndarray:
    """ms per token for every vector of block lengths of these levels: (T_max, T_max, ...)."""
    longest = profile.max_block
    dist, ms = np.ones(1), np.zeros(())  # a block of nothing
    for place, level in enumerate(levels):
        if place == 0 and len(levels) > 1:
            dist, ms = np.eye(longest + 1)[1:], np.arange(1, longest + 1) * profile.levels[level].cost(1)
            continue
        a = profile.acceptance[levels[place - 1]][level] if place else 0.0
        costs = profile.edge_cost.get((levels[place - 1], level) if place else (0, 0), profile.levels[level].cost)
        ms = ms + dist @ np.array([costs(n + 1) for n in range(dist.shape[-1])])
        yields = dist @ _given_drafts(dist.shape[-1] - 1, a)
        if level == profile.target:
            return (ms + profile.round_ms) / (yields @ np.arange(yields.shape[-1]))
        collected = [_collect(yields, length) for length in range(1, longest + 1)]
        widest = max(block.shape[-1] for _, block in collected)
        padded = [np.pad(b, [(0, 0)] * (b.ndim - 1) + [(0, widest - b.shape[-1])]) for _, b in collected]
        dist, ms = np.stack(padded, axis=-2), np.stack([rounds * ms for rounds, _ in collected], axis=-1)
    raise AssertionError("a plan ends in the target")


def _given_drafts(most: int, a: float) -> np.ndarray:
    """P(x tokens | n drafted), coin by coin: (most + 1, most + 2)."""
    out = np.zeros((most + 1, most + 2))
    for n in range(most + 1):
        alive = 1.0
        for kept in range(n):
            out[n, kept + 1] = alive * (1.0 - a)  # the kept ones and a correction
            alive *= a
        out[n, n + 1] = alive  # all of them and a bonus
    return out


def _collect(yields: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean rounds until `length` tokens are held, and the distribution of how many are held then."""
    steps = yields.shape[-1] - 1
    held = np.zeros((*yields.shape[:-1], length + steps))
    held[..., 0] = 1.0
    done, rounds = np.zeros_like(held), np.zeros(yields.shape[:-1])
    for _ in range(length):  # a round yields a token at least
        rounds += held[..., :length].sum(axis=-1)
        after = np.zeros_like(held)
        for x in range(1, steps + 1):
            after[..., x : x + length] += held[..., :length] * yields[..., x, None]
        done[..., length:] += after[..., length:]
        held = after
        held[..., length:] = 0.0
    return rounds, done
