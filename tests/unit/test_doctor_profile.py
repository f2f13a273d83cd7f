"""Counts become a profile: three figures worked out by hand from public threads, intervals, what is not known."""

from __future__ import annotations

import json
import math

import pytest

from hsd_core.doctor.draft_profile import flat_share, mean_accepted, profile_of, wilson
from hsd_core.doctor.reading.counts import Counts, DoctorError
from hsd_core.doctor.reading.inputs import read_texts

# llama.cpp issue 23544: 1093 of 1717 drafted tokens in 696 passes; the times are those that give the thread's figures
SLOW_MTP = """\
slot print_timing: id  0 | task 0 |        eval time =  156180.00 ms /  1789 tokens (   87.30 ms per token)
slot print_timing: id  0 | task 0 | draft acceptance = 0.63658 ( 1093 accepted /  1717 generated), mean len =  2.57
statistics draft-mtp: #calls(b,g,a) = 1 696 696, #gen drafts = 696, #acc drafts = 560, #gen tokens = 1717, \
#acc tokens = 1093, dur(b,g,a) = 0.005, 40350.000, 0.517 ms
"""
# docs/features/speculative_decoding/acceptance_metrics.md of vLLM
HISTOGRAM = {"acceptance_histogram": [39, 1, 0, 3], "num_spec_steps": 43, "num_spec_tokens": 3}
HISTOGRAM |= {"num_draft_tokens": 129, "num_accepted_draft_tokens": 10}


def test_a_log_line_of_llama_cpp_tells_all_times() -> None:
    profile = profile_of(read_texts([("log", SLOW_MTP)]))
    assert profile.tokens_per_pass == pytest.approx(2.57, abs=0.005)
    assert profile.draft_ms == pytest.approx(23.5, abs=0.05)
    assert profile.pass_ms == pytest.approx(166, abs=0.5)
    assert profile.ms_per_token == pytest.approx(87.3, abs=0.05)
    assert profile.round_ms is not None and profile.length is not None
    assert profile.draft_ms * profile.length / profile.round_ms == pytest.approx(0.26, abs=0.005)


def test_vllms_histogram_is_no_single_acceptance() -> None:
    reply = {"usage": {"completion_tokens": 54}, "metrics": {"speculative_decoding": HISTOGRAM}}
    profile = profile_of(read_texts([("reply", json.dumps(reply))]))
    assert [round(share.value, 2) for share in profile.conditional] == [0.09, 0.75, 1.0]
    assert profile.flat is None
    assert profile.tokens_per_pass == pytest.approx(1.2326, abs=1e-4)
    assert profile.conditional[2].low == pytest.approx(0.44, abs=0.01)  # three of three prove little


def test_an_interval_holds_what_it_should() -> None:
    share = wilson(8, 10)  # Wilson's interval by hand: 0.490 to 0.943
    assert (share.low, share.high) == (pytest.approx(0.4902, abs=1e-3), pytest.approx(0.9433, abs=1e-3))
    assert wilson(0, 10).low == 0
    assert wilson(10, 10).high == pytest.approx(1)


@pytest.mark.parametrize(("share", "length"), [(0.3, 2), (0.813, 5), (0.77, 1)])
def test_one_share_for_all_positions_is_found_again(share: float, length: int) -> None:
    assert flat_share(sum(share**n for n in range(1, length + 1)), length) == pytest.approx(share)


def test_positions_of_several_draft_lengths_go_together() -> None:
    short = Counts(engine="vllm", rounds=100, drafted=100, accepted=60, k=1, kept=[60], tried=[100])
    long = Counts(engine="vllm", rounds=50, drafted=100, accepted=45, k=2, kept=[30, 15], tried=[50, 30])
    short.decode_ms, short.timed_passes, short.timed_tokens = 2000, 100, 160
    long.decode_ms, long.timed_passes, long.timed_tokens = 1200, 50, 95
    profile = profile_of([short, long], plain_ms=15)
    assert [share.value for share in profile.conditional] == [0.6, 0.5]
    assert profile.round_at == {0: 15, 1: 20, 2: 24}


def test_a_run_without_drafts_is_the_plain_time_of_one_with() -> None:
    plain = Counts(engine="vllm", rounds=0, drafted=0, accepted=0, decode_ms=1000, timed_tokens=50)
    drafting = Counts(engine="vllm", rounds=10, drafted=20, accepted=10, k=2, kept=[6, 4], tried=[10, 6])
    assert profile_of([plain, drafting]).plain_ms == 20
    alone = profile_of([plain])
    assert (alone.no_drafts, alone.ms_per_token) == (True, 20)


def test_what_cannot_be_known_is_none() -> None:
    profile = profile_of([Counts(engine="vllm", rounds=10, drafted=20, accepted=10, k=2)])
    assert [profile.ms_per_token, profile.round_ms, profile.draft_ms, profile.pass_ms, profile.plain_ms] == [None] * 5
    assert profile.conditional == ()
    assert profile.flat is not None and profile.flat.low is None


def test_a_plain_time_that_is_none_is_refused() -> None:
    for ms in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(DoctorError, match="plain time"):
            profile_of([Counts(rounds=1, drafted=2, accepted=1)], plain_ms=ms)
    with pytest.raises(DoctorError, match="two drafters"):
        profile_of([Counts(drafter="a", rounds=1, drafted=1), Counts(drafter="b", rounds=1, drafted=1)])


def test_of_a_length_that_is_no_whole_number_the_last_token_counts_in_part() -> None:
    assert mean_accepted(0.5, 2.5) == 0.5 + 0.25 + 0.5 * 0.125
    assert mean_accepted(0.5, 2.0) == 0.75
    assert flat_share(mean_accepted(0.7, 3.4), 3.4) == pytest.approx(0.7)
