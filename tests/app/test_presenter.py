"""Presenting: large text, no prompt, keys from anywhere, and a hook for those who hide answers."""

from __future__ import annotations

from typing import Any

import pytest
from cases import first_always
from pagekit import drawn
from test_first_screen import seek, visit
from test_text_room import OVERLAPS, apart, box

PRESENTED = "document.documentElement.classList.contains('hx-presenting')"
SIZES = """() => {
  const px = (x, part) => parseFloat(getComputedStyle(x, part).fontSize);
  const every = (selector, part) => [...document.querySelectorAll('.hx-flow ' + selector)].map((x) => px(x, part));
  return {
    text: every('.hx-tok:not([data-special])'),
    marks: [...every('.hx-tok[data-mark]', '::before'), ...every('.hx-tok[data-dots]', '::after'),
            ...every('.hx-ghost-text'), ...every('.hx-ghost-tail[data-by]', '::before'), ...every('.hx-plus')],
    caption: px(document.querySelector('.hx-caption-text')),
  };
}"""


def present(page: Any) -> None:
    page.keyboard.press("p")
    page.wait_for_function(PRESENTED)
    drawn(page)


@first_always(
    ("recording", "size"),
    [("09-four-levels", (1280, 720)), ("05-maths", (1440, 900)), ("09-four-levels", (1920, 1080))],
)
def test_all_of_a_run_is_on_one_screen_and_can_be_read_from_the_back(
    page: Any, shipped: str, recording: str, size: tuple[int, int]
) -> None:
    visit(page, shipped, recording, size)
    seek(page, 1)
    present(page)
    assert page.locator(".hx-prompt-row").is_hidden()
    sizes = page.evaluate(SIZES)
    assert len(sizes["text"]) > 50 and min(sizes["text"]) >= 28
    assert len(sizes["marks"]) > 50 and min(sizes["marks"]) >= 18
    assert sizes["caption"] >= 20
    assert page.evaluate(OVERLAPS) == []
    parts = [
        box(page, name) for name in (".hx-text-body", ".hx-caption", ".hx-tower", ".hx-lane-plot", ".hx-transport")
    ]
    for i, part in enumerate(parts):
        assert part["y"] >= 0 and part["y"] + part["height"] <= size[1], i
        assert part["x"] >= 0 and part["x"] + part["width"] <= size[0], i
        assert all(apart(part, other) for other in parts[i + 1 :]), i
    assert page.locator(".hx-tower-body").evaluate("(x) => x.scrollHeight <= x.clientHeight + 1"), "all floors in sight"
    assert parts[0]["height"] > 250


@pytest.mark.everything
def test_keys_drive_the_replay_from_anywhere_but_a_field(page: Any, shipped: str) -> None:
    visit(page, shipped)
    prompt = page.get_by_role("textbox", name="prompt")
    prompt.fill("")
    prompt.press_sequentially("pp p")
    assert prompt.input_value() == "pp p" and not page.evaluate(PRESENTED), "in a field P is a letter"
    page.evaluate("document.addEventListener('hx:presenting', ({ detail }) => (window.told ??= []).push(detail))")
    page.get_by_role("button", name="present", exact=True).click()
    drawn(page)
    assert page.evaluate(PRESENTED) and "present=1" in page.url and page.evaluate("told") == [True]
    clock = page.locator(".hx-transport-clock")
    seek(page, 0)
    for owner in (
        page.get_by_role("tab", name="Explore"),
        page.locator(".hx-flow .hx-tok").first,
        page.locator(".hx-switch").last,
    ):
        owner.focus()
        before = clock.inner_text()
        page.keyboard.press("ArrowRight")
        drawn(page)
        checkbox = owner.evaluate("(x) => x.type === 'checkbox'")
        assert (clock.inner_text() != before) is not checkbox, owner
    page.keyboard.press("Escape")  # closes the card of the token that had the focus
    assert page.evaluate(PRESENTED)
    page.get_by_role("button", name="help: how to read this page").focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Pause", exact=True).wait_for()
    assert page.get_by_role("region", name="how to read this page").is_hidden(), "Space plays, it presses nothing"
    page.keyboard.press("Space")
    page.get_by_role("button", name="Play", exact=True).wait_for()
    page.keyboard.press("PageDown")
    drawn(page)
    page.keyboard.press("Escape")
    assert not page.evaluate(PRESENTED) and "present" not in page.url and page.evaluate("told") == [True, False]
    assert prompt.is_visible()


@pytest.mark.everything
def test_an_address_opens_it_and_escape_closes_what_is_open_first(page: Any, shipped: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{shipped}/?recording=01-code&present=1")
    page.wait_for_selector(".hx-flow .hx-tok")
    assert page.evaluate(PRESENTED)
    page.locator(".hx-flow .hx-tok").last.click()
    page.locator(".hx-card.hx-pinned").wait_for()
    page.keyboard.press("Escape")
    page.locator(".hx-card").wait_for(state="hidden")
    assert page.evaluate(PRESENTED)
    page.keyboard.press("p")
    assert not page.evaluate(PRESENTED)
