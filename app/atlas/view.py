"""The Atlas tab: one component that owns it, and the route of the systems with what was measured of them here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.routing import Route

from app.atlas.our_figures import OurFigures
from app.atlas.sublayer_ladder import ladder
from app.atlas.systems import Systems
from app.kit.mounted import Mounted
from app.kit.packed import PackedBody
from app.kit.payload import dumps
from app.kit.static import ROUTE
from app.play.recordings import Recordings
from hsd_core.drafts.known_drafts import FOLDER as DRAFTS
from hsd_core.stacks.grammar import grammar

LISTING = f"{ROUTE}/systems"


def build() -> None:
    """Add the tab's component to the Blocks that is open."""
    Mounted("atlas", setup={"grammar": grammar()})


def systems_route(folder: Path, results: Path, recordings: Recordings, drafts: Path = DRAFTS) -> Route:
    """GET of the systems, read and checked now: the log names those passed over. Figures are looked up when somebody
    first asks."""
    systems = Systems(folder)

    def listed() -> bytes:
        ours = OurFigures(results, recordings)

        def shown(one: dict[str, Any]) -> dict[str, Any]:
            system = systems.found[one["id"]]
            kept = system.recording if ours.recorded(system) else None
            found = ladder(drafts, system.sublayers)
            return {**one, "recording": kept, "ours": ours.of(system), "sublayers": found}

        return dumps({"systems": [shown(one) for one in systems.listing()]}).encode()

    return Route(LISTING, PackedBody(listed, "application/json").__call__, methods=["GET"])
