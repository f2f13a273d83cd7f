"""A class over real HTTP: how soon a pushed step is on all screens, and what it does to the page's memory. No test.

    python -m tests.measuring.workshop_load [--browsers 60] [--minutes 5] [--url URL --pid PID --code CODE --key KEY]

Every browser opens the page, holds the connection that tells it from a script, comes in by the code and waits for news;
it answers the lessons' questions and opens recordings, and one in ten is reloaded now and then. The instructor sends
something every few seconds. All of them come from one address, as behind a NAT. Printed are errors, the time from the
instructor's press until each browser has the news (p50, p95, most), and the resident memory of the page's process after
the warm-up and at the end. The app is started on a free port without an engine's work, or is the one at --url.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import socket
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.request import urlopen

import httpx

ROOT = Path(__file__).parents[2]
ROOM = "/hx/room"
EVERY_S = 3.0  # the instructor sends something
THINK_S = 8.0  # between two things that a learner does, in the mean
WARM = 0.2  # of the time, after which memory is compared
SENT = (
    "?tab=learn&lesson=1&step=2",
    "?recording=01-code&at=6.4",
    "?tab=race&race=01-levels",
    "?stack=ngram%3A4%2Ctarget",
    "?tab=learn&lesson=4&step=1",
)
OPENED = ("/hx/recordings/01-code", "/hx/lessons", "/hx/races/01-levels", "/hx/planner/sources")


class Held:
    """One class. `sent`: when the instructor pressed, by the number of what was sent; `ms`: until a browser had it."""

    def __init__(self, url: str, code: str, key: str, until: float) -> None:
        self.url, self.code, self.key, self.until = url, code, key, until
        self.sent: dict[int, float] = {}
        self.ms: list[float] = []
        self.counts: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()

    @property
    def over(self) -> bool:
        return time.monotonic() >= self.until

    async def browser(self, number: int) -> None:
        chance = random.Random(number)
        await asyncio.sleep(chance.uniform(0, 5))
        while not self.over:
            stays = chance.uniform(20, 60) if number % 10 == 0 else 1e9  # then it is reloaded
            ends = min(self.until, time.monotonic() + stays)
            async with httpx.AsyncClient(base_url=self.url, timeout=60.0, trust_env=False) as client:
                try:
                    await self._visit(client, chance, ends)
                except (httpx.HTTPError, AssertionError) as error:
                    self.wrong[f"{type(error).__name__}: {str(error)[:80]}"] += 1
                    await asyncio.sleep(1)

    async def _visit(self, client: httpx.AsyncClient, chance: random.Random, ends: float) -> None:
        await self._got(client, "/")
        await self._post(client, "enter", {"code": self.code})
        heart = asyncio.create_task(self._heartbeat(client))
        busy = asyncio.create_task(self._busy(client, chance, ends))
        version, known = "", 0
        try:
            while time.monotonic() < ends:
                reply = await client.get(f"{ROOM}/now", params={"seen": version})
                had = time.monotonic()
                assert reply.status_code == 200, f"now: {reply.status_code}"
                told = reply.json()
                self.counts["news"] += told["version"] != version
                version = told["version"]
                number = told["sent"]["number"] if told["sent"] else 0
                if known and number > known and number in self.sent:  # who comes late is told of an older one
                    self.ms.append(1000 * (had - self.sent[number]))
                known = number or known
            await busy
        finally:
            for task in (heart, busy):
                task.cancel()
            await asyncio.gather(heart, busy, return_exceptions=True)

    async def _heartbeat(self, client: httpx.AsyncClient) -> None:
        async with client.stream("GET", f"/gradio_api/heartbeat/{uuid.uuid4().hex}", timeout=None) as stream:
            async for _ in stream.aiter_bytes():
                pass

    async def _busy(self, client: httpx.AsyncClient, chance: random.Random, ends: float) -> None:
        while (left := ends - time.monotonic()) > 0:
            await asyncio.sleep(min(left, chance.expovariate(1 / THINK_S)))
            if chance.random() < 0.3:
                await self._post(client, "answer", {"lesson": "01-why-slow", "step": 2, "answer": chance.randrange(3)})
            else:
                await self._got(client, chance.choice(OPENED))

    async def instructor(self) -> None:
        async with httpx.AsyncClient(base_url=self.url, timeout=60.0, trust_env=False) as client:
            await self._post(client, "enter", {"key": self.key})
            number = 0
            while not self.over:
                number += 1
                self.sent[number] = time.monotonic()
                await self._post(client, "send", {"at": SENT[number % len(SENT)]})
                await asyncio.sleep(EVERY_S / 2)
                await self._post(client, "show", {"lesson": "01-why-slow", "step": 2})
                await asyncio.sleep(EVERY_S / 2)

    async def _got(self, client: httpx.AsyncClient, path: str) -> None:
        reply = await client.get(path)
        self.counts["read"] += 1
        assert reply.status_code == 200, f"{path}: {reply.status_code} {reply.text[:80]}"

    async def _post(self, client: httpx.AsyncClient, name: str, body: dict[str, object]) -> None:
        reply = await client.post(
            f"{ROOM}/{name}", content=json.dumps(body), headers={"content-type": "application/json"}
        )
        self.counts[name] += 1
        assert reply.status_code == 200, f"{name}: {reply.status_code} {reply.text[:80]}"


async def measure(url: str, pid: int, code: str, key: str, browsers: int, seconds: float) -> None:
    held = Held(url, code, key, time.monotonic() + seconds)
    spent, began, warm, end = time.process_time(), time.monotonic(), 0.0, 0.0

    async def weighed() -> None:
        nonlocal warm, end
        for part in range(1, 11):
            await asyncio.sleep(max(0.0, began + part * seconds / 10 - time.monotonic()))
            end = _resident_mb(pid)
            warm = end if part / 10 <= WARM else warm
            print(f"{part * seconds / 10:>6.0f} s  {end:7.1f} MB  {dict(held.counts)}", flush=True)

    work = [held.instructor(), weighed(), *(held.browser(number) for number in range(browsers))]
    await asyncio.gather(*work)
    left, ranked = _resident_mb(pid), sorted(held.ms)
    p50, p95 = (ranked[int(share * (len(ranked) - 1))] for share in (0.5, 0.95))
    lasted = time.monotonic() - began
    print(f"{browsers} browsers, {lasted / 60:.1f} min, {len(held.sent)} pushes: {sum(held.wrong.values())} errors")
    for said, times in held.wrong.items():
        print(f"  {times} times {said}")
    print(f"a pushed step reached a browser after {p50:.0f} ms (p50), {p95:.0f} ms (p95), {ranked[-1]:.0f} ms at most")
    grown = 100 * (end / warm - 1)
    print(f"memory of the page: {warm:.1f} MB after the warm-up, {end:.1f} MB at the end ({grown:+.1f} %)")
    print(f"{left:.1f} MB when all have left at once")
    print(f"this script itself took {(time.process_time() - spent) / lasted:.0%} of one processor")


def _resident_mb(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 / 1e6


@contextmanager
def _class_held() -> Iterator[tuple[str, int, str, str]]:
    """A server with a class: its address, process, code and key, read where an instructor reads them."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-u", "app.py", "--workshop", "--host", "127.0.0.1", "--port", str(port)]
    app = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        code = key = ""
        assert app.stdout is not None
        while not key:
            said = app.stdout.readline()
            assert said, "the server ended"
            code = (re.search(r"\?room=(\w+)", said) or [code, code])[1]
            key = (re.search(r"#workshop=(\S+)", said) or [key, key])[1]
        url = f"http://127.0.0.1:{port}"
        yield url, json.load(urlopen(f"{url}/health"))["pid"], code, key
    finally:
        app.terminate()
        with suppress(subprocess.TimeoutExpired):
            app.wait(10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--browsers", type=int, default=60)
    parser.add_argument("--minutes", type=float, default=5.0)
    for name in ("--url", "--code", "--key"):
        parser.add_argument(name, default="")
    parser.add_argument("--pid", type=int, default=0)
    options = parser.parse_args()
    load = options.browsers, 60 * options.minutes
    if options.url:
        assert options.pid and options.code and options.key, "--url needs --pid, --code and --key"
        asyncio.run(measure(options.url, options.pid, options.code, options.key, *load))
        return
    with _class_held() as (url, pid, code, key):
        asyncio.run(measure(url, pid, code, key, *load))


if __name__ == "__main__":
    main()
