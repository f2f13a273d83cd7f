"""Passes are timed in turn: everything once a turn, from another place each time, and what warms up is dropped."""

from __future__ import annotations

import pytest

from hsd_core.core.driver import Stopped
from hsd_core.measure import timed
from hsd_core.measure.timed import cost_of, in_turns, median_interval, rotated


def noted(cells: str) -> tuple[dict[str, timed.Task], list[str]]:
    """Tasks that write down when they are asked, and take as many ms as were asked before."""
    asked: list[str] = []

    def task(cell: str) -> timed.Task:
        return lambda: float(asked.append(cell) or len(asked))  # type: ignore[func-returns-value]

    return {cell: task(cell) for cell in cells}, asked


def test_every_cell_is_met_once_a_turn_and_each_turn_begins_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timed, "STEP", 1)
    tasks, asked = noted("abc")
    told: list[tuple[int, int]] = []
    found = in_turns(tasks, 2, 1, progress=lambda done, of: told.append((done, of)))
    assert "".join(asked) == "abc" + "bca" + "cab"
    assert found == {"a": [6.0, 8.0], "b": [4.0, 9.0], "c": [5.0, 7.0]}, "the first turn warmed up"
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_no_turn_begins_after_the_time_but_the_fewest_are_made() -> None:
    tasks, asked = noted("ab")
    assert [len(ms) for ms in in_turns(tasks, 9, 2, fewest=3, seconds=0.0).values()] == [3, 3]
    assert len(asked) == 2 * 5


def test_it_stops_between_two_passes() -> None:
    tasks, asked = noted("abc")
    with pytest.raises(Stopped):
        in_turns(tasks, 4, 0, stop=lambda: len(asked) == 2)
    assert asked == ["a", "b"]


def test_an_order_rotates_and_a_cost_has_its_interval() -> None:
    assert rotated("abcd", 5) == ["b", "c", "d", "a"]
    assert cost_of([3.0, 1.0, 2.0], 1, rows=4) == {"what": "cost", "rows": 4, "ms": 2.0, "interval": [1.0, 3.0]}


@pytest.mark.parametrize(("n", "ends"), [(5, (1, 5)), (6, (1, 6)), (9, (2, 8)), (12, (3, 10))])
def test_the_median_s_interval_is_the_narrowest_that_holds_it_in_95_of_100(n: int, ends: tuple[int, int]) -> None:
    """As tables of order statistics have it (the range where even that holds it less often)."""
    _, *found = median_interval([float(value) for value in range(n, 0, -1)])
    assert tuple(found) == ends
