"""The trace: the append-only, versioned record of one run. Everything else reads it.

`events`: what there is. `codec`, `file`: as JSON, as files. `checks`: the identities that every trace satisfies.
`metrics`, `reads`, `comparison`: what a trace says. `pieces`: the bytes of its ids.
"""

from hsd_core.trace.events import (
    EVENTS,
    READABLE,
    SCHEMA,
    Baseline,
    Bonus,
    Bound,
    Check,
    Commit,
    Committed,
    Copied,
    Correct,
    Depths,
    Draft,
    Event,
    Footer,
    Header,
    Kv,
    KvLength,
    LevelInfo,
    LevelTotal,
    Part,
    Piece,
    Plan,
    Prefill,
    Record,
    Rollback,
    Row,
    Span,
    Store,
    Verify,
)
