"""The package: a wheel with all that is shipped, and what it brings, seen from a folder that holds nothing of ours."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.request
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STACK = "table:3@id=order1,table@id=order6"
RISES_S = 120.0


def test_one_file_knows_where_the_programs_own_files_are() -> None:
    """Installed, they are not beside hsd_core: what looks for them by itself finds them in the repository alone."""
    by_itself = re.compile(r"__file__\).*parents?\b.*assets|parents\[[2-9]\]")
    files = [path for room in ("hsd_core", "app") for path in (ROOT / room).rglob("*.py")]
    looks = [path for path in files if by_itself.search(path.read_text(encoding="utf-8"))]
    assert not looks


@pytest.mark.everything
def test_the_command_page_reads_the_options_of_the_page() -> None:
    command = [sys.executable, "-m", "hsd_core", "page", "--port", "none"]
    asked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert asked.returncode == 2
    assert asked.stderr == "error: argument --port: invalid int value: 'none'; see python -m hsd_core page --help\n"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for needed in ("hatchling", "hatch_requirements_txt"):
        pytest.importorskip(needed, reason="pip install -r tests/requirements-everything.txt")
    out = tmp_path_factory.mktemp("wheel")
    command = ["-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(out), str(ROOT)]
    subprocess.run([sys.executable, *command], check=True)
    return next(out.glob("hsd_explorer-*.whl"))


@pytest.fixture(scope="module")
def hsd(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., subprocess.Popen[str]]:
    """Starts `hsd` of an environment that has the wheel, and beside it what this one has; in an empty folder."""
    out, nothing = tmp_path_factory.mktemp("environment"), tmp_path_factory.mktemp("nothing")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", out], check=True)
    python = out / "bin" / "python"
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(out)}))
    (site / "there.pth").write_text("\n".join(path for path in sys.path if path.endswith("-packages")))
    install = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-index", wheel]
    subprocess.run(install, check=True)
    assert not {"app", "app.py", "assets"} & {path.name for path in site.iterdir()}, "names that are everybody's"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def start(*arguments: str) -> subprocess.Popen[str]:
        told = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return subprocess.Popen([out / "bin" / "hsd", *arguments], cwd=nothing, env=environment, **told)

    return start


def said(process: subprocess.Popen[str]) -> str:
    out, _ = process.communicate(timeout=200)
    assert process.returncode == 0, out
    return out


@pytest.mark.everything
def test_the_wheel_holds_all_that_git_has_and_asks_for_what_is_required(wheel: Path) -> None:
    listed = subprocess.run(["git", "ls-files", "hsd_core", "app", "assets"], cwd=ROOT, capture_output=True, text=True)
    known = listed.stdout.split()
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
        metadata = packed.read(next(name for name in names if name.endswith("/METADATA"))).decode()
    missing = {one for one in known if (one if one.startswith("hsd_core/") else f"hsd_explorer/{one}") not in names}
    assert known and not missing
    wanted = re.findall(r"^[a-z-]+(?=>=)", (ROOT / "requirements.txt").read_text(), re.M)
    assert sorted(re.findall(r"^Requires-Dist: ([a-z-]+)[^;\n]*$", metadata, re.M)) == sorted(wanted)


@pytest.mark.everything
def test_the_command_runs_where_nothing_of_the_repository_is(hsd: Callable[..., subprocess.Popen[str]]) -> None:
    assert said(hsd("--help")).startswith("usage: hsd ")
    assert said(hsd("page", "--help")).startswith("usage: hsd page ")
    asked = ("--preset", "toy", "--prompt", "The small level", "--stack", STACK, "--trace", "run.jsonl.gz")
    assert "per target forward" in said(hsd("generate", *asked))
    assert "no server and no network" in said(hsd("export", "run.jsonl.gz", "--out", "run.html"))
    assert "checked" in said(hsd("space", "cpu", "--out", "space"))


@pytest.mark.everything
def test_the_page_is_served_and_its_engine_starts(hsd: Callable[..., subprocess.Popen[str]]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    page, health, until = hsd("page", "--port", str(port)), "", time.monotonic() + RISES_S
    try:
        while '"state":"ok"' not in health and page.poll() is None and time.monotonic() < until:
            with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
                health = answer.read().decode()
            time.sleep(0.2)
    finally:
        page.terminate()
        out = said(page)
    assert '"state":"ok"' in health, health + out
