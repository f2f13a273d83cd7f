"""Two tokenizers over one line of text, in the anatomy of a round: what is shown follows the trace and the cursor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import notes_of
import pytest
from pagekit import drawn, visit
from words_of import Words, crossed

import hsd_core
from hsd_core.core.events import Draft, Verify
from hsd_core.models.sampling import Sampling
from hsd_core.trace import file as tracefile
from hsd_core.trace.pieces import record

OWN = Words((b"a", b"b", b" ", b"ab", "é".encode()[:1], "é".encode()[1:]))
TARGET = Words((b"a", b"b", b" a", b"ba", "é".encode()))
RULERS = ".hx-rulers"


@pytest.fixture(scope="module")
def crossing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    stack = crossed("cross:6,table", OWN, TARGET, 3, sharpness=1.6)
    events = list(record(hsd_core.run(stack, [2, 1], Sampling(1.0), 7, max_new_tokens=24), TARGET))
    assert any(c.outcome == "accepted" for e in events if isinstance(e, Verify) for c in e.checks)
    tracefile.write(path := tmp_path_factory.mktemp("crossing") / "crossing.jsonl.gz", events)
    return path


def opened(page: Any, site: str, path: Path, size: tuple[int, int]) -> None:
    visit(page, site, "recording=01-code&panel=time+controls", size)
    page.locator('input[type="file"]').set_input_files(str(path))
    page.wait_for_function("document.querySelectorAll('.hx-flow .hx-tok').length === 24")
    page.get_by_role("button", name="To the start").click()
    page.locator("body").press("a")
    drawn(page)


@pytest.mark.everything
def test_ends_and_verdicts_on_the_rulers_are_those_of_the_trace(page: Any, shipped: str, crossing: Path) -> None:
    opened(page, shipped, crossing, (1440, 900))
    events = tracefile.read(crossing)
    drafts = [e for e in events if isinstance(e, Draft) and notes_of.own(e)]
    judged = {c.serial: c.outcome for e in events if isinstance(e, Verify) for c in e.checks}
    page.locator(".hx-an-event").first.click()
    for draft in drafts[:4]:
        for _ in range(40):
            drawn(page)
            if page.locator(f'{RULERS} .hx-rule-target[data-state="waiting"]').count() == len(draft.ids):
                break
            page.keyboard.press("ArrowRight")
        own, theirs = page.locator(f"{RULERS} .hx-rule-own"), page.locator(f"{RULERS} .hx-rule-target")
        assert (own.count(), theirs.count()) == (len(notes_of.own(draft)), len(draft.ids))
        ends = own.evaluate_all("(all) => all.map((x) => Math.round(x.getBoundingClientRect().right))")
        assert ends == sorted(set(ends)), "each of its own tokens ends further on"
        both = {sum(notes_of.own(draft)[: n + 1]) for n in range(len(notes_of.own(draft)))}
        sizes = [len(TARGET.piece(id_)) for id_ in draft.ids]
        both &= {sum(sizes[: n + 1]) for n in range(len(sizes))}
        assert page.locator(f"{RULERS} .hx-rule-both").count() == len(both), "a line where both end a token"
        page.keyboard.press("ArrowRight")
        drawn(page)
        states = theirs.evaluate_all("(all) => all.map((x) => x.dataset.state)")
        assert states == [judged[serial] for serial in draft.serials]
        said = page.locator(RULERS).get_attribute("aria-label") or ""
        assert f"{states.count('accepted')} accepted" in said and "The target’s: " in said
        assert page.locator(f"{RULERS} p").inner_text() in said
    page.set_viewport_size({"width": 390, "height": 844})
    drawn(page)
    box = page.locator(RULERS).bounding_box()
    assert box and box["x"] >= 0 and box["x"] + box["width"] <= 390, "a phone scrolls the line alone"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.goto(f"{shipped}/?recording=01-code&anatomy=1")
    page.wait_for_selector(".hx-an-grid")
    assert page.locator(RULERS).count() == 0, "a draft in the target's own tokens has none"
