"""The line before the engine: everybody counts, nobody fills it, and who waits is told how long."""

from __future__ import annotations

import asyncio

import pytest
from pagekit import awaited
from standing import arrive, run

from app.serve.line import line as lines
from app.serve.line.known_runs import Run, Visitor
from app.serve.line.line import Left, Line, Refused


@pytest.fixture(autouse=True)
def looking_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LOOK_S", 0.0)


async def served(line: Line, runs: list[Run]) -> list[str]:
    """The order in which runs get their turn, each leaving at once."""
    order: list[str] = []
    while len(order) < len(runs):
        await asyncio.sleep(0)
        for now in line.running:
            order.append(now.name)
            line.leave(now)
    return order


def test_pages_and_calls_stand_in_one_line_and_each_is_told_who_is_before_it() -> None:
    async def check() -> None:
        line, runs = Line(), [run("a"), run("call", page=False), run("b"), run("c")]
        await arrive(line, *runs)
        assert line.runs(runs[0])
        assert [line.place(r)[0] for r in runs[1:]] == [1, 2, 3]
        runs[1].stopped.set()
        assert [line.place(r)[0] for r in runs[2:]] == [1, 2], "a run that was stopped is before nobody"
        line.leave(runs[0])

    awaited(check())


def test_as_many_runs_have_their_turn_at_a_time_as_the_engine_works_on() -> None:
    async def check() -> None:
        places, runs = 2, [run(f"{i}") for i in range(5)]
        line = Line(at_once=lambda: places)
        await arrive(line, *runs)
        assert line.running == runs[:2]
        assert [line.place(r)[0] for r in runs[2:]] == [2, 3, 4]
        line.leave(runs[0])
        while not line.runs(runs[2]):
            await asyncio.sleep(0)
        assert line.running == runs[1:3], "the one that goes on keeps its place"
        places = 3  # another machine has come
        while not line.runs(runs[3]):
            await asyncio.sleep(0)
        assert line.running == runs[1:4]
        places = 1  # and two have gone
        for over in runs[1:3]:
            line.leave(over)
            await asyncio.sleep(0.01)
        assert line.running == [runs[3]]
        line.leave(runs[3])

    awaited(check())


@pytest.mark.parametrize("others", [0, 2])
def test_a_run_that_was_stopped_before_it_stood_in_line_leaves_and_holds_up_nobody(others: int) -> None:
    async def check() -> None:
        line, stopped, after = Line(), run("stopped"), run("after")
        stopped.stopped.set()
        before = [run(f"before {i}") for i in range(others)]
        *_, task, _ = await arrive(line, *before, stopped, after)
        with pytest.raises(Left, match="stopped before it began"):
            await task
        assert await served(line, [*before, after]) == [*(r.name for r in before), "after"]

    awaited(check())


def test_a_script_with_many_calls_delays_a_page_by_one_of_them() -> None:
    async def check() -> list[str]:
        line = Line()
        calls = [run(f"call {i}", page=False) for i in range(6)]
        pages = [run(f"page {i}") for i in range(2)]
        await arrive(line, *calls, *pages)
        return await served(line, calls + pages)

    assert awaited(check()) == ["call 0", "page 0", "call 1", "page 1", "call 2", "call 3", "call 4", "call 5"]


def test_a_run_of_a_page_gives_way_to_who_comes_soon_after_and_had_nothing() -> None:
    now = 100.0

    async def check() -> list[str]:
        nonlocal now
        line = Line(lambda: now)
        for i in range(9):
            await arrive(line, had := run(f"heavy {i}", session="heavy"))
            now += 10
            line.leave(had)
            await asyncio.sleep(0)
        await arrive(line, running := run("running"), tenth := run("heavy 9", session="heavy"))
        now += 60
        await arrive(line, soon := run("soon"))
        now += 60
        await arrive(line, late := run("late"))
        return await served(line, [running, soon, tenth, late])

    assert awaited(check()) == ["running", "soon", "heavy 9", "late"]


def test_one_client_has_two_runs_and_is_told_why_a_third_is_refused() -> None:
    async def check() -> None:
        line = Line()
        await arrive(line, *(run(f"{i}", session="mine") for i in range(2)))
        (third, other) = await arrive(line, run("3", session="mine"), run("4", session="another"))
        with pytest.raises(Refused, match="stop one or wait"):
            await third
        assert not other.done()

    awaited(check())


def test_a_script_of_many_sessions_cannot_keep_a_page_of_its_own_address_out() -> None:
    async def check() -> None:
        line = Line()
        tasks = await arrive(line, *(run(f"call {i}", page=False) for i in range(60)))
        refused = [t for t in tasks if t.done() and t.exception()]
        assert len(refused) == 60 - lines.FOR_CALLS
        with pytest.raises(Refused, match=r"places for API calls are taken; try again in"):
            await refused[0]
        await arrive(line, mine := run("mine"))
        assert line.place(mine)[0] == 1, "behind the one that runs, before all that wait"

    awaited(check())


def test_many_addresses_together_leave_places_for_pages_and_a_full_line_says_so() -> None:
    async def check() -> None:
        line = Line()
        crowd = [run(f"call {i}", page=False, address=f"10.0.0.{i}") for i in range(40)]
        tasks = await arrive(line, *crowd)
        assert sum(t.done() and t.exception() is not None for t in tasks) == 40 - lines.FOR_CALLS
        pages = await arrive(line, *(run(f"page {i}", address=f"10.0.1.{i}") for i in range(50)))
        refused = [t for t in pages if t.done()]
        assert len(refused) == 50 - (lines.PLACES - lines.FOR_CALLS)
        with pytest.raises(Refused, match=rf"all {lines.PLACES} places.*replay a recording"):
            await refused[0]

    awaited(check())


def test_who_fills_the_line_gives_its_last_place_to_who_comes_from_elsewhere() -> None:
    async def check() -> None:
        line = Line()
        tasks = await arrive(line, *(run(f"many {i}") for i in range(lines.PLACES)))
        elsewhere = run("elsewhere", address="10.0.0.2")
        (mine,) = await arrive(line, elsewhere)
        assert not mine.done()
        assert line.place(elsewhere)[0] == 1, "behind the one that runs"
        with pytest.raises(Refused, match="your place went to a page that had fewer runs; try again in"):
            await tasks[-1]
        assert not any(task.done() for task in tasks[1:-1])

    awaited(check())


def test_a_run_has_no_place_before_somebody_listens_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "HEARD_S", 0.2)

    async def check() -> None:
        line, heard = Line(), run("heard")
        unheard = [Run(f"unheard {i}", Visitor((f"{i}",), "10.0.0.1", True), lambda _: False) for i in range(100)]
        tasks = await arrive(line, *unheard, heard)
        await tasks[-1]
        assert line.runs(heard)
        with pytest.raises(Left, match="nobody asked"):
            await tasks[0]

    awaited(check())


def test_who_leaves_or_is_stopped_while_waiting_leaves_the_line() -> None:
    async def check() -> None:
        line, left = Line(), {"gone"}
        first, stopped, last = run("first"), run("stopped"), run("last")
        gone = Run("gone", Visitor(("gone",)), gone=lambda names: bool(left & set(names)))
        _, *tasks = await arrive(line, first, stopped, gone, last)
        stopped.stopped.set()
        for task in tasks[:2]:
            with pytest.raises(Left):
                await task
        assert line.place(last)[0] == 1
        line.leave(first)
        await tasks[2]
        assert line.runs(last)

    awaited(check())


def test_a_closed_waiter_leaves_no_trace_in_the_line() -> None:
    async def check() -> None:
        line = Line()
        first, second, third = run("1"), run("2"), run("3")
        tasks = await arrive(line, first, second, third)
        tasks[1].cancel()
        await asyncio.sleep(0)
        assert line.place(third)[0] == 1

    awaited(check())
