"""Ctrl+C ends the server at once, whatever it is doing, and leaves nothing half-made."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")

# As in a terminal: a shell that runs the tests in the background has its children ignore Ctrl+C.
hearing = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)

SERVER = """
import sys, threading, time
from pathlib import Path

from app.serve.engines.closing import Closing

what, folder = sys.argv[1], Path(sys.argv[2])

class Bench:
    @classmethod
    def open(cls, preset, *, progress=None):
        work = folder / "half-made"
        work.mkdir()
        try:
            while True:
                time.sleep(60 if what == "deaf" else 0.05)
                progress("download", 1, 2)
        finally:
            work.rmdir()

class Demo:
    @property
    def is_running(self):
        if not hasattr(self, "said") and what == "dropped":
            class Ends:
                def __del__(self):  # Python drops what is raised in here
                    print("ready", flush=True)
                    time.sleep(5)
            Ends()
        elif not hasattr(self, "said"):
            print("ready", flush=True)
        self.said = True
        return True

closing = Closing()
bench = closing.over(Bench)
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(2)  # whose threads Python joins at its end
pool.submit(bench.open, "any") if what not in ("running", "dropped") else pool.submit(time.sleep, 60)
time.sleep(0.3)
closing.serve(Demo)
"""


@pytest.mark.parametrize(
    ("what", "sent"),
    [
        ("loading", signal.SIGINT),
        ("deaf", signal.SIGTERM),
        ("dropped", signal.SIGINT),
        pytest.param("running", signal.SIGINT, marks=pytest.mark.everything),
        pytest.param("loading", signal.SIGTERM, marks=pytest.mark.everything),
        pytest.param("deaf", signal.SIGINT, marks=pytest.mark.everything),
        pytest.param("running", signal.SIGTERM, marks=pytest.mark.everything),
        pytest.param("dropped", signal.SIGTERM, marks=pytest.mark.everything),
    ],
)
def test_an_interrupt_ends_the_process_while_threads_work(tmp_path: Path, what: str, sent: signal.Signals) -> None:
    code = [sys.executable, "-c", SERVER, what, str(tmp_path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(code, stdout=pipe, stderr=pipe, text=True, preexec_fn=hearing) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(sent)
        asked = time.monotonic()
        said, errors = process.communicate(timeout=20)
        assert process.returncode == 0
        assert said == "closing\n"
        assert ("Traceback" in errors) == (what == "dropped")  # of which Python says that it was ignored
        assert time.monotonic() - asked < 10  # 2 s where the machine has nothing else to do
    assert (tmp_path / "half-made").exists() == (what == "deaf")  # the cache clears such a folder when it is next used


@pytest.mark.everything
def test_the_real_server_ends_on_an_interrupt(tmp_path: Path) -> None:
    environment = {**os.environ, "HSD_CACHE": str(tmp_path)}
    environment.pop("GRADIO_SERVER_PORT", None)
    command = [sys.executable, "-u", "app.py"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, preexec_fn=hearing) as process:
        assert process.stdout is not None
        line = next(line for line in process.stdout if "127.0.0.1" in line)
        import httpx

        address = line.split()[-1]
        with httpx.Client(base_url=address, timeout=60) as client:
            assert client.get("/").status_code == 200
            with client.stream("GET", "/gradio_api/heartbeat/a"):  # a page that is open
                process.send_signal(signal.SIGINT)
                try:
                    assert process.wait(timeout=20) == 0
                finally:
                    process.kill()


def test_an_interrupt_while_the_server_starts_ends_it_too(tmp_path: Path) -> None:
    server = SERVER.replace(
        "closing.serve(Demo)", "closing.serve(lambda: print('ready', flush=True) or time.sleep(60))"
    )
    code = [sys.executable, "-c", server, "running", str(tmp_path)]
    with subprocess.Popen(code, stdout=subprocess.PIPE, text=True, preexec_fn=hearing) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(timeout=20) == 0
        finally:
            process.kill()
