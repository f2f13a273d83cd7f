"""What a crowd does to the server's memory: a measurement, not a test.

    python -m tests.measuring.visitor_load [--visitors 40] [--seconds 180] [--preset toy] [--stack STACK]

Visitors come and go on this machine: some hear their run to its end, some leave in the middle, some while they wait,
some ask and never listen, some call the public endpoint. Printed are the server's resident memory every ten seconds,
what became of the runs, and how much memory grew between the end of the first third (the warm-up) and the end. The app
is started on a free port, or is the one at --url, whose process is --pid.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from tests.app.visiting import TOY, Visit

ROOT = Path(__file__).parents[2]

KINDS = ("whole", "whole", "whole", "leaves", "waits", "unheard", "calls", "calls and leaves")
STEP_S = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", type=int, default=40)
    parser.add_argument("--seconds", type=int, default=180)
    parser.add_argument("--preset", default=TOY["preset"])
    parser.add_argument("--stack", default=TOY["stack"])
    parser.add_argument("--url", default=None, help="a running app (default: one is started)")
    parser.add_argument("--pid", type=int, default=None, help="its process")
    options = parser.parse_args()
    asked = {"preset": options.preset, "stack": options.stack}
    counts: Counter[str] = Counter()
    with _served(options.url, options.pid) as (url, pid):
        until = time.monotonic() + options.seconds
        crowd = [
            threading.Thread(target=_come_and_go, args=(url, asked, until, counts, i), daemon=True)
            for i in range(options.visitors)
        ]
        for visitor in crowd:
            visitor.start()
        sizes = []
        while time.monotonic() < until:
            time.sleep(STEP_S)
            sizes.append(_resident_mb(pid))
            print(f"{STEP_S * len(sizes):>5} s  {sizes[-1]:8.1f} MB  {dict(counts)}", flush=True)
        warm = sizes[len(sizes) // 3]
        print(f"from {warm:.1f} MB after the warm-up to {sizes[-1]:.1f} MB: {100 * (sizes[-1] / warm - 1):+.1f} %")


def _come_and_go(url: str, asked: dict[str, Any], until: float, counts: Counter[str], seed: int) -> None:
    chance = random.Random(seed)
    while time.monotonic() < until:
        kind = chance.choice(KINDS)
        try:
            counts[_visit(url, asked, kind, chance)] += 1
        except (OSError, ValueError, http.client.HTTPException) as error:
            refused = any(word in str(error) for word in ("places for", "places are taken"))
            counts["refused" if refused else f"error: {str(error)[:60]}"] += 1
        time.sleep(chance.uniform(0.2, 2.0))


def _visit(url: str, asked: dict[str, Any], kind: str, chance: random.Random) -> str:
    """One visitor, from arrival to leaving; what became of it."""
    visit = Visit(url, page="call" not in kind, timeout=120.0)
    asked = {**asked, "prompt": "The tower of levels " * chance.randint(1, 20), "seed": chance.randrange(1000)}
    try:
        if kind == "unheard":
            visit.ask("generate", {"run": str(uuid.uuid4()), **asked})
            return kind
        if kind == "calls":
            visit.run_stack(**asked)
            return kind
        if kind == "calls and leaves":
            answer = visit.hear_call(visit.post_call(**asked))
            time.sleep(chance.uniform(0.1, 2.0))
            answer.close()
            return kind
        payloads = visit.generate(**asked, max_new_tokens=chance.randint(20, 200))
        for payload in payloads:
            if payload["status"]["mode"] == "error":
                raise ConnectionError(payload["status"]["text"])
            if kind == "waits" or (kind == "leaves" and payload["ev"]):
                payloads.close()
                break
        return kind
    finally:
        visit.leave()


def _resident_mb(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096 / 1e6


@contextmanager
def _served(url: str | None, pid: int | None) -> Iterator[tuple[str, int]]:
    if url:
        assert pid is not None, "--url needs --pid, the server's process"
        yield url, pid
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-u", "app.py", "--port", str(port)]
    app = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert app.stdout is not None
        for line in app.stdout:  # a crowd that comes before Gradio has looked at itself keeps it from starting
            if "To create a public link" in line:
                break
        time.sleep(2)
        url = f"http://127.0.0.1:{port}"
        yield url, json.load(urlopen(f"{url}/health"))["pid"]
    finally:
        app.terminate()
        app.wait()


if __name__ == "__main__":
    main()
