"""A frame whose sandbox takes away what the page needs: it says what is missing instead of opening for ever."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from pagekit import launched

from hsd_core.pipeline import Pipeline

SAID = {
    "allow-scripts": "its sandbox lacks allow-same-origin",
    "allow-scripts allow-same-origin": "",
}


@pytest.fixture
def parents(tmp_path: Path) -> Iterator[str]:
    """The address of pages elsewhere, which are files in `tmp_path`."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.mark.browser
@pytest.mark.everything
def test_a_frame_says_what_its_sandbox_lacks(browser: Any, recordings: Path, tmp_path: Path, parents: str) -> None:
    context = browser.new_context()
    with launched(Pipeline, traces=recordings, frames=(parents,)) as url:
        without_scripts = httpx.get(url).text.split("<noscript>")[1].split("</noscript>")[0]
        assert "its sandbox needs allow-scripts and allow-same-origin" in without_scripts
        for number, (given, said) in enumerate(SAID.items()):
            frame = f'<iframe sandbox="{given}" src="{url}/?explore=1" width="900" height="700"></iframe>'
            (tmp_path / f"{number}.html").write_text(frame, encoding="utf-8")
            page = context.new_page()
            page.goto(f"{parents}/{number}.html", wait_until="commit")
            inside = page.frame_locator("iframe")
            (inside.get_by_text(said) if said else inside.locator(".hx-stage")).wait_for()
            page.close()
    context.close()
