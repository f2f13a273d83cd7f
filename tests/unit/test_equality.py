"""What counts as equal to plain decoding, and what a near tie is."""

from __future__ import annotations

import math

import pytest

from hsd_core.equality import TIE, compare
from hsd_core.trace import Bonus, Commit, Committed, Event, Footer, Row


def plain(*ids: int, margin: float = 5.0, reason: str = "length") -> list[Event]:
    """Plain decoding: one token a round, the second best `margin` logits behind the first."""
    second = 0.5 * math.exp(-margin)
    events: list[Event] = []
    for i, id_ in enumerate(ids):
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


def test_a_text_that_ends_early_is_not_equal():
    same = compare(plain(1, 2, reason="eos"), plain(1, 2, 3))
    assert same.diverges and not same.holds


def test_a_stopped_run_is_compared_as_far_as_it_came():
    assert compare(plain(1, 2, reason="stopped"), plain(1, 2, 3)).holds
    assert not compare(plain(1, 7, reason="stopped"), plain(1, 2, 3)).holds


def test_without_rows_a_difference_never_passes_as_a_tie():
    bare = [e for e in plain(1, 2) if not isinstance(e, Bonus)]
    assert not compare(plain(1, 7), bare).holds
