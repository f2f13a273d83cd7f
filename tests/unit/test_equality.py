"""What counts as equal to plain decoding, and what a near tie is."""

from __future__ import annotations

import math

import pytest

from hsd_core.core.events import Bonus, Commit, Committed, Event, Footer, Row
from hsd_core.trace.comparison import TIE, compare, margins


def plain(*ids: int, margin: float | tuple[float, ...] = 5.0, reason: str = "length") -> list[Event]:
    """Plain decoding: one token a round, the second best `margin` logits (one for each, or all) behind the first."""
    gaps = margin if isinstance(margin, tuple) else (margin,) * len(ids)
    events: list[Event] = []
    for i, (id_, apart) in enumerate(zip(ids, gaps, strict=True)):
        second = 0.5 * math.exp(-apart)
        events.append(Bonus(i, 0, i, i, id_, 0.5, i, Row((id_, 99), (0.5, second), 0.5 - second)))
        events.append(Commit(i, i, (Committed(i, id_, 0, "bonus", "target", ()),), i))
    return [*events, Footer(reason, len(ids), len(ids), 0, 1, ())]


def test_the_same_ids_are_equal():
    same = compare(plain(1, 2, 3), plain(1, 2, 3))
    assert (same.equal, same.diverges, same.holds) == (3, False, True)


def test_a_first_difference_is_found_with_plain_decodings_margin():
    same = compare(plain(1, 7, 3), plain(1, 2, 3, margin=0.25))
    assert (same.equal, same.diverges) == (1, True)
    assert same.margin == pytest.approx(0.25)


@pytest.mark.parametrize(("margin", "holds"), [(TIE / 2, True), (TIE * 2, False), (5.0, False)])
def test_only_a_near_tie_may_differ(margin, holds):
    assert compare(plain(1, 7), plain(1, 2, margin=margin)).holds is holds


@pytest.mark.parametrize("at", range(4))
def test_the_margin_is_that_of_the_first_difference_and_of_no_other_place(at):
    gaps = (0.1, 0.2, 0.3, 0.4)
    own = [1, 2, 3, 4]
    own[at] = 9
    found = compare(plain(*own), plain(1, 2, 3, 4, margin=gaps))
    assert found.equal == at and found.margin == pytest.approx(gaps[at])
    tie = tuple(TIE / 2 if i == at else 5.0 for i in range(4))
    beside = tuple(5.0 if i == at else TIE / 2 for i in range(4))
    assert compare(plain(*own), plain(1, 2, 3, 4, margin=tie)).holds
    assert not compare(plain(*own), plain(1, 2, 3, 4, margin=beside)).holds


def test_a_missing_end_is_no_tie_however_near_the_next_token_was():
    short, whole = plain(1, 2, margin=TIE / 2), plain(1, 2, 3, margin=TIE / 2)
    for run, beside in ((short, whole), (whole, short)):
        found = compare(run, beside)
        assert (found.equal, found.diverges, found.margin, found.holds) == (2, True, None, False)
    # a tie between going on and an end is one of two ids, as any other
    assert compare(plain(1, 2, 0, reason="eos"), plain(1, 2, 3, 4, margin=TIE / 2)).holds


def test_a_text_that_ends_early_is_not_equal():
    same = compare(plain(1, 2, reason="eos"), plain(1, 2, 3))
    assert same.diverges and not same.holds


def test_a_stopped_run_is_compared_as_far_as_it_came():
    assert compare(plain(1, 2, reason="stopped"), plain(1, 2, 3)).holds
    assert not compare(plain(1, 7, reason="stopped"), plain(1, 2, 3)).holds


def test_without_rows_a_difference_never_passes_as_a_tie():
    bare = [e for e in plain(1, 2) if not isinstance(e, Bonus)]
    assert not compare(plain(1, 7), bare).holds


def test_every_place_of_a_plain_run_has_its_margin():
    assert margins(plain(1, 2, 3, margin=(0.5, 1e-4, 2.0))) == pytest.approx((0.5, 1e-4, 2.0), rel=1e-4)
    alone = Bonus(0, 0, 0, 0, 1, 1.0, 0, Row((1,), (1.0,), 0.0))
    assert margins([alone]) == (None,), "a row of one token has no second choice"
