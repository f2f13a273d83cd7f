"""What an engine in another process tells of a run, said of the page's own."""

from __future__ import annotations

from app.kit.payload import payload
from app.serve.engine import Payload
from app.serve.engines.messages import Sent, Told
from app.serve.line.known_runs import Run


def applied(run: Run, said: Told | Sent) -> Payload | None:
    """What a message says, said of the page's own run; its payload."""
    run.loading, known = said.loading, run.state
    run.state = said.state
    if isinstance(said, Told):
        return payload(run.name, 0, [], False, run.state) if said.state != known else None
    run.live += said.records
    records = run.live[said.start :] if said.records or said.final else []
    return payload(run.name, said.start, records, said.final, run.state)
