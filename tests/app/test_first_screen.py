"""The first minute: painted at once and in its place, why anyone does this, the speed-up, how to read a token."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pagekit
import pytest
from cases import first_always
from pagekit import CALM, SEEN, SHIFTS, drawn, worst_window
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from app.kit.static import ASSETS
from app.serve.door.first import FirstPaint
from app.words.page import WHY
from hsd_core.export.run_page import style_sheets

DESK, PHONE, PROJECTOR = (1440, 900), (390, 844), (1920, 1080)


def visit(page: Any, shipped: str, recording: str = "01-code", size: tuple[int, int] = DESK, query: str = "") -> None:
    pagekit.visit(page, shipped, f"recording={recording}&{query}", size)


def seek(page: Any, share: float) -> None:
    slider = page.get_by_role("slider", name="Moment of the run")
    slider.evaluate(
        "(x, to) => { x.value = to; x.dispatchEvent(new Event('input', {bubbles: true})); }", round(1000 * share)
    )
    drawn(page)


def ratio(page: Any) -> float | None:
    said = page.locator(".hx-headline-value").inner_text()
    return float(said.removesuffix("×")) if said.endswith("×") else None


@first_always("size", [DESK, PHONE, PROJECTOR])
@first_always("recording", ["01-code", "05-maths"])
def test_nothing_jumps_while_the_page_opens_and_the_replay_runs(
    page: Any, shipped: str, size: tuple[int, int], recording: str
) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.add_init_script(SHIFTS)
    page.goto(f"{shipped}/?recording={recording}")
    page.wait_for_selector(".hx-flow .hx-tok")
    assert worst_window(page.evaluate("shifts")) < 0.05
    # A guess that wraps and is struck out takes its line with it: how many a window holds is the speed of the machine.
    page.wait_for_function("document.querySelectorAll('.hx-flow .hx-tok').length > 40")
    assert worst_window(page.evaluate("shifts")) < 0.1


def test_the_sentence_and_the_outline_stand_before_any_script_has_run(browser: Any, shipped: str) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(shipped)
    assert page.get_by_text("The same text, sooner").is_visible()
    outline = page.locator("#hx-first")
    assert outline.bounding_box() == {"x": 0, "y": 0, "width": 1440, "height": 900}
    context.close()


def test_a_reply_that_is_no_page_is_left_alone() -> None:
    app = Starlette(
        routes=[
            Route("/", lambda _: HTMLResponse("<head></head><gradio-app>")),
            Route("/x", lambda _: HTMLResponse("<head></head>")),
        ]
    )
    client = TestClient(FirstPaint(app, files="hx/0"))
    page = client.get("/")
    assert WHY in page.text and page.text.index("hx-first") < page.text.index("<gradio-app")
    assert int(page.headers["content-length"]) == len(page.content)
    assert client.get("/x").text == "<head></head>"
    assert client.head("/").content == b""
    assert all((ASSETS / name).is_file() for name in style_sheets())


@pytest.mark.everything
def test_the_first_screen_says_why_and_the_speed_up_is_the_one_big_figure(page: Any, shipped: str) -> None:
    visit(page, shipped, query=CALM)
    seen = []
    for share in (0, 0.2, 0.4, 0.6, 1):
        seek(page, share)
        seen.append(ratio(page))
    assert seen[0] is None and None not in seen[1:] and len(set(seen[1:])) > 2, "it moves with the replay"
    assert page.locator(".hx-why").inner_text() == WHY
    sizes = page.evaluate(
        "[...document.querySelectorAll('.hx-stage *')].filter((x) => x.checkVisibility() && x.childNodes.length &&"
        " [...x.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))"
        ".map((x) => [parseFloat(getComputedStyle(x).fontSize), x.className])"
    )
    large = [name for size, name in sizes if size >= 28]
    assert large == ["hx-headline-value"]
    speed, plain = map(float, re.findall(r"[\d.]+", page.locator(".hx-headline-against").inner_text()))
    assert ratio(page) == pytest.approx(speed / plain, abs=0.02)


@pytest.mark.everything
def test_a_run_without_plain_decoding_shows_its_speed(page: Any, site: str) -> None:
    page.goto(f"{site}/?recording=01-hostile")
    page.wait_for_selector(".hx-flow .hx-tok")
    seek(page, 1)
    assert float(page.locator(".hx-headline-value").inner_text()) > 0
    assert page.locator(".hx-headline-words").inner_text().split("\n")[:2] == ["tokens/s", "this is plain decoding"]


def test_one_token_is_annotated_and_the_legend_names_all_that_is_drawn(page: Any, shipped: str) -> None:
    visit(page, shipped)
    seek(page, 1)
    specimen = page.locator(".hx-specimen")
    token = specimen.locator(".hx-tok")
    assert specimen.inner_text().count(f"letter {token.get_attribute('data-mark')}") == 1
    assert "dot: Q accepted it before the target" in specimen.inner_text() and token.get_attribute("data-dots")
    word = token.inner_text()
    twin = page.locator(f".hx-flow .hx-tok[data-dots][data-line='{token.get_attribute('data-line')}']", has_text=word)
    assert twin.first.inner_text() == word, "it is a token of this text, drawn as it is there"
    legend = "".join(page.locator(".hx-colours, .hx-legend").all_inner_texts())
    for name in ("lookups", "8-bit copy", "rejected by Q", "two more there", "not committed yet"):
        assert name in legend, name
    for word, meant in (
        ("KV cache", "hatched for drafts"),
        ("accepted", "weighted by p/q"),
        ("block length", "T on its"),
    ):
        page.locator(".hx-tower").get_by_role("button", name=word, exact=True).click()
        assert meant in page.locator(".hx-definition").inner_text()
    page.get_by_role("checkbox", name="rejected drafts").uncheck()
    drawn(page)
    assert "rejected" not in "".join(page.locator(".hx-colours, .hx-legend").all_inner_texts())


@pytest.mark.everything
def test_the_note_about_the_other_paper_is_in_the_help(page: Any, shipped: str) -> None:
    visit(page, shipped)
    assert "Another paper" not in page.locator(".hx-stage").inner_text()
    page.get_by_role("button", name="help: how to read this page").click()
    panel = page.get_by_role("region", name="how to read this page")
    assert "Another paper (Zhou et al. 2026)" in panel.inner_text()
    page.keyboard.press("Escape")
    assert panel.is_hidden()
    assert page.evaluate("document.activeElement.ariaLabel") == "help: how to read this page"


@pytest.mark.everything
def test_the_theme_that_was_kept_is_that_of_the_outline(browser: Any, shipped: str) -> None:
    context = browser.new_context(color_scheme="light")
    page = context.new_page()
    page.add_init_script(f"{SEEN} localStorage.setItem('hx-theme', 'dark')")
    page.goto(shipped, wait_until="commit")
    page.wait_for_selector("#hx-first.hx-dark")
    page.wait_for_selector(".hx-flow .hx-tok")
    assert page.evaluate("document.body.classList.contains('dark')")
    context.close()


@pytest.mark.everything
def test_the_style_sheet_is_asked_for_once(page: Any, shipped: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(Path(request.url).name))
    visit(page, shipped)
    assert asked.count("first.css") == 1 and not {Path(sheet).name for sheet in style_sheets()} & set(asked)
