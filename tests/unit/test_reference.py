"""The reference says all that is declared, each thing behind an anchor, and says the same whenever it is made."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from app import options
from app.page import launch_options
from app.serve.watch.prometheus import Metrics
from app.site.visitor_limits import visitor_limits
from app.workshop.room_routes import new_room
from hsd_core.cli import command_line, main
from hsd_core.core.events import EVENTS
from hsd_core.core.notes import known
from hsd_core.export.reference_page import Entry, Section, anchor, page
from hsd_core.grammar.registry import keys, kinds, policies, rules, schedulers
from hsd_core.stacks.presets import PRESETS
from hsd_core.trace.meters import Lanes, LevelMeter
from hsd_core.trace.metrics import Meter

ROOT = Path(__file__).parents[2]
HEALTH = {
    "waiting": 0,
    "running": 0,
    "places": 1,
    "restarts": 0,
    "memory": 0,
    "engine": {"state": "ok", "restarts": 0, "pid": 0, "memory": 0},
}


class Read(HTMLParser):
    """Anchors, links, and the text behind each anchor up to the next one."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.anchors: list[str] = []
        self.links: list[str] = []
        self.texts: dict[str, str] = {}
        self.tags: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append(tag)
        self.handle_data(" ")
        if id_ := given.get("id"):
            self.anchors.append(id_)
            self.texts[id_] = ""
        self.links += [address for name in ("href", "src") if (address := given.get(name)) is not None]

    def handle_data(self, data: str) -> None:
        if self.anchors:
            self.texts[self.anchors[-1]] += data


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("reference") / "made"
    assert main(["reference", "--out", str(out)]) == 0
    return out.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def read(made: str) -> Read:
    return Read(made)


def options_of(parser: argparse.ArgumentParser, name: str) -> set[str]:
    if complete := getattr(parser, "complete", None):
        complete()
    shown = [action for action in parser._actions if not isinstance(action, argparse._HelpAction)]
    return {anchor("option", name, (action.option_strings or [action.dest])[-1]) for action in shown}


@pytest.mark.everything
def test_it_is_the_same_where_settings_differ(made: str, tmp_path: Path) -> None:
    own = {"COLUMNS": "40", "PYTHONHASHSEED": "1", "HSD_PRESETS": "toy"}
    command = [sys.executable, "-m", "hsd_core", "reference", "--out", str(tmp_path / "there")]
    subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, **own}, capture_output=True)
    assert (tmp_path / "there").read_text(encoding="utf-8") == made


def test_what_a_stack_is_written_with_stands_in_it(read: Read) -> None:
    declared = {
        "level": kinds(),
        "key": keys(),
        "rule": rules(),
        "policy": policies(),
        "scheduler": schedulers(),
        "preset": PRESETS,
    }
    assert {anchor(what, name) for what, all_ in declared.items() for name in all_} <= {*read.anchors}
    for kind in kinds().values():
        assert kind.text.about[:30] in read.texts[anchor("level", kind.name)]


def test_every_command_and_option_stands_in_it(read: Read) -> None:
    _, commands = command_line()
    assert {anchor("command", name) for name in commands} <= {*read.anchors}
    for name, parser in (*commands.items(), ("app", options.command_line())):
        assert options_of(parser, name) <= {*read.anchors}, name


def test_every_limit_route_and_metric_stands_in_it(read: Read) -> None:
    for one in visitor_limits():
        assert one.shown in read.texts[anchor("limit", one.module, one.name)]
    routes = launch_options(measured=list, room=new_room())["app_kwargs"]["routes"]
    assert {anchor("route", route.path) for route in routes} <= {*read.anchors}
    families = list(text_string_to_metric_families(Metrics(lambda: dict(HEALTH)).text().decode()))
    families = [one for one in families if not one.name.endswith("_created")]
    names = {f"{one.name}_total" if one.type == "counter" else one.name for one in families}
    assert len(names) >= 14 and {anchor("metric", name) for name in names} <= {*read.anchors}
    assert {f"endpoint-{name}" for name in ("run_stack", "plan", "diagnose", "load_trace")} <= {*read.anchors}


def test_every_event_note_and_figure_stands_in_it(read: Read) -> None:
    assert {anchor("event", name) for name in EVENTS} | {anchor("note", name) for name in known()} <= {*read.anchors}
    meter = Meter()
    figures = {*meter.snapshot(), *Lanes((1, 1), 1, 1, 0, 1, 1).figures()}
    figures |= LevelMeter().snapshot(0).keys()
    said = set(re.findall(r"\w+", read.texts["figures"]))
    assert figures <= said, figures - said


def test_every_variable_of_the_environment_stands_in_it(made: str) -> None:
    sources = (path for room in ("app", "hsd_core") for path in (ROOT / room).rglob("*.py"))
    named = {name for path in sources for name in re.findall(r"\bHSD_[A-Z_]*[A-Z]\b", path.read_text(encoding="utf-8"))}
    assert {name for name in named - {"HSD_SUPERVISED"} if name not in made} == set()  # which is our own child's


def test_no_anchor_is_dead_or_there_twice_and_nothing_is_asked_for(read: Read, made: str) -> None:
    assert len(read.anchors) == len(set(read.anchors)) > 400
    inside = {link[1:] for link in read.links if link.startswith("#")}
    assert inside <= {*read.anchors}
    assert [link for link in read.links if not link.startswith("#")] == ["data:,"]
    assert "script" not in read.tags and "prefers-color-scheme: dark" in made
    assert str(Path.home()) not in made and str(ROOT) not in made


def test_a_dead_link_or_a_second_anchor_is_refused() -> None:
    with pytest.raises(ValueError, match="links without a target: nothing"):
        page([Section("A", "a", "see [it](#nothing)")])
    with pytest.raises(ValueError, match="anchors occur twice: a"):
        page([Section("A", "a", entries=[Entry("A", "a")])])


def test_text_is_text() -> None:
    html = page([Section("A <b>", "a", "x < y & `<i>`\n\n    <pre>\n\n| a | b |\n|---|---|\n| 1 | 2 |")])
    assert "A &lt;b&gt;" in html and "<code>&lt;i&gt;</code>" in html and "<td>1</td>" in html
    assert "<b>" not in html and "<i>" not in html
