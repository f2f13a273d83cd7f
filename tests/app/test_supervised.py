"""The supervisor: a serving process that dies comes back with the runs of before, one that ends has ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from cases import first_always

from app.kit.supervised import KEPT_S, Kept, _Supervisor
from app.serve.line.known_runs import Run, Runs
from app.words import run as says

ROOT = Path(__file__).parents[2]
# What serves, without a page: it says how many died before it, then does what its line of the command says.
CHILD = """
import os, signal, sys, time
from app.kit.supervised import attended, supervise

def main(kept):
    signal.signal(signal.SIGTERM, lambda *_: (print("closing", flush=True), os._exit(0)))
    does = (sys.argv[1].split(",") + ["stay"] * 9)[len(kept.ends)]
    if does != "early":
        kept.serves(7)
    print("serves", *kept.ends, flush=True)
    if does == "early" or does == "dies":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif does == "stay":
        time.sleep(60)
    sys.exit(int(does))

serving = attended()
sys.exit(supervise([sys.executable, *sys.orig_argv[1:]], pauses_s=(0.0, 0.1)) if serving is None else main(serving))
"""


def hearing() -> None:
    """As in a terminal: a shell that runs the tests in the background has its children ignore Ctrl+C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def started(does: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    pipe, environment = subprocess.PIPE, {**os.environ, "TMPDIR": str(folder), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", CHILD, does]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True, env=environment, preexec_fn=hearing
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@first_always(
    ("does", "code", "said"),
    [
        ("dies,3,0", 0, ["serves", "serves SIGSEGV", "serves SIGSEGV 3"]),
        ("early", 139, ["serves"]),  # it never served: as a shell says that SIGSEGV ended it
        ("0", 0, ["serves"]),
        ("dies,0", 0, ["serves", "serves SIGSEGV"]),
    ],
)
def test_what_dies_is_restarted_and_what_ends_has_ended(does: str, code: int, said: list[str], tmp_path: Path) -> None:
    with started(does, tmp_path) as process:
        out, errors = process.communicate(timeout=60)
    assert (process.returncode, out.splitlines()) == (code, said), errors
    assert list(tmp_path.iterdir()) == [], "the folder goes with the supervisor"


@first_always("sent", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_what_serves_closes_with_its_supervisor(sent: signal.Signals, tmp_path: Path) -> None:
    with started("dies,stay", tmp_path) as process:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(2)] == ["serves\n", "serves SIGSEGV\n"]
        process.send_signal(sent)
        assert process.stdout.read() == "closing\n"
        assert process.wait(20) == (-sent if sent == signal.SIGKILL else 0)
    assert list(tmp_path.iterdir()) == []


def test_what_dies_again_soon_rests_longer_and_then_for_the_whole_window(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rests: list[float] = []
    supervisor = _Supervisor([], tmp_path, (1.0, 5.0), 60.0)
    Kept(tmp_path).serves(7860)
    monkeypatch.setattr(supervisor, "_served", lambda: 1)
    monkeypatch.setattr(supervisor._asked, "wait", lambda seconds: rests.append(seconds) or len(rests) == 4)
    monkeypatch.setattr(signal, "signal", lambda *given: None)
    assert supervisor.run() == 0
    assert rests == [1.0, 5.0, 60.0, 60.0]


def test_what_is_kept_is_whole_and_an_hour_old_at_most(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.put("run-a", b"first")
    kept.put("run-b", b"second")
    kept.serves(7)
    for name in ("run-a", "port"):
        os.utime(tmp_path / name, (time.time() - KEPT_S - 1,) * 2)
    assert kept.names("run-") == ["run-a", "run-b"]
    _Supervisor([], tmp_path, (), 0.0)._sweep()
    assert (kept.names("run-"), kept.get("run-a"), kept.get("run-b"), kept.port) == (["run-b"], None, b"second", 7)
    nowhere = Kept(tmp_path / "none")  # a folder that cannot be written to
    nowhere.put("run-a", b"x")
    assert (nowhere.get("run-a"), nowhere.names("run-"), nowhere.ends) == (None, [], [])


def test_finished_runs_outlive_the_process(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    first = Runs(kept)
    for name, records in (("a" * 32, [{"event": "commit"}]), ("b" * 32, [])):
        run = first.announce(Run(name, state={"mode": "live", "text": name[0]}, live=records))
        run.done()
        first.keep(run)
    assert first.unknown == says.NO_LONGER
    kept.put("ends", b"SIGSEGV")
    second = Runs(kept)
    found = second.get("a" * 32)
    assert found is not None and (found.stage, found.state["text"]) == ("done", "a")
    assert found.records == [{"event": "commit"}]
    assert second.get("b" * 32) is None
    assert second.unknown == says.RESTARTED
    for number in range(30):  # what is forgotten is forgotten on the disk too
        second.announce(Run(f"{number:032}", stage="done"))
    assert kept.names("run-") == []


@pytest.mark.everything
def test_the_real_server_comes_back_where_it_was_with_the_runs_of_before(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "HSD_CACHE": str(tmp_path / "cache"), "TMPDIR": str(tmp_path)}
    environment.pop("GRADIO_SERVER_PORT", None)
    name = "a" * 32
    with subprocess.Popen(
        [sys.executable, "app.py"], cwd=ROOT, stdout=subprocess.PIPE, text=True, env=environment, preexec_fn=hearing
    ) as server:
        try:
            assert server.stdout is not None
            address = next(line for line in server.stdout if "127.0.0.1" in line).split()[-1]
            with httpx.Client(base_url=address, timeout=60) as client:
                before = client.get("/health").json()
                assert (before["restarts"], before["pid"] != server.pid) == (0, True)
                ((folder,)) = [path for path in tmp_path.iterdir() if path.name.startswith("hsd-explorer-")]
                Runs(Kept(folder)).keep(Run(name, stage="done", state={"mode": "live"}, packed=b"x"))
                while Kept(folder).port is None:  # it has just begun to listen
                    time.sleep(0.01)
                os.kill(before["pid"], signal.SIGSEGV)
                assert address in next(line for line in server.stdout if "127.0.0.1" in line)
                after = client.get("/health").json()
                assert after["restarts"] == 1 and after["pid"] not in (before["pid"], server.pid)
            server.send_signal(signal.SIGINT)
            assert server.wait(20) == 0
            assert not folder.exists()
        finally:
            server.kill()
