"""The trace: the append-only, versioned record of one run. Everything else reads it.

`events`: what there is. `schema`: the same for other programs. `codec`, `file`: as JSON, as files. `checks`: the
identities that every trace satisfies. `metrics`, `comparison`: what a trace says. `pieces`: the bytes of its
ids. `naming`: how rounds are named to people. `typed`: JSON with types, and what a stranger's file may hold.
"""

from hsd_core.trace.events import EVENTS, Event
from hsd_core.trace.events.parts import Asked, Copied, Moved, Part, Record, Row, Span, Words
from hsd_core.trace.events.rounds import (
    Bonus,
    Bound,
    Check,
    Commit,
    Committed,
    Correct,
    Draft,
    Held,
    How,
    Kv,
    KvLength,
    Outcome,
    Plan,
    Prefill,
    Rollback,
    Store,
    Verify,
    View,
)
from hsd_core.trace.events.whole import (
    FORMAT,
    SCHEMA,
    Baseline,
    Depths,
    Ending,
    Footer,
    Handed,
    Header,
    LevelInfo,
    LevelTotal,
    Piece,
)
