"""What a run that waits, or is refused, is told of the time: it comes from runs of its kind that came to their end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import aclosing
from types import SimpleNamespace
from typing import Any

import pytest
from pagekit import asked, awaited
from standing import arrive, run

from app.kit.payload import payload, status
from app.serve.engine import _loading
from app.serve.engines.inline import InlineEngine
from app.serve.line import line as lines
from app.serve.line.known_runs import Run, Visitor
from app.serve.line.line import Line, Refused
from app.serve.line.run_lengths import RunKind, RunLengths
from app.serve.loader import Loader
from app.serve.service import Service, waiting
from app.serve.settings import parse
from app.tabs.race.race_request import asked_for
from app.tabs.results.quick import PROMPTS, TOKENS, QuickRequest
from hsd_core.pipeline import Pipeline


@pytest.fixture(autouse=True)
def looking_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LOOK_S", 0.0)


def middle(line: Line, one: Run) -> float:
    """What a run is told of its wait, from and to: the time between."""
    wait = line.place(one)[1]
    assert wait is not None
    return sum(wait) / 2


def test_the_wait_is_estimated_from_runs_that_were_measured_and_only_then() -> None:
    now = 100.0

    async def check() -> None:
        nonlocal now
        line, runs = Line(lambda: now), [run(f"{i}") for i in range(4)]
        await arrive(line, *runs)
        assert line.place(runs[2]) == (2, None)
        now += 20
        line.leave(runs[0])
        while not line.runs(runs[1]):
            await asyncio.sleep(0)
        now += 5
        assert [line.place(r)[0] for r in runs[2:]] == [1, 2]
        assert [middle(line, r) for r in runs[2:]] == [15.0, 35.0], "twenty seconds a run, five of them over"

    awaited(check())


def test_with_two_engines_a_place_is_free_when_the_first_run_ends_and_half_as_long_is_waited_for_those_before() -> None:
    now = 100.0

    async def check() -> None:
        nonlocal now
        line, runs = Line(lambda: now, at_once=lambda: 2), [run(f"{i}") for i in range(6)]
        await arrive(line, *runs)
        now += 20
        for i in range(2):
            line.leave(runs[i])
            while not line.runs(runs[i + 2]):
                await asyncio.sleep(0)
        now += 5
        assert [middle(line, r) for r in runs[4:]] == [15.0, 25.0], "twenty seconds a run, five of them over"

    awaited(check())


def test_a_run_that_was_stopped_or_left_says_nothing_of_what_runs_take() -> None:
    now = 100.0

    async def check() -> None:
        nonlocal now
        line, runs = Line(lambda: now), [run(f"{i}") for i in range(5)]
        await arrive(line, *runs)
        for i, (took, whole) in enumerate([(20, True), (1, False), (0, False)]):
            now += took
            line.leave(runs[i], whole=whole)
            while not line.runs(runs[i + 1]):
                await asyncio.sleep(0)
        assert middle(line, runs[4]) < 20.0, "it may be left too"
        assert line._lengths.typical(runs[4].kind).seconds == 20.0

    awaited(check())


def test_a_run_is_estimated_by_those_of_its_kind_and_length() -> None:
    lengths = RunLengths()
    short, long = (RunKind("run", "smollm2", beside=("baseline",), tokens=n) for n in (32, 512))
    for _ in range(3):
        lengths.add(short, 4.0)
        lengths.add(long, 40.0)
        lengths.add(RunKind("race", "smollm2", tokens=32), 90.0)
    assert lengths.typical(short).seconds == 4.0
    assert lengths.typical(long).seconds == 40.0
    assert lengths.typical(RunKind("run", "smollm2", tokens=64)).seconds == pytest.approx((8 + 5) / 2), "by its tokens"
    assert lengths.typical(RunKind("run", "toy", tokens=32)) is None
    assert lengths.left(short, 3.0).seconds == 1.0
    assert lengths.left(short, 8.0).seconds == 2.0, "longer than any before it: a while yet"


@pytest.mark.parametrize(
    ("ends", "counts"), [("whole", True), ("early", True), ("stopped", False), ("refused", False), ("left", False)]
)
def test_only_a_run_that_came_to_its_end_says_what_such_runs_take(ends: str, counts: bool) -> None:
    service = Service(InlineEngine(Loader(Pipeline)))
    kind = RunKind("race", "toy", tokens=64)

    def write(one: Run) -> Iterator[dict[str, Any]]:
        one.state = status("live", "generating")
        yield payload(one.name, 0, [], False, one.state)
        if ends == "stopped":
            service.runs.stop(one.name)
        one.stopped.set()  # as the engine's consumer does at its end
        one.state = status("error" if ends == "refused" else "live", ends)
        yield payload(one.name, 0, [], True, one.state)

    async def follow() -> None:
        async with aclosing(service.serve(*asked(write, kind), Visitor(page=False))) as payloads:
            async for _ in payloads:
                if ends == "left":
                    break

    awaited(follow())
    assert (service.line._lengths.typical(kind) is not None) is counts
    assert not service.line.running


def test_a_request_says_what_kind_of_work_it_is() -> None:
    one = {"run": "r" * 32, "prompt": "x", "preset": "toy", "max_new_tokens": 64}
    own = parse({**one, "stack": "table@id=order6", "depths": True})
    assert own.kind == RunKind("run", "toy", None, ("baseline", "depths"), 64)
    stacks = ["table@id=order1", "table@id=order6"]
    lanes = asked_for({**one, "stacks": stacks, "repeats": 3}, Pipeline.catalogue())
    assert lanes.kind == RunKind("race", "toy", tokens=3 * 2 * 64)
    quick = QuickRequest("r" * 32, "toy", {"default": ",".join(stacks)})
    assert quick.kind == RunKind("quick", "toy", tokens=2 * PROMPTS * TOKENS), "and plain decoding beside it"


def test_while_weights_are_fetched_nothing_is_estimated_and_it_is_no_part_of_what_runs_take() -> None:
    now = 100.0

    async def check() -> None:
        nonlocal now
        line, runs = Line(lambda: now), [run(f"{i}") for i in range(4)]
        await arrive(line, *runs)
        now += 10
        line.leave(runs[0])
        while not line.runs(runs[1]):
            await asyncio.sleep(0)
        runs[1].state = {"mode": "loading", "stage": "download"}
        now += 300
        assert line.place(runs[2]) == (1, None)
        runs[1].state, runs[1].loading = {"mode": "live"}, 300.0
        assert middle(line, runs[2]) == 10.0
        now += 10
        line.leave(runs[1])
        assert line._lengths.typical(runs[2].kind).seconds == 10.0

    awaited(check())


def test_who_is_refused_is_told_when_a_place_is_free_that_is_promised_to_nobody_else() -> None:
    now, kind = 0.0, RunKind()
    line = Line(lambda: now)
    for _ in range(20):
        line._lengths.add(kind, 10.0)
    running = line.admit(run("0"))
    assert line.begins(running)
    line.withdraw(running)
    for i in range(1, lines.PLACES):
        line.admit(run(f"{i}"))

    def told(session: str) -> str:
        with pytest.raises(Refused) as refused:
            line.admit(run(session))
        return str(refused.value).split("; ")[1].split(",")[0]

    assert [told(name) for name in ("a", "b", "c", "a")] == [f"try again in about {s} s" for s in (10, 20, 30, 30)]


@pytest.mark.parametrize(
    ("ahead", "wait", "said"),
    [
        (0, (20.0, 30.0), "waiting: yours is next"),
        (1, None, "waiting: 1 run is ahead of yours"),
        (3, (41.0, 44.0), "waiting: 3 runs are ahead of yours, about 45 s judging by similar runs here"),
        (3, (31.0, 52.0), "waiting: 3 runs are ahead of yours, 35 to 55 s judging by similar runs here"),
        (9, (70.0, 130.0), "waiting: 9 runs are ahead of yours, 1 to 3 min judging by similar runs here"),
        (9, (100.0, 170.0), "waiting: 9 runs are ahead of yours, 2 to 3 min judging by similar runs here"),
        (9, (170.0, 175.0), "waiting: 9 runs are ahead of yours, about 3 min judging by similar runs here"),
    ],
)
def test_a_waiting_run_says_its_place_and_an_estimate_as_what_it_is(ahead: int, wait: Any, said: str) -> None:
    assert waiting(ahead, wait)["text"] == said


def test_what_is_fetched_is_told_in_bytes_and_what_is_only_read_is_not() -> None:
    def said(stage: str, done: float, total: float) -> tuple[str, float | None]:
        state = _loading(SimpleNamespace(said=(stage, done, total)), 2.0)  # type: ignore[arg-type]
        return state["text"], state["share"]

    text, share = said("download", 34e6, 93e6)
    assert text.endswith(", 34 of 93 MB") and share == pytest.approx(34 / 93)
    assert said("download", 0.5e6, 1.2e6)[0].endswith(", 0.5 of 1.2 MB")
    assert said("download", 0.4e9, 1.3e9)[0].endswith(", 0.4 of 1.3 GB")
    assert "MB" not in said("load", 1, 3)[0]
