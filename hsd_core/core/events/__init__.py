"""What a trace holds: one `Header`, then events in the order in which they happened, then one `Footer`.

A trace without a footer was interrupted. Events are frozen and hold ids and numbers only; the one exception is
`Piece` (id -> bytes), which the recorder adds so that a reader needs no tokenizer.

Times are integers in nanoseconds on the engine's clock: 0 at the start of the run, stopped while the
consumer of the run holds the generator. `t0` and `t1` bound an event; `t` is a point.

A *serial* numbers every token that any level drafted or drew in a run (0, 1, 2, ...). Two tokens with one
id are still two serials, so a reader never has to guess who wrote, passed or caught a token.
`at` is a position in the output: 0 is the first generated token.

What one system alone says of a draft or a verification is a note on it, and what it says beside them is a `Report`
of notes (`core/notes.py`).

`whole`: a run as a whole; `rounds`: what happens in it; `parts`: what they are made of. A field with a default may be
left out of a file. `trace/schema.json` says all of this to other programs: write it again when a class changes.
"""

from typing import TypeAlias, get_args

from hsd_core.core.events.parts import Part, Record, Row, Span, Words, Work
from hsd_core.core.events.rounds import (
    Bonus,
    Bound,
    Check,
    Commit,
    Committed,
    Correct,
    Draft,
    Drafted,
    How,
    Kv,
    KvLength,
    Outcome,
    Plan,
    Prefill,
    Report,
    Rollback,
    Verify,
)
from hsd_core.core.events.whole import (
    FORMAT,
    SCHEMA,
    Baseline,
    Ending,
    Footer,
    Header,
    LevelInfo,
    LevelTotal,
    Piece,
)

Event: TypeAlias = (
    Header
    | Piece
    | Prefill
    | Draft
    | Verify
    | Correct
    | Bonus
    | Commit
    | Rollback
    | Kv
    | Report
    | Plan
    | Footer
    | Baseline
)
EVENTS: dict[str, type[Record]] = {kind.event: kind for kind in get_args(Event)}
