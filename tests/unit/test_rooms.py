"""The rooms of hsd_core: imports go down only, and nothing stands loose beside them."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "hsd_core"
# from the ground up: a room may import those before it
ROOMS = (
    "typed",
    "models",
    "grammar",
    "core",
    "batch",
    "trace",
    "levels",
    "stacks",
    "theory",
    "doctor",
    "export",
    "pipeline",
    "notebook",
    "measure",
    "systems",
    "cli",
)
FILES = ("pipeline.py", "notebook.py")  # rooms of one file
BROUGHT = ("command", "study")  # files of a system's folder that the command line finds by their names
TORCHLESS = (
    "import hsd_core.theory",
    "from hsd_core.cli import main; main(['doctor'])",
    "from hsd_core.theory.profiles.profile_store import cached_profile; cached_profile('smollm2')",
    "from hsd_core.doctor.reading.inputs import read_files; from hsd_core.doctor.draft_profile import profile_of",
    "from hsd_core.measure.whatif import whatif_profile; whatif_profile('llama3')",
)
THEORY = ("profiles", "latency", "overlap", "search", "replan", "stack_table")


def imported(path: Path) -> set[str]:
    """The rooms that a file imports, within functions and for a type checker too."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "hsd_core":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("hsd_core."):
            found.add((node.module or "").split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("hsd_core.")}
    return found


def _files(room: str) -> list[Path]:
    return [ROOT / f"{room}.py"] if (ROOT / f"{room}.py").exists() else sorted((ROOT / room).rglob("*.py"))


@pytest.mark.parametrize("room", ROOMS)
def test_imports_go_down_only(room: str) -> None:
    files = _files(room)
    assert files, f"there is no room {room}"
    if room in ("systems", "cli"):  # a command or a study that a system brings along is a part of the command line
        brought = [path for path in (ROOT / "systems").rglob("*.py") if path.stem in BROUGHT]
        files = [*files, *brought] if room == "cli" else [path for path in files if path not in brought]
    above = set(ROOMS[ROOMS.index(room) + 1 :])
    assert {str(path.relative_to(ROOT)): found for path in files if (found := imported(path) & above)} == {}


def test_the_command_line_finds_what_systems_bring_along_and_imports_none_of_it() -> None:
    for path in (ROOT / "cli").rglob("*.py"):
        assert "systems" not in imported(path), f"{path.name} imports a system"
    brought = re.compile(rf"hsd_core\.systems\.(\w+)\.({'|'.join(BROUGHT)})\b")
    for path in ROOT.rglob("*.py"):
        others = {found[1] for found in brought.finditer(path.read_text(encoding="utf-8"))} - {*path.parts}
        assert not others, f"{path.relative_to(ROOT)} imports what {', '.join(others)} brings along"


def test_what_stands_below_the_systems_names_none_of_them() -> None:
    """Not in a string either, such as the place of a function that is imported later."""
    below = [path for room in ROOMS[: ROOMS.index("systems")] for path in _files(room)]
    named = {
        str(path.relative_to(ROOT)) for path in below if re.search(r"hsd_core\.systems\.\w", path.read_text("utf-8"))
    }
    assert named == set()


def test_no_system_imports_another_one_and_nothing_else_imports_any() -> None:
    """Who declares something is found by the registry alone; a folder of `systems` can be deleted."""
    found = set()
    for path in (*ROOT.rglob("*.py"), *(ROOT.parent / "app").rglob("*.py")):
        parts = path.relative_to(ROOT.parent).parts
        own = parts[2] if parts[:2] == ("hsd_core", "systems") else ""
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            named += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module == "hsd_core.systems":
                named = [f"{node.module}.{alias.name}" for alias in node.names]
            system = [name.split(".")[2] for name in named if name.startswith("hsd_core.systems.")]
            found |= {("/".join(parts), other) for other in system if other != own}
    assert found == set()


@pytest.mark.parametrize("room", THEORY)
def test_imports_within_the_theory_go_down_only(room: str) -> None:
    above = {f"hsd_core.theory.{other}" for other in THEORY[THEORY.index(room) + 1 :]}
    files = _files(f"theory/{room}")
    assert files, f"there is no room {room}"
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert not {other for other in above if other in text}, path.name


def test_what_is_listed_or_planned_needs_no_torch() -> None:
    code = "\n".join(["import sys", *(f"{what}\nassert 'torch' not in sys.modules, {what!r}" for what in TORCHLESS)])
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr[-500:]


def test_nothing_stands_loose_beside_the_rooms() -> None:
    loose = {path.name for path in ROOT.iterdir() if path.name != "__pycache__"}
    assert loose == {*ROOMS, *FILES, "__init__.py", "__main__.py", "README.md"} - {name[:-3] for name in FILES}


def _homes(path: str) -> str:
    """Where the same idea may have a second home: words beside what says them, a command beside what it calls, what a
    kind declares beside what it builds, the readable decoder beside the compiled one, and what each folder of a tab, a
    system or a page has: `NAME.js` in the folder of its name, `words.js`, its translations, `view.py`, `page.py`."""
    parts = Path(path).parts
    own = re.sub(r"^words\.\w+\.js$", "words.js", parts[-1])
    if own in {f"{parts[-2]}.js", "words.js", "words.py", "view.py", "page.py"}:
        return f"of {Path(*parts[-3:-1])}"
    return next((part for part in parts if part in {"words", "cli", "compiled"}), "")


def test_a_file_name_is_used_for_one_thing() -> None:
    top = ROOT.parent
    listed = [str(p.relative_to(top)) for where in ("app", "hsd_core") for p in (top / where).rglob("*.py")]
    listed += [str(p.relative_to(top)) for p in (top / "assets" / "js").rglob("*.js")]
    by_name: dict[str, list[str]] = {}
    for path in sorted(listed):
        if Path(path).stem not in {"__init__", "__main__", "declaration", "notes", "question", *BROUGHT}:
            by_name.setdefault(Path(path).name, []).append(path)
    twice = {name: paths for name, paths in by_name.items() if len({_homes(path) for path in paths}) < len(paths)}
    assert twice == {}
