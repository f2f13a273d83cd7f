"""What a visitor's runs wrote is looked in by the same visitor's coming runs, and by nobody else's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from pagekit import AllHere, launched, plain_run
from visiting import Visit

from app.serve.line.known_runs import KEEP, Run, Runs, Visitor
from app.tabs.race.race_request import asked_for
from hsd_core.core.events import Event, Header
from hsd_core.export.run_page import RecordStream
from hsd_core.pipeline import Pipeline

LOOKS = {"preset": "smollm2", "stack": "suffix:8@earlier=runs,target"}


class Recalling(AllHere):
    """A pipeline that writes the prompt, and notes behind what."""

    catalogue = staticmethod(Pipeline.catalogue)

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def open(self, preset: str, **options: Any) -> Recalling:
        return self

    def entries(self, stack: str) -> None:
        """Nothing to build."""

    def run(self, stack: str, prompt: str, *, earlier: Any, **options: Any) -> Iterator[Event]:
        self.seen.append(earlier)
        if prompt == "crash":
            raise ValueError("no such prompt")
        yield from written(prompt)


def written(prompt: str) -> list[Event]:
    header, *rest = plain_run(list(prompt))
    assert isinstance(header, Header)
    return [replace(header, preset="smollm2", prompt_ids=(len(prompt),)), *rest]


def test_a_page_looks_back_on_its_own_whole_runs_and_on_no_other_visitors(tmp_path: Path) -> None:
    pipeline = Recalling()
    with launched(pipeline, traces=tmp_path) as url:
        one, other = Visit(url, page=True), Visit(url, page=True)
        for visit, prompt, more in (
            (one, "ab", {}),
            (one, "crash", {}),
            (other, "abcd", {}),
            (one, "abc", {}),
            (one, "a", {"stack": "suffix:8,target"}),
            (other, "a", {}),
        ):
            list(visit.generate(**{**LOOKS, **more}, prompt=prompt))
        one.run_stack(**LOOKS, prompt="ab")  # a program has no page
    mine, theirs = ((2,), (0, 1)), ((4,), (0, 1, 2, 3))
    assert pipeline.seen == [(), (mine,), (), (mine,), (), (theirs,), ()]


def test_a_race_looks_back_in_every_lane() -> None:
    asked = {"run": "r" * 32, "prompt": "x", "preset": "smollm2", "stacks": [LOOKS["stack"], "target"], "repeats": 1}
    race, mine = asked_for(asked, Pipeline.catalogue()), (((2,), (0, 1)),)
    pipeline = Recalling()
    assert race.looks_back and {lane.earlier for lane in race.behind(mine).lanes} == {mine}
    list(race.behind(mine).lanes[0].start(pipeline))
    assert pipeline.seen == [mine]


def test_a_server_remembers_what_its_last_runs_wrote_each_for_its_session_and_its_target() -> None:
    runs = Runs()

    def wrote(name: str, session: str, prompt: str) -> None:
        run, records = Run(name, Visitor((session,)), state={"mode": "live"}), RecordStream()
        for event in written(prompt):
            records.feed(event)
        run.live = records.records
        runs.announce(run).done()

    for n in range(KEEP + 4):
        wrote(f"own-{n}", "one", "ab")
    wrote("other", "two", "abc")
    wrote("nobody", "", "abc")
    assert len(runs.written("one", "smollm2")) == KEEP - 1 and runs.written("two", "smollm2") == (((3,), (0, 1, 2)),)
    assert runs.written("", "smollm2") == runs.written("one", "qwen-coder") == ()
