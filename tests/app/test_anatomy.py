"""The anatomy of a round and the proof, as a lecturer uses them: by keys, on a desk and on a phone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from pagekit import drawn, toy_run, visit

from hsd_core.core.events import Baseline, Verify
from hsd_core.pipeline import Pipeline
from hsd_core.trace import file as tracefile

SAMPLED, GREEDY = "06-chat-sampled", "01-code"
TREE = "table:2@id=order1@tree=2.1,table@id=order6"


def press(page: Any, key: str, times: int = 1) -> None:
    for _ in range(times):
        page.keyboard.press(key)
        drawn(page)


def fits(page: Any, selector: str) -> bool:
    """Whether an element is shown whole, without scrolling anything."""
    return bool(
        page.locator(selector).evaluate(
            "(x) => { const b = x.getBoundingClientRect();"
            "return b.height > 100 && b.top >= 0 && b.bottom <= innerHeight && b.right <= innerWidth"
            " && x.scrollHeight <= x.clientHeight + 1; }"
        )
    )


def test_a_round_is_explained_event_by_event_and_a_position_drawn_fills_to_p(page: Any, shipped: str) -> None:
    visit(page, shipped, f"recording={SAMPLED}&panel=time+controls")
    page.get_by_role("button", name="To the start").click()
    page.locator("body").press("a")
    panel = page.get_by_role("region", name="Anatomy")
    assert panel.is_visible() and page.get_by_role("region", name="the text").is_visible()
    assert "anatomy=1" in page.url
    for place in (".hx-anatomy", ".hx-an-verdict"):
        assert fits(page, place), place
    page.locator(".hx-an-event").first.click()
    drawn(page)
    events = panel.get_by_role("list", name="Events of the round").locator("button")
    assert events.first.get_attribute("aria-current") == "step"
    heading = panel.get_by_role("heading").inner_text()
    sentences = []
    for i in range(events.count()):
        assert events.nth(i).get_attribute("aria-current") == "step", f"one arrow key, one event ({i})"
        sentences.append(page.locator(".hx-an-saying").inner_text())
        assert fits(page, ".hx-an-verdict"), sentences[-1]
        press(page, "ArrowRight")
    assert len(set(sentences)) == len(sentences) and "committed" in sentences[-1]
    assert panel.get_by_role("heading").inner_text() != heading, "the next event is the next round's"
    press(page, "ArrowLeft")
    assert page.locator(".hx-an-saying").inner_text() == sentences[-1]
    chosen = page.locator('.hx-an-tile[aria-pressed="true"]').first
    before = chosen.get_attribute("data-token")
    press(page, "ArrowUp")
    assert chosen.get_attribute("data-token") != before
    assert page.locator(".hx-flow .hx-selected").get_attribute("data-serial") == chosen.get_attribute("data-token")
    press(page, "Escape")
    assert panel.is_hidden() and "anatomy" not in page.url and page.locator(".hx-lanes").is_visible()

    # A position drawn a thousand times fills to p, and wrong rules do not.
    page.get_by_role("button", name="To the end").click()
    page.locator(".hx-open-proof").click()
    drawn(page)
    assert "proof=1" in page.url
    panel = page.locator(".hx-proof")
    assert "drawn here, in the browser, from the rows that the run recorded" in panel.inner_text()
    page.get_by_role("button", name="Draw 1,000 times").click()
    drawn(page)
    off = [float(x.removesuffix(" from p")) for x in page.locator(".hx-proof-off").all_inner_texts()]
    assert off[0] < 0.08 < min(off[1:]), off
    assert page.locator(".hx-proof-chart h3", has_text="wrong").count() == 2
    assert "1,000 draws" in panel.inner_text() and fits(page, ".hx-proof-body")
    where = page.locator(".hx-proof-where").inner_text()
    page.get_by_role("button", name="next position").click()
    drawn(page)
    assert page.locator(".hx-proof-where").inner_text() != where
    assert page.locator(".hx-proof .hx-an-verifier").count() >= 1


@pytest.mark.everything
def test_a_rejection_shows_both_distributions_the_coin_and_the_draw(page: Any, shipped: str) -> None:
    visit(page, shipped, f"recording={SAMPLED}&anatomy=1")
    for _ in range(60):
        press(page, "ArrowLeft")
        coin = page.locator('.hx-an-coin[data-outcome="rejected"]')
        if coin.count() and "≥" in coin.inner_text():
            break
    assert "≥ α" in coin.inner_text()
    heads = page.locator(".hx-an-table thead th").all_inner_texts()
    assert heads == ["token", "q", "p", "min(p, q)", "residual"]
    mine, out = page.locator(".hx-an-table [data-mine]"), page.locator(".hx-an-table [data-drawn]")
    assert (mine.count(), out.count()) == (1, 1)
    assert out.locator('td[data-key="rest"]').inner_text() not in ("0", "–"), "it came from the residual"
    assert "residual" in page.locator(".hx-an-act").inner_text()
    figures = [float(x.replace("<", "")) for x in page.locator('.hx-an-table td[data-key="p"]').all_inner_texts()]
    assert sum(figures) == pytest.approx(1, abs=0.02), "p is a distribution over all that is shown"


@pytest.mark.everything
def test_it_opens_from_the_lanes_and_from_a_token_and_gives_the_focus_back(page: Any, shipped: str) -> None:
    visit(page, shipped, f"recording={GREEDY}")
    token = page.locator(".hx-flow .hx-tok").nth(40)
    token.click()
    page.get_by_role("button", name="Anatomy of round").click()
    assert page.locator('.hx-an-tile[aria-pressed="true"]').first.get_attribute("data-token") == token.get_attribute(
        "data-serial"
    )
    press(page, "Escape")
    press(page, "Escape")
    page.locator(".hx-lane-area").dblclick(position={"x": 400, "y": 10})
    drawn(page)
    assert page.get_by_role("region", name="Anatomy").is_visible()
    press(page, "Escape")
    button = page.get_by_role("button", name="Anatomy", exact=True)
    button.focus()
    button.press("Enter")
    drawn(page)
    press(page, "Escape")
    assert button.evaluate("(x) => x === document.activeElement")


@pytest.mark.everything
def test_a_place_says_how_often_it_is_kept_and_how_often_it_could_be(page: Any, shipped: str, tmp_path: Path) -> None:
    events = list(Pipeline.open("toy").run(TREE, "The tower of levels", max_new_tokens=30, temperature=1.0, seed=2))
    found = (bound for event in events if isinstance(event, Verify) for bound in event.bounds)
    bound = next(one for one in found if one.rule is not None and one.best > 1.02 * one.rule)
    tracefile.write(tmp_path / "tree.jsonl.gz", events)
    visit(page, shipped, f"recording={SAMPLED}&panel=time+controls")
    page.locator('input[type="file"]').set_input_files(str(tmp_path / "tree.jsonl.gz"))
    page.wait_for_function("document.querySelector('.hx-tower').textContent.includes('table of order')")
    page.get_by_role("button", name="To the start").click()
    page.locator("body").press("a")
    tile, said = page.locator(f'.hx-an-tile[data-token="{bound.first}"]'), ""
    for _ in range(60):
        press(page, "ArrowRight")
        if tile.count():
            tile.last.click()
            drawn(page)
            said = page.locator(".hx-an-act").inner_text()
        if "no exact rule" in said:
            break
    assert f"This rule keeps a candidate here with probability {bound.rule:.3g}" in said
    assert f"no exact rule could do better than {bound.best:.3g}" in said


@pytest.fixture
def earlier_trace(tmp_path: Path) -> Path:
    """A run as it was recorded before plain decoding's ids were."""
    path = tmp_path / "earlier.jsonl.gz"
    events = toy_run(Pipeline)
    assert any(isinstance(event, Baseline) and event.ids for event in events)
    tracefile.write(path, [replace(e, ids=(), margins=()) if isinstance(e, Baseline) else e for e in events])
    return path


@pytest.mark.everything
def test_plain_decoding_and_the_stack_stand_token_by_token(page: Any, shipped: str, earlier_trace: Path) -> None:
    visit(page, shipped, f"recording={GREEDY}")
    page.get_by_role("button", name="proof").click()
    drawn(page)
    said = page.locator(".hx-proof-lines")
    assert "All 128 tokens" in said.inner_text() and "Both lines are recorded ids" in said.inner_text()
    assert page.locator('.hx-score-place[data-same="1"]').count() == 128
    assert page.locator(".hx-score-margin").count() == 5 and fits(page, ".hx-proof-body")
    page.locator('input[type="file"]').set_input_files(str(earlier_trace))
    page.wait_for_function("document.querySelectorAll('.hx-score-place').length === 40")
    assert "does not record plain decoding’s ids" in said.inner_text()
    page.locator(".hx-proof-margin").first.click()
    assert page.locator(".hx-score-here").count() == 1


@pytest.mark.everything
def test_a_draft_with_a_window_shows_what_it_sees_of_the_keys_and_values(
    page: Any, shipped: str, tmp_path: Path
) -> None:
    header, *events = tracefile.read(Path("assets/traces/32-nano-in-turn.jsonl.gz"))
    nano, target = header.levels
    levels = (replace(nano, params={**nano.params, "window": 64}), target)
    tracefile.write(tmp_path / "window.jsonl.gz", [replace(header, levels=levels), *events])
    visit(page, shipped, f"recording={GREEDY}&anatomy=1")
    assert page.get_by_role("group", name="What each level sees").is_hidden(), "all see all"
    page.locator('input[type="file"]').set_input_files(str(tmp_path / "window.jsonl.gz"))
    page.wait_for_selector(".hx-an-cells")
    said = [one.get_attribute("aria-label") or "" for one in page.locator(".hx-an-cells").all()]
    assert "sees all" in said[0] and "sees 64 of" in said[1] and "4 first, 60 recent" in said[1]
    strip = page.locator(".hx-an-cells").last
    strip.focus()
    assert strip.evaluate("(x) => x === document.activeElement"), "a keyboard reaches it"
    kinds = strip.locator("i").evaluate_all("(all) => all.map((x) => x.dataset.kind ?? '')")
    assert kinds[0] == "sink" and kinds[-1] == "recent" and "" in kinds, "what lies between is not seen"
    high = [page.locator(place).bounding_box()["height"] for place in (".hx-an-held", ".hx-an-body")]
    assert high[0] < 120 < high[1], "the round keeps its room"
