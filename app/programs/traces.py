"""`recordings` and `load_trace`: recorded runs, read in a process of their own like every visitor's file."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import uuid

import gradio as gr

from app.programs.runs import Answer, Endpoint, refused
from app.serve.settings import whole_text
from app.tabs.explore.reader import Reader
from app.tabs.explore.recordings import RecordingError, Recordings
from app.words import programs as says
from hsd_core.typed import plain

MODULE = "app.programs.trace_answer"


def reading(bundled: Recordings, reader: Reader) -> list[Endpoint]:
    """`recordings` and `load_trace`.

    Args:
        bundled: the recordings of the page. reader: of visitors' files.
    """

    async def recordings(request: gr.Request | None = None) -> list:  # type: ignore[type-arg]
        """The recorded runs of this server, which `load_trace` opens; they cost nothing.

        Returns:
            for each: name, title, group, what to see in it, stack, levels, preset, machine, day and speed_up.
        """
        return await asyncio.to_thread(bundled.menu)

    async def load_trace(
        recording: str = "", file: str = "", trace: bool = False, request: gr.Request | None = None
    ) -> Answer:
        """A recorded run, checked: its text and figures.

        Args:
            recording: its name, e.g. "01-code", as `recordings` lists it; or else:
            file: a trace of your own, its JSON lines, or the file (.jsonl or .jsonl.gz) in base64; at most 1 MB.
            trace: give all its events, up to some MB of them.
        Returns:
            title, stack, text, totals (metrics and footer), status (in words), done; trace where asked.
        """
        try:
            if bool(recording) == bool(file):
                raise RecordingError(says.WHICH_TRACE)
            packed = bundled.file(recording) if recording else _sent(file)
            asked = {"run": str(uuid.uuid4()), "name": json.dumps(trace), "base64": packed}
            _, parts = await asyncio.to_thread(reader.read, asked, MODULE)
        except RecordingError as error:
            raise refused(error) from error
        found: Answer = await asyncio.to_thread(lambda: plain(gzip.decompress(parts)))
        return found

    return [recordings, load_trace]


def _sent(file: str) -> str:
    """A file in base64, also where its lines were sent as they are."""
    return base64.b64encode(whole_text(file).encode()).decode() if file.lstrip()[:1] == "{" else file
