"""The rooms of app: imports go down only and never in a circle, and no room is crowded."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
APP = ROOT / "app"
# from the ground up: a folder may import from itself and those before it
FOLDERS = (
    "words",
    "words/room",
    "kit",
    "kit/figures",
    "serve/line",
    "serve/door",
    "serve/watch",
    "serve",
    "serve/engines",
    "serve/engines/cluster",
    "tabs",
    "tabs/planner/profiles",
    "tabs/explore",
    "tabs/planner/figures",
    "tabs/planner",
    "tabs/race",
    "tabs/results",
    "tabs/learn",
    "tabs/atlas",
    "workshop",
    "programs",
    ".",
    "site",
    "space",
)
TOP = {
    "__init__.py",
    "README.md",
    ".gitignore",
    "engine_cluster.py",
    "engine_process.py",
    "engine_zerogpu.py",
    "options.py",
    "page.py",
    "requirements-mcp.txt",
    "requirements-ray.txt",
}
MOST = 14  # files in a folder, beside the `__init__` that says what it is


def imported(source: str) -> Iterator[str]:
    """The modules of app that a file imports, wherever in it and for whatever end: also for a type checker alone."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("app."))
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "write whole names: from app.room import module"
            module = str(node.module)
            names = [f"{module}.{alias.name}" for alias in node.names] if module.split(".")[0] == "app" else []
            yield from (name if _path(name) else module for name in names)


def _path(module: str) -> Path | None:
    """The file of a module of app."""
    path = ROOT.joinpath(*module.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


def _folder(path: Path) -> str:
    return path.parent.relative_to(APP).as_posix()


def _words(path: Path) -> bool:
    """Whether it holds texts alone: those of all, or of a tab."""
    return path.name == "words.py" or APP / "words" in path.parents


def test_what_counts_as_an_import() -> None:
    source = """
import app.page
from hsd_core.trace import file
def f():
    from app.serve.line import line
if TYPE_CHECKING:
    from app.kit.payload import dumps
"""
    assert set(imported(source)) == {"app.page", "app.serve.line.line", "app.kit.payload"}
    with pytest.raises(AssertionError, match="write whole names"):
        set(imported("from . import line"))


@pytest.mark.parametrize("folder", FOLDERS)
def test_imports_go_down_only(folder: str) -> None:
    files = sorted((APP / folder).glob("*.py"))
    assert files, f"there is no room {folder}"
    for path in files:
        for module in imported(path.read_text(encoding="utf-8")):
            other = _path(module)
            assert other is not None, f"{path.relative_to(ROOT)} imports {module}, which is not there"
            above = not _words(other) and FOLDERS.index(_folder(other)) > FOLDERS.index(folder)
            assert not above, f"{path.relative_to(ROOT)} imports {module}, which stands above it"


def test_no_imports_go_in_a_circle() -> None:
    graph = {path: {_path(one) for one in imported(path.read_text(encoding="utf-8"))} for path in APP.rglob("*.py")}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(str(path.relative_to(ROOT)) for path in error.args[1][::-1]))


def test_every_folder_has_its_place_and_is_not_crowded() -> None:
    found = {_folder(path) for path in APP.rglob("*.py")}
    assert found == set(FOLDERS)
    for folder in FOLDERS:
        files = [path for path in (APP / folder).glob("*.py") if path.name != "__init__.py"]
        assert len(files) <= MOST, f"app/{folder} has {len(files)} files"


def test_nothing_stands_loose_beside_the_rooms() -> None:
    rooms = {folder.split("/")[0] for folder in FOLDERS} - {"."}
    loose = {path.name for path in APP.iterdir() if path.name != "__pycache__" and path.suffix != ".pyi"}
    assert loose == {*rooms, *TOP}


def test_words_need_nothing_of_the_server() -> None:
    for path in filter(_words, APP.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
                assert set(names) <= {"__future__", "collections.abc", "math"}, path.name
