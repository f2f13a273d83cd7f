"""A visitor who leaves, wherever the engine is: the connection ends, the next forward hears it, the engine is free."""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from cases import first_always
from pagekit import AllHere, at_tools, awaited, launched, plain_run
from visiting import Visit

from app.serve.door.presence import CALLER
from app.serve.line.line import FOR_CALLS
from hsd_core.core.events import Event
from hsd_core.pipeline import Pipeline

SOON_S = 60.0  # generous: the machine may be busy; a run that goes on does so for a minute


class Measuring(AllHere):
    """A pipeline whose run yields half a trace and then works on for a minute within one step, asking only `stop`."""

    catalogue = staticmethod(Pipeline.catalogue)

    def __init__(self) -> None:
        self.anew()

    def anew(self) -> None:
        self.began, self.ended, self.runs = threading.Event(), threading.Event(), 0

    def open(self, preset: str, **options: Any) -> Measuring:
        return self

    def run(self, *args: Any, stop: Any, **options: Any) -> Iterator[Event]:
        self.runs += 1
        yield from plain_run(list("ab"))[:-1]
        self.began.set()
        until = time.monotonic() + 60
        while not stop() and time.monotonic() < until:
            time.sleep(0.01)
        if stop():
            self.ended.set()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, Measuring]]:
    pipeline = Measuring()
    with launched(pipeline, traces=tmp_path) as url:
        yield url, pipeline


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Measuring]]:
    pipeline = Measuring()
    with launched(pipeline, traces=tmp_path_factory.mktemp("none"), mcp=True) as url:
        yield url, pipeline


@pytest.fixture
def freed(kept: tuple[str, Measuring]) -> tuple[str, Measuring]:
    """One server for tests that leave its engine free."""
    kept[1].anew()
    return kept


def _leave_at_work(url: str, pipeline: Measuring) -> None:
    """Open a page, press Generate, and close the page once the engine is inside a step, which sends nothing."""
    visit, name = Visit(url, page=True), str(uuid.uuid4())
    payloads = visit.generate(run=name)
    next(payloads)
    assert pipeline.began.wait(SOON_S)
    visit.close(name)
    payloads.close()


@pytest.mark.everything
def test_a_page_that_is_closed_while_the_baseline_is_measured_frees_the_engine(served: Any) -> None:
    url, pipeline = served
    _leave_at_work(url, pipeline)
    assert pipeline.ended.wait(SOON_S)


@pytest.mark.everything
def test_a_page_that_left_does_not_hold_up_who_waits(served: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.serve.service.RETURN_S", 600.0)
    url, pipeline = served
    _leave_at_work(url, pipeline)
    assert not pipeline.ended.wait(3.0), "nobody waits: it may come back"
    other = Visit(url, page=True).generate()
    next(other)
    assert pipeline.ended.wait(SOON_S)
    other.close()


def test_a_run_goes_on_for_a_page_that_comes_back_for_it_until_that_leaves_too(
    freed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.serve.service.RETURN_S", 0.5)
    monkeypatch.setattr("app.serve.line.known_runs.RETURN_S", 0.5)
    url, pipeline = freed
    name = str(uuid.uuid4())
    payloads = Visit(url, page=True).generate(run=name)
    next(payloads)
    assert pipeline.began.wait(SOON_S)
    Visit(url).close(name)
    payloads.close()
    again, until = Visit(url, page=True), time.monotonic() + 2.0
    while time.monotonic() < until:
        found = again.call("tail", {"run": name, "from": 0})
        assert not found["final"] and found["ev"][0]["event"] == "header"
        time.sleep(0.2)
    assert not pipeline.ended.is_set()
    again.close(name)
    assert pipeline.ended.wait(SOON_S), "nobody asks for it any more"


@pytest.mark.everything
def test_a_run_goes_on_for_a_page_that_was_cut_off_also_where_others_wait(
    served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.serve.service.RETURN_S", 0.5)
    monkeypatch.setattr("app.serve.line.known_runs.RETURN_S", 0.5)
    monkeypatch.setattr("app.serve.service.CUT_S", 5.0)
    url, pipeline = served
    name = str(uuid.uuid4())
    payloads = Visit(url, page=True).generate(run=name)
    next(payloads)
    assert pipeline.began.wait(SOON_S)
    payloads.close()  # without a word
    other = Visit(url, page=True).generate()
    assert next(other)["status"]["mode"] == "waiting"
    assert not pipeline.ended.wait(3.0)
    found = Visit(url, page=True).call("tail", {"run": name, "from": 0})
    assert not found["final"] and found["ev"][0]["event"] == "header"
    assert pipeline.ended.wait(SOON_S), "it does not come back again"
    other.close()


@pytest.mark.everything
def test_a_run_that_waits_keeps_its_place_for_a_page_that_comes_back(served: Any) -> None:
    url, pipeline = served
    first = Visit(url, page=True).generate()
    next(first)
    assert pipeline.began.wait(SOON_S)
    name = str(uuid.uuid4())
    waiting = Visit(url, page=True).generate(run=name)
    assert next(waiting)["status"]["mode"] == "waiting"
    waiting.close()
    time.sleep(1.0)
    found = Visit(url, page=True).call("tail", {"run": name, "from": 0})
    assert (found["final"], found["status"]["mode"]) == (False, "waiting")
    first.close()


def test_an_api_client_that_leaves_frees_the_engine(freed: Any) -> None:
    url, pipeline = freed
    visit = Visit(url)
    answer = visit.hear_call(visit.post_call())
    assert pipeline.began.wait(SOON_S)
    answer.close()
    assert pipeline.ended.wait(SOON_S)


@pytest.mark.everything
def test_a_run_that_nobody_listens_to_never_reaches_the_engine_and_holds_no_place(
    served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.serve.line.line.HEARD_S", 1.0)
    url, pipeline = served
    for _ in range(25):
        Visit(url).ask("generate", {"run": str(uuid.uuid4()), "prompt": "x", "stack": "target", "preset": "toy"})
    Visit(url).post_call()
    _leave_at_work(url, pipeline)
    assert pipeline.ended.wait(SOON_S)
    time.sleep(1.5)
    assert pipeline.runs == 1


@pytest.mark.everything
def test_a_page_gets_through_beside_a_script_that_fills_its_places(served: Any) -> None:
    url, pipeline = served
    script = Visit(url)
    answers = [script.hear_call(script.post_call()) for _ in range(FOR_CALLS + 6)]  # unheard calls are dropped
    assert pipeline.began.wait(SOON_S)
    page = Visit(url, page=True).generate()
    first = next(p for p in page if p["status"]["mode"] == "waiting")
    assert "1 run is ahead of yours" in first["status"]["text"]
    page.close()
    refused = 0
    for answer in answers:
        if answer.isclosed():
            continue
        answer.fp.raw._sock.settimeout(0.5)  # type: ignore[union-attr]
        with suppress(TimeoutError):
            refused += b"places for API calls" in answer.read()
        answer.close()
    assert refused == 6


def test_the_api_answers_with_text_totals_and_the_whole_trace(shipped: str) -> None:
    found = Visit(shipped).run_stack()
    assert found["totals"]["committed"] == found["totals"]["footer"]["committed"] == 40
    assert [found["trace"][i]["event"] for i in (0, -1)] == ["header", "footer"]
    assert found["text"]
    with pytest.raises(ConnectionError, match="there is no preset"):
        Visit(shipped).run_stack(preset="nothing")
    with pytest.raises(ConnectionError, match="404"):
        Visit(shipped).post("/gradio_api/run/run_stack", {"data": ["x", "target", "toy"]})


# ---- clients of the tools, whose runs Gradio's MCP server starts for them

RUN_STACK = {"prompt": "The tower", "stack": "table@id=order6", "preset": "toy"}


@pytest.fixture
def tools(tmp_path: Path) -> Iterator[tuple[str, Measuring]]:
    pipeline = Measuring()
    with launched(pipeline, traces=tmp_path, mcp=True) as url:
        yield url, pipeline


@first_always("progress", [False, True])
def test_a_client_of_the_tools_that_leaves_frees_the_engine(
    freed: Any, progress: bool, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    url, pipeline = freed

    async def told(*_: Any) -> None: ...

    async def leaves() -> None:
        async with at_tools(url) as session:
            more = {"progress_callback": told} if progress else {}
            call = asyncio.create_task(session.call_tool("run_stack", RUN_STACK, **more))
            assert await asyncio.to_thread(pipeline.began.wait, SOON_S)
            call.cancel()
            await asyncio.wait([call])

    awaited(leaves())
    assert pipeline.ended.wait(SOON_S)
    time.sleep(1.0)  # Gradio's server hears of its end now
    # The client runs here too, and may say that it was read from while it closed.
    of_server = [record.getMessage() for record in caplog.records if not record.name.startswith("mcp.client")]
    assert not any(record.exc_info for record in caplog.records if not record.name.startswith("mcp.client")), of_server
    assert "Traceback" not in "".join(capfd.readouterr())


@pytest.mark.everything
def test_a_call_of_a_tool_that_is_cancelled_ends_and_the_others_of_its_number_go_on(tools: Any) -> None:
    from mcp import types

    url, pipeline = tools

    def cancelled(number: int) -> types.ClientNotification:
        params = types.CancelledNotificationParams(requestId=number, reason="changed my mind")
        return types.ClientNotification(types.CancelledNotification(params=params))

    async def cancels() -> None:
        async with at_tools(url) as other, at_tools(url) as session:
            call = asyncio.create_task(session.call_tool("run_stack", RUN_STACK))
            assert await asyncio.to_thread(pipeline.began.wait, SOON_S)
            await other.send_notification(cancelled(1))
            await session.send_notification(cancelled(99))
            assert not await asyncio.to_thread(pipeline.ended.wait, 2.5)
            await session.send_notification(cancelled(1))
            assert await asyncio.to_thread(pipeline.ended.wait, SOON_S)
            assert (await session.call_tool("recordings")).content  # the client may go on
            call.cancel()
            await asyncio.wait([call])

    awaited(cancels())


@pytest.mark.everything
def test_a_name_under_which_a_call_is_heard_cannot_be_given_by_its_client(tools: Any) -> None:
    url, pipeline = tools
    said = {"name": "run_stack", "arguments": RUN_STACK}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": said}
    headers = {"accept": "application/json, text/event-stream", CALLER: "mine", "x-gradio-user": "mcp"}
    with httpx.stream("POST", f"{url}/gradio_api/mcp/", json=body, headers=headers, timeout=60.0):
        assert pipeline.began.wait(SOON_S) and not pipeline.ended.wait(2.5)
    assert pipeline.ended.wait(SOON_S)


def test_clients_of_the_tools_hold_no_connection_beside_their_calls(freed: Any) -> None:
    url, _ = freed
    reply = httpx.get(f"{url}/gradio_api/mcp/", headers={"accept": "text/event-stream"})
    assert (reply.status_code, reply.headers["allow"]) == (405, "POST") and reply.json()["error"]
