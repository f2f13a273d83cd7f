"""A served page and a browser for it. Without a browser its tests are skipped, and say how to get one;
with HSD_REQUIRE_BROWSER set they fail."""

from __future__ import annotations

import gc
import importlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pagekit import SEEN, UNFOLDED, launched, slowed, write_recordings

from hsd_core.pipeline import Pipeline

VISITOR: dict[str, Any] = {"viewport": {"width": 1440, "height": 900}, "accept_downloads": True}
NO_OTHER_HOST = "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost"
NO_BROWSER = "no Chromium was found: apt-get install chromium, or python -m playwright install chromium"


@pytest.fixture(scope="session", autouse=True)
def imported() -> None:
    """What is imported stays: each run that loads a preset collects garbage first, half a second for all modules."""
    importlib.import_module("app.page")
    with suppress(ImportError):
        importlib.import_module("torch")
    gc.collect()
    gc.freeze()


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
def chromium() -> Iterator[Any]:
    """Playwright's Chromium, not started yet."""
    if os.environ.get("HSD_REQUIRE_BROWSER"):
        import playwright.sync_api as playwright
    else:
        playwright = pytest.importorskip("playwright.sync_api", reason="pip install playwright to test the page")
    with playwright.sync_playwright() as driver:
        yield driver.chromium


@pytest.fixture(scope="session")
def browser(chromium: Any) -> Iterator[Any]:
    browser = _started(chromium.launch)
    browser.new_context = _unfolded(browser.new_context)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def visitor(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    """One for all pages of a worker, on a disk: only there Chromium keeps what it has compiled, a third of a page."""
    folder = tmp_path_factory.mktemp("chromium")
    context = _started(chromium.launch_persistent_context, user_data_dir=folder, **VISITOR)
    context.add_init_script(UNFOLDED)
    context.add_init_script(SEEN)
    yield Visitor(context)
    context.close()


@pytest.fixture
def page(visitor: Visitor) -> Iterator[Any]:
    """A page at 1440 x 900 that has seen the story; its test fails on a script error or a request to another host."""
    with _watched(visitor) as page:
        yield page


@pytest.fixture
def page_alone(browser: Any) -> Iterator[Any]:
    """The same for tests of what pages of one visitor share: the clock, and the files that the browser keeps."""
    context = browser.new_context(**VISITOR)
    context.add_init_script(SEEN)
    with _watched(Visitor(context)) as page:
        yield page
    context.close()


@dataclass(frozen=True)
class Visitor:
    """A browser context, and the origins at which its last page may have stored something."""

    context: Any
    origins: set[str] = field(default_factory=set)


def _started(start: Any, **options: Any) -> Any:
    from playwright.sync_api import Error

    system = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        return start(executable_path=system, args=["--no-sandbox", NO_OTHER_HOST], **options)
    except Error:
        if os.environ.get("HSD_REQUIRE_BROWSER"):
            pytest.fail(NO_BROWSER)
        pytest.skip(NO_BROWSER)


@contextmanager
def _watched(visitor: Visitor) -> Iterator[Any]:
    others = visitor.context.pages  # a browser ends with its last page
    page = visitor.context.new_page()
    _forget(visitor, page)
    page.set_default_timeout(90_000)
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(f"script error: {error}"))
    page.on("dialog", lambda dialog: (faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("requestfailed", lambda failed: faults.append(f"outside: {failed.url}") if _outside(failed.url) else None)
    page.on("framenavigated", lambda frame: visitor.origins.add("/".join(frame.url.split("/")[:3])))
    page.goto, page.reload = _settled(page, page.goto), _settled(page, page.reload)
    yield page
    for one in visitor.context.pages:
        if one not in others:
            one.close()
    assert not faults, faults


def _forget(visitor: Visitor, page: Any) -> None:
    """Clears what the last page has stored; nothing of it is open now that could write again."""
    wire = visitor.context.new_cdp_session(page)
    for origin in visitor.origins - {"about:blank"}:
        wire.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
    wire.detach()
    visitor.origins.clear()


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
