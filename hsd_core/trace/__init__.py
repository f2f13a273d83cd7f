"""The trace: the append-only, versioned record of one run. Everything else reads it.

`events`: what there is (of `whole` runs, of `rounds`; `parts`). `codec`, `file`: as JSON, as files. `checks`:
the identities that every trace satisfies. `metrics`, `reads`, `comparison`: what a trace says. `pieces`: the bytes of
its ids.
"""

from hsd_core.trace.events import EVENTS, READABLE, SCHEMA, Event
from hsd_core.trace.parts import Copied, Part, Record, Row, Span
from hsd_core.trace.rounds import (
    Bonus,
    Bound,
    Check,
    Commit,
    Committed,
    Correct,
    Draft,
    Kv,
    KvLength,
    Plan,
    Prefill,
    Rollback,
    Store,
    Verify,
)
from hsd_core.trace.whole import Baseline, Depths, Footer, Header, LevelInfo, LevelTotal, Piece
