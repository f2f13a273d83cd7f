"""Many requests at once on the Planner: the map, its table and the slider say what was planned."""

from __future__ import annotations

from typing import Any

import pytest
from pagekit import drawn

READY = ".hx-load[data-ready=true]"
CELLS = "all => all.map((x) => [x.dataset.load, x.dataset.level, x.dataset.cell, x.dataset.computed])"
GAINS = "all => all.map((x) => [x.dataset.load, x.dataset.gain])"
MARKS = "all => all.map((x) => [x.dataset.load, x.dataset.level])"
TABLE = """all => all.map((row) => ({
    load: row.dataset.load, gain: row.querySelector("[data-gain]").textContent,
    cells: [...row.querySelectorAll("[data-level]")].map((x) => [x.dataset.level, x.textContent])}))"""


def planned(page: Any, site: str, more: str = "") -> dict[str, Any]:
    """What the server answers when the screen is opened with four requests."""
    with page.expect_response("**/planner/load") as reply:
        page.goto(f"{site}/?tab=planner&requests=4{more}")
    page.locator(READY).wait_for()
    drawn(page)
    return dict(reply.value.json())


def said(row: dict[str, Any]) -> dict[str, str]:
    """The cells of a load, by level."""
    top, tree = len(row["levels"]) - 1, ".".join(map(str, row["tree"]))
    blocks = [f"tree {tree}" if tree and not i else str(block) for i, block in enumerate(row["blocks"])]
    return dict(zip(row["levels"], [*blocks, "approves" if top else "alone"], strict=True))


def agrees(page: Any, found: dict[str, Any]) -> None:
    """The picture and the table have the answer's levels, blocks and speed-ups."""
    rows = found["rows"]
    cells = {
        (str(row["load"]), name, cell, str(name in row["computed"]).lower())
        for row in rows
        for name, cell in said(row).items()
    }
    assert {tuple(cell) for cell in page.locator(".hx-lm-cell").evaluate_all(CELLS)} == cells
    gains = [[str(row["load"]), f"{row['speedup']:.2f}"] for row in rows]
    assert page.locator(".hx-lm-dot").evaluate_all(GAINS) == gains
    left = {(str(row["load"]), name) for row in rows for name in row["left"]}
    assert {tuple(mark) for mark in page.locator(".hx-lm-out").evaluate_all(MARKS)} == left
    page.locator(".hx-load summary").first.click()
    for line, row in zip(page.locator(".hx-lm-table tbody tr").evaluate_all(TABLE), rows, strict=True):
        assert [line["load"], line["gain"]] in gains
        shown = {name: text.removesuffix(" (computed)") for name, text in line["cells"] if text != "\u2013"}
        assert shown == said(row)
        assert all(
            text.endswith(" (computed)") == (name in row["computed"]) for name, text in line["cells"] if name in shown
        )


def test_the_map_its_table_and_the_slider_say_what_was_planned(page: Any, shipped: str) -> None:
    found = planned(page, shipped)
    agrees(page, found)
    slider = page.get_by_role("slider", name="Requests at once")
    assert slider.get_attribute("aria-valuetext") == "4 requests"
    slider.focus()
    page.keyboard.press("End")
    page.wait_for_function("new URLSearchParams(location.search).get('requests') === '32'")
    last = found["rows"][-1]
    assert page.locator(".hx-load-answer").inner_text().startswith("32 requests at once")
    assert page.locator(".hx-load .hx-al-stack").inner_text()
    assert page.locator(".hx-load code", has_text=found["table"]).count() == 1
    assert page.locator(".hx-lm").get_attribute("aria-label").count("32 requests at once") == 1
    assert last["load"] == 32 and page.locator(".hx-lm-now").get_attribute("data-load") == "32"


@pytest.mark.everything
def test_a_machine_that_is_computed_says_so_and_goes_to_more_requests(page: Any, shipped: str) -> None:
    planned(page, shipped)
    with page.expect_response("**/planner/load") as reply:
        page.get_by_role("button", name="on a phone, computed").click()
    page.wait_for_function("location.search.includes('profile=whatif%3Aphone')")
    page.locator(".hx-load-on", has_text="For a phone: computed, not measured").wait_for()
    found = reply.value.json()
    assert found["rows"][-1]["load"] == 256 and found["passes"] is None
    agrees(page, found)
    assert page.locator(".hx-lm-cell[data-computed=false]").count() == 0
    box = page.locator(".hx-lm").bounding_box()
    page.mouse.click(box["x"] + box["width"] - 20, box["y"] + 150)
    page.locator(".hx-load-answer", has_text="256 requests at once: no stack is faster").wait_for()
    page.reload()
    page.locator(".hx-load-answer", has_text="256 requests").wait_for()
