"""The Planner tab in a browser, on a profile that is made up and says so: its question, and what stands behind it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from cases import first_always
from pagekit import SHIFTS, launched
from plannerkit import HOSTILE, MEASURED, STEM, made_up, side_by_side

from hsd_core.grammar.stack_names import stack_names
from hsd_core.pipeline import Pipeline
from hsd_core.systems.lanes.second_machine import SecondMachine
from hsd_core.theory import profile_from
from hsd_core.theory.search.another_level import AnotherLevel


@pytest.fixture(scope="session")
def profiles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("profiles")
    (folder / f"{STEM}.json").write_text(json.dumps(made_up()), encoding="utf-8")
    (folder / f"{STEM}-validation.json").write_text(json.dumps(MEASURED), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def planner_site(profiles: Path, recordings: Path) -> Iterator[str]:
    with launched(Pipeline, profiles=profiles, measured=list, traces=recordings) as address:
        yield address


@pytest.fixture(scope="session")
def bare_site(recordings: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    none = tmp_path_factory.mktemp("no-profiles")
    with launched(Pipeline, profiles=none, measured=list, traces=recordings) as address:
        yield address


def visit(page: Any, site: str, *behind: str) -> None:
    """The tab with its plans in sight, and what else stands behind its question."""
    page.goto(f"{site}/?tab=planner&data={','.join(('plans', *behind))}")
    page.wait_for_selector(".hx-planner .hx-plan-headline:not(:empty)")


def best_stack(page: Any) -> str:
    return str(page.locator(".hx-plan-stack code").text_content())


def changed(page: Any, before: str) -> None:
    page.wait_for_function("before => document.querySelector('.hx-plan-headline').textContent !== before", arg=before)


def headline(page: Any) -> str:
    return str(page.locator(".hx-plan-headline").inner_text())


def asked_of(page: Any, name: str) -> Any:
    return page.locator(".hx-al").get_by_role("slider", name=name)


def test_it_opens_on_one_question_whose_sliders_change_the_answer_and_the_address(page: Any, planner_site: str) -> None:
    page.add_init_script(SHIFTS)
    page.goto(f"{planner_site}/?tab=planner")
    page.locator(".hx-al-answer:not(:empty)").wait_for()
    fields = page.locator(".hx-planner :is(input, select, textarea)")
    assert fields.evaluate_all("all => all.filter((x) => x.checkVisibility()).length") == 2
    assert page.locator(".hx-more[open]").count() == 0
    curve = AnotherLevel(profile_from(made_up())).answer()
    own = next(point for point in curve["points"] if point["share"] == curve["share"])
    more, fewer = f"{own['more']['speedup']:.2f}", f"{own['fewer']['speedup']:.2f}"
    said = f"Yes: three levels are {more} times as fast as the model alone, two levels {fewer} times."
    assert page.locator(".hx-al-answer").inner_text().replace("\n", " ") == said
    moved = page.evaluate("shifts.length")
    page.wait_for_timeout(500)
    assert page.evaluate("shifts.length") == moved, "what is drawn stays where it is"
    page.locator(".hx-al summary").click()
    rows = page.locator(".hx-al tbody tr").evaluate_all("all => all.map((x) => [...x.cells].map((y) => y.textContent))")
    plans = [[point[which] for which in ("fewer", "more")] for point in curve["points"]]
    called = stack_names(plan["stack"] for pair in plans for plan in pair)
    want = [
        [cell for plan in pair for cell in (f"{plan['speedup']:.2f}", called[plan["stack"]] + plan["stack"])]
        for pair in plans
    ]
    assert [row[1:] for row in rows] == want, "the figure's table has the planner's own points"
    drawn = page.locator(".hx-al-line").evaluate_all("all => all.map((x) => x.getAttribute('d').match(/[ML]/g).length)")
    assert drawn == [len(want), len(want)]
    marks = page.locator(".hx-al-crossing").count()
    assert marks == len(curve["crossings"]) > 0
    answer = page.locator(".hx-al-answer:not(:empty)")
    assert answer.inner_text().startswith("Yes")
    costs = asked_of(page, "costs")
    costs.focus()
    costs.press("End")
    page.locator(".hx-al-answer", has_text="No: three levels").wait_for()
    assert costs.get_attribute("aria-valuetext").startswith("125 %")
    before = answer.text_content()
    asked_of(page, "agrees").press("Home")
    page.wait_for_function("location.search.includes('agrees=0.2') && location.search.includes('pass=1.25')")
    page.wait_for_function("before => document.querySelector('.hx-al-answer').textContent !== before", arg=before)
    page.locator(".hx-al-answer", has_text="No").wait_for()
    turned = answer.inner_text()
    page.reload()
    page.locator(".hx-al-answer", has_text=turned).wait_for()
    page.get_by_role("button", name="Back to the profile").click()
    page.locator(".hx-al-answer", has_text="Yes").wait_for()
    page.wait_for_function("!/agrees|pass=/.test(location.search)")


@pytest.mark.everything
def test_what_experts_ask_stands_on_a_page_of_its_own_with_an_address(page: Any, shipped: str) -> None:
    page.goto(f"{shipped}/?tab=planner")
    said = page.locator(".hx-al-beside", has_text="predicted 1.67")
    said.wait_for()
    assert "ran 1.80 times as fast" in said.inner_text(), "of assets/profiles"
    assert not page.locator(".hx-more").first.is_visible()
    page.get_by_role("button", name="For experts").click()
    assert not page.locator(".hx-plan-first").is_visible()
    page.locator(".hx-more[data-more=tables] > summary").click()
    page.wait_for_function("new URLSearchParams(location.search).get('data') === 'tables'")
    page.reload()
    page.locator(".hx-plan-tables").wait_for()
    page.get_by_role("button", name="Another level?").click()
    said.wait_for()
    query = page.evaluate("location.search")
    assert "data" not in query and "experts" not in query


@pytest.mark.everything
def test_the_stack_that_the_answer_names_is_put_into_the_composer(page: Any, planner_site: str) -> None:
    page.goto(f"{planner_site}/?tab=planner&pass=1.25")
    page.locator(".hx-al-answer", has_text="No").wait_for()
    stack = page.locator(".hx-al-stack").get_attribute("data-stack")
    assert stack.count(",") == 1, "the faster one has two levels"
    page.locator(".hx-al").get_by_role("button", name="Use this stack").click()
    page.wait_for_selector(".hx-tower:visible")
    page.wait_for_function("stack => new URLSearchParams(location.search).get('stack') === stack", arg=stack)


@pytest.mark.everything
def test_made_up_numbers_are_called_simulated_and_names_stay_text(page: Any, planner_site: str) -> None:
    visit(page, planner_site, "profile")
    assert page.locator(".hx-plan-kind").inner_text().startswith("simulated")
    assert HOSTILE in page.locator(".hx-plan-source").inner_text()
    assert page.evaluate("window.PWNED") is None


@pytest.mark.everything
def test_a_number_that_cannot_be_is_said_beside_its_table_and_changes_nothing(page: Any, planner_site: str) -> None:
    visit(page, planner_site, "tables")
    before = headline(page)
    cell = page.get_by_label("acceptance of order1 by order3")
    cell.fill("1.5")
    assert "a probability from 0 to 1" in page.locator(".hx-panel .hx-plan-fault:visible").inner_text()
    assert cell.get_attribute("aria-invalid") == "true"
    assert cell.input_value() == "1.5"
    assert headline(page) == before
    cell.fill("0.5")
    assert page.locator(".hx-panel .hx-plan-fault:visible").count() == 0
    changed(page, before)


@pytest.mark.everything
def test_a_cost_that_is_cleared_lies_on_the_line_again(page: Any, planner_site: str) -> None:
    visit(page, planner_site, "tables")
    cell = page.get_by_label("target: ms for 8 rows")
    cell.fill("")
    assert float(cell.get_attribute("placeholder")) == pytest.approx(35.5, abs=0.1)
    assert cell.get_attribute("aria-invalid") == "false"


@pytest.mark.everything
def test_a_slider_by_keyboard_changes_the_plan(page: Any, planner_site: str) -> None:
    visit(page, planner_site, "whatif")
    before = headline(page)
    slider = page.get_by_role("slider", name="longest block")
    slider.focus()
    slider.press("Home")
    changed(page, before)
    assert slider.get_attribute("aria-valuetext") == "1 token"
    assert ":1" in best_stack(page)


@pytest.mark.everything
@first_always("names", [("graph", "validation"), ("surface",)])
def test_every_plot_is_drawn_from_our_server_and_has_its_table(
    page: Any, planner_site: str, names: tuple[str, ...]
) -> None:
    visit(page, planner_site, "figures", "validation")
    for name in names:
        panel = page.locator(f".hx-plot-{name}")
        panel.scroll_into_view_if_needed()
        panel.locator(".hx-plot .main-svg").first.wait_for()
        panel.get_by_text("as a table").click()
        assert panel.locator(".hx-figure-data tbody tr").count() >= 2
    if "graph" not in names:
        return
    fills = page.locator(".hx-plot-graph .cbfill").evaluate_all("(all) => all.map((one) => one.style.fill)")
    assert fills and not [fill for fill in fills if "http" in fill], (
        "a scale keeps its colours when the address changes"
    )


@pytest.mark.everything
def test_focus_on_an_edge_shows_its_cost_and_gain_in_the_plot(page: Any, planner_site: str) -> None:
    visit(page, planner_site, "figures")
    panel = page.locator(".hx-plot-graph")
    panel.scroll_into_view_if_needed()
    panel.locator(".hx-plot .main-svg").first.wait_for()
    edge = panel.locator(".hx-plan-edge").first
    assert "cost" in edge.inner_text() and "gain" in edge.inner_text()
    edge.focus()
    panel.locator(".hoverlayer .hovertext").wait_for()


@pytest.mark.everything
def test_a_link_brings_the_sliders_back(page: Any, planner_site: str) -> None:
    visit(page, planner_site, "whatif", "tables")
    before = headline(page)
    page.get_by_role("slider", name="rejections, all pairs").fill("1.5")
    page.get_by_role("checkbox", name="table of order 1").uncheck()
    changed(page, before)
    page.wait_for_function("location.search.includes('rejections=1.5') && location.search.includes('without=0')")
    page.wait_for_function("!document.querySelector('.hx-plan-stack code').textContent.includes('order1')")
    turned = headline(page)
    page.reload()
    page.wait_for_selector(".hx-planner .hx-plan-headline:not(:empty)")
    assert headline(page) == turned
    assert not page.get_by_role("checkbox", name="table of order 1").is_checked()
    cell = page.get_by_label("acceptance of order3 by target")
    measured = cell.input_value()
    cell.fill("0.4")
    cell.press("Enter")
    page.locator(".hx-plan-changed").wait_for()
    page.get_by_role("button", name="reset all sliders and numbers").click()
    page.wait_for_function("!/rejections|without/.test(location.search)")
    page.locator(".hx-plan-changed").wait_for(state="hidden")
    assert cell.input_value() == measured


@pytest.mark.everything
def test_a_link_to_a_profile_that_is_not_here_says_so(page: Any, planner_site: str) -> None:
    page.goto(f"{planner_site}/?tab=planner&profile=measured:elsewhere&rejections=-1&cost=9x2&longest=999")
    page.locator(".hx-planner > .hx-plan-fault:visible").wait_for()
    assert "measured:elsewhere" in page.locator(".hx-planner > .hx-plan-fault").inner_text()
    assert page.get_by_role("slider", name="longest block").input_value() == "16"
    assert page.get_by_role("slider", name="rejections, all pairs").input_value() == "1"


@pytest.mark.everything
def test_use_this_stack_puts_it_into_the_composer_and_opens_play(page: Any, planner_site: str) -> None:
    visit(page, planner_site)
    stack = best_stack(page)
    page.locator(".hx-plan-best").get_by_role("button", name="Use this stack").click()
    page.wait_for_selector(".hx-tower:visible")
    assert page.get_by_role("tab", name="Explore").get_attribute("aria-selected") == "true"
    page.wait_for_function("stack => new URLSearchParams(location.search).get('stack') === stack", arg=stack)
    assert "preset=toy" in page.url


def test_an_edit_is_marked_and_reset_and_a_file_is_opened_and_a_wrong_one_refused(
    page: Any, planner_site: str, tmp_path: Path
) -> None:
    visit(page, planner_site, "tables", "profile")
    before, stack = headline(page), best_stack(page)
    cell = page.get_by_label("acceptance of order3 by target")
    cell.fill("0.2")
    changed(page, before)
    assert cell.locator("xpath=..").get_attribute("data-edited") == "true"
    assert page.locator(".hx-plan-changed").is_visible()
    page.get_by_role("button", name="How often each accepts another's token: reset to assumed").click()
    page.wait_for_function("stack => document.querySelector('.hx-plan-stack code').textContent === stack", arg=stack)
    assert page.get_by_label("acceptance of order3 by target").input_value() == "0.85"
    assert page.locator(".hx-plan-changed").is_hidden()
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps({**made_up(), "acceptance": [[1]]}), encoding="utf-8")
    page.locator('input[type="file"][aria-label="profile file"]').set_input_files(wrong)
    page.locator(".hx-planner > .hx-plan-fault:visible").wait_for()
    assert "acceptance" in page.locator(".hx-planner > .hx-plan-fault").inner_text()
    assert headline(page) == before
    own = made_up()
    own["acceptance"][1][2] = 0.3
    own["about"] = {}
    good = tmp_path / "own.json"
    good.write_text(json.dumps(own), encoding="utf-8")
    page.locator('input[type="file"][aria-label="profile file"]').set_input_files(good)
    changed(page, before)
    assert page.locator(".hx-plan-kind").inner_text() == "from your file"


@pytest.mark.everything
def test_a_profile_with_several_sequences_side_by_side_is_opened_shown_and_played(
    page: Any, planner_site: str, tmp_path: Path
) -> None:
    file = tmp_path / "several.json"
    file.write_text(json.dumps(side_by_side()), encoding="utf-8")
    visit(page, planner_site, "profile", "tables")
    page.locator('input[type="file"][aria-label="profile file"]').set_input_files(file)
    cell = page.locator(".hx-plan-beside")
    cell.wait_for()
    assert cell.inner_text() == "1.9 · 1.6 · 1.4 …" and "1.4 · 1.2 tokens" in cell.get_attribute("data-tip")
    page.locator(".hx-plan-stack", has_text="@guess=5").wait_for()
    page.locator(".hx-plan-play").click()
    page.locator(".hx-status").get_by_text("simulated: no model ran").wait_for()
    assert "ngram%3A7%40guess%3D5" in page.url
    page.locator(".hx-text").get_by_text("side by side").first.wait_for()


@pytest.mark.everything
def test_the_download_is_the_edited_profile(page: Any, planner_site: str, tmp_path: Path) -> None:
    visit(page, planner_site, "profile", "tables")
    before = headline(page)
    page.get_by_label("acceptance of order3 by target").fill("0.4")
    changed(page, before)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    path = tmp_path / "saved.json"
    download.value.save_as(path)
    saved = profile_from(json.loads(path.read_text(encoding="utf-8")))
    assert saved.acceptance[1][2] == 0.4
    assert (1, 2) not in saved.by_width  # those of several side by side were measured with the one that was changed


@pytest.mark.everything
def test_without_any_profile_the_tab_says_how_to_measure_one(page: Any, bare_site: str) -> None:
    page.goto(f"{bare_site}/?tab=planner")
    page.locator(".hx-plan-empty:visible").wait_for()
    assert "python -m hsd_core calibrate" in page.locator(".hx-plan-empty").inner_text()
    assert page.locator(".hx-plan-body").is_hidden()


JSON = {"content-type": "application/json"}


def test_a_request_that_is_too_large_or_no_json_gets_an_answer_that_says_so(planner_site: str) -> None:
    for body in ("{", "[" * 5000, "x" * 400_000, "null", '{"profile": {"levels": 3}}'):
        reply = httpx.post(f"{planner_site}/hx/planner/answer", content=body.encode(), headers=JSON)
        assert reply.status_code == 422
        assert reply.json()["error"]


@pytest.mark.everything
def test_each_kind_of_text_has_its_acceptances_and_its_best_block_lengths(page: Any, shipped: str) -> None:
    page.goto(f"{shipped}/?tab=planner&experts=1&data=categories")
    rows = page.locator("[data-more=categories] tbody tr")
    rows.first.wait_for()
    said = {row.locator("th").inner_text(): row.locator("code").inner_text() for row in rows.all()}
    assert len(said) > 10 and said["translation"] != said["roleplay"]
    rows.filter(has_text="translation").get_by_role("button").click()
    page.locator("#tab-explore-button[aria-selected=true]").wait_for()
    assert f"stack={said['translation']}" in unquote(page.url)


@pytest.mark.everything
def test_a_second_machine_is_answered_for_behind_the_question(page: Any, planner_site: str) -> None:
    page.goto(f"{planner_site}/?tab=planner&data=second")
    page.locator(".hx-sm[data-ready]").wait_for()
    said = SecondMachine(profile_from(made_up())).answer()
    panel = page.locator(".hx-sm")
    assert panel.get_attribute("data-pays") == ("yes" if said["pays"] else "no")
    rows = panel.locator(".hx-sm-drafters tbody tr").evaluate_all(
        "all => all.map((x) => [...x.cells].map((y) => y.textContent))"
    )
    assert [(row[0], row[1]) for row in rows] == [
        (one["name"], f"{one['gain']:.2f}\u00d7") for one in said["drafters"]
    ], "the table has the theory's own figures"
    drawn = panel.locator(".hx-sm-band").evaluate_all(
        "all => all.map((x) => ['row', 'first', 'count', 'band'].map((name) => Number(x.dataset[name])))"
    )
    bands = {(row, first + i): band for row, first, count, band in drawn for i in range(count)}
    gains = said["map"]["gains"]
    assert len(bands) == len(gains) * len(gains[0])
    panel.locator("summary").click()
    cells = panel.locator("td[data-band]").evaluate_all(
        "all => all.map((x) => [Number(x.dataset.row), Number(x.dataset.at), Number(x.dataset.band), x.textContent])"
    )
    assert cells
    for row, at, band, text in cells:
        assert text == f"{gains[row][at]:.2f}" and bands[row, at] == band, "the chart and its table say the same"
    before = panel.locator(".hx-sm-reading").inner_text()
    panel.get_by_role("slider", name="A drafted token costs").press("Home")
    assert panel.locator(".hx-sm-reading").inner_text() != before
    assert "do not overlap" in panel.locator(".hx-sm-reading").inner_text()
    panel.get_by_role("button", name=f"show {said['drafters'][0]['name']} on the map").click()
    assert said["drafters"][0]["name"] in panel.locator(".hx-sm-reading").inner_text()
    box = panel.locator(".hx-sm-map").bounding_box()
    panel.locator(".hx-sm-map").click(position={"x": 0.6 * box["width"], "y": 40})
    assert "two machines are" in panel.locator(".hx-sm-reading").inner_text()
