"""What the tower predicts: the numbers of the Planner and of the command line, and what was measured beside them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pagekit import drawn

from app.kit.static import ASSETS
from app.tabs.planner.answer import answer, planned
from app.tabs.planner.price import MOST, Priced, Prices, parse
from app.tabs.planner.profiles.plan_request import Look, PlannerError
from app.tabs.planner.profiles.plan_request import parse as question
from hsd_core.cli import main
from hsd_core.core.events import Baseline, Footer, Header
from hsd_core.theory import write_profile
from hsd_core.theory.profiles.profile_store import shipped_profile
from hsd_core.trace import file as tracefile
from hsd_core.trace.metrics import measure

STACK = "ngram:3,int8:6,target"


@pytest.fixture(scope="module")
def prices() -> Prices:
    return Prices(ASSETS / "profiles")


@pytest.fixture(autouse=True)
def _nothing_was_measured_here(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("HSD_CACHE", str(tmp_path_factory.getbasetemp() / "no-profiles"))


def priced(prices: Prices, *stacks: str, **more: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = prices.answer(Priced("smollm2", stacks, "cpu", **more))["prices"]
    return found


def test_a_stack_costs_here_what_it_costs_in_the_planner_and_on_the_command_line(
    prices: Prices, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    profile = shipped_profile("smollm2")
    assert profile is not None
    write_profile(profile, file := tmp_path / "profile.json")
    shown = answer(planned(question({"profile": profile.as_dict()})), Look(figures=frozenset()))
    plans = [*shown["by_depth"], *shown["others"]]
    assert len(plans) > 6
    for plan, price in zip(plans, priced(prices, *(plan["stack"] for plan in plans)), strict=True):
        assert (price["ms"], price["speedup"]) == (plan["ms"], plan["speedup"])
        assert price["tokens"] >= 1.0 and (price["tokens"] == 1.0) == (plan["stack"] == "target")
    assert main(["plan", "--profile", str(file), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    (found,) = priced(prices, said["stack"])
    assert (found["ms"], found["speedup"]) == (said["latency_ms_per_token"], said["speedup"])


@pytest.mark.parametrize(
    ("stack", "reason"),
    [
        ("exit:4@at=8@policy=del,target", "is not in this profile; policy del chooses among exits"),
        ("nano:4@grow=10@id=other,target", "plan and predict with @tree= or without @grow="),
        ("ngram:2,int4:5,int4:5,target", "each level can be used once, in the profile's order"),
        ("ngram:3@guess=4,target", "calibrate --preset smollm2 --levels ngram@guess=4,target"),
        ("ngram:30,target", "blocks of up to 16"),
        ("nothing", "unknown level"),
        ("nano:4,target@with=pearl", "nano reads the target's last states"),
        ("exit:4@at=4@tree=2.1.1.1,target@with=pearl", "one candidate"),
    ],
)
def test_a_stack_without_a_price_says_why(prices: Prices, stack: str, reason: str) -> None:
    (price,) = priced(prices, stack)
    assert reason in price["reason"]
    assert price["reason"].startswith(price["brief"]) and "; " not in price["brief"]


def test_a_stack_on_two_lanes_is_priced_on_a_clock_of_its_own(prices: Prices) -> None:
    one, two, free = priced(prices, "int8:3,target", "int8:3,target@with=pearl", "int8:3,target@with=ahead")
    assert "clock" not in one and two["clock"] == free["clock"] == "reckoned"
    assert two["ms"] < one["ms"] and two["ms"] * two["speedup"] == pytest.approx(one["ms"] * one["speedup"])


def test_where_the_profile_was_measured_is_said_and_a_preset_without_one_names_the_cure(prices: Prices) -> None:
    about = prices.answer(Priced("smollm2", ("target",), "cpu"))["about"]
    assert about["source"] == "shipped" and about["machine"] and about["recorded"]
    sampled = prices.answer(Priced("smollm2", (STACK,), "cpu", 0.8))["prices"]
    assert sampled != priced(prices, STACK)
    none = prices.answer(Priced("toy", ("target",)))
    assert none["about"] is None and "calibrate --preset toy" in none["prices"][0]["reason"]


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        {"preset": "smollm2"},
        {"preset": "smollm2", "stacks": []},
        {"preset": "smollm2", "stacks": ["target"] * (MOST + 1)},
        {"preset": "smollm2", "stacks": ["x" * 401]},
        {"preset": "nobody", "stacks": ["target"]},
        {"preset": "smollm2", "stacks": ["target"], "device": "/etc"},
        {"preset": "smollm2", "stacks": ["target"], "temperature": float("nan")},
    ],
)
def test_a_question_out_of_bounds_is_refused(wrong: Any) -> None:
    with pytest.raises(PlannerError):
        parse(wrong)


def rounded(ms: float) -> str:
    """Three significant digits with their zeros, as the Planner and the tower write them."""
    return f"{ms:#.3g}".rstrip(".")


def cells(page: Any) -> list[list[str]]:
    rows = page.locator(".hx-forecast tr").all()[1:]
    return [[cell.inner_text() for cell in row.locator("td").all()] for row in rows]


def predicted(page: Any, price: dict[str, Any]) -> None:
    """Waits until the tower says this price."""
    says = (
        "(wanted) => [...document.querySelectorAll('.hx-forecast td:nth-child(2)')]"
        ".map((x) => x.textContent).join() === wanted.join()"
    )
    page.wait_for_function(says, arg=[rounded(price["ms"]), f"{price['speedup']:.2f}\u00d7"])


def test_the_tower_predicts_a_changed_stack_and_what_each_added_level_would_gain(
    page: Any, shipped: str, prices: Prices
) -> None:
    recording = ASSETS / "traces" / "01-code.jsonl.gz"
    events = tracefile.read(recording)
    speed = measure(events)["tokens_per_s"]
    header = next(e for e in events if isinstance(e, Header))
    assert header.stack == STACK and {Footer, Baseline} <= {type(event) for event in events}
    page.goto(f"{shipped}/?recording=01-code&device=cpu")
    page.wait_for_selector(".hx-flow .hx-tok")
    (now,) = priced(prices, STACK)
    predicted(page, now)
    (_, ms, off), (_, times, apart) = cells(page)
    assert ms == rounded(1000 / speed) and times.endswith("\u00d7")
    note = page.locator(".hx-forecast-note").inner_text()
    assert "shipped profile, measured on" in note
    if header.machine == prices.answer(Priced("smollm2", ("target",), "cpu"))["about"]["machine"]:
        error = f"{100 * (now['ms'] / (1000 / speed) - 1):+.0f}\u00a0%".replace("-", "\u2212")
        assert off == error and apart.endswith("%")
    else:  # this machine is more like another one whose profile is shipped
        assert off == apart == "\u2013" and "on another machine" in note
    page.get_by_role("button", name="T, the block length of 8-bit copy: one more").click()
    (more,) = priced(prices, "ngram:3,int8:7,target")
    predicted(page, more)
    assert [row[1] for row in cells(page)] == ["\u2013", "\u2013"]  # the run shown is of another stack
    page.get_by_text("add a level").click()
    (added,) = priced(prices, "ngram:3,nano:3,int8:7,target")
    gain = f"{more['speedup']:.2f}\u00d7 \u2192 {added['speedup']:.2f}\u00d7 predicted"
    option = page.get_by_role("button", name=re.compile("^small draft"))
    option.get_by_text(gain).wait_for()
    assert "A trained one- or two-layer draft" in option.inner_text()
    page.get_by_role("button", name="settings").click()
    page.get_by_label("auto: re-plan while generating").check()
    for place in (".hx-unfold-prediction", ".hx-forecast-note"):  # the line that is always there, and below it
        page.locator(place, has_text="No prediction: Auto changes levels").wait_for()


@pytest.mark.everything
def test_what_cannot_be_priced_is_named_in_a_sentence_with_the_reason_and_no_table_stands_there(
    page: Any, shipped: str, prices: Prices
) -> None:
    page.goto(f"{shipped}/?recording=14-del&device=cpu")
    page.wait_for_selector(".hx-flow .hx-tok")
    note, table = page.locator(".hx-forecast-note"), page.locator(".hx-forecast table")
    for place in (".hx-unfold-prediction", ".hx-forecast-note"):
        page.locator(place, has_text="No prediction: exit:4@at=8@policy=del is not in this profile").wait_for()
    assert table.is_hidden()
    speed = measure(tracefile.read(ASSETS / "traces" / "14-del.jsonl.gz"))["tokens_per_s"]
    assert f"Measured: {rounded(1000 / speed)} ms a token, " in note.inner_text()
    assert "; its levels are" not in note.inner_text() and "; its levels are" in note.get_attribute("title")
    for made in page.locator(".hx-stack-pick option").evaluate_all("(all) => all.map((x) => x.value).filter(Boolean)"):
        page.locator(".hx-stack-pick").select_option(made)
        page.wait_for_function("() => !document.querySelector('.hx-forecast-note').textContent.startsWith('asking')")
        said = note.inner_text()
        assert said.startswith("No prediction: ") == table.is_hidden(), made
        assert said.startswith(("No prediction: ", "By the ", "The run ")), made


@pytest.mark.everything
def test_where_one_token_alone_is_kept_the_greedy_profile_is_asked_for(page: Any, shipped: str, prices: Prices) -> None:
    page.goto(f"{shipped}/?recording=01-code&device=cpu&temperature=0.8&top_k=1")
    page.wait_for_selector(".hx-flow .hx-tok")
    (greedy,) = priced(prices, STACK)
    predicted(page, greedy)


@pytest.mark.everything
def test_the_plan_that_the_planner_sends_is_predicted_alike(page: Any, shipped: str) -> None:
    page.goto(f"{shipped}/?tab=planner&data=plans&device=cpu")
    page.wait_for_selector(".hx-planner .hx-plan-headline:not(:empty)")
    ms, times = (x.inner_text() for x in page.locator(".hx-plan-figures dd").all()[:2])
    page.locator(".hx-plan-best").get_by_role("button", name="Use this stack").click()
    drawn(page)
    page.wait_for_function(
        "(ms) => document.querySelector('.hx-forecast td:nth-child(2)').textContent === ms", arg=ms.removesuffix(" ms")
    )
    assert cells(page)[1][0] == times
