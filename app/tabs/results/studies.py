"""The bundled studies of systems: files in the folders of results, which `page.py` of a system reads.

Such a file has `STUDY`, the name by which the page asks; `FILES`, a pattern below the folder of results; `LARGEST`, in
bytes; and `study(path)`, which gives what the page draws of a file, checked, or raises a ValueError.
"""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from starlette.routing import Route

from app.kit.packed import PackedBody
from app.kit.payload import dumps
from app.kit.static import ROUTE
from app.kit.system_pages import system_pages

log = logging.getLogger(__name__)


def studies(page: ModuleType, folder: Path) -> list[dict[str, Any]]:
    """Each with its `id`. One that cannot be read is left out, and the log says why."""
    found = []
    for path in sorted(folder.glob(page.FILES)):
        try:
            if (size := path.stat().st_size) > page.LARGEST:
                raise ValueError(f"it has {size} bytes; at most {page.LARGEST} are expected")
            found.append({"id": path.parent.name, **page.study(path)})
        except (ValueError, OSError, RecursionError) as error:
            log.warning("the study in %s is passed over: %s", path, error)
    return found


def addresses(folder: Path) -> dict[str, str]:
    """Where the page asks for the studies of a name; of those that are in the folder."""
    return {
        page.STUDY: f"{ROUTE}/{page.STUDY}" for page in system_pages("study").values() if any(folder.glob(page.FILES))
    }


def studies_routes(folder: Path) -> list[Route]:
    """GET of the bundled studies of each name, read now."""
    routes = []
    for page in system_pages("study").values():
        text = dumps({"studies": studies(page, folder)}).encode()
        packed = PackedBody(partial(bytes, text), "application/json")
        routes.append(Route(f"{ROUTE}/{page.STUDY}", packed.__call__, methods=["GET"]))
    return routes
