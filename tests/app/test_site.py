"""The page without a server: it opens from a disk, shows what was recorded and measured, and says what it cannot do."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.site.written import MOST_MB, write
from hsd_core.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site") / "page"
    assert main(["site", "--out", str(out)]) == 0
    return out


@pytest.fixture
def opened(browser: Any, folder: Path) -> Iterator[Any]:
    """A browser's page that fails its test on an error, and on whatever is asked for outside the folder."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page, faults, here = context.new_page(), list[str](), folder.as_uri()
    page.set_default_timeout(45_000)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    inside = (here, "data:", "blob:")
    page.on("request", lambda asked: faults.append(asked.url) if not asked.url.startswith(inside) else None)
    yield page
    context.close()
    assert not faults, faults


def test_it_is_small_and_nothing_of_it_lies_outside_its_folder(folder: Path) -> None:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < MOST_MB * 1e6
    assert {path.relative_to(folder).parts[0] for path in files} == {"index.html", "hx"}
    index = (folder / "index.html").read_text(encoding="utf-8")
    assert "'unsafe-eval'" not in index and "http://" not in index and "https://" not in index.split("<body")[0]


def test_it_is_written_again_over_itself_but_over_nothing_else(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.site.answers.grids", dict)  # seconds of planning
    before = (folder / "index.html").read_bytes()
    write(tmp_path / "page")
    write(tmp_path / "page")
    assert (tmp_path / "page" / "index.html").read_bytes() == before
    assert {path.name for path in (tmp_path / "page" / "hx").iterdir()} == {
        path.name for path in (folder / "hx").iterdir()
    }
    shutil.rmtree(tmp_path / "page")
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(ValueError, match=r"thesis\.txt.*name an empty folder"):
        write(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_from_a_disk_it_tells_the_story_and_leads_to_explore(opened: Any, folder: Path) -> None:
    opened.goto(f"{folder.as_uri()}/index.html")
    opened.locator(".hx-story").wait_for()
    opened.keyboard.press("Escape")
    opened.locator(".hx-story").wait_for(state="detached")
    opened.locator(".hx-text .hx-tok").nth(5).wait_for()  # it plays
    generate = opened.get_by_role("button", name="Generate")
    assert generate.get_attribute("aria-disabled") == "true" or generate.is_disabled()


def test_every_tab_shows_what_it_shows_elsewhere_and_links_lead_there(opened: Any, folder: Path) -> None:
    opened.goto(f"{folder.as_uri()}/index.html?tab=results")
    opened.locator("#results h2, #results h3").first.wait_for()
    opened.locator("#results table").first.wait_for(state="attached")
    for name, shown in (
        ("Race", "#race .hx-stage"),
        ("Learn", "#learn .hx-stage"),
        ("Planner", "#planner .hx-stage"),
    ):
        opened.get_by_role("tab", name=name).click()
        opened.locator(shown).first.wait_for()
        assert f"tab={name.lower()}" in opened.url
    opened.goto(f"{folder.as_uri()}/index.html?recording=12-hispec&at=3.1")
    opened.locator(".hx-text .hx-tok").first.wait_for()
    assert "recording=12-hispec" in opened.url
