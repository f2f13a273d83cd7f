"""How long recordings and the Planner take to answer many visitors while the engine is at work: a measurement, no test.

    python -m tests.measuring.load_times [--visitors 50] [--seconds 40] [--hostile 0] [--url http://127.0.0.1:7860]

Each visitor, under an address of its own, does something every few seconds: opens a recording, or turns a slider of the
Planner (numbers, then one figure). The engine decodes one run after another meanwhile. --hostile: so many connections
of one more visitor ask for plans of the dearest profile that is allowed, over and over. Without --url the app is
started on a free port; other hosts than this one are refused.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import random
import time
from collections import defaultdict
from typing import Any
from urllib.parse import urlsplit

import httpx
from gradio_client import Client

from tests.measuring.serving import ROOT, served
from tests.profiles import dear

BOUND_MS = 300.0
THINK_S = 4.0  # between two things that a visitor does, in the mean
PROFILE = ROOT / "assets" / "profiles" / "smollm2-cpu.json"
RUN = {"prompt": "Tell a long story about a lighthouse.", "stack": "ngram:2,int4:5,target", "preset": "smollm2"}


class Load:
    """The visitors of one measurement and what they met: `ms` by what was asked, `refused` by its answer."""

    def __init__(self, url: str, until: float) -> None:
        self.url, self.until = url, until
        self.ms: defaultdict[str, list[float]] = defaultdict(list)
        self.refused: defaultdict[str, int] = defaultdict(int)
        self.names = [path.name.partition(".")[0] for path in sorted((ROOT / "assets" / "traces").glob("*.jsonl.gz"))]
        self.profile = json.loads(PROFILE.read_text(encoding="utf-8"))

    async def visitor(self, number: int) -> None:
        rng = random.Random(number)
        async with self._client(number) as client:
            await asyncio.sleep(rng.uniform(0, THINK_S))
            while time.monotonic() < self.until:
                if rng.random() < 0.5:
                    await self._timed("recordings", client.get(f"/hx/recordings/{rng.choice(self.names)}"))
                else:
                    asked = {"profile": self.profile, "rejections": round(rng.uniform(0.5, 2.0), 2)}
                    await self._timed("planner", self._ask(client, {**asked, "figures": []}))
                    await self._timed("planner, figure", self._ask(client, {**asked, "figures": ["graph"]}))
                await asyncio.sleep(rng.expovariate(1 / THINK_S))

    async def hostile(self, number: int) -> None:
        async with self._client(255) as client:
            for turn in itertools.count():
                if time.monotonic() >= self.until:
                    return
                await self._timed("hostile", self._ask(client, {"profile": dear(turn + 0.01 * number), "figures": []}))
                await asyncio.sleep(0.05)

    def _client(self, number: int) -> httpx.AsyncClient:
        address = {"x-forwarded-for": f"10.0.0.{number}"}
        return httpx.AsyncClient(base_url=self.url, headers=address, timeout=60.0, trust_env=False)

    def _ask(self, client: httpx.AsyncClient, question: dict[str, Any]) -> Any:
        return client.post("/hx/planner/answer", json=question)

    async def _timed(self, what: str, asked: Any) -> None:
        began = time.perf_counter()
        reply = await asked
        self.ms[what].append((time.perf_counter() - began) * 1000)
        if reply.status_code != 200:
            self.refused[f"{what}: {reply.status_code} {reply.text[:120]}"] += 1


def _engine(client: Client, until: float) -> int:
    """One run after another; the tokens decoded."""
    tokens = 0
    while time.monotonic() < until:
        tokens += int(client.predict(**RUN, max_new_tokens=256, api_name="/run_stack")["totals"]["committed"])
    return tokens


async def measure(url: str, visitors: int, hostile: int, seconds: float) -> None:
    client = Client(url, verbose=False)
    print("one recording, the Planner's tab and one run, to have files and weights read ...", flush=True)
    for path in ("recordings/01-code", "planner/sources"):
        httpx.get(f"{url}/hx/{path}", trust_env=False, timeout=60.0)
    client.predict(**RUN, max_new_tokens=8, api_name="/run_stack")
    began, spent = time.monotonic(), time.process_time()
    load = Load(url, began + seconds)
    engine = asyncio.create_task(asyncio.to_thread(_engine, client, load.until))
    await asyncio.gather(
        *(load.visitor(number) for number in range(visitors)), *(load.hostile(number) for number in range(hostile))
    )
    tokens = await engine
    lasted = time.monotonic() - began
    print(f"{visitors} visitors for {seconds:g} s; the engine decoded {tokens / lasted:.1f} tokens/s")
    print(f"this script itself took {(time.process_time() - spent) / lasted:.0%} of one processor")
    print(f"{'ms':18}{'answers':>8}{'p50':>8}{'p95':>8}{'most':>8}   within {BOUND_MS:g} ms")
    for what, times in sorted(load.ms.items()):
        ranked = sorted(times)
        p50, p95 = (ranked[int(share * (len(ranked) - 1))] for share in (0.5, 0.95))
        within = sum(ms <= BOUND_MS for ms in ranked) / len(ranked)
        print(f"{what:18}{len(ranked):>8}{p50:>8.0f}{p95:>8.0f}{ranked[-1]:>8.0f}   {within:.0%}")
    for what, times_refused in sorted(load.refused.items()):
        print(f"  refused {times_refused} times, {what}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", type=int, default=50, help="visitors at the same time (default 50, at most 200)")
    parser.add_argument("--seconds", type=float, default=40.0, help="how long they stay (default 40, at most 300)")
    parser.add_argument("--hostile", type=int, default=0, help="connections of one who asks for dear plans (default 0)")
    parser.add_argument("--url", default=None, help="a running app on this machine (default: one is started)")
    options = parser.parse_args()
    if options.url and urlsplit(options.url).hostname not in ("127.0.0.1", "localhost"):
        parser.error(f"--url {options.url}: this puts load on a server; give one on 127.0.0.1")
    with served(options.url, "--trust-proxy", "127.0.0.1") as url:
        asyncio.run(measure(url, min(200, options.visitors), min(40, options.hostile), min(300.0, options.seconds)))


if __name__ == "__main__":
    main()
