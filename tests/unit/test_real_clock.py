"""The real clock: one process a lane. What it writes is what the reckoned one writes, and it leaves nobody behind."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import msgspec
import pytest
import torch

from hsd_core import trace
from hsd_core.cli import main
from hsd_core.engine.clock import RunningClock
from hsd_core.engine.lanes.real.lane_messages import Draft, Heed, Score, pack, question
from hsd_core.engine.lanes.real.lane_pair import LanePair
from hsd_core.engine.lanes.real.spawned_lane import LaneEnded, SpawnedLane
from hsd_core.levels.memory import Memory
from hsd_core.models.machine import same_core, two_cores
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.grammar import StackError
from hsd_core.trace import file as tracefile
from hsd_core.trace import metrics
from hsd_core.trace.checks import check

PROMPT = "The small level "
PEARL = "table:3@id=order1,table@id=order6@with=pearl"
TWO = (PEARL, "table:2@id=order1,table@id=order6@with=ahead", "table:3@id=order1,table@id=order6@bonus=0")
DEEPER = (
    "table:3@id=order3@policy=confidence,table@id=order6@with=ahead",
    "table:2@id=order1@policy=adaptive,table:4@id=order3,table@id=order6@with=pearl",
    "table:2@id=order1,table:4@id=order3,table@id=order6@with=ahead",
)


@pytest.fixture(scope="module")
def toy() -> Iterator[Pipeline]:
    """The toy preset, with both processes running."""
    pipeline = Pipeline.open("toy")
    with pipeline.own_lanes():
        yield pipeline


def said(pipeline: Pipeline, stack: str, clock: str, **asked: float) -> list[trace.Event]:
    given = {"seed": 3, "max_new_tokens": 48, "clock": clock, **asked}
    return list(pipeline.run(stack, PROMPT, **given))  # type: ignore[arg-type]


def pids_of(pipeline: Pipeline) -> list[int]:
    assert pipeline._own_lanes
    return [lane.process.pid for lane in pipeline._own_lanes._lanes]


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_one_seed_gives_one_text_on_every_clock(toy: Pipeline, temperature: float) -> None:
    texts = set()
    for stack in TWO:
        for clock in ("reckoned", "real") if "@with" in stack else ("reckoned",):
            events = said(toy, stack, clock, temperature=temperature)
            assert metrics.header_of(events).overlap == (clock if "@with" in stack else "none")
            texts.add(tuple(metrics.committed_ids(events)))
    assert len(texts) == 1


@pytest.mark.parametrize("stack", DEEPER)
def test_greedy_text_is_the_targets_own_and_the_trace_adds_up(toy: Pipeline, stack: str) -> None:
    events = said(toy, stack, "real")
    assert check(events) == []
    assert metrics.committed_ids(events) == metrics.committed_ids(said(toy, "table@id=order6", "reckoned"))
    found = metrics.lanes(events)
    assert found and found.handed > 2 and found.handed_ns > 0 and max(found.below, found.target) <= found.span


def test_sampled_traces_add_up_and_hold_the_rows_that_were_drawn_from(toy: Pipeline) -> None:
    events = said(toy, DEEPER[2], "real", temperature=1.0)
    assert check(events) == []
    drafts = [event for event in events if isinstance(event, trace.Draft)]
    assert any(0.0 < q < 1.0 for event in drafts for q in event.q)
    assert all(x is not None for event in drafts for x in event.confidence)


def test_runs_share_processes_that_were_started_once_and_a_run_may_end_in_the_middle(toy: Pipeline) -> None:
    said(toy, PEARL, "real", max_new_tokens=4)
    before = pids_of(toy)
    assert len(before) == 2
    run = toy.run(PEARL, PROMPT, max_new_tokens=200, clock="real")
    for event in run:
        if isinstance(event, trace.Draft):
            break
    run.close()
    assert check(said(toy, PEARL, "real")) == [] and pids_of(toy) == before


def test_a_stop_is_heard(toy: Pipeline) -> None:
    heard = iter([False] * 30)
    events = list(toy.run(PEARL, PROMPT, max_new_tokens=400, clock="real", stop=lambda: next(heard, True)))
    assert isinstance(events[-1], trace.Footer) and events[-1].reason == "stopped"


def test_what_a_lane_cannot_do_it_says(toy: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    said(toy, PEARL, "real", max_new_tokens=4)
    monkeypatch.setattr("hsd_core.engine.lanes.real.lane_pair.format_stack", lambda specs: "table:2,nothing")
    with pytest.raises(RuntimeError, match='the lane "table:3@id=order1" could not do what it was asked: StackError'):
        said(toy, PEARL, "real")


def test_a_lane_that_dies_ends_the_run_with_its_name_and_the_cure() -> None:
    pipeline = Pipeline.open("toy")
    with pipeline.own_lanes():
        run = pipeline.run(PEARL, PROMPT, max_new_tokens=400, clock="real")
        list(islice(run, 12))
        one, other = pids_of(pipeline)
        os.kill(one, signal.SIGKILL)
        with pytest.raises(
            LaneEnded, match=rf'"table:3@id=order1" \(process {one}\) ended .*SIGKILL.*--clock reckoned'
        ):
            list(run)
        assert lives(other)
    assert not lives(one) and not lives(other)


def test_closing_the_run_leaves_no_process_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[SpawnedLane] = []
    spawn = SpawnedLane.__init__

    def noted(self: SpawnedLane, *given: object) -> None:
        spawn(self, *given)  # type: ignore[arg-type]
        started.append(self)

    monkeypatch.setattr(SpawnedLane, "__init__", noted)
    pipeline = Pipeline.open("toy")
    never = pipeline.run(PEARL, PROMPT, clock="real")
    never.close()
    assert not started, "nothing starts before the run does"
    run = pipeline.run(PEARL, PROMPT, max_new_tokens=400, clock="real")
    for event in run:
        if isinstance(event, trace.Commit):
            break
    assert len(started) == 2 and all(lives(lane.pid) for lane in started)
    run.close()
    assert not any(lives(lane.pid) for lane in started)


def test_the_command_names_its_clock(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.jsonl.gz"
    asked = ["generate", "--preset", "toy", "--prompt", PROMPT, "--max-new-tokens", "24", "--clock", "real"]
    assert main([*asked, "--stack", PEARL, "--baseline", "--trace", str(path)]) == 0
    err = capsys.readouterr().err
    assert "REAL: two processes" in err and "real speed-up" in err and "handing work over took" in err
    assert metrics.header_of(tracefile.read(path)).overlap == "real"
    assert main([*asked, "--stack", "table:3@id=order1,table@id=order6"]) == 2
    assert "@with=pearl" in capsys.readouterr().err


def test_a_recording_says_its_clock_and_another_one_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = {"name": "one", "title": "One", "preset": "toy", "stack": PEARL, "prompt": PROMPT, "max_new_tokens": 16}
    listed = tmp_path / "list.jsonl"
    listed.write_text(json.dumps({**entry, "clock": "sundial"}) + "\n")
    asked = ["record", "--list", str(listed), "--out", str(tmp_path / "out"), "--repeats", "1"]
    assert main(asked) == 2 and "use reckoned or real" in capsys.readouterr().err
    listed.write_text(json.dumps({**entry, "clock": "real"}) + "\n")
    assert main(asked) == 0
    assert metrics.header_of(tracefile.read(tmp_path / "out" / "one.jsonl.gz")).overlap == "real"


def test_weights_that_are_loaded_once_more_are_part_of_what_a_run_takes(
    toy: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[int] = []
    monkeypatch.setattr("hsd_core.pipeline.refuse", lambda needed, *_: refused.append(needed))
    monkeypatch.setattr(toy, "_memory", lambda *_: Memory(1000, 20, 3))
    monkeypatch.setattr(toy, "_own_lanes", None)
    for clock in ("reckoned", "real"):
        toy.run(PEARL, PROMPT, clock=clock).close()
    assert refused == [23, 1023]


def test_the_real_clock_is_for_levels_on_the_cpu(toy: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toy.entries(PEARL)[0].level, "device", "cuda")
    with pytest.raises(StackError, match="--device cpu or --clock reckoned"):
        said(toy, PEARL, "real")


def test_a_benchmark_refuses_at_once_what_has_no_real_lanes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stacks = tmp_path / "stacks.txt"
    stacks.write_text("table:3@id=order1,table@id=order6@with=card\n")
    asked = ["bench", "--preset", "toy", "--no-peers", "--stacks", str(stacks), "--clock", "reckoned", "real"]
    assert main(asked) == 2
    assert "leave the real one out" in capsys.readouterr().err


def test_the_clock_goes_on_while_a_lane_is_at_work() -> None:
    clock = RunningClock()
    with clock.stopped():
        assert clock.now() == clock.now()
    clock.at_work = 1
    with clock.stopped():
        before = clock.now()
        while clock.now() == before:
            pass


def test_messages_cross_whole_and_what_is_none_is_refused() -> None:
    for message in (Draft(1, 0, [1, 2], 4, 0, None), Score(2, 1, [3], [4, 5]), Heed(3, 0, 7, [1])):
        rows = torch.rand(2, 5, dtype=torch.float64)
        found, (back, empty) = question(pack(message, [rows, torch.empty(0, 9)]))
        assert found == message and torch.equal(back, rows) and empty.shape == (0, 9)
    whole = pack(Score(2, 1, [3], []), [torch.rand(3)])
    for wrong in (b"", whole[:3], whole[:-1], b"\0\0\0\1\xc1\0\0\0\1\x90"):
        with pytest.raises(msgspec.DecodeError):
            question(wrong)


def test_two_threads_of_one_core_are_not_two_cores(tmp_path: Path) -> None:
    for cpu, siblings in enumerate(("0-1", "0-1", "2,3", "2,3")):
        folder = tmp_path / f"cpu{cpu}" / "topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(siblings)
    assert same_core(0, 1, tmp_path) and not same_core(0, 2, tmp_path) and same_core(3, 2, tmp_path)
    assert not same_core(9, 2, tmp_path)
    found = two_cores()
    assert found is None or found[0] != found[1]


def test_a_pair_that_was_never_started_has_nothing_to_end() -> None:
    LanePair(None).close()  # type: ignore[arg-type]
