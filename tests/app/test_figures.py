"""One figure has one value on every screen: those that the page states, by what they are of, are compared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from lessonkit import ROOT, looked_up
from pagekit import drawn

from app.kit.static import ASSETS, Files
from app.site import prices_ahead
from app.tabs.explore.recordings import Recordings
from hsd_core.core.events import Header
from hsd_core.measure.rawfile import read_raw
from hsd_core.measure.results import PEERS, SENTENCES
from hsd_core.measure.tables import rounded

# What the screens have stated since the page was loaded, by what it is of: assets/js/shared/levels/stated.js.
STATED = "() => Object.fromEntries([...hxStated].map(([of, texts]) => [of, [...texts]]))"
SCREENS = (  # an address, and what is there when its figures are
    ("?recording=00-vowels&panel=time+prediction+controls", ".hx-forecast td:nth-child(3):has-text('×')"),
    ("?recording=01-code&panel=time+prediction+controls", ".hx-forecast td:nth-child(3):has-text('×')"),
    ("?recording=09-four-levels&panel=time+prediction+controls", ".hx-forecast td:nth-child(3):has-text('×')"),
    ("?recording=05-maths&panel=time+prediction+controls", ".hx-headline-value:has-text('×')"),
    ("?tab=planner&data=plans", ".hx-plan-headline:has-text('per token')"),
    ("?tab=results", ".hx-res-bars"),
    ("?tab=race&compare=01-code,09-four-levels", ".hx-race-gain"),
)
CARDS = """() => {
  const cards = new Set();
  for (const shown = () => document.querySelector(".hx-system").dataset.system; !cards.has(shown()); ) {
    cards.add(shown());
    [...document.querySelectorAll(".hx-system-turn > button")].at(-1).click();
  }
  return cards.size;
}"""
# All pictures of all lessons, with what a question hides. js: where the page's scripts lie.
PICTURES = """async (js) => {
  const module = (name) => import(`${js}/${name}`);
  const { pictureOf } = await module("tabs/learn/pictures/pictures.js");
  const { recordingAt } = await module("tabs/learn/lesson-panel.js");
  const { asked, Library } = await module("tabs/learn/library.js");
  const library = new Library();
  let drawn = 0;
  for (const lesson of (await asked("lessons")).lessons)
    for (const [i, step] of lesson.steps.entries())
      for (const figure of [step.figure, step.reveal?.figure].filter(Boolean)) {
        const name = figure.recording ?? recordingAt(lesson.steps.slice(0, i + 1));
        await library.gather(lesson, [name]);
        const [model, { recordings, reports }] = [library.recordings.get(name), library];
        const sources = () => ({ model, recordings, reports });
        const { el, end } = pictureOf({ step, figure, model, sources, open: false, hides: [], fresh: false });
        document.body.append(el);
        await new Promise((done) => requestAnimationFrame(done));
        end?.();
        el.remove();
        drawn += 1;
      }
  return drawn;
}"""
BLOCK = re.compile(r"^<!-- results: (\S+) (\S+) -->\n(.*?)^<!-- /results -->$", re.DOTALL | re.MULTILINE)
GAIN = r"([\d.]+) \(([\d.]+) to ([\d.]+)"
COLUMNS = {"tokens/s": "tokens_per_s", "per target forward": "per_forward"}


@pytest.mark.everything
def test_no_figure_has_two_values(page: Any, shipped: str) -> None:
    """All screens, the lessons and their pictures, the opening, the Atlas, a page without a server and the READMEs
    speak of the same runs, benchmarks and plans."""
    found: dict[str, set[str]] = {}

    def add(of: str, *texts: str) -> None:
        found.setdefault(of, set()).update(texts)

    def seen() -> None:
        drawn(page)
        for of, texts in page.evaluate(STATED).items():
            add(of, *texts)

    for of, texts in looked_up()["stated"].items():
        add(of, *texts)
    for of, text in (*ahead(), *tables()):
        add(of, text)
    page.emulate_media(reduced_motion="reduce")
    for query, there in SCREENS:
        page.goto(f"{shipped}/{query}")
        page.locator(there).first.wait_for(state="attached")
        if "recording" in query:
            page.wait_for_selector(".hx-flow .hx-tok")
            page.get_by_role("button", name="To the end").click()
        if "planner" in query:
            said = page.locator(".hx-plan-headline").text_content()
            facts = page.locator(".hx-plan-best .hx-plan-figures").text_content()
            told = re.findall(r"\d+\.\d+", re.sub(r"\(.*?\)", "", said or ""))  # without plain decoding's
            assert len(told) == 3 and told == re.findall(r"\d+\.\d+", facts or "")
        seen()
    page.goto(f"{shipped}/?tab=atlas&system=hispec")
    page.locator(".hx-system-ours").first.wait_for()
    assert page.evaluate(CARDS) >= 60
    assert page.evaluate(PICTURES, f"{shipped}{Files().route}/js") > 30
    seen()
    page.goto(f"{shipped}/?story=1")
    page.locator(".hx-story").wait_for()
    while not page.locator(".hx-story-over").count():
        page.keyboard.press("ArrowRight")
    seen()
    twice = [f"{of}: {' and '.join(sorted(texts))}" for of, texts in sorted(found.items()) if len(texts) > 1]
    assert not twice, "\n".join(twice)
    assert len(found) > 100, "every screen has stated its figures"
    for what in ("speed_up", "tokens_per_s", "per_forward", "ms_per_token"):
        assert any(of.startswith(f"{what}|run|Write code|") for of in found), what
    assert any(re.match(r"speed_up.*\|theory\|", of) for of in found)
    assert any(of.startswith("speed_up|bench|smollm2|") for of in found)
    assert any(of.startswith("speed_up|run|What a rainbow is|") for of in found), "the opening's"


def ahead() -> Iterator[tuple[str, str]]:
    """What a page without a server says of stacks: all that it has another source for than the server's own answers."""
    shelf = Recordings(ASSETS / "traces")
    events = (event for one in shelf.menu() for event in shelf.events(one["name"]))
    for known in prices_ahead.prices(event for event in events if isinstance(event, Header))["known"]:
        for stack, price in (*known["prices"].items(), *known.get("by_length", {}).items()):
            if "ms" in price:
                about = price.get("about", known["about"])
                of = f"theory|{about['machine']}|{about['recorded']}|{known['temperature']:g}|{stack}"
                where = " ".join(str(price[one]) for one in ("clock", "length") if one in price)
                yield f"speed_up {where}".strip() + f"|{of}", f"{price['speedup']:.2f}"
                yield f"ms_per_token {where}".strip() + f"|{of}", rounded(price["ms"])


def tables() -> Iterator[tuple[str, str]]:
    """What the tables and sentences of the READMEs say of benchmarks."""
    results = ASSETS / "results"
    for page in (ROOT / "README.md", results / "findings.md", *(results / "tables").glob("*.md")):
        for files, view, text in BLOCK.findall(page.read_text(encoding="utf-8")):
            raw = [read_raw(page.parent / file)[0] for file in files.split(",")]
            lines = text.strip().splitlines() if view.partition(":")[0] in SENTENCES else [text]
            for about, part in zip(raw, lines, strict=True):
                if about["kind"] != "bench" or view == PEERS:
                    continue
                bench = "|".join(("bench", about["preset"], about["machine"], about["recorded"]))
                for what, stack, figure in _rows(part) if part == text else _said(part):
                    yield f"{what}|{bench}|{stack}", figure


def _said(text: str) -> Iterator[tuple[str, str, str]]:
    if over := re.search(rf"; the first is {GAIN}\) times", text):
        yield "over", text.split("`")[1], over[1]
    for *gain, stack in re.findall(rf"{GAIN}, `(.*?)`\)", text):
        yield from ((what, stack, one) for what, one in zip(("speed_up", "low", "high"), gain, strict=True))


def _rows(text: str) -> Iterator[tuple[str, str, str]]:
    head, _, *rows = ([cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line[:1] == "|")
    for row in rows:
        cells = dict(zip(head, row, strict=True))
        stack = cells["stack"].split("`")[-2]
        gain = re.match(GAIN, cells["speed-up (95 % interval)"])
        assert gain, row
        yield from ((what, stack, one) for what, one in zip(("speed_up", "low", "high"), gain.groups(), strict=True))
        yield from ((what, stack, cells[name]) for name, what in COLUMNS.items() if name in cells)
