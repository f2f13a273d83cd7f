"""The Race tab: recorded races on one clock, races of one's own through the line like any run, files out and in."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pagekit import drawn, launched, write_recordings

from app.serve.line.known_runs import Run
from app.serve.loader import Loader
from app.serve.settings import RequestError
from app.tabs.race import race_request as asking
from app.tabs.race.live import stream
from app.tabs.race.race_request import REPEATS, TOKENS, asked_for
from app.tabs.race.visitor_race import answer
from hsd_core.core.events import Event
from hsd_core.measure import race
from hsd_core.measure.race.racing import raced
from hsd_core.pipeline import Pipeline
from hsd_core.trace import file as tracefile

NAME = "d" * 32
TOWER, TABLE = "table:3@id=order1,table:5@id=order3,table@id=order6", "table@id=order6"
HOSTILE = "<img src=x onerror=window.PWNED=1>"
ASKED = {
    "run": NAME,
    "preset": "toy",
    "prompt": "The tower",
    "stacks": [TABLE, TOWER],
    "repeats": 2,
    "max_new_tokens": 20,
}


class Slow(Pipeline):
    """The engine read slowly, so that there is time to press Stop. Its own clock does not count that."""

    def run(self, *args: Any, **options: Any) -> Iterator[Event]:  # type: ignore[override]
        for event in super().run(*args, **options):
            time.sleep(0.001)
            yield event


def toy_race(title: str, *stacks: str, tokens: int = 40) -> race.Raced:
    pipeline = Pipeline.open("toy")

    def opened(stack: str, most: int) -> Any:
        return pipeline.run(stack, "The tower of levels", max_new_tokens=most)

    heats = [one for one in race.race(opened, stacks, tokens=tokens, repeats=3) if isinstance(one, race.Heat)]
    said = {"prompt": "The tower of levels", "title": title, "about": "What it shows."}
    return raced(heats, stacks, device="cpu", dtype="float32", **said)


# ---- what may be asked for


def test_a_race_is_checked_lane_by_lane_and_bounded() -> None:
    catalogue = Pipeline.catalogue()
    found = asked_for({**ASKED, "max_new_tokens": 512}, catalogue)
    assert [lane.stack for lane in found.lanes] == [TABLE, TOWER]
    assert (found.repeats, found.tokens) == (2, TOKENS)
    refused = {
        "2 to 4 stacks": {"stacks": [TABLE]},
        "choose as many": {"stacks": [TABLE] * 5},
        "twice": {"stacks": [TABLE, f" {TABLE} "]},
        "repeats must be": {"repeats": REPEATS + 1},
        "the prompt is empty": {"prompt": " "},
        "no stack was given": {"stacks": [TABLE, 7]},
        "cannot be raced": {"stacks": [TABLE, "table:0"]},
        "there is no preset": {"preset": "nothing"},
    }
    for reason, change in refused.items():
        with pytest.raises(RequestError, match=reason):
            asked_for({**ASKED, **change}, catalogue)


def payloads(run: Run, **changes: Any) -> Iterator[dict[str, Any]]:
    return stream(Loader(Pipeline), asked_for({**ASKED, **changes}, Pipeline.catalogue()), run)


def test_a_live_race_tells_how_far_each_lane_is_and_sends_the_whole_of_it_last() -> None:
    run = Run(NAME)
    *before, whole, last = payloads(run)
    told = [p["status"] for p in before if p["status"].get("phase") == "racing"]
    assert told[0]["text"] == "warming up" and told[0]["tokens"] == [0, 0]
    assert not any(p["ev"] for p in before)
    (found,) = whole["ev"]
    assert [lane["stack"] for lane in found["lanes"]] == [TABLE, TOWER]
    assert len(found["race"]["repeats"]) == 2
    assert found["lanes"][1]["same"]["equal"] == 20 and found["lanes"][1]["interval"]
    events = [record["event"] for record in found["lanes"][1]["records"]]
    assert events[0] == "header" and events[-1] == "baseline" and "gauge" not in events
    assert whole["final"] and last["final"] and not last["ev"]
    assert run.stage == "done"
    assert run.records == json.loads(json.dumps(whole["ev"]))
    assert run.events == [], "it has no figures on Explore"


def test_what_is_stopped_or_takes_too_long_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(NAME)
    for last in payloads(run):
        if last["status"].get("phase") == "racing":
            run.stopped.set()
    assert (last["final"], last["ev"], last["status"]["text"]) == (True, [], "stopped before the race was over")
    monkeypatch.setattr(asking, "LONGEST_S", -1.0)
    *_, last = payloads(Run("e" * 32))
    assert last["status"]["mode"] == "error"
    assert f"python -m hsd_core race --preset toy {TABLE} {TOWER}" in last["status"]["text"]


def test_a_visitors_file_is_read_as_strictly_as_any() -> None:
    said, packed = answer(b"{}\n" + race.dumps(toy_race("a", TABLE, TOWER))).split(b"\n", 1)
    assert (said, json.loads(gzip.decompress(packed))["event"]) == (b"{}", "race")
    assert "this is not a race" in json.loads(answer(b'{}\n{"event":"header"}\n'))["error"]


# ---- the tab


@pytest.fixture(scope="module")
def race_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    recordings = write_recordings(tmp_path_factory.mktemp("traces"), Pipeline)
    plain = Pipeline.open("toy").run(TABLE, "The tower of levels", max_new_tokens=30, title="Plain")
    tracefile.write(recordings / "02-plain.jsonl.gz", plain)
    folder = tmp_path_factory.mktemp("races")
    race.write(folder / "01-toys.jsonl.gz", toy_race(HOSTILE, TABLE, TOWER))
    race.write(folder / "02-three.jsonl.gz", toy_race("Three", TOWER, TABLE, "table:4@id=order3,table@id=order6"))
    (folder / "03-damaged.jsonl.gz").write_bytes(b"\x1f\x8bno")
    with launched(Slow, traces=recordings, races=folder) as address:
        yield address


def counts(page: Any) -> list[int]:
    return [int(text.split("\u2009")[0]) for text in page.locator(".hx-race-count").all_inner_texts()]


@pytest.mark.browser
def test_a_recorded_race_runs_to_its_result_and_one_of_ones_own_is_stopped_and_shown(page: Any, race_site: str) -> None:
    page.goto(f"{race_site}/?tab=race&race=01-toys&preset=toy")
    page.wait_for_selector(".hx-race-row")
    assert page.locator(".hx-race-title").inner_text() == HOSTILE
    assert page.evaluate("window.PWNED") is None
    assert page.locator(".hx-race-pick option").count() == 2  # the damaged one is passed over
    slider = page.get_by_role("slider", name="Moment of the run")
    slider.focus()
    page.keyboard.press("ArrowRight")  # a step: the replay rests
    page.keyboard.press("Home")
    drawn(page)
    assert counts(page) == [0, 0]
    assert page.locator(".hx-race-gain").is_hidden()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    drawn(page)
    assert 0 < sum(counts(page)) < 80
    page.keyboard.press("End")
    drawn(page)
    assert counts(page) == [40, 40]
    places = page.locator(".hx-race-place").all_inner_texts()
    assert sorted(places) == ["1st", "2nd"]
    assert page.locator(".hx-race-gain").inner_text().endswith("×")
    low, high = page.locator("[data-lane='1'] .hx-race-range").inner_text().split(" to ")
    assert float(low) <= float(page.locator(".hx-race-gain").inner_text()[:-1]) <= float(high)
    assert page.locator(".hx-race-dot").count() == 3
    assert page.locator(".hx-race-verdict[data-same='yes']").inner_text() == "identical to lane 1's, all 40 tokens"
    page.locator(".hx-race-column").first.locator(".hx-tok").nth(5).click()
    drawn(page)
    marked = page.locator(".hx-race-text .hx-selected").all_inner_texts()
    assert len(marked) == 2 and marked[0] == marked[1]
    assert page.locator(".hx-race-chosen").inner_text().startswith("Token 6. lane 1: ")
    page.get_by_label("race to replay").select_option("02-three")
    page.wait_for_selector(".hx-race-row >> nth=2")
    assert "race=02-three" in page.url

    page.get_by_role("button", name="Race your own stacks").click()
    assert page.locator(".hx-race-choice input:checked").count() == 2
    go = page.locator(".hx-race-live .hx-go")
    page.locator(".hx-race-choice input").nth(1).uncheck()
    assert go.get_attribute("aria-disabled") == "true"
    go.press("Enter")
    page.wait_for_selector(".hx-race-outcome:has-text('Choose at least two stacks.')")
    page.locator(".hx-race-choice input").nth(1).check()
    go.click()
    page.wait_for_selector(".hx-race-said:has-text('repeat 1 of 3')")
    page.keyboard.press("Escape")
    page.wait_for_selector(".hx-race-outcome:has-text('Stopped before the race was over.')")
    page.locator("#hx-race-length").select_option("32")
    page.locator("#hx-race-repeats").select_option("1")
    go.click()
    page.wait_for_selector(".hx-race-title:has-text('A race of your own')")
    assert page.locator(".hx-race-live").is_hidden()
    page.get_by_role("slider", name="Moment of the run").press("End")
    drawn(page)
    assert counts(page) == [32, 32]
    assert page.locator("[data-lane='1'] .hx-race-range").inner_text() == "one repeat"


@pytest.mark.browser
@pytest.mark.everything
def test_a_race_leaves_as_a_file_and_comes_back_and_a_lane_opens_on_play(
    page: Any, race_site: str, tmp_path: Path
) -> None:
    page.goto(f"{race_site}/?tab=race&race=nope")
    page.wait_for_selector(".hx-note:has-text('There is no race “nope” here; another one is shown.')")
    page.get_by_label("race to replay").select_option("02-three")
    page.wait_for_selector(".hx-race-row >> nth=2")
    with page.expect_download() as download:
        page.get_by_role("button", name="save this race as a file").click()
    kept = tmp_path / "race.jsonl.gz"
    kept.write_bytes(Path(download.value.path()).read_bytes())
    assert [race.read(kept).race.title, len(race.read(kept).lanes)] == ["Three", 3]
    page.get_by_label("race to replay").select_option("01-toys")
    page.wait_for_selector(f".hx-race-title:has-text({json.dumps(HOSTILE)})")
    page.locator("#race input[type='file']").set_input_files(kept)
    page.wait_for_selector(".hx-race-row >> nth=2")
    assert page.locator(".hx-race-pick option:checked").inner_text() == "Your own"
    assert "race=" not in page.url
    kept.write_bytes(b'{"event":"header"}\n')
    page.locator("#race input[type='file']").set_input_files(kept)
    page.wait_for_selector("#race .hx-note:has-text('this is not a race')")
    page.get_by_role("button", name="opens this lane on the Explore tab").nth(0).click()
    page.wait_for_selector("#stage .hx-tok")
    assert page.get_by_role("tab", name="Explore").get_attribute("aria-selected") == "true"


@pytest.mark.browser
@pytest.mark.everything  # tests/js/compare.test.mjs compares
def test_two_recordings_are_compared_token_by_token_or_by_time(page: Any, race_site: str) -> None:
    page.goto(f"{race_site}/?tab=race&compare=00-toy,02-plain")
    page.wait_for_selector(".hx-race-differ")
    slider = page.get_by_role("slider", name="Moment of the run")
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Home")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    drawn(page)
    assert counts(page)[:2] == [3, 3], "token by token both stand at the same place"
    marked = page.locator(".hx-race-text .hx-selected").all_inner_texts()
    assert len(marked) == 2 and marked[0] == marked[1]
    assert page.locator(".hx-race-chosen").inner_text().startswith("Token 3. A: ")
    assert page.locator(".hx-transport-clock").last.inner_text() == "token 3\u2009/\u200940"
    page.keyboard.press("End")
    drawn(page)
    assert counts(page)[:2] == [40, 30]
    assert page.locator(".hx-race-verdict").last.inner_text() == "the same as A's for as long as both go on, 30 tokens"
    page.locator(".hx-race-column").first.locator(".hx-tok").nth(4).click()
    page.wait_for_selector(".hx-race-chosen:has-text('Token 5. A: ')")
    page.get_by_label("alignment").select_option("time")
    page.locator(".hx-transport-clock:visible", has_text=" s").wait_for()
    page.get_by_label("run B").select_option("01-hostile")
    page.wait_for_selector(".hx-race-pair:has-text('They answer different prompts')")
    assert "compare=00-toy%2C01-hostile" in page.url
    page.get_by_label("race to replay").select_option("01-toys")
    page.wait_for_selector(".hx-race-pair", state="hidden")
    assert "compare=" not in page.url


@pytest.mark.browser
@pytest.mark.everything
def test_a_choice_that_fails_while_comparing_goes_back_and_says_why(page: Any, race_site: str) -> None:
    page.goto(f"{race_site}/?tab=race&compare=00-toy,02-plain")
    page.wait_for_selector(".hx-race-differ")
    page.route("**/races/01-toys", lambda route: route.fulfill(status=503, body="busy"))
    page.route("**/recordings/01-hostile", lambda route: route.fulfill(status=503, body="busy"))
    for label, choice, before in (("race to replay", "01-toys", "-"), ("run B", "01-hostile", "02-plain")):
        menu = page.get_by_label(label)
        assert menu.input_value() == before
        menu.select_option(choice)
        page.wait_for_selector(".hx-race .hx-note:has-text('503')")
        assert menu.input_value() == before
        page.locator(".hx-race .hx-note button").click()
        page.wait_for_selector(".hx-race .hx-note:has-text('503')", state="hidden")
    assert page.locator(".hx-race-pair").is_visible() and "compare=00-toy%2C02-plain" in page.url
