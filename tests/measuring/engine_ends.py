"""What those who read notice of an engine that dies: a measurement, no test.

    python -m tests.measuring.engine_ends [--place prompt] [--readers 8] [--seconds 12] [--gguf FILE]

Readers, each a client of its own, open recordings and races and ask the Planner, one thing a second or so each. The
engine writes one run after another, until it is sent SIGSEGV, SIGKILL or SIGSTOP, each in a server of its own: while it
reads a prompt (--place prompt), in a round (round), or while it converts weights (weights: those of --gguf, else the
preset's own, which are fetched for it; before that the engine does nothing). Printed are how long answers took, and
what was no answer, before that, while the engine is down (until the next run has its first token), and after it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import tempfile
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx

from hsd_core.stacks.targets import unread_preset
from tests.app.visiting import Visit
from tests.measuring.serving import ROOT, served

SIGNALS = (signal.SIGSEGV, signal.SIGKILL, signal.SIGSTOP)
BEFORE, DOWN, AFTER = PHASES = ("before", "while it is down", "after")
THINK_S = 1.0  # between two things that a reader does, in the mean
LONGEST_S = 200.0  # for a run to come to where the signal is sent, and for the engine to come back
PROFILE = json.loads((ROOT / "assets" / "profiles" / "smollm2-cpu.json").read_text(encoding="utf-8"))
PROMPTS = {
    "prompt": "The tower has levels, and each level guesses what the next one would write. " * 95,  # seconds to read
    "round": "Tell a long story about a lighthouse.",
    "weights": "Tell a short story.",
}
Payload = dict[str, Any]


def at_place(place: str) -> Callable[[Payload], bool]:
    """Whether a run, as its payload says, is where the signal is to be sent."""
    if place == "prompt":
        return lambda said: said["status"].get("phase") == "prompt"
    if place == "weights":
        return lambda said: said["status"].get("stage") == "convert"
    return written


def written(said: Payload) -> bool:
    """Whether a run has written anything."""
    return any(record["event"] == "commit" for record in said["ev"])


class Measured:
    """Answers by what was going on when they were asked for: `ms`, and `wrong`, what was no answer."""

    def __init__(self, url: str) -> None:
        self.url, self.phase, self.over = url, BEFORE, threading.Event()
        recordings, races = (
            [path.name.partition(".")[0] for path in sorted((ROOT / "assets" / kind).glob("*.jsonl.gz"))]
            for kind in ("traces", "races")
        )
        self.paths = [*(f"/hx/recordings/{name}" for name in recordings), *(f"/hx/races/{name}" for name in races)]
        self.ms: defaultdict[str, list[float]] = defaultdict(list)
        self.wrong: defaultdict[str, list[str]] = defaultdict(list)

    def warm(self) -> None:
        """Everything is asked for once: a server reads each file at its first use."""
        with self._client() as client:
            for path in self.paths:
                client.get(path)
            client.post("/hx/planner/answer", json={"profile": PROFILE, "figures": []})

    def read(self, number: int) -> None:
        """What one reader does."""
        chance = random.Random(number)
        with self._client() as client:
            while not self.over.wait(chance.expovariate(1 / THINK_S)):
                asked = {"profile": PROFILE, "rejections": round(chance.uniform(0.5, 2.0), 2), "figures": []}
                plans, path = chance.random() < 0.25, chance.choice(self.paths)
                phase, began = self.phase, time.perf_counter()
                try:
                    reply = client.post("/hx/planner/answer", json=asked) if plans else client.get(path)
                    reply.raise_for_status()
                except httpx.HTTPError as error:
                    self.wrong[phase].append(str(error)[:80])
                self.ms[phase].append((time.perf_counter() - began) * 1000)

    def _client(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, trust_env=False, timeout=60.0)


def measure(place: str, sent: signal.Signals, readers: int, seconds: float, gguf: Path | None) -> None:
    """One server, one signal; prints a line for each phase."""
    with tempfile.TemporaryDirectory() as cache:
        own = {"HSD_CACHE": cache} if place == "weights" else {}
        more = ("--targets", str(gguf)) if place == "weights" and gguf else ()
        preset = unread_preset(str(gguf)).name if more else "smollm2"
        with served(None, *more, **own) as url:
            measured = Measured(url)
            measured.warm()
            asked = {"preset": preset, "stack": "ngram:4,target", "prompt": PROMPTS[place], "max_new_tokens": 96}

            def run(until: Callable[[Payload], bool]) -> bool:
                """A run, left once it is so; whether it came to that."""
                with closing(Visit(url).generate(**asked, run=str(uuid.uuid4()), baseline=False)) as payloads:
                    return any(until(said) for said in payloads)

            def work(until: float) -> None:
                while place != "weights" and time.monotonic() < until:
                    run(written if place == "prompt" else lambda said: False)
                time.sleep(max(0.0, until - time.monotonic()))

            if place != "weights":
                run(written)  # the weights are opened
            threads = [threading.Thread(target=measured.read, args=(i,), daemon=True) for i in range(readers)]
            for thread in threads:
                thread.start()
            work(time.monotonic() + seconds)
            down = time.monotonic()

            def struck(said: Payload) -> bool:
                nonlocal down
                if measured.phase == BEFORE and at_place(place)(said):
                    measured.phase, down = DOWN, time.monotonic()
                    os.kill(httpx.get(f"{url}/health", trust_env=False).json()["engine"]["pid"], sent)
                return measured.phase == DOWN and place == "weights" and written(said)

            back = False
            while measured.phase == BEFORE:
                assert time.monotonic() - down < LONGEST_S, f"no run came to its {place}"
                back = run(struck)  # weights are converted again for the run that asked for them, others have ended
            while not back:
                assert time.monotonic() - down < LONGEST_S, "the engine did not come back"
                time.sleep(0.2)
                back = run(written)
            took = time.monotonic() - down
            measured.phase = AFTER
            work(time.monotonic() + seconds)
            measured.over.set()
            for thread in threads:
                thread.join(60.0)
    for phase in PHASES:
        ranked = sorted(measured.ms[phase])
        p50, p95 = (ranked[int(share * (len(ranked) - 1))] for share in (0.5, 0.95))
        when = f"{phase}, {took:.1f} s" if phase == DOWN else phase
        figures = f"{len(ranked):>5} {p50:>7.0f} {p95:>7.0f} {ranked[-1]:>7.0f} {len(measured.wrong[phase]):>6}"
        print(f"{place:8} {sent.name:8} {when:26} {figures}", flush=True)
        for said in sorted(set(measured.wrong[phase])):
            print(f"    {said}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--place", choices=PROMPTS, action="append", help="where it is struck (default: at all three)")
    parser.add_argument("--readers", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=12.0, help="before it dies, and after it came back")
    parser.add_argument("--gguf", type=Path, help="weights to convert")
    options = parser.parse_args()
    print(f"{'place':8} {'signal':8} {'':26} {'asked':>5} {'p50 ms':>7} {'p95 ms':>7} {'most':>7} {'errors':>6}")
    for place in options.place or PROMPTS:
        for sent in SIGNALS:
            measure(place, sent, options.readers, options.seconds, options.gguf)


if __name__ == "__main__":
    main()
