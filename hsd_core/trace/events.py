"""The trace: the append-only, versioned record of one run. Everything else reads it.

A trace is one `Header`, then events in the order in which they happened, then one `Footer`. A trace
without a footer was interrupted. Events are frozen and hold ids and numbers only; the one exception is
`Piece` (id -> bytes), which the recorder adds so that a reader needs no tokenizer.

Times are integers in nanoseconds on the engine's clock: 0 at the start of the run, stopped while the
consumer of the run holds the generator. `t0` and `t1` bound an event; `t` is a point.

A *serial* numbers every token that any level drafted or drew in a run (0, 1, 2, ...). Two tokens with one
id are still two serials, so a reader never has to guess who wrote, passed or caught a token.
`at` is a position in the output: 0 is the first generated token.
"""

from __future__ import annotations

from typing import TypeAlias, get_args

from hsd_core.trace.parts import Record
from hsd_core.trace.rounds import Bonus, Commit, Correct, Draft, Kv, Plan, Prefill, Rollback, Store, Verify
from hsd_core.trace.whole import Baseline, Depths, Footer, Header, Piece

SCHEMA = 7
# 2 added `LevelInfo.shares`, `ran` and `Depths`; 3 what a `Plan` says, and `simulated`; 4 `copied`; 5 `parents`; 6 a
# `Baseline`'s `ids` and `margins`; 7 a `Draft`'s `keys` and `silent`: older files lack them.
READABLE = (1, 2, 3, 4, 5, 6, 7)

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
    | Store
    | Plan
    | Footer
    | Baseline
    | Depths
)
EVENTS: dict[str, type[Record]] = {kind.event: kind for kind in get_args(Event)}
