"""What a trace holds: one `Header`, then events in the order in which they happened, then one `Footer`.

A trace without a footer was interrupted. Events are frozen and hold ids and numbers only, except `Piece` (id ->
bytes), which the recorder adds so that a reader needs no tokenizer.

Times are integers in nanoseconds on the engine's clock: 0 at the start of the run, stopped while the consumer of the
run holds the generator. An event lasts from `t0` to `t1`, or happens at `t`.

A *serial* numbers every token that any level drafts or draws in a run (0, 1, 2, ...). Two tokens with the same id have
two serials. `at` is a position in the output: 0 is the first generated token.

Data of one system is a note on a draft or a verification, or a `Report` of notes (`core/notes.py`).

`run_events`: about a whole run; `rounds`: the steps of its rounds; `parts`: their components. A field with a default
may be missing in a file. `trace/schema.json` describes all of it for other programs and is generated from the classes.
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
from hsd_core.core.events.run_events import (
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
