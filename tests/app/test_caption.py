"""The caption: one sentence for the moment that is shown, in a room of its own, and the page's one voice."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from pagekit import drawn
from test_first_screen import DESK, PHONE, PROJECTOR, seek, visit

from app.kit.static import ASSETS

# All sentences of some recordings, set into the page's own caption: those that are taller than their room.
TOO_TALL = """
async (names) => {
  const base = [...document.querySelectorAll('link[rel=stylesheet]')]
    .map((x) => x.href).find((x) => x.endsWith('/css/first.css')).replace('css/first.css', '');
  const [{TraceModel}, {captionAt}, {drawnParts}] = await Promise.all(
    ['run/trace', 'caption/caption', 'caption/caption-view'].map((name) => import(`${base}js/shared/${name}.js`)));
  const text = document.querySelector('.hx-caption-text');
  const high = document.querySelector('.hx-caption').offsetHeight;
  const found = [], ends = [];
  let count = 0;
  for (const name of names) {
    const model = new TraceModel();
    model.append((await (await fetch(new URL(`../recordings/${name}`, base))).json()).ev);
    for (const t of [0, ...model.marks.map((mark) => mark.t), model.end]) {
      text.replaceChildren(...drawnParts(captionAt(model, t).parts, model));
      count += 1;
      if (text.scrollHeight > text.clientHeight + 1) (t === model.end ? ends : found).push(text.textContent);
    }
  }
  return {count, found, ends, grew: document.querySelector('.hx-caption').offsetHeight !== high};
}
"""


def voice(page: Any) -> str:
    return page.locator(".hx-caption [role=status]").inner_text()


def press(page: Any, key: str) -> None:
    page.get_by_role("slider", name="Moment of the run").focus()
    page.keyboard.press(key)
    drawn(page)


def test_each_step_has_its_sentence_with_letters_in_colour_and_is_heard_at_once(page: Any, shipped: str) -> None:
    visit(page, shipped)
    press(page, "Home")
    assert voice(page).startswith("lookups, 8-bit copy and the model read the prompt")
    heard = []
    for _ in range(8):
        press(page, "Shift+ArrowRight")
        heard.append(voice(page))
    assert len(set(heard)) == 8 and all(one.startswith("Round ") for one in heard)
    assert any(re.search(r"lookups copied \u201c.+\u201d from ", one) for one in heard)
    while page.locator(".hx-caption[data-kind=reject]").count() == 0:
        press(page, "ArrowRight")
    said = voice(page)
    assert re.search(r"rejected \u201c.+\u201d.*: it wants \u201c.+\u201d \(p .+ against .+\), and wrote that\.", said)
    text = page.locator(".hx-caption-text")
    badge = text.locator(".hx-badge").first
    assert badge.inner_text() == "Q", "a level is named by its letter too"
    legend = page.locator(".hx-legend-swatch", has_text="Q").first
    line = "(x) => getComputedStyle(x).textDecorationColor"
    assert badge.evaluate(line) == legend.evaluate(line)
    ghost = page.locator(".hx-ghosts[data-fresh] .hx-ghost-text")
    assert text.locator("[data-state=rejected]").inner_text() == ghost.last.inner_text()
    press(page, "End")
    assert "times plain decoding" in voice(page) and voice(page).endswith("the same text.")
    ratio = page.locator(".hx-headline-value").inner_text().removesuffix("×")
    assert f": {ratio} times plain decoding" in voice(page), "the two say the same"
    assert page.locator(".hx-stage [aria-live]").count() == 1, "one voice"


@pytest.mark.parametrize(("size", "most"), [(DESK, 0), (PROJECTOR, 0), (PHONE, 0.01)])
@pytest.mark.everything
def test_every_sentence_of_the_recordings_fits_its_room(
    page: Any, shipped: str, size: tuple[int, int], most: float
) -> None:
    visit(page, shipped, size=size)
    names = [path.name.split(".")[0] for path in sorted((ASSETS / "traces").glob("*.gz"))]
    seen = page.evaluate(TOO_TALL, names)
    assert seen["count"] > 2000
    assert seen["ends"] == [], "how a run ended is read by everyone"
    assert len(seen["found"]) <= most * seen["count"], seen["found"][:5]
    assert not seen["grew"]


@pytest.mark.everything
def test_the_replay_rests_at_a_rejection_and_the_switch_is_in_the_address(page: Any, shipped: str) -> None:
    page.goto(f"{shipped}/?recording=05-maths&pause=1")
    page.wait_for_selector(".hx-caption[data-kind=reject]")
    pauses = page.get_by_role("button", name="pause at rejections")
    assert pauses.get_attribute("aria-pressed") == "true"
    clock = page.locator(".hx-transport-clock")
    before = clock.inner_text()
    page.wait_for_function(
        "(x) => document.querySelector('.hx-caption [role=status]').textContent.includes('rejected')"
    )
    page.wait_for_timeout(500)
    assert clock.inner_text() == before, "it rests"
    assert page.get_by_role("button", name="Pause", exact=True).is_visible(), "and will go on"
    page.wait_for_function("(x) => document.querySelector('.hx-transport-clock').textContent !== x", arg=before)
    pauses.click()
    assert "pause" not in page.url
    page.wait_for_function("document.querySelector('.hx-caption').dataset.kind === 'end'")
    seek(page, 0)
    pauses.click()
    assert "pause=1" in page.url


@pytest.mark.everything
def test_a_replay_is_not_spoken_faster_than_it_can_be_heard(page: Any, shipped: str) -> None:
    page.goto(f"{shipped}/?recording=01-code")
    page.wait_for_selector(".hx-caption")
    page.evaluate("""() => {
      window.spoken = [];
      new MutationObserver(() => spoken.push(performance.now()))
        .observe(document.querySelector('.hx-caption [role=status]'), {childList: true, subtree: true});
    }""")
    seek(page, 0)
    page.evaluate("spoken.length = 0")
    page.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_function("document.querySelector('.hx-caption').dataset.kind === 'end'")
    times = page.evaluate("spoken")
    gaps = [b - a for a, b in pairwise(times)]
    assert len(times) >= 3 and min(gaps[:-1]) > 1500, "the end alone may come sooner"
