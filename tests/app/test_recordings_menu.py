"""The menu of recordings: a person can choose from it, by hand and by keyboard."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from pagekit import drawn
from test_first_screen import DESK, PHONE, visit

from app.kit.static import ASSETS
from app.tabs.explore.recordings import FILE, Recordings, ShelfPlace, places
from hsd_core.trace import file as tracefile
from hsd_core.trace.metrics import speed_up

TRACES = ASSETS / "traces"


def test_every_recording_that_ships_has_its_place_and_every_place_a_recording() -> None:
    names = {path.name.split(".")[0] for path in TRACES.glob("*.jsonl.gz")}
    found = places(TRACES)
    assert set(found) == names
    assert all(place.group and place.see.endswith(".") for place in found.values())


def test_the_speed_up_of_the_menu_is_that_of_the_trace() -> None:
    menu = {entry["name"]: entry for entry in Recordings(TRACES).menu()}
    for name in ("01-code", "08-loses", "19-what-if"):
        assert menu[name]["speed_up"] == pytest.approx(speed_up(tracefile.read(TRACES / f"{name}.jsonl.gz")))
    assert (menu["19-what-if"]["clock"], menu["01-code"]["clock"]) == ("simulated", "")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"groups": [{"title": 3}]}', '{"groups": [{"title": "a"}]}'])
def test_an_arrangement_that_cannot_be_read_leaves_the_recordings_where_they_are(
    recordings: Path, tmp_path: Path, text: str
) -> None:
    folder = shutil.copytree(recordings, tmp_path / "traces")
    assert places(folder) == {}
    (folder / FILE).write_text(text)
    assert places(folder) == {}
    menu = Recordings(folder).menu()
    assert [entry["name"] for entry in menu] == ["00-toy", "01-hostile"]
    assert {entry["group"] for entry in menu} == {ShelfPlace().group}
    assert menu[1]["speed_up"] is None, "plain decoding alone is not compared with itself"


@pytest.mark.parametrize("size", [DESK, PHONE])
@pytest.mark.everything
def test_it_is_grouped_and_marks_what_is_shown(page: Any, shipped: str, size: tuple[int, int]) -> None:
    visit(page, shipped, "01-code", size)
    page.get_by_role("button", name="Recordings").click()
    menu = page.get_by_role("listbox", name="Recordings")
    data = json.loads((TRACES / FILE).read_text())
    assert menu.locator(".hx-shelf-title").all_inner_texts() == [group["title"] for group in data["groups"]]
    chosen = menu.get_by_role("option", selected=True)
    assert chosen.count() == 1 and "Write code" in chosen.inner_text()
    assert chosen.locator(".hx-badge").all_inner_texts() == ["N", "Q", "T"]
    ratio = page.locator(".hx-headline-value").inner_text()
    assert chosen.locator(".hx-shelf-speed").inner_text() == ratio, "the figure of the run itself"
    assert "ngram" not in chosen.inner_text()
    assert "Lookups, then an 8-bit copy, then the model" in page.locator(".hx-shelf-foot").inner_text()
    assert "simulated" in menu.get_by_role("option", name="What if").inner_text()
    inside = menu.evaluate("(x) => x.scrollWidth <= x.clientWidth + 1")
    assert inside and page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.everything
def test_the_keyboard_finds_and_chooses(page: Any, shipped: str) -> None:
    visit(page, shipped)
    button = page.get_by_role("button", name="Recordings")
    active = "document.activeElement.querySelector('.hx-shelf-name')?.textContent"
    button.focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate(active) == "Write code", "it opens on what is shown"
    page.keyboard.press("Home")
    first = page.evaluate(active)
    page.keyboard.press("ArrowUp")
    assert page.evaluate(active) == first
    page.keyboard.press("End")
    assert page.evaluate(active) == page.locator(".hx-shelf-name").last.inner_text()
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.textContent") == "Recordings"
    assert page.locator(".hx-shelf").is_hidden()
    page.keyboard.press("Enter")
    page.keyboard.type("do t")
    assert page.evaluate(active) == "Do the sum"
    assert not page.evaluate("document.documentElement.classList.contains('hx-presenting')")
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('.hx-text-panel h2').textContent === 'Do the sum'")
    assert "recording=05-maths" in page.url
    assert page.evaluate("document.activeElement.textContent") == "Recordings"
    button.click()
    drawn(page)
    assert (
        "Do the sum" in page.get_by_role("listbox", name="Recordings").get_by_role("option", selected=True).inner_text()
    )
