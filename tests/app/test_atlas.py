"""The Atlas: a map of all systems, a card for each with its own address, and the ways from it to Explore."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

ONE = ".hx-atlas-map .hx-atlas-one:visible"


def asked(page: Any, name: str) -> str:
    return parse_qs(urlsplit(page.url).query).get(name, [""])[0]


def test_from_the_map_to_a_card_and_on_to_explore(page: Any, shipped: str) -> None:
    page.goto(f"{shipped}/?tab=atlas")
    page.locator(ONE).first.wait_for()
    everything = page.locator(ONE).count()
    assert everything >= 60
    page.get_by_role("searchbox").fill("lock step")
    page.locator(".hx-atlas-count", has_text=f"1 of {everything} systems").wait_for()
    assert asked(page, "find") == "lock step" and page.locator(ONE).all_inner_texts() == ["PEARL"]
    page.locator(ONE).click()
    card = page.locator(".hx-system")
    assert card.locator("h1").inner_text() == "PEARL" and asked(page, "system") == "pearl"
    assert card.locator("h1").evaluate("(x) => x === document.activeElement")
    figures = card.locator(".hx-system-figures").inner_text()
    assert "up to 4.43\u00d7 plain decoding; up to 1.50\u00d7 drafting in turn" in figures
    assert "prompts of the benchmark smollm2-atlas-avx512" in figures and "its recording, one prompt" in figures
    assert "at the same time" in card.locator("figcaption").inner_text() and card.locator("svg.hx-shape").is_visible()
    page.keyboard.press("Escape")
    page.locator(ONE).wait_for()
    page.go_back()
    card.wait_for()
    page.goto(f"{shipped}/?tab=atlas&system=hsd")
    card.get_by_text("95 %:").wait_for()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => !/system=hsd(&|$)/.test(location.search)")
    page.go_back()
    card.get_by_role("button", name="Watch its recording").click()
    page.locator(".hx-text .hx-tok").first.wait_for()
    assert asked(page, "recording") == "01-code" and not asked(page, "system")
    page.go_back()
    card.get_by_role("button", name="Open it on Explore").click()
    page.locator(".hx-tower").wait_for()
    assert not asked(page, "tab") and not asked(page, "system")


@pytest.mark.everything
def test_an_address_that_names_nobody_says_so(page: Any, shipped: str) -> None:
    page.goto(f"{shipped}/?tab=atlas&system=nobody")
    page.get_by_role("alert").filter(has_text="nobody").wait_for()
    assert page.locator(ONE).count() >= 60
