"""What the Planner's server answers: plans and figures, validations, sources; what it refuses."""

from __future__ import annotations

import copy
import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest
from plannerkit import MEASURED, made_up, side_by_side

from app.kit.static import ASSETS
from app.tabs.explore.simulator import WAITING, Simulator
from app.tabs.planner import desk
from app.tabs.planner.answer import answer, planned
from app.tabs.planner.figures.ink import Ink
from app.tabs.planner.figures.validation import validation_figure
from app.tabs.planner.profiles.plan_request import MAX_LEVELS, PlannerError, look, parse, read
from app.tabs.planner.profiles.sources import Sources
from app.tabs.planner.profiles.turn import turned
from app.tabs.planner.profiles.validations import measured_from as from_file
from app.tabs.planner.profiles.validations import nearest
from app.tabs.planner.why import shape_said
from hsd_core.theory import Costs, Planner, Profile, ProfileLevel, profile_from
from hsd_core.theory.profiles.profile_store import digest


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
    engine = best.prediction.ms_per_token - profile_from(made_up()).round_ms / best.prediction.tokens_per_round
    assert sum(one["ms"] for one in given["best"]["shares"]) == pytest.approx(engine)


def test_every_figure_is_one_that_plotly_accepts_and_is_plain_json() -> None:
    shown = answered(measured(), width=390, dark=True)["figures"]
    for name in ("graph", "surface", "validation"):
        go.Figure(shown[name]["figure"])  # refuses an unknown attribute
        assert shown[name]["table"]["rows"], name
    json.dumps(shown, allow_nan=False)


def test_no_mark_of_an_edge_stands_on_the_column_of_a_level_that_the_path_passes_by() -> None:
    graph = answered(levels=[True, False, True])["figures"]["graph"]
    assert graph["paths"][0]["name"].startswith("table of order 6 ←"), "an edge that passes by a level"
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


def test_several_sequences_are_told_with_how_many_tokens_lie_side_by_side() -> None:
    plans = planned(parse({"profile": side_by_side()}))
    said = json.loads(json.dumps(answer(plans, look({}), None)))
    assert said["levels"][0]["kind"] == "ngram" and said["best"]["stack"].startswith("ngram:")
    assert "@guess=5" in said["best"]["stack"]
    two, several = said["why"][0], said["why"][-2]
    assert ", up to 5 candidates side by side, 1.9 tokens at the first depth on average, by " in two["text"]
    assert "accepts one of those side by side 75 % of the time (it has something to offer 80 %" in two["text"]
    assert several["pays"] == "yes" and several["verdict"].startswith("Several candidates side by side pay: ")
    assert f"yields {plans.found.several.prediction.tokens_per_round:.2f} tokens" in several["text"]
    assert plans.found.single.plan.levels[0] != 0
    for figure in said["figures"].values():
        if figure["figure"]:
            go.Figure(figure["figure"])
    events = Simulator().events({"question": {"profile": side_by_side()}, "plan": said["best"]})
    assert any(event.event == "draft" and event.is_tree for event in events), "played side by side"


def test_a_validation_says_how_good_the_planners_pick_was() -> None:
    text = validation_figure(measured(0), Ink(dark=False))["text"]
    assert "The planner's pick, “The model alone” (the star), took 40.9 % more" in text
    shown = validation_figure(measured(1), Ink(dark=False))
    assert shown["text"].endswith("“A table of order 3, then the model” (the star), was also measured fastest.")
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
    assert len(asked_for) == 2 and other["others"] != numbers["others"]


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
