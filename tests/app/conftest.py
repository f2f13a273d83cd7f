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
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pagekit import SEEN, UNFOLDED, launched, slowed, write_recordings

from hsd_core.pipeline import Pipeline

VISITOR: dict[str, Any] = {"viewport": {"width": 1440, "height": 900}, "accept_downloads": True}
NO_OTHER_HOST = "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost"
TESTS = count()
CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser")  # the first takes a tenth less of the processors
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
def browser() -> Iterator[Any]:
    if os.environ.get("HSD_REQUIRE_BROWSER"):
        import playwright.sync_api as playwright
    else:
        playwright = pytest.importorskip("playwright.sync_api", reason="pip install playwright to test the page")
    system = next(filter(None, map(shutil.which, CHROMIUM)), None)
    with playwright.sync_playwright() as driver:
        try:
            browser = driver.chromium.launch(executable_path=system, args=["--no-sandbox", NO_OTHER_HOST])
        except playwright.Error:
            pytest.fail(NO_BROWSER) if os.environ.get("HSD_REQUIRE_BROWSER") else pytest.skip(NO_BROWSER)
        browser.new_context = _unfolded(browser.new_context)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def visitor(browser: Any) -> Iterator[Visitor]:
    """One for all pages of a worker."""
    context = browser.new_context(**VISITOR)
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


@dataclass
class Visitor:
    """A browser context, the tab in which its tests open their pages, and the origins at which the last one may have
    stored something."""

    context: Any
    origins: set[str] = field(default_factory=set)
    tab: Tab | None = None


@dataclass
class Tab:
    """One for all tests: what its renderer has compiled makes the next load half as dear."""

    page: Any
    wire: Any
    heard: list[tuple[str, Any]] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, context: Any) -> Tab:
        page = context.new_page()
        tab = cls(page, context.new_cdp_session(page))
        tab.wire.send("Page.enable")
        page.goto, page.reload = _settled(page, page.goto), _settled(page, page.reload)
        page.on, page.add_init_script = tab._on(page.on), tab.begins_with
        return tab

    def renewed(self, origins: set[str]) -> None:
        """As a new one: nothing stored, no history, a desktop's window, the pointer at rest."""
        page = self.page
        page.set_viewport_size(VISITOR["viewport"])
        page.emulate_media(media="null", color_scheme="null", reduced_motion="null", forced_colors="null")
        page.set_default_timeout(90_000)
        page.mouse.move(0, 0)
        self.wire.send("Page.resetNavigationHistory")
        for origin in origins - {"about:blank"}:
            self.wire.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        # What a tab keeps of an origin can be cleared there alone, and a page writes it while it is left.
        test = f"{next(TESTS)}"
        fresh = f"if (sessionStorage.test !== '{test}') {{ sessionStorage.clear(); sessionStorage.test = '{test}'; }}"
        self.begins_with(f"try {{ {fresh} }} catch {{}} {UNFOLDED}")

    def begins_with(self, script: str) -> None:
        """Every document of this test does."""
        added = self.wire.send("Page.addScriptToEvaluateOnNewDocument", {"source": script})
        self.scripts.append(added["identifier"])

    def left(self) -> None:
        page = self.page
        while self.heard:
            page.remove_listener(*self.heard.pop())
        while self.scripts:
            self.wire.send("Page.removeScriptToEvaluateOnNewDocument", {"identifier": self.scripts.pop()})
        page.unroute_all(behavior="ignoreErrors")
        page.goto("about:blank", wait_until="commit")

    def _on(self, on: Any) -> Any:
        def hears(event: str, heard: Any) -> None:
            self.heard.append((event, heard))
            on(event, heard)

        return hears


@contextmanager
def _watched(visitor: Visitor) -> Iterator[Any]:
    tab = visitor.tab = visitor.tab or Tab.of(visitor.context)
    tab.renewed(visitor.origins)
    visitor.origins.clear()
    page, others = tab.page, visitor.context.pages
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(f"script error: {error}"))
    page.on("dialog", lambda dialog: (faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("requestfailed", lambda failed: faults.append(f"outside: {failed.url}") if _outside(failed.url) else None)
    page.on("framenavigated", lambda frame: visitor.origins.add("/".join(frame.url.split("/")[:3])))
    yield page
    for one in visitor.context.pages:
        if one not in others:
            one.close()
    if faults or page.is_closed():
        visitor.tab = None
        page.close()
    else:
        tab.left()
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
