"""A run as an engine has it that works in another process than the page."""

from __future__ import annotations

import time

from app.serve.engine import Payload
from app.serve.engines.messages import Sent
from app.serve.line.known_runs import Run

STILL_S = 60.0  # without a step of the run at work, or `STILL_STEPS` times its longest
STILL_STEPS = 20.0


class AttendedRun(Run):
    """It ends when the page says so, tells when it last made a step, and which of its records have crossed."""

    stepped: float | None = None  # when, on this process's clock; None before its first step
    longest: float = 0.0  # s
    crossed: int = 0  # records

    def over(self) -> bool:
        now = time.monotonic()
        if self.stage == "running":
            if self.stepped is not None:
                self.longest = max(self.longest, now - self.stepped)
            self.stepped = now
        return self.stopped.is_set()

    @property
    def still(self) -> float | None:
        """Seconds since its last step; None before its first."""
        return None if self.stepped is None else time.monotonic() - self.stepped

    def sent(self, item: Payload) -> Sent:
        """A payload without the records that have crossed before."""
        start: int = item["from"]
        fresh = item["ev"][max(0, self.crossed - start) :]
        self.crossed = max(self.crossed, start + len(item["ev"]))
        return Sent(self.name, start, fresh, item["final"], item["status"], self.loading)


def hangs(still: float | None, longest: float, still_s: float = STILL_S) -> bool:
    """Whether a run has made no step for so long that its engine is held to hang."""
    return still is not None and still > max(still_s, STILL_STEPS * longest)
