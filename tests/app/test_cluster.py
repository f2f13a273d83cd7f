"""Engines of a Ray cluster, in Ray Serve's local testing mode: runs as anywhere, ended when nobody wants them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from pagekit import awaited

from app.engine_process import works
from app.serve.engines.cluster import run_desk as desks
from app.serve.engines.cluster.run_desk import Desk
from app.serve.engines.messages import VERSION, Begin, Hello, Lost, Over, Sent, from_engine, pack
from app.serve.engines.named import EngineError, Replicas, check_engine
from app.serve.settings import RunRequest
from hsd_core.core.events import Commit
from hsd_core.pipeline import Pipeline

STACK = "table:3@id=order1,table:5@id=order3,table@id=order6"
names = iter(f"{i:032d}" for i in range(1000))


def begin(**asked: Any) -> tuple[str, bytes]:
    request = RunRequest(next(names), "The tower of levels", STACK, "toy", max_new_tokens=40, **asked)
    return request.run, pack(Begin(request.run, "run", msgspec.Raw(msgspec.msgpack.encode(request))))


async def told(desk: Any, run: str, asked: bytes, act: Callable[[int], Any] = lambda _: None) -> list[Any]:
    """Every message of a run; `act` is awaited after each question, with how many there are."""
    said: list[Any] = []
    over = False
    await desk.begin.remote(run, run, asked)
    while not over:
        bodies, over = await desk.pull.remote(run)
        said += map(from_engine, bodies)
        if (acted := act(len(said))) is not None:
            await acted
    return said


def text(said: list[Any]) -> list[int]:
    records = [record for message in said if isinstance(message, Sent) for record in message.records]
    return [one["id"] for record in records if record["event"] == "commit" for one in record["tokens"]]


@pytest.fixture(scope="module")
def desk() -> Any:
    pytest.importorskip("ray.serve", reason="app/requirements-ray.txt is not installed")
    from app.serve.engines.cluster.deployed import deploy

    found, places = deploy("", Replicas(1, 3), works, pack(Hello(VERSION)), local=True)
    assert places == 3
    return found


def test_a_run_of_a_replica_is_the_run_of_any_engine(desk: Any) -> None:
    said = awaited(told(desk, *begin(baseline=True)))
    assert isinstance(said[-1], Over) and said[-2].final and said[-2].state["mode"] == "live"
    plain = Pipeline.open("toy").run("table@id=order6", "The tower of levels", max_new_tokens=40, baseline=False)
    assert text(said) == [one.id for event in plain if isinstance(event, Commit) for one in event.tokens]


def test_a_stopped_run_ends_at_its_next_forward_with_what_it_has_written(
    desk: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.serve.engines.cluster import replica

    monkeypatch.setattr(replica, "ASK_S", 0.0)
    run, asked = begin(baseline=True)
    said = awaited(told(desk, run, asked, lambda count: desk.stop.remote(run) if count == 1 else None))
    assert isinstance(said[-1], Over) and said[-2].final
    assert said[-2].state["text"] == "stopped" or len(text(said)) == 40, "on a quick machine it was over before"


def test_what_a_replica_is_asked_wrongly_is_a_sentence_and_it_works_on(desk: Any) -> None:
    run, _ = begin()
    wrong = pack(Begin(run, "run", msgspec.Raw(msgspec.msgpack.encode({"run": run, "preset": 3}))))
    said = awaited(told(desk, run, wrong))
    assert isinstance(said[-1], Lost) and "ended" in said[-1].why
    assert isinstance(awaited(told(desk, *begin()))[-1], Over)


class Streams:
    """A handle of replicas that tell what a test has them tell."""

    def __init__(self, tell: Callable[[], AsyncIterator[bytes]]) -> None:
        self.work = SimpleNamespace(remote=lambda *_: tell())

    def options(self, **_: Any) -> Streams:
        return self


def test_the_desk_keeps_what_is_told_until_it_is_asked_and_says_when_nobody_asks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(desks, "PULL_S", 0.01)

    async def two() -> AsyncIterator[bytes]:
        yield b"one"
        yield b"two"
        await asyncio.sleep(0.05)
        raise ConnectionResetError("the machine is gone")

    async def check() -> None:
        desk = Desk(Streams(two), None)
        await desk.begin("key", "run", b"")
        await asyncio.sleep(0.01)
        assert await desk.pull("key") == ([b"one", b"two"], False)
        assert await desk.wanted("key") and not await desk.wanted("another")
        monkeypatch.setattr(desks, "LEFT_S", 0.0)
        assert not await desk.wanted("key"), "nobody has asked about it for a while"
        said, over = [], False
        while not over:
            more, over = await desk.pull("key")
            said += more
        (lost,) = map(from_engine, said)
        assert isinstance(lost, Lost) and lost.run == "run" and "ConnectionResetError" in lost.why
        with pytest.raises(KeyError):
            await desk.pull("another")

    awaited(check())


@pytest.mark.parametrize(
    ("many", "each", "expected"),
    [
        ("", "", Replicas(1, 1)),
        ("4", "", Replicas(4, 4)),
        ("0-4", "gpus=1", Replicas(0, 4, gpus=1.0)),
        ("1-2", "cpus=2,gpus=0.5", Replicas(1, 2, 2.0, 0.5)),
    ],
)
def test_how_many_replicas_is_read_from_the_command_line(many: str, each: str, expected: Replicas) -> None:
    assert Replicas.of(many, each) == expected


@pytest.mark.parametrize(
    ("many", "each"),
    [("0", ""), ("3-2", ""), ("1-65", ""), ("1-2-3", ""), ("many", ""), ("1", "cpus"), ("1", "cpus=0"), ("1", "ram=2")],
)
def test_what_no_cluster_can_have_is_refused_with_the_cure(many: str, each: str) -> None:
    with pytest.raises(EngineError, match="write"):
        Replicas.of(many, each)


@pytest.mark.parametrize("name", ["rey", "ray://", "ray://host", "ray://host:0", "ray://host:70000", "ray://:1"])
def test_an_engine_that_there_is_not_is_refused(name: str) -> None:
    with pytest.raises(EngineError, match="the engines are process, inline, zerogpu, ray"):
        check_engine(name)


def test_without_ray_the_option_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.serve.engines.named.find_spec", lambda _: None)
    with pytest.raises(EngineError, match=r"pip install -r app/requirements-ray\.txt"):
        check_engine("ray")
