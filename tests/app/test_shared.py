"""Levels that share one model, on the page: depth sliders, drafts, the column of layers, what a call ran, the card."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs

import pytest
from cases import first_always
from pagekit import launched
from sharedkit import LAYERS, STACK, SharedBench, shared_run

from hsd_core.trace import file as tracefile


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a page whose one preset has exits and draft models; its recording is hand-written."""
    folder = tmp_path_factory.mktemp("shared")
    tracefile.write(folder / "00-shared.jsonl.gz", shared_run())
    tracefile.write(folder / "01-bare.jsonl.gz", shared_run(6, depths=False, title="Without depths"))
    with launched(SharedBench, traces=folder) as address:
        yield address


def visit(page: Any, site: str, query: str = "") -> None:
    page.emulate_media(reduced_motion="reduce")  # a recording then rests at its end
    page.goto(f"{site}/{query}")
    page.wait_for_selector(".hx-stage")


def stack(page: Any) -> str:
    """The stack that Generate would run: in the address, unless it is the preset's own."""
    return parse_qs(page.evaluate("location.search")[1:]).get("stack", [STACK])[0]


def stands(page: Any, expected: str) -> None:
    """The stack becomes `expected`: events of the pointer may reach the page after the call that sent them."""
    for _ in range(50):
        if stack(page) == expected:
            return
        page.wait_for_timeout(100)
    assert stack(page) == expected


@pytest.mark.everything
def test_the_card_names_layers_the_slider_changes_them_and_the_heat_map_shows_them(page: Any, shared: str) -> None:
    visit(page, shared)
    page.locator(".hx-tok").first.click()
    card = page.locator(".hx-card")
    assert "exit at layer 4 of 30" in card.locator(".hx-card-facts").inner_text()
    assert card.locator(".hx-verdict-stop").all_inner_texts() == ["exit at layer 8 of 30", "all 30 layers"]
    page.keyboard.press("Escape")

    # The slider rewrites the stack and keeps the focus.
    slider = page.get_by_role("slider", name="depth of early exit").first  # of the upper exit
    assert slider.input_value() == "8"
    slider.focus()
    page.keyboard.press("ArrowRight")
    stands(page, "exit:2@at=4,exit:4@at=9,target")
    page.keyboard.press("ArrowRight")
    stands(page, "exit:2@at=4,exit:4@at=10,target")
    assert "10 of 30" in page.locator(".hx-tower").inner_text()
    assert "runs 4–9, reuses 0–3" in page.locator(".hx-tower").inner_text()
    assert page.locator(".hx-stale").count() == 1

    page.get_by_role("button", name="At which layer did the model know?").click()
    page.wait_for_selector("#figure-depths .js-plotly-plot .heatmaplayer image")
    figure = page.locator("#figure-depths-panel")
    assert figure.get_attribute("aria-label").startswith("At which layer did the model know?")
    rows = figure.locator("table tbody tr")
    assert rows.count() == 12
    assert rows.nth(1).locator("th, td").nth(1).text_content() == "4"  # known from layer 4 on
    assert "<b>one</b>" in figure.locator("table").text_content()
    assert figure.locator(".hx-figure-view").get_attribute("tabindex") == "0"


@pytest.mark.everything
def test_the_slider_spans_the_model_has_ticks_where_drafts_are_trained_and_is_dragged(page: Any, shared: str) -> None:
    visit(page, shared)
    slider = page.get_by_role("slider", name="depth of early exit").first
    assert (slider.get_attribute("min"), slider.get_attribute("max")) == ("1", str(LAYERS - 1))
    assert page.locator(".hx-depth").first.locator(".hx-depth-tick").count() == 2
    assert "trained draft" in slider.get_attribute("aria-valuetext")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    assert "untrained" in page.get_by_role("slider", name="depth of early exit").first.get_attribute("aria-valuetext")
    page.keyboard.press("ArrowRight")
    box = page.get_by_role("slider", name="depth of early exit").first.bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 8 + 7 / 28 * (box["width"] - 16), y)  # dragged, not the floor
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, y + 60, steps=5)
    page.mouse.move(box["x"] + box["width"] - 1, y + 60, steps=5)
    page.mouse.up()
    stands(page, f"exit:2@at=4,exit:4@at={LAYERS - 1},target")


@pytest.mark.everything
def test_exits_that_do_not_rise_are_refused_beside_the_floor(page: Any, shared: str) -> None:
    visit(page, shared, "?stack=exit:2@at=8,exit:4@at=4,target")
    reason = page.locator(".hx-floor-reason")
    reason.wait_for()
    assert "exits rise in depth" in reason.inner_text()
    assert page.get_by_role("button", name="Generate").get_attribute("aria-disabled") == "true"
    page.get_by_role("slider", name="depth of early exit").last.focus()
    held: list[Any] = []
    page.route("**/planner/faults?*", lambda route: held.append(route))
    page.keyboard.press("Home")
    stands(page, "exit:2@at=1,exit:4@at=4,target")
    page.wait_for_timeout(300)
    assert reason.count() == 1 and held  # what was said last stands until the answer comes
    for route in held:
        route.continue_()
    reason.wait_for(state="detached")
    page.wait_for_selector(".hx-go:not([aria-disabled])")
    assert page.evaluate("document.activeElement.type") == "range"  # the floor was not made again under the hand


@pytest.mark.everything
def test_a_draft_model_is_chosen_by_name_fed_or_not(page: Any, shared: str) -> None:
    visit(page, shared)
    page.get_by_text("add a level").click()
    page.get_by_role("button", name="small draft").click()
    stands(page, "nano:4@id=tiny-fed,exit:2@at=4,exit:4@at=8,target")
    pick = page.get_by_label("draft of small draft")
    assert pick.locator("option").all_inner_texts() == ["embeddings alone", "fed by the target"]
    pick.select_option("tiny")
    stands(page, "nano:4@id=tiny,exit:2@at=4,exit:4@at=8,target")
    page.locator(".hx-floor").last.get_by_role("button", name="one more").click()
    stands(page, "nano:5@id=tiny,exit:2@at=4,exit:4@at=8,target")


@pytest.mark.everything
def test_a_fed_draft_above_another_level_is_said_to_verify_row_by_row(page: Any, shared: str) -> None:
    visit(page, shared, "?stack=exit:2@at=4,nano:4@id=tiny-fed,target")
    options = page.get_by_label("draft of small draft").locator("option").all_inner_texts()
    assert options == ["embeddings alone", "fed by the target; verifies one row at a time"]


@pytest.mark.everything
def test_a_lookup_can_leave_its_misses_to_a_nano(page: Any, shared: str) -> None:
    visit(page, shared, "?stack=ngram:3,target")
    floor = page.locator(".hx-floor").last
    floor.get_by_role("button", name="rule, policy and order").click()
    pick = page.get_by_label("on a miss of lookups")
    assert pick.input_value() == ""
    pick.select_option("tiny-fed")
    stands(page, "ngram:3@miss=tiny-fed,target")
    assert "else tiny-fed" in page.locator(".hx-floor").last.inner_text()
    page.get_by_label("on a miss of lookups").select_option("")
    stands(page, "ngram:3,target")


@pytest.mark.everything
def test_an_exit_can_be_read_through_the_lens_at_any_depth(page: Any, shared: str) -> None:
    visit(page, shared)
    page.locator(".hx-floor").nth(1).get_by_role("button", name="rule, policy and order").click()
    page.locator(".hx-floor").nth(1).locator(".hx-draft-pick select").select_option("lens")
    stands(page, "exit:2@at=4,exit:4@at=8@id=lens,target")
    page.get_by_role("slider", name="depth of early exit").first.focus()
    page.keyboard.press("ArrowRight")
    stands(page, "exit:2@at=4,exit:4@at=9@id=lens,target")


@pytest.mark.everything
def test_the_rule_top_asks_for_its_k_and_a_threshold_policy_for_its_theta(page: Any, shared: str) -> None:
    visit(page, shared)
    floor = page.locator(".hx-floor").nth(1)
    floor.get_by_role("button", name="rule, policy and order").click()
    floor.locator("[data-key^='rule']").select_option("top")
    floor.locator("[data-key^='k-']").fill("3")
    for policy, usual in (("confidence", "0.6"), ("margin", "0.15")):
        floor.locator("[data-key^='policy']").select_option(policy)
        assert floor.locator("[data-key^='theta']").input_value() == usual
    stands(page, "exit:2@at=4,exit:4@at=8@policy=margin@rule=top@k=3,target")
    floor.locator("[data-key^='policy']").select_option("adaptive")
    floor.locator("[data-key^='theta']").fill("0.3")
    page.keyboard.press("Tab")
    stands(page, "exit:2@at=4,exit:4@at=8@policy=adaptive@theta=0.3@rule=top@k=3,target")
    floor.locator("[data-key^='rule']").select_option("tokenwise")
    stands(page, "exit:2@at=4,exit:4@at=8@policy=adaptive@theta=0.3,target")
    assert floor.locator("[data-key^='k-']").count() == 0


@pytest.mark.everything
@first_always("how", ["mouse", "escape"])
def test_a_floor_is_dragged_by_its_grip(page: Any, shared: str, how: str) -> None:
    visit(page, shared, "?stack=ngram:3,nano:4@id=tiny,exit:2@at=4,target")
    grips = page.locator(".hx-grip")
    grips.first.click()
    stands(page, "ngram:3,nano:4@id=tiny,exit:2@at=4,target")  # a short press moves nothing
    start, end = grips.nth(0).bounding_box(), grips.nth(1).bounding_box()  # the exit; the draft model below it
    page.mouse.move(start["x"] + 9, start["y"] + 14)
    page.mouse.down()
    page.mouse.move(start["x"] + 9, start["y"] + 40, steps=4)
    assert page.locator(".hx-carried").count() == 1
    page.mouse.move(end["x"] + 9, end["y"] + 14, steps=8)
    assert page.locator(".hx-aim .hx-floor-name b").inner_text() == "small draft"
    if how == "escape":
        page.keyboard.press("Escape")
    page.mouse.up()
    moved = "ngram:3,exit:2@at=4,nano:4@id=tiny,target"
    stands(page, moved if how == "mouse" else "ngram:3,nano:4@id=tiny,exit:2@at=4,target")
    assert page.locator(".hx-carried, .hx-aim").count() == 0


@pytest.mark.everything
def test_a_floor_dropped_on_the_roof_stands_right_below_it(page: Any, shared: str) -> None:
    visit(page, shared, "?stack=nano:4@id=tiny,exit:2@at=4,target")
    grip = page.locator(".hx-grip").last.bounding_box()
    roof = page.locator(".hx-floor-top").bounding_box()
    page.mouse.move(grip["x"] + 9, grip["y"] + 14)
    page.mouse.down()
    page.mouse.move(roof["x"] + 40, roof["y"] + 20, steps=10)
    page.mouse.up()
    stands(page, "exit:2@at=4,nano:4@id=tiny,target")


@pytest.mark.everything
def test_the_column_has_a_cell_for_each_layer_in_the_hue_of_the_level_that_runs_it(page: Any, shared: str) -> None:
    visit(page, shared, "?stack=exit:2@at=3,exit:4@at=10,target")
    cells = page.locator(".hx-trunk .hx-layer")
    assert cells.count() == LAYERS
    owners = [cells.nth(i).get_attribute("data-level") for i in range(LAYERS)]
    assert owners == ["0"] * 3 + ["1"] * 7 + ["2"] * 20
    assert page.locator(".hx-trunk-tag").all_inner_texts() == ["E1", "E2", "T"]
    said = page.locator(".hx-trunk").get_attribute("aria-label")
    assert "E2 runs 3–9, reuses 0–2" in said
    assert "T runs 10–29, reuses 0–9" in said


@pytest.mark.everything
def test_in_a_run_the_column_and_the_lanes_say_what_each_level_ran(page: Any, shared: str) -> None:
    visit(page, shared)
    page.wait_for_selector(".hx-trunk[data-live='1']")
    ran = lambda layer: page.locator(f".hx-layer[data-layer='{layer}'] .hx-ran").evaluate_all(  # noqa: E731
        "(all) => all.map((x) => [x.dataset.level, x.style.getPropertyValue('--rows')])"
    )
    assert ran(0) == [["0", "2"], ["2", "1"]]  # two drafted, and the bonus row of the target's pass
    assert ran(5) == [["1", "2"], ["2", "1"]]
    assert ran(29) == [["2", "3"]]
    assert "T 3 on 8–29, 1 on 0–7" in page.locator(".hx-trunk").get_attribute("aria-label")
    # drafts 4 + 4, the exit above 4, the target 8 on the bonus row and 22: 42 layers for three tokens
    assert page.locator(".hx-figure-layers").inner_text().split("\n")[0] == "14.0 of 30"
    box = page.locator(".hx-lane-svg").bounding_box()
    page.mouse.move(box["x"] + box["width"] * (1 + 7) / 41, box["y"] + 10)  # round 0: the target's pass, 5 to 11 ms
    page.wait_for_selector(".hx-lane-ran")
    assert page.locator(".hx-lane-ran").inner_text() == "layers 8–29 on 3 rows, 0–7 on 1 (bonus)"
    table = page.locator(".hx-lanes table").inner_text()
    assert "8–29 in 4 passes, 0–7 in 4" in table
    assert "0–3 in 8 passes" in table


@pytest.mark.everything
def test_the_card_says_what_a_token_was_copied_from_and_the_text_marks_it(page: Any, shared: str) -> None:
    visit(page, shared, "?recording=01-bare&colour=source")
    card = page.locator(".hx-card")
    page.locator(".hx-tok").nth(1).click()
    assert "the prompt: \u2026The tower\u2026" in card.inner_text()
    assert "1\u00a0token before it matches, 90\u00a0% of its q" in card.inner_text()
    assert page.locator(".hx-origin").count() == 0
    page.keyboard.press("Escape")  # the card may lie over the next token
    page.locator(".hx-tok").nth(13).click()
    assert "the text: \u2026The tower has thirty layers and" in card.inner_text()
    assert card.locator("mark").inner_text().strip() == "thirty"
    assert page.locator(".hx-origin").inner_text() == "thirty"
    page.keyboard.press("Escape")
    assert page.locator(".hx-origin").count() == 0
    assert "copied" in page.locator(".hx-colours").inner_text()


@pytest.mark.everything
def test_on_a_phone_the_heat_map_scrolls_inside_its_figure(page: Any, shared: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    visit(page, shared)
    page.get_by_role("button", name="At which layer did the model know?").click()
    page.wait_for_selector("#figure-depths .js-plotly-plot .heatmaplayer image")
    view = page.locator("#figure-depths-panel .hx-figure-view")
    assert view.evaluate("(x) => x.scrollWidth > x.clientWidth + 20")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("#figure-depths .js-plotly-plot").bounding_box()["width"] > 12 * 26


@pytest.mark.everything
def test_a_run_without_depths_has_no_heat_map_and_says_what_to_tick(page: Any, shared: str) -> None:
    visit(page, shared, "?recording=01-bare")
    button = page.get_by_role("button", name="At which layer did the model know?")
    page.locator("button[aria-disabled=true]", has_text="At which layer did the model know?").wait_for()
    button.click(force=True)
    assert "tick “measure depths after the run”" in page.locator(".hx-note").inner_text()
    page.locator("#figures").scroll_into_view_if_needed()
    page.wait_for_selector("#figures .js-plotly-plot")
    assert not page.locator("#figure-depths-panel").is_visible()


@pytest.mark.everything
def test_the_tick_in_the_settings_asks_the_server_for_the_depths(page: Any, shared: str) -> None:
    visit(page, shared)
    page.get_by_role("button", name="settings", exact=True).click()
    page.get_by_label("measure depths after the run").check()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Generate").click()
    page.wait_for_function("document.querySelector('.hx-status').textContent.startsWith('live, done')")
    assert SharedBench.asked[-1]["depths"] is True
    page.wait_for_selector(".hx-knew:not([aria-disabled])")
    page.get_by_role("button", name="At which layer did the model know?").click()
    page.wait_for_selector("#figure-depths .js-plotly-plot .heatmaplayer image")
