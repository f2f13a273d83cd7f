"""What the page's process begins with changes how long it takes and what it holds, and nothing that it does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def told(code: str) -> list[str]:
    """The lines that a process of its own prints."""
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()


def test_gradio_is_whole_and_writes_no_interfaces() -> None:
    before, after, events, renamed = told(
        "import sys; from app.kit.beginning import begin; before = len(sys.meta_path); begin()\n"
        "import gradio\n"
        "class Own(gradio.HTML): pass\n"  # a class is made, with nothing to read its source from
        "print(before); print(len(sys.meta_path)); print(hasattr(Own, 'click'))\n"
        "import inspect, gradio.component_meta as meta\n"
        "print(inspect.getsource(meta.create_or_modify_pyi).strip()[:6] != 'def cr')"
    )
    assert before == after, "what looks for the module is gone once it has been found"
    assert events == "True"
    assert renamed == "True", (
        "Gradio has it under another name now: look whether it still writes files when it is imported"
    )


def test_garbage_is_searched_for_as_before_once_the_page_is_there() -> None:
    assert told(
        "import gc; usual = gc.get_threshold(); from app.kit.beginning import begin, begun\n"
        "begin(); seldom = gc.get_threshold(); begun()\n"
        "print(seldom != usual, gc.get_threshold() == usual, gc.get_freeze_count() > 0)"
    ) == ["True True True"]
