"""A run small enough to count by hand: what the tests of figures and of identities read."""

from __future__ import annotations

from collections.abc import Sequence

from hsd_core.core import events as trace
from hsd_core.core.events import (
    Bonus,
    Check,
    Commit,
    Committed,
    Correct,
    Draft,
    Drafted,
    Footer,
    Header,
    Kv,
    KvLength,
    LevelInfo,
    LevelTotal,
    Prefill,
    Rollback,
    Verify,
    Work,
)
from hsd_core.core.notes import noted
from hsd_core.levels.notes import Copied, Copies


def level(i: int, kind: str, block: int | None) -> LevelInfo:
    return LevelInfo(i, kind, kind, kind, block, "fixed", None, "tokenwise" if i else None, True, "cpu", "float")


def drafted(
    serials: Sequence[int], ids: Sequence[int], source: str = "m", q: float = 0.5, parents: Sequence[int] = ()
) -> tuple[Drafted, ...]:
    """The tokens of a draft; of a tree with the place of the one that each stands behind, -1 behind the text."""
    behind = [-1 if up < 0 else serials[up] for up in parents] or [None] * len(ids)
    named = zip(serials, ids, behind, strict=True)
    return tuple(Drafted(serial, id_, source, q, None, above) for serial, id_, above in named)


def judged(serial: int, id_: int, outcome: str) -> Check:
    return Check(serial, id_, 0.5, 0.1 if outcome == "accepted" else 0.9, outcome, 0.5, 1.0)


def small_run() -> list[trace.Event]:
    """Two rounds: 3 drafted, 1 kept and corrected; then 3 drafted, all kept, and a bonus: 6 tokens in 1000 ns."""
    stack = (level(0, "model", 3), level(1, "model", None))
    kv = Kv(0, (KvLength(0, 3, 1, 4, 0), KvLength(1, 3, 1, 4, 0)), 500)
    first = (judged(0, 5, "accepted"), judged(1, 6, "rejected"), judged(2, 7, "unjudged"))
    kept = (Committed(s, s - 3, 0, "draft", "m", (1,)) for s in (4, 5, 6))
    copies = noted(Copies((None, Copied(-1, 1, 0.9), None)))
    return [
        Header(trace.FORMAT, trace.SCHEMA, "table:3,table", stack, {"temperature": 1.0}, 0, (1, 2), 6, True, "exact"),
        Prefill(0, 2, 0, 100),
        Prefill(1, 2, 100, 200),
        Draft(0, 0, 0, drafted((0, 1, 2), (5, 6, 7)), Work(3, 3), 200, 300),
        Verify(0, 1, 0, 0, Work(1, 4), first, 300, 450),
        Rollback(0, 0, 4, 3, 460),
        Rollback(0, 1, 5, 3, 460),
        Correct(0, 1, 1, 3, 8, 0.5, 470),
        Commit(0, 0, (Committed(0, 5, 0, "draft", "m", (1,)), Committed(3, 8, 1, "correct", "t", ())), 480),
        kv,
        Draft(1, 0, 2, drafted((4, 5, 6), (1, 2, 3)), Work(3, 4, 1), 600, 800, copies),
        Verify(1, 1, 0, 2, Work(1, 4), tuple(judged(s, s - 3, "accepted") for s in (4, 5, 6)), 800, 1100),
        Bonus(1, 1, 5, 7, 9, 0.5, 1150),
        Commit(1, 2, (*kept, Committed(7, 9, 1, "bonus", "t", ())), 1200),
        Footer("length", 2, 6, 200, 1000, (LevelTotal(0, 6, 7, 0, 6, 300), LevelTotal(1, 2, 8, 6, 6, 450))),
    ]
