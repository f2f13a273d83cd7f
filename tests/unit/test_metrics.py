"""Figures of traces small enough to count by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from small_trace import drafted, judged, small_run

from hsd_core.core import events as trace
from hsd_core.core.events import Baseline
from hsd_core.trace import file, metrics

TRACES = Path(__file__).parents[2] / "assets" / "traces"


@pytest.fixture
def run() -> list[trace.Event]:
    return small_run()


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
    run[3] = replace(run[3], tokens=drafted((0, 1, 2), (5, 6, 7), parents=(-1, 0, 0)))
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


def test_the_memory_bound_speed_up_counts_the_weights_that_passes_read(run):
    header = run[0]

    def reading(*each: int | None) -> list[trace.Event]:
        levels = tuple(replace(one, reads=reads) for one, reads in zip(header.levels, each, strict=True))
        return [replace(header, levels=levels), *run[1:]]

    # six passes of the drafter and two of the target for six tokens, each of which would take one of the target
    assert metrics.measure(reading(10, 100))["mbsu"] == pytest.approx(6 * 100 / (6 * 10 + 2 * 100))
    assert metrics.measure(reading(0, 100))["mbsu"] == pytest.approx(3.0), "a lookup reads none"
    assert metrics.measure(reading(None, 100))["mbsu"] is None
    assert metrics.measure(reading(0, 0))["mbsu"] is None, "tables have no weights"


@pytest.mark.parametrize("path", sorted(TRACES.glob("*.jsonl.gz")), ids=lambda path: path.name.split(".")[0])
def test_the_memory_bound_speed_up_of_a_recording_is_recomputed_from_its_events(path):
    events = file.read(path)
    levels = events[0].levels
    passes = [0] * len(levels)
    for event in events:
        if isinstance(event, trace.Draft):
            passes[event.level] += event.work.forwards
        elif isinstance(event, trace.Verify):
            passes[event.level] += 1
    if any(level.reads is None for level in levels) or not levels[-1].reads:  # a table reads no weights
        assert metrics.measure(events)["mbsu"] is None
        return
    read = sum(n * level.reads for n, level in zip(passes, levels, strict=True))
    plain = len(metrics.committed_ids(events)) * levels[-1].reads
    assert metrics.measure(events)["mbsu"] == pytest.approx(plain / read)
