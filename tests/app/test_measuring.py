"""Measuring this machine from the page: work in the line like any, which can be stopped, and is kept when whole."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from pagekit import awaited, launched

from app.serve import service
from app.serve.engine import RUN, Job
from app.serve.engines.inline import InlineEngine
from app.serve.line.known_runs import Run, Visitor
from app.serve.loader import Loader
from app.serve.settings import RequestError, parse
from app.tabs.planner import measuring
from app.tabs.planner.measuring import MeasureRequest, asked_for, measure_here
from app.tabs.planner.profiles.sources import Sources, measured_here
from hsd_core.measure.calibrate import isolated_costs, profiling
from hsd_core.pipeline import Pipeline
from hsd_core.stacks import presets
from hsd_core.stacks.presets import PRESETS
from hsd_core.theory.profiles.profile_store import FOLDER, quick_profile
from hsd_core.theory.search.default_stack import default_for_machine

NAME = "measured-here-00"
TOY = PRESETS["toy"].default_stack


@pytest.fixture(autouse=True)
def planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which nothing was kept yet, whose defaults are planned, and whose measurements are hasty."""
    monkeypatch.setenv("HSD_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("HSD_DEFAULT")
    monkeypatch.setattr(presets, "_read", lambda toy=PRESETS["toy"]: {"toy": toy})  # others' defaults would be planned
    for name, value in (("TURNS", 3), ("WARM_UP", 1), ("FEWEST", 1), ("ROWS", (1, 3))):
        monkeypatch.setattr(isolated_costs, name, value)
    quick = profiling.Effort(texts=2, tokens=8, batch=1, texts_s=0.0, costs_s=0.0, runs_s=0.0)
    monkeypatch.setattr(profiling, "QUICKLY", quick)
    monkeypatch.setattr(measuring, "PERIOD_S", 0.01)


def request() -> MeasureRequest:
    return asked_for(NAME, "toy", Pipeline.catalogue())


def test_how_far_it_is_only_rises_and_what_it_found_is_kept_for_who_comes_after() -> None:
    assert request().stacks == [TOY]
    *before, last = measure_here(Loader(Pipeline), request(), Run(NAME))
    shares = [one["status"]["share"] for one in before if one["status"].get("phase") == "measuring"]
    assert len(shares) > 2 and shares == sorted(shares) and shares[0] == 0.0 and shares[-1] <= 1.0
    assert last["final"] and last["status"]["phase"] == "done"
    found = default_for_machine(PRESETS["toy"])
    assert last["status"]["default"] == found.as_dict() and found.about["effort"] == "quick"
    assert next(one for one in Pipeline.catalogue() if one["name"] == "toy")["default"] == found.as_dict()
    (listed,) = measured_here()
    assert (listed["id"], len(listed["profiles"][0]["levels"])) == ("quick:toy", 3)
    ids = [source["id"] for source in Sources(FOLDER, measured_here).listing()["sources"]]
    assert ids.index("quick:toy") > ids.index("shipped:smollm2-cpu"), "the tab does not open with it"


@pytest.mark.parametrize("late", [False, True])
def test_one_that_is_stopped_or_takes_too_long_keeps_nothing_and_says_so(
    late: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if late:
        monkeypatch.setattr(measuring, "LONGEST_S", -1.0)
    run = Run(NAME)
    payloads = measure_here(Loader(Pipeline), request(), run)
    told: list[dict[str, Any]] = []
    for one in payloads:
        told.append(one)
        if not late and one["status"].get("phase") == "measuring":
            run.stopped.set()
    state = told[-1]["status"]
    assert told[-1]["final"] and quick_profile("toy") is None
    assert (state["mode"], state["text"].split(";")[0]) == (
        ("error", "measuring took longer than -1 s, so nothing was kept") if late else ("idle", "stopped")
    )
    assert default_for_machine(PRESETS["toy"]).stack == TOY


@pytest.mark.parametrize("busy", [False, True])
def test_after_a_run_the_machine_is_measured_while_nobody_waits(busy: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "IDLE_S", 0.0)
    measured: list[Run] = []

    def measure(loader: Loader, work: MeasureRequest, run: Run) -> Generator[dict[str, Any], None, None]:
        measured.append(run)
        while busy and not run.over():
            yield run.said()
            time.sleep(0.001)
        yield from measure_here(loader, work, run)

    async def visit() -> None:
        here = service.Service(InlineEngine(Loader(Pipeline)))
        job, visitor = Job("measure", MeasureRequest, measure), Visitor()
        here.when_idle = lambda asked: (job, request())
        await follow(here, visitor)
        while not measured:
            await asyncio.sleep(0.001)
        here.when_idle = lambda asked: None
        if busy:
            await follow(here, Visitor(("another",)))
        while here.line.running:
            await asyncio.sleep(0.001)

    awaited(visit())
    assert len(measured) == 1 and measured[0].cut is busy, "it gives way to who comes"
    assert (quick_profile("toy") is None) is busy


async def follow(here: service.Service, visitor: Visitor) -> None:
    asked = parse({"run": f"{visitor.session:x<32}", "prompt": "The", "stack": TOY, "preset": "toy"})
    *_, last = [one async for one in here.serve(RUN, asked, visitor)]
    assert last["final"] and last["status"]["mode"] == "live"


def test_what_visitors_may_not_run_they_may_not_measure() -> None:
    with pytest.raises(RequestError, match="nothing-like-it"):
        asked_for(NAME, "nothing-like-it", Pipeline.catalogue())
    entries = [{**one, "usable": False, "reason": "no weights"} for one in Pipeline.catalogue()]
    with pytest.raises(RequestError, match="no weights"):
        asked_for(NAME, "toy", entries)


@pytest.mark.everything
def test_one_press_measures_with_its_progress_and_new_runs_begin_with_what_it_plans(
    page: Any, recordings: Path
) -> None:
    with launched(Pipeline, traces=recordings) as site:
        page.goto(f"{site}/?tab=planner&preset=toy")
        panel = page.locator(".hx-default")
        go = panel.get_by_role("button", name="Measure this machine (20 s)")
        go.wait_for()
        assert panel.locator("code").inner_text() == TOY and "no profile of its levels" in panel.inner_text()
        go.click()
        panel.locator(".hx-default-said", has_text="Measured.").wait_for()
        found = default_for_machine(PRESETS["toy"])
        assert panel.locator("code").inner_text() == found.stack and found.promise is not None
        assert f"Predicted: {found.promise.speedup:.2f}\u00d7" in panel.inner_text()
        assert "20-second calibration of this machine" in panel.inner_text()
        assert panel.get_by_role("progressbar").count() == 0
        panel.get_by_role("button", name="Use it").click()
        page.wait_for_function("stack => new URLSearchParams(location.search).get('stack') === stack", arg=found.stack)
