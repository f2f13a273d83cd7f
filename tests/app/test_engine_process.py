"""The engine's process may crash, be killed or hang: its run says so and keeps its text, and the next one works."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from cases import first_always
from frail_engine import Frail
from pagekit import awaited

from app.serve.engine import RUN
from app.serve.engines import process
from app.serve.engines.messages import VERSION, Hello, Ready, Sent, from_engine, pack
from app.serve.engines.process import ProcessEngine
from app.serve.engines.spawned import Spawned
from app.serve.line.known_runs import Run
from app.serve.settings import RunRequest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="sends signals")
FRAIL = [sys.executable, "-m", "tests.app.frail_engine"]
names = iter(f"{i:032d}" for i in range(1000))


def asked(prompt: str, preset: str = "frail") -> tuple[RunRequest, Run]:
    request = RunRequest(next(names), prompt, "target", preset, baseline=False)
    return request, Run(request.run)


@asynccontextmanager
async def engine(**options: Any) -> AsyncIterator[ProcessEngine]:
    made = ProcessEngine(FRAIL, Hello(VERSION), lambda r: bool(Frail.missing_weights(r.preset, [])), **options)
    made.start()
    try:
        yield made
    finally:
        made.close(0.0)


async def told(made: ProcessEngine, request: RunRequest, run: Run, act: Callable[[dict[str, Any]], Any]) -> list[Any]:
    """Every payload of a run; `act` sees each as it comes."""
    said = []
    async with aclosing(made.work(RUN, request, run)) as payloads:
        async for item in payloads:
            said.append(item)
            act(item)
    return said


def text(payloads: list[dict[str, Any]]) -> int:
    """How many tokens a run's payloads have."""
    assert payloads[-1]["final"]
    held: list[dict[str, Any]] = []
    for item in payloads:  # that of a run whose engine died has them all
        held[item["from"] :] = item["ev"] or held[item["from"] :]
    return sum(len(record["tokens"]) for record in held if record["event"] == "commit")


def once(act: Callable[[], Any], when: Callable[[dict[str, Any]], bool]) -> Callable[[dict[str, Any]], None]:
    done: list[bool] = []

    def look(item: dict[str, Any]) -> None:
        if not done and when(item):
            done.append(True)
            act()

    return look


def in_the_prompt(item: dict[str, Any]) -> bool:
    return item["status"].get("phase") == "prompt"


def in_a_round(item: dict[str, Any]) -> bool:
    return any(record["event"] == "commit" for record in item["ev"])


WORDS = {
    signal.SIGSEGV: "crashed (SIGSEGV)",
    signal.SIGKILL: "ended from outside, perhaps because the memory was full",
    signal.SIGSTOP: "was silent for",
}


@pytest.mark.parametrize(
    ("prompt", "when", "sent"),
    [
        pytest.param("read", in_the_prompt, signal.SIGKILL, marks=pytest.mark.everything),
        ("write", in_a_round, signal.SIGSEGV),
        pytest.param("write", in_a_round, signal.SIGSTOP, marks=pytest.mark.everything),
        pytest.param("write", in_a_round, signal.SIGKILL, marks=pytest.mark.everything),
        pytest.param("read", in_the_prompt, signal.SIGSEGV, marks=pytest.mark.everything),
        pytest.param("read", in_the_prompt, signal.SIGSTOP, marks=pytest.mark.everything),
    ],
)
def test_a_run_whose_engine_dies_says_so_and_keeps_its_text_and_the_next_one_works(
    prompt: str, when: Callable[[dict[str, Any]], bool], sent: signal.Signals
) -> None:
    async def check() -> None:
        async with engine(silent_s=2.5) as made:
            request, run = asked(prompt)
            said = await told(made, request, run, once(lambda: os.kill(made.health.pid, sent), when))
            assert said[-1]["final"] and said[-1]["status"]["mode"] == "error"
            assert WORDS[sent] in said[-1]["status"]["text"] and "started again" in said[-1]["status"]["text"]
            kept = len([record for record in run.records if record["event"] == "commit"])
            assert run.stage == "done" and (kept == text(said) > 0 if prompt == "write" else kept == 0)
            again = await told(made, *asked("short"), lambda _: None)
            assert text(again) == 4 and again[-1]["status"]["mode"] == "live"
            assert made.health.restarts == 1 and made.health.state == "ok"

    awaited(check())


@pytest.mark.everything
@first_always("sent", [signal.SIGSTOP, signal.SIGSEGV], ids=lambda s: s.name)
def test_weights_whose_engine_dies_while_they_are_converted_are_asked_for_again(sent: signal.Signals) -> None:
    async def check() -> None:
        async with engine(silent_s=2.5) as made:
            request, run = asked("short", "slow")
            first, pids = once(lambda: os.kill(made.health.pid, sent), lambda i: i["status"].get("share") == 0.5), set()
            async with aclosing(made.fetch(RUN, request, run)) as payloads:
                async for item in payloads:
                    first(item)
                    if item["status"].get("share") == 0.5:
                        pids.add(made.health.pid)
                    if len(pids) == 2:
                        run.stop()
            assert len(pids) == 2, "it went on in the engine that was started again"
            assert text(await told(made, *asked("short"), lambda _: None)) == 4

    awaited(check())


def test_a_fetch_that_nobody_waits_for_ends_and_holds_up_no_run() -> None:
    async def check() -> None:
        async with engine() as made:
            slow = [asked("short", f"slow{i}") for i in range(3)]
            fetches = [asyncio.ensure_future(anext(made.fetch(RUN, *one))) for one in slow]
            await asyncio.gather(*fetches)
            assert text(await told(made, *asked("short"), lambda _: None)) == 4

    awaited(check())


def test_an_engine_that_makes_no_step_is_ended_though_its_process_lives() -> None:
    async def check() -> None:
        async with engine(still_s=1.0) as made:
            said = await told(made, *asked("sleep"), lambda _: None)
            assert "made no step for" in said[-1]["status"]["text"]

    awaited(check())


@pytest.mark.everything  # test_seats.py has a request that is refused
def test_a_request_at_which_it_ended_twice_is_not_run_a_third_time() -> None:
    async def check() -> None:
        async with engine(pauses_s=(0.0, 0.0, 0.0)) as made:
            ends = [(await told(made, *asked("exit"), lambda _: None))[-1]["status"]["text"] for _ in range(3)]
            assert ["exit code 7" in end for end in ends] == [True, True, False]
            assert "twice" in ends[2]
            assert text(await told(made, *asked("short"), lambda _: None)) == 4, "others are"
            made._blamed = [(at - process.BLAMED_S, *more) for at, *more in made._blamed]  # type: ignore[misc]
            assert "twice" not in (await told(made, *asked("exit"), lambda _: None))[-1]["status"]["text"], "it ages"

    awaited(check())


@pytest.mark.everything
def test_an_engine_that_ends_again_and_again_rests_and_says_what_works_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(process, "BLAMED", 9)

    async def check() -> None:
        async with engine(pauses_s=(0.0, 0.0)) as made:
            ends = [(await told(made, *asked("exit"), lambda _: None))[-1]["status"] for _ in range(4)]
            assert made.health.state == "down"
            assert [end["mode"] for end in ends] == ["error"] * 4
            assert "rests" in ends[2]["text"] and "recordings" in ends[3]["text"]

    awaited(check())


def test_a_run_that_is_stopped_ends_and_one_that_is_left_frees_the_engine() -> None:
    async def check() -> None:
        async with engine() as made:
            request, run = asked("write")
            said = await told(made, request, run, once(run.stop, in_a_round))
            assert said[-1]["final"] and said[-1]["status"]["mode"] == "live"
            request, run = asked("write")
            payloads = made.work(RUN, request, run)
            async for item in payloads:
                if in_a_round(item):
                    break
            await payloads.aclose()
            assert run.stage == "done" and text(await told(made, *asked("short"), lambda _: None)) == 4

    awaited(check())


OTHER_VERSION = f"""
import sys
from io import FileIO
from app.kit.elsewhere import send
from app.serve.engines.messages import Ready, pack
send(FileIO(1, "w"), pack(Ready({VERSION + 1}, 1)))
sys.stdin.read()
"""


def test_an_engine_of_another_version_is_not_spoken_to() -> None:
    said = awaited(_ended(OTHER_VERSION))
    assert f"version {VERSION + 1} of the protocol and this page version {VERSION}" in said
    assert "Start the server again" in said


@pytest.mark.everything
def test_a_run_is_told_that_its_engine_is_of_another_version_and_the_cure() -> None:
    async def check() -> None:
        said = await _refused([sys.executable, "-c", OTHER_VERSION])
        assert f"version {VERSION + 1} of the protocol and this page version {VERSION}" in said
        assert "Start the server again" in said and "recordings" in said

    awaited(check())


@pytest.mark.everything
def test_a_cluster_that_does_not_answer_is_named_to_who_asks_for_a_run() -> None:
    pytest.importorskip("ray.serve", reason="app/requirements-ray.txt is not installed")
    command = [sys.executable, "-m", "app.engine_cluster", "ray://127.0.0.1:1", "1", "1", "", ""]

    async def check() -> None:
        said = await _refused(command)
        assert "no Ray cluster answers at ray://127.0.0.1:1: " in said and "refused" in said and "recordings" in said

    awaited(check())


async def _refused(command: list[str]) -> str:
    """What a run is told whose engine cannot be started."""
    made = ProcessEngine(command, Hello(VERSION), lambda _: False, pauses_s=(60.0,))
    made.start()
    try:
        end = (await told(made, *asked("short"), lambda _: None))[-1]
    finally:
        made.close(0.0)
    assert end["final"] and end["status"]["mode"] == "error"
    return str(end["status"]["text"])


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.everything
def test_two_pages_cannot_speak_to_one_engine() -> None:
    """What it is spoken to over are pipes without a name, which nobody else holds, and it listens nowhere."""

    def held(pid: int) -> set[str]:
        found = {os.readlink(one) for one in Path(f"/proc/{pid}/fd").iterdir()}
        assert not [one for one in found if one.startswith("socket:")]
        return {os.readlink(f"/proc/{pid}/fd/0"), *(one for one in found if one.startswith("pipe:"))}

    async def check() -> None:
        async with engine() as one, engine() as other:
            for made in (one, other):
                assert text(await told(made, *asked("short"), lambda _: None)) == 4
            first, second = held(one.health.pid), held(other.health.pid)
            shared = {os.readlink(f"/proc/self/fd/{fd}") for fd in (1, 2)}  # what is printed goes where ours goes
            assert len(first) >= 2 and all(end.startswith("pipe:") for end in first)
            assert not (first & second) - shared

    awaited(check())


def test_what_an_engine_says_that_is_no_message_ends_it() -> None:
    said = awaited(_ended("print('Hello, I am a library', flush=True); import sys; sys.stdin.read()"))
    assert "does not understand" in said


async def _ended(program: str) -> str:
    loop = asyncio.get_running_loop()
    over: asyncio.Future[str] = loop.create_future()
    made = Spawned(
        [sys.executable, "-c", program],
        Hello(VERSION),
        lambda _: None,
        lambda why: loop.call_soon_threadsafe(over.set_result, why),
    )
    try:
        return await asyncio.wait_for(over, 20)
    finally:
        made.end(0.0)


def test_of_what_a_run_has_written_each_record_crosses_once_and_messages_come_back_as_they_went() -> None:
    one = Sent("r" * 32, [{"event": "commit", "p": 0.25, "tokens": [1, None, "x"]}], True, {"mode": "live"}, 1.5)
    assert from_engine(pack(one)) == one
    assert from_engine(pack(Ready(VERSION, 7))) == Ready(VERSION, 7)

    async def check() -> None:
        async with engine() as made:
            request, run = asked("short")
            said = await told(made, request, run, lambda _: None)
            assert [record for item in said for record in item["ev"]] == run.records
            assert said[-1]["final"]

    awaited(check())


def test_the_page_s_process_holds_no_model_whatever_is_run() -> None:

    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    environment.pop("GRADIO_SERVER_PORT", None)
    with subprocess.Popen([sys.executable, "app.py"], stdout=subprocess.PIPE, text=True, env=environment) as server:
        try:
            assert server.stdout is not None
            address = next(line for line in server.stdout if "127.0.0.1" in line).split()[-1]
            with httpx.Client(base_url=address, timeout=60) as client:
                asked_for = {"data": ["The tower", "table@id=order1,table@id=order6", "toy", 0, 0, 1, 0, 16, False]}
                event = client.post("/gradio_api/call/run_stack", json=asked_for).json()["event_id"]
                reply = client.get(f"/gradio_api/call/run_stack/{event}", timeout=120).text
                assert "event: complete" in reply, reply[:500]
                health = client.get("/health").json()
                assert health["page"] == "ok" and health["waiting"] == 0
                assert health["engine"]["state"] == "ok" and health["engine"]["restarts"] == 0
                if sys.platform == "linux":
                    pids = (health["pid"], health["engine"]["pid"])
                    page, model = (Path(f"/proc/{pid}/maps").read_text() for pid in pids)
                    assert "libtorch" in model
                    assert not [name for name in ("libtorch", "onnxruntime", "tokenizers") if name in page]
        finally:
            server.terminate()
            server.wait(20)
