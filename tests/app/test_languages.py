"""The page in another language: named as such, told in it, and with every tab at its address on the narrowest phone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.kit.languages import languages
from app.kit.static import ASSETS

LANGUAGES = languages(ASSETS)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_is_in_the_language_of_its_address_with_every_tab_in_reach(
    page: Any, shipped: str, language: str
) -> None:
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    page.set_viewport_size({"width": 320, "height": 640})
    page.goto(f"{shipped}/?lang={language}&tab=atlas")
    page.locator("#tab-atlas-button[aria-selected=true]").wait_for()
    page.locator("#tab-atlas").wait_for()
    bounds = page.locator("#tab-atlas-button").bounding_box()
    assert bounds["x"] >= 0 and bounds["x"] + bounds["width"] <= 320
    assert page.evaluate("document.documentElement.lang") == language
    own = {} if language == "en" else json.loads((ASSETS / "text" / language / "server.json").read_text("utf-8"))
    names = page.get_by_role("tab").all_inner_texts()
    assert names == [own.get(name, name) for name in ("Explore", "Race", "Planner", "Learn", "Results", "Atlas")]
    scripts = [one for one in LANGUAGES if any(url.endswith(f"/text/{one}.js") for url in fetched)]
    assert scripts == [language] * (language != "en")  # English needs none
