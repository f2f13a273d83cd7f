"""What the page uses of Gradio beside what it documents is listed, and still there."""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path

import gradio
import pytest

from app.kit.gradio_inside import INSIDE, READ_IN, Inside
from app.kit.mounted import asked

ROOT = Path(__file__).parents[2]
GRADIO = Path(gradio.__file__).parent
PRIVATE = re.compile(r"\b(?!self\b|cls\b|os\b|closing\b)(\w+)\.(_[a-z]\w*)")
OF_TUPLES = {"_asdict", "_fields", "_make", "_replace"}


@pytest.mark.parametrize("one", INSIDE, ids=lambda one: one.text)
def test_what_is_listed_is_there_and_needed(one: Inside) -> None:
    found = any(one.text in path.read_text(encoding="utf-8") for path in GRADIO.glob(one.file))
    assert found, (
        f"Gradio {importlib.metadata.version('gradio')} has no {one.text} in {one.file}: {one.user}, {one.what}"
    )
    assert (ROOT / one.user).is_file()


def test_the_list_was_read_in_the_version_that_is_installed() -> None:
    assert importlib.metadata.version("gradio") == READ_IN, "read the places of app/kit/gradio_inside.py again"


def test_no_private_attribute_is_read_that_is_not_listed() -> None:
    listed = {text.split("self.")[-1].split()[0] for text, _, _, _ in INSIDE}
    for path in (ROOT / "app").rglob("*.py"):
        for owner, name in PRIVATE.findall(path.read_text(encoding="utf-8")):
            assert name in OF_TUPLES | listed, f"{path.relative_to(ROOT)}: {owner}.{name}"


def test_no_script_patches_the_browser_or_looks_a_tab_up_by_its_text() -> None:
    for path in [*(ROOT / "assets/js").rglob("*.js"), ROOT / "app/serve/door/first.py"]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"requestAnimationFrame\s*=(?!=)|gradio_config|__gradio", text), path.name
    assert "textContent" not in (ROOT / "assets/js/shared/kit/tabs.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("given", [None, 3, "asked", [], {}, {"other": 1}, {"asked": None}])
def test_an_event_that_sends_nothing_of_ours_asks_for_nothing(given: object) -> None:
    assert asked(gradio.EventData(None, given)) is None
