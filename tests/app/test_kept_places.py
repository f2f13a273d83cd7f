"""A page that is closed keeps its place in line for a while: others go first, and it is next when it comes back."""

from __future__ import annotations

import asyncio
import time
import uuid
from pathlib import Path
from typing import Any

import pytest
from pagekit import awaited, launched
from standing import arrive, run
from test_leaving import SOON_S, Measuring
from visiting import Visit

from app.serve.door import presence
from app.serve.door.presence import Presence
from app.serve.line import line as lines
from app.serve.line.known_runs import Run
from app.serve.line.line import Left, Line
from app.serve.line.run_lengths import ANY, RunKind, RunLengths


@pytest.fixture(autouse=True)
def looking_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LOOK_S", 0.0)


def closed(one: Run) -> None:
    one.hears = lambda names: False


def opened(one: Run) -> None:
    one.looked = time.monotonic()


async def turns(line: Line, count: int) -> list[str]:
    """Whose turn comes next, each leaving at once."""
    order: list[str] = []
    while len(order) < count:
        for _ in range(4):
            await asyncio.sleep(0)
        for now in line.running:
            order.append(now.name)
            line.leave(now)
    return order


def test_others_go_first_while_a_page_is_closed_and_it_is_next_when_it_comes_back() -> None:
    async def check() -> None:
        line, runs = Line(), [run(name) for name in "abcd"]
        await arrive(line, *runs)
        closed(runs[1])
        for _ in range(4):
            await asyncio.sleep(0)
        assert line.length == 2 and [line.place(r)[0] for r in runs[2:]] == [1, 2]
        line.leave(runs[0])
        assert await turns(line, 1) == ["c"]
        opened(runs[1])
        assert await turns(line, 2) == ["b", "d"], "it came before the one that waited all the time"

    awaited(check())


def test_a_place_that_is_kept_takes_none_of_the_others_and_the_longest_kept_makes_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lines, "AWAY", 2)
    monkeypatch.setattr(lines, "PLACES", 4)

    async def check() -> None:
        line, first = Line(), run("first")
        gone = [run(f"gone {i}") for i in range(3)]
        tasks = await arrive(line, first, *gone)
        for one in gone:
            closed(one)
            for _ in range(4):
                await asyncio.sleep(0)
        with pytest.raises(Left):
            await tasks[1]
        assert not gone[1].stopped.is_set() and not gone[2].stopped.is_set()
        await arrive(line, *(run(f"here {i}") for i in range(3)))
        assert line.length == 3
        line.leave(first)

    awaited(check())


def test_when_a_page_left_is_known_for_as_long_as_its_place_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(presence.time, "monotonic", lambda: now)
    seen = Presence()
    seen.watching = True
    for name in ("a", "b"):
        seen.came("ear", name)
    seen.went("ear", "a")
    now += 599.0
    seen.went("ear", "b")
    assert not seen.gone(("a",), after=600.0) and seen.gone(("a",), after=500.0)
    now += 400.0
    seen.came("ear", "c")
    seen.went("ear", "c")
    assert seen.gone(("a",), after=600.0) and not seen.gone(("b",), after=600.0)


def test_a_page_that_comes_back_to_the_server_has_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.serve.service.RETURN_S", 0.5)
    monkeypatch.setattr("app.serve.line.known_runs.RETURN_S", 0.5)
    pipeline = Measuring()
    with launched(pipeline, traces=tmp_path) as url:
        one, name = str(uuid.uuid4()), str(uuid.uuid4())
        first = Visit(url, page=True).generate(run=one)
        next(first)
        assert pipeline.began.wait(SOON_S)
        waiting = Visit(url, page=True).generate(run=name)
        told = next(waiting)
        assert told["status"]["mode"] == "waiting" and "kept for ten minutes" in told["status"]["detail"]
        waiting.close()
        time.sleep(1.0)  # longer than a run that is at work goes on without its page
        back = Visit(url, page=True)
        found: dict[str, Any] = back.call("tail", {"run": name, "from": 0})
        assert (found["final"], found["status"]["mode"]) == (False, "waiting")
        back.close(one)
        first.close()
        until = time.monotonic() + SOON_S
        while not (found := back.call("tail", {"run": name, "from": 0}))["ev"] and time.monotonic() < until:
            time.sleep(0.2)
        assert found["ev"][0]["event"] == "header" and not found["final"]
        assert Visit(url, page=True).call("pace", {}) == {"ahead": 1, "answers": None}


def test_what_is_served_in_a_minute_is_told_once_it_was_measured() -> None:
    lengths = RunLengths()
    assert lengths.pace is None
    for seconds in (6.0, 10.0, 11.0):
        assert lengths.pace is None
        lengths.add(RunKind("run", "toy"), 0.1)
        lengths.add(RunKind("race"), 90.0)
        lengths.add(ANY, seconds)
    assert lengths.pace == pytest.approx(60 / 9), "of the preset that answered last"
