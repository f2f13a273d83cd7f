"""Metrics and identities on traces small enough to count by hand, and on traces that lie."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from hsd_core import trace
from hsd_core.trace import (
    Baseline,
    Bonus,
    Check,
    Commit,
    Committed,
    Copied,
    Correct,
    Draft,
    Footer,
    Header,
    Kv,
    KvLength,
    LevelInfo,
    LevelTotal,
    Prefill,
    Rollback,
    Verify,
    metrics,
)
from hsd_core.trace.checks import check


def level(i: int, kind: str, block: int | None) -> LevelInfo:
    return LevelInfo(i, kind, kind, kind, block, "fixed", None, "tokenwise" if i else None, True, "cpu", "float")


def judged(serial: int, id_: int, outcome: str) -> Check:
    return Check(serial, id_, 0.5, 0.1 if outcome == "accepted" else 0.9, outcome, 0.5, 1.0)


@pytest.fixture
def run() -> list[trace.Event]:
    """Two rounds: 3 drafted, 1 kept and corrected; then 3 drafted, all kept, and a bonus: 6 tokens in 1000 ns."""
    stack = (level(0, "model", 3), level(1, "model", None))
    kv = Kv(0, (KvLength(0, 3, 1, 4, 0), KvLength(1, 3, 1, 4, 0)), 500)
    first = (judged(0, 5, "accepted"), judged(1, 6, "rejected"), judged(2, 7, "unjudged"))
    kept = (Committed(s, s - 3, 0, "draft", "m", (1,)) for s in (4, 5, 6))
    copied = (None, Copied(-1, 1, 0.9), None)
    return [
        Header(trace.SCHEMA, "table:3,table", stack, {"temperature": 1.0}, 0, (1, 2), 6, True, "exact"),
        Prefill(0, 2, 0, 100),
        Prefill(1, 2, 100, 200),
        Draft(0, 0, 0, (0, 1, 2), (5, 6, 7), ("m",) * 3, (0.5,) * 3, (None,) * 3, 3, 3, 0, 200, 300),
        Verify(0, 1, 0, 0, 4, 0, first, 300, 450),
        Rollback(0, 0, 4, 3, 460),
        Rollback(0, 1, 5, 3, 460),
        Correct(0, 1, 1, 3, 8, 0.5, 470),
        Commit(0, 0, (Committed(0, 5, 0, "draft", "m", (1,)), Committed(3, 8, 1, "correct", "t", ())), 480),
        kv,
        Draft(1, 0, 2, (4, 5, 6), (1, 2, 3), ("m",) * 3, (0.5,) * 3, (None,) * 3, 3, 4, 1, 600, 800, copied=copied),
        Verify(1, 1, 0, 2, 4, 0, tuple(judged(s, s - 3, "accepted") for s in (4, 5, 6)), 800, 1100),
        Bonus(1, 1, 5, 7, 9, 0.5, 1150),
        Commit(1, 2, (*kept, Committed(7, 9, 1, "bonus", "t", ())), 1200),
        Footer("length", 2, 6, 200, 1000, (LevelTotal(0, 6, 7, 0, 6, 300), LevelTotal(1, 2, 8, 6, 6, 450))),
    ]


def test_figures_are_what_a_hand_counts(run):
    figures = metrics.measure(run)
    assert figures["committed"] == 6
    assert figures["tokens_per_s"] == pytest.approx(6 / 1000e-9)
    assert figures["tokens_per_target_forward"] == 3.0
    assert figures["drafts_kept"] == pytest.approx(4 / 6)
    assert figures["ttft_ms"] == pytest.approx(480e-6)
    drafter, target = figures["levels"]
    assert drafter["acceptance"] is None
    assert target["acceptance"] == pytest.approx(4 / 5)  # the unjudged token counts nowhere
    assert target["ms_per_call"] == pytest.approx(225e-6)


def test_tokens_offered_for_one_place_count_once(run):
    """Of the tree a b / a c / d, T rejects b and keeps c: two places, both kept, and d was not asked."""
    run[3] = replace(run[3], parents=(-1, 0, 0))
    checks = (judged(0, 5, "accepted"), judged(1, 6, "rejected"), judged(2, 7, "accepted"))
    first = replace(run[4], checks=checks)
    target = metrics.measure([*run[:4], first])["levels"][1]
    assert (target["accepted"], target["judged"]) == (2, 2)
    none = replace(first, checks=tuple(judged(s, s + 5, "rejected") for s in (0, 1, 2)))
    target = metrics.measure([*run[:4], none])["levels"][1]
    assert (target["accepted"], target["judged"]) == (0, 2)


def test_waste_counts_rows_whose_choice_was_never_committed(run):
    drafter, target = metrics.measure(run)["levels"]
    # the drafter: 7 rows, 1 to catch up, 4 tokens committed; the target: 8 rows, 6 chose a committed token
    assert drafter["waste"] == pytest.approx(2 / 7)
    assert target["waste"] == pytest.approx(2 / 8)


def test_token_times_start_behind_the_prefill(run):
    assert metrics.token_times(run) == [280, 280, 1000, 1000, 1000, 1000]


def test_speed_up_needs_a_measured_baseline(run):
    assert metrics.speed_up(run) is None
    plain = Baseline("table", 100, (500, 1000, 1500, 2000, 2500, 3000), 6, False)
    assert metrics.speed_up([*run, plain]) == pytest.approx(3.0)


def test_an_honest_trace_satisfies_every_identity(run):
    assert check(run) == []


def test_an_interrupted_trace_satisfies_them_too(run):
    assert check(run[:7]) == []


LIES = {
    "a token committed twice": (8, lambda e: replace(e, tokens=(e.tokens[0], e.tokens[0]))),
    "a commit out of place": (13, lambda e: replace(e, at=3)),
    "a level that never passed it": (8, lambda e: _with_token(e, passed=(0, 1))),
    "another id than was drafted": (8, lambda e: _with_token(e, id=77)),
    "an accepted token behind a rejected one": (4, lambda e: replace(e, checks=e.checks[::-1])),
    "a copy of what is not there": (10, lambda e: replace(e, copied=(None, Copied(-2, 0, 0.9), None))),
    "a copy behind other tokens": (10, lambda e: replace(e, copied=(None, Copied(-1, 2, 0.9), None))),
    "a copy behind more tokens than there are": (
        10,
        lambda e: replace(e, copied=(None, Copied(-1, 10**15, 0.9), None)),
    ),
    "a copy behind fewer than none": (10, lambda e: replace(e, copied=(None, Copied(-1, -1, 0.9), None))),
    "a time that runs backwards": (10, lambda e: replace(e, t0=0, t1=10)),
    "a rollback forwards": (5, lambda e: replace(e, after=9)),
    "a cache that is too long": (9, lambda e: replace(e, levels=(KvLength(0, 4, 0, 4, 0),))),
    "rows that nobody computed": (14, lambda e: replace(e, totals=(LevelTotal(0, 6, 9, 0, 6, 300),))),
    "more tokens than were committed": (14, lambda e: replace(e, committed=7)),
    "another decode time": (14, lambda e: replace(e, decode_ns=999)),
    "a level beyond the stack": (3, lambda e: replace(e, level=2)),
    "too few deciding rows": (4, lambda e: replace(e, rows=1)),
}


def _with_token(commit: Commit, **changes: object) -> Commit:
    return replace(commit, tokens=(replace(commit.tokens[0], **changes), commit.tokens[1]))


@pytest.mark.parametrize("lie", LIES)
def test_a_lying_trace_is_found_out(run, lie):
    at, change = LIES[lie]
    run[at] = change(run[at])
    assert check(run) != []
