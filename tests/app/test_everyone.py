"""The page for everyone: axe-core checks every state of it, light and dark, on a desktop and on a phone; it can be used
at 200 % zoom, in forced colours, on a phone, by keys, and read from the back of a hall."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from states import SIZES, STATES, State, made

axe = pytest.importorskip(
    "axe_playwright_python.base", reason="pip install axe-playwright-python to check with axe-core"
)

LOOKS = {"desktop-light": ("desktop", "light"), "phone-dark": ("phone", "dark")}
GRAVE = ("serious", "critical")
RUN = """
async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"], preload: false });
  return violations;
}
"""
BY_NAME = {state.name: state for state in STATES}


@pytest.fixture(scope="module")
def looked_at(browser: Any) -> Iterator[dict[str, Any]]:
    """One page for each look, opened when the first state of it is made and used for all of them."""
    contexts = []
    pages: dict[str, Any] = {}
    for look, (size, scheme) in LOOKS.items():
        width, height = SIZES[size]
        contexts.append(browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme))
        pages[look] = contexts[-1].new_page()
        pages[look].set_default_timeout(45_000)
    yield pages
    for context in contexts:
        context.close()


def found(page: Any) -> list[str]:
    """What axe-core finds and calls serious or critical, one line for each element."""
    page.evaluate(axe.AXE_SCRIPT)
    grave = [one for one in page.evaluate(RUN) if one["impact"] in GRAVE]
    return [
        f"{one['id']} ({one['impact']}): {node['target']} {node['html'][:160]} {node['failureSummary']}"
        for one in grave
        for node in one["nodes"]
    ]


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.name)
@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing_serious_and_the_page_is_no_wider_than_its_window(
    looked_at: dict[str, Any], shipped: str, look: str, state: State
) -> None:
    page = looked_at[look]
    made(page, shipped, state)
    assert found(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_axe_finds_what_is_wrong(looked_at: dict[str, Any], shipped: str) -> None:
    page = looked_at["desktop-light"]
    made(page, shipped, BY_NAME["learn"])
    page.locator(".hx-lessons a").first.evaluate("(x) => { x.style.color = '#aaa'; x.replaceChildren('1'); }")
    page.locator(".hx-learn-do button").first.evaluate("(x) => x.replaceChildren()")
    assert {line.partition(" ")[0] for line in found(page)} == {"color-contrast", "button-name"}
