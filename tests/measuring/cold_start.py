"""How long a visitor waits where nobody was before: a measurement, no test.

    python -m tests.measuring.cold_start [--times 3] [--only program|weights|static]

- program: from the start of `app.py`, its weights converted, to its first answer, to the first frame of Explore's
  replay in a browser, and to the first token of a run of one's own, Generate being pressed as soon as it can be;
- weights: the same, once, where weights are to be fetched from PyPI and converted first;
- static: the page without a server from a server of plain files on this machine, from navigation to the first frame.

Each page is a browser's first: it has nothing of it. Files of this machine may lie in its memory.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from app.site.written import write
from hsd_core.models.machine import describe
from tests.measuring.page_times import FIRST_FRAME
from tests.measuring.serving import chromium, served

LONGEST_S, LOOK_MS = 600, 20
KNOWN = """
document.querySelector(".hx-status[data-mode='live']") && document.querySelector(".hx-flow .hx-tok:not([data-known])")
"""
OWN = """
document.querySelector(".hx-status[data-mode='live']") && document.querySelector(".hx-flow .hx-tok:not([data-known])")
"""
STEPS = ("first answer", "first frame of the replay", "first token of one's own")


def program(browser: Browser, **variables: str) -> list[float]:
    """Seconds from the program's start to each of `STEPS`."""
    began = time.monotonic()
    with served(**variables) as url, _page(browser) as page:
        times = [time.monotonic() - began]
        page.goto(f"{url}/?explore=1")
        _until(page, "window.firstFrame")
        times.append(time.monotonic() - began)
        page.evaluate(KNOWN)
        page.get_by_role("button", name="Generate").click()
        _until(page, OWN)
        return [*times, time.monotonic() - began]


def static(browser: Browser, url: str) -> float:
    """Seconds from navigation to the first frame of the replay."""
    with _page(browser) as page:
        page.goto(f"{url}/index.html?explore=1")
        _until(page, "window.firstFrame")
        return float(page.evaluate("firstFrame")) / 1000


@contextmanager
def files() -> Iterator[str]:
    """The address of the page without a server, on a server of plain files."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Nothing is said."""

    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        server.server_close()


@contextmanager
def _page(browser: Browser) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    page.add_init_script(FIRST_FRAME)
    page.set_default_timeout(60_000)
    yield page
    context.close()


def _until(page: Any, true: str) -> None:
    """Asked over and over from outside: the page's own policy lets nothing ask within it."""
    until = time.monotonic() + LONGEST_S
    while not page.evaluate(f"Boolean({true})"):
        if time.monotonic() > until:
            raise TimeoutError(f"{true} is not so after {LONGEST_S} s")
        page.wait_for_timeout(LOOK_MS)


def _line(what: str, times: list[float]) -> None:
    each = f"   of {', '.join(f'{one:.2f}' for one in sorted(times))} s" if times[1:] else ""
    print(f"  {what:28}{statistics.median(times):6.2f} s{each}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=3, help="that each is measured, but for weights (default 3)")
    parser.add_argument("--only", choices=("program", "weights", "static"), help="one of them (default: all)")
    options = parser.parse_args()
    print(describe())
    with chromium() as browser:
        if options.only in (None, "program"):
            print("program, weights converted")
            program(browser)  # weights are there now, and compiled scripts
            for what, times in zip(
                STEPS, zip(*(program(browser) for _ in range(options.times)), strict=True), strict=True
            ):
                _line(what, list(times))
        if options.only in (None, "weights"):
            print("program, weights to be fetched and converted")
            with tempfile.TemporaryDirectory() as folder:
                for what, took in zip(STEPS, program(browser, HSD_CACHE=folder), strict=True):
                    _line(what, [took])
        if options.only in (None, "static"):
            print("static")
            with files() as url:
                _line(STEPS[1], [static(browser, url) for _ in range(options.times)])


if __name__ == "__main__":
    main()
