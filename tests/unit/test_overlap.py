"""Acceptances of lookups and forks: over all texts a target may write, the tally is what enumeration says."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from toys import table

from hsd_core.measure.calibrate.acceptance import count
from hsd_core.measure.calibrate.reading import Reading
from hsd_core.measure.intervals import Tally

V, PROMPT = 3, (1, 2)
LOW, TOP = (table(V, seed) for seed in (4, 1))


def row(dist, text):
    return dist((*PROMPT, *text))


def chance(dist, text):
    """P(the text) under a distribution."""
    return float(torch.stack([row(dist, text[:m])[x] for m, x in enumerate(text)]).prod())


def test_a_lookups_one_number_counts_guesses_where_rounds_begin():
    ids, sure = (0, 1, 2, 0), torch.eye(V, dtype=torch.float64)
    # One of two is kept; then, behind the correction, none of one. The guess between them would be right.
    guesses = {0: [(0, 2), (1,), (0,), ()]}
    tally = Tally(1)
    count(tally, 0, Reading(torch.tensor(ids), {1: sure[list(ids)]}, guesses=guesses))
    assert tally.ratio(("pair", 0, 1)) == pytest.approx(1 / 3)
    assert tally.weight(("pair", 0, 1)) == pytest.approx(3)
    assert tally.ratio(("hit", 0)) == pytest.approx(2 / 3)


def kept_by_two(q, p):
    """Probability that a fork of two drawn without replacement keeps one of them, over all draws."""
    kept = 0.0
    for first in range(V):
        alpha = min(1.0, float(p[first] / q[first]))
        kept += float(q[first]) * alpha
        left, rest = (p - q).clamp_min(0), q.clone()
        rest[first] = 0.0
        if float(left.sum()) > 0.0:
            kept += float(q[first]) * (1 - alpha) * float(torch.minimum(left / left.sum(), rest / rest.sum()).sum())
    return kept


def test_drawn_forks_are_kept_as_often_as_enumeration_says():
    times, said, found = 120, 0.0, 0.0
    for text in product(range(V), repeat=3):
        rows = {i: torch.stack([row(dist, text[:m]) for m in range(3)]) for i, dist in ((0, LOW), (1, TOP))}
        said += chance(TOP, text) * sum(kept_by_two(q, p) for q, p in zip(rows[0], rows[1], strict=True)) / 3
        tally = Tally(times)
        for number in range(times):  # every one draws again
            count(tally, number, Reading(torch.tensor(text), rows))
        found += chance(TOP, text) * (tally.ratio(("width", 0, 1, 2)) or 0.0)
    assert found == pytest.approx(said, abs=0.016)
