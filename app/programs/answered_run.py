"""What a run has written, as programs are told it: text and figures, and the events where they are asked for."""

from __future__ import annotations

import base64
import codecs
from collections.abc import Sequence
from typing import Any

from app.serve.line.known_runs import FIGURES
from hsd_core.core.events import Commit, Footer, Header, Piece
from hsd_core.trace.codec import from_dict
from hsd_core.trace.metrics import Meter

Answer = dict[str, Any]


class Written:
    """The text and the figures of a run, fed with its records as they come."""

    def __init__(self) -> None:
        self.trace: list[dict[str, Any]] = []
        self.text, self.stack = "", ""
        self._meter, self._seen = Meter(), 0
        self._pieces: dict[int, bytes] = {}
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._footer: dict[str, Any] = {}

    def feed(self, start: int, records: Sequence[dict[str, Any]]) -> None:
        """Records `start`.. of the run; those that were fed before are passed over."""
        fresh = records[max(0, self._seen - start) :]
        self._seen = max(self._seen, start + len(records))
        for record in fresh:
            if record["event"] not in FIGURES:
                self._record(record)

    def answer(self, said: str, *, done: bool = False, trace: bool = False) -> Answer:
        """What a program is told. said: where the run is, in words; trace: with all events."""
        more = {"trace": self.trace} if trace else {}
        return {"text": self.text, "totals": self.totals, "status": said, "done": done, **more}

    @property
    def totals(self) -> dict[str, Any]:
        """The figures by name (`hsd_core.trace.metrics`), and the footer of a run that is over."""
        return {**self._meter.snapshot(), "footer": self._footer}

    def _record(self, record: dict[str, Any]) -> None:
        self.trace.append(record)
        event = from_dict(record)
        self._meter.feed(event)
        if isinstance(event, Piece):
            self._pieces[event.id] = b"" if event.special else base64.b64decode(event.b64)
        elif isinstance(event, Commit):
            new = b"".join(self._pieces.get(token.id, b"") for token in event.tokens)
            self.text += self._decoder.decode(new)
        elif isinstance(event, Header):
            self.stack = event.stack
        elif isinstance(event, Footer):
            self._footer = record
            self.text += self._decoder.decode(b"", True)
