"""The text has room, its marks can be read, and the card of a token lies where it hides none of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from pagekit import CALM, drawn
from test_first_screen import DESK, PHONE, PROJECTOR, seek, visit

OVERLAPS = """
() => {
  const seen = (x) => {
    const {width, height} = x.getBoundingClientRect();
    return width > 1 && height > 1 && x.checkVisibility({visibilityProperty: true});
  };
  const scrolled = ".hx-sr, [hidden], .hx-tower-body, .hx-text, .hx-forecast-more"; // outside their edges, unseen
  const parts = ":is(button, select, input, textarea, h1, h2, p, label, dt, dd)";
  const items = [...document.querySelectorAll(".hx-stage " + parts)].filter((x) => seen(x) && !x.closest(scrolled));
  const found = [];
  for (const [i, a] of items.entries()) for (const b of items.slice(i + 1)) {
    if (a.contains(b) || b.contains(a)) continue;
    const [x, y] = [a.getBoundingClientRect(), b.getBoundingClientRect()];
    const wide = Math.min(x.right, y.right) - Math.max(x.left, y.left);
    const high = Math.min(x.bottom, y.bottom) - Math.max(x.top, y.top);
    if (wide > 3 && high > 3) found.push(`${a.className || a.textContent} over ${b.className || b.textContent}`);
  }
  return found;
}
"""
POINTED = """
() => {
  const {left, right, top} = document.querySelector(".hx-text-body").getBoundingClientRect();
  const at = (x) => document.elementFromPoint(x, top + 12);
  for (let x = left + 20; x < right - 40; x += 4) if (at(x).closest(".hx-tok, .hx-ghosts")) return "a token";
  return at(left + 60).className;
}
"""
MARK_SIZES = """() => {
  const px = (x, part) => parseFloat(getComputedStyle(x, part).fontSize);
  const every = (selector, part) => [...document.querySelectorAll('.hx-flow ' + selector)].map((x) => px(x, part));
  return [...every('.hx-tok[data-mark]', '::before'), ...every('.hx-tok[data-dots]', '::after'),
          ...every('.hx-ghost-text'), ...every('.hx-ghost-tail[data-by]', '::before'), ...every('.hx-plus')];
}"""
# Marks that run into the next one on their line.
CROWDED = """() => {
  const tokens = [...document.querySelectorAll('.hx-flow .hx-tok[data-mark]')];
  const ends = (x) => {
    const {top, left: begins} = x.getClientRects()[0];
    const look = getComputedStyle(x, '::before');
    const squeeze = look.transform === 'none' ? 1 : new DOMMatrix(look.transform).a;
    const left = begins + parseFloat(look.marginLeft);
    return {left, top, right: left + squeeze * x.dataset.mark.length * 0.602 * parseFloat(look.fontSize)};
  };
  const marks = tokens.map(ends);
  return marks.filter((a, i) => marks[i + 1] && Math.abs(marks[i + 1].top - a.top) < 4
    && marks[i + 1].left < a.right - 0.5).length;
}"""


def box(page: Any, selector: str) -> dict[str, float]:
    return page.locator(selector).first.bounding_box()


def apart(a: dict[str, float], b: dict[str, float]) -> bool:
    beside = a["x"] + a["width"] <= b["x"] + 1 or b["x"] + b["width"] <= a["x"] + 1
    return beside or a["y"] + a["height"] <= b["y"] + 1 or b["y"] + b["height"] <= a["y"] + 1


def resized(page: Any, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    drawn(page)


@pytest.mark.everything
def test_what_is_being_done_is_told_beside_the_text_its_caption_and_the_replay(page: Any, shipped: str) -> None:
    visit(page, shipped, "28-copy-pearl", query=CALM)
    page.evaluate("""() => {
      const told = document.querySelector('.hx-progress');
      told.hidden = false;
      const read = 'reading the prompt: 4,096 of 8,116 tokens, by target, about 55 s left, 50 %';
      told.querySelector('b').textContent = read;
      told.querySelector('span').textContent = 'Meanwhile you can replay a recording.';
    }""")
    for size in (DESK, PHONE, PROJECTOR):
        resized(page, size)
        told = box(page, ".hx-progress")
        for name in (".hx-text-body", ".hx-caption", ".hx-transport"):
            assert apart(told, box(page, name)), (name, size)


@pytest.mark.everything
def test_at_a_desk_the_text_follows_the_cursor_is_shown_whole_and_lies_free(page: Any, shipped: str) -> None:
    visit(page, shipped)
    _follows_the_cursor(page)
    _shown_whole(page)
    _card_hides_nothing(page, DESK)
    _nothing_lies_over(page, (DESK, (1180, 760), (960, 600), (720, 450), PHONE))


@pytest.mark.everything
@pytest.mark.parametrize("size", [PHONE, PROJECTOR])
def test_the_text_follows_the_cursor_and_no_card_hides_it(page: Any, shipped: str, size: tuple[int, int]) -> None:
    visit(page, shipped, size=size)
    _follows_the_cursor(page)
    if size == PHONE:
        page.locator(".hx-flow .hx-tok").last.click()
        page.wait_for_function(
            "document.querySelector('.hx-text-body').getBoundingClientRect().bottom"
            " <= document.querySelector('.hx-card').getBoundingClientRect().top + 1"
        )
    else:
        _card_hides_nothing(page, size)


def _shown_whole(page: Any) -> None:
    seek(page, 1)
    first, last = page.locator(".hx-flow .hx-tok").first, page.locator(".hx-flow .hx-tok").last
    assert page.locator(".hx-above").is_visible(), "the beginning is above the panel, and the head says so"
    page.get_by_role("checkbox", name="whole text").check()
    drawn(page)
    text = box(page, ".hx-text-body")
    for token in (first, last):  # the page's own answer: the debugger's overlooks the second column
        at = token.evaluate("(x) => x.getBoundingClientRect().toJSON()")
        assert text["y"] <= at["y"] and at["y"] + at["height"] <= min(900, text["y"] + text["height"])
        assert text["x"] <= at["x"] and at["x"] + at["width"] <= text["x"] + text["width"]
    assert page.locator(".hx-above").is_hidden()
    assert page.locator(".hx-tower").is_hidden()
    page.get_by_role("checkbox", name="whole text").uncheck()
    drawn(page)
    assert page.locator(".hx-tower").is_visible() and last.bounding_box()["y"] < 900


def _card_hides_nothing(page: Any, size: tuple[int, int]) -> None:
    seek(page, 1)
    for token in (page.locator(".hx-flow .hx-tok").last, page.locator(".hx-ghost").last):
        token.click()
        card = page.locator(".hx-card.hx-pinned")
        card.wait_for()
        place = card.bounding_box()
        assert apart(place, box(page, ".hx-text-panel"))
        assert place["x"] >= 0 and place["y"] >= 0 and place["y"] + place["height"] <= size[1]
        page.keyboard.press("Escape")
    page.get_by_role("checkbox", name="whole text").check()
    drawn(page)
    page.locator(".hx-flow .hx-tok").first.click()
    assert apart(page.locator(".hx-card").bounding_box(), box(page, ".hx-flow"))
    page.keyboard.press("Escape")
    page.get_by_role("checkbox", name="whole text").uncheck()
    drawn(page)


def _follows_the_cursor(page: Any) -> None:
    text = page.locator(".hx-text")
    to_start, to_end = (page.get_by_role("button", name=f"To the {where}") for where in ("start", "end"))

    def follows() -> bool:
        drawn(page)
        last = page.locator(".hx-flow .hx-tok").last
        seen = last.evaluate(
            "(x) => document.querySelector('.hx-text').getBoundingClientRect().bottom >= "
            "x.getBoundingClientRect().bottom"
        )
        return seen and text.evaluate(BELOW) <= 1

    for _ in range(2):
        to_start.click()
        drawn(page)
        to_end.click()
        assert follows() and text.evaluate("(x) => x.scrollTop") > 100
    for key in ("Home", "End"):
        page.get_by_role("slider", name="Moment of the run").press(key)
        drawn(page)
    assert follows() and text.evaluate("(x) => x.scrollTop") > 100
    for share in (0.97, 0.5, 1):  # from where somebody has scrolled away, on and back
        text.evaluate("(x) => { x.scrollTop = 0; }")
        drawn(page)
        seek(page, share)
        assert follows(), share


def _nothing_lies_over(page: Any, sizes: Sequence[tuple[int, int]]) -> None:
    """720 x 450 is a window of 1440 x 900 at 200 %."""
    for size in sizes:
        resized(page, size)
        seek(page, 1)
        assert page.evaluate(OVERLAPS) == [], size
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), size


@pytest.mark.everything
def test_a_text_too_long_for_two_columns_grows_down_the_page_and_hides_nothing(page: Any, shipped: str) -> None:
    visit(page, shipped, "01-code", (1200, 720))
    page.get_by_role("checkbox", name="whole text").check()
    for share in (0, 0.5, 1):
        seek(page, share)
    assert page.locator(".hx-flow").evaluate("(x) => x.scrollWidth <= x.clientWidth + 1")
    flow, body = box(page, ".hx-flow"), box(page, ".hx-text-body")
    assert flow["y"] + flow["height"] <= body["y"] + body["height"] + 1


@pytest.mark.everything
def test_marks_and_ghosts_are_large_enough_and_stand_apart(page: Any, shipped: str) -> None:
    visit(page, shipped, "05-maths")
    for size, least in ((DESK, 11), (PHONE, 11), (PROJECTOR, 16)):
        resized(page, size)
        seek(page, 1)
        sizes = page.evaluate(MARK_SIZES)
        assert len(sizes) > 100 and min(sizes) >= least, size
        assert page.evaluate(CROWDED) == 0, size


@pytest.mark.everything
def test_a_struck_sign_shows_the_sign_and_the_stroke(page: Any, shipped: str) -> None:
    visit(page, shipped, "05-maths", PROJECTOR)
    seek(page, 1)
    sign = page.locator(".hx-ghost-short", has_text=".").first
    assert sign.evaluate("(x) => x.tagName") == "S"
    assert "gradient" in sign.evaluate("(x) => getComputedStyle(x).backgroundImage")
    assert "line-through" in page.locator(".hx-ghost-text:not(.hx-ghost-short)").first.evaluate(
        "(x) => getComputedStyle(x).textDecorationLine"
    )


@pytest.mark.everything
def test_committing_a_token_moves_nothing(page: Any, shipped: str) -> None:
    visit(page, shipped)
    slider = page.get_by_role("slider", name="Moment of the run")
    slider.focus()
    page.keyboard.press("Home")
    drawn(page)
    tokens = "[...document.querySelectorAll('.hx-flow .hx-tok')]"
    places = f"{tokens}.map((x) => [x.dataset.serial, x.dataset.state, x.offsetLeft, x.offsetTop])"
    committed = 0
    for _ in range(40):
        before = page.evaluate(places)
        ghosts = page.locator(".hx-ghost").count()
        page.keyboard.press("Shift+ArrowRight")
        drawn(page)
        after = {serial: (state, *at) for serial, state, *at in page.evaluate(places)}
        if page.locator(".hx-ghost").count() != ghosts:
            continue
        for serial, state, *at in before:
            if state == "tentative" and after.get(serial, ("",))[0] == "committed":
                committed += 1
                assert list(after[serial][1:]) == at, serial
    assert committed > 5


@pytest.mark.everything
def test_a_text_that_was_just_scrolled_up_stays_there_through_a_drawing(page: Any, shipped: str) -> None:
    visit(page, shipped, "01-code")
    seek(page, 1)
    assert page.locator(".hx-text").evaluate("(x) => x.scrollTop") > 100
    seek(page, 0.9)
    page.locator(".hx-transport-play").click()
    page.evaluate("""async () => {
      const [text, slider] = ['.hx-text', '.hx-transport-slider'].map((x) => document.querySelector(x));
      const frame = () => new Promise(requestAnimationFrame);
      requestAnimationFrame(() => (text.scrollTop = 0)); // in the frame of the drawing, before the scroll's event
      const { value } = slider;
      while (slider.value === value) await frame();
      await frame(), await frame();
    }""")
    assert page.locator(".hx-text").evaluate("(x) => x.scrollTop") == 0


BELOW = "(x) => x.scrollHeight - x.clientHeight - x.scrollTop"


@pytest.mark.everything
def test_a_link_to_a_token_far_above_the_cursor_shows_it_and_stays_there(page: Any, shipped: str) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{shipped}/?recording=01-code&at=18.99&token=5")
    page.locator(".hx-card.hx-pinned").wait_for()
    for _ in range(3):
        drawn(page)
    token = page.locator(".hx-flow .hx-selected")
    inside = "(x) => x.getBoundingClientRect().top >= document.querySelector('.hx-text').getBoundingClientRect().top"
    assert token.evaluate(inside) and page.locator(".hx-text").evaluate(BELOW) > 100


@pytest.mark.everything
def test_a_greedy_card_speaks_of_top_choices_and_a_sampled_one_of_coins(page: Any, shipped: str) -> None:
    visit(page, shipped)
    seek(page, 1)
    card = page.locator(".hx-card")
    page.locator(".hx-flow .hx-tok[data-passed]").first.click()
    said = card.inner_text()
    assert "Q\u2019s top choice (" in said and "top choice = 1" in said and "α" not in said
    page.keyboard.press("Escape")
    page.locator(".hx-ghost[data-by='Q']", has_text="temperatures").first.click()
    assert "; its top choice is \u201c" in card.inner_text() and "rejected" in card.inner_text()
    page.keyboard.press("Escape")
    visit(page, shipped, "06-chat-sampled")
    seek(page, 1)
    page.locator(".hx-flow .hx-tok[data-how='draft']").first.click()
    assert "α" in card.inner_text() and "top choice" not in card.inner_text()


@pytest.mark.everything
def test_switches_and_gauges_survive_forced_colours(page: Any, shipped: str) -> None:
    page.emulate_media(forced_colors="active")
    visit(page, shipped)
    page.emulate_media(forced_colors="active", reduced_motion="reduce")
    seek(page, 0.5)
    colour = "(x, part) => getComputedStyle(x, part).backgroundColor"
    switch = page.locator(".hx-switch").first
    on = switch.evaluate("(x) => [getComputedStyle(x).backgroundColor, getComputedStyle(x, '::after').backgroundColor]")
    switch.click()
    drawn(page)
    off = page.locator(".hx-switch").first.evaluate(
        "(x) => [getComputedStyle(x).backgroundColor, getComputedStyle(x, '::after').backgroundColor]"
    )
    assert on[0] != on[1] and off[0] != off[1] and on[0] != off[0], "knob against ground, on against off"
    page.locator(".hx-switch").first.click()
    drawn(page)
    for filled in (".hx-keeps-bar i", ".hx-kv-committed"):
        bar = page.locator(filled).first
        assert bar.evaluate(colour) != page.locator(".hx-tower").evaluate(colour), filled
    bar = page.locator(".hx-chart-bar").first
    assert bar.evaluate("(x) => getComputedStyle(x).stroke") != "none", "a bar has an edge"


@pytest.mark.everything
def test_what_fades_at_the_beginning_can_be_pointed_at(page: Any, shipped: str) -> None:
    visit(page, shipped)
    seek(page, 1)
    assert page.locator(".hx-begun").count() == 1, "the text is longer than its panel"
    for scrolled in range(0, 60, 6):  # where a line lies below the fade
        page.locator(".hx-text").evaluate("(x, by) => { x.scrollTop -= by; }", 6 if scrolled else 0)
        if page.evaluate(POINTED) == "a token":
            return
    raise AssertionError(page.evaluate(POINTED))
