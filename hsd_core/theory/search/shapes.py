"""Shapes of trees: how many tokens a drafter should offer side by side at each depth.

A tree with widths w_1, w_2, ... has w_1 nodes at depth 1, w_1 w_2 at depth 2 and so on, and is kept down to depth m
with probability A(w_1) ... A(w_m), where A(k) is the acceptance of a fork of k tokens. So what a tree is worth behind a
depth depends only on how many nodes lie there and how many may follow, and the best shape of each depth and number of
nodes follows by dynamic programming (as those of Sequoia, arXiv 2402.12374, do from acceptances by place).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

MOST_NODES = 24  # beyond them a row more has cost more than it kept on every machine that was measured
MOST_DEPTH = 8


def best_shapes(
    by_width: Sequence[float], *, nodes: int = MOST_NODES, depth: int = MOST_DEPTH
) -> list[tuple[int, ...]]:
    """The shapes that keep the most tokens in the mean, one for each depth and number of nodes; those that fork.

    Args:
        by_width: acceptance of a fork of 1, 2, ... tokens.
        nodes: the most that a tree may have. depth: the most depths.
    """

    @cache
    def best(layer: int, left: int, deep: int) -> tuple[float, tuple[int, ...]]:
        """Tokens kept behind `layer` nodes side by side, with `left` nodes to place on `deep` more depths."""
        if not deep:
            return 0.0, ()
        found: tuple[float, tuple[int, ...]] = (-1.0, ())
        for wide, accepted in enumerate(by_width, start=1):
            rest = left - layer * wide
            if rest < layer * wide * (deep - 1):  # every depth below takes as many nodes at least
                break
            kept, below = best(layer * wide, rest, deep - 1)
            worth = accepted * (1.0 + kept)
            if worth > found[0]:
                found = worth, (wide, *below)
        return found

    shapes = {best(1, most, deep)[1] for deep in range(1, depth + 1) for most in range(deep + 1, nodes + 1)}
    return sorted(shape for shape in shapes if max(shape, default=1) > 1)
