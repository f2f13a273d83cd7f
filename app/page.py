"""The page: its tabs, and how Gradio serves them without reaching outside."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import gradio as gr
from starlette.middleware import Middleware

from app.kit.reference_route import REFERENCE, reference_route
from app.kit.supervised import NOWHERE, Kept
from app.programs import endpoints
from app.programs.tool_calls import ToolCalls
from app.serve.door.checked import CheckedPosts
from app.serve.door.connections import limit
from app.serve.door.cross_origin import CrossOrigin
from app.serve.door.guard import API, CALLS, TOOLS, Guard
from app.serve.door.packed_page import PackedPage
from app.serve.door.policy import SPACES, SecurityPolicy, app_options
from app.serve.door.presence import Presence, left_route
from app.serve.door.proxied import Proxied, Public, space_id
from app.serve.engine import Engine
from app.serve.line.class_caps import ClassCaps
from app.serve.offer import EVERYTHING, ServerOffer
from app.serve.watch.health import watch_routes
from app.serve.watch.logs import hide_messages
from app.tabs import NAMES
from app.tabs.explore.opening_run import opening
from app.tabs.explore.recordings import MAX_CALL, Recordings
from app.tabs.explore.view import Play
from app.tabs.planner.profiles.engine_outputs import MAX_REQUEST
from app.tabs.planner.routes import DOCTOR
from app.tabs.shipped import Shipped
from app.words import page as says
from app.workshop.room import Room
from app.workshop.room_routes import COOKIE, room_routes
from hsd_core.grammar.stack_text import grammar
from hsd_core.typed.program_files import ASSETS

VIEWS = {name: import_module(f"app.tabs.{name}.view") for name in NAMES}
IN_FLIGHT = 64  # requests that Gradio holds before they reach our own line
SESSIONS = 100  # whose last values Gradio keeps; a page that returns after more makes a new one
_SYSTEM = ("system-ui", "-apple-system", "Segoe UI", "Roboto", "Noto Sans", "sans-serif")
_SYSTEM_MONO = ("ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "DejaVu Sans Mono", "monospace")


class Page(gr.Blocks):
    """The Blocks of the page; `presence` is where the web server's middleware says who is connected, `health` and
    `metrics` what it says of itself, `left` is told of a run whose page is closed; in a class, `person` says whose
    browser sends these cookies."""

    presence: Presence
    health: Callable[[], dict[str, Any]]
    metrics: Callable[[], bytes]
    left: Callable[[str], None]
    person: Callable[[Mapping[str, str]], str] | None = None


def build(
    pipeline: Any,
    traces: Path = ASSETS / "traces",
    *,
    offer: ServerOffer = EVERYTHING,
    results: Path = ASSETS / "results",
    profiles: Path = ASSETS / "profiles",
    engine: Engine | None = None,
    room: Room | None = None,
    caps: ClassCaps | None = None,
    kept: Kept = NOWHERE,
) -> Page:
    """The whole page. No model is opened and torch is not imported.

    Args:
        pipeline: the class `hsd_core.pipeline.Pipeline`, or another with its `catalogue` and `open`.
        traces: folder of the recordings to bundle.
        offer: what visitors may load.
        results: folder of the bundled benchmarks.
        profiles: folder of the profiles that are shipped.
        engine: what works for visitors; None for one in this process.
        room: of the class that is held here. caps: on the runs of its learners.
        kept: what outlives this process.
    """
    play = Play(pipeline, Recordings(traces), offer, engine, kept)
    shipped = Shipped(traces, results, profiles, offer=offer)
    demo = Page(title=says.TITLE, analytics_enabled=False, fill_width=True)
    service = play.service
    demo.presence, demo.health, demo.metrics = service.presence, service.health, service.metrics.text
    demo.left = service.runs.leave
    if room is not None:
        _hold(demo, play, room, caps or ClassCaps())
    with demo:
        with gr.Tabs(elem_id="tabs", overflow_behavior="wrap"):  # no tab hides in a menu: the bar scrolls (layout.css)
            for name, view in VIEWS.items():
                with gr.Tab(view.TITLE, id=name, elem_id=f"tab-{name}"):
                    view.build(play, shipped)
        gr.HTML(says.footer(REFERENCE[1:], space_id()), elem_id="foot", padding=False)
        endpoints.add(play, profiles, offer.source, offer.dtype)
        demo.unload(_nothing)  # with such a listener the page holds a connection open, which tells it from a script
    demo.queue(max_size=IN_FLIGHT, api_open=False)
    return demo


def launch_options(
    profiles: Path = ASSETS / "profiles",
    measured: Callable[[], list[dict[str, Any]]] | None = None,
    *,
    traces: Path = ASSETS / "traces",
    results: Path = ASSETS / "results",
    lessons: Path = ASSETS / "lessons",
    races: Path = ASSETS / "races",
    systems: Path = ASSETS / "systems",
    hosts: Collection[str] | None = None,
    frames: Sequence[str] = (),
    callers: Sequence[str] = (),
    offer: ServerOffer = EVERYTHING,
    key: str = "",
    mcp: bool = False,
    room: Room | None = None,
    public: Public = Public(),  # noqa: B008  # frozen
) -> dict[str, Any]:
    """What `launch` needs besides host and port: system fonts, nothing from elsewhere, no routes beyond the page's own.

    Args:
        profiles, measured, traces, results, lessons, races, systems: as in `Shipped`.
        hosts: as in `guard.Guard`.
        frames: origins of other pages that may show this one in a frame. callers: of those that may call it.
        offer, room: as in `build`.
        key: as in `watch_routes`.
        mcp: whether the named endpoints are MCP tools too.
        public: where a proxy serves the page.
    """
    if mcp:
        hide_messages()
    theme = gr.themes.Base(font=list(_SYSTEM), font_mono=list(_SYSTEM_MONO))
    shipped = Shipped(traces, results, profiles, lessons, races, systems, offer, measured)
    own = [
        *(route for view in VIEWS.values() for route in view.routes(shipped)),
        reference_route(),
        left_route(),
        *watch_routes(key),
        *(room_routes(room) if room is not None else ()),
    ]
    diagnoses = (DOCTOR, f"{API}/call/diagnose", f"{API}/call/v2/diagnose", *((TOOLS,) if mcp else ()))
    larger = {CALLS: MAX_CALL, **dict.fromkeys(diagnoses, MAX_REQUEST)}
    guards = [
        Middleware(Proxied, path=public.path),
        Middleware(PackedPage),
        Middleware(SecurityPolicy, frames=(*(SPACES if space_id() else ()), *frames)),
        *([Middleware(CrossOrigin, origins=callers)] if callers else ()),
        Middleware(Guard, larger=larger, hosts=hosts, mcp=mcp, origin=public.origin, allowed=callers),
        Middleware(CheckedPosts),
        *([Middleware(ToolCalls)] if mcp else ()),
    ]
    return {
        "theme": theme,
        "app_kwargs": app_options(own, guards, held=room is not None, story=_story()),
        "enable_monitoring": False,
        "mcp_server": mcp,
        "footer_links": [],
        "run_history": False,
        "state_session_capacity": SESSIONS,
        "ssr_mode": False,
        "show_error": False,
        "quiet": False,
        "root_path": public.address or None,
    }


def serve(demo: gr.Blocks, *, trusted: Sequence[str] = (), **options: Any) -> str:
    """Launch the page without waiting for its end, with bounds on connections; its address.

    Args:
        trusted: as `trusted_proxies` gives them.
        options: of `launch`, such as those of `launch_options`.
    """
    os.environ["FORWARDED_ALLOW_IPS"] = ",".join(trusted)  # for uvicorn, which Gradio starts without arguments of ours
    _, address, _ = demo.launch(**options, prevent_thread_lock=True)
    limit(demo.server)
    return str(address)


def _hold(demo: Page, play: Play, room: Room, caps: ClassCaps) -> None:
    """Runs and questions are those of the room's browsers."""

    def who(cookies: Mapping[str, str]) -> tuple[str, bool, bool]:
        token = cookies.get(COOKIE, "")
        return room.person(token), room.leads(token), room.answered(token)

    demo.person = lambda cookies: who(cookies)[0]
    play.service.hold_class(who, caps)


def _story() -> dict[str, Any] | None:
    """What the story over the page is told of."""
    found = opening()
    return found and {"opening": found, "grammar": grammar()}


def _nothing() -> None:
    """Nothing is kept for a page that would have to be let go."""
