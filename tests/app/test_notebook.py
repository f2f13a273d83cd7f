"""A run in a notebook: the example's cells, the frame that a cell shows, and the tables."""

from __future__ import annotations

import builtins
import contextlib
import json
import re
import sys
from base64 import b64decode
from gzip import decompress
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hsd_core import open_stack
from hsd_core.export.run_page import page as exported
from hsd_core.notebook import OpenStack, Run, Table
from hsd_core.trace import file as tracefile
from hsd_core.typed.program_files import ASSETS

NOTEBOOK = ASSETS / "notebook.ipynb"
STACK = "table:3@id=order1,table@id=order6"
ALONE = "table@id=order6"
OTHERS = {"ngram:3,int8:6,target": STACK, "ngram:5,target": f"table:5@id=order1,{ALONE}", "target": ALONE}
PARTS = (".hx-tower .hx-floor", ".hx-transport-slider", ".hx-live")


@pytest.fixture(scope="module")
def stack() -> OpenStack:
    return open_stack(STACK, "toy")


@pytest.fixture(scope="module")
def run(stack: OpenStack) -> Run:
    return stack.run("The small level", max_new_tokens=24, baseline=True)


def page_in(frame: str) -> str:
    """The page in a cell's frame, unpacked."""
    inside = unescape(re.search(r'srcdoc="([^"]+)"', frame)[1])
    return decompress(b64decode(re.search(r'id="hx-page">([^<]+)<', inside)[1])).decode()


def test_the_cells_of_the_example_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """With tables in place of models."""
    monkeypatch.setattr("hsd_core.notebook.open_stack", lambda text: open_stack(OTHERS[text], "toy"))
    monkeypatch.setattr(OpenStack, "other", lambda self, text: OpenStack(self.pipeline, OTHERS[text]))
    cells, known, shown = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"], dict[str, Any](), list[Any]()
    for cell in cells:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [] and cell["execution_count"] is None
            *before, last = "".join(cell["source"]).splitlines()
            exec("\n".join(before), known)
            shown.append(eval(last, known))
    run, levels, tokens, same = shown
    assert page_in(run._repr_html_()) == exported(run.events)
    assert [*levels["level"]] == ["table of order 1", "table of order 6"] and "".join(tokens["text"]) == run.text
    assert same == [True, True]


def test_a_run_says_its_text_and_figures(run: Run, stack: OpenStack) -> None:
    assert repr(run) == f"{run.text}\n\n{run.summary}" and run.text.startswith(" writes")
    assert re.search(r"order 6 \(table.*\): 24 tokens, [\d.]+ tokens/s, .* times plain decoding; exact$", run.summary)
    assert "Character tables" in repr(stack) and repr(stack.other(ALONE)).startswith(f"<{ALONE} over")


def test_tables_need_no_pandas(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    frame, importing = run.table("tokens"), builtins.__import__
    assert frame.iloc[0]["supplied"] == "table of order 1" and len(frame) == 24

    def without(name: str, *given: Any, **named: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return importing(name, *given, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    table = run.table()
    assert isinstance(table, Table) and [row["level"] for row in table] == ["table of order 1", "table of order 6"]
    head, low, _ = repr(table).splitlines()
    assert head.split()[:2] == ["level", "acceptance"] and low.startswith("table of order 1  -  ")
    with pytest.raises(ValueError, match="ask for 'levels' or 'tokens'"):
        run.table("rounds")


def test_a_run_is_saved_as_a_page_or_as_a_trace(run: Run, tmp_path: Path) -> None:
    run.save(tmp_path / "run.html")
    run.save(tmp_path / "run.jsonl.gz")
    assert (tmp_path / "run.html").read_text(encoding="utf-8") == exported(run.events)
    assert tracefile.read(tmp_path / "run.jsonl.gz") == list(run.events)


def test_a_cell_tells_how_far_a_run_is_in_one_output(stack: OpenStack, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    shown = lambda data, **_: told.append(data["text/plain"])  # noqa: E731
    display = SimpleNamespace(display=lambda data, **_: [shown(data), SimpleNamespace(update=shown)][1])
    python = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=1), display=display)
    monkeypatch.setitem(sys.modules, "IPython", python)
    run = stack.run("The small level", max_new_tokens=24)
    assert told[-1] == run.summary and re.fullmatch(r"\d+ of at most 24 tokens", told[0])


def seen(browser: Any, path: Path, scheme: str = "light") -> None:
    """The frame of the page at `path` shows text, tower and charts, and asks for nothing."""
    with contextlib.closing(browser.new_context(offline=True, color_scheme=scheme, reduced_motion="reduce")) as context:
        page, faults = context.new_page(), list[str]()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(path.as_uri())
        inside = page.frame_locator("iframe[srcdoc]")
        inside.locator(".hx-flow .hx-tok").first.wait_for()
        for part in PARTS:
            inside.locator(part).first.wait_for()
        assert inside.locator("body.dark").count() == (scheme == "dark")
        frame = page.locator("iframe[srcdoc]")
        assert frame.get_attribute("sandbox") == "allow-scripts allow-downloads"
        inside.get_by_role("button", name="save as a picture: tower", exact=True).click()
        with page.expect_download():
            inside.locator(".hx-item:visible").first.click()
        assert frame.evaluate("frame => frame.contentDocument") is None, "the page reaches nothing of the notebook's"
        more = "root => [root.scrollWidth - innerWidth, root.scrollHeight - innerHeight]"
        assert max(over := inside.locator("html").evaluate(more)) <= 0, over
        assert not faults, faults


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.everything)])
def test_a_cell_shows_the_run_without_a_network(browser: Any, run: Run, tmp_path: Path, scheme: str) -> None:
    path = tmp_path / "cell.html"
    path.write_text(f"<!doctype html><body>{run._repr_html_()}", encoding="utf-8")
    seen(browser, path, scheme)


@pytest.mark.everything
@pytest.mark.browser
@pytest.mark.weights
def test_the_example_runs_in_a_kernel_and_survives_as_html(browser: Any, tmp_path: Path) -> None:
    nbconvert = pytest.importorskip("nbconvert", reason="pip install -r tests/requirements-everything.txt")
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    book = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(book)
    nbclient.NotebookClient(book, timeout=280, resources={"metadata": {"path": str(ASSETS.parent)}}).execute()
    path = tmp_path / "notebook.html"
    path.write_text(nbconvert.HTMLExporter().from_notebook_node(book)[0], encoding="utf-8")
    assert "[True, True]" in path.read_text(encoding="utf-8") and path.stat().st_size < 1_500_000
    seen(browser, path)
