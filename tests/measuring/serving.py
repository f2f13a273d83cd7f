"""The app in a process of its own and a browser for it, for measurements and pictures."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parents[2]


@contextmanager
def served(url: str | None = None, *options: str, **variables: str) -> Iterator[str]:
    """The address of a running app: `url`, or one that is started on a free port, with more options and variables, and
    ended afterwards."""
    if url:
        yield url
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "app.py", "--port", str(port), *options]
    app = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **variables}, stdout=subprocess.DEVNULL)
    try:
        url = f"http://127.0.0.1:{port}"
        for _ in range(1200):
            try:
                urllib.request.urlopen(url, timeout=1).close()
                break
            except OSError:
                time.sleep(0.05)
        yield url
    finally:
        app.terminate()
        app.wait()


@contextmanager
def chromium() -> Iterator[Browser]:
    """The system's Chromium, else playwright's own, without a window."""
    with sync_playwright() as driver:
        system = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = driver.chromium.launch(executable_path=system, args=["--no-sandbox"])
        yield browser
        browser.close()
