"""The named endpoints, for gradio_client, for curl and as MCP tools; the page's own events are for the page alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from gradio import events

from app.play.view import Play
from app.programs.plans import Planning
from app.programs.runs import comparing, running
from app.programs.traces import reading


def add(play: Play, profiles: Path, target: Callable[[str], str] = lambda name: "") -> None:
    """Add them to the Blocks that is open.

    Args:
        play: whose line, engine, recordings and reader of files they use.
        profiles, target: as in `plans.Planning`.
    """
    for endpoint in (
        running(play.service, play.catalogue),
        comparing(play.service, play.catalogue),
        *Planning(profiles, target).endpoints(),
        *reading(play.recordings, play.reader),
    ):
        # The line before the engine, and the turns of the others, are our own.
        events.api(endpoint, api_name=endpoint.__name__, concurrency_limit=None)
