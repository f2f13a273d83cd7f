"""`recordings` and `load_trace`: recorded runs, read in a process of their own like every visitor's file.

That process is `python -m app.programs.traces PATIENCE`.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import uuid

import gradio as gr

from app.programs.answered_run import Answer, Written
from app.programs.runs import Endpoint, refused
from app.serve.settings import whole_text
from app.tabs.explore.reader import MAX_ANSWER, Reader, opened, read_bounded
from app.tabs.explore.recordings import RecordingError, Recordings, recorded_state
from app.words import programs as says
from app.words import run as run_says
from hsd_core.trace.codec import to_dict
from hsd_core.typed import encode, plain

MODULE = "app.programs.traces"


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


def answer(question: bytes) -> bytes:
    """What the process does: a line of JSON and a file come in, a line of JSON and the packed answer go out."""
    head, _, packed = question.partition(b"\n")
    try:
        events = opened(packed)
        state, written = recorded_state(events), Written()
        written.feed(0, [to_dict(event) for event in events])
        said = written.answer(state["text"], done=True, trace=plain(head)["title"] == "true")
        text = encode({"title": state["title"], "stack": written.stack, **said})
        if len(text) > MAX_ANSWER:
            raise RecordingError(run_says.trace_too_large(MAX_ANSWER / 1e6))
    except RecordingError as error:
        return encode({"error": whole_text(str(error))[:2000]})
    return b"{}\n" + gzip.compress(text, 1, mtime=0)


if __name__ == "__main__":
    read_bounded(answer)
