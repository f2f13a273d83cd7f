"""The page: its tabs, and how Gradio serves them without reaching outside."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import gradio as gr
from starlette.middleware import Middleware

from app import api
from app.guard import Guard
from app.planner import view as planner
from app.planner.routes import routes
from app.play import Play
from app.policy import SPACES, Policy
from app.recordings import MAX_CALL, Recordings
from app.runs import QUEUE
from app.static import ASSETS, app_options

TITLE = "HSD Explorer"
_SYSTEM = ("system-ui", "-apple-system", "Segoe UI", "Roboto", "Noto Sans", "sans-serif")
_SYSTEM_MONO = ("ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "DejaVu Sans Mono", "monospace")


def build(workbench: Any, traces: Path = ASSETS / "traces") -> gr.Blocks:
    """The whole page. No model is opened and torch is not imported.

    Args:
        workbench: the class `hsd_core.workbench.Workbench`, or another with its `catalogue` and `open`.
        traces: folder of the recordings to bundle.
    """
    play = Play(workbench, Recordings(traces))
    demo = gr.Blocks(title=TITLE, analytics_enabled=False, fill_width=True)
    with demo:
        _tabs([("Play", play.build), ("Planner", planner.build)])
        api.add(play)
    demo.queue(default_concurrency_limit=1, max_size=QUEUE)
    return demo


def launch_options(
    profiles: Path = ASSETS / "profiles",
    measured: Callable[[], list[dict[str, Any]]] | None = None,
    *,
    hosts: Collection[str] | None = None,
) -> dict[str, Any]:
    """What `launch` needs besides host and port: system fonts, nothing from elsewhere, no routes beyond the page's own.

    Args:
        profiles, measured: as in `planner.routes.routes`.
        hosts: as in `guard.Guard`.
    """
    theme = gr.themes.Base(font=list(_SYSTEM), font_mono=list(_SYSTEM_MONO))
    guards = [
        Middleware(Policy, frames=SPACES if os.environ.get("SPACE_ID") else ()),
        Middleware(Guard, max_call=MAX_CALL, hosts=hosts),
    ]
    return {
        "theme": theme,
        "app_kwargs": app_options(routes(profiles, measured), guards),
        "enable_monitoring": False,
        "footer_links": ["api"],
        "run_history": False,
        "ssr_mode": False,
        "show_error": False,
        "quiet": False,
    }


def _tabs(tabs: list[tuple[str, Callable[[], None]]]) -> None:
    """One tab needs no tab bar."""
    if len(tabs) == 1:
        tabs[0][1]()
        return
    with gr.Tabs(elem_id="tabs"):
        for name, fill in tabs:
            with gr.Tab(name, id=name.lower()):
                fill()
