"""What the server would answer, asked of its own routes: the files of a static page have no other source."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import quote

import gradio as gr
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from app.kit.reference_route import NAME
from app.kit.static import ROUTE
from app.page import Page, build, launch_options
from app.site import figures_ahead, planned_ahead, prices_ahead
from app.tabs import NAMES
from app.tabs.explore.opening_run import opening
from app.tabs.explore.recordings import Recordings
from app.tabs.planner.routes import FAULTS, ORIGIN
from app.words import site as says
from hsd_core.core.events import Header
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.presets import catalogue
from hsd_core.typed import encode
from hsd_core.typed.program_files import ASSETS

# Whose answer is worked out, or is a file of the page of its own.
WITHOUT_ANSWER = {*(route.removeprefix(f"{ROUTE}/") for route in (ORIGIN, FAULTS)), NAME}


class Answer(NamedTuple):
    """What a GET below `ROUTE` gives."""

    path: str
    type: str
    body: bytes


class Tab(NamedTuple):
    """A tab: its name, what the tab bar calls it, its component's id, what the script of that is told once, and its
    first value."""

    name: str
    title: str
    element: str
    setup: dict[str, Any]
    value: str


class Unplanned(Pipeline):
    """Default stacks are the presets' own: nobody knows on which machine a copy of the page is read."""

    catalogue = staticmethod(catalogue)


def tabs() -> list[Tab]:
    """The tabs of the page as Gradio would tell their scripts; nothing can be run, and the Planner is told where its
    answers are that were worked out ahead."""
    demo = build(Unplanned)
    found = {name: _tab(demo, name) for name in NAMES}
    found["explore"].setup["opening"] = opening()
    found["planner"].setup["ahead"] = {
        key: {**_places(key), "stops": planned_ahead.stops(profile)}
        for key, profile in planned_ahead.profiles().items()
    }
    return list(found.values())


def _places(profile: str) -> dict[str, str]:
    """Where a profile's answers lie, below `ROUTE`."""
    return {name: f"planner/{name}/{quote(profile)}" for name in planned_ahead.Ahead._fields}


def _tab(demo: Page, name: str) -> Tab:
    found: Any = next(block for block in demo.blocks.values() if isinstance(block, gr.Tab) and block.id == name)
    one = found.children[0]
    setup = json.loads(one.props["setup"])
    for preset in setup.get("catalogue", setup.get("presets", [])):
        preset |= {"usable": False, "reason": says.NO_ENGINE, "needs_download": False}
    return Tab(name, str(found.label), one.elem_id, {**setup, "static": True}, one.value or "")


def answers(recordings: list[str]) -> Iterator[Answer]:
    """Every answer that a static page may ask for.

    Args:
        recordings: their names.
    Raises:
        RuntimeError: a route of the page has no answer.
    """
    own = [route for route in launch_options(measured=list)["app_kwargs"]["routes"] if isinstance(route, Route)]
    with TestClient(Starlette(routes=own)) as client:

        def got(path: str) -> Answer:
            reply = client.get(f"{ROUTE}/{path}")
            if reply.status_code != 200:
                raise RuntimeError(says.no_answer(path, reply.status_code))
            return Answer(path, reply.headers["content-type"].split(";")[0], reply.content)

        for route in own:
            path = route.path.removeprefix(f"{ROUTE}/")
            if path != route.path and "GET" in (route.methods or ()) and "{" not in path and path not in WITHOUT_ANSWER:
                yield got(path)
        for races in ("races", "races/load"):
            for entry in json.loads(client.get(f"{ROUTE}/{races}").content):
                yield got(f"{races}/{quote(entry['name'])}")
        for name in recordings:
            yield got(f"recordings/{quote(name)}")
    yield from _of_recordings(recordings)
    for key, profile in planned_ahead.profiles().items():
        made = planned_ahead.ahead(profile)._asdict()
        for name, path in _places(key).items():
            yield _made(path, made[name])


def _of_recordings(names: list[str]) -> Iterator[Answer]:
    """What a server works out of recordings when somebody looks: their figures, and the prices of their stacks."""
    shelf, headers = Recordings(ASSETS / "traces"), list[Header]()
    yield _made(figures_ahead.TEMPLATE, figures_ahead.template())
    for name in names:
        events = shelf.events(name)
        headers += (event for event in events if isinstance(event, Header))
        yield _made(f"{figures_ahead.TEMPLATE}/{quote(name)}", figures_ahead.figures(events))
    yield _made(prices_ahead.PRICES, prices_ahead.prices(headers))


def _made(path: str, value: Any) -> Answer:
    return Answer(path, "application/json", encode(value))
