"""A system is one folder: `systems/example/echo`, laid beside the others, is in every part; taken away, in none."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from laid_beside import laid_beside
from pagekit import launched

from app.kit.figures import hues
from hsd_core import grammar as declared
from hsd_core.cli.terminal import letter, text_lines
from hsd_core.core.events import Commit, Footer, Header
from hsd_core.grammar.stack_text import LevelSpec, StackError, bare, format_stack, grammar, level_names, parse
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.presets import catalogue

TEXT = "echo:2@policy=flush@back=3,table@id=order6"


@pytest.fixture
def echo() -> Iterator[None]:
    with laid_beside():
        yield


@pytest.fixture
def site(recordings: Path) -> Iterator[str]:
    """The page of a server that has the kind from its start."""
    with laid_beside(), launched(Pipeline, traces=recordings) as address:
        yield address


@pytest.mark.usefixtures("echo")
def test_it_is_read_and_written_with_a_key_of_its_own() -> None:
    spec = parse(TEXT)[0]
    assert spec == LevelSpec("echo", 2, {"policy": "flush", "back": 3})
    assert format_stack(parse(TEXT)) == TEXT
    assert bare(spec) == LevelSpec("echo", values={"back": 3})
    with pytest.raises(StackError, match="echo: back is '10'; use a whole number from 1 to 9"):
        parse("echo:2@back=10,table")
    with pytest.raises(StackError, match="table: @back means nothing here"):
        parse("echo:2,table@back=2")


@pytest.mark.usefixtures("echo")
def test_it_is_listed_built_run_and_coloured() -> None:
    toy = next(entry for entry in catalogue() if entry["name"] == "toy")
    listed = next(level for level in toy["levels"] if level["name"] == "echo")
    assert (listed["letter"], listed["usable"], listed["default_block"]) == ("Y", True, 3)
    events = list(Pipeline.open("toy").run(TEXT, "The small level", max_new_tokens=20, baseline=True))
    header = events[0]
    assert isinstance(header, Header) and (header.stack, header.levels[0].kind) == (TEXT, "echo")
    assert header.levels[0].params == {"back": 3}
    assert sum(len(e.tokens) for e in events if isinstance(e, Commit)) == 20
    assert any(isinstance(e, Footer) for e in events)
    assert letter(header, 0) == "Y"
    assert "[Y]" in text_lines(events, colour=False) and "\033[38;5;68m" in text_lines(events, colour=True)
    assert [hues.hue("echo", dark) for dark in (False, True)] == ["#336699", "#99CCFF"]


@pytest.mark.browser
@pytest.mark.everything
def test_it_is_in_the_composer_with_its_colour_its_control_and_its_words(page: Any, site: str) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{site}/?preset=toy&stack=table:4@id=order1,table@id=order6&max_new_tokens=12")
    page.wait_for_selector(".hx-stage")
    page.get_by_text("add a level").click()
    page.get_by_role("button", name="echo").click()
    floor = page.locator(".hx-floor").last
    assert floor.locator(".hx-tag").inner_text() == "Y"
    assert floor.locator("b").first.inner_text() == "echo"
    floor.get_by_role("button", name="rule, policy and order").click()
    floor.locator("[data-key^='back']").fill("4")
    page.keyboard.press("Tab")
    page.wait_for_function("location.search.includes('back')")
    stack = parse_qs(urlsplit(page.url).query)["stack"][0]
    assert stack == "echo:3@back=4,table:4@id=order1,table@id=order6"
    hue = "() => getComputedStyle(document.querySelector('.hx-stage')).getPropertyValue('--hue-echo').trim()"
    assert page.evaluate(f"({hue})()") == "#336699"
    page.evaluate("document.body.classList.add('dark')")
    assert page.evaluate(f"({hue})()") == "#99CCFF"
    page.locator("#hx-prompt").fill("The small level")
    page.get_by_role("button", name="Generate").click()
    page.wait_for_function("document.querySelector('.hx-colours')?.textContent.includes('echo')")
    page.wait_for_function("document.querySelector('.hx-go').textContent === 'Generate'")
    swatch = page.locator(".hx-legend-swatch").first
    assert (swatch.inner_text(), swatch.get_attribute("data-line")) == ("Y", "wavy")
    page.goto(f"{site}/?preset=toy&stack=echo:3@back=12,table@id=order6")
    page.wait_for_selector(".hx-floor-reason")
    assert "echo: back is '12'; use a whole number from 1 to 9" in page.locator(".hx-floor-reason").inner_text()


def test_taken_away_it_leaves_no_trace() -> None:
    before = json.dumps([catalogue(), grammar()])
    with laid_beside():
        assert "echo" in level_names() and "echo" in json.dumps([catalogue(), grammar()])
    assert json.dumps([catalogue(), grammar()]) == before and "echo" not in before
    assert "echo" not in level_names() and "back" not in list(declared.keys())
    assert "hsd_core.systems.echo" not in sys.modules
    with pytest.raises(StackError, match="unknown level 'echo'"):
        parse(TEXT)


@pytest.mark.usefixtures("echo")
def test_what_needs_nothing_stands_in_every_preset_and_the_others_where_there_is_what_they_need() -> None:
    listed = {entry["name"]: {level["name"] for level in entry["levels"]} for entry in catalogue()}
    assert all("echo" in levels for levels in listed.values())
    assert listed["toy"] == {"echo", "table"}
    assert listed["smollm2"] >= {"echo", "ngram", "int8", "target"} and "table" not in listed["smollm2"]


@pytest.mark.weights
@pytest.mark.usefixtures("echo")
def test_one_kind_runs_over_tables_and_over_weights() -> None:
    for preset, stack in (("toy", TEXT), ("smollm2", "echo:2@back=3,target")):
        events = list(Pipeline.open(preset).run(stack, "one two three one two three one", max_new_tokens=12))
        assert sum(len(e.tokens) for e in events if isinstance(e, Commit)) == 12
        assert any(isinstance(e, Footer) for e in events)
