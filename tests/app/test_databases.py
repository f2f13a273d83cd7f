"""The databases of lookups as a person sees them: opened by a key, stepped through, a hit lit with its place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import notes_of
import pytest
from msgspec.structs import replace
from pagekit import drawn, launched, visit
from test_first_screen import seek

import hsd_core
from hsd_core.core.events import Commit, Draft, Event, Header, Report
from hsd_core.core.level import StackEntry
from hsd_core.grammar.stack_text import parse
from hsd_core.models.sampling import Sampling
from hsd_core.pipeline import Pipeline
from hsd_core.systems.ngram.databases import Databases, LookupLimits
from hsd_core.systems.ngram.ngram_level import NgramLevel
from hsd_core.trace import file as tracefile
from hsd_core.trace.pieces import record

PROMPT = "the tower, the text, the time, the roof; the tower, the tale, the level: the "
STACK = "ngram:4,table@id=order6"


def looked_up() -> list[Event]:
    """A run whose lookups find things in the prompt and in the text; a key keeps two continuations, so some must go."""
    toy, (first, *_) = Pipeline.open("toy"), parse(STACK)
    lookups = NgramLevel(
        lambda: Databases("c", reach={"c": LookupLimits(2, 4)}, max_continuations=2), 257, label="n-gram lookup"
    )
    entries = [StackEntry(lookups, first, first.block), *toy.entries("table@id=order6")]
    events = hsd_core.run(
        entries, toy.encode(PROMPT, raw=True), Sampling(1.0), 3, about={"preset": "toy"}, max_new_tokens=160
    )
    return list(record(events, toy.tokenizer))


@pytest.fixture(scope="module")
def events() -> list[Event]:
    return looked_up()


def unsaid(event: Event) -> Event:
    """As from somewhere that keeps to itself how its lookups work."""
    if isinstance(event, Header):
        only = ({key: value for key, value in one.params.items() if key == "db"} for one in event.levels)
        return replace(event, levels=tuple(map(lambda one, params: replace(one, params=params), event.levels, only)))
    if not isinstance(event, Draft):
        return event
    return replace(event, notes={name: note for name, note in event.notes.items() if name != "lookups"})


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, events: list[Event]) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("databases")
    tracefile.write(folder / "00-lookups.jsonl.gz", events)
    toy = Pipeline.open("toy")
    ids = toy.encode("the ", raw=True)
    plain = hsd_core.run(toy.entries("table@id=order6"), ids, Sampling(1.0), 3, max_new_tokens=20)
    tracefile.write(folder / "01-plain.jsonl.gz", list(record(plain, toy.tokenizer)))
    tracefile.write(folder / "02-unsaid.jsonl.gz", [unsaid(event) for event in events])
    with launched(Pipeline, traces=folder) as address:
        yield address


# Steps back until this is found; what was found at each.
BACK = """async (wanted) => {
  const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const seen = [];
  while (seen.length < 200 && !seen.includes(wanted)) {
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowLeft", bubbles: true}));
    await drawn();
    const found = document.querySelector(".hx-db-hit").dataset.found ?? null;
    seen.push(found !== "text" || document.querySelector(".hx-db-link[data-shown]") ? found : "unlinked");
  }
  return seen;
}"""


def press(page: Any, key: str) -> None:
    page.keyboard.press(key)
    drawn(page)


def cells(page: Any, database: str) -> list[str]:
    return [x.strip() for x in page.locator(f'tr[data-database="{database}"] td').all_inner_texts()]


@pytest.mark.everything
def test_lookups_are_stepped_through_and_a_hit_is_lit_with_its_place(page: Any, site: str, events: list[Event]) -> None:
    visit(page, site, "recording=00-lookups")
    page.locator("body").press("d")
    drawn(page)
    panel = page.get_by_role("region", name="Databases of the lookups")
    assert panel.is_visible() and "databases=1" in page.url
    assert panel.get_by_role("heading", name="Databases").evaluate("(x) => x === document.activeElement")
    offered = sum(len(e.ids) for e in events if isinstance(e, Draft))
    commits = [token for e in events if isinstance(e, Commit) for token in e.tokens]
    kept = sum(token.how == "draft" for token in commits)
    misses = sum(notes_of.silent(e) for e in events if isinstance(e, Draft))
    end = cells(page, "c")
    assert end[1:] == [f"{kept} / {offered}", f"{round(100 * kept / len(commits))}%"]
    assert cells(page, "silent")[0] == str(misses)
    evictions = sum(e.notes["filed"].evictions for e in events if isinstance(e, Report))
    assert f"{evictions} evicted" in panel.inner_text() and evictions > 0
    assert panel.locator("li[data-gone] s").count() > 0

    seen = page.evaluate(BACK, "text")
    copied = panel.locator(".hx-db-hit mark").inner_text()
    lit = page.locator(".hx-flow .hx-source")
    marked = "".join(
        x for x in lit.locator("[data-serial]").or_(lit).evaluate_all("(xs) => xs.map(x => x.textContent)")
    )
    assert copied and copied.strip("\u21b5 ") in marked, "the stretch that was found is marked in the text"
    assert panel.locator("tr[data-now] .hx-db-chip").first.inner_text() == "c"
    for wanted in (None, "prompt"):
        seek(page, 0.2)  # what the prompt has is found early
        seen += [] if wanted in seen else page.evaluate(BACK, wanted)
    assert {*seen} - {"unlinked"} == {"text", "prompt", None}, "misses are told too"
    assert cells(page, "c") != end, "shares follow the cursor"

    press(page, "Escape")
    assert panel.is_hidden() and "databases" not in page.url and page.locator(".hx-source").count() == 0
    assert page.locator(".hx-db-link[data-shown]").count() == 0


@pytest.mark.everything
def test_a_stack_without_lookups_says_so_and_how_to_get_them(page: Any, site: str) -> None:
    visit(page, site, "recording=01-plain&databases=1")
    panel = page.locator(".hx-databases")
    assert "looks nothing up" in panel.inner_text() and "lookups" in panel.inner_text()
    assert panel.locator("table").count() == 0 or not panel.locator("table").first.is_visible()


@pytest.mark.everything
def test_a_recording_that_keeps_its_rules_to_itself_shows_its_lookups_and_what_it_lacks(page: Any, site: str) -> None:
    visit(page, site, "recording=02-unsaid&databases=1")
    panel = page.locator(".hx-databases")
    assert "does not say how the context" in panel.inner_text()
    assert panel.locator("tr[data-hit]").count() > 3 and cells(page, "c")[1] != "0 / 0"
