"""Whether what a real server tells those who wait comes true: a measurement, not a test.

    python -m tests.measuring.told_waits [--visitors 12] [--seconds 330] [--warm 60] [--preset smollm2] [--stack STACK]
        [--record FILE]

Pages come, each from an address of its own, ask for a run of some length, wait for it, hear it to its end, rest, and
ask again. Printed is, of those who waited for some seconds, how many waited as long as the middle of the first estimate
that they were told, within 30 %, without those who came in the first --warm seconds, when nobody knew yet what a run
takes; how soon the first sign came; and what was served. With --record the seconds that each
run took of the engine are written as JSON, for `tests/app/test_crowd.py`.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from tests.app.visiting import Visit

ROOT = Path(__file__).parents[2]

LENGTHS = (32, 64, 96, 96, 96, 128)
SHORTEST_S = 5.0  # of a wait: below it the place is told, and seconds hardly matter
OFF = 0.3


@dataclass
class Told:
    """What visitors saw. waits: the ends of what was told first, and what it was; all in seconds."""

    counted_from: float = 0.0
    signs: list[float] = field(default_factory=list)
    waits: list[tuple[float, float, float]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", type=int, default=12)
    parser.add_argument("--seconds", type=int, default=330)
    parser.add_argument("--warm", type=int, default=60)
    parser.add_argument("--port", type=int, default=8104)
    parser.add_argument("--preset", default="smollm2")
    parser.add_argument("--stack", default="ngram:3,int8:6,target")
    parser.add_argument("--record", type=Path, default=None)
    options = parser.parse_args()
    asked = {"preset": options.preset, "stack": options.stack}
    command = [sys.executable, "-u", "app.py", "--port", str(options.port), "--log", "json"]
    app = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    ended: list[dict[str, Any]] = []
    threading.Thread(target=_listen, args=(app, ended), daemon=True).start()
    url, told = f"http://127.0.0.1:{options.port}", Told()
    try:
        _ready(url)
        until = time.monotonic() + options.seconds
        told.counted_from = until - options.seconds + options.warm
        crowd = [
            threading.Thread(target=_visit, args=(url, asked, until, told, i), daemon=True)
            for i in range(options.visitors)
        ]
        for one in crowd:
            one.start()
        for one in crowd:
            one.join(max(0.0, until + 10 - time.monotonic()))
    finally:
        app.terminate()
        app.wait()
    _report(told, [run for run in ended if run["end"] == "done"], options.seconds)
    if options.record:
        runs = [{"tokens": run["asked"], "seconds": run["took_s"]} for run in ended if run["end"] == "done"]
        options.record.write_text(json.dumps({**asked, "runs": runs}) + "\n", encoding="utf-8")


def _listen(app: subprocess.Popen[str], ended: list[dict[str, Any]]) -> None:
    assert app.stderr is not None
    for line in app.stderr:
        if line.startswith("{") and (said := json.loads(line))["logger"] == "hsd.runs":
            ended.append(said)
        else:
            print(line, end="", file=sys.stderr)


def _ready(url: str) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            Visit(url, page=True, timeout=2.0).leave()
            return
        except OSError:
            time.sleep(0.3)
    raise SystemExit("the server did not start")


def _visit(url: str, asked: dict[str, Any], until: float, told: Told, number: int) -> None:
    chance = random.Random(number)
    visit = Visit(url, page=True, source=f"127.0.0.{2 + number}", timeout=300.0)
    time.sleep(chance.uniform(0, 5))
    while time.monotonic() < until:
        came, first, wait, began = time.monotonic(), 0.0, None, 0.0
        prompt = f"Write about the number {chance.randrange(1000)} in plain words."
        for payload in visit.generate(**asked, prompt=prompt, max_new_tokens=chance.choice(LENGTHS)):
            now, state = time.monotonic(), payload["status"]
            first = first or now
            if state["mode"] == "waiting":
                wait = wait or ("wait" in state and (now, *state["wait"])) or None
            elif state["mode"] == "error":
                told.counts[state["text"].split(";")[0][:60]] += 1
            else:
                began = began or now
            if now > until:
                break
        else:
            told.counts["answered"] += 1
        told.signs.append(first - came)
        if wait is not None and came > told.counted_from and began - wait[0] > SHORTEST_S:
            told.waits.append((wait[1], wait[2], began - wait[0]))
        time.sleep(chance.uniform(1, 6))
    visit.leave()


def _report(told: Told, done: list[dict[str, Any]], seconds: float) -> None:
    print(dict(told.counts))
    took = sorted(run["took_s"] for run in done)
    if took:
        print(f"{len(took)} runs in {seconds} s took {median(took):.1f} s each ({took[0]:.1f} to {took[-1]:.1f})")
    signs = sorted(told.signs)
    print(f"first sign: median {median(signs):.2f} s, p95 {signs[int(0.95 * (len(signs) - 1))]:.2f} s")
    if many := len(told.waits):
        near = sum(abs((low + high) / 2 - was) <= OFF * was for low, high, was in told.waits) / many
        within = sum((1 - OFF) * low <= was <= (1 + OFF) * high for low, high, was in told.waits) / many
        print(f"{many} waited over {SHORTEST_S:g} s, in the median {median(was for *_, was in told.waits):.0f} s")
        print(f"{100 * near:.0f} % waited what they were told first, within {100 * OFF:.0f} % of its middle;")
        print(f"{100 * within:.0f} % within {100 * OFF:.0f} % of its ends")


if __name__ == "__main__":
    main()
