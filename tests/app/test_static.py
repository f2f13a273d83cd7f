"""Scripts and styles under an address that names their content: kept by the browser, never stale."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from app.kit.static import ASSETS, FIRST, Files, files
from app.page import build, launch_options
from app.serve.door.policy import app_options
from hsd_core.export.run_page import empty_page, system_assets
from hsd_core.pipeline import Pipeline

SCRIPT = "js/tabs/planner/planner.js"


@pytest.fixture
def client() -> TestClient:
    return TestClient(Starlette(**app_options()), follow_redirects=False)


def test_every_script_and_style_is_served_to_be_kept(client: TestClient) -> None:
    assert {"js/tabs/explore/explore.js", SCRIPT, "css/planner.css"} <= set(files().names)
    for name in files().names:
        reply = client.get(f"{files().route}/{name}")
        assert reply.status_code == 200, name
        assert reply.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert reply.headers["content-type"].startswith("text/javascript" if name.endswith(".js") else "text/css")


def test_the_page_asks_at_once_for_what_the_first_screen_needs_and_for_nothing_of_another_tab() -> None:
    links = files().links()
    assert f"<{files().route[1:]}/js/first.js>; rel=modulepreload" in links
    assert f"<{files().route[1:]}/css/first.css>; rel=preload; as=style" in links
    assert "planner" not in links


def test_a_changed_file_changes_the_address(tmp_path: Path) -> None:
    for name in ("js/a.js", "js/tab/b.js", "css/a.css"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    routes = [Files(tmp_path).route, Files(tmp_path).route]
    assert routes[0] == routes[1]
    for name in ("js/a.js", "js/tab/b.js", "css/a.css"):
        (tmp_path / name).write_text("2")
        routes.append(Files(tmp_path).route)
    (tmp_path / "js/a.js").rename(tmp_path / "js/c.js")
    routes.append(Files(tmp_path).route)
    assert len(set(routes)) == 5


def test_the_page_and_a_saved_run_are_whole_without_the_folder_of_a_system(tmp_path: Path) -> None:
    for folder in ("js", "css", "text"):
        shutil.copytree(ASSETS / folder, tmp_path / folder)
    scripts = system_assets(tmp_path, "js")
    assert "js/systems/ngram/ngram.js" in scripts and set(scripts) <= set(Files(tmp_path).first)
    assert all(f'$["{script}"]' in empty_page(tmp_path) for script in scripts)
    empty_page.cache_clear()
    for script in scripts:
        shutil.rmtree((tmp_path / script).parent)
    left = Files(tmp_path)
    assert system_assets(tmp_path, "js") == system_assets(tmp_path, "css") == []
    assert "js/tabs/explore/explore.js" in left.first and not [
        name for name in left.names if name.count("/") > 2 and "/systems/" in name
    ]
    assert "/systems/ngram/" not in empty_page(tmp_path)
    empty_page.cache_clear()


def test_a_page_that_was_open_during_an_update_is_sent_to_the_scripts_of_today(client: TestClient) -> None:
    reply = client.get(f"/hx/0123456789abcdef/{SCRIPT}")
    assert reply.status_code == 307
    assert reply.headers["cache-control"] == "no-store"
    assert str(reply.url.join(reply.headers["location"])) == f"http://testserver{files().route}/{SCRIPT}"


@pytest.mark.parametrize(
    "path", ["/hx/js/shared/kit/dom.js", "{}/js/none.js", "{}/%2e%2e/app.py", "/hx/0123456789abcdef/none"]
)
def test_other_addresses_hold_nothing(client: TestClient, path: str) -> None:
    assert client.get(path.format(files().route)).status_code == 404


class Seen:
    """ASGI middleware that writes down which of our files are asked for."""

    def __init__(self, app: Any, *, paths: list[str]) -> None:
        self.app, self.paths = app, paths

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"].startswith("/hx/"):
            self.paths.append(scope["path"])
        await self.app(scope, receive, send)


@pytest.fixture
def watched(recordings: Path) -> Iterator[tuple[str, list[str]]]:
    """The page's address, and what was asked for below /hx."""
    demo, paths = build(Pipeline, recordings), []
    options = {**launch_options(traces=recordings), "quiet": True}
    options["app_kwargs"]["middleware"].insert(0, Middleware(Seen, paths=paths))
    _, address, _ = demo.launch(server_name="127.0.0.1", prevent_thread_lock=True, **options)
    yield address, paths
    demo.close()


@pytest.mark.everything
@pytest.mark.browser
def test_other_tabs_cost_nothing_until_they_are_opened(page: Any, shipped: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.partition("?")[0]))
    page.goto(f"{shipped}/?explore=1")
    page.wait_for_selector(".hx-tower")
    of_others = [url for url in asked if re.search("/hx/.*(/race|planner|results|plotly)", url)]
    prices = ("/planner/price", "/planner/faults")  # for the tower's own prediction
    assert [url for url in of_others if not url.endswith(prices)] == []


@pytest.mark.everything
@pytest.mark.browser
def test_a_second_visit_asks_for_no_script_and_no_style(page_alone: Any, watched: tuple[str, list[str]]) -> None:
    (address, paths), page = watched, page_alone

    def visit() -> list[str]:
        paths.clear()
        page.goto(address)
        page.wait_for_selector(".hx-tower")
        page.get_by_role("button", name="share").click()
        page.wait_for_selector(".hx-share")
        page.keyboard.press("Escape")
        page.get_by_role("tab", name="Race").click()
        page.wait_for_selector(".hx-race-row")
        page.get_by_role("tab", name="Planner").click()
        page.wait_for_selector(".hx-al-answer:not(:empty)")
        page.get_by_role("tab", name="Learn").click()
        page.get_by_text("Draft and verify").first.wait_for()
        page.get_by_role("tab", name="Results").click()
        page.wait_for_selector(".hx-res-bars")
        page.get_by_role("tab", name="Atlas").click()
        page.wait_for_selector(".hx-atlas-one")
        return [path for path in paths if path.endswith((".js", ".css")) and "/lib/" not in path]

    # A saved run, the page without a server and a class have files of their own, which no other page asks for; what
    # marks a frame stands in the page itself.
    others = ("offline", "js/site/", "css/site.css", "workshop", "shared/share/framed.js")
    own = {f"{files().route}/{name}" for name in files().names if not any(part in name for part in others)}
    first = {f"{files().route}/{name}" for name in (*FIRST, *files().first)}
    assert len(first) > 100 and set(visit()) | first == own | first
    assert visit() == []
