"""The sections of the reference that are the server's: its options, what bounds a visitor, its routes and figures."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import cleandoc, signature
from typing import Any, get_args

from msgspec.json import schema_components
from prometheus_client.parser import text_string_to_metric_families
from starlette.routing import Route

from app import options
from app.kit.languages import languages
from app.page import build, launch_options
from app.serve import door
from app.serve.door.guard import ENDPOINTS, FOLDERS, MCP, PAGES
from app.serve.watch.prometheus import End, Metrics, Tally
from app.site.answers import Unplanned
from app.site.visitor_limits import visitor_limits
from app.tabs.atlas import systems
from app.tabs.atlas.systems import System
from app.tabs.learn import lessons
from app.tabs.learn.classes import ClassPlan
from app.tabs.learn.lessons import Lesson
from app.tabs.planner.routes import BROUGHT
from app.tabs.planner.worker import QUESTIONS
from app.words import site as says
from app.workshop.room_routes import new_room
from hsd_core.cli.reference import options_of, part_of
from hsd_core.export.reference_page import Entry, Item, Section, anchor
from hsd_core.typed.program_files import ASSETS


def sections() -> list[Section]:
    """In the order of the page."""
    return [
        Section("The page's server", "server", says.SERVER, list(options_of(options.command_line(), "app"))),
        Section("Environment variables", "variables", says.VARIABLES_ARE, _variables()),
        Section("Limits of a visitor", "limits", says.LIMITS, _limits()),
        Section("HTTP", "http", says.HTTP, list(_routes())),
        Section("Named endpoints", "endpoints", says.ENDPOINTS, entries=_endpoints()),
        Section("Prometheus", "prometheus", says.PROMETHEUS, list(_metrics())),
        Section("Files of lessons", "lessons", lessons.__doc__ or "", entries=_files("lesson", Lesson, ClassPlan)),
        Section("Files of the Atlas", "systems", systems.__doc__ or "", entries=_files("system", System)),
        Section("Against misuse", "misuse", cleandoc(door.__doc__ or "").partition("\n\n")[2]),
    ]


def _variables() -> list[Item]:
    return [Item(name, text, anchor("variable", name)) for name, text in says.VARIABLES.items()]


def _limits() -> list[Item]:
    return [
        Item(
            f"{one.what}: {one.shown}",
            f"{one.why} (`app/{one.module.replace('.', '/')}.py` `{one.name}`)",
            anchor("limit", one.module, one.name),
            code=False,
        )
        for one in visitor_limits()
    ] + [
        Item(
            f"the answer of a processor to the question {one.NAME}: {one.SECONDS:g} s",
            f"{one.HELP} (`{one.__name__}` `SECONDS`)",
            anchor("limit", one.__name__),
            code=False,
        )
        for one in QUESTIONS
    ]


def routes() -> list[Route]:
    """Those of our own, of a class too."""
    own = launch_options(measured=list, room=new_room())["app_kwargs"]["routes"]
    return [route for route in own if isinstance(route, Route)]


def _routes() -> Iterator[Item]:
    said = says.ROUTES | {BROUGHT[one.NAME]: one.HELP for one in QUESTIONS}
    said |= {f"/hx/lessons/{name}": said["/hx/lessons"] for name in languages(ASSETS)[1:]}
    for route in routes():
        method = " or ".join(sorted((route.methods or set()) - {"HEAD"}))
        yield Item(f"{method} {route.path}", said[route.path], anchor("route", route.path))
    own = {route.path for route in routes()}
    for path in sorted((PAGES | ENDPOINTS | MCP | {f"{folder}*" for folder in FOLDERS}) - own - {"/hx/*"}):
        yield Item(path, says.GRADIO, anchor("route", path))


def _files(what: str, *kinds: type) -> list[Entry]:
    """Objects of data files that people write. what: of their anchors."""
    _, parts = schema_components(kinds)
    return [
        part_of(name, {**part, "description": cleandoc(part.get("description", ""))}, what, refers=what)
        for name, part in parts.items()
    ]


def _endpoints() -> list[Entry]:
    demo = build(Unplanned)
    public = [one for one in demo.fns.values() if one.api_visibility == "public" and isinstance(one.api_name, str)]
    return [_endpoint(str(one.api_name), one.fn) for one in public]


def _endpoint(name: str, function: Any) -> Entry:
    taken = [one for one in signature(function).parameters.values() if one.name != "request"]
    given = [f"{one.name}={one.default!r}" if one.default is not one.empty else one.name for one in taken]
    text = f"`{name}({', '.join(given)})`\n\n{cleandoc(function.__doc__ or '')}"
    return Entry(f"`{name}`", anchor("endpoint", name), text)


def _metrics() -> Iterator[Item]:
    metrics = Metrics(lambda: _HEALTH)
    for end in get_args(End):
        metrics.ended("run", "toy", end, Tally(levels={1: ("target", 1, 1)}), 1.0)
    for family in text_string_to_metric_families(metrics.text().decode()):
        if family.name.endswith("_created"):
            continue
        labels = {label for sample in family.samples for label in sample.labels} - {"le"}
        name = f"{family.name}_total" if family.type == "counter" else family.name
        shown = f"{name}{{{', '.join(sorted(labels))}}}" if labels else name
        yield Item(shown, f"{family.documentation} ({family.type})", anchor("metric", name))


_HEALTH: dict[str, Any] = {
    **{"waiting": 0, "running": 0, "places": 1, "restarts": 0, "memory": 0},
    "engine": {"state": "ok", "restarts": 0, "pid": 0, "memory": 0},
}
