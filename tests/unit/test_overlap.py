"""Acceptances behind accepted tokens: over all texts a target may write, the tally is what enumeration says."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from toys import table

from hsd_core.measure.calibrate.overlap import BONUS_AFTER, count, walk
from hsd_core.measure.calibrate.reading import Reading
from hsd_core.measure.calibrate.tally import Tally

V, PROMPT = 3, (1, 2)
LOW, MID, TOP = (table(V, seed) for seed in (4, 9, 1))
TEXTS = list(product(range(V), repeat=BONUS_AFTER))


def row(law, text):
    return law((*PROMPT, *text))


def chance(law, text):
    """P(the text) under a law."""
    return float(torch.stack([row(law, text[:m])[x] for m, x in enumerate(text)]).prod())


def behind(text, laws, guesses=None):
    """A text and one more token, read: what stands last is judged behind all of the text."""
    rows = {i: torch.stack([row(law, text[:m]) for m in range(len(text) + 1)]) for i, law in laws.items()}
    tally = Tally(1)
    count(tally, 0, Reading(torch.tensor([*text, 0]), rows, guesses=guesses or {}), "")
    return tally


def in_all(found, key):
    """The ratio of sums over texts, each as often as the target writes it."""
    over = sum(chance(TOP, text) * (tally.ratio(key) or 0.0) * tally.weight(key) for text, tally in found.items())
    return over / sum(chance(TOP, text) * tally.weight(key) for text, tally in found.items())


def shared(text):
    return float(torch.minimum(row(MID, text), row(TOP, text)).sum())


def test_a_bonus_stands_behind_tokens_that_both_levels_accepted():
    def accepted(text, m):  # P(token m: drafted by LOW, accepted by MID, then by TOP)
        low, mid, top = (row(law, text[:m])[text[m]] for law in (LOW, MID, TOP))
        return float(torch.minimum(low, mid) * torch.clamp(top / mid, max=1.0))

    weight = {text: torch.tensor([accepted(text, m) for m in range(len(text))]).prod().item() for text in TEXTS}
    expected = sum(w * shared(text) for text, w in weight.items()) / sum(weight.values())
    found = {text: behind(text, {0: LOW, 1: MID, 2: TOP}) for text in TEXTS}
    assert in_all(found, ("bonus", 1, 2)) == pytest.approx(expected)
    assert in_all(found, ("bonus", 1, 2, 0)) == pytest.approx(expected)


def test_a_bonus_behind_a_guess_counts_where_the_guess_is_the_text():
    guess = (2, 0)
    guesses = {0: [guess, guess, guess]}  # the later ones reach beyond the text
    found = {text: behind(text, {1: MID, 2: TOP}, guesses) for text in TEXTS}
    counted = {text for text, tally in found.items() if tally.weight(("bonus", 1, 2, 0)) > 0.0}
    assert counted == {guess}
    assert in_all(found, ("bonus", 1, 2, 0)) == pytest.approx(shared(guess))
    # Both levels keep the guess with min(p_j, p_i) of each of its tokens, where the target writes it with p_i.
    kept = torch.stack([torch.minimum(row(MID, guess[:m]), row(TOP, guess[:m]))[x] for m, x in enumerate(guess)])
    assert found[guess].weight(("bonus", 1, 2)) == pytest.approx(float(kept.prod()) / chance(TOP, guess))


def test_drafts_of_a_fed_drafter_count_where_rounds_begin():
    ids, sure = (0, 1, 2, 0), torch.eye(V, dtype=torch.float64)
    target, walked = sure[list(ids)], sure[[0, 2, 2, 0]]  # the second token is refused: the next round begins behind it
    drafts = [(start, table(V, 3)((start,)).repeat(len(ids) - start, 1)) for start in range(3)]
    tally = Tally(1)
    count(tally, 0, Reading(torch.tensor(ids), {0: walked, 1: target}, drafts={0: drafts}), "")
    first, third = ([float(row[x]) for row, x in zip(drafts[s][1], ids[s:], strict=True)] for s in (0, 2))
    assert tally.ratio(("place", 0, 1, 1)) == pytest.approx((first[0] + third[0]) / 2)
    behind_first = first[0] * first[1] + third[0] * third[1]
    assert tally.ratio(("place", 0, 1, 2)) == pytest.approx(behind_first / (first[0] + third[0]))


def test_a_lookups_one_number_counts_guesses_where_rounds_begin():
    ids, sure = (0, 1, 2, 0), torch.eye(V, dtype=torch.float64)
    # One of two is kept; then, behind the correction, none of one. The guess between them would be right.
    guesses = {0: [(0, 2), (1,), (0,), ()]}
    tally = Tally(1)
    count(tally, 0, Reading(torch.tensor(ids), {1: sure[list(ids)]}, guesses=guesses), "")
    assert tally.ratio(("pair", 0, 1)) == pytest.approx(1 / 3)
    assert tally.weight(("pair", 0, 1)) == pytest.approx(3)
    assert tally.ratio(("hit", 0)) == pytest.approx(2 / 3)


def kept_by_two(q, p):
    """(V,) probability that a fork of two drawn without replacement keeps each token, over all draws."""
    kept = torch.zeros(V, dtype=torch.float64)
    for first in range(V):
        alpha = min(1.0, float(p[first] / q[first]))
        kept[first] += q[first] * alpha
        left, rest = (p - q).clamp_min(0), q.clone()
        rest[first] = 0.0
        if float(left.sum()) > 0.0:
            kept += q[first] * (1 - alpha) * torch.minimum(left / left.sum(), rest / rest.sum())
    return kept


def test_drawn_forks_are_kept_as_often_as_enumeration_says_by_width_and_by_depth():
    texts, times = list(product(range(V), repeat=3)), 300
    wide, over, under = 0.0, [0.0, 0.0], [0.0, 0.0]
    for text in texts:
        forks = [kept_by_two(row(LOW, text[:m]), row(TOP, text[:m])) for m in range(3)]
        alone = [float(fork.sum()) for fork in forks]
        passed = [float(fork[x] / row(TOP, text[:m])[x]) for m, (fork, x) in enumerate(zip(forks, text, strict=True))]
        begins = walk([passed[s:] for s in range(3)])
        wide += chance(TOP, text) * sum(alone) / 3
        for m, at in ((0, range(3)), (1, range(2))):
            weights = [chance(TOP, text) * begins[s] * (passed[s] if m else 1.0) for s in at]
            over[m] += sum(w * alone[s + m] for w, s in zip(weights, at, strict=True))
            under[m] += sum(weights)
    found = {key: [0.0, 0.0] for key in (("width", 0, 1, 2), ("fork", 0, 1, 1, 2), ("fork", 0, 1, 2, 2))}
    for text in texts:
        rows = {i: torch.stack([row(law, text[:m]) for m in range(3)]) for i, law in ((0, LOW), (1, TOP))}
        tally = Tally(times)
        for number in range(times):  # every one draws anew
            count(tally, number, Reading(torch.tensor(text), rows), "")
        for key, sums in found.items():
            sums[0] += chance(TOP, text) * (tally.ratio(key) or 0.0) * tally.weight(key)
            sums[1] += chance(TOP, text) * tally.weight(key)
    width, first, second = (a / b for a, b in found.values())
    assert width == pytest.approx(wide, abs=0.01)
    assert first == pytest.approx(over[0] / under[0], abs=0.01)
    assert second == pytest.approx(over[1] / under[1], abs=0.01)
    assert abs(second - width) > 0.03, "by depth is another acceptance than by width alone"
