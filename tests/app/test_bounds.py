"""What one visitor may ask of the Planner and the recordings, and that the others are answered."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pagekit import awaited
from profiles import dear
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.testclient import TestClient
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from app.serve.door.proxied import AddressError, trusted_proxies
from app.serve.engines.inline import InlineEngine
from app.serve.line import turns as queue
from app.serve.line.turns import Turns, visitor
from app.serve.loader import NICE, Loader, apart
from app.tabs.explore.recordings import RECORDING, Recordings, recording_route
from app.tabs.planner import desk, planning_turns, routes
from app.tabs.planner.desk import Desk, time_limit
from app.tabs.planner.planning_turns import OWN, PlanTurns
from app.tabs.planner.profiles.plan_request import MAX_NODES, Look, PlannerError, parse
from app.tabs.planner.profiles.sources import Sources
from app.tabs.planner.worker import PROCESSES, Worker
from hsd_core.pipeline import Pipeline
from hsd_core.theory import Planner, profile_from

SMALL = {
    "levels": [{"name": n, "cost_ms": {"1": ms}} for n, ms in (("a", 1), ("b", 9))],
    "acceptance": [[1, 0.8], [0, 1]],
}


# ---- the Planner


def test_too_many_levels_with_too_long_blocks_are_refused_with_the_length_that_is_allowed() -> None:
    assert parse({"profile": dear(0.0)}).max_block * 12 == MAX_NODES
    with pytest.raises(
        PlannerError, match=r"12 levels with blocks of up to 17 .* lower the longest block to 16"
    ) as refused:
        parse({"profile": dear(0.0), "max_block": 17})
    assert refused.value.field == "max_block"
    few = [True] * 5 + [False] * 6 + [True]
    assert parse({"profile": dear(0.0), "max_block": 32, "levels": few}).max_block == 32


def test_planning_ends_when_its_time_is_over_and_the_cure_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk, "time_limit", lambda: time_limit(0.0))
    with pytest.raises(PlannerError, match="leave out levels or lower the longest block"):
        Desk(Sources(Path(), list)).work(json.dumps({"profile": SMALL}), Look())


def test_a_search_is_looked_at_between_its_steps() -> None:
    steps: list[None] = []
    planner = Planner(profile_from(dear(0.0)), check=lambda: steps.append(None))
    planner.worth(planner.best().best)
    assert len(steps) >= 6


def held(gate: threading.Event, done: list[str], name: str) -> Callable[[], None]:
    def work() -> None:
        gate.wait(10)
        done.append(name)

    return work


def test_visitors_take_turns_however_many_questions_one_of_them_has() -> None:
    async def run() -> list[str]:
        line, gate, done = PlanTurns(), threading.Event(), []
        asked = [asyncio.create_task(line.work("greedy", held(gate, done, "greedy"))) for _ in range(OWN + 1)]
        await asyncio.sleep(0.05)
        with pytest.raises(PlannerError, match="from your address are already waiting"):
            await line.work("greedy", list)
        asked += [asyncio.create_task(line.work(name, held(gate, done, name))) for name in ("ann", "bob")]
        await asyncio.sleep(0.05)
        gate.set()
        await asyncio.gather(*asked)
        assert await line.work("greedy", lambda: "free again") == "free again"
        return done

    done = awaited(run())
    first = done[: OWN - 1]  # two threads note what is done: by a hair, one of them after several of the other
    assert {"ann", "bob"} < set(first) and done.count("greedy") == OWN + 1


def test_who_has_had_a_turn_stands_behind_the_others() -> None:
    turns, order = Turns(at_once=1, own=4, most=9), list[str]()
    at_work = turns._place("a")
    at_work.__enter__()
    waiting = {name: (place := turns._place(name[0]), place.__enter__()) for name in ("a1", "b1", "a2", "b2")}
    while waiting:
        at_work.__exit__(None, None, None)
        name = next(name for name, (_, turn) in waiting.items() if turn.done())
        at_work, _ = waiting.pop(name)
        order.append(name)
    assert order == ["a1", "b1", "a2", "b2"]


def test_who_waits_too_long_or_leaves_is_no_longer_in_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning_turns, "PATIENCE_S", 0.05)

    async def run() -> None:
        line, gate, done = PlanTurns(), threading.Event(), []
        first = [asyncio.create_task(line.work(f"a{n}", held(gate, done, "a"))) for n in range(PROCESSES)]
        await asyncio.sleep(0.02)
        gone = asyncio.create_task(line.work("c", held(gate, done, "c")))
        await asyncio.sleep(0.02)
        gone.cancel()
        with pytest.raises(PlannerError, match="before it was your turn"):
            await line.work("b", held(gate, done, "b"))
        gate.set()
        await asyncio.gather(*first)
        assert await line.work("b", lambda: "mine") == "mine"
        assert set(done) == {"a"} and gone.cancelled()

    awaited(run())


def test_threads_stand_in_line_as_tasks_do_and_have_their_turns_as_they_came() -> None:
    line, done = queue.Turns(own=2, most=2), list[str]()

    def work(name: str) -> None:
        with line.held(10.0):
            done.append(name)

    with ThreadPoolExecutor(3) as threads:
        with line.held(0.0):
            going = []
            for name in ("first", "second"):
                going.append(threads.submit(work, name))
                while sum(map(len, line._lines.values())) < len(going):
                    time.sleep(0.001)
            with pytest.raises(queue.Full) as full:
                work("third")
            assert (full.value.why, done) == ("own", [])
        for one in going:
            one.result(10)
    assert done == ["first", "second"]


def test_a_thread_waits_no_longer_than_its_patience_and_then_holds_up_nobody() -> None:
    line = queue.Turns(own=1, most=1)
    with line.held(0.0), pytest.raises(queue.Full) as full, line.held(0.01):
        pytest.fail("it was not its turn")
    assert full.value.why == "late"
    with line.held(0.0):
        pass


@pytest.mark.parametrize(
    ("text", "space", "connected", "found"),
    [
        ("", "", "127.0.0.1", "127.0.0.1"),  # nobody is believed that was not named
        ("", "", "10.1.2.3", "10.1.2.3"),
        ("10.1.2.3", "", "10.1.2.3", "192.0.2.7"),
        ("127.0.0.1, 10.1.0.0/16", "", "10.1.2.3", "192.0.2.7"),
        ("10.1.2.3", "", "10.1.2.4", "10.1.2.4"),
        ("", "someone/space", "10.1.2.3", "192.0.2.7"),
        ("", "someone/space", "8.8.8.8", "8.8.8.8"),
    ],
)
def test_a_visitor_is_an_address_and_only_a_named_proxy_says_another(
    text: str, space: str, connected: str, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPACE_ID", space)
    visitors = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        visitors.append(visitor(Request(scope)))

    headers = [(b"x-forwarded-for", b"198.51.100.1, 192.0.2.7")]
    served = ProxyHeadersMiddleware(application, ",".join(trusted_proxies(text)))
    scope: Any = {"type": "http", "client": (connected, 1), "headers": headers}
    awaited(served(scope, None, None))  # type: ignore[arg-type]
    assert visitors == [found]


def test_a_proxy_is_named_by_its_address() -> None:
    for wrong in ("*", "proxy.example", "10.0.0.1/8"):
        with pytest.raises(AddressError, match="the proxy's address or network"):
            trusted_proxies(wrong)
    assert trusted_proxies("", share=True) == ("127.0.0.1", "::1")


def test_one_question_of_many_visitors_is_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    worked, work = [], Worker.work
    monkeypatch.setattr(Worker, "work", lambda *given: worked.append(given) or work(*given))
    client = TestClient(Starlette(routes=routes.routes(measured=list)))
    replies = [client.post(routes.ANSWER, json={"profile": SMALL, "figures": [], "width": w}).text for w in (390, 1440)]
    assert len(set(replies)) == 1 and len(worked) == 1


def test_answers_make_room_for_newer_ones() -> None:
    kept = desk.Answers(room=10)
    for name in "abc":
        kept.put(name, "1234")
        kept.get("a")
    assert [kept.get(name) for name in "abc"] == ["1234", None, "1234"]


@pytest.mark.parametrize(
    ("query", "status"), [("preset=smollm2", 200), ("preset=nothing", 422), ("preset=toy&device=x", 422)]
)
def test_the_page_may_ask_what_auto_would_plan_with(query: str, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    client = TestClient(Starlette(routes=routes.routes(measured=list)))
    reply = client.get(f"{routes.ORIGIN}?{query}&temperature=0")
    assert reply.status_code == status
    if status == 200:
        about = reply.json()["profile"]["about"]
        assert about["source"] in ("measured", "shipped") and about["machine"] and about["recorded"]


# ---- recordings


def test_a_recording_is_read_once_and_then_only_confirmed(recordings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    some = Recordings(recordings)
    whole = some.payload
    monkeypatch.setattr(some, "payload", lambda name: read.append(name) or whole(name))
    with TestClient(Starlette(routes=[recording_route(some)])) as client:
        replies = [client.get("/hx/recordings/00-toy") for _ in range(3)]
        for name in [entry["name"] for entry in some.menu()] * 2:
            assert client.get(f"/hx/recordings/{name}").status_code == 200
    assert sorted(read) == [entry["name"] for entry in some.menu()]
    assert all(reply.json() == json.loads(json.dumps(whole("00-toy"))) for reply in replies)
    assert replies[0].headers["content-encoding"] == "gzip"
    with TestClient(Starlette(routes=[recording_route(some)])) as client:
        again = client.get("/hx/recordings/00-toy", headers={"if-none-match": replies[0].headers["etag"]})
    assert again.status_code == 304 and not again.content


@pytest.mark.parametrize("name", ["nothing", "..%2F00-toy", "%00"])
def test_a_recording_that_is_not_there_is_answered_with_the_reason(recordings: Path, name: str) -> None:
    client = TestClient(Starlette(routes=[recording_route(Recordings(recordings))]))
    reply = client.get(RECORDING.format(name=name))
    assert reply.status_code == 404
    if "%2F" not in name:
        assert "choose one from the menu" in reply.json()["status"]["text"]


# ---- the engine


@pytest.mark.skipif(sys.platform != "linux", reason="threads have a niceness of their own on Linux only")
def test_the_engine_s_threads_come_after_the_page_s() -> None:
    def niceness() -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    def started() -> tuple[int, int]:
        """Of this thread, and of one that it starts, as a run's levels are built."""
        return niceness(), apart(niceness).result()

    engine, before = InlineEngine(Loader(Pipeline)), niceness()
    assert engine._thread.submit(started).result() == (min(19, before + NICE),) * 2
    assert niceness() == before
