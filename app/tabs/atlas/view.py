"""The Atlas tab: one component that owns it, and the route of the systems with what was measured of them here."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from app.kit.mounted import tab
from app.kit.packed import PackedBody
from app.kit.payload import dumps
from app.kit.static import ROUTE
from app.kit.system_pages import system_pages
from app.tabs.atlas.our_figures import OurFigures
from app.tabs.atlas.systems import System, Systems
from app.tabs.explore.recordings import Recordings
from app.tabs.explore.view import Play
from app.tabs.shipped import Shipped
from app.words import page as says
from hsd_core.grammar import kind_of
from hsd_core.grammar.keys import DEVICE, ID
from hsd_core.grammar.preset import Preset
from hsd_core.grammar.spec import LevelSpec
from hsd_core.grammar.stack_text import parse
from hsd_core.models.drafts.known_drafts import FOLDER as DRAFTS
from hsd_core.models.machine import has_cuda
from hsd_core.models.weights import is_local
from hsd_core.stacks.presets import PRESETS

TITLE = "Atlas"
LISTING = f"{ROUTE}/systems"


def build(play: Play, shipped: Shipped) -> None:
    """Add the tab's component to the Blocks that is open."""
    tab("atlas")


def routes(shipped: Shipped) -> list[BaseRoute]:
    return [systems_route(shipped.systems, shipped.results, Recordings(shipped.traces))]


def systems_route(folder: Path, results: Path, recordings: Recordings, drafts: Path = DRAFTS) -> Route:
    """GET of the systems, read and checked now: the log names those passed over. Figures are looked up when somebody
    first asks, and again when what a system needs first is there."""
    systems = Systems(folder)
    kept: dict[tuple[str, ...], PackedBody] = {}

    def needed() -> tuple[str, ...]:
        return tuple(map(first_needed, systems.found.values()))

    def listed(first: tuple[str, ...]) -> bytes:
        ours, needs = OurFigures(results, recordings), dict(zip(systems.found, first, strict=True))

        def shown(one: dict[str, Any]) -> dict[str, Any]:
            system = systems.found[one["id"]]
            seen = system.recording if ours.recorded(system) else None
            pages = {own: page for own, page in system_pages("drawn").items() if own in system.draws}
            drawn = {own: page.drawn(drafts, system.draws[own]) for own, page in pages.items()}
            return {**one, "recording": seen, "ours": ours.of(system), "drawn": drawn, "first": needs[one["id"]]}

        return dumps({"systems": [shown(one) for one in systems.listing()]}).encode()

    async def answer(request: Request) -> Response:
        first = await to_thread.run_sync(needed)  # which files are there
        if first not in kept:
            kept.clear()
            kept[first] = PackedBody(partial(listed, first), "application/json")
        return await kept[first](request)

    return Route(LISTING, answer, methods=["GET"])


# ---- What a system takes before it runs on this server: its weights, a GPU, what its levels need made


def first_needed(system: System) -> str:
    """A sentence for each thing, with what it takes; "" where nothing is needed, or nothing of it is built here. Looks
    at files alone."""
    if system.stack is None:
        return ""
    preset, specs = PRESETS[system.preset], parse(system.stack)
    said = []
    usable, reason, _ = preset.status()
    if not usable or any(source.kind == "hub" and not is_local(source) for source in preset.sources):
        said.append(says.first_weights(preset.title, reason))
    if any((spec.get(DEVICE) or "cpu") != "cpu" for spec in specs) and not has_cuda():
        said.append(says.FIRST_GPU)
    said += [first for spec in specs if (first := kind_of(spec).placement.first(spec, preset))]
    said += [reason for spec in specs if (reason := _lacks(spec, preset))]
    return " ".join(said)


def _lacks(spec: LevelSpec, preset: Preset) -> str:
    """What a level needs that the preset does not have, such as a drafter that was trained for its target."""
    entries = [] if spec.get(ID) else kind_of(spec).offer(kind_of(spec), preset)
    reasons = [str(entry["reason"]) for entry in entries]
    return f"{reasons[0][0].upper()}{reasons[0][1:]}." if reasons and all(reasons) else ""
