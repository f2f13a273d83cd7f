"""What the Race tab says of a race: places by all repeats, texts compared wherever nothing is drawn, and which two
recordings are compared at first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace as changed
from pagekit import drawn, launched, write_recordings

from app.kit.static import ASSETS
from app.tabs.explore.recordings import Recordings
from hsd_core.measure import race
from hsd_core.measure.race.racing import raced
from hsd_core.pipeline import Pipeline
from hsd_core.trace import file as tracefile

TABLE, TOWER = "table@id=order6", "table:3@id=order1,table:5@id=order3,table@id=order6"
PROMPT = "The tower of levels"


def turned(found: race.Raced) -> race.Raced:
    """The same with one more repeat, which turns the order of the one that is shown."""
    (shown,) = found.race.repeats
    quickest = min(range(len(shown)), key=lambda i: shown[i].decode_ns)
    slow = tuple(changed(one, decode_ns=one.decode_ns * (100 if i == quickest else 1)) for i, one in enumerate(shown))
    return race.Raced(changed(found.race, repeats=(shown, slow), shown=0), found.lanes)


@pytest.fixture(scope="module")
def ran() -> race.Raced:
    """A race of one repeat in which one token alone is kept: nothing is drawn, whatever the temperature."""
    toy = Pipeline.open("toy")

    def opened(stack: str, tokens: int) -> Any:
        return toy.run(stack, PROMPT, max_new_tokens=tokens, temperature=0.9, top_k=1)

    heats = [one for one in race.race(opened, (TABLE, TOWER), tokens=30, repeats=1) if isinstance(one, race.Heat)]
    return raced(heats, (TABLE, TOWER), device="cpu", dtype="float32", prompt=PROMPT, title="Kept")


@pytest.fixture(scope="module")
def site(ran: race.Raced, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    traces, races = (tmp_path_factory.mktemp(name) for name in ("traces", "races"))
    write_recordings(traces, Pipeline)
    plain = Pipeline.open("toy").run(TABLE, PROMPT, max_new_tokens=30, title="Plain")
    tracefile.write(traces / "02-plain.jsonl.gz", plain)
    race.write(races / "01-turned.jsonl.gz", turned(ran))
    race.write(races / "02-once.jsonl.gz", ran)
    with launched(Pipeline, traces=traces, races=races) as address:
        yield address


def to_the_end(page: Any) -> None:
    page.get_by_role("slider", name="Moment of the run").press("End")
    drawn(page)


@pytest.mark.browser
@pytest.mark.everything
def test_places_are_those_of_all_repeats_and_a_replay_in_another_order_is_said(
    page: Any, site: str, ran: race.Raced
) -> None:
    rows = race.rows(turned(ran))
    page.goto(f"{site}/?tab=race&race=01-turned")
    page.wait_for_selector(".hx-race-row")
    to_the_end(page)
    places = page.locator(".hx-race-place").all_inner_texts()
    assert places == [{1: "1st", 2: "2nd"}[row["place"]] for row in rows]
    gain = page.locator(".hx-race-gain").inner_text()
    assert gain == f"{rows[1]['speed_up']:.2f}×" and (places[1] == "1st") == (rows[1]["speed_up"] > 1)
    tip = page.locator("[data-lane='1'] .hx-race-result").get_attribute("data-tip")
    assert "2 repeats together, which also decide the places" in tip
    assert "its order of lanes differs" in page.locator(".hx-race-origin").inner_text()
    page.get_by_label("race to replay").select_option("02-once")
    page.wait_for_selector(".hx-race-origin:has-text('one repeat')")
    assert "order of lanes differs" not in page.locator(".hx-race-origin").inner_text()


@pytest.mark.browser
@pytest.mark.everything
def test_no_place_is_told_before_all_lanes_are_over(page: Any, site: str) -> None:
    page.goto(f"{site}/?tab=race&race=02-once")
    page.wait_for_selector(".hx-race-row")
    slider = page.get_by_role("slider", name="Moment of the run")
    to_the_end(page)
    assert "" not in page.locator(".hx-race-place").all_inner_texts()
    slider.press("ArrowLeft")
    drawn(page)
    assert set(page.locator(".hx-race-place").all_inner_texts()) == {""}


@pytest.mark.browser
@pytest.mark.everything
def test_where_one_token_alone_is_kept_texts_are_compared(page: Any, site: str) -> None:
    page.goto(f"{site}/?tab=race&race=02-once")
    page.wait_for_selector(".hx-race-row")
    to_the_end(page)
    assert page.locator(".hx-race-verdict").all_inner_texts() == [
        "what the others are compared with",
        "identical to lane 1's, all 30 tokens",
    ]
    assert "greedy" in page.locator(".hx-race-origin").inner_text()


def test_the_menu_says_which_recordings_answer_one_prompt() -> None:
    menu = Recordings(ASSETS / "traces").menu()
    asked = [one["asked"] for one in menu]
    assert all(asked) and 1 < len(set(asked)) < len(asked)
