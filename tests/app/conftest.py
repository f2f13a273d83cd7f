"""A served page and a browser for it. Without a browser its tests are skipped, and say how to get one;
with HSD_REQUIRE_BROWSER set they fail."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pagekit import SEEN, UNFOLDED, launched, slowed, write_recordings

from hsd_core.pipeline import Pipeline

NO_BROWSER = "no Chromium was found: apt-get install chromium, or python -m playwright install chromium"


@pytest.fixture(scope="session")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_recordings(tmp_path_factory.mktemp("traces"), Pipeline)


@pytest.fixture(scope="session")
def site(recordings: Path) -> Iterator[str]:
    """The address of the page, served with the real engine read slowly."""
    with launched(slowed(Pipeline), traces=recordings) as address:
        yield address


@pytest.fixture(scope="session")
def shipped() -> Iterator[str]:
    """The address of the page with the recordings that it ships."""
    with launched(Pipeline) as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    if os.environ.get("HSD_REQUIRE_BROWSER"):
        import playwright.sync_api as playwright
    else:
        playwright = pytest.importorskip("playwright.sync_api", reason="pip install playwright to test the page")
    with playwright.sync_playwright() as driver:
        system = shutil.which("chromium") or shutil.which("chromium-browser")
        try:
            browser = driver.chromium.launch(executable_path=system, args=["--no-sandbox"])
        except playwright.Error:
            if os.environ.get("HSD_REQUIRE_BROWSER"):
                pytest.fail(NO_BROWSER)
            pytest.skip(NO_BROWSER)
        browser.new_context = _unfolded(browser.new_context)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page at 1440 x 900 that has seen the story; its test fails on a script error or a request to another host."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, accept_downloads=True)
    context.add_init_script(SEEN)
    page = context.new_page()
    page.set_default_timeout(45_000)
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(f"script error: {error}"))
    page.on("dialog", lambda dialog: (faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda request: faults.append(f"outside: {request.url}") if _outside(request.url) else None)
    page.goto, page.reload = _settled(page, page.goto), _settled(page, page.reload)
    yield page
    context.close()
    assert not faults, faults


def _unfolded(new: Any) -> Any:
    """Tests drive every control: all of them are open, unless the address says what is (`CALM`)."""

    def context(**options: Any) -> Any:
        made = new(**options)
        made.add_init_script(UNFOLDED)
        return made

    return context


def _settled(page: Any, go: Any) -> Any:
    """The first screen is drawn before the tabs are there: a test begins when both are, unless it says `wait_until`."""

    def gone(*args: Any, **options: Any) -> Any:
        reply = go(*args, **options)
        if "wait_until" not in options:
            page.locator("#hx-first").wait_for(state="detached")
        return reply

    return gone


def _outside(url: str) -> bool:
    return not url.startswith(("http://127.0.0.1", "data:", "blob:"))
