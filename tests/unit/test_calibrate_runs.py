"""Calibration within runs: costs that were measured in runs, where the truth is known."""

from __future__ import annotations

import random
import statistics

import pytest
from lean_stacks import LeanStacks, RandomDraft

from hsd_core.core.driver import Stopped
from hsd_core.core.events import Draft, Footer, Verify
from hsd_core.measure.calibrate import run_costs
from hsd_core.measure.calibrate.candidates import candidates
from hsd_core.measure.calibrate.isolated_costs import Timings
from hsd_core.measure.calibrate.run_costs import (
    MOST,
    Drafting,
    Observed,
    engine_time,
    in_runs,
    observe,
    per_token,
    scaled,
    split_engine_time,
    stacks_of,
)
from hsd_core.measure.texts import written_texts
from hsd_core.measure.texts.written_texts import WrittenText
from hsd_core.models.sampling import Sampling
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.prepared import run
from hsd_core.theory import Costs

ALONE = Costs((1, 2, 4, 8, 16), (10.0, 11.0, 14.0, 20.0, 34.0), (9.0,) * 5, (40.0,) * 5)


def noisy(mean: float, count: int, chance: random.Random) -> list[float]:
    """Times with a long tail: their median lies a tenth below their mean."""
    return [mean * chance.lognormvariate(-0.5 * 0.46**2, 0.46) for _ in range(count)]


def test_costs_within_runs_are_their_means_at_every_row_count_that_was_met() -> None:
    chance, truth = random.Random(3), {1: 10.0, 3: 14.0, 5: 17.5, 9: 23.0}
    calls = {rows: noisy(ms, 900, chance) for rows, ms in truth.items()}
    found = scaled(ALONE, calls)
    for rows, ms in truth.items():
        assert found(rows) == pytest.approx(ms, rel=0.05)
        assert statistics.median(calls[rows]) < 0.93 * ms, "a median would not do"
    assert found.low is not None and found.high is not None and len(found.low) == len(found.rows)


def test_row_counts_that_no_run_showed_keep_their_shape_and_take_the_level_of_the_others() -> None:
    found = scaled(ALONE, {2: [1.2 * 11.0] * 50, 4: [1.2 * 14.0] * 50})
    assert [found(rows) / ALONE(rows) for rows in (1, 2, 4, 16)] == pytest.approx([1.2] * 4)


def test_few_calls_move_a_row_count_little() -> None:
    calls = {1: [10.0] * 400, 8: [40.0]}
    assert 20.0 < scaled(ALONE, calls)(8) < 23.0


def test_a_stall_of_the_machine_counts_as_a_few_calls_and_not_as_a_hundred() -> None:
    quiet, stalled = scaled(ALONE, {1: [10.0] * 100}), scaled(ALONE, {1: [*[10.0] * 99, 1000.0]})
    assert quiet(1) == pytest.approx(10.0) and stalled(1) == pytest.approx(10.0 + (MOST - 1.0) * 0.1, rel=0.01)


def test_a_level_that_no_run_met_keeps_its_lone_times() -> None:
    assert scaled(ALONE, {}) is ALONE
    timings = Timings({0: ALONE, 1: ALONE}, {0: 10.0}, {(0, 1): ALONE})
    assert in_runs(timings, Observed()) == timings


def test_a_drafted_token_costs_its_mean_without_the_rows_that_a_draft_caught_up_on() -> None:
    cost = Costs((1, 2), (12.0, 15.0))
    drafts = [Drafting(24.0, 2, 0), Drafting(27.0, 2, 1), Drafting(12.0, 1, 0)]
    assert per_token(drafts, cost, 10.0) == pytest.approx(12.0)


def test_a_pair_that_shares_layers_has_costs_of_its_own_and_leaves_those_of_the_others_alone() -> None:
    seen = Observed()
    for pair, ms in (((0, 2), 22.0), ((1, 2), 5.5), ((None, 2), 11.0)):
        seen.verify[pair, 2].extend([ms] * 500)
    shared = Costs((2,), (5.0,))
    found = in_runs(Timings({2: ALONE}, {}, {(1, 2): shared}), seen)
    assert found.edges[1, 2](2) == pytest.approx(5.5) and found.verify[2](2) == pytest.approx(16.5, rel=0.01)


def test_every_level_is_met_over_the_target_and_every_verifier_over_a_lookup_and_a_model() -> None:
    assert stacks_of([True, False, False, False]) == [(0, 3), (1, 3), (2, 3), (0, 1, 3), (0, 2, 3), (1, 2, 3)]
    assert stacks_of([False, False]) == [(0, 1)]


def test_what_was_observed_of_a_run_is_all_of_its_time() -> None:
    stacks = LeanStacks(layers=4)
    stacks.drafts = {"nano": RandomDraft(stacks.target, fed=True)}
    seen = Observed()
    totals = [0.0, 0.0, 0.0]
    for text, levels in (
        ("ngram:2,nano:2,int8:4,target", (0, 1, 2, 3)),
        ("exit:2@at=2,target", (4, 3)),
        ("target", (3,)),
    ):
        events = list(run(stacks.stack(text), (3, 9, 27), Sampling(0.9), 1, max_new_tokens=24, heads=0))
        seen.add(events, levels)
        footer = next(e for e in events if isinstance(e, Footer))
        totals[0] += footer.decode_ns / 1e6
        totals[1] += sum(isinstance(e, Verify) for e in events)
        totals[2] += sum(isinstance(e, Draft) for e in events)
    verified = [ms for each in seen.verify.values() for ms in each]
    drafted = [draft.ms for each in seen.drafts.values() for draft in each]
    assert (len(verified), len(drafted)) == (totals[1], totals[2]) and set(seen.drafts) == {0, 4}
    assert sum(verified) + sum(drafted) + seen.stacks[0] + seen.plain[0] == pytest.approx(totals[0])
    assert {pair for pair, _ in seen.verify} == {(0, 1), (1, 2), (2, 3), (4, 3), (None, 3)}
    assert {rows for pair, rows in seen.verify if pair == (None, 3)} == {1} and seen.runs == 3
    assert max(rows for pair, rows in seen.verify if pair == (4, 3)) == 3  # an exit has run what its target lacks


def test_the_engines_time_is_taken_from_all_runs_together() -> None:
    seen = Observed(stacks=[50.0, 10.0, 40.0], plain=[20.0, 10.0, 10.0])
    assert engine_time(seen) == split_engine_time(5.0, 4.0, 2.0)


def test_runs_are_interleaved_with_plain_decoding_and_stop_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline, ran = Pipeline.open("toy"), []
    found = candidates(pipeline)
    monkeypatch.setattr(
        written_texts, "run", lambda entries, *given, **more: ran.append(len(entries)) or run(entries, *given, **more)
    )
    text = WrittenText(tuple(pipeline.encode("The small level ", raw=False)), (1,))
    seen = observe(pipeline, found, [text], 0.8, seconds=0.0, progress=lambda *_: None, stop=lambda: False)
    turns = [sorted(ran[at : at + 5]) for at in range(0, len(ran), 5)]
    assert turns == [[1, 1, 2, 2, 3]] * (1 + run_costs.FEWEST) and seen.runs == 5 * run_costs.FEWEST
    assert {pair for pair, _ in seen.verify} == {(None, 2), (0, 2), (1, 2), (0, 1)}
    with pytest.raises(Stopped):
        observe(pipeline, found, [text], 0.8, seconds=0.0, progress=lambda *_: None, stop=lambda: True)
