"""The races of a folder, in the order of their file names: a menu, and each as the page shows it."""

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
from hsd_core.typed import opened

RACES = f"{ROUTE}/races"
_ENDINGS = (".gz", ".jsonl")
log = logging.getLogger(__name__)


class Races:
    """What is bundled. A file that cannot be read is passed over, with a line in the log."""

    def __init__(self, folder: Path) -> None:
        self._paths = {_name(path): path for path in sorted(folder.glob("*.jsonl*"))}
        self._menu: list[dict[str, Any]] | None = None

    def menu(self) -> list[dict[str, Any]]:
        """Of each: name, title, sentence, stacks, machine and day."""
        if self._menu is None:
            self._menu = [entry for name, path in self._paths.items() if (entry := _summary(name, path))]
        return self._menu

    def body(self, name: str) -> bytes:
        """A race as the page shows it, as JSON.

        Raises:
            TraceError: it cannot be read. OSError: it is no longer there.
        """
        return dumps(shown(race.read(self._paths[name]), name)).encode()

    def __contains__(self, name: object) -> bool:
        return name in self._paths


def race_routes(folder: Path) -> list[Route]:
    """GET of the menu and of each race; each is read once, at its first use."""
    races = Races(folder)
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

    return [Route(RACES, listed, methods=["GET"]), Route(f"{RACES}/{{name}}", served, methods=["GET"])]


def _refused(why: str) -> Response:
    return Response(dumps({"error": bare(why)}), status_code=404, media_type="application/json")


def _name(path: Path) -> str:
    name = path.name
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return name


def _summary(name: str, path: Path) -> dict[str, Any] | None:
    try:
        with opened(path) as file:
            found = read_race(file.readline())
    except (OSError, EOFError, ValueError, zlib.error) as error:
        log.warning("the race %s is passed over: %s", path.name, error)
        return None
    return {
        "name": name,
        "title": found.title or name,
        "about": found.about,
        "stacks": found.stacks,
        "machine": found.machine,
        "recorded": found.recorded[:10],
    }
