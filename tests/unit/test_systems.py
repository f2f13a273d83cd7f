"""The systems of the Atlas: checked files, whose stacks parse, run on tables and are as exact as the files say."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from enumerator import distance, run_distribution, target_distribution
from toys import toy_stack

from app.kit.static import ASSETS
from app.tabs.atlas.our_figures import OurFigures
from app.tabs.atlas.systems import System, Systems, read
from app.tabs.atlas.view import LISTING, first_needed, systems_route
from app.tabs.explore.recordings import Recordings
from app.tabs.results.bundled_results import Bundled
from hsd_core.core.events import Footer, Header
from hsd_core.grammar import kinds, policies
from hsd_core.grammar.stack_text import format_stack, parse, stack_lossless
from hsd_core.measure.bench.prompts import read_stack_lines
from hsd_core.measure.bench.summary import results
from hsd_core.measure.rawfile import read_raw
from hsd_core.measure.tables import OnClock
from hsd_core.models.sampling import Sampling
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.presets import PRESETS
from hsd_core.systems.store.declaration import MAKING, store_path
from hsd_core.trace.checks import check

FOLDER = ASSETS / "systems"
SHIPPED = Systems(FOLDER).found
BUILT = sorted({one.stack: one for one in SHIPPED.values() if one.stack}.items())
LARGEST = 80_000  # bytes of all files: a page without a server holds them
ORDERS = ("order1", "order1", "order3", "order6")  # tables of the preset toy, the target's last
RAW: dict[str, Any] = json.loads((FOLDER / "amusd.json").read_text(encoding="utf-8"))
FIELD = """
    adadecode amusd apd autojudge block-verification calm card cas-spec cats coral cs-drafting del dflash diffuspec
    dovetail draft-and-verify duodecoding dynasd ead eagle eagle-2 eagle-3 easyspec free glide global-resolution
    hierarchy-drafting hispec hsd hsddw hydra jacobi judge kangaroo kl-acceptance layerskip longspec lookahead
    lossless-hsd mcsd medusa ml-specqd mtp optimal-multi-draft p-eagle pearl pipespec polybasic prompt-lookup
    pyramidsd ralmspec rasd reflective rest sam-decoding scylla specdiff specdiff-2 specinfer specrouter
    speculative-decoding spiffy sprinter ssd staged stree suffix svip swift token-intersection token-recycling
    token-timing triforce vocabtrim
"""


def test_every_system_that_is_known_has_a_card(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        found = Systems(FOLDER).found
    assert not caplog.records, "a shipped file is passed over"
    assert set(FIELD.split()) <= set(found) and {path.stem for path in FOLDER.glob("*.json")} == set(found)
    assert sum(path.stat().st_size for path in FOLDER.glob("*.json")) < LARGEST
    papers = [one.paper for one in found.values() if one.paper]
    assert len(set(papers)) == len(papers) and len({one.name for one in found.values()}) == len(found)


def test_no_row_and_no_column_of_the_map_is_empty() -> None:
    fields = System.__annotations__
    assert fields["who_drafts"] == "Drafters" and fields["how_judged"] == "Judges"
    assert {one.who_drafts for one in SHIPPED.values()} == {"lookups", "exits", "heads", "models", "diffusion"}
    judged = {"one by one", "block", "tree", "several levels", "in parallel", "loosely"}
    assert {one.how_judged for one in SHIPPED.values()} == judged
    for name, one in SHIPPED.items():
        assert (one.how_judged == "loosely") == (one.exact is False), (
            f"{name}: loose judges are those that are not exact"
        )


# ---- stacks


def on_tables(text: str) -> str:
    """A stack of the preset toy with the same rules, policies, trees and schedule; each of its levels is a table."""
    heeded = {key.name for key in kinds()["table"].keys} - {"id", "fuse"}  # there are no lookups to merge
    levels = []
    specs = parse(text)
    for spec, order in zip(specs, ORDERS[-len(specs) :], strict=True):
        kept = {name: value for name, value in spec.values.items() if name in heeded}
        if kept.get("policy") not in policies():
            kept.pop("policy", None)  # one that is a kind of its own
        levels.append(replace(spec, name="table", values={**kept, "id": order}))
    return format_stack(levels)


@pytest.mark.parametrize(("text", "system"), BUILT, ids=[text for text, _ in BUILT])
def test_a_stack_runs_on_tables_and_is_as_exact_as_its_card_says(text: str, system: System) -> None:
    events = list(
        Pipeline.open("toy").run(on_tables(text), "The small level", max_new_tokens=16, temperature=1.0, seed=3)
    )
    assert check(events) == []
    header = events[0]
    assert isinstance(header, Header) and any(isinstance(event, Footer) for event in events)
    of_the_target = parse(text)[-1].values.keys() - {key.name for key in kinds()["table"].keys}
    assert header.lossless is system.exact or of_the_target  # keys that a table has not
    assert header.reckoned == (system.how_judged == "in parallel")


@pytest.mark.covering("text")
@pytest.mark.parametrize("text", [text for text, one in BUILT if one.exact])
def test_its_law_is_the_targets(text: str) -> None:
    if not stack_lossless(parse(text), Sampling(1.0)):
        pytest.skip("it has a law of its own, enumerated in tests/systems")
    own = ("lookahead", "suffix")
    if any(spec.name in own or "window" in spec.values or spec.policy == "del" for spec in parse(text)):
        pytest.skip("enumerated with its own levels in tests/exactness")
    levels = [replace(spec, block=min(spec.block or 2, 2)) if not spec.widths else spec for spec in parse(text)[:-1]]
    stack = toy_stack(format_stack([*levels, parse(text)[-1]]), 2, seed=4)
    assert distance(run_distribution(stack, [0], 2), target_distribution(stack, [0], 2)) < 1e-12


# ---- figures of our own


def test_the_stacks_that_are_measured_for_the_cards_are_the_cards_own() -> None:
    asked = set(read_stack_lines(ASSETS / "stacks" / "atlas.txt", reckoned=True).values())
    assert {OnClock.read(one)[0] for one in asked} <= {format_stack(parse(text)) for text, _ in BUILT}


def test_our_figures_are_those_of_the_files_that_a_card_names_and_then_the_recordings() -> None:
    ours = OurFigures(ASSETS / "results", Recordings(ASSETS / "traces"))
    for name, one in SHIPPED.items():
        assert one.recording is None or ours.recorded(one), f"{name}: no recording {one.recording}"
        found = ours.of(one)
        benched = [figure for figure in found if figure["bench"]]
        assert [figure["bench"] for figure in benched] == [row.results for row in one.measured], name
        assert len(found) - len(benched) == (one.recording is not None), f"{name}: what its recording gains is told too"
        for figure, named in zip(benched, one.measured, strict=True):
            report = results(*read_raw(ASSETS / "results" / named.results / "runs.jsonl"))
            (row,) = [row for row in report["stacks"] if row["stack"] == named.stack]
            assert (figure["gain"], figure["low"], figure["high"]) == (row["speed_up"], *row["interval"]), name
    assert [one["prompts"] for one in ours.of(SHIPPED["optimal-multi-draft"])] == [1]


def test_a_stack_has_one_figure_on_its_card_in_lessons_in_findings_and_beside_the_papers() -> None:
    """That of the shipped benchmark with the most prompts, which lessons take too (figures/bench.js); Results' findings
    and the table beside the papers have the same for HSD, HiSpec and Hierarchy Drafting."""
    reports, sources = Bundled(ASSETS / "results").reports, dict[tuple[str, str], str]()
    for report in reports:
        for row in report["results"]["stacks"]:
            sources.setdefault((report["results"]["about"]["preset"], row["stack"]), report["id"])
    for name, one in SHIPPED.items():
        for first in one.measured[:1]:
            preset = one.preset or next(iter(PRESETS))
            assert sources.get((preset, first.stack), first.results) == first.results, name
    of = {name: SHIPPED[name].measured for name in ("hsd", "hispec", "hierarchy-drafting")}
    marked = re.findall(
        r"<!-- results: (\S+)/runs.jsonl speed-ups:(\S+) -->", (ASSETS / "results/findings.md").read_text()
    )
    own = {first.stack: first.results for first, *_ in of.values()}
    told = {stack: folder for folder, stacks in marked for stack in stacks.split(";") if stack in own}
    assert told == {stack: own[stack] for stack in told} and len(told) == 2

    def gain(folder: str, stack: str) -> float:
        found = results(*read_raw(ASSETS / "results" / folder / "runs.jsonl"))["stacks"]
        return next(float(row["speed_up"]) for row in found if row["stack"] == stack)

    expected = {
        "HSD": [gain(of["hsd"][0].results, of["hsd"][0].stack) / gain(of["hsd"][0].results, "int8:8,target")],
        "HiSpec": [
            gain(of["hispec"][0].results, of["hispec"][0].stack) / gain(of["hispec"][0].results, "exit:3@at=8,target")
        ],
        "Hierarchy Drafting": [gain(one.results, one.stack) for one in of["hierarchy-drafting"]],
    }
    table = (ASSETS.parent / "hsd_core/README.md").read_text(encoding="utf-8").partition("## Beside the papers")[2]
    for name, figures in expected.items():
        (ours,) = re.findall(rf"^\| {name} \| .* \| (.*) \|$", table, re.MULTILINE)
        assert re.findall(r"\d\.\d\d", ours) == [f"{figure:.2f}" for figure in figures], name


def test_runs_that_cannot_be_read_are_no_figure(tmp_path: Path) -> None:
    (tmp_path / "study" / "part").mkdir(parents=True)
    (tmp_path / "study" / "part" / "runs.jsonl").write_text('{"kind": "nothing"}\n', encoding="utf-8")
    (tmp_path / "amusd.json").write_text(
        json.dumps({**RAW, "measured": [{"results": "study/part", "stack": "int8:4,target"}]}), "utf-8"
    )
    assert OurFigures(tmp_path, Recordings(tmp_path)).of(read(tmp_path / "amusd.json")) == []


def test_a_card_s_first_figure_is_of_its_own_stack_and_is_shown_wherever_that_was_measured() -> None:
    measured = {
        (about["preset"], format_stack(parse(OnClock.read(text).stack)))
        for about, _ in (read_raw(path) for path in (ASSETS / "results").rglob("runs.jsonl"))
        for text in about["stacks"]
    }
    of_others, left_out = set(), set()
    for name, one in SHIPPED.items():
        own = one.stack and format_stack(parse(one.stack))
        if not one.measured:
            left_out |= {name} if (one.preset, own) in measured else set()
        elif format_stack(parse(OnClock.read(one.measured[0].stack).stack)) != own:
            of_others.add(name)
    assert of_others == {"eagle"} and SHIPPED["eagle"].here.startswith("Figures and recording are those of its chain")
    assert not left_out


def test_the_best_that_a_paper_says_is_called_so_and_over_what_it_is_named() -> None:
    best = "adadecode card coral duodecoding easyspec kangaroo layerskip specdiff pyramidsd dynasd triforce pearl hsd"
    for name in best.split():
        assert (headline := SHIPPED[name].headline) and headline.figures[0].up_to, name
    over = {name: [x.over for x in one.headline.figures] for name, one in SHIPPED.items() if one.headline}
    assert over["pyramidsd"] == ["speculative decoding with one draft"]
    assert over["hispec"] == ["single-layer speculation"] * 2


def test_a_figure_of_levels_that_work_at_the_same_time_names_its_clock(tmp_path: Path) -> None:
    folder = "smollm2-epyc-milan"
    report = json.loads((ASSETS / "results" / folder / "results.json").read_text(encoding="utf-8"))
    row = {**report["stacks"][0], "stack": "int8:4,target@with=ahead (reckoned)", "speed_up": 1.25}
    (tmp_path / folder).mkdir()
    text = json.dumps({**report, "stacks": [row]})
    (tmp_path / folder / "results.json").write_text(text, encoding="utf-8")
    (tmp_path / "amusd.json").write_text(
        json.dumps({**RAW, "measured": [{"results": folder, "stack": row["stack"]}]}), "utf-8"
    )
    (found,) = OurFigures(tmp_path, Recordings(tmp_path)).of(read(tmp_path / "amusd.json"))
    assert (found["gain"], found["clock"], found["stack"]) == (1.25, "reckoned", "int8:4,target@with=ahead")


def test_where_nothing_was_measured_there_is_no_figure(tmp_path: Path) -> None:
    ours = OurFigures(tmp_path, Recordings(tmp_path))
    assert not any(ours.of(one) for one in SHIPPED.values())
    assert not any(ours.recorded(one) for one in SHIPPED.values())


# ---- files that are none

GOOD: dict[str, Any] = json.loads((FOLDER / "pearl.json").read_text(encoding="utf-8"))
WRONG = [
    ({"year": "soon"}, "year"),
    ({"who_drafts": "magic"}, "who_drafts"),
    ({"paper": "2408"}, "paper"),
    ({"colour": "red"}, "colour"),
    ({"stack": "ngram:4,nobody"}, "stack: unknown level 'nobody'"),
    ({"exact": False}, "exact: the engine says true of its stack"),
    ({"exact": None}, "exact: the engine says true of its stack"),
    ({"stack": "nano:2,target@rule=top@k=2", "exact": True}, "exact: the engine says false of its stack"),
    ({"stack": None, "recording": "01-code"}, "recording: a system without a stack"),
    ({"measured": [{"results": "smollm2-epyc-milan", "stack": "nano:0,target"}]}, "measured.stack"),
    ({"measured": [{"results": "../traces", "stack": "nano:2,target"}]}, "measured"),
    ({"headline": {"figures": [{"says": "2.1×"}], "on": None}}, "headline.figures.0.over"),
    ({"headline": {"figures": [{"says": "5 % faster"}], "on": None}}, "headline.figures.0.over"),
    (
        {"headline": {"figures": [{"says": "up to 2×", "over": "plain decoding"}], "on": None}},
        "headline.figures.0.says",
    ),
    ({"headline": {"figures": [], "on": None}}, "headline.figures"),
    ({"preset": "none"}, "preset: unknown preset"),
    ({"shape": "ngram > chain 4"}, "shape: a drawing ends with the level that decides"),
    ({"shape": "ngram > rope 4 > target"}, "shape: part 2, 'rope 4', is neither a level"),
    ({"shape": "ngram > chain 4 > target | lanes fast"}, "shape: unknown lanes 'fast'"),
    ({"near": {}}, "near"),
]


@pytest.mark.parametrize(("change", "said"), WRONG, ids=[said for _, said in WRONG])
def test_what_is_wrong_is_said_with_its_field_and_the_rest_is_shown(
    change: dict[str, Any], said: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "good.json").write_text(json.dumps({**GOOD, "near": {"wrong": "the other one"}}), encoding="utf-8")
    (tmp_path / "wrong.json").write_text(json.dumps({**GOOD, **change}), encoding="utf-8")
    with pytest.raises(ValueError, match=said.split(":")[0]):
        read(tmp_path / "wrong.json")
    with caplog.at_level(logging.WARNING):
        found = Systems(tmp_path).found
    assert set(found) == {"good"} and not found["good"].near, "nobody is named who is not there"
    assert "wrong.json" in caplog.text and said in caplog.text


def test_what_is_needed_first_is_said_until_it_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HSD_CACHE", str(tmp_path))
    monkeypatch.setattr("app.tabs.atlas.view.is_local", lambda source: source.kind != "hub")
    monkeypatch.setattr("app.tabs.atlas.view.has_cuda", lambda: False)
    monkeypatch.setattr("hsd_core.systems.judge.head_file.FOLDER", tmp_path)
    said = {name: first_needed(one) for name, one in SHIPPED.items()}
    asks = {name for name, one in SHIPPED.items() if one.stack and "knn=store" in one.stack}
    assert asks == {"knn-lm", "ralmspec"}
    for name in asks:
        assert f"in {MAKING} on two cores: python -m hsd_core knn-store --preset smollm2" in said[name]
    assert "A GPU: there is none here." in said["dovetail"]
    assert "Name a drafter that was trained for this target" in said["dflash"]
    assert "has no head for multi-token prediction" in said["mtp"]
    assert "python -m hsd_core judge --preset smollm2" in said["judge"]
    trained = {"dflash", "mtp", "judge", "autojudge"}
    for name, one in SHIPPED.items():
        needs = name in asks | trained or (one.stack is not None and one.preset not in ("smollm2", "blanks"))
        assert bool(said[name]) == needs, name
    (tmp_path / "knn").mkdir()
    store_path(PRESETS["smollm2"].key).touch()
    assert {first_needed(SHIPPED[name]) for name in asks} == {""}


def test_the_page_is_told_anew_once_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    from starlette.applications import Starlette
    from starlette.testclient import TestClient

    needs = ["a store"]
    monkeypatch.setattr("app.tabs.atlas.view.first_needed", lambda system: needs[0] if system.stack else "")
    route = systems_route(FOLDER, ASSETS / "results", Recordings(ASSETS / "traces"))
    client = TestClient(Starlette(routes=[route]))
    for wanted in ("a store", "", ""):
        needs[0] = wanted
        found = client.get(LISTING).json()["systems"]
        assert {one["first"] for one in found if one["stack"]} == {wanted}


def test_a_card_shows_the_gain_of_no_run_that_was_made_up(tmp_path: Path) -> None:
    run = {"name": "r", "reason": "", "speed_up": 1.5, "stack": "target", "machine": "m", "recorded": "d"}
    for clock, gains in (("", [1.5]), ("reckoned", [1.5]), ("simulated", [])):
        told = {**run, "clock": clock, "preset": "toy", "title": "R"}
        found = OurFigures(tmp_path, SimpleNamespace(menu=lambda told=told: [told]))  # type: ignore[arg-type]
        system: Any = SimpleNamespace(recording="r", measured=())
        assert [one["gain"] for one in found.of(system)] == gains
