"""What the tests of lessons share: the shipped ones, what they name, and a step that is shown."""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pagekit import drawn

from app.tabs.explore.recordings import Recordings
from app.tabs.learn.lessons import Lessons
from app.tabs.learn.many_requests import many_requests
from app.tabs.results.bundled_results import Bundled
from hsd_core.grammar.stack_text import grammar

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "assets" / "lessons"
COUNT = len(list(SHIPPED.glob("*.json")))


def steps(number: int) -> list[dict[str, Any]]:
    """The steps of a shipped lesson, but for those whose recording is not shipped."""
    found = next(one for one in Lessons(SHIPPED).found if one["id"].startswith(f"{number:02d}-"))
    return list(found["steps"])


@cache
def looked_up() -> dict[str, Any]:
    """All that the shipped lessons name, looked up in the shipped recordings and results; see `js/lessons.mjs`."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: install Node.js 20 or newer to look up the lessons' figures")
    traces = Recordings(ROOT / "assets" / "traces")
    lessons = Lessons(SHIPPED).found
    named = [entry["name"] for entry in traces.menu() if entry["name"] in json.dumps(lessons)]
    given = {
        "grammar": grammar(),
        "lessons": lessons,
        "recordings": {name: traces.payload(name)["ev"] for name in named},
        "reports": Bundled(ROOT / "assets" / "results").reports,
        "requests": many_requests(),
    }
    script = ROOT / "tests" / "app" / "js" / "lessons.mjs"
    done = subprocess.run([node, str(script)], input=json.dumps(given), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def settled(page: Any, title: str) -> None:
    """The step is shown, and what it does to the page is done."""
    page.wait_for_function(
        "(title) => document.querySelector('.hx-lesson[aria-busy=false] .hx-step-title')?.textContent === title",
        arg=title,
    )
    drawn(page)
