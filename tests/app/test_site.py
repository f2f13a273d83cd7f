"""The page without a server: it opens from a disk, shows what was recorded and measured, and says what it cannot do."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from app.kit.static import ASSETS
from app.site import figures_ahead, planned_ahead, written
from app.site.written import MOST_MB, write
from app.space import folder as space
from app.tabs.planner import load_map
from hsd_core.cli import main
from hsd_core.core.events import Event, Header
from hsd_core.trace import file as tracefile

AHEAD_MB = 0.56  # is left for what the Planner's answers to all profiles and questions take
FIGURES_MB = 0.24  # and for the figures of all recordings
FEW = {"max_block": (4,), "rejections": (1.0, 2.0), "cost": (1.0,)}
DRAWN = "12-hispec"  # the recording whose figures are there


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page, with the figures of one recording and the answers to a few questions about the profile that it opens
    with."""
    out = tmp_path_factory.mktemp("site") / "page"
    first, asked = dict(list(planned_ahead.profiles().items())[:1]), planned_ahead.questions
    with pytest.MonkeyPatch.context() as few:
        few.setattr(planned_ahead, "profiles", lambda: first)
        few.setattr(planned_ahead, "STOPS", FEW)
        few.setattr(planned_ahead, "questions", lambda profile: list(asked(profile))[:4])  # one of each control
        few.setattr(planned_ahead, "EVERY", len(planned_ahead.AGREEMENTS))
        few.setattr(planned_ahead, "QUESTIONS", [load_map])
        few.setattr(written, "reference", lambda: "")  # see tests/unit/test_reference.py
        few.setattr(figures_ahead, "figures", _figures_of_one(figures_ahead.figures))
        assert main(["site", "--out", str(out)]) == 0
    return out


def _figures_of_one(figures: Callable[[Sequence[Event]], dict[str, Any]]) -> Callable[[Sequence[Event]], Any]:
    one = next(event for event in tracefile.read(ASSETS / "traces" / f"{DRAWN}.jsonl.gz") if isinstance(event, Header))
    return lambda events: figures(events) if one in events else {"parts": [], "value": {}}


@pytest.fixture
def opened(browser: Any, folder: Path) -> Iterator[Any]:
    """A browser's page that fails its test on an error, and on whatever is asked for outside the folder."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page, faults, here = context.new_page(), list[str](), folder.as_uri()
    page.set_default_timeout(90_000)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    inside = (here, "data:", "blob:")
    page.on("request", lambda asked: faults.append(asked.url) if not asked.url.startswith(inside) else None)
    yield page
    context.close()
    assert not faults, faults


def test_it_is_small_and_nothing_of_it_lies_outside_its_folder(folder: Path) -> None:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < (MOST_MB - AHEAD_MB - FIGURES_MB) * 1e6
    assert {path.relative_to(folder).parts[0] for path in files} == {"index.html", "hx"}
    index = (folder / "index.html").read_text(encoding="utf-8")
    assert "'unsafe-eval'" not in index and "http://" not in index and "https://" not in index.split("<body")[0]


@pytest.mark.everything
def test_it_is_written_again_over_itself_but_over_nothing_else(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planned_ahead, "profiles", dict)  # seconds of planning
    monkeypatch.setattr(figures_ahead, "figures", lambda _: {"parts": [], "value": {}})  # and of drawing
    shutil.copytree(folder, tmp_path / "page")
    write(tmp_path / "page")
    here, there = ({path.name for path in (root / "hx").iterdir()} for root in (tmp_path / "page", folder))
    assert here < there, "what was written before is gone, and the rest is there again"
    shutil.rmtree(tmp_path / "page")
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(ValueError, match=r"thesis\.txt.*name an empty folder"):
        write(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_as_a_static_space_it_is_what_the_hub_takes(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space, "write_site", lambda out: shutil.copytree(folder, out, dirs_exist_ok=True))
    assert main(["space", "static", "--out", str(tmp_path / "space")]) == 0
    assert (tmp_path / "space" / "README.md").is_file()


def test_from_a_disk_it_tells_the_story_and_leads_to_explore(opened: Any, folder: Path) -> None:
    came = list[Path]()
    opened.on("request", lambda asked: came.append(Path(unquote(urlsplit(asked.url).path))))
    opened.goto(f"{folder.as_uri()}/index.html")
    opened.locator(".hx-story").wait_for()
    opened.keyboard.press("Escape")
    opened.locator(".hx-story").wait_for(state="detached")
    opened.locator(".hx-text .hx-tok").nth(5).wait_for()  # it plays
    assert sum(path.stat().st_size for path in set(came)) < 0.8e6, "what is behind a press or in another tab waits"
    generate = opened.get_by_role("button", name="Generate")
    assert generate.get_attribute("aria-disabled") == "true" or generate.is_disabled()


@pytest.mark.everything
def test_below_explore_are_the_figures_of_the_recording_and_what_the_theory_said(opened: Any, folder: Path) -> None:
    came = list[str]()
    opened.on("request", lambda asked: came.append(asked.url.rpartition("/")[2]))
    opened.emulate_media(reduced_motion="reduce")
    opened.goto(f"{folder.as_uri()}/index.html?recording={DRAWN}&panel=")
    opened.locator(".hx-text .hx-tok").first.wait_for()
    opened.locator(".hx-unfold-prediction", has_text=re.compile(r"Theory said \S+, measured 1\.13×")).wait_for()
    plotly = json.loads(str(opened.locator("#hx-files").text_content()))["lib/plotly.min.js"][0]
    assert plotly not in came, "nobody has looked below yet"
    opened.locator("#figures").scroll_into_view_if_needed()
    opened.locator("#figures .js-plotly-plot .main-svg").nth(2).wait_for()
    assert plotly in came
    assert opened.locator(".hx-figure:visible h2").all_inner_texts() == [
        "Acceptance by position in the block",
        "Where the time went",
        "Tokens against time",
        "At which layer did the model know?",
    ]
    opened.locator("#figures").get_by_text("as a table").nth(1).click()
    assert "between levels" in opened.locator("#figures table").nth(1).inner_text()
    opened.goto(f"{folder.as_uri()}/index.html?recording=01-code&panel=prediction+stack")
    opened.locator(".hx-unfold-prediction", has_text="Theory said 1.71×, measured 2.04×").wait_for()
    assert "Without 8-bit copy" in opened.locator(".hx-forecast-worth").inner_text()
    opened.locator(".hx-stack-pick").select_option("lookup")
    opened.locator(".hx-unfold-prediction", has_text="Theory says").wait_for()
    opened.goto(f"{folder.as_uri()}/index.html?recording=38-triforce&panel=prediction")
    opened.locator(".hx-unfold-prediction", has_text=re.compile(r"Theory said \S+ at 3,217 tokens of text")).wait_for()
    assert "Without view of the cache" in opened.locator(".hx-forecast-worth").inner_text()


@pytest.mark.everything
def test_what_needs_an_engine_is_left_out_or_says_so(opened: Any, folder: Path) -> None:
    opened.goto(f"{folder.as_uri()}/index.html?recording=01-code&at=6.4&panel=controls")
    opened.locator(".hx-text .hx-tok").first.wait_for()
    opened.get_by_role("button", name="Share", exact=True).click()
    link = opened.locator(".hx-share").get_by_role("textbox", name="This moment").input_value()
    assert link == f"{folder.as_uri()}/index.html?recording=01-code&at=6.4"
    titles = opened.locator(".hx-share-row > b").all_inner_texts()
    assert titles == ["This moment", "Embed code", "Card for slides", "As a file"]
    assert not opened.get_by_role("button", name="Code: ").count()
    with opened.expect_download() as saved:
        opened.locator(".hx-share").get_by_role("button", name="Page", exact=True).click()
    assert saved.value.suggested_filename.endswith(".html")
    opened.get_by_role("tab", name="Race").click()
    opened.get_by_role("button", name="Race your own stacks").click()
    assert "start the program: python app.py" in opened.locator(".hx-race-live").inner_text()
    assert not opened.locator(".hx-race-live button").count()
    opened.get_by_role("tab", name="Results").click()
    opened.locator(".hx-more[data-more=here] > summary").click()
    assert "start the program: python app.py" in opened.locator(".hx-res-quick").inner_text()
    assert not opened.locator(".hx-res-quick button").count()


def test_every_tab_shows_what_it_shows_elsewhere_and_links_lead_there(opened: Any, folder: Path) -> None:
    opened.goto(f"{folder.as_uri()}/index.html?tab=results")
    opened.locator("#results h2, #results h3").first.wait_for()
    opened.locator("#results table").first.wait_for(state="attached")
    for name, shown in (
        ("Race", "#race .hx-stage"),
        ("Learn", "#learn .hx-stage"),
        ("Planner", "#planner .hx-stage"),
        ("Atlas", "#atlas .hx-atlas-one"),
    ):
        opened.get_by_role("tab", name=name).click()
        opened.locator(shown).first.wait_for()
        assert f"tab={name.lower()}" in opened.url
    opened.goto(f"{folder.as_uri()}/index.html?recording=12-hispec&at=3.1")
    opened.locator(".hx-text .hx-tok").first.wait_for()
    assert "recording=12-hispec" in opened.url
    opened.goto(f"{folder.as_uri()}/index.html?recording=12-hispec&at=3.1&embed=1")
    opened.locator(".hx-embed-link").wait_for()
    assert opened.locator(".hx-tower").is_hidden() and opened.get_by_role("tab").first.is_hidden()


@pytest.mark.everything
def test_the_planner_shows_all_that_needs_no_engine_and_turns_one_control_at_a_time(opened: Any, folder: Path) -> None:
    opened.goto(f"{folder.as_uri()}/index.html?tab=planner&data=plans,figures,whatif,tables,profile")
    planner = opened.locator("#planner")
    headline = planner.locator(".hx-plan-headline")
    headline.filter(has_text="per token").wait_for()
    before = headline.inner_text()
    planner.locator(".hx-plot-graph .hx-plot").scroll_into_view_if_needed()
    planner.locator(".hx-plot-graph .js-plotly-plot").wait_for()
    assert planner.locator(".hx-plan-tables input").evaluate_all(
        "all => all.length > 50 && all.every((one) => one.readOnly)"
    )
    assert "python app.py" in planner.locator("[data-more=whatif]").inner_text()
    planner.get_by_role("slider", name="rejections").press("ArrowRight")
    opened.wait_for_function(
        "(before) => document.querySelector('#planner .hx-plan-headline').textContent !== before", arg=before
    )
    planner.locator(".hx-plan-allowed input").first.click()
    opened.wait_for_function("() => /without=0/.test(location.search) && !/rejections/.test(location.search)")
    assert planner.locator(".hx-plan-fault").first.is_hidden()
    planner.locator(".hx-plan-play").hover()
    assert planner.locator(".hx-plan-play").get_attribute("aria-disabled") is not None
    planner.get_by_role("button", name="Many requests").click()
    planner.locator(".hx-load[data-ready=true]").wait_for()
    planner.get_by_role("slider", name="Requests at once").press("End")
    planner.locator(".hx-load-answer", has_text="32 requests").wait_for()
    planner.get_by_role("button", name="Doctor").click()
    assert "python -m hsd_core doctor FILE" in planner.locator(".hx-doc").inner_text()
    opened.goto(f"{folder.as_uri()}/index.html?tab=planner&data=lengths")
    opened.locator(".hx-tl[data-ready] tbody tr").nth(1).wait_for()  # two lengths at the least
    opened.goto(f"{folder.as_uri()}/index.html?tab=planner&longest=4&rejections=2")
    planner.locator(".hx-plan-fault", has_text="python app.py").first.wait_for()
