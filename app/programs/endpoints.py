"""The named endpoints, for gradio_client, for curl and as MCP tools; the page's own events are for the page alone."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import wraps
from inspect import isasyncgenfunction
from pathlib import Path
from typing import Any

import gradio as gr
from gradio import events

from app.kit.payload import dumps
from app.programs.planning import Planning
from app.programs.runs import Endpoint, comparing, running
from app.programs.traces import reading
from app.serve.service import from_tools
from app.tabs.explore.view import Play


def add(play: Play, profiles: Path, target: Callable[[str], str] = lambda name: "", dtype: str | None = None) -> None:
    """Add them to the Blocks that is open.

    Args:
        play: whose line, engine, recordings and reader of files they use.
        profiles, target, dtype: as in `Planning`.
    """
    for endpoint in (
        running(play.service, play.catalogue, play.longest),
        comparing(play.service, play.catalogue),
        *Planning(profiles, target, dtype).endpoints(),
        *reading(play.recordings, play.reader),
    ):
        # The line before the engine, and the turns of the others, are our own.
        events.api(for_tools(endpoint), api_name=endpoint.__name__, concurrency_limit=None)


def for_tools(endpoint: Endpoint) -> Endpoint:
    """The same endpoint, which gives JSON to Gradio's MCP server: that would write an answer as Python does. Its last
    argument is the request."""
    if isasyncgenfunction(endpoint):

        @wraps(endpoint)
        async def told(*given: Any) -> AsyncGenerator[Any, None]:
            async with aclosing(endpoint(*given)) as answers:
                async for answer in answers:
                    yield _said(answer, given[-1])

        return told

    @wraps(endpoint)
    async def answered(*given: Any) -> Any:
        return _said(await endpoint(*given), given[-1])

    return answered


def _said(answer: Any, request: gr.Request | None) -> Any:
    return dumps(answer) if request is not None and from_tools(request) else answer
