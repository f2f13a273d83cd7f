"""What the page's tests share: hand-written traces, a slow consumer of the real engine, a served page."""

from __future__ import annotations

import asyncio
import base64
import os
import socket
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from app.serve.engine import Job
from app.serve.line.known_runs import Run
from app.serve.line.run_lengths import ANY, RunKind
from hsd_core.core.events import (
    FORMAT,
    SCHEMA,
    Bonus,
    Commit,
    Committed,
    Event,
    Footer,
    Header,
    LevelInfo,
    LevelTotal,
    Piece,
    Prefill,
    Row,
    Verify,
    Work,
)
from hsd_core.trace import file as tracefile

HOSTILE = (
    "${alert(1)}",
    "`${document.title='PWNED'}`",
    "<img src=x onerror=window.PWNED=1>",
    "{{x}}",
    "{{{value}}}",
    "</script><script>window.PWNED=2</script>",
    " 🌅👩‍👩‍👧",
    " صباح الخير",
    " שלום",
    " 早上好",
    "\n",
    "${x",
)

# A browser that has seen the story, so that a page without parameters opens Explore.
SEEN = 'try { localStorage.setItem("hx-story", "1"); } catch {}'

# A visitor who has opened all that lies one press behind the first screen (js/shared/visit/panels.js), in this session.
OPENED = "time prediction stack controls details"
UNFOLDED = (
    f"try {{ if (!('hx-panels' in sessionStorage)) sessionStorage.setItem('hx-panels', '{OPENED}'); }} catch {{}}"
)
CALM = "panel="  # in an address: nothing is open, as on a first visit

SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => shifts.push(...list.getEntries().map((entry) => [entry.startTime, entry.value])))
  .observe({type: "layout-shift", buffered: true});
"""


def awaited(work: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine returns. It runs in a thread: a driven browser leaves a loop in that of the tests.

    Raises:
        TimeoutError: what it waits for has not come after two minutes.
    """

    async def limited() -> Any:
        return await asyncio.wait_for(work, 120.0)

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, limited()).result()


def plain_run(pieces: Sequence[str], *, title: str = "handmade", label: str = "target") -> list[Event]:
    """A trace of plain decoding that writes these pieces, one a round."""
    vocabulary = list(dict.fromkeys(pieces))
    level = LevelInfo(0, "target", "target", label, None, None, None, "tokenwise", True, "cpu", "float32")
    events: list[Event] = [
        Header(
            FORMAT,
            SCHEMA,
            "target",
            (level,),
            {"temperature": 0.0, "top_k": 0, "top_p": 1.0},
            0,
            (0,),
            len(pieces),
            True,
            "plain decoding",
            preset="handmade",
            machine="<b>machine</b>",
            recorded="2026-01-02",
            title=title,
        ),
        *(Piece(i, base64.b64encode(text.encode()).decode()) for i, text in enumerate(vocabulary)),
        Prefill(0, 1, 0, 1_000_000),
    ]
    t = 1_000_000
    for at, text in enumerate(pieces):
        chosen = vocabulary.index(text)
        row = Row((chosen,), (0.9,), 0.1)
        events += [
            Verify(at, 0, None, at, Work(1, 1), (), t, t + 5_000_000),
            Bonus(at, 0, at, at, chosen, 0.9, t + 5_000_000, row),
            Commit(at, at, (Committed(at, chosen, 0, "bonus", "model", ()),), t + 5_000_000),
        ]
        t += 5_000_000
    total = LevelTotal(0, len(pieces), len(pieces), 0, len(pieces), 5_000_000 * len(pieces))
    events.append(Footer("length", len(pieces), len(pieces), 1_000_000, t - 1_000_000, (total,)))
    return events


def drawn(page: Any) -> None:
    """Waits until the page has drawn what it was told: it draws in the next frame."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def visit(
    page: Any, site: str, query: str, size: tuple[int, int] = (1440, 900), ready: str = ".hx-flow .hx-tok"
) -> None:
    """Opens an address in a window of this size; a recording then rests at its end."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{site}/?{query}")
    page.wait_for_selector(ready)
    drawn(page)


@asynccontextmanager
async def at_tools(url: str) -> AsyncIterator[Any]:
    """A session of a real MCP client at the tools of a server."""
    from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client

    async with (
        streamable_http_client(f"{url}/gradio_api/mcp/") as (read, write, _),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        yield session


@contextmanager
def launched(pipeline: Any, **options: Any) -> Iterator[str]:
    """The address of a page over this pipeline while the block runs. options: of `launch_options`, `build`, `serve`."""
    from app.page import build, launch_options, serve

    demo = build(pipeline, **{name: options[name] for name in ("traces", "results", "room", "caps") if name in options})
    options.pop("caps", None)
    trusted = options.pop("trusted", ())
    settings = {**launch_options(**options), "quiet": True}
    address = serve(demo, trusted=trusted, server_name="127.0.0.1", server_port=_port(), **settings)
    try:
        yield address.rstrip("/")
    finally:
        demo.close()


def _port() -> int:
    """The first that is free of this process's: what a browser keeps of a server's scripts holds for the next one."""
    first = 10_000 + 100 * (os.getpid() % 220)
    for port in range(first, first + 100):
        with socket.socket() as tried, suppress(OSError):
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind(("127.0.0.1", port))
            return port
    raise OSError(f"no port from {first} on is free")


def worst_window(shifts: list[tuple[float, float]]) -> float:
    """Cumulative layout shift: the largest sum within five seconds whose gaps are below one second."""
    sums, began, last = [0.0], -1e9, -1e9
    for at, value in shifts:
        if at - last > 1000 or at - began > 5000:
            began = at
            sums.append(0.0)
        sums[-1] += value
        last = at
    return max(sums)


def toy_run(pipeline: Any, prompt: str = "The tower of levels", **options: Any) -> list[Event]:
    """A run of the real engine on the preset that needs no weights."""
    toy = next(p for p in pipeline.catalogue() if p["name"] == "toy")
    pipeline = pipeline.open("toy")
    return list(pipeline.run(toy["default_stack"], prompt, max_new_tokens=40, baseline=True, **options))


def write_recordings(folder: Path, pipeline: Any) -> Path:
    """Two recordings: one of the real engine, one whose every text is hostile."""
    tracefile.write(folder / "00-toy.jsonl.gz", toy_run(pipeline, title="A toy tower"))
    hostile = plain_run(HOSTILE, title="<img src=x onerror=window.PWNED=3>", label="{{x}}${alert(1)}")
    tracefile.write(folder / "01-hostile.jsonl.gz", hostile)
    return folder


class AllHere:
    """A pipeline whose weights need not be fetched."""

    @staticmethod
    def missing_weights(preset: str, stacks: Sequence[str], **_: Any) -> list[Any]:
        return []


def asked(
    write: Callable[[Run], Iterator[dict[str, Any]]], kind: RunKind = ANY, run: str = "r" * 32
) -> tuple[Any, Any]:
    """A job that writes so, and a request for it that needs no weights."""
    job = Job("written", SimpleNamespace, lambda loader, request, run: write(run))  # type: ignore[arg-type]
    return job, SimpleNamespace(run=run, kind=kind, preset="toy", stacks=[])


def slowed(pipeline: Any, seconds: float = 0.005) -> Any:
    """The same pipeline read by a slow consumer, so that there is time to press Stop."""

    class Slow(AllHere):
        catalogue = staticmethod(pipeline.catalogue)

        def __init__(self, pipeline: Any) -> None:
            self._bench = pipeline

        @classmethod
        def open(cls, preset: str, **options: Any) -> Slow:
            return cls(pipeline.open(preset, **options))

        def run(self, *args: Any, **options: Any) -> Iterator[Event]:
            for event in self._bench.run(*args, **options):
                time.sleep(seconds)
                yield event

    return Slow
