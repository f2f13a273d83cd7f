"""A whole system is added from outside: a level, a key, a note, a figure, a price, a question, the reason why it loses,
and a panel; nothing else mentions it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from enumerator import distance, run_distribution, target_distribution
from laid_beside import EXAMPLE, laid_beside
from toys import toy_stack

from app.kit.system_pages import system_pages
from app.tabs.planner.worker import BroughtQuestions
from hsd_core.cli import main
from hsd_core.core.events import Draft
from hsd_core.export.run_page import empty_page, system_assets
from hsd_core.grammar.stack_text import format_stack, parse
from hsd_core.pipeline import Pipeline
from hsd_core.theory import Costs, Planner, Profile, ProfileLevel, stack_text
from hsd_core.trace.checks import check
from hsd_core.trace.file import read, write
from hsd_core.trace.metrics import measure

ROOT = Path(__file__).parents[3]
TEXT = "echo:3@back=2,table@id=order6"
LEVELS = tuple(ProfileLevel(name, Costs.constant(ms), name) for name, ms in (("echo@back=2", 1.0), ("target", 9.0)))
PROFILE = Profile(LEVELS, ((1.0, 0.8), (0.0, 1.0)), 8)


@pytest.fixture
def echo() -> Iterator[None]:
    with laid_beside():
        yield


@pytest.mark.usefixtures("echo")
def test_its_level_is_exact_and_its_key_is_read() -> None:
    from hsd_core.systems.echo.echo_level import EchoLevel

    text = "echo:2@back=2,table:3,table"
    assert format_stack(parse(text)) == text
    stack = toy_stack(text, 2, seed=3)
    stack[0] = replace(stack[0], level=EchoLevel(2, 2))
    assert distance(run_distribution(stack, [0], 3), target_distribution(stack, [0], 3)) < 1e-12


@pytest.mark.usefixtures("echo")
def test_it_has_a_price_where_a_profile_holds_it() -> None:
    found = Planner(PROFILE).best()
    assert re.fullmatch(r"echo:\d@back=2,target", stack_text(PROFILE, found.best.plan))
    assert found.best.prediction.ms_per_token < found.plain.prediction.ms_per_token


@pytest.mark.usefixtures("echo")
def test_its_question_is_asked_in_the_terminal_and_on_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "profile.json"
    path.write_text(json.dumps(PROFILE.as_dict()))
    assert main(["plan", "--profile", str(path), "--echo"]) == 0
    assert "pays where more than 11% of them are accepted" in capsys.readouterr().out
    said = BroughtQuestions().answer("echo", json.dumps({"profile": PROFILE.as_dict()}))
    assert said == {"from": pytest.approx(1 / 9)}


@pytest.mark.usefixtures("echo")
def test_a_stack_of_it_that_loses_has_a_reason() -> None:
    assert system_pages("why_lost")["echo"].why_lost(TEXT, PROFILE, None) == [2]


def test_its_note_is_typed_where_it_is_known_and_kept_as_it_is_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with laid_beside():
        events = list(Pipeline.open("toy").run(TEXT, "The small level", max_new_tokens=20))
        write(path, events)
        from hsd_core.systems.echo.notes import Echoed

        assert check(events) == [] and read(path) == events
        drafts = [event for event in events if isinstance(event, Draft)]
        assert drafts and {Echoed.of(draft) for draft in drafts} == {Echoed(2)}
        assert measure(events)["echoed"] == len(drafts)
    raw = [event for event in read(path) if isinstance(event, Draft)]
    assert [draft.notes["echoed"] for draft in raw] == [{"back": 2}] * len(drafts)
    again = tmp_path / "again.jsonl"
    write(again, read(path))
    assert again.read_bytes() == path.read_bytes()


def test_its_panel_comes_with_its_folder(tmp_path: Path) -> None:
    for folder in ("js", "css", "text"):
        shutil.copytree(ROOT / "assets" / folder, tmp_path / folder)
    own = tmp_path / "js" / "systems" / "echo"
    own.mkdir()
    shutil.copy(EXAMPLE / "echo" / "echo.js", own)
    assert "js/systems/echo/echo.js" in system_assets(tmp_path, "js")
    assert "How far back drafts were repeated from" in empty_page(tmp_path)
    asks = f"""
      globalThis.document = {{ addEventListener() {{}} }};
      globalThis.location = {{ search: "" }};
      const {{ brought }} = await import("{(tmp_path / "js/systems/index.js").as_uri()}");
      await import("{(own / "echo.js").as_uri()}");
      const {{ desks, tallies, losses, questions }} = brought;
      const names = [desks, tallies, losses, questions].map((list) => list.map((one) => one.name));
      console.log(JSON.stringify([...names, tallies[0].text({{ echoed: 3 }}), losses[0].why([2])]));
    """
    ran = subprocess.run(["node", "--input-type=module", "-e", asks], capture_output=True, text=True, check=True)
    *names, figure, why = json.loads(ran.stdout)
    assert names == [["echoes"], ["echoed"], ["echo"], ["echo"]] and figure == "3" and "2 tokens before" in why


def test_nothing_else_mentions_it() -> None:
    named = re.compile(r"\becho(es|ed)?\b", re.IGNORECASE)
    for folder, ending in (("hsd_core", "*.py"), ("app", "*.py"), ("assets/js", "*.js")):
        for path in (ROOT / folder).rglob(ending):
            assert not named.search(path.read_text(encoding="utf-8")), path
