"""Several visitors at once: the engine's process joins their passes, and each has the text that it has alone."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from pagekit import awaited
from standing import arrive, run
from test_engine_process import FRAIL, asked, in_a_round, once, text, told

from app import options
from app.serve.engine import RUN, Job, Payload
from app.serve.engines.messages import VERSION, Hello
from app.serve.engines.process import ProcessEngine
from app.serve.engines.seats import Seats, Work
from app.serve.line import line as lines
from app.serve.line.known_runs import Run
from app.serve.line.line import Line
from app.serve.line.run_lengths import RunKind
from app.serve.service import waiting
from app.serve.settings import RunRequest
from app.serve.watch.prometheus import Tally

pytestmark = pytest.mark.skipif(os.name == "nt", reason="sends signals")
STACK = "exit:2@at=2,target"


@pytest.fixture(autouse=True)
def looking_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LOOK_S", 0.0)


def joining(batch: int) -> ProcessEngine:
    made = ProcessEngine(FRAIL, Hello(VERSION, batch=batch), lambda _: False, pauses_s=(0.0, 0.0, 0.0))
    made.start()
    return made


def small(prompt: str, tokens: int) -> tuple[RunRequest, Run]:
    request, run = asked(prompt)
    request = RunRequest(run.name, prompt, STACK, "frail", max_new_tokens=tokens, baseline=False)
    return request, run


def decided(run: Run) -> list[Any]:
    """What a run drafted, judged and committed, without its times."""
    parts = {"draft": "tokens", "verify": "checks", "commit": "tokens"}
    return [record[parts[record["event"]]] for record in run.records if record["event"] in parts]


def met(run: Run) -> set[int]:
    """With how many runs, itself counted, it was in a pass."""
    return {len(record["notes"]["batch"]["runs"]) for record in run.records if record["event"] == "verify"}


def test_visitors_who_share_passes_have_the_text_that_they_have_alone_whatever_becomes_of_the_others() -> None:
    async def check() -> None:
        made = joining(4)
        try:
            alone = [small("1 2", 30), small("7 8 9", 20)]
            for request, one in alone:
                await told(made, request, one, lambda _: None)
            assert made.places == 4 and all(met(one) == {1} for _, one in alone)
            runs = [small("1 2", 30), small("7 8 9", 20), small("4 4", 180), small("fail 5", 180)]
            stop = once(runs[2][1].stop, in_a_round)
            acts = [lambda _: None, lambda _: None, stop, lambda _: None]
            sent = await asyncio.gather(*(told(made, *one, act) for one, act in zip(runs, acts, strict=True)))
            for (_, before), (_, now), payloads in zip(alone, runs, sent, strict=False):
                assert payloads[-1]["final"] and payloads[-1]["status"]["mode"] == "live"
                assert decided(now) == decided(before)
                assert "other runs shared its passes" in payloads[-1]["status"]["text"]
                assert max(met(now)) >= 2
            for payloads, end in zip(sent[2:], ("stopped", "it failed in round 3"), strict=True):
                assert end in payloads[-1]["status"]["text"] and 0 < text(payloads) < 180
        finally:
            made.close(0.0)

    awaited(check())


def test_of_requests_at_work_when_the_engine_died_the_one_that_ends_it_alone_too_is_refused() -> None:
    async def check() -> None:
        made = joining(2)
        try:
            request, one = asked("long")
            other = asyncio.ensure_future(told(made, request, one, lambda _: None))
            while not any(record["event"] == "commit" for record in one.live):
                await asyncio.sleep(0.01)
            assert made.group(RUN, request) == ("frail", None)
            end = (await told(made, *asked("exit"), lambda _: None))[-1]["status"]
            assert "exit code 7" in end["text"] and "exit code 7" in (await other)[-1]["status"]["text"]
            assert text(await other) > 0, "what it had written is kept"
            assert made.group(RUN, request) is None, "each is worked on alone the next time"
            assert text(await told(made, *asked("long"), lambda _: None)) == 40
            ends = [(await told(made, *asked("exit"), lambda _: None))[-1]["status"]["text"] for _ in range(2)]
            assert "exit code 7" in ends[0] and "twice" in ends[1]
            again, _ = asked("long")
            assert made.group(RUN, again) == ("frail", None), "it ended well"
        finally:
            made.close(0.0)

    awaited(check())


def test_a_job_for_the_engine_alone_waits_for_those_at_work_and_holds_up_those_behind_it() -> None:
    began, ended, gates = list[str](), threading.Semaphore(0), dict[str, threading.Event]()
    gates |= {name: threading.Event() for name in ("one", "two", "alone", "behind")}

    def write(loader: Any, name: str, run: Run) -> Iterator[Payload]:
        began.append(name)
        gates[name].wait(20)
        yield {"final": True}

    job: Any = Job("any", SimpleNamespace, write)
    seats = Seats(2, SimpleNamespace(started_by=lambda _: None), lambda *_: None, lambda _: ended.release())  # type: ignore[arg-type]
    threading.Thread(target=seats.work, daemon=True).start()
    for name in gates:
        seats.begin(Work(job, lambda name=name: name, Run(name), name != "alone"))  # type: ignore[misc]
    for count, over in ((2, ("one", "two")), (3, ("alone",)), (4, ("behind",))):
        until = time.monotonic() + 20
        while len(began) < count and time.monotonic() < until:
            time.sleep(0.01)
        assert len(began) == count
        for name in over:
            gates[name].set()
            assert ended.acquire(timeout=20)
    assert sorted(began[:2]) == ["one", "two"] and began[2:] == ["alone", "behind"]


def test_runs_of_one_group_have_their_turns_together_and_one_alone_waits_for_them_in_turn() -> None:
    async def check() -> None:
        line, runs = Line(at_once=lambda: 3), [run(name) for name in ("a", "b", "race", "c", "other")]
        for one, group in zip(runs, ("x", "x", None, "x", "y"), strict=True):
            one.group = lambda group=group: group  # type: ignore[misc]
        await arrive(line, *runs)
        assert line.running == runs[:2], "there is room, but the race is next"
        for over, now in ((0, runs[1:2]), (1, runs[2:3]), (2, runs[3:4]), (3, runs[4:])):
            line.leave(runs[over])
            await asyncio.sleep(0.01)
            assert line.running == now

    awaited(check())


@pytest.mark.parametrize("whose", ["session", "address"])
def test_nobody_has_all_places_while_somebody_else_waits(whose: str) -> None:
    async def check() -> None:
        now = 0.0
        line = Line(lambda: now, at_once=lambda: 2)
        mine = {"session": "mine"} if whose == "session" else {"address": "10.0.0.9"}
        first, running, again, newcomer = run("a", **mine), run("b"), run("c", **mine), run("d")
        await arrive(line, first, running, again)
        now = 1000.0
        await arrive(line, newcomer)
        line.leave(running)
        await asyncio.sleep(0.01)
        assert line.running == [first, newcomer]

    awaited(check())


@pytest.mark.parametrize(("group", "pace"), [("x", 6.0), ("", 24.0)])
def test_answers_a_minute_are_not_taken_for_more_than_they_were_where_places_share_passes(
    group: str, pace: float
) -> None:
    async def check() -> None:
        now = 0.0
        line = Line(lambda: now, at_once=lambda: 4)
        for i in range(3):
            one = run(f"{i}")
            one.kind, one.group = RunKind(), lambda: group
            await arrive(line, one)
            now += 10
            line.leave(one)
        assert line.pace == pytest.approx(pace)

    awaited(check())


def test_a_waiting_run_is_told_how_many_have_their_turns_together() -> None:
    said = waiting(5, None, 4)
    assert said["text"] == "waiting: 5 runs are ahead of yours"
    assert said["detail"].startswith("4 runs are decoded at a time. You may")


def test_the_runs_in_a_pass_are_counted_once() -> None:
    tally, levels = Tally(), [{"kind": "exit"}, {"kind": "target"}]
    shared = [{"runs": [0, 1], "rows": [1, 3], "passes": 4, "ns": 9}, {"runs": [0], "passes": 2}]
    records = [{"event": "verify", "level": 1, "notes": {"batch": note}} for note in shared]
    tally.count({"from": 0, "ev": [{"event": "header", "levels": levels}, *records]})
    assert tally.passes == {"target": (4 / 2 + 2, 4 + 2)}


@pytest.mark.parametrize(
    ("given", "cure"),
    [
        (["--batch", "0"], "1 to 64, such as 4"),
        (["--batch", "4", "--engine", "inline"], "leave it (or HSD_BATCH) out"),
        (["--batch", "4", "--engine", "ray"], "--replicas"),
    ],
)
def test_a_batch_that_cannot_be_is_refused_with_the_cure(
    given: list[str], cure: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(options, "check_engine", lambda _: None)
    with pytest.raises(SystemExit):
        options.parse(given)
    assert cure in capsys.readouterr().err
