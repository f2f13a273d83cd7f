"""The tab that tests of the page share: what one of them leaves, the next one does not find."""

from __future__ import annotations

from typing import Any

import pytest
from pagekit import OPENED

LEFT = """() => {
  localStorage.left = sessionStorage.left = document.cookie = "left=1";
  addEventListener("pagehide", () => { sessionStorage.late = localStorage.late = "1"; });
  history.pushState({}, "", "?left");
}"""
FOUND = """() => [localStorage.left, localStorage.late, sessionStorage.left, sessionStorage.late, document.cookie,
  window.began, location.search, innerWidth, matchMedia("(prefers-color-scheme: dark)").matches]"""


@pytest.mark.parametrize("visit", ["first", "next"])
def test_a_page_begins_as_a_new_one(page: Any, shipped: str, visit: str) -> None:
    page.goto(f"{shipped}/health", wait_until="load")
    assert page.evaluate(FOUND) == [None, None, None, None, "", None, "", 1440, False], visit
    assert page.evaluate("[localStorage['hx-story'], sessionStorage['hx-panels']]") == ["1", OPENED]
    assert page.evaluate("history.length") <= 2
    page.add_init_script("window.began = 1")
    page.route("**/health", lambda route: route.fulfill(body="{}", content_type="application/json"))
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark")
    page.reload(wait_until="load")
    assert page.evaluate("window.began") == 1 and page.content().count("{}") == 1
    page.evaluate(LEFT)
