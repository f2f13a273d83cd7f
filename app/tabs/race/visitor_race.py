"""A race that a visitor brings, read in a process of its own like every visitor's file."""

from __future__ import annotations

import gzip

from app.serve.settings import whole_text
from app.tabs.explore.reader import MAX_ANSWER, read_bounded
from app.tabs.explore.recordings import MAX_UNPACKED
from app.tabs.race import words as says
from app.tabs.race.shown import shown
from hsd_core.measure import race
from hsd_core.trace.file import TraceError
from hsd_core.typed import encode

MODULE = "app.tabs.race.visitor_race"


def answer(question: bytes) -> bytes:
    """What the process does: a line of JSON and a file come in, a line of JSON and the packed race go out."""
    _, _, packed = question.partition(b"\n")
    try:
        text = encode(shown(race.read(packed, max_bytes=MAX_UNPACKED)))
        if len(text) > MAX_ANSWER:
            raise TraceError(says.too_large(MAX_ANSWER / 1e6))
    except TraceError as error:
        return encode({"error": whole_text(str(error))[:2000]})
    return b"{}\n" + gzip.compress(text, 1, mtime=0)


if __name__ == "__main__":
    read_bounded(answer)
