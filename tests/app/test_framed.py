"""In a frame of another page, such as a Space's, which follows the page's height by the protocol of iframe-resizer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from cases import first_always
from pagekit import SEEN, UNFOLDED

from app.kit.static import ASSETS

TABS = {  # and what is in sight once a tab has drawn
    "Explore": ".hx-flow .hx-tok",
    "Race": ".hx-race-row",
    "Planner": ".hx-al-answer:not(:empty)",
    "Learn": ".hx-lessons a",
    "Results": ".hx-res-bars",
    "Atlas": ".hx-atlas-one",
}
# The page around, as the Hub's: it makes the frame as high as it is told, and says what is seen of it.
AROUND = """<!doctype html><title>around</title><body style="margin: 0">
<style>iframe { display: block; width: 100%%; height: 500px; border: 0 }</style>
<div style="height: 60px"></div><iframe id="f" src="/?%s"></iframe>
<script>
const INIT = "[iFrameSizer]f:8:false:false:32:true:true:null:bodyOffset:null:null:0:false:parent:scroll:true";
let since = performance.now(), asked = false;
const info = () => asked && f.contentWindow.postMessage("[iFrameSizer]pageInfo:" + JSON.stringify(
  {clientHeight: innerHeight, offsetTop: f.offsetTop, scrollTop: scrollY}), "*");
addEventListener("message", ({data}) => {
  const [name, told] = String(data).split("]");
  if (name !== "[iFrameSizer") return;
  asked ||= told.endsWith(":pageInfo");
  info();
  const height = Number(told.split(":")[1]);
  if (height > 0 && f.style.height !== height + "px") [f.style.height, since] = [height + "px", performance.now()];
});
addEventListener("scroll", info);
f.onload = () => f.contentWindow.postMessage(INIT, "*");
const still = (ms) => performance.now() - since > ms;
</script>"""
FILLED = 400  # px: what fills a tab has come
BELOW_THE_WINDOW = """f.contentDocument.querySelector(".hx-card").getBoundingClientRect().bottom
  + f.getBoundingClientRect().top - innerHeight"""
STILL_MS = 250  # a page that grows asks for more some ten times a second


@pytest.fixture(scope="module")
def context(browser: Any) -> Iterator[Any]:
    """A visitor who has seen the story."""
    made = browser.new_context(viewport={"width": 1200, "height": 900})
    for script in (SEEN, UNFOLDED):
        made.add_init_script(script)
    yield made
    made.close()


@pytest.fixture
def around(context: Any) -> Iterator[Any]:
    page = context.new_page()
    page.set_default_timeout(90_000)
    yield page
    page.close()


def framed(around: Any, site: str, query: str) -> Any:
    """The page in its frame, when the first screen is there and the frame's height has settled."""
    around.route("**/around", lambda route: route.fulfill(content_type="text/html", body=AROUND % query))
    around.goto(f"{site}/around")
    page = around.frame_locator("#f")
    page.locator("#hx-first").wait_for(state="detached")
    settled(around)
    return page


def settled(around: Any) -> tuple[int, int]:
    """The heights of the frame and of the page in it, once the frame holds the page and has stopped changing."""
    seen = f"""() => {{
      const page = f.contentDocument.documentElement.scrollHeight;
      return f.offsetHeight > {FILLED} && still({STILL_MS}) && page <= f.offsetHeight + 1 && [f.offsetHeight, page];
    }}"""
    frame, page = around.wait_for_function(seen).json_value()
    return int(frame), int(page)


@pytest.mark.everything
@first_always("width", [1200, 390, 1920])
def test_in_a_frame_that_follows_its_height_every_tab_settles(around: Any, shipped: str, width: int) -> None:
    around.set_viewport_size({"width": width, "height": 900})
    page = framed(around, shipped, "explore=1")
    for name, ready in TABS.items():
        page.get_by_role("tab", name=name, exact=True).click()
        page.locator(ready).first.wait_for()
        frame, height = settled(around)
        assert height <= frame + 1 < 9000, f"{name}: a page of {height} px in a frame of {frame}"


@pytest.mark.everything
def test_an_embedded_run_keeps_a_height_of_its_own_in_such_a_frame(around: Any, shipped: str) -> None:
    around.set_viewport_size({"width": 390, "height": 900})
    page = framed(around, shipped, "recording=01-code&at=6.4&embed=1")
    page.locator(".hx-flow .hx-tok").first.wait_for()
    frame, height = settled(around)
    assert height <= frame + 1 < 700
    assert page.locator(".hx-transport").is_visible()


@pytest.mark.everything
def test_what_stands_over_the_page_is_where_the_reader_looks(around: Any, shipped: str) -> None:
    around.set_viewport_size({"width": 1200, "height": 900})
    page = framed(around, shipped, "story=1")
    story = page.locator(".hx-story")
    assert story.bounding_box() == {"x": 0, "y": 60, "width": 1200, "height": 840}, "the window, below what is above it"
    page.get_by_role("button", name="Explore").click()
    settled(around)
    around.evaluate("scrollTo(0, 200)")
    around.set_viewport_size({"width": 390, "height": 800})
    page.locator(".hx-flow .hx-tok").first.click()
    card = page.locator(".hx-card.hx-sheet")
    card.wait_for()
    around.wait_for_function(f"{BELOW_THE_WINDOW} <= 1")
    assert card.bounding_box()["y"] > 200


@pytest.mark.everything
@pytest.mark.parametrize(("locale", "language"), [("de-DE", "de"), ("is-IS", "en")])
def test_the_page_speaks_the_browsers_language_or_english_and_says_which(
    browser: Any, shipped: str, locale: str, language: str
) -> None:
    context = browser.new_context(locale=locale)
    context.add_init_script(SEEN)
    page = context.new_page()
    page.goto(f"{shipped}/?explore=1")
    page.locator("#hx-first").wait_for(state="detached")
    assert page.evaluate("[document.documentElement.lang, navigator.language]") == [language, language]
    context.close()


def test_one_measure_alone_is_the_window_s() -> None:
    """A height in vh anywhere would follow a frame that follows the page."""
    sheets = {path.name: path.read_text() for path in (ASSETS / "css").glob("*.css")}
    found = [
        (name, unit) for name, text in sheets.items() for unit in re.findall(r"\b[\d.]+[dsl]?v(?:h|b|min|max)\b", text)
    ]
    assert found == [("base.css", "100dvh")]
