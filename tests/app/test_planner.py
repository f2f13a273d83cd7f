"""The Planner tab in a browser, on a profile that is made up and says so: shown, edited, refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest
from pagekit import launched

from app.kit.static import ASSETS
from app.planner import desk
from app.planner.answer import answer, planned
from app.planner.figures.ink import Ink
from app.planner.figures.validation import validation_figure
from app.planner.play import WAITING, Simulator
from app.planner.profiles.plan_request import MAX_LEVELS, PlannerError, look, parse, read
from app.planner.profiles.sources import Sources
from app.planner.profiles.turn import turned
from app.planner.profiles.validations import measured_from as from_file
from app.planner.profiles.validations import nearest
from app.planner.words import shape_said
from hsd_core.pipeline import Pipeline
from hsd_core.theory import Costs, Planner, Profile, ProfileLevel, profile_from
from hsd_core.theory.profiles.kept import digest

HOSTILE = "<img src=x onerror=window.PWNED=1>"
STEM = "toy-cpu"


def made_up() -> dict[str, Any]:
    """Three tables of the toy preset with costs and acceptances that nobody measured."""

    def costs(first: float, more: float) -> dict[str, float]:
        return {str(n): first + more * (n - 1) for n in (1, 2, 4, 8, 16)}

    names = ("order1", "order3", "target")
    levels: list[dict[str, Any]] = [
        {"name": name, "cost_ms": costs(first, more), "spec": f"table@id={spec}"}
        for name, first, more, spec in zip(
            names, (1.0, 4.0, 32.0), (0.02, 0.1, 0.5), ("order1", "order3", "order6"), strict=True
        )
    ]
    levels[2]["interval_ms"] = {n: [0.9 * ms, 1.1 * ms] for n, ms in levels[2]["cost_ms"].items()}
    return {
        "version": 1,
        "levels": levels,
        "acceptance": [[1, 0.8, 0.68], [0, 1, 0.85], [0, 0, 1]],
        "interval": [[None, [0.78, 0.82], [0.65, 0.71]], [None, None, [0.83, 0.87]], [None, None, None]],
        "max_block": 16,
        "by_width": {"order3->target": [0.85, 0.9]},
        "about": {"preset": "toy", "device": "cpu", "simulated": True, "title": f"made up {HOSTILE}"},
    }


MEASURED: dict[str, Any] = {
    "version": 2,
    "about": {"preset": "toy", "device": "cpu", "machine": "made up", "temperature": 0.0},
    "model": {"name": "rows", "said": f"i.i.d. {HOSTILE}", "named": "2026-11-22 09:00 UTC"},
    "sittings": [
        {
            "number": 1,
            "began": "2026-11-22 09:01 UTC",
            "prompts": 12,
            "pace": 0.97,
            "ms": 0.06,
            "worst_ms": 0.09,
            "speed_ups": 0.03,
            "worst_speed_ups": 0.05,
        },
        {
            "number": 2,
            "began": "2026-11-22 12:00 UTC",
            "prompts": 12,
            "pace": 1.14,
            "ms": 0.12,
            "worst_ms": 0.2,
            "speed_ups": 0.05,
            "worst_speed_ups": 0.11,
        },
        {
            "number": None,
            "began": "2 sittings",
            "prompts": 24,
            "pace": 1.05,
            "ms": 0.09,
            "worst_ms": 0.2,
            "speed_ups": 0.04,
            "worst_speed_ups": 0.11,
        },
    ],
    "stacks": [
        {"stack": "target", "predicted_ms": 32.0, "measured_ms": 31.0, "interval": [30.0, 32.5]},
        {
            "stack": "table:4@id=order3,target",
            "predicted_ms": 20.0,
            "measured_ms": 22.0,
            "interval": [21.0, 23.0],
            "predicted_speed_up": 1.6,
            "speed_up": 1.41,
            "picked_by": ["2 levels"],
        },
    ],
}


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


def visit(page: Any, site: str) -> None:
    page.set_default_timeout(60_000)  # plotly's script is large
    page.goto(f"{site}/?tab=planner")
    page.wait_for_selector(".hx-planner .hx-plan-headline:not(:empty)")


def best_stack(page: Any) -> str:
    return str(page.locator(".hx-plan-stack").inner_text())


def changed(page: Any, before: str) -> None:
    page.wait_for_function("before => document.querySelector('.hx-plan-headline').textContent !== before", arg=before)


def headline(page: Any) -> str:
    return str(page.locator(".hx-plan-headline").inner_text())


# ---- the answer


def asked(profile: dict[str, Any] | None = None, **more: Any) -> Any:
    return parse({"profile": profile or made_up(), **more})


def measured(*picked: int) -> Any:
    """What the page makes of the file, with the planner's pick among these rows."""
    rows = [{**row, "picked_by": ["best"] * (i in picked)} for i, row in enumerate(MEASURED["stacks"])]
    return from_file({**MEASURED, "stacks": rows})


def answered(validation: Any = None, **more: Any) -> Any:
    return answer(planned(asked(**more)), look(more), validation)


def test_the_answer_is_the_theory_s_own() -> None:
    given = answered()
    best = Planner(profile_from(made_up())).best().best
    assert given["best"]["blocks"] == list(best.plan.blocks)
    assert given["best"]["ms"] == best.prediction.ms_per_token
    assert given["best"]["stack"] == "table:4@id=order1,table:8@id=order3,target" or given["best"]["runs"]
    assert [len(one["levels"]) for one in given["by_depth"]] == [1, 2, 3]


def test_every_figure_is_one_that_plotly_accepts_and_is_plain_json() -> None:
    shown = answered(measured(), width=390, dark=True)["figures"]
    for name in ("graph", "surface", "validation"):
        go.Figure(shown[name]["figure"])  # refuses an unknown attribute
        assert shown[name]["table"]["rows"], name
    json.dumps(shown, allow_nan=False)


def test_no_mark_of_an_edge_stands_on_the_column_of_a_level_that_the_path_passes_by() -> None:
    graph = answered(levels=[True, False, True])["figures"]["graph"]
    assert graph["paths"][0]["name"].startswith("target"), "an edge that passes by a level"
    marks = graph["figure"]["data"][graph["paths"][0]["curve"]]
    assert len(marks["x"]) == len(graph["paths"])
    stops = graph["figure"]["data"][graph["paths"][0]["curve"] - 1]
    for x, y in zip(marks["x"], marks["y"], strict=True):
        assert abs(x - round(x)) == 0.5, "between two columns"
        assert min(stops["y"]) <= y <= max(stops["y"])


def test_only_the_figures_that_are_asked_for_are_made() -> None:
    assert list(answered(figures=["graph", "none such", 3])["figures"]) == ["graph"]
    assert answered(figures=[])["figures"] == {}
    assert len(answered(figures="graph")["figures"]) == 3


def test_a_tree_is_told_by_where_it_has_a_choice() -> None:
    assert shape_said((1, 1, 1, 1, 1, 2)) == "2 guesses behind each token at depth 6, one at the others"
    assert shape_said((2, 2, 1)) == "2 guesses behind each token at depths 1 and 2, one at the others"
    assert shape_said((3, 2)) == "3 guesses behind each token at depth 1, 2 guesses behind each token at depth 2"
    assert shape_said((1, 1)) == "one at each depth"


def side_by_side() -> dict[str, Any]:
    """The tables under lookups that offer five sequences side by side, in few rows each."""
    given = made_up()
    lookups = {"name": "ngram@guess=5", "cost_ms": {"1": 0.2}, "spec": "ngram@guess=5", "hit_rate": 0.8}
    given["levels"].insert(0, {**lookups, "beside": [1.9, 1.6, 1.4, 1.2]})
    given["acceptance"] = [[1, 0.7, 0.75, 0.75], [0, 1, 0.8, 0.68], [0, 0, 1, 0.85], [0, 0, 0, 1]]
    return {key: value for key, value in given.items() if key not in ("interval", "by_width")}


def test_several_sequences_are_told_with_how_many_tokens_lie_side_by_side() -> None:
    plans = planned(parse({"profile": side_by_side()}))
    said = json.loads(json.dumps(answer(plans, look({}), None)))
    assert said["levels"][0]["kind"] == "ngram" and said["best"]["stack"].startswith("ngram:")
    assert "@guess=5" in said["best"]["stack"]
    two, several = said["why"][0], said["why"][-2]
    assert "deep, up to 5 candidates side by side, 1.9 tokens at the first depth on average, in the time" in two["text"]
    assert "accepts one of those side by side 75 % of the time (it has something to offer 80 %" in two["text"]
    assert several["pays"] == "yes" and several["verdict"].startswith("Several candidates side by side pay: ")
    assert f"yields {plans.found.several.prediction.tokens_per_round:.2f} tokens" in several["text"]
    assert plans.found.single.plan.levels[0] != 0
    for figure in said["figures"].values():
        if figure["figure"]:
            go.Figure(figure["figure"])
    events = Simulator().events({"question": {"profile": side_by_side()}, "plan": said["best"]})
    assert any(event.event == "draft" and event.parents for event in events), "played side by side"


def test_a_validation_says_how_good_the_planners_pick_was() -> None:
    text = validation_figure(measured(0), Ink(dark=False))["text"]
    assert "The planner's pick, target (the star), took 40.9 % more" in text
    shown = validation_figure(measured(1), Ink(dark=False))
    assert shown["text"].endswith("target (the star), was also measured fastest.")
    assert list(shown["figure"]["data"][1]["marker"]["symbol"]) == ["circle", "star"]
    assert "The one predicted fastest was also" in validation_figure(measured(), Ink(dark=False))["text"]


def test_a_validation_says_every_sitting() -> None:
    shown = validation_figure(measured(), Ink(dark=False))
    for said in (
        "2 sittings, none left out: speed-ups were off by 4.0 % in the median and 11.0 % at most",
        "milliseconds by 9.0 % and 20.0 %",
        "fixed 2026-11-22 09:00 UTC, before the first run",
        "09:01 UTC: speed-ups 3.0 %, milliseconds 6.0 %, plain decoding at 97 %",
        "12:00 UTC: speed-ups 5.0 %",
    ):
        assert said in shown["text"]
    assert shown["table"]["rows"][1][-2:] == ["1.60", "1.41"]
    alone = from_file({**MEASURED, "sittings": MEASURED["sittings"][:1]})
    assert "One sitting: speed-ups were off by 3.0 %" in validation_figure(alone, Ink(dark=False))["text"]


def test_a_validation_says_what_earlier_predictions_came_to() -> None:
    before = {
        **MEASURED["sittings"][-1],
        "said": "i.i.d.; costs of passes timed alone",
        "named": "2026-11-01 08:00 UTC",
    }
    text = validation_figure(from_file({**MEASURED, "earlier": [before, {"said": 3}, 7]}), Ink(dark=False))["text"]
    assert text.count("Before that, ") == 1
    assert (
        "Before that, 2 sittings with another prediction (i.i.d.; costs of passes timed alone), fixed 2026-11-01 08:00 "
        "UTC: speed-ups off by 4.0 %, milliseconds by 9.0 %." in text
    )
    assert "Before that" not in validation_figure(measured(), Ink(dark=False))["text"]


@pytest.mark.parametrize(
    "damaged",
    [
        None,
        [],
        {"version": 1, "stacks": MEASURED["stacks"]},
        {"version": 2},
        {"version": 2, "stacks": 3},
        {**MEASURED, "sittings": [{"number": "x", "pace": "fast"}, 7], "stacks": [{"stack": "a"}, 1]},
    ],
)
def test_a_validation_that_cannot_be_read_is_none(damaged: Any) -> None:
    assert (
        "has been checked against its prediction here" in validation_figure(from_file(damaged), Ink(dark=False))["text"]
    )


def on(machine: str, named: str, **about: Any) -> dict[str, Any]:
    """The file of a validation on this machine, named then."""
    return {**MEASURED, "about": {**MEASURED["about"], "machine": machine, **about}, "model": {"named": named}}


def of(machine: str, temperature: float = 0.0, **about: Any) -> Profile:
    """The profile of this machine."""
    data = {**made_up(), "temperature": temperature}
    return profile_from({**data, "about": {**data["about"], "machine": machine, **about}})


def test_a_profile_is_shown_with_its_own_validation_else_with_that_of_the_machine_most_like_its_own() -> None:
    narrow, wide = "EPYC, 2 cores", "EPYC with AVX-512, 2 cores"
    files = [on(narrow, "2026-11-22"), on(wide, "2026-11-21", profile_digest=digest(of(wide, drawn="once")))]
    assert nearest(files, of(narrow))["machine"] == narrow
    assert nearest(files, of(wide))["machine"] == wide
    assert nearest(files, of("Xeon with AVX-512, 8 cores"))["machine"] == wide
    assert nearest(files, of("Ryzen, 8 cores"))["machine"] == narrow
    again = [*files, on(wide, "2026-11-23", max_new_tokens=8)]
    assert nearest(again, of(wide))["named"] == "2026-11-23", "the latest of several"
    assert nearest(again, of(wide, drawn="once"))["named"] == "2026-11-21", "a profile's own before a later one's"


def test_a_validation_of_another_preset_device_or_kind_of_drawing_stands_for_no_profile() -> None:
    files = [on("EPYC", "2026-11-22")]
    assert nearest(files, of("EPYC"))["stacks"]
    assert nearest(files, of("EPYC", preset="smollm2")) == {}
    assert nearest(files, of("EPYC", preset=None)) == {}
    assert nearest(files, of("EPYC", device="cuda")) == {}
    assert nearest(files, of("EPYC", temperature=0.8)) == {}
    assert nearest([None, 3, {"version": 2}, {**files[0], "version": 1}], of("EPYC")) == {}


def test_a_validation_says_on_which_machine_it_was_measured() -> None:
    files = [on("EPYC, 2 cores", "2026-11-22")]
    own = validation_figure(nearest(files, of("EPYC, 2 cores")), Ink(dark=False))["text"]
    assert own.startswith("2 stacks on prompts that were not used for tuning, measured on EPYC, 2 cores. ")
    other = validation_figure(nearest(files, of("Xeon, 8 cores")), Ink(dark=False))["text"]
    assert "on a different machine from this profile's (EPYC, 2 cores, not Xeon, 8 cores), with that machine's" in other


def test_every_shipped_profile_of_greedy_runs_is_drawn_with_the_validation_of_its_machine() -> None:
    """As the page asks: the numbers have been through a browser, which writes 1.0 as 1."""
    files = [json.loads(path.read_text("utf-8")) for path in (ASSETS / "profiles").glob("*-validation.json")]
    for path in sorted((ASSETS / "profiles").glob("smollm2-cpu*.json")):
        if path.stem.endswith("-validation"):
            continue
        profile = read(json.loads(json.dumps(_through_a_browser(json.loads(path.read_text("utf-8"))))))
        found = nearest(files, profile)
        if profile.temperature:
            assert found == {}, "those runs were greedy"
        else:
            assert found["machine"] == profile.about["machine"] and not found["elsewhere"]
            named = {file["about"]["profile_digest"] for file in files}
            assert digest(profile) in named, path
    several = nearest(files, read(json.loads((ASSETS / "profiles" / "smollm2-cpu-avx512.json").read_text("utf-8"))))
    assert any("@guess=" in row["stack"] for row in several["stacks"])
    assert several["earlier"], "the validation of trees"


def _through_a_browser(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _through_a_browser(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_through_a_browser(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def test_what_the_page_says_of_other_costs_is_what_the_theory_says() -> None:
    def gain(costs: tuple[float, ...], a01: float, a12: float, a02: float) -> float:
        levels = tuple(ProfileLevel(str(i), Costs.constant(c)) for i, c in enumerate(costs))
        by_depth = Planner(Profile(levels, ((1, a01, a02), (0, 1, a12), (0, 0, 1)), 32)).best().by_depth
        return by_depth[1].prediction.ms_per_token / by_depth[2].prediction.ms_per_token

    assert gain((1, 4, 32), 0.8, 0.85, 0.68) == pytest.approx(1.24, abs=0.005)
    assert 1 / gain((1, 8, 32), 0.8, 0.85, 0.75) == pytest.approx(1.09, abs=0.005)


def test_the_sliders_turn_the_profile_and_nothing_else() -> None:
    profile = turned(asked(rejections=2.0, cost={"level": "order3", "factor": 3.0}, max_block=5))
    assert profile.acceptance[0][2] == pytest.approx(1 - 2 * 0.32)
    assert profile.levels[1].cost(1) == pytest.approx(12.0)
    assert profile.levels[2].cost(1) == pytest.approx(32.0)
    assert profile.max_block == 5
    fewer = turned(asked(levels=[False, True, True]))
    assert fewer.names == ("order3", "target")


def test_a_source_opens_with_its_coolest_profile(tmp_path: Path) -> None:
    for name, temperature in (("toy-cpu-t10", 10.0), ("toy-cpu-t2", 2.0), ("toy-cpu", 0.0)):
        (tmp_path / f"{name}.json").write_text(json.dumps({**made_up(), "temperature": temperature}), encoding="utf-8")
    (shipped,) = (source for source in Sources(tmp_path, list).listing()["sources"] if source["profiles"])
    assert [profile.get("temperature", 0.0) for profile in shipped["profiles"]] == [0.0, 2.0, 10.0]


def test_the_figures_of_a_question_are_drawn_from_the_plans_of_its_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    asked_for: list[Any] = []
    monkeypatch.setattr(desk, "planned", lambda asked, check: asked_for.append(asked) or planned(asked, check))
    some = desk.Desk(Sources(ASSETS / "profiles", list))

    def work(rejections: float, **drawn: Any) -> Any:
        return json.loads(some.work(json.dumps({"profile": made_up(), "rejections": rejections}), look(drawn)))

    numbers, drawn = work(1.35, figures=[]), work(1.35, figures=["graph"], dark=True, width=390)
    assert len(asked_for) == 1
    assert list(numbers["figures"]) == [] and list(drawn["figures"]) == ["graph"]
    assert drawn["best"] == numbers["best"]
    other = work(2.0, figures=[])
    assert len(asked_for) == 2 and other["best"] != numbers["best"]


def test_only_the_target_left_is_plain_decoding_and_still_an_answer() -> None:
    given = answered(levels=[False, False, True])
    assert given["best"]["levels"] == ["target"]
    assert given["figures"]["graph"]["figure"] is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("max_block", 33),
        ("max_block", float("nan")),
        ("max_block", 10**400),
        ("rejections", -1),
        ("rejections", "1"),
        ("width", True),
        ("cost", {"level": "nobody", "factor": 1}),
        ("cost", {"level": "order1", "factor": 1e9}),
    ],
)
def test_sliders_beyond_their_ends_are_refused_by_name(field: str, value: Any) -> None:
    with pytest.raises(PlannerError, match=field):
        look({field: value}) if field == "width" else asked(**{field: value})


@pytest.mark.parametrize(
    "change",
    [
        {"round_ms": 1e308},
        {"levels": [{"name": "a", "cost_ms": {"1": 5e-324}}, {"name": "b", "cost_ms": {"1": 1.0}}]},
        {"levels": [{"name": "a->b", "cost_ms": {"1": 1.0}}, {"name": "b", "cost_ms": {"1": 1.0}}]},
        {"by_rule": {"block": [[1, 0.5], [0, 1]], "greedy": [[1, 0.5], [0, 1]]}},
    ],
)
def test_numbers_that_no_page_could_show_are_refused(change: dict[str, Any]) -> None:
    whole = {"levels": [{"name": n, "cost_ms": {"1": 1.0}} for n in "ab"], "acceptance": [[1, 0.5], [0, 1]], **change}
    with pytest.raises(PlannerError):
        read(whole)


def test_more_simulations_than_may_wait_are_sent_away_at_once() -> None:
    simulator = Simulator()
    question = {"profile": made_up()}
    asked = {"question": question, "plan": {"levels": [made_up()["levels"][-1]["name"]], "blocks": []}}
    with ExitStack() as held:
        for _ in range(WAITING + 1):
            held.enter_context(simulator._turns._place(""))
        with pytest.raises(PlannerError, match="others are simulating"):
            simulator.events(asked)
    assert simulator.events(asked)


def test_a_profile_without_bounds_is_refused_before_any_work() -> None:
    many = made_up()
    many["levels"] = [{"name": str(i), "cost_ms": {"1": 1}} for i in range(MAX_LEVELS + 1)]
    rows = copy.deepcopy(made_up())
    rows["levels"][0]["cost_ms"] = {str(n): 1.0 for n in range(1, 200)}
    deep: Any = []
    for _ in range(500):
        deep = [deep]
    nested = {**made_up(), "about": {"x": deep}}
    huge = copy.deepcopy(made_up())
    huge["levels"][0]["cost_ms"]["1"] = 10**400
    wide = {**made_up(), "by_width": {"order3->target": [0.9] * 200}}
    for profile in (many, rows, nested, huge, wide, None, [], "profile"):
        with pytest.raises(PlannerError):
            read(profile)


def test_unreadable_profiles_are_listed_with_their_reason(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    (tmp_path / "wrong.json").write_text('{"levels": [], "acceptance": []}', encoding="utf-8")
    listed = Sources(tmp_path, list).listing()["sources"]
    assert len(listed) == 2
    assert all(source["reason"] and not source["profiles"] for source in listed)


# ---- the tab


def test_the_planners_tab_costs_nothing_until_it_is_opened(page: Any, planner_site: str) -> None:
    asked_for: list[str] = []
    page.on("request", lambda request: asked_for.append(request.url))
    page.goto(planner_site)
    page.wait_for_selector(".hx-tower")
    # The tower's own prediction asks for prices; the tab's scripts, styles and profiles are not fetched.
    files = [
        url
        for url in asked_for
        if "/hx/" in url and not url.partition("?")[0].endswith(("/planner/price", "/planner/faults"))
    ]
    assert not any("planner" in url or "plotly" in url for url in files)
    page.get_by_role("tab", name="Planner").click()
    page.wait_for_selector(".hx-plan-headline:not(:empty)")


def test_made_up_numbers_are_called_simulated_and_names_stay_text(page: Any, planner_site: str) -> None:
    visit(page, planner_site)
    assert page.locator(".hx-plan-kind").inner_text().startswith("simulated")
    assert HOSTILE in page.locator(".hx-plan-source").inner_text()
    assert page.evaluate("window.PWNED") is None


def test_an_edit_is_marked_answered_and_reset_to_where_it_came_from(page: Any, planner_site: str) -> None:
    visit(page, planner_site)
    before, stack = headline(page), best_stack(page)
    cell = page.get_by_label("acceptance of order3 by target")
    cell.fill("0.2")
    changed(page, before)
    assert cell.locator("xpath=..").get_attribute("data-edited") == "true"
    assert page.locator(".hx-plan-changed").is_visible()
    page.get_by_role("button", name="How often each accepts another's token: reset to assumed").click()
    page.wait_for_function("stack => document.querySelector('.hx-plan-stack').textContent === stack", arg=stack)
    assert page.get_by_label("acceptance of order3 by target").input_value() == "0.85"
    assert page.locator(".hx-plan-changed").is_hidden()


def test_a_number_that_cannot_be_is_said_beside_its_table_and_changes_nothing(page: Any, planner_site: str) -> None:
    visit(page, planner_site)
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


def test_a_cost_that_is_cleared_lies_on_the_line_again(page: Any, planner_site: str) -> None:
    visit(page, planner_site)
    cell = page.get_by_label("target: ms for 8 rows")
    cell.fill("")
    assert float(cell.get_attribute("placeholder")) == pytest.approx(35.5, abs=0.1)
    assert cell.get_attribute("aria-invalid") == "false"


def test_a_slider_by_keyboard_changes_the_plan(page: Any, planner_site: str) -> None:
    visit(page, planner_site)
    before = headline(page)
    slider = page.get_by_role("slider", name="longest block")
    slider.focus()
    slider.press("Home")
    changed(page, before)
    assert slider.get_attribute("aria-valuetext") == "1 token"
    assert ":1" in best_stack(page)


def test_a_level_that_is_not_allowed_is_in_no_plan(page: Any, planner_site: str) -> None:
    visit(page, planner_site)
    before = headline(page)
    page.locator(".hx-plan-allowed").get_by_label("order1").uncheck()
    changed(page, before)
    assert "order1" not in page.locator(".hx-plan-depths").first.inner_text()


def test_each_level_of_the_plan_is_as_wide_as_its_share_of_the_time(page: Any, planner_site: str) -> None:
    visit(page, planner_site)
    page.wait_for_function("!document.querySelector('.hx-plan-scale').getAnimations({subtree: true}).length")
    widths = [part.bounding_box()["width"] for part in page.locator(".hx-plan-scale i").all()]
    said = [text.split()[-2] for text in page.locator(".hx-plan-tile").all_inner_texts()]
    for width, share in zip(widths, said, strict=True):
        assert abs(100 * width / sum(widths) - float(share.strip("<"))) < 0.6, (widths, said)


def test_every_plot_is_drawn_from_our_server_and_has_its_table(page: Any, planner_site: str) -> None:
    visit(page, planner_site)
    for name in ("graph", "surface", "validation"):
        panel = page.locator(f".hx-plot-{name}")
        panel.scroll_into_view_if_needed()
        panel.locator(".hx-plot .main-svg").first.wait_for()
        panel.get_by_text("as a table").click()
        assert panel.locator(".hx-figure-data tbody tr").count() >= 2


def test_focus_on_an_edge_shows_its_cost_and_gain_in_the_plot(page: Any, planner_site: str) -> None:
    visit(page, planner_site)
    panel = page.locator(".hx-plot-graph")
    panel.scroll_into_view_if_needed()
    panel.locator(".hx-plot .main-svg").first.wait_for()
    edge = panel.locator(".hx-plan-edge").first
    assert "cost" in edge.inner_text() and "gain" in edge.inner_text()
    edge.focus()
    panel.locator(".hoverlayer .hovertext").wait_for()


def test_a_link_brings_the_sliders_back(page: Any, planner_site: str) -> None:
    visit(page, planner_site)
    before = headline(page)
    page.get_by_role("slider", name="rejections, all pairs").fill("1.5")
    page.get_by_role("checkbox", name="order1").uncheck()
    changed(page, before)
    page.wait_for_function("location.search.includes('rejections=1.5') && location.search.includes('without=0')")
    page.wait_for_function("!document.querySelector('.hx-plan-stack').textContent.includes('order1')")
    turned = headline(page)
    page.reload()
    page.wait_for_selector(".hx-planner .hx-plan-headline:not(:empty)")
    assert headline(page) == turned
    assert not page.get_by_role("checkbox", name="order1").is_checked()
    cell = page.get_by_label("acceptance of order3 by target")
    measured = cell.input_value()
    cell.fill("0.4")
    cell.press("Enter")
    page.locator(".hx-plan-changed").wait_for()
    page.get_by_role("button", name="reset all sliders and numbers").click()
    page.wait_for_function("!/rejections|without/.test(location.search)")
    page.locator(".hx-plan-changed").wait_for(state="hidden")
    assert cell.input_value() == measured


def test_a_link_to_a_profile_that_is_not_here_says_so(page: Any, planner_site: str) -> None:
    page.set_default_timeout(60_000)
    page.goto(f"{planner_site}/?tab=planner&profile=measured:elsewhere&rejections=-1&cost=9x2&longest=999")
    page.locator(".hx-planner > .hx-plan-fault:visible").wait_for()
    assert "measured:elsewhere" in page.locator(".hx-planner > .hx-plan-fault").inner_text()
    assert page.get_by_role("slider", name="longest block").input_value() == "16"
    assert page.get_by_role("slider", name="rejections, all pairs").input_value() == "1"


def test_use_this_stack_puts_it_into_the_composer_and_opens_play(page: Any, planner_site: str) -> None:
    visit(page, planner_site)
    stack = best_stack(page)
    page.get_by_role("button", name="Use this stack").click()
    page.wait_for_selector(".hx-tower:visible")
    assert page.get_by_role("tab", name="Explore").get_attribute("aria-selected") == "true"
    page.wait_for_function("stack => new URLSearchParams(location.search).get('stack') === stack", arg=stack)
    assert "preset=toy" in page.url


def test_a_profile_file_is_opened_and_a_wrong_one_is_refused_without_losing_the_tab(
    page: Any, planner_site: str, tmp_path: Path
) -> None:
    visit(page, planner_site)
    before = headline(page)
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


def test_a_profile_with_several_sequences_side_by_side_is_opened_shown_and_played(
    page: Any, planner_site: str, tmp_path: Path
) -> None:
    file = tmp_path / "several.json"
    file.write_text(json.dumps(side_by_side()), encoding="utf-8")
    visit(page, planner_site)
    page.locator('input[type="file"][aria-label="profile file"]').set_input_files(file)
    cell = page.locator(".hx-plan-beside")
    cell.wait_for()
    assert cell.inner_text() == "1.9 · 1.6 · 1.4 …" and "1.4 · 1.2 tokens" in cell.get_attribute("data-tip")
    page.locator(".hx-plan-stack", has_text="@guess=5").wait_for()
    page.locator(".hx-plan-play").click()
    page.locator(".hx-status").get_by_text("simulated: no model ran").wait_for()
    assert "ngram%3A7%40guess%3D5" in page.url
    page.locator(".hx-text").get_by_text("side by side").first.wait_for()


def test_the_download_is_the_edited_profile(page: Any, planner_site: str, tmp_path: Path) -> None:
    visit(page, planner_site)
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


def test_without_any_profile_the_tab_says_how_to_measure_one(page: Any, bare_site: str) -> None:
    page.goto(f"{bare_site}/?tab=planner")
    page.locator(".hx-plan-empty:visible").wait_for()
    assert "python -m hsd_core calibrate" in page.locator(".hx-plan-empty").inner_text()
    assert page.locator(".hx-plan-body").is_hidden()


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1440, 900), (1920, 1080)])
def test_the_tab_is_never_wider_than_the_screen(page: Any, planner_site: str, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    visit(page, planner_site)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


JSON = {"content-type": "application/json"}


def test_a_request_that_is_too_large_or_no_json_gets_an_answer_that_says_so(page: Any, planner_site: str) -> None:
    page.goto(planner_site)
    for body in ("{", "[" * 5000, "x" * 400_000, "null", '{"profile": {"levels": 3}}'):
        reply = page.request.post(f"{planner_site}/hx/planner/answer", data=body.encode(), headers=JSON)
        assert reply.status == 422
        assert reply.json()["error"]
