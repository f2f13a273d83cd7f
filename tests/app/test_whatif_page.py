"""A stack that nobody has weights for, chosen on the Planner tab and played on the stage, marked as simulated."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pagekit import launched

from app.kit.static import ASSETS
from app.tabs.explore.recordings import recorded
from app.tabs.explore.simulator import MOST_CALLS, Simulator
from app.tabs.planner.profiles.plan_request import PlannerError
from app.tabs.planner.profiles.sources import Sources
from hsd_core.core.events import Draft, Header, Verify
from hsd_core.measure.whatif import whatif_profile
from hsd_core.pipeline import Pipeline
from hsd_core.trace.checks import check

SHORT = {"levels": ["Llama 1B", "Llama 405B"], "blocks": [4]}


def question(**more: Any) -> dict[str, Any]:
    return {"profile": whatif_profile("llama3").as_dict(), **more}


def test_the_herd_is_listed_last_and_says_where_its_costs_come_from(tmp_path: Path) -> None:
    listed = Sources(ASSETS / "profiles", list).listing()["sources"]
    herd = next(source for source in listed if source["title"] == "what if: Llama 1B, 8B, 70B, 405B")
    assert herd["kind"] == "simulated"
    assert "arXiv 2407.21783" in herd["note"]
    assert "assumed" in herd["note"]
    assert [source["id"].startswith("whatif:") for source in listed[-2:]] == [True, True]
    assert Sources(tmp_path / "profiles", list).listing()["sources"] == []


def test_a_plan_is_played_with_the_sliders_where_they_stand() -> None:
    at_rest = Simulator().events({"question": question(), "plan": SHORT, "seed": 3})
    assert check(at_rest) == []
    slower = Simulator().events(
        {"question": question(cost={"level": "Llama 405B", "factor": 2.0}), "plan": SHORT, "seed": 3}
    )

    def took(events: list[Any]) -> int:
        return next(e.t1 - e.t0 for e in events if isinstance(e, Verify))

    assert took(slower) == 2 * took(at_rest)


def test_a_level_that_is_ticked_off_is_not_known_to_the_plan() -> None:
    with pytest.raises(PlannerError, match="the plan has levels"):
        Simulator().events({"question": question(levels=[False, True, True, True]), "plan": SHORT})


@pytest.mark.parametrize(
    "asked",
    [
        None,
        {},
        {"question": question()},
        {"question": question(), "plan": {"levels": [["a"]], "blocks": [1]}},
        {"question": question(), "plan": {"levels": ["Llama 405B", "Llama 1B"], "blocks": [4]}},
        {"question": question(), "plan": {"levels": ["Llama 1B", "Llama 405B"], "blocks": [10**9]}},
        {"question": question(), "plan": {"levels": ["Llama 1B", "Llama 405B"], "blocks": [True]}},
        {"question": question(), "plan": {"levels": ["Llama 1B", "Llama 405B"], "blocks": []}},
    ],
)
def test_what_is_no_plan_is_refused_before_any_work(asked: Any) -> None:
    with pytest.raises(PlannerError):
        Simulator().events(asked)


def test_a_plan_of_many_calls_gives_a_shorter_text() -> None:
    plan = {"levels": ["Llama 1B", "Llama 8B", "Llama 70B", "Llama 405B"], "blocks": [16, 16, 16]}
    events = Simulator().events({"question": question(rejections=2.0), "plan": plan})
    header = events[0]
    assert isinstance(header, Header)
    assert 8 <= header.max_new_tokens < 160
    calls = sum(e.work.forwards for e in events if isinstance(e, Draft)) + sum(isinstance(e, Verify) for e in events)
    assert calls < 2 * MOST_CALLS


def test_its_status_calls_it_simulated() -> None:
    events = Simulator().events({"question": question(), "plan": SHORT})
    assert recorded("run", events)["status"]["text"] == "simulated: no model ran"


@pytest.fixture(scope="module")
def site(recordings: Path) -> Iterator[str]:
    with launched(Pipeline, measured=list, traces=recordings) as address:
        yield address


@pytest.mark.everything
def test_a_class_plays_the_herd_and_is_told_that_no_model_ran(page: Any, site: str) -> None:
    page.goto(f"{site}/?tab=planner&data=plans,profile")
    pick = page.locator(".hx-plan-source")
    pick.wait_for()
    pick.select_option(label="what if: Llama 1B, 8B, 70B, 405B (simulated)")
    assert "simulated" in page.locator(".hx-plan-kind").inner_text()
    assert "arXiv 2407.21783" in page.locator(".hx-plan-from").inner_text()
    best = page.locator(".hx-plan-best")
    best.get_by_text("Llama 8B:", exact=False).first.wait_for()
    best.get_by_role("button", name="Play it (simulated)").click()
    status = page.locator(".hx-status")
    status.get_by_text("simulated: no model ran · Llama 405B · 4 levels").wait_for(timeout=60_000)
    assert "no model ran" in page.locator(".hx-figure-made:visible").inner_text()
    assert page.get_by_text("over this model").count() == 0
    floors = page.locator(".hx-floor-name")
    assert "simulated" in floors.nth(0).inner_text()
    assert [floors.nth(i).inner_text().split("\n")[0] for i in range(4)] == [
        "Llama 405B",
        "Llama 70B",
        "Llama 8B",
        "Llama 1B",
    ]
    assert "no weights" in (page.locator(".hx-go", has_text="Generate").get_attribute("data-tip") or "")
    page.get_by_text("Simulated: no model ran.", exact=False).first.wait_for()


@pytest.mark.everything
def test_a_plan_in_the_list_is_played_too(page: Any, site: str) -> None:
    page.goto(f"{site}/?tab=planner&data=plans,profile")
    page.locator(".hx-plan-source").select_option(label="what if: Llama 1B, 8B, 70B, 405B (simulated)")
    page.get_by_role("button", name="play Llama 405B, simulated").click()
    page.locator(".hx-status").get_by_text("simulated: no model ran · Llama 405B · 1 level").wait_for(timeout=60_000)


@pytest.mark.everything
def test_a_link_plays_the_same_run_again_and_other_blocks_stay_simulated(page: Any, site: str) -> None:
    page.goto(f"{site}/?profile=whatif:llama3&simulated=0:4.3")
    page.locator(".hx-status").get_by_text("simulated: no model ran · Llama 405B · 2 levels").wait_for()
    page.wait_for_function("location.search.includes('simulated=') && !location.search.includes('tab=')")
    assert "stack=" not in page.url
    assert page.locator(".hx-lane-title").all_inner_texts() == ["Llama-405B", "Llama-1B"]
    with page.expect_response("**/planner/faults?*"):
        page.get_by_role("button", name="T, the block length of Llama 1B: one more").click()
    page.locator(".hx-tower-note").get_by_text("the run shown used another stack", exact=False).wait_for()
    assert [text.split("\n")[-1] for text in page.locator(".hx-floor-name").all_inner_texts()] == [
        "simulated · signs each token",
        "simulated",
    ]
    assert page.locator(".hx-floor-reason").count() == 0
