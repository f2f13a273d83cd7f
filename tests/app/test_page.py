"""The page in a browser: what a visitor sees and can do. The engine is the real one, on the toy preset."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from cases import first_always
from pagekit import HOSTILE, drawn

from hsd_core.core.events import Baseline, Commit, Footer, Header
from hsd_core.trace import file as tracefile

GROWN = """() => {
  window.grown = [];
  const [figures, table] = ["#figures", ".hx-plot-tokens .hx-figure-scroll"].map((x) => document.querySelector(x));
  new MutationObserver(() => grown.push({
    at: performance.now(), height: figures.offsetHeight,
    tokens: Number(table.querySelector("tbody td:nth-child(3)").textContent),
  })).observe(table, {childList: true});
}"""
STACK = "table:4@id=order1,table@id=order6"


def visit(page: Any, site: str, query: str = "") -> None:
    page.goto(f"{site}/{query.removeprefix('/')}")
    page.wait_for_selector(".hx-stage")


def text(page: Any) -> str:
    return page.locator(".hx-text-body").inner_text()


def generate(page: Any, prompt: str) -> None:
    page.locator("#hx-prompt").fill(prompt)
    page.get_by_role("button", name="Generate").click()


def finished(page: Any) -> None:
    page.wait_for_function("document.querySelector('.hx-go').textContent === 'Generate'")


def saved(page: Any, folder: Path) -> list[Any]:
    with page.expect_download() as download:
        page.get_by_role("button", name="download the trace").click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return tracefile.read(path)


@pytest.mark.everything
def test_the_first_screen_needs_no_scrolling_at_1440_by_900(page: Any, site: str) -> None:
    visit(page, site)
    box = page.locator(".hx-figures").bounding_box()
    assert box["y"] + box["height"] <= 900
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_runs_stream_end_with_a_baseline_stop_at_escape_and_follow_the_stack(
    page: Any, site: str, tmp_path: Path
) -> None:
    visit(page, site, f"/?preset=toy&max_new_tokens=12&stack={STACK}")
    generate(page, "The tower never")
    page.wait_for_selector(".hx-status[data-mode='live']")
    finished(page)
    events = saved(page, tmp_path)
    assert isinstance(events[0], Header)
    assert any(isinstance(e, Footer) for e in events)
    assert isinstance(events[-1], Baseline)
    assert sum(len(e.tokens) for e in events if isinstance(e, Commit)) == 12
    assert page.locator(".hx-headline-unit").inner_text() == "as fast as plain decoding"
    assert page.locator(".hx-stale").count() == 0
    page.get_by_role("button", name="one more").first.click()
    assert page.locator(".hx-stale").count() == 1
    new_tokens(page, 400)
    page.locator("#hx-prompt").press("Control+Enter")
    page.wait_for_function("document.querySelector('.hx-go').textContent === 'Stop'")
    page.wait_for_function("document.querySelectorAll('.hx-flow .hx-tok').length > 24")
    page.keyboard.press("Escape")
    finished(page)
    assert page.locator(".hx-status").inner_text().startswith("live, stopped")
    assert next(e for e in saved(page, tmp_path) if isinstance(e, Footer)).reason == "stopped"
    new_tokens(page, 12)
    page.get_by_role("button", name="Generate").click()
    page.wait_for_function("document.querySelector('.hx-go').textContent === 'Stop'")
    finished(page)
    assert page.locator(".hx-stale").count() == 0
    header, *events = saved(page, tmp_path)
    footer = next(e for e in events if isinstance(e, Footer))
    assert header.levels[0].block == 5 and footer.reason in ("length", "eos") and footer.committed <= 12


def new_tokens(page: Any, count: int) -> None:
    page.get_by_role("button", name="settings", exact=True).click()
    page.get_by_label("new tokens").fill(f"{count}")
    page.keyboard.press("Escape")


def test_settings_go_round_through_the_address_and_a_level_is_switched_off_added_moved_and_removed(
    page: Any, site: str
) -> None:
    wanted = {
        "preset": "toy",
        "stack": STACK,
        "prompt": "a & b = c? 🌅",
        "temperature": "0.7",
        "top_k": "20",
        "top_p": "0.9",
        "seed": "7",
        "max_new_tokens": "33",
        "raw": "1",
        "baseline": "0",
        "ghosts": "hide",
        "colour": "source",
    }
    visit(page, site, f"?{urlencode(wanted)}")
    assert page.locator("#hx-prompt").input_value() == wanted["prompt"]
    page.get_by_role("radio", name="supplied by").check(force=True)  # a change rewrites the address
    kept = {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}
    assert kept == {name: value for name, value in wanted.items() if name != "colour"}

    asked = lambda: parse_qs(urlsplit(page.url).query).get("stack", [""])[0]  # noqa: E731
    page.get_by_role("switch").first.click()
    assert asked() == "table@id=order6"
    page.get_by_role("switch").first.click()
    assert asked() == STACK
    page.get_by_text("add a level").click()
    page.get_by_role("button", name="table of order 3").click()
    assert asked() == "table:4@id=order1,table:4@id=order3,table@id=order6"
    page.get_by_role("button", name="move table of order 1").focus()
    page.keyboard.press("ArrowUp")
    assert asked() == "table:4@id=order3,table:4@id=order1,table@id=order6"
    page.keyboard.press("ArrowDown")
    assert asked() == "table:4@id=order1,table:4@id=order3,table@id=order6", "the focus goes with its floor"
    page.keyboard.press("ArrowUp")
    focused = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert focused == "move table of order 1, level 2 of 3: arrow up or down"
    page.locator(".hx-floor").nth(1).get_by_role("button", name="rule, policy and order").click()
    page.get_by_role("button", name="remove").click()
    assert asked() == "table:4@id=order3,table@id=order6"
    page.keyboard.press("Control+z")
    assert asked() == "table:4@id=order3,table:4@id=order1,table@id=order6"
    undo = page.get_by_role("button", name="undo", exact=True)
    for _ in range(4):  # two moves there and back and one more, the level that was added
        undo.click()
    assert asked() == STACK
    page.get_by_role("textbox", name="T, the block length of table of order 1").fill("99")
    page.keyboard.press("Enter")
    page.locator(".hx-note").get_by_text("is at most 64").wait_for()
    assert asked().startswith("table:64")
    page.get_by_role("textbox", name="T, the block length of table of order 1").fill("abc")
    page.keyboard.press("Enter")
    page.locator(".hx-note").get_by_text("is not a number").wait_for()
    assert asked().startswith("table:64")
    page.keyboard.press("Control+z")
    assert asked() == STACK, "what was taken back by T too"


@pytest.mark.everything
def test_a_tip_does_not_cover_what_was_just_changed(page: Any, site: str) -> None:
    visit(page, site, f"/?preset=toy&stack={STACK}")
    stepper, tip = page.locator(".hx-stepper").first, page.locator("#stage .hx-tip")
    stepper.hover()
    tip.wait_for()
    stepper.get_by_role("button", name="one more").click()
    page.wait_for_timeout(400)  # a tip comes after 300 ms
    assert tip.is_hidden()
    page.mouse.move(5, 5)
    stepper.hover()
    tip.wait_for()
    page.keyboard.press("Escape")
    stepper.get_by_role("textbox").focus()
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.matches('.hx-stepper input')") and tip.is_hidden()


@pytest.mark.everything
def test_the_head_of_the_text_has_room_for_its_title_and_for_all_that_stands_beside_it(page: Any, site: str) -> None:
    visit(page, site)
    page.evaluate("document.querySelector('.hx-text-panel h2').textContent = 'The text'")
    page.evaluate("document.querySelector('.hx-other-prompt').hidden = false")
    for width in (390, 901, 1181, 1240, 1341, 1440, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        cut = page.evaluate("""[".hx-text-panel h2", ".hx-text-panel .hx-panel-head"].filter((name) => {
          const el = document.querySelector(name);
          return el.scrollWidth > el.clientWidth + 1;
        })""")
        assert cut == [], width


@pytest.mark.everything
def test_what_cannot_be_used_is_shown_with_its_reason(page: Any, site: str) -> None:
    visit(page, site, "/?preset=toy&stack=table@id=order6,ngram:4,table@id=order6")
    page.wait_for_selector(".hx-floor-reason")
    button = page.get_by_role("button", name="Generate")
    assert button.get_attribute("aria-disabled") == "true"
    assert button.get_attribute("data-tip")
    assert page.locator(".hx-tower-note").first.inner_text() == "The run shown used another stack."


@pytest.mark.parametrize("by", ["passed", "source", "time", "level"])
@pytest.mark.everything
def test_the_colour_switch_recolours_and_stands_in_the_address(page: Any, site: str, by: str) -> None:
    visit(page, site, "/?colour=time")
    before = page.locator(".hx-text-panel .hx-colours").inner_text()
    switch = page.get_by_role("radiogroup", name="colour by")
    names = {"level": "supplied by", "passed": "accepted by", "source": "database or depth", "time": "time"}
    assert [one.inner_text() for one in switch.locator("label:visible").all()] == [*names.values()]
    switch.get_by_text(names[by], exact=True).click()
    drawn(page)
    assert (page.locator(".hx-text-panel .hx-colours").inner_text() == before) is (by == "time")
    assert parse_qs(urlsplit(page.url).query).get("colour", ["level"]) == [by]


@pytest.mark.everything
def test_a_prompt_beyond_the_limit_is_kept_whole_and_the_page_says_what_to_do(page: Any, site: str) -> None:
    page.goto(f"{site}/?preset=toy")
    long = "The tower never lies. " * 400
    page.locator("#hx-prompt").fill(long)
    said = page.locator(".hx-prompt-size")
    assert "8,800 characters, and at most 8,000 are read here: shorten it" in said.inner_text()
    go = page.locator(".hx-go")
    assert go.get_attribute("aria-disabled") == "true" and "shorten it" in (go.get_attribute("data-tip") or "")
    assert page.locator("#hx-prompt").input_value() == long, "nothing is cut"
    page.locator("#hx-prompt").fill(long[:4000])
    assert go.get_attribute("aria-disabled") is None and said.inner_text().startswith("4,000 characters")


def test_hostile_tokens_titles_files_and_prompts_are_text(page: Any, site: str, tmp_path: Path) -> None:
    """One after another in one page."""
    visit(page, site, "/?recording=01-hostile&preset=toy&max_new_tokens=4&baseline=0")
    page.get_by_role("button", name="To the end").click()
    drawn(page)
    shown = text(page)
    for piece in HOSTILE:
        if piece.strip() and piece.isascii():
            assert piece in shown.replace("\n", ""), piece
    for piece in ("🌅", "صباح", "שלום", "早上好"):
        assert piece in shown.replace("\u2066", ""), piece
    bad = tmp_path / "bad.jsonl"
    bad.write_text("<img src=x onerror=window.PWNED=1>\n")
    page.locator("input[type=file]").set_input_files(bad)
    page.wait_for_selector(".hx-note[data-kind='error']:not([hidden])")
    title = "<img src=x onerror=window.PWNED=3>"
    assert page.locator(".hx-text-panel h2").inner_text() == title, "the run stays, the file is refused"
    for prompt in ("{{x}}", "${alert(1)}", "".join(HOSTILE)):
        with page.expect_request("**/queue/join*"):
            generate(page, prompt)
        drawn(page)  # the button is Stop now
        finished(page)
        page.wait_for_selector(".hx-status[data-mode='live']")
        assert page.locator("#hx-prompt").input_value() == prompt
        assert page.locator(".hx-stage img, .error-container").count() == 0
        assert page.evaluate("window.PWNED === undefined && document.title !== 'PWNED'")
    assert bytes(saved(page, tmp_path)[0].prompt_ids).decode() == prompt


@pytest.mark.everything
def test_figures_are_drawn_when_somebody_looks_and_grow_while_a_run_streams_and_nothing_moves_at_its_end(
    page: Any, site: str
) -> None:
    visit(page, site)
    assert page.locator(".js-plotly-plot").count() == 0
    page.locator("#figures").scroll_into_view_if_needed()
    page.mouse.wheel(0, 2000)
    page.wait_for_selector(".js-plotly-plot .main-svg")
    page.wait_for_function("document.querySelectorAll('.js-plotly-plot').length === 3")
    assert page.locator(".hx-figure table").count() == 3
    assert page.locator("#figures .hx-figure").last.get_attribute("aria-label") == "Tokens against time"
    reader = page.get_by_role("slider", name="Tokens against time")
    reader.focus()
    reader.press("End")
    said = reader.get_attribute("aria-valuetext")
    total = page.locator(".hx-plot-tokens tbody tr").first.locator("td").nth(1).text_content()
    assert re.fullmatch(rf"this stack: {total} tokens after [\d.]+ s", said)
    page.locator(".hx-plot-tokens .hovertext").wait_for()
    reader.press("ArrowDown")
    assert reader.get_attribute("aria-valuetext").startswith("plain decoding")

    page.evaluate(GROWN)
    generate(page, "The small level drafts, the large level signs.")
    page.locator("#figures").scroll_into_view_if_needed()
    page.locator(".hx-status", has_text="live, done").wait_for()
    page.wait_for_function("grown.at(-1).tokens === Number(document.querySelectorAll('.hx-flow .hx-tok').length)")
    grown = page.evaluate("grown")
    counts = [one["tokens"] for one in grown]
    assert len(set(counts)) >= 3 and counts == sorted(counts)
    assert all(b["at"] - a["at"] > 450 for a, b in pairwise(grown)), "twice a second at most"
    assert len({one["height"] for one in grown}) == 1


@pytest.mark.everything
def test_the_status_line_is_polite_and_holds_no_tokens(page: Any, site: str) -> None:
    visit(page, site, "/?preset=toy&max_new_tokens=20")
    generate(page, "The tower never lies")
    page.wait_for_selector(".hx-status[data-mode='live']")
    finished(page)
    # It is drawn a frame after the button has changed.
    page.wait_for_function("document.querySelector('[aria-live=polite]').textContent.includes('20 tokens')")
    assert page.locator(".hx-text-body [aria-live]").count() == 0


@pytest.mark.everything
def test_a_message_leaves_by_itself_and_does_not_stand_in_the_way(page_alone: Any, site: str, tmp_path: Path) -> None:
    page = page_alone
    page.clock.install()
    visit(page, site)
    page.wait_for_selector(".hx-text-body [data-serial]")
    saved(page, tmp_path)
    note = page.locator(".hx-note")
    note.wait_for()
    over = """() => {
      const box = document.querySelector('.hx-note-text').getBoundingClientRect();
      const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
      return Boolean(top.closest('.hx-note'));
    }"""
    assert not page.evaluate(over)
    page.clock.run_for(60_000)
    note.wait_for(state="hidden")
    saved(page, tmp_path)
    note.wait_for()
    page.get_by_role("button", name="dismiss this message").click()
    note.wait_for(state="hidden")
    visit(page, site, "/?recording=nope")  # an error stays until it is dismissed
    page.locator(".hx-note[data-kind=error]").wait_for()
    page.clock.run_for(600_000)
    assert page.locator(".hx-note").is_visible()
    page.get_by_role("button", name="dismiss this message").click()
    page.locator(".hx-note").wait_for(state="hidden")


@pytest.mark.everything
def test_the_figures_of_an_earlier_run_do_not_stand_under_the_next(page: Any, site: str) -> None:
    visit(page, site)
    page.locator("#figures").scroll_into_view_if_needed()
    page.wait_for_function("document.querySelectorAll('.js-plotly-plot').length === 3")
    before = page.locator("#figures table").all_text_contents()
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_function("scrollY === 0")
    page.get_by_role("button", name="Recordings").click()
    page.locator(".hx-shelf-item").filter(has_text="<img").click()
    page.locator("#figures").scroll_into_view_if_needed()
    page.wait_for_function(
        "(before) => [...document.querySelectorAll('#figures table')].every((x, i) => x.textContent !== before[i])",
        arg=before,
    )


@first_always(
    ("query", "ready", "said", "target"),
    [
        ("explore=1", ".hx-flow .hx-tok", "Skip to playback", ".hx-transport-play"),
        ("tab=planner", ".hx-al-answer:not(:empty)", "Skip to this tab", ".hx-planner *"),
    ],
)
def test_the_first_tab_stop_leads_past_the_prompt_to_what_is_in_sight(
    page: Any, shipped: str, query: str, ready: str, said: str, target: str
) -> None:
    page.goto(f"{shipped}/?{query}")
    page.wait_for_selector(ready)
    page.locator("body").press("Tab")
    assert page.evaluate("document.activeElement.textContent").startswith(said)
    page.keyboard.press("Enter")
    assert page.evaluate("(target) => document.activeElement.matches(target)", target)
