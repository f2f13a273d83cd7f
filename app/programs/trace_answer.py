"""The process that reads a trace for `load_trace`: python -m app.programs.trace_answer PATIENCE.

It imports no Gradio, which would take most of its time.
"""

from __future__ import annotations

import gzip

from app.programs.runs import Written
from app.serve.settings import whole_text
from app.tabs.explore.reader import MAX_ANSWER, opened, read_bounded
from app.tabs.explore.recordings import RecordingError, recorded_state
from app.words import run as says
from hsd_core.trace.codec import to_dict
from hsd_core.typed import encode, plain


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
            raise RecordingError(says.trace_too_large(MAX_ANSWER / 1e6))
    except RecordingError as error:
        return encode({"error": whole_text(str(error))[:2000]})
    return b"{}\n" + gzip.compress(text, 1, mtime=0)


if __name__ == "__main__":
    read_bounded(answer)
