"""A system is a folder that can be deleted: without it everything else imports, lists, runs and builds."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SYSTEMS = sorted(path.name for path in (ROOT / "hsd_core" / "systems").iterdir() if (path / "declaration.py").exists())

# At once those whose words, keys, notes and figures are met in most places (no system imports another one, so what
# lacks one of them lacks it here too); each by itself with --all.
ALWAYS = "exits+ngram"


@pytest.fixture(scope="module")
def looking() -> Iterator[subprocess.Popen[str]]:
    """A process with all libraries, which looks at copies of the program."""
    program = [sys.executable, str(Path(__file__).with_name("taken_away.py"))]
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    env.pop("PYTHONPATH", None)
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def linked(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


def copy_without(gone: set[str], tree: Path) -> None:
    """The program in a folder, without the code, scripts and cards of systems."""
    systems = ROOT / "hsd_core" / "systems"

    def left_out(folder: str, names: list[str]) -> list[str]:
        return [*gone & {*names}] if Path(folder) in (systems, ROOT / "assets" / "js" / "systems") else []

    for part in ("hsd_core", "app", "assets/js", "assets/css"):
        shutil.copytree(ROOT / part, tree / part, copy_function=linked, ignore=left_out)
    for other in (ROOT / "assets").iterdir():
        if not (tree / "assets" / other.name).exists():
            (tree / "assets" / other.name).symlink_to(other)


@pytest.mark.parametrize("name", [ALWAYS, *(pytest.param(name, marks=pytest.mark.everything) for name in SYSTEMS)])
def test_without_a_system_everything_else_works(name: str, looking: subprocess.Popen[str], tmp_path: Path) -> None:
    copy_without({*name.split("+")}, tmp_path)
    assert looking.stdin is not None and looking.stdout is not None
    looking.stdin.write(f"{tmp_path} {name}\n")
    looking.stdin.flush()
    failures = json.loads(json.loads(looking.stdout.readline()))
    assert not failures, "\n".join(failures)
