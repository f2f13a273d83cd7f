"""The Race tab: one component that owns it, and the events and calls by which it races and opens files."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import Any

import gradio as gr
from starlette.responses import Response

from app.examples import EXAMPLES
from app.mounted import Mounted
from app.payload import payload, status
from app.play import Play, named
from app.race.bundled import RACES
from app.race.live import stream
from app.race.reading import MODULE
from app.race.request import LONGEST_S, REPEATS, TOKENS, asked_for
from app.recordings import MAX_FILE, RecordingError
from app.settings import DEFAULTS, LIMITS, MAX_PROMPT, RequestError, whole_text
from hsd_core.measure.race import LANES
from hsd_core.stacks.grammar import grammar

_OF_PRESETS = ("name", "title", "usable", "reason", "needs_download", "download_mb", "default_stack", "stacks")


class RaceTab:
    """What the tab's handlers share.

    Args:
        play: whose line, engine, runs and reader of files the races use.
    """

    def __init__(self, play: Play) -> None:
        self._play = play

    def build(self) -> None:
        """Add the tab's component to the Blocks that is open."""
        presets = [{key: preset[key] for key in _OF_PRESETS} for preset in self._play.catalogue()]
        limits = {**LIMITS, "prompt": MAX_PROMPT, "file": MAX_FILE, "lanes": LANES, "longest_s": LONGEST_S}
        limits |= {"max_new_tokens": (1, TOKENS), "repeats": (1, REPEATS)}
        view = Mounted(
            "race",
            events=["race"],
            setup={
                "races": RACES,
                "grammar": grammar(),
                "presets": presets,
                "examples": EXAMPLES,
                "recordings": self._play.recordings.menu(),
                "limits": limits,
                "defaults": DEFAULTS,
            },
            server_functions=[named(f) for f in (self.open_race, self._play.stop, self._play.tail)],
        )
        view.race(
            self.race,
            outputs=[view],
            concurrency_limit=None,  # the line before the engine is our own
            show_progress="hidden",
            api_visibility="private",
        )

    async def race(self, event: gr.EventData, request: gr.Request) -> AsyncGenerator[dict[str, Any], None]:
        """Race what the page asks for, when its turn has come."""
        data = event._data if isinstance(event._data, dict) else {}
        try:
            asked = asked_for(data, self._play.catalogue())
        except RequestError as error:
            yield payload(whole_text(str(data.get("run", ""))[:64]), 0, [], True, status("error", str(error)))
            return
        service = self._play.service
        written = service.attend(asked.run, service.visitor(request), partial(stream, service.loader, asked))
        async with aclosing(written) as payloads:
            async for item in payloads:
                yield item

    def open_race(self, data: Any) -> dict[str, Any] | Response:
        """A race that the visitor chose from their disk, packed already."""
        try:
            _, shown = self._play.reader.read(data, MODULE)
        except RecordingError as error:
            return payload("", 0, [], True, status("error", whole_text(str(error))))
        return Response(shown, media_type="application/json", headers={"content-encoding": "gzip"})
