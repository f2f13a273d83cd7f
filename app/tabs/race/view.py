"""The Race tab: one component that owns it, and the events and calls by which it races and opens files."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from app.kit.mounted import Mounted
from app.kit.payload import payload, status
from app.serve.limits import LONGEST_S, MAX_PROMPT
from app.serve.queued import queued
from app.serve.settings import DEFAULTS, LIMITS, whole_text
from app.tabs.explore.examples import EXAMPLES
from app.tabs.explore.recordings import MAX_FILE, RecordingError
from app.tabs.explore.view import Play, named
from app.tabs.race.bundled_races import RACES
from app.tabs.race.live import RACE
from app.tabs.race.race_request import REPEATS, TOKENS, RaceRequest, asked_for
from app.tabs.race.visitor_race import MODULE
from hsd_core.grammar.stack_text import grammar
from hsd_core.measure.race import LANES

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
        queued(view, "race", self._play.service, self._asked, RACE)

    async def _asked(self, data: Any) -> RaceRequest:
        return asked_for(data, self._play.catalogue())

    def open_race(self, data: Any) -> dict[str, Any] | Response:
        """A race that the visitor chose from their disk, packed already."""
        try:
            _, shown = self._play.reader.read(data, MODULE)
        except RecordingError as error:
            return payload("", 0, [], True, status("error", whole_text(str(error))))
        return Response(shown, media_type="application/json", headers={"content-encoding": "gzip"})
