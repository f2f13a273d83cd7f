"""Outputs that end by repeating themselves, as a quarter of a small model's greedy ones do."""

from __future__ import annotations

from collections.abc import Sequence

LONGEST_PERIOD, FEWEST_TURNS, SHORTEST_LOOP = 48, 3, 12  # tokens, times, tokens


def loop_from(ids: Sequence[int]) -> int | None:
    """Where an output starts to repeat itself until its end, or None: the first copy of the pattern is not counted.

    A loop is a pattern of up to 48 tokens, seen at least 3 times and over at least 12 tokens at the very end. What
    follows the index only flatters n-gram and agreement figures.
    """
    found: tuple[int, int] | None = None
    for period in range(1, min(LONGEST_PERIOD, len(ids) // FEWEST_TURNS) + 1):
        start = len(ids) - period
        while start > 0 and ids[start - 1] == ids[start - 1 + period]:
            start -= 1
        long_enough = len(ids) - start >= max(FEWEST_TURNS * period, SHORTEST_LOOP)
        if long_enough and (found is None or start < found[0]):
            found = start, period
    return None if found is None else sum(found)
