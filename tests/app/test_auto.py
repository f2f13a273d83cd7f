"""The switch "auto": asked for on the page, planned on the server, shown floor by floor."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pagekit import drawn, launched, slowed

from app.kit.static import ASSETS
from app.serve.engine import Loader, stream
from app.serve.line.known_runs import Run
from app.serve.settings import parse
from hsd_core.core.events import Plan
from hsd_core.pipeline import Pipeline
from hsd_core.theory import Costs, Profile, ProfileLevel
from hsd_core.trace import file as trace_file

STACK = "table:2@id=order1,table:4@id=order3,table@id=order6"
NAMES = ("order1", "order3", "order6")
# Far from the truth: order1 is said to be nearly as good as order6, so the outcomes must change the plan.
PROFILE = Profile(
    tuple(
        ProfileLevel(n, Costs((1,), (ms,)), spec=f"table@id={n}") for n, ms in zip(NAMES, (1.0, 3.0, 12.0), strict=True)
    ),
    ((1.0, 0.9, 0.95), (0.0, 1.0, 0.9), (0.0, 0.0, 1.0)),
    max_block=8,
)


class Measured(Pipeline):
    def profile(self, temperature: float = 0.0) -> Profile:
        return PROFILE


class Unmeasured(Pipeline):
    def profile(self, temperature: float = 0.0) -> None:
        return None


def asked(**more: Any) -> Any:
    given = {"run": "a" * 32, "prompt": "The tower of levels ", "stack": STACK, "preset": "toy", "baseline": False}
    return parse({**given, "max_new_tokens": 120, **more})


def whole(request: Any, run: Run | None = None) -> dict[str, Any]:
    """All records of a run."""
    payloads = stream(Loader(Measured), request, run or Run("a" * 32))
    return {"ev": [record for payload in payloads for record in payload["ev"]]}


def test_a_run_is_planned_anew_only_where_it_was_asked_for() -> None:
    assert not asked().replan and not asked(replan="yes").replan and asked(replan=True).replan
    run = Run("a" * 32)
    last = whole(asked(replan=True), run)
    plans = [e for e in last["ev"] if e["event"] == "plan"]
    assert len(plans) > 1 and plans[0]["round"] == 0
    assert last["ev"][0]["replan"]
    last = whole(asked())
    assert not any(e["event"] == "plan" for e in last["ev"])


def test_without_a_profile_the_error_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    *_, last = stream(Loader(Unmeasured), asked(replan=True, temperature=0.5), Run("a" * 32))
    assert last["status"]["mode"] == "error"
    assert "python -m hsd_core calibrate --preset toy" in last["status"]["text"]


@pytest.fixture(scope="module")
def auto_site(recordings: Path) -> Iterator[str]:
    with launched(slowed(Measured, 0.002), traces=recordings) as address:
        yield address


@pytest.mark.everything
def test_the_tower_shows_which_floors_are_in_the_plan_and_why(auto_site: str, page: Any) -> None:
    query = f"preset=toy&stack={STACK}&prompt=The+tower+of+levels+&replan=1&max_new_tokens=120&baseline=0"
    page.goto(f"{auto_site}/?{query}")
    page.wait_for_selector(".hx-floor")
    page.get_by_role("button", name="Generate").click()
    page.wait_for_function("document.querySelector('.hx-status').textContent.includes('auto')")
    page.wait_for_function("document.querySelector('.hx-go').textContent === 'Generate'")
    page.get_by_role("button", name="To the end").click()
    note = page.locator(".hx-tower-note").first
    assert re.match(r"Auto, from round [1-9]\d*: .* instead of ", note.inner_text())
    words = page.locator(".hx-floor-name small").all_inner_texts()
    assert len(words) == 3 and all("in the plan" in word for word in words)
    resting = page.locator(".hx-floor.hx-resting").count()
    assert words.count("not in the plan") == resting == page.locator(".hx-lane-name.hx-resting").count() > 0
    origin = page.locator(".hx-tower-origin")
    assert origin.inner_text() == "Auto. Profile measured on the machine of this run."
    page.get_by_role("button", name="To the start").click()
    page.wait_for_function("document.querySelector('.hx-tower-note').textContent.startsWith('Auto, from round 1:')")
    assert "the profile's best plan" in note.inner_text()


@pytest.mark.everything
def test_auto_is_a_ready_made_stack_and_a_switch_and_says_what_it_would_plan_with(auto_site: str, page: Any) -> None:
    page.goto(f"{auto_site}/?preset=smollm2")
    page.wait_for_selector(".hx-floor")
    origin = page.locator(".hx-tower-origin")
    assert not origin.is_visible()
    stacks = page.get_by_label("ready-made stacks")
    stacks.select_option("auto")
    page.wait_for_function("document.querySelector('.hx-tower-origin').textContent.includes('rofile ')")
    assert "replan=1" in page.url and page.locator(".hx-floor").count() == 4 and stacks.input_value() == "auto"
    said = origin.inner_text()
    assert "shipped with the program" in said or "measured on the machine of this run" in said
    assert ("shipped" in said) == ("python -m hsd_core calibrate --preset smollm2" in said)
    stacks.select_option("lookup")
    page.wait_for_function("document.querySelector('.hx-tower-origin').hidden")
    assert "replan=1" not in page.url and page.locator(".hx-floor").count() == 2 and stacks.input_value() == "lookup"
    page.get_by_role("button", name="one more").first.click()
    assert stacks.input_value() == ""
    page.get_by_role("button", name="settings", exact=True).click()
    page.get_by_label("auto: re-plan while generating").check()
    page.wait_for_function("location.search.includes('replan=1')")


@pytest.mark.everything
def test_a_round_has_one_number_wherever_it_is_named(page: Any, shipped: str) -> None:
    """The second plan of the recording: its round is counted as the trace has it, and from 1 by whatever names it."""
    plans = [e.round for e in trace_file.read(ASSETS / "traces/18-auto.jsonl.gz") if isinstance(e, Plan)]
    number = str(plans[1] + 1)
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{shipped}/?recording=18-auto&at={number}.1")
    said = f"Auto, from round {number}:"
    page.wait_for_function("(said) => document.querySelector('.hx-tower-note').textContent.startsWith(said)", arg=said)
    assert f"Round {number}:" in page.locator(".hx-caption").inner_text()
    for _ in range(9):
        if "commit" in page.locator(".hx-caption").inner_text():
            break
        page.get_by_role("button", name="One round forward; stops at each rejection").click()
        drawn(page)
    assert page.locator(".hx-transport-clock").inner_text().startswith(f"round {number}\u2009/")
    page.locator(".hx-flow .hx-tok").last.click()
    page.locator(".hx-card-anatomy").wait_for()
    assert page.locator(".hx-card-anatomy").inner_text() == f"Anatomy of round {number}"
    assert number == page.locator(".hx-card-facts dt", has_text="round").locator("+ dd").inner_text().split()[0].rstrip(
        ",:"
    )
    page.locator(".hx-card-anatomy").click()
    page.locator(".hx-anatomy").wait_for()
    assert page.locator(".hx-anatomy h2").inner_text().startswith(f"Anatomy of round {number} of ")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Databases").click()
    assert f"round {number} of" in page.locator(".hx-databases").inner_text()
