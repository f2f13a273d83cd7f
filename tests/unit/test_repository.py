"""The files that people and the Hub read before any code runs: attributes, requirements, the README's commands."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_binary_file_goes_through_lfs() -> None:
    lines = (ROOT / ".gitattributes").read_text().splitlines()
    patterns = [line.split()[0] for line in lines if "filter=lfs diff=lfs merge=lfs -text" in line]
    binary = [path for path in (ROOT / "assets").rglob("*") if path.is_file() and b"\0" in path.read_bytes()[:8000]]
    assert {path.suffix for path in binary} >= {".gz", ".npz", ".png", ".safetensors"}
    assert [path.name for path in binary if not any(fnmatch(path.name, pattern) for pattern in patterns)] == []


def test_every_requirement_has_both_ends() -> None:
    lines = [line for line in (ROOT / "requirements.txt").read_text().splitlines() if line and not line.startswith("#")]
    assert len(lines) >= 7
    assert [line for line in lines if not re.fullmatch(r"[a-z-]+>=[\d.]+,<[\d.]+", line)] == []


def test_ci_finds_the_commands_of_the_readme() -> None:
    """CI reads them by these patterns; another first match would be run in their place."""
    readme, run = (ROOT / "README.md").read_text(), (ROOT / ".ci" / "run").read_text()
    patterns = re.findall(r"grep -m1 '([^']+)' README\.md", run)
    found = [next(line for line in readme.splitlines() if re.search(pattern, line)) for pattern in patterns]
    assert len(found) == 2
    assert found[0].startswith("python3 -m venv .venv && ") and found[0].endswith("app.py")
    assert found[1].startswith("python3 -m venv .venv && ") and ".venv/bin/python -m pytest" in found[1]


def test_what_runs_by_the_name_of_everything_is_what_it_says() -> None:
    """`.ci/everything` runs `.ci/run`, which runs `.ci/check`; every test file that a script names is there."""
    scripts = {path.name: path.read_text() for path in (ROOT / ".ci").iterdir() if path.suffix == ""}
    assert "TESTED=1 .ci/check\n" in scripts["run"]
    assert "\n.ci/run\n" in scripts["everything"] and "--all -m everything" in scripts["everything"]
    for text in scripts.values():
        for folder, many, one in re.findall(r"(tests/\w+/test_)(?:\{([\w,]+)\}|(\w+))\.py", text):
            for name in (many or one).split(","):
                assert (ROOT / f"{folder}{name}.py").is_file(), name
