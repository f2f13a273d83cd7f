"""The Results tab: bundled benchmarks that are read with care, and the quick set through the line like any run."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs

import pytest
from pagekit import asked, awaited, launched
from starlette.applications import Starlette
from starlette.testclient import TestClient
from visiting import Visit

from app.serve.line.known_runs import Run, Visitor
from app.serve.loader import Loader
from app.serve.settings import RequestError
from app.tabs.explore.recordings import Recordings
from app.tabs.explore.view import Play
from app.tabs.results import quick
from app.tabs.results.bundled_results import Bundled, studies_routes
from app.tabs.results.quick import PROMPTS, TWO_LEVELS, QuickRequest, chosen, measure
from app.tabs.results.view import results_route
from hsd_core.core.events import Event
from hsd_core.grammar.stack_names import stack_name
from hsd_core.measure.bench import Measurement, PeerRun
from hsd_core.measure.bench.summary import results
from hsd_core.pipeline import Pipeline

S = 10**9
NAME = "c" * 32
TOY = next(p for p in Pipeline.catalogue() if p["name"] == "toy")["default_stack"]
MACHINE = "<img src=x onerror=window.PWNED=1> EPYC, 2 cores"
STACKS = ["ngram:2,int4:5,target", "nano:2,target"]


def made(machine: str = MACHINE, device: str = "cpu") -> dict[str, Any]:
    """A results.json as `bench` writes it, of two prompts: the stacks at three times and half of plain decoding."""
    about = {
        "kind": "bench",
        "version": 1,
        "recorded": "2026-01-02 03:04 UTC",
        "command": "python -m hsd_core bench --out DIR",
        "preset": "smollm2",
        "device": device,
        "dtype": "float32",
        "machine": machine,
        "prompts": "bench.jsonl",
        "max_new_tokens": 32,
        "threads": 2,
        "versions": {"python": "3.11"},
        "stacks": ["target", *STACKS],
        "asked": {"default": STACKS[0], STACKS[1]: STACKS[1]},
        "missing": {"llama.cpp plain": "not installed; pip install llama-cpp-python"},
    }
    runs: list[Any] = []
    for prompt, task in enumerate(("translation", "rag")):
        for stack, seconds in (("target", 3.0), (STACKS[0], 1.0), (STACKS[1], 6.0)):
            levels = len(stack.split(","))
            counts = ((0, *[4] * (levels - 1)), (0, *[3] * (levels - 1)))
            ns = int(seconds * S)
            runs.append(Measurement(prompt, task, stack, 30, ns, 0, 10, *counts, 30, False, None))
        runs.append(PeerRun(prompt, task, "transformers plain", 30, 4 * S, 30, 30))
    return json.loads(json.dumps(results(about, [asdict(run) for run in runs])))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One benchmark, and one that broke off while it was written."""
    base = tmp_path_factory.mktemp("results")
    put(base / "smollm2-epyc", json.dumps(made()))
    put(base / "smollm2-broken", json.dumps(made())[:300])
    return base


def put(folder: Path, text: str) -> None:
    folder.mkdir(parents=True)
    (folder / "results.json").write_text(text, encoding="utf-8")


# ---- bundled benchmarks


def test_a_folder_is_enough_and_machines_without_one_are_named_with_their_command(tmp_path: Path) -> None:
    assert [one["what"] for one in Bundled(tmp_path).listing()["missing"]] == ["a CPU", "a CUDA GPU"]
    put(tmp_path / "smollm2-epyc", json.dumps(made()))
    found = Bundled(tmp_path).listing()
    (one,) = found["reports"]
    assert (one["id"], one["results"], one["lost"]) == ("smollm2-epyc", made(), {})
    assert one["csv"].splitlines()[1].startswith('default,"ngram:2,int4:5,target",30.0,3.0')
    (gpu,) = found["missing"]
    assert gpu["command"].startswith("python -m hsd_core bench --preset smollm2 --device cuda")
    assert gpu["asked"] == "", "nobody wrote it down"
    (tmp_path / "gpu.json").write_text('{"asked": "2026-11-25"}')
    assert Bundled(tmp_path).listing()["missing"][0]["asked"] == "2026-11-25"
    put(tmp_path / "smollm2-h200", json.dumps(made("NVIDIA H200", "cuda:0")))
    assert Bundled(tmp_path).listing()["missing"] == []


def _without(*path: str) -> str:
    """A results.json in which one field is missing."""
    found: Any = made()
    part = found
    for name in path[:-1]:
        part = part[int(name) if isinstance(part, list) else name]
    del part[path[-1]]
    return json.dumps(found)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON"),
        ("[]", "expected an object"),
        (json.dumps({**made(), "stacks": []}), "fewer"),
        (_without("about", "machine"), "machine"),
        (_without("stacks", "0", "interval"), "interval"),
        (_without("claim", "loses", "0", "passes"), "passes"),
        (json.dumps(made()).replace("30.0", '"fast"', 1), "expected a number"),
        (json.dumps(made()).replace("30.0", "-1.0", 1), "expected a number"),
        (" " * 500_000, "at most 400000"),
    ],
)
def test_what_is_no_benchmark_is_passed_over_with_a_line_in_the_log(
    text: str, said: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    put(tmp_path / "a-bad", text)
    put(tmp_path / "b-good", json.dumps(made()))
    assert [one["id"] for one in Bundled(tmp_path).listing()["reports"]] == ["b-good"]
    (line,) = caplog.records
    assert "a-bad/results.json" in line.getMessage()
    assert said in line.getMessage()


def test_what_is_shipped_is_read_before_the_server_answers(tmp_path: Path) -> None:
    put(tmp_path / "smollm2-epyc", json.dumps(made()))
    routes = [results_route(tmp_path), *studies_routes(tmp_path)]
    shutil.rmtree(tmp_path)
    client = TestClient(Starlette(routes=routes))
    first, *studies = (client.get(route.path).json() for route in routes)
    assert [one["id"] for one in first["reports"]] == ["smollm2-epyc"]
    assert studies == [{"studies": []}] * len(studies) and studies


# ---- which stacks


def test_the_best_pair_is_the_one_measured_best_with_the_default_s_target() -> None:
    catalogue = Pipeline.catalogue()
    default = next(p for p in catalogue if p["name"] == "smollm2")["default_stack"]
    assert chosen("smollm2", catalogue, []) == {"default": default, TWO_LEVELS: "ngram:4,target"}
    report = made()
    lossy = {**report["stacks"][0], "stack": "ngram:7,target@dtype=int8", "speed_up": 9.0}
    no_stack = {**lossy, "stack": "nonsense:3,target"}
    report["stacks"] += [lossy, no_stack]
    assert chosen("smollm2", catalogue, [report])[TWO_LEVELS] == "nano:2,target"


def test_a_preset_without_a_pair_is_measured_without_one() -> None:
    assert chosen("toy", Pipeline.catalogue(), [made()]) == {"default": TOY}


@pytest.mark.parametrize("preset", ["nothing", "toy"])
def test_only_presets_that_can_be_used_are_measured(preset: str) -> None:
    catalogue = [{**entry, "usable": False, "reason": "not offered"} for entry in Pipeline.catalogue()]
    with pytest.raises(RequestError, match=r"no preset 'nothing'|not offered"):
        chosen(preset, catalogue, [])


# ---- the quick set


def request() -> QuickRequest:
    return QuickRequest(NAME, "toy", {"default": TOY})


def test_the_quick_set_tells_each_prompt_and_finds_what_bench_finds() -> None:
    run = Run(NAME)
    *before, last = measure(Loader(Pipeline), request(), run)
    told = [p["status"] for p in before if p["status"].get("phase") == "measuring"]
    assert [one["done"] for one in told] == list(range(PROMPTS + 1))
    assert all(one["left"] >= 0 for one in told[1:])
    assert last["final"]
    found = last["status"]["results"]
    assert {row["stack"]: row["prompts"] for row in found["stacks"]} == {TOY: PROMPTS, "table@id=order6": PROMPTS}
    assert {row["equal"] for row in found["stacks"]} == {1.0}
    assert len(found["stacks"][0]["tasks"]) == 6
    assert last["status"]["csv"].startswith("asked,stack,")
    assert run.stage == "done"
    assert (run.records, run.state) == ([], last["status"]), "what it found is in its state, and goes with the run"


def test_what_is_stopped_keeps_the_prompts_that_were_finished() -> None:
    run = Run(NAME)
    payloads = []
    for payload in measure(Loader(Pipeline), request(), run):
        payloads.append(payload)
        if payload["status"].get("done") == 3:
            run.stopped.set()
    last = payloads[-1]["status"]
    assert last["text"] == f"stopped after 3 of {PROMPTS} prompts"
    assert {row["prompts"] for row in last["results"]["stacks"]} == {3}


def test_stopped_before_the_first_prompt_it_finds_nothing() -> None:
    run = Run(NAME)
    for last in measure(Loader(Pipeline), request(), run):
        if last["status"].get("phase") == "measuring":
            run.stopped.set()
    assert (last["final"], last["status"]["mode"]) == (True, "idle")
    assert "results" not in last["status"]


def test_the_work_is_bounded_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quick, "LONGEST_S", -1.0)
    *_, last = measure(Loader(Pipeline), request(), Run(NAME))
    assert last["status"]["mode"] == "error"
    assert f"printf '%s\\n' {TOY} > stacks.txt && python -m hsd_core bench --preset toy" in last["status"]["text"]


def test_it_stands_in_the_line_of_all_runs_and_is_refused_a_third_place(tmp_path: Path) -> None:
    async def check() -> list[dict[str, Any]]:
        service = Play(Pipeline, Recordings(tmp_path)).service
        service.presence = SimpleNamespace(hears=lambda _: True, gone=lambda _: False)  # type: ignore[assignment]
        visitor, said = Visitor(("mine",)), []
        others = [service.line.enter(Run(f"{i}" * 32, visitor)) for i in range(2)]
        waiting = [other.__anext__() for other in others]
        with pytest.raises(StopAsyncIteration):  # the first has its turn at once
            await waiting[0]
        assert (await waiting[1])[0] == 1
        async for payload in service.serve(*asked(lambda _: pytest.fail("it was not refused"), run=NAME), visitor):
            said.append(payload)
        await others[1].aclose()
        return said

    (refused,) = awaited(check())
    assert refused["final"]
    assert "2 runs running or waiting" in refused["status"]["text"]


class Slow(Pipeline):
    """The engine read slowly, so that there is time to press Stop. Its own clock does not count that."""

    def run(self, *args: Any, **options: Any) -> Iterator[Event]:  # type: ignore[override]
        for event in super().run(*args, **options):
            time.sleep(0.002)
            yield event


class Working(Pipeline):
    """An engine that works on within one step, which sends nothing, until it is told to stop."""

    began, ended = threading.Event(), threading.Event()

    def run(self, *args: Any, stop: Any, **options: Any) -> Iterator[Event]:  # type: ignore[override]
        self.began.set()
        until = time.monotonic() + 60
        while not stop() and time.monotonic() < until:
            time.sleep(0.01)
        if stop():
            self.ended.set()
        yield from super().run(*args, stop=stop, **options)


@pytest.mark.everything
def test_a_page_that_is_closed_while_it_is_measured_for_frees_the_engine(tmp_path: Path) -> None:
    with launched(Working, traces=tmp_path, results=tmp_path) as url:
        page = Visit(url, page=True)
        page.ask("quick", {"run": NAME, "preset": "toy"})
        messages = page.messages()
        next(messages)
        assert Working.began.wait(30)
        page.close(NAME)
        messages.close()
        page.leave()
        assert Working.ended.wait(8)


# ---- the tab


@pytest.fixture(scope="module")
def results_site(folder: Path, recordings: Path) -> Iterator[str]:
    with launched(Slow, traces=recordings, results=folder) as address:
        yield address


@pytest.fixture(scope="module")
def empty_site(recordings: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with launched(Slow, traces=recordings, results=tmp_path_factory.mktemp("no-results")) as address:
        yield address


def visit(page: Any, site: str, query: str = "tab=results") -> None:
    page.goto(f"{site}/?{query}")
    page.wait_for_selector(".hx-res-headline")


def opened(page: Any, name: str) -> Any:
    """What stands one step behind, opened."""
    more = page.locator(f".hx-more[data-more={name}]")
    if not more.get_attribute("open"):
        more.locator("summary").first.click()
    return more


def start_toy(page: Any) -> None:
    opened(page, "here")
    page.get_by_label("preset to measure").select_option("toy")
    page.get_by_role("button", name="Run the quick set").click()


def row(page: Any, stack: str) -> list[str]:
    cells = page.locator(f".hx-res-table tr[data-stack='{stack}'] td")
    return [text.replace("\n", " ") for text in cells.all_inner_texts()]


@pytest.mark.browser
def test_it_opens_on_what_was_found_and_one_chart_and_all_else_stands_one_step_behind(
    page: Any, results_site: str
) -> None:
    page.goto(results_site)
    page.get_by_role("tab", name="Results").click()
    page.wait_for_selector(".hx-res-bars")
    assert parse_qs(page.evaluate("location.search")[1:])["tab"] == ["results"]
    claim = page.locator(".hx-res-claim").inner_text()
    assert claim.startswith("Three levels: 3.00 times as fast as the model alone (3.00 to 3.00); two levels: 0.50.")
    assert f"“{stack_name(STACKS[1])}” loses here: 0.50" in claim and "On a CUDA GPU: not measured." in claim
    assert page.evaluate("window.PWNED") is None and MACHINE in claim
    fields = page.locator(".hx-results :is(input, select, textarea)").evaluate_all(
        "all => all.filter((x) => x.checkVisibility())"
    )
    assert len(fields) == 1, "which machine"
    assert page.locator(".hx-more[open]").count() == 0
    words = page.locator(".hx-res-programs").inner_text()
    assert "generate()" in words and "Not run: not installed; pip install llama-cpp-python." in words


@pytest.mark.browser
@pytest.mark.everything
def test_a_bundled_table_says_who_was_how_fast_where(page: Any, results_site: str) -> None:
    visit(page, results_site)
    opened(page, "all")
    assert page.locator(".hx-res-group b").all_inner_texts() == [MACHINE, "a CUDA GPU"]
    order = page.eval_on_selector_all(".hx-res-table tr[data-stack]", "rows => rows.map((row) => row.dataset.stack)")
    assert order == [STACKS[0], "target", STACKS[1]], "fastest first"
    assert row(page, STACKS[0]) == ["30.0", "3.00× 3.00 to 3.00", "3.00", "yes, float32’s", "not measured"]
    assert row(page, STACKS[1])[:2] == ["5.00", "0.50× 0.50 to 0.50"]
    assert "1.33" not in row(page, "target")
    plain = page.locator(".hx-res-table tr[data-peer='transformers plain']").inner_text()
    assert "7.5" in plain
    assert "0.75× our plain" in plain
    assert not page.locator(".hx-res-table tr[data-peer='llama.cpp plain']").count(), "it has no figure"
    table = opened(page, "tasks").locator("table").text_content()
    assert "translation" in table
    assert "0.50×" in table
    origin = opened(page, "origin")
    assert "python -m hsd_core bench --out DIR" in origin.inner_text()
    with page.expect_download() as download:
        origin.get_by_role("button", name="download results.json").click()
    assert json.loads(Path(download.value.path()).read_text(encoding="utf-8")) == made()


@pytest.mark.browser
@pytest.mark.everything
def test_a_machine_that_nobody_measured_is_said_with_its_command_and_kept_in_the_address(
    page: Any, results_site: str
) -> None:
    visit(page, results_site)
    page.get_by_label("model and machine").select_option(label="a CUDA GPU: not measured")
    assert page.locator(".hx-res-headline").inner_text() == "Not measured yet"
    assert "--device cuda" in page.locator(".hx-res-none code").inner_text()
    page.reload()
    page.locator(".hx-res-none").wait_for()
    page.get_by_label("model and machine").select_option("smollm2-epyc")
    page.wait_for_selector(".hx-res-bars")
    assert parse_qs(page.evaluate("location.search")[1:])["bench"] == ["smollm2-epyc"]


@pytest.mark.browser
@pytest.mark.everything
def test_a_stack_of_the_table_opens_in_play(page: Any, results_site: str) -> None:
    visit(page, results_site)
    link = page.locator(".hx-res-bars").get_by_role("link", name=f"{stack_name(STACKS[1])} open in Explore")
    asked = parse_qs(link.get_attribute("href")[1:])
    assert asked == {"preset": ["smollm2"], "stack": [STACKS[1]]}, "a new tab of the browser gets there as well"
    link.click()
    page.wait_for_selector(".hx-note:has-text('is in the composer')")
    assert page.get_by_role("tab", name="Explore").get_attribute("aria-selected") == "true"
    assert parse_qs(page.evaluate("location.search")[1:])["stack"] == [STACKS[1]]


@pytest.mark.everything
@pytest.mark.browser
def test_the_quick_set_runs_here_and_adds_its_column(page: Any, results_site: str) -> None:
    visit(page, results_site)
    start_toy(page)
    page.wait_for_selector(".hx-res-said:has-text('prompt 2 of 12')")
    assert page.get_by_role("progressbar").get_attribute("aria-valuenow") == "1"
    outcome = page.locator(".hx-res-outcome")
    outcome.wait_for()
    assert outcome.inner_text().startswith("12 prompts measured.")
    assert page.get_by_role("button", name="Run the quick set").is_enabled()
    outcome.get_by_role("button", name="Show it").click()
    assert page.evaluate("document.activeElement.className") == "hx-res-headline"
    assert page.locator(".hx-results").get_attribute("data-preset") == "toy"
    assert "this server, now, 12 prompts" in page.locator(".hx-res-claim").inner_text()
    column = opened(page, "all").locator(".hx-res-group")
    assert column.inner_text().startswith("this server, now") and "the interval is wide" in column.inner_text()
    assert row(page, TOY)[3].startswith("yes, ")
    with page.expect_download() as download:
        opened(page, "origin").get_by_role("button", name="download results.csv").click()
    assert Path(download.value.path()).read_text(encoding="utf-8").startswith("asked,stack,")


@pytest.mark.browser
@pytest.mark.everything
def test_stop_ends_it_and_what_was_finished_stands_there_as_what_it_is(page: Any, results_site: str) -> None:
    visit(page, results_site)
    start_toy(page)
    page.wait_for_selector(".hx-res-said:has-text('prompt 2 of 12')")
    page.get_by_role("button", name="Stop").click()
    page.wait_for_selector(".hx-res-outcome:has-text('Stopped after')")
    page.locator(".hx-res-outcome").get_by_role("button", name="Show it").click()
    assert "of 12 prompts" in page.locator(".hx-res-claim").inner_text()
    page.get_by_role("button", name="Run the quick set").wait_for()


@pytest.mark.browser
@pytest.mark.everything
def test_nothing_measured_is_said_plainly_with_the_command(page: Any, empty_site: str) -> None:
    visit(page, empty_site)
    assert page.locator(".hx-res-none h2").inner_text() == "Not measured yet"
    opened(page, "origin")
    commands = page.locator(".hx-res-cards .hx-res-command code").all_inner_texts()
    assert [("--device cuda" in text, text.startswith("python -m hsd_core bench")) for text in commands] == [
        (False, True),
        (True, True),
    ]
