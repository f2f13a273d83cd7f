"""How smooth the page is in headless Chromium on this machine: a measurement, no test.

    python -m tests.measuring.page_times [--tokens 10000] [--loads 5] [--only scrub]

- load: with nothing cached, from navigation to the first frame of the opening, and of Explore with tokens; what came
  over the network four seconds later, before anybody pressed anything; how far the layout shifted (as the Web Vitals
  count it).
- scrub: frames a second while the playback slider of a long run is dragged over all of it and back, and what the
  longest of them took; the same for jumps to places all over the run.
- live: how much of one processor the page's main thread takes while a run of 20 rounds a second arrives.

The app is started on a free port; the live run is a recording that is handed out at that pace.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from hsd_core.core.events import Commit, Event
from hsd_core.pipeline import Pipeline
from hsd_core.trace import file as tracefile
from tests.app.pagekit import SHIFTS, AllHere, worst_window
from tests.measuring.repeated import repeated
from tests.measuring.serving import ROOT, chromium, served

SOURCE = ROOT / "assets" / "traces" / "01-code.jsonl.gz"
ROUNDS_PER_S = 20
LIVE_S = 12
GOALS = {"first frame": 1.0, "bytes": 1.0, "shift": 0.05, "drag": 30.0, "busy": 15.0}

FIRST_FRAME = """
new MutationObserver((_, seen) => {
  if (!document.querySelector("html[data-story] .hx-story-says, html:not([data-story]) .hx-flow .hx-tok")) return;
  seen.disconnect();
  requestAnimationFrame(() => setTimeout(() => { window.firstFrame = performance.now(); }));
}).observe(document, {childList: true, subtree: true});
"""
# Each frame moves the slider; the page draws what it was told in the frame after it.
SCRUB = """
async (places) => {
  const slider = document.querySelector(".hx-transport-slider");
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const times = [await frame()];
  for (const place of places) {
    slider.value = place;
    slider.dispatchEvent(new Event("input", {bubbles: true}));
    times.push(await frame());
  }
  times.push(await frame());
  return times.slice(1).map((time, i) => time - times[i]);
}
"""


class Recorded(AllHere):
    """A pipeline that hands out a recording, its rounds at an even pace."""

    catalogue = staticmethod(Pipeline.catalogue)

    def __init__(self, events: list[Event]) -> None:
        self._events = events

    def open(self, preset: str, **options: Any) -> Recorded:
        return self

    def run(self, *args: Any, **options: Any) -> Iterator[Event]:
        due = time.monotonic()
        for event in self._events:
            yield event
            if isinstance(event, Commit):
                due += 1 / ROUNDS_PER_S
                time.sleep(max(0.0, due - time.monotonic()))


def load(browser: Browser, url: str, loads: int) -> None:
    for query in ("story=1", "explore=1"):
        print(f"/?{query}")
        _loaded(browser, f"{url}/?{query}", loads)


def _loaded(browser: Browser, url: str, loads: int) -> None:
    first, sizes, shifts = [], [], []
    for _ in range(loads):
        with _page(browser) as page:
            page.add_init_script(SHIFTS + FIRST_FRAME)
            wire = page.context.new_cdp_session(page)
            wire.send("Network.enable")
            came: list[float] = []
            wire.on("Network.loadingFinished", lambda event, came=came: came.append(event["encodedDataLength"]))
            page.goto(url)
            page.wait_for_function("window.firstFrame")
            page.wait_for_timeout(4000)
            first.append(page.evaluate("firstFrame") / 1000)
            sizes.append(sum(came) / 1e6)
            shifts.append(worst_window(page.evaluate("shifts")))
    _line("first frame", f"{statistics.median(first):.2f} s", statistics.median(first) < GOALS["first frame"], 1)
    print(f"    of {loads} loads: {', '.join(f'{one:.2f}' for one in sorted(first))} s")
    _line("before interaction", f"{max(sizes):.2f} MB", max(sizes) < GOALS["bytes"], 1)
    _line("layout shift", f"{max(shifts):.3f}", max(shifts) < GOALS["shift"], 0.05)


def scrub(browser: Browser, url: str, tokens: int) -> None:
    with _page(browser) as page, tempfile.TemporaryDirectory() as folder:
        page.emulate_media(reduced_motion="reduce")  # a replay does not go on by itself
        path = Path(folder) / "long.jsonl.gz"
        path.write_bytes(repeated(SOURCE, tokens))
        page.goto(f"{url}/?explore=1")
        page.wait_for_selector(".hx-flow .hx-tok")
        page.locator(".hx-text-panel input[type=file]").set_input_files(path)
        page.locator(".hx-text-panel h2", has_text=path.name).wait_for(timeout=120_000)
        page.wait_for_timeout(1000)
        there = [round(1000 * i / 150) for i in range(151)]
        _frames("drag over the run", page.evaluate(SCRUB, [*reversed(there), *there]), GOALS["drag"])
        _frames("drag over a tenth", page.evaluate(SCRUB, [500 + abs(100 - i) for i in range(200)]), GOALS["drag"])
        _frames("jumps", page.evaluate(SCRUB, [617 * i % 1001 for i in range(60)]), None)


def live(browser: Browser) -> None:
    from app.page import build, launch_options

    demo = build(Recorded(tracefile.read(repeated(SOURCE, 6 * ROUNDS_PER_S * (LIVE_S + 4)))))
    _, url, _ = demo.launch(server_name="127.0.0.1", prevent_thread_lock=True, **{**launch_options(), "quiet": True})
    try:
        with _page(browser) as page:
            page.goto(f"{url}?preset=smollm2&stack=ngram:2,int4:5,target")
            page.locator(".hx-flow .hx-tok").first.wait_for()
            wire = page.context.new_cdp_session(page)
            # Its processor time, so that what others take of the machine is not counted.
            wire.send("Performance.enable", {"timeDomain": "threadTicks"})
            page.get_by_role("button", name="Generate").click()
            page.wait_for_selector(".hx-status[data-mode='live']")
            page.wait_for_timeout(2000)
            before, at, began = _metrics(wire), _round(page), time.monotonic()
            page.wait_for_timeout(1000 * LIVE_S)
            after, rounds, lasted = _metrics(wire), _round(page) - at, time.monotonic() - began
    finally:
        demo.close()
    share = {name: 100 * (after[name] - before[name]) / lasted for name in after if name.endswith("Duration")}
    _line("main thread, live", f"{share['TaskDuration']:.0f} %", share["TaskDuration"] < GOALS["busy"], 15)
    parts = ", ".join(f"{name} {share[f'{name}Duration']:.0f} %" for name in ("Script", "RecalcStyle", "Layout"))
    print(f"    {parts}, at {rounds / lasted:.1f} rounds/s")


def _metrics(wire: Any) -> dict[str, float]:
    return {one["name"]: one["value"] for one in wire.send("Performance.getMetrics")["metrics"]}


def _round(page: Page) -> int:
    return int(page.locator(".hx-transport-clock").inner_text().split()[1].partition("/")[0])


@contextmanager
def _page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    yield context.new_page()
    context.close()


def _frames(what: str, ms: list[float], goal: float | None) -> None:
    rate = 1000 * len(ms) / sum(ms)
    _line(what, f"{rate:.0f} frames/s", None if goal is None else rate >= goal, goal)
    ranked = sorted(ms)
    high = ranked[int(0.95 * len(ms))]
    print(f"    a frame: {statistics.median(ms):.0f} ms, 95 % {high:.0f}, longest {ranked[-1]:.0f}")


def _line(what: str, found: str, reached: bool | None, goal: float | None) -> None:
    verdict = "" if reached is None else f"goal {goal:g}: {'reached' if reached else 'MISSED'}"
    print(f"{what:24}{found:>14}   {verdict}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=10_000, help="of the long run (default 10000)")
    parser.add_argument("--loads", type=int, default=5, help="how often the page is opened (default 5)")
    parser.add_argument("--only", choices=("load", "scrub", "live"), default=None, help="one of the three")
    options = parser.parse_args()
    with chromium() as browser:
        parts: dict[str, Callable[[str], None]] = {
            "load": lambda url: load(browser, url, options.loads),
            "scrub": lambda url: scrub(browser, url, options.tokens),
        }
        wanted = [part for name, part in parts.items() if options.only in (None, name)]
        if wanted:
            with served(None) as url:
                for part in wanted:
                    part(url)
        if options.only in (None, "live"):
            live(browser)


if __name__ == "__main__":
    main()
