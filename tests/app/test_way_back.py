"""The way back: tabs and runs in the browser's history, a run that goes on aside, a page that is reloaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from cases import first_always
from test_page import finished, generate, visit

TOY = "A toy tower"
HEAD = ".hx-text-panel h2"


def asked(page: Any, name: str) -> str:
    return parse_qs(urlsplit(page.url).query).get(name, [""])[0]


def titled(page: Any, title: str) -> None:
    page.wait_for_function(f"document.querySelector('{HEAD}').textContent === {title!r}")


def choose(page: Any, title: str) -> None:
    page.get_by_role("button", name="Recordings").click()
    page.locator(".hx-shelf-item").filter(has_text=title).first.click()


def hostile(page: Any) -> None:
    page.wait_for_function(f"document.querySelector('{HEAD}').textContent.startsWith('<img')")


def test_back_and_forward_go_from_tab_to_tab_and_the_address_names_each(page: Any, site: str) -> None:
    visit(page, site)
    tab = lambda name: page.get_by_role("tab", name=name)  # noqa: E731
    open_tab = lambda name: page.wait_for_function(  # noqa: E731
        "(name) => document.querySelector('[role=tab][aria-selected=true]').textContent.trim() === name", arg=name
    )
    for name in ("Planner", "Results", "Explore"):
        tab(name).click()
        open_tab(name)
        assert asked(page, "tab") == ("" if name == "Explore" else name.lower())
    for name in ("Results", "Planner", "Explore"):
        page.go_back()
        open_tab(name)
        assert asked(page, "tab") == ("" if name == "Explore" else name.lower())
    page.go_forward()
    open_tab("Planner")
    page.reload()
    page.wait_for_selector(".hx-planner")
    open_tab("Planner")
    assert page.evaluate("history.length") <= 5, "loading makes no entry of its own"


@pytest.mark.everything
def test_a_link_to_the_tab_s_former_name_opens_it(page: Any, site: str) -> None:
    page.goto(f"{site}/?tab=planner")
    selected = page.locator("[role=tab][aria-selected=true]")
    assert selected.inner_text() == "Planner"
    page.goto(f"{site}/?tab=play")
    assert selected.inner_text() == "Explore"
    page.locator(".hx-flow .hx-tok").first.wait_for()


@pytest.mark.everything
def test_back_shows_a_live_run_again_and_an_opened_file(page: Any, site: str, recordings: Path) -> None:
    visit(page, site, "/?preset=toy&max_new_tokens=6&baseline=0")
    titled(page, TOY)
    generate(page, "The tower never")
    page.wait_for_selector(".hx-status[data-mode='live']")
    finished(page)
    page.locator("input[type=file]").first.set_input_files(recordings / "01-hostile.jsonl.gz")
    titled(page, "01-hostile.jsonl.gz")
    page.reload()
    titled(page, "01-hostile.jsonl.gz")
    choose(page, TOY)
    titled(page, TOY)
    page.go_back()
    titled(page, "01-hostile.jsonl.gz")
    page.go_back()
    page.wait_for_selector(".hx-status[data-mode='live']")
    assert page.locator("#hx-prompt").input_value() == "The tower never"
    assert not page.locator(".hx-other-prompt").is_visible()
    page.go_back()
    titled(page, TOY)
    page.wait_for_function("document.querySelector('#hx-prompt').value === 'The tower of levels'")
    assert not page.locator(".hx-other-prompt").is_visible()


@pytest.mark.everything
@first_always("how", ["menu", "file"])
def test_a_recording_shown_during_a_live_run_stays_and_one_can_return(
    page: Any, site: str, recordings: Path, how: str
) -> None:
    visit(page, site, "/?preset=toy&max_new_tokens=512&baseline=0")
    generate(page, "The tower never lies")
    page.wait_for_selector(".hx-status[data-mode='live']")
    if how == "file":
        page.locator("input[type=file]").first.set_input_files(recordings / "00-toy.jsonl.gz")
    else:
        choose(page, TOY)
    page.wait_for_selector(".hx-status[data-mode='recorded']")
    page.get_by_role("button", name="Your run is still going").wait_for()
    page.get_by_role("button", name="Stop", exact=True).click()
    page.get_by_role("button", name="Your run is done: return to it").wait_for()
    assert page.locator(".hx-status").get_attribute("data-mode") == "recorded"
    finished(page)
    page.locator(".hx-aside").click()
    page.wait_for_selector(".hx-status[data-mode='live']")
    assert page.locator(".hx-status").inner_text().startswith("live, stopped")
    page.locator(".hx-aside").wait_for(state="hidden")


@pytest.mark.everything
def test_a_page_that_is_loaded_anew_in_mid_run_finds_it_going_on(page: Any, site: str) -> None:
    visit(page, site, "/?preset=toy&max_new_tokens=300&baseline=0")
    long = "The tower never lies. " * 80  # more than an address takes
    generate(page, long)
    page.wait_for_selector(".hx-status[data-mode='live']")
    page.reload()
    page.wait_for_selector(".hx-status[data-mode='live']")
    assert page.locator(".hx-go").inner_text() == "Stop"
    assert page.locator("#hx-prompt").input_value() == long and page.locator(".hx-other-prompt").is_hidden()
    written = "document.querySelector('.hx-text-body').textContent.length"
    before = page.evaluate(written)
    page.wait_for_function(f"{written} > {before}")
    page.get_by_role("button", name="Stop", exact=True).click()
    finished(page)
    assert page.locator(".hx-status").inner_text().startswith("live, stopped")


@pytest.mark.everything
def test_a_recording_that_is_not_there_is_said_and_the_nearest_is_shown(page: Any, site: str) -> None:
    visit(page, site, "/?recording=nope")
    titled(page, TOY)
    note = page.locator(".hx-note")
    assert "no recording \u201cnope\u201d" in note.inner_text()
    assert asked(page, "recording") == "00-toy"  # the nearest name, which is shown


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("stack=table:4@id=order1,table@id=order6&preset=toy", "with another stack. "),
        ("prompt=The+roof&stack=table:4@id=order1,table@id=order6", "with another prompt and another stack. "),
        ("prompt=The+tower+of+levels&preset=toy", ""),
        ("recording=00-toy&prompt=The+roof", ""),
        ("temperature=0.5", ""),
    ],
)
@pytest.mark.everything
def test_a_link_to_settings_says_where_the_recording_shown_is_another_one(
    query: str, said: str, page: Any, site: str
) -> None:
    visit(page, site, f"/?{query}")
    titled(page, TOY)
    note = page.locator("#stage .hx-note-text")
    if not said:
        assert note.is_hidden()
    else:
        assert note.inner_text().startswith("This link holds settings but no run. ") and said in note.inner_text()


@pytest.mark.everything
def test_a_text_of_another_prompt_is_marked(page: Any, site: str) -> None:
    visit(page, site, "/?prompt=Something+else")
    mark = page.locator(".hx-other-prompt")
    mark.wait_for()
    assert "The tower of levels" in mark.get_attribute("data-tip")
    note = page.locator("#stage .hx-note-text")
    assert "the recording \u201cA toy tower\u201d is shown, with another prompt. Press Generate" in note.inner_text()
    page.locator("#hx-prompt").fill("The tower of levels")
    mark.wait_for(state="hidden")
    page.get_by_role("button", name="Examples").click()
    page.locator(".hx-pop-panel:not([hidden]) .hx-item").first.click()
    mark.wait_for()
    page.evaluate("location.search = '?preset=toy&max_new_tokens=4&baseline=0'")
    page.wait_for_selector(".hx-stage")
    generate(page, "The roof")
    page.wait_for_selector(".hx-status[data-mode='live']")
    finished(page)
    assert mark.is_hidden()
