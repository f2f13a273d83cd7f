"""Many requests at once on the Race tab: what may be asked for, what is sent, and what is drawn."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pagekit import drawn, launched, write_recordings

from app.kit.payload import dumps
from app.serve.line.known_runs import Run
from app.serve.loader import Loader
from app.serve.settings import RequestError
from app.tabs.race import load_job
from app.tabs.race.load_job import LOADS, load_asked_for, stream
from hsd_core.cli import main
from hsd_core.core.events import Event
from hsd_core.pipeline import Pipeline
from hsd_core.trace.codec import from_dict

TOWER, PLAIN = "table:3@id=order1,table:5@id=order3,table@id=order6", "table@id=order6"
ASKED = {"run": "m" * 32, "preset": "toy", "stack": TOWER, "load": 4}


class Slow(Pipeline):
    """Read slowly, so that there is time to press Stop."""

    def run(self, *args: Any, **options: Any) -> Iterator[Event]:  # type: ignore[override]
        for event in super().run(*args, **options):
            time.sleep(0.0005)
            yield event


def test_no_client_can_ask_for_more_than_the_page_offers() -> None:
    catalogue = Pipeline.catalogue()
    more = {"prompt": "x" * 10**6, "max_new_tokens": 10**9, "repeats": 10**6, "temperature": 2, "depths": True}
    found = load_asked_for({**ASKED, **more}, catalogue)
    assert found == load_asked_for(ASKED, catalogue)
    assert (found.load, found.own.max_new_tokens, found.kind.tokens) == (4, 32, 256)
    odd: list[Any] = [0, 2, 33, 10**400, -1, 32.0, 1e400, float("nan"), True, "32", [32], {"load": 32}, None]
    for load in odd:
        with pytest.raises(RequestError, match="must be one of 1, 4, 8, 32"):
            load_asked_for({**ASKED, "load": load}, catalogue)
    for wrong in (None, [], "x", {**ASKED, "run": 7}, {**ASKED, "stack": [TOWER]}, {**ASKED, "preset": "nothing"}):
        with pytest.raises(RequestError):
            load_asked_for(wrong, catalogue)
    for stack in (PLAIN, "table:0,table", f"{TOWER}@id=/etc/passwd", "x" * 1000):
        with pytest.raises(RequestError):
            load_asked_for({**ASKED, "stack": stack}, catalogue)


def payloads(run: Run, **changes: Any) -> Iterator[dict[str, Any]]:
    return stream(Loader(Pipeline), load_asked_for({**ASKED, **changes}, Pipeline.catalogue()), run)


def test_events_of_both_batches_are_sent_as_they_happen_and_their_figures_at_the_end() -> None:
    run = Run("m" * 32)
    *before, last = payloads(run)
    records = json.loads(dumps([record for payload in (*before, last) for record in payload["ev"]]))
    first, *events, end = records
    assert (first["load"], first["stacks"], first["repeats"], len(first["prompts"])) == (4, [PLAIN, TOWER], [], 4)
    assert {(one["side"], one["request"]) for one in events} == {(side, i) for side in (0, 1) for i in range(4)}
    assert sum(from_dict(one["of"]).event == "commit" for one in events) > 8
    (batches,) = end["repeats"]
    assert [len(batch["tokens"]) for batch in batches] == [4, 4] and batches[1]["equal"] == 4
    assert last["final"] and last["status"]["text"] == "both batches decoded" and end["machine"]
    assert run.records == records and run.events == [], "it has no figures on Explore"


def test_what_is_stopped_or_takes_too_long_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run("m" * 32)
    for last in payloads(run, load=32):
        if last["ev"]:
            run.stopped.set()
    assert (last["final"], last["status"]["text"]) == (True, "stopped before the race was over")
    monkeypatch.setattr(load_job, "LONGEST_S", -1.0)
    *_, last = payloads(Run("n" * 32))
    assert f"python -m hsd_core race --preset toy {TOWER} --load 4" in last["status"]["text"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    recordings, races = (tmp_path_factory.mktemp(name) for name in ("traces", "races"))
    write_recordings(recordings, Pipeline)
    (races / "load").mkdir()
    for load in (1, 8):
        command = ["race", "--preset", "toy", TOWER, "--load", str(load), "--repeats", "1", "--max-new-tokens", "12"]
        assert main([*command, "--out", str(races / "load" / f"{load}.jsonl.gz")]) == 0
    (races / "load" / "9.jsonl.gz").write_bytes(b"\x1f\x8bno")
    with launched(Slow, traces=recordings, races=races) as address:
        yield address


def blocks(page: Any, side: int) -> list[int]:
    """How many blocks the picture of a side has, level by level."""
    paths = page.locator(".hx-load-side").nth(side).locator(".hx-load-block")
    return [path.get_attribute("d").count("M") for path in paths.all() if path.get_attribute("d")]


@pytest.mark.browser
def test_recorded_batches_are_replayed_and_ones_own_are_decoded_and_stopped(page: Any, site: str) -> None:
    page.goto(f"{site}/?tab=race&load=8&preset=toy")
    page.wait_for_selector(".hx-load-lanes[data-load='8']")
    slider = page.locator(".hx-load").get_by_role("slider", name="Moment of the run")
    slider.press("ArrowRight")  # a step: the replay rests
    slider.press("Home")
    drawn(page)
    assert page.locator(".hx-load-rate .hx-race-gain").all_inner_texts() == ["\u2013", "\u2013"]
    slider.press("End")
    drawn(page)
    assert "\u00d7 plain decoding" in page.locator(".hx-load-rate").last.inner_text()
    page.locator(".hx-load details summary").click()
    rows = [row.all_inner_texts() for row in (r.locator("td") for r in page.locator(".hx-load tbody tr").all())]
    drawn_blocks = [*blocks(page, 0), *blocks(page, 1)]
    assert [int(cells[0]) * float(cells[3]) for cells in rows] == drawn_blocks and len(rows) == 4
    label = page.locator(".hx-load-lanes").first.get_attribute("aria-label")
    assert f"{rows[0][0]} passes of 1.0 rows" in label or f"{rows[0][0]} passes of 1" in label
    picture = page.locator(".hx-load-lanes").last
    box = picture.bounding_box()
    picture.click(position={"x": 20, "y": box["height"] * 5.5 / 8})
    drawn(page)
    assert page.get_by_label("text of request").input_value() == "5"
    texts = page.locator(".hx-load .hx-race-text").all_inner_texts()
    assert len(texts) == 2 and texts[0] and texts[0] == texts[1]
    assert page.locator(".hx-load .hx-race-verdict").last.inner_text().endswith("all 12 tokens")

    page.get_by_role("button", name="4", exact=True).click()
    page.wait_for_selector(".hx-race-empty:has-text('No recording of 4 requests')")
    assert "load=4" in page.url
    go = page.locator(".hx-load .hx-go")
    go.click()
    page.wait_for_selector(".hx-load-lanes[data-load='4'] .hx-load-block[d*='M']", state="attached")
    page.keyboard.press("Escape")
    page.wait_for_selector(".hx-load .hx-race-outcome:has-text('stopped before the race was over')")
    go.click()
    page.wait_for_selector(".hx-load[data-over='true'] .hx-load-rate:has-text('\u00d7')")
    assert "Measured on" in page.locator(".hx-load").inner_text()
    page.get_by_role("button", name="Many requests at once").click()
    page.wait_for_selector(".hx-load", state="hidden")


def test_the_menu_passes_over_what_is_damaged(tmp_path: Path) -> None:
    from app.tabs.race.bundled_races import LoadRaces

    (tmp_path / "1.jsonl").write_text('{"event":"race"}\n')
    assert LoadRaces(tmp_path).menu() == [] and LOADS[-1] == 32
