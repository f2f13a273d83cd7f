"""What the page says of stacks whose price depends on the length of the text, by profiles that are invented."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pagekit import launched
from profiles import behind

from app.kit.static import ASSETS
from app.tabs.planner.price import Priced, Prices
from app.tabs.planner.profiles.length_tables import length_tables
from hsd_core.core.events import Header
from hsd_core.pipeline import Pipeline
from hsd_core.theory import write_profile
from hsd_core.trace import file as tracefile

LENGTHS = (1000, 3000, 6000)
STACK = "ngram:4,view:6,target"  # of the recording


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped profiles and simulated ones, and invented ones by length."""
    made = tmp_path_factory.mktemp("with-lengths") / "profiles"
    (made / "by-length").mkdir(parents=True)
    (made.parent / "whatif").symlink_to(ASSETS / "whatif")
    for path in (ASSETS / "profiles").glob("*.json"):
        (made / path.name).symlink_to(path)
    for length in LENGTHS:
        write_profile(behind(length, budget=1024), made / "by-length" / f"smollm2-cpu-{length}.json")
    return made


@pytest.fixture(scope="module")
def lengths_site(folder: Path) -> Iterator[str]:
    with launched(Pipeline, profiles=folder, measured=list) as address:
        yield address


@pytest.mark.everything
def test_the_tower_says_at_which_length_of_text_its_prediction_holds_and_from_where_the_stack_pays(
    page: Any, lengths_site: str, folder: Path
) -> None:
    header = next(e for e in tracefile.read(ASSETS / "traces" / "38-triforce.jsonl.gz") if isinstance(e, Header))
    assert header.stack == STACK
    length = len(header.prompt_ids) + header.max_new_tokens // 2
    asked = (STACK, "view:6,target", "ngram:4,target")
    answer = Prices(folder).answer(Priced("smollm2", asked, "cpu", length=length, by_length=True))
    price, lower, upper = answer["prices"]
    page.goto(f"{lengths_site}/?recording=38-triforce&device=cpu")
    line = page.locator(".hx-unfold-prediction")
    line.get_by_text(
        f"Theory says {price['speedup']:.2f}\u00d7 at {length:,} tokens of text, a test; measured"
    ).wait_for()
    said = page.locator(".hx-forecast-more").inner_text()
    already = "the shortest that was measured" if price["pays_from"] == LENGTHS[0] else "tokens of text on"
    assert f"{price['pays_from']:,}" in said and already in said and "extrapolated" not in said
    for fewer in (lower, upper):  # at the same length
        assert f": {fewer['speedup']:.2f}\u00d7" in page.locator(".hx-forecast-worth").inner_text()
    page.get_by_role("button", name=re.compile("^T, the block length of view.*: one more")).click()
    (other,) = Prices(folder).answer(Priced("smollm2", ("ngram:4,view:7,target",), "cpu", length=length))["prices"]
    line.get_by_text(f"Theory says {other['speedup']:.2f}\u00d7 at {length:,} tokens of text").wait_for()


def opened(page: Any, site: str) -> Any:
    """The section, opened by keys."""
    page.goto(f"{site}/?tab=planner&experts=1")
    summary = page.locator(".hx-more[data-more=lengths] > summary")
    summary.wait_for()
    summary.press("Enter")
    return page.locator(".hx-tl[data-ready]")


@pytest.mark.everything
def test_the_plot_of_the_planner_shows_what_its_table_says(page: Any, lengths_site: str, folder: Path) -> None:
    section = opened(page, lengths_site)
    section.wait_for()
    (table,) = length_tables(folder / "by-length")["tables"]
    assert f"{table['overtakes']:,} tokens of text on" in section.locator(".hx-sm-answer").inner_text()
    rows = [[cell.inner_text() for cell in row.locator("th, td").all()] for row in section.locator("tbody tr").all()]
    assert [row[0] for row in rows] == [f"{length:,}" for length in LENGTHS]
    assert [row[1] for row in rows] == ["20.0", "40.0", "70.0"] and {row[3] for row in rows} == {"12.0"}
    for row, known in zip(rows, table["rows"], strict=True):
        row[4:] = [cell.split()[0] for cell in row[4:]]  # what follows names the stack
        assert row[4:] == [f"{best['speedup']:.2f}\u00d7" for best in known["best"]]
    dots = section.locator("circle").evaluate_all(
        "(all) => all.map((x) => [x.dataset.length, x.dataset.gain, +x.getAttribute('cx'), +x.getAttribute('cy')])"
    )
    told = [[str(n), row[4 + line]] for line in range(2) for n, row in zip(LENGTHS, rows, strict=True)]
    assert [dot[:2] for dot in dots] == told
    by_gain = sorted(dots, key=lambda dot: float(dot[1][:-1]))
    assert [dot[3] for dot in by_gain] == sorted((dot[3] for dot in dots), reverse=True), "higher is faster"
    across = [dot[2] for dot in dots[: len(LENGTHS)]]
    assert across == sorted(set(across)), "longer is to the right"
    said = section.locator("svg").get_attribute("aria-label")
    assert f"with a view: {rows[-1][4]} at 6,000 tokens" in said and f"without a view: {rows[-1][5]}" in said
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.everything
def test_a_profile_of_a_preset_without_such_profiles_has_no_such_section(page: Any, lengths_site: str) -> None:
    page.goto(f"{lengths_site}/?tab=planner&experts=1&profile=whatif:hispec&heat=0")
    page.locator(".hx-more[data-more=second]").wait_for()
    assert page.locator(".hx-more[data-more=lengths]").is_hidden()
