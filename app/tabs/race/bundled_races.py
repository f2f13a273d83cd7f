"""The races of a folder, and below `load` those of many requests at once, in the order of their file names: a menu of
each, and each as the page shows it."""

from __future__ import annotations

import asyncio
import logging
import zlib
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.kit.faults import bare
from app.kit.packed import PackedBody
from app.kit.payload import dumps
from app.kit.static import ROUTE
from app.tabs.race import words as says
from app.tabs.race.shown import shown
from hsd_core.measure import race
from hsd_core.measure.race.race_file import read_race
from hsd_core.trace.file import TraceError
from hsd_core.typed import opened, plain

RACES = f"{ROUTE}/races"
LOAD_RACES = f"{RACES}/load"
_ENDINGS = (".gz", ".jsonl")
log = logging.getLogger(__name__)


class Races:
    """What is bundled. A file that cannot be read is passed over, with a line in the log."""

    def __init__(self, folder: Path) -> None:
        self.paths = {_name(path): path for path in sorted(folder.glob("*.jsonl*"))}
        self._menu: list[dict[str, Any]] | None = None

    def menu(self) -> list[dict[str, Any]]:
        """What `summary` says of each."""
        if self._menu is None:
            self._menu = [
                {"name": name, **said} for name, path in self.paths.items() if (said := self._first(name, path))
            ]
        return self._menu

    def summary(self, name: str, line: bytes) -> dict[str, Any]:
        """Of a file and its first line: name, title, sentence, stacks, machine and day.

        Raises:
            ValueError: it is of another file.
        """
        found = read_race(line)
        return {
            "name": name,
            "title": found.title or name,
            "about": found.about,
            "stacks": found.stacks,
            "machine": found.machine,
            "recorded": found.recorded[:10],
        }

    def body(self, name: str) -> bytes:
        """A race as the page shows it, as JSON.

        Raises:
            TraceError: it cannot be read. OSError: it is no longer there.
        """
        return dumps(shown(race.read(self.paths[name]), name)).encode()

    def __contains__(self, name: object) -> bool:
        return name in self.paths

    def _first(self, name: str, path: Path) -> dict[str, Any] | None:
        try:
            with opened(path) as file:
                return self.summary(name, file.readline())
        except (OSError, EOFError, ValueError, KeyError, zlib.error) as error:
            log.warning("the race %s is passed over: %s", path.name, error)
            return None


class LoadRaces(Races):
    """The same of many requests at once (`hsd_core/measure/race/load_race.py`), whose records the page takes as they
    are in the file."""

    def summary(self, name: str, line: bytes) -> dict[str, Any]:
        head = plain(line)
        return {"name": name, **{key: head[key] for key in ("load", "stacks", "machine", "recorded")}}

    def body(self, name: str) -> bytes:
        with opened(self.paths[name]) as file:
            return b"[%b]" % b",".join(file.read().splitlines())


def race_routes(folder: Path) -> list[Route]:
    """GET of the menus and of each race; each is read once, at its first use."""
    return [*_routes(LOAD_RACES, LoadRaces(folder / "load")), *_routes(RACES, Races(folder))]


def _routes(route: str, races: Races) -> list[Route]:
    making = asyncio.Lock()
    menu = PackedBody(lambda: dumps(races.menu()).encode(), "application/json", making)
    ready: dict[str, PackedBody] = {}

    async def listed(request: Request) -> Response:
        return await menu(request)

    async def served(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in races:
            return _refused(says.no_race(name[:80]))
        one = ready.setdefault(name, PackedBody(lambda: races.body(name), "application/json", making))
        try:
            return await one(request)
        except (TraceError, OSError) as error:
            return _refused(str(error))

    return [Route(route, listed, methods=["GET"]), Route(f"{route}/{{name}}", served, methods=["GET"])]


def _refused(why: str) -> Response:
    return Response(dumps({"error": bare(why)}), status_code=404, media_type="application/json")


def _name(path: Path) -> str:
    name = path.name
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return name
