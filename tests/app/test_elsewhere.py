"""A process of its own for the Planner's work: it answers as the work itself does, may die, and never outlives us."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from cases import first_always
from starlette.applications import Starlette
from starlette.testclient import TestClient

from app.kit.elsewhere import Elsewhere, Gone
from app.kit.static import ASSETS
from app.tabs.planner import routes
from app.tabs.planner import worker as planner_worker
from app.tabs.planner.desk import Desk
from app.tabs.planner.profiles.plan_request import Look, PlannerError, read
from app.tabs.planner.profiles.sources import Sources
from app.tabs.planner.worker import PROCESSES, Worker

PROFILES = ASSETS / "profiles"
SHIPPED = json.loads((PROFILES / "smollm2-cpu.json").read_text(encoding="utf-8"))
ODD = {
    "levels": [{"name": name, "cost_ms": {"1": ms}} for name, ms in (("\ud800", 1), ("b", 9))],
    "acceptance": [[1, 0.8], [0, 1]],
}


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    some = Worker(PROFILES)
    some.start()
    yield some
    while not some._idle.empty():
        some._idle.get().end()


@pytest.fixture
def echo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[float], Elsewhere]]:
    """Processes that answer `n` with n bytes, `die` by dying, and `sleep` after a minute."""
    (tmp_path / "echoing.py").write_text(
        "import os, time\nfrom app.kit.elsewhere import attend\n"
        "def answer(question):\n"
        "    if question == b'pid':\n        return b'%d' % os.getpid()\n"
        "    if question == b'die':\n        os._exit(3)\n"
        "    if question == b'full':\n        raise MemoryError\n"
        "    if question == b'sleep':\n        time.sleep(60)\n"
        "    return question\n"
        "attend(answer)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    made = []

    def make(patience: float) -> Elsewhere:
        made.append(Elsewhere("echoing", patience=patience))
        return made[-1]

    yield make
    for one in made:
        one.end()


@pytest.mark.parametrize("figures", [frozenset(), frozenset(("graph", "surface", "validation"))])
def test_the_worker_answers_what_the_desk_answers(worker: Worker, figures: frozenset[str]) -> None:
    question = json.dumps({"profile": SHIPPED, "rejections": 1.4, "max_block": 12}, sort_keys=True)
    look = Look(True, 390, figures)
    assert worker.work(question, look) == Desk(Sources(PROFILES)).work(question, look)


def test_the_worker_checks_a_profile_as_the_page_does(worker: Worker) -> None:
    assert json.loads(worker.check(SHIPPED)) == {"profile": json.loads(json.dumps(read(SHIPPED).as_dict()))}


@pytest.mark.parametrize(
    ("question", "message", "field"),
    [
        ({"profile": {**SHIPPED, "acceptance": [[1]]}}, "acceptance", "profile"),
        ({"profile": SHIPPED, "max_block": 33}, "max_block: enter a number from 1 to 32", "max_block"),
        ({}, "no profile was given", "profile"),
    ],
)
def test_a_refusal_of_the_worker_is_the_desk_s_own(
    worker: Worker, question: dict[str, Any], message: str, field: str
) -> None:
    with pytest.raises(PlannerError, match=message) as refused:
        worker.work(json.dumps(question), Look(figures=frozenset()))
    assert refused.value.field == field


def test_a_surrogate_in_a_name_is_no_fault_of_the_worker(capfd: pytest.CaptureFixture[str]) -> None:
    with TestClient(Starlette(routes=routes.routes(PROFILES, list))) as client:
        for asked in ({"profile": ODD, "figures": []}, {"profile": ODD, "check": True}):
            reply = client.post(routes.ANSWER, content=json.dumps(asked), headers={"content-type": "application/json"})
            assert reply.status_code == 422 and reply.json()["error"]
    assert "Traceback" not in capfd.readouterr().err


def test_opening_the_tab_starts_the_worker_and_opening_the_page_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Elsewhere] = []
    monkeypatch.setattr(Elsewhere, "start", lambda self: started.append(self))
    with TestClient(Starlette(routes=routes.routes(PROFILES, list))) as client:
        assert not started
        client.get(routes.SOURCES)
    assert len(started) == 1


def test_the_worker_holds_neither_the_engine_s_nor_the_page_s_libraries() -> None:
    code = "import sys, app.tabs.planner.worker; print(*sys.modules)"
    held = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"torch", "gradio", "plotly", "pandas", "starlette"} & set(held)


@pytest.mark.skipif(os.name == "nt", reason="sends signals")
def test_a_worker_that_is_ended_costs_one_answer(worker: Worker) -> None:
    question, look = json.dumps({"profile": SHIPPED}), Look(figures=frozenset())
    worker.work(question, look)
    with worker._process() as first:
        process = first._running()
    process.send_signal(signal.SIGSTOP)
    with ThreadPoolExecutor(1) as other:
        stuck = other.submit(worker.work, question, look)
        while len(worker._idle.queue) == PROCESSES:
            time.sleep(0.001)
        assert json.loads(worker.work(question, look))["best"], "its neighbour answers meanwhile"
        process.kill()
        with pytest.raises(PlannerError, match="leave out levels or lower the longest block"):
            stuck.result(30)
    assert json.loads(worker.work(question, look))["best"]
    assert first._running().pid != process.pid


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no such timer")
def test_a_diagnosis_has_so_much_of_a_processor_and_no_fault_of_one_ends_the_process(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    made: list[Callable[[bytes], bytes]] = []
    monkeypatch.setattr(planner_worker, "attend", made.append)
    monkeypatch.setattr(planner_worker.gc, "freeze", lambda: None)
    monkeypatch.setattr(planner_worker, "WORK_S", 0.05)
    planner_worker.main(PROFILES)
    (answer,) = made
    question = b'{"doctor": {"texts": [["a", "b"]]}}'

    def backtracks(asked: object) -> None:
        with suppress(Exception):  # a reader that passes over what it cannot read
            re.match(r"(a+)+$", "a" * 60 + "b")

    monkeypatch.setattr(planner_worker, "diagnosed", backtracks)
    assert b"paste fewer lines" in answer(question)
    monkeypatch.setattr(planner_worker, "diagnosed", lambda asked: 1 // 0)
    assert b"a fault of ours" in answer(question) and "ZeroDivisionError" in caplog.text


def test_the_process_is_kept_and_one_that_ended_between_two_questions_is_replaced(
    echo: Callable[[float], Elsewhere],
) -> None:
    some = echo(30.0)
    some.start()
    first = some.ask(b"pid")
    assert some.ask(b"pid") == first
    process = some._running()
    process.kill()
    process.wait()
    assert some.ask(b"pid") != first
    large = os.urandom(3_000_000)  # more than a pipe holds
    assert some.ask(large) == large
    assert some.ask(b"") == b""


@pytest.mark.parametrize(("question", "patience"), [(b"die", 30.0), (b"full", 30.0), (b"sleep", 1.0)])
def test_who_gets_no_answer_is_told_and_the_next_is_answered(
    echo: Callable[[float], Elsewhere], question: bytes, patience: float, capfd: pytest.CaptureFixture[str]
) -> None:
    some = echo(patience)
    some.ask(b"started")
    with pytest.raises(Gone):
        some.ask(question)
    assert some._process is None
    assert some.ask(b"next") == b"next"
    assert "Traceback" not in capfd.readouterr().err


PARENT = """
import sys, threading, time
from app.kit.elsewhere import Elsewhere
from app.serve.engines.closing import Closing

some = Elsewhere("echoing", patience=60)
print(some.ask(b"pid").decode(), flush=True)
threading.Thread(target=some.ask, args=(sys.argv[1].encode(),)).start()

class Demo:
    is_running = True

Closing().serve(Demo)
"""


@pytest.mark.skipif(os.name == "nt", reason="sends signals")
@first_always(
    ("doing", "sent"),
    [
        ("sleep", "SIGKILL"),
        *(("sleep", "SIGINT"), ("sleep", "SIGTERM"), ("nothing", "SIGINT"), ("nothing", "SIGTERM")),
        ("nothing", "SIGKILL"),
    ],
)
def test_no_process_outlives_the_server(echo: Callable[[float], Elsewhere], sent: str, doing: str) -> None:
    code = [sys.executable, "-c", PARENT, doing]
    hearing = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    with subprocess.Popen(code, stdout=subprocess.PIPE, text=True, preexec_fn=hearing) as server:
        assert server.stdout is not None
        child = int(server.stdout.readline())
        time.sleep(0.3)
        assert lives(child)
        server.send_signal(getattr(signal, sent))
        server.wait(timeout=20)
        ended = time.monotonic()
        while lives(child):
            assert time.monotonic() - ended < 10
            time.sleep(0.02)


def lives(pid: int) -> bool:
    """Whether a process is at work: one that ended and that nobody has asked after yet is not."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat")
        return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
