"""What those who run a server are told of it: its figures by Prometheus' own parser, its log, and who may ask."""

from __future__ import annotations

import io
import json
import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pagekit import launched
from prometheus_client.parser import text_string_to_metric_families
from visiting import TOY, Visit

from app import options
from app.serve.watch.logs import structured
from app.serve.watch.prometheus import Tally
from hsd_core.export.run_page import page_records
from hsd_core.pipeline import Pipeline
from hsd_core.trace.metrics import measure

KEY = "k" * 16
SECRET = "a prompt that is nobody's business"


@pytest.fixture(scope="module")
def url(recordings: Path) -> Iterator[str]:
    with launched(Pipeline, traces=recordings, key=KEY) as address:
        yield address


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    stream = io.StringIO()
    structured(stream)
    yield stream
    root.handlers[:] = before
    root.setLevel(level)


def figures(url: str) -> dict[tuple[str, ...], float]:
    """Every sample by its name and the values of its labels, in the order of their names."""
    answer = httpx.get(f"{url}/metrics")
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/plain; version=")
    families = list(text_string_to_metric_families(answer.text))
    assert all(family.documentation for family in families)
    return {(one.name, *one.labels.values()): one.value for family in families for one in family.samples}


def test_the_figures_are_those_of_the_runs(url: str, logged: io.StringIO) -> None:
    before = figures(url)
    found = Visit(url).run_stack(prompt=SECRET)
    until = time.monotonic() + 10  # a run is counted when its stream has ended
    while figures(url).get(("hsd_runs_total", "done", "run", "toy"), 0) == 0 and time.monotonic() < until:
        time.sleep(0.1)
    with pytest.raises(ConnectionError):
        Visit(url).run_stack(prompt=SECRET, stack="table:9999@id=order1,table@id=order6")
    after = figures(url)
    grown = {name: value - before.get(name, 0.0) for name, value in after.items()}
    assert grown["hsd_runs_total", "done", "run", "toy"] == 1
    assert grown["hsd_tokens_total", "toy"] == found["totals"]["committed"] == 40
    assert grown["hsd_rounds_total", "toy"] == found["totals"]["footer"]["rounds"]
    judged = sum(level["judged"] for level in found["totals"]["levels"])
    accepted = sum(level["accepted"] for level in found["totals"]["levels"])
    assert grown["hsd_judged_total", "table", "toy"] == judged > 0
    assert grown["hsd_accepted_total", "table", "toy"] == accepted > 0
    assert grown["hsd_turn_seconds_count", "run", "toy"] == 1 == grown["hsd_wait_seconds_count",]
    assert after["hsd_waiting",] == 0 and after["hsd_engine_restarts_total",] == 0
    assert after["hsd_memory_bytes", "page"] > 10e6
    assert after["hsd_engine_state", "ok"] == 1 and after["hsd_engine_state", "down"] == 0
    lines = [json.loads(line) for line in logged.getvalue().splitlines()]
    (run,) = [line for line in lines if line["logger"] == "hsd.runs"]
    assert {"job": "run", "preset": "toy", "end": "done", "tokens": 40}.items() <= run.items()
    assert run["took_s"] >= 0 and run["time"].endswith("Z")
    assert SECRET not in logged.getvalue() and SECRET not in httpx.get(f"{url}/metrics").text


def test_health_says_how_page_and_engine_are(url: str) -> None:
    Visit(url).run_stack()
    found = httpx.get(f"{url}/health").json()
    assert (found["page"], found["waiting"]) == ("ok", 0)
    engine = found["engine"]
    assert (engine["state"], engine["restarts"], engine["model"]) == ("ok", 0, "toy")
    assert engine["pid"] > 0 and engine["memory"] > 0 and found["memory"] > 10e6


@pytest.mark.parametrize("path", ["/health", "/metrics"])
@pytest.mark.parametrize(
    "name", ["Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "Via"]
)
def test_what_a_proxy_passes_on_comes_from_elsewhere(url: str, path: str, name: str) -> None:
    assert httpx.get(url + path, headers={name: "127.0.0.1"}).status_code == 404


@pytest.mark.parametrize("path", ["/health", "/metrics"])
def test_only_this_machine_and_who_has_the_key_are_told(url: str, path: str) -> None:
    elsewhere = {"x-forwarded-for": "203.0.113.7"}
    assert httpx.get(url + path, headers=elsewhere).status_code == 404
    for key in ("k" * 15, "k" * 17, KEY.upper(), "\xff"):
        said = {**elsewhere, "authorization": f"Bearer {key}".encode("latin-1")}
        assert httpx.get(url + path, headers=said).status_code == 404
    assert httpx.get(url + path, headers={**elsewhere, "authorization": f"Bearer {KEY}"}).status_code == 200


def test_a_key_that_can_be_guessed_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        options.parse(["--watch-key", "secret"])
    assert "use at least 16" in capsys.readouterr().err


def test_a_run_is_counted_once_however_its_records_come() -> None:
    events = list(Pipeline.open("toy").run(TOY["stack"], TOY["prompt"], max_new_tokens=30))
    sent = page_records(events)
    whole, parts = Tally(), Tally()
    whole.count({"from": 0, "ev": sent})
    for at in range(0, len(sent), 7):
        parts.count({"from": at, "ev": sent[at : at + 7]})
    parts.count({"from": 0, "ev": sent})
    parts.count({"from": len(sent), "ev": []})
    assert (whole.tokens, whole.rounds, whole.levels) == (parts.tokens, parts.rounds, parts.levels)
    levels: list[dict[str, Any]] = measure(events)["levels"]
    assert [(n, x["judged"], x["accepted"]) for n, x in enumerate(levels) if x["judged"]] == [
        (n, judged, accepted) for n, (_, judged, accepted) in sorted(whole.levels.items())
    ]
