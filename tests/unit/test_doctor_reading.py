"""What engines print is read into counts, and what is damaged is refused in a sentence that says what is missing."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from hsd_core.doctor.draft_profile import profile_of
from hsd_core.doctor.reading.counts import Counts, DoctorError, length_of
from hsd_core.doctor.reading.inputs import read_files, read_texts

ROOT = Path(__file__).parents[1]
LABELS = 'engine="0",model_name="m"'


def scrape(drafts: int, kept: list[int], *, prefix: str = "vllm", more: str = "", ends: str = "\n") -> str:
    k = len(kept)
    lines = [
        "# HELP spec decoding",
        f"{prefix}:spec_decode_num_drafts_total{{{LABELS}}} {drafts}.0",
        f"{prefix}:spec_decode_num_draft_tokens_total{{{LABELS}}} {drafts * k}.0",
        f"{prefix}:spec_decode_num_accepted_tokens_total{{{LABELS}}} {sum(kept)}.0",
        *(
            f'{prefix}:spec_decode_num_accepted_tokens_per_pos_total{{{LABELS},position="{place}"}} {count}.0'
            for place, count in enumerate(kept)
        ),
        *more.splitlines(),
    ]
    return ends.join(lines) + ends


def one(*texts: str) -> Counts:
    (seen,) = read_texts([(f"file {n}", text) for n, text in enumerate(texts, 1)])
    return seen


def refused(*texts: str) -> str:
    with pytest.raises(DoctorError) as error:
        read_texts([(f"file {n}", text) for n, text in enumerate(texts, 1)])
    said = str(error.value)
    assert "\n" not in said
    return said


# the lines of a public thread: llama.cpp pull request 24536
LLAMA = """\
0.06.895.980 I slot print_timing: id  1 | task 0 | prompt eval time =     300.11 ms /    20 tokens (   15.01 ms per)
0.06.895.998 I slot print_timing: id  1 | task 0 |        eval time =    2296.72 ms /   256 tokens (    8.97 ms per)
0.06.896.015 I slot print_timing: id  1 | task 0 | draft acceptance = 0.64479 (  167 accepted /   259 generated), \
mean acceptance length =  2.92, acceptance rate per position = (0.805, 0.632, 0.483)
0.06.896.057 I statistics     draft-eagle3: #calls(b,g,a) =    1     87     87, #gen drafts =     87, \
#acc drafts =    70, #gen tokens =    259, #acc tokens =   167, #mean acc len = 2.92, \
#acc rate/pos = (0.805, 0.632, 0.483), dur(b,g,a) = 0.005, 325.555, 0.114 ms
"""
# AEON-7/Qwen3.6-27B-AEON-Ultimate-Uncensored-DFlash, issue 6
VLLM = (
    "(APIServer pid=1) INFO 05-01 14:24:50 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 2.37, "
    "Accepted throughput: 8.90 tokens/s, Drafted throughput: 97.50 tokens/s, Accepted: 89 tokens, Drafted: 975 tokens, "
    "Per-position acceptance rate: 0.600, 0.385, 0.215, 0.108, 0.062, 0.000, 0.000, 0.000, 0.000, 0.000, 0.000, 0.000, "
    "0.000, 0.000, 0.000, Avg Draft acceptance rate: 9.1%\n"
)
SGLANG = (
    "[2026-11-23 10:01:10] Decode batch, #running-req: 1, #token: 120, token usage: 0.00, accept len: 2.50, "
    "accept rate: 0.50, cuda graph: True, gen throughput (token/s): 125.00, #queue-req: 0\n"
)


def test_two_scrapes_count_what_happened_between_them() -> None:
    seen = one(scrape(100, [60, 30]), scrape(300, [200, 90]))
    assert (seen.rounds, seen.accepted, seen.k) == (200, 200, 2)
    assert seen.kept == [140, 60]
    assert seen.tried == [200, 140]


def test_two_scrapes_may_lie_in_one_file() -> None:
    assert one(scrape(100, [60, 30]) + scrape(300, [200, 90])) == one(scrape(100, [60, 30]), scrape(300, [200, 90]))


def test_llama_cpp_has_the_same_suffixes_under_its_own_prefix() -> None:
    more = "llamacpp:tokens_predicted_total 190\nllamacpp:tokens_predicted_seconds_total 5.0"
    seen = one(scrape(100, [60, 30], prefix="llamacpp", more=more))
    assert (seen.engine, seen.decode_ms, seen.timed_passes) == ("llama.cpp", 5000, 100)
    assert "one_scrape" in seen.notes


def test_vllm_observes_its_latency_once_a_step_and_not_once_a_token() -> None:
    more = (
        f"vllm:inter_token_latency_seconds_sum{{{LABELS}}} 2.0\nvllm:inter_token_latency_seconds_count{{{LABELS}}} 100"
    )
    profile = profile_of([one(scrape(100, [60, 30], more=more))])
    assert profile.round_ms == pytest.approx(20)
    assert profile.ms_per_token == pytest.approx(20 / 1.9)


def test_windows_line_ends_change_nothing() -> None:
    assert one(scrape(100, [60, 30], ends="\r\n")) == one(scrape(100, [60, 30]))
    assert one(LLAMA.replace("\n", "\r\n")) == one(LLAMA)


def test_a_half_scrape_is_refused() -> None:
    whole = scrape(100, [60, 31])
    assert "add up to" in refused(whole[: whole.rindex("vllm:")])
    assert "add up to" in refused(whole[:-4])  # 31.0 cut to 3
    lines = whole.splitlines()
    cut = one("\n".join(lines[:3])[:-2])  # 200.0 cut to 200, or to 20
    assert (cut.rounds, cut.drafted) == (100, None)
    assert "not a complete line" in refused("\n".join([*lines[:3], lines[3].rsplit(" ", 1)[0]]) + "\n")
    assert one("\n".join(lines[2:]) + "\n").rounds == 100  # 200 drafted tokens at two positions


def test_counters_that_fell_are_refused() -> None:
    assert "fell between" in refused(scrape(300, [200, 90]), scrape(100, [60, 30]))


def test_gauges_alone_tell_means_of_the_last_moment() -> None:
    seen = one('sglang:spec_accept_length{model_name="m"} 2.4\nsglang:spec_accept_rate{} 0.4667\n')
    assert (seen.k, seen.accepted, seen.notes) == (3, pytest.approx(1.4), ["means", "gauges"])
    assert "only gauges" in refused("vllm:num_requests_running{} 2.0\n")


def test_a_counter_that_is_no_number_is_refused_and_a_gauge_is_left_out() -> None:
    whole = scrape(100, [60, 30])
    assert "nan" in refused(whole.replace(" 200.0", " NaN", 1))
    seen = one(whole + f"vllm:num_requests_running{{{LABELS}}} NaN\n")
    assert seen.running is None
    assert "not_a_number:num_requests_running" in seen.notes


def test_two_engines_or_models_stand_beside_each_other() -> None:
    def engines(*texts: str) -> list[str]:
        return [seen.engine for seen in read_texts([("file", text) for text in texts])]

    assert engines(scrape(9, [5]) + scrape(9, [5], prefix="llamacpp")) == ["vllm", "llama.cpp"]
    assert engines(LLAMA + VLLM) == engines(VLLM, LLAMA) == ["vllm", "llama.cpp"]
    models = read_texts([("file", scrape(9, [5]) + scrape(9, [5]).replace('"m"', '"other"'))])
    assert [seen.label for seen in models] == ["m", "other"]


def test_decimal_commas_are_read() -> None:
    assert one(LLAMA.replace("2296.72 ms", "2296,72 ms").replace("0.64479", "0,64479")) == one(LLAMA)
    assert one(VLLM.replace("2.37", "2,37")).rounds == 65
    assert one(scrape(100, [60, 30]).replace(" 100.0", " 100,0")) == one(scrape(100, [60, 30]))
    assert one('{"timings": {"predicted_n": 9, "predicted_ms": "8,5"}}').decode_ms == 8.5


def test_llama_cpp_tells_the_drafters_own_time() -> None:
    seen = one(LLAMA)
    assert (seen.engine, seen.drafter, seen.k, seen.rounds) == (
        "llama.cpp",
        "draft-eagle3",
        3,
        pytest.approx(86.98, abs=0.1),
    )
    assert seen.kept == [70, 55, 42]
    assert (seen.draft_ms, seen.draft_timed, seen.decode_ms) == (325.555, 259, 2296.72)


def test_statistics_of_the_server_are_not_added_up() -> None:
    again = LLAMA.replace("325.555", "651.11").replace("#gen tokens =    259", "#gen tokens =    518")
    seen = one(LLAMA + again)
    assert (seen.draft_ms, seen.draft_timed, seen.drafted) == (651.11, 518, 518)
    assert seen.decode_ms == pytest.approx(2 * 2296.72)


def test_vllms_log_gives_its_positions() -> None:
    seen = one(VLLM)
    assert (seen.k, seen.rounds, seen.kept[:5]) == (15, 65, [39, 25, 14, 7, 4])


def test_sglangs_log_gives_time_but_no_counts() -> None:
    profile = profile_of([one(SGLANG * 3)])
    assert (profile.k, profile.conditional) == (3, ())
    assert profile.ms_per_token == pytest.approx(8)
    assert profile.round_ms == pytest.approx(20)


def test_a_log_of_10_mb_is_read_and_a_larger_one_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "server.log"
    file.write_text(("I srv  update_slots: all slots are idle\n" * 250_000) + LLAMA)
    assert file.stat().st_size > 9_500_000
    assert (
        read_files([file]) == [seen]
        if (seen := one(LLAMA)) and (setattr(seen, "name", "server.log") or True)
        else False
    )
    monkeypatch.setattr("hsd_core.doctor.reading.inputs.MOST_LOG", 1_000_000)
    with pytest.raises(DoctorError, match="grep -E"):
        read_files([file])


def test_what_is_no_output_is_refused(tmp_path: Path) -> None:
    assert "no line in it mentions speculation" in refused("hello\n")
    assert "no line in it mentions speculation" in refused('{"a": 1}')
    near = refused("hello\nAvg Draft acceptance was 3 today, with drafts of 5\n")
    assert "Line 2 came nearest: 'Avg Draft acceptance was 3 today" in near
    packed = tmp_path / "log.gz"
    packed.write_bytes(gzip.compress(LLAMA.encode()))
    with pytest.raises(DoctorError):
        read_files([packed])
    with pytest.raises(DoctorError, match="folder"):
        read_files([tmp_path])
    wide = tmp_path / "windows.log"
    wide.write_bytes(LLAMA.encode("utf-16"))
    assert read_files([wide])[0].rounds == one(LLAMA).rounds


def test_drafts_of_varying_length_are_divided_by_those_that_came_so_far() -> None:
    steps = {"num_spec_steps": 4, "num_spec_tokens": 3, "num_draft_tokens": 8, "num_accepted_draft_tokens": 5}
    per_step = {"per_step_accepted": [3, 1, 0, 1], "per_step_drafted": [3, 1, 3, 1]}
    reply = {"usage": {"completion_tokens": 10}, "metrics": {"speculative_decoding": {**steps, **per_step}}}
    seen = one(json.dumps(reply))
    assert seen.kept == [3, 1, 1]
    assert seen.tried == [4, 1, 1]  # of three drafts whose first token was kept, one had a second
    histogram = {"acceptance_histogram": [1, 2, 0, 1]}
    seen = one(json.dumps({**reply, "metrics": {"speculative_decoding": {**steps, **histogram}}}))
    assert seen.tried == []
    second = profile_of([seen]).conditional[1]
    assert second.at_least
    assert (second.value, second.high) == (pytest.approx(1 / 3), None)
    by_length = {"acceptance_histogram_by_draft_length": {"3": [1, 0, 0, 1], "1": [0, 2]}}
    seen = one(json.dumps({**reply, "metrics": {"speculative_decoding": {**steps, **histogram, **by_length}}}))
    assert seen.tried == [4, 1, 1]


def test_chunks_of_a_stream_count_once() -> None:
    timings = [{"predicted_n": n, "predicted_ms": 10 * n, "draft_n": n, "draft_n_accepted": 1} for n in (2, 3, 4)]
    chunks = [json.dumps({"id": "a", "choices": [], "timings": one_chunk}) for one_chunk in timings]
    seen = one("".join(f"data: {chunk}\n\n" for chunk in chunks) + "data: [DONE]\n")
    assert (seen.timed_tokens, seen.decode_ms) == (4, 40)


def test_replies_of_sglang_and_records_of_aiperf_are_read() -> None:
    meta = {"completion_tokens": 224, "spec_verify_ct": 90, "spec_num_correct_drafts": 133}
    meta |= {"spec_num_proposed_drafts": 270, "spec_correct_drafts_histogram": [28, 17, 19, 26]}
    seen = one(json.dumps({"meta_info": meta}))
    assert (seen.engine, seen.k, seen.kept) == ("sglang", 3, [62, 45, 26])
    metrics = {"request_latency": {"value": 500}, "time_to_first_token": {"value": 100}}
    metrics |= {"output_sequence_length": {"value": 21}}
    acceptance = {"engine": "vllm", "num_spec_steps": 10, "num_draft_tokens": 20, "num_accepted_draft_tokens": 10}
    acceptance |= {"num_spec_tokens": 2, "acceptance_histogram": {"0": 4, "1": 2, "2": 4}}
    record = {"metadata": {}, "metrics": metrics, "spec_decode_acceptance": acceptance}
    seen = one(json.dumps(record) + "\n" + json.dumps(record) + "\n")
    assert (seen.engine, seen.rounds, seen.decode_ms, seen.timed_tokens) == ("vllm", 20, 800, 40)


def test_contradicting_counts_are_refused() -> None:
    steps = {"num_spec_steps": 4, "num_draft_tokens": 8, "num_accepted_draft_tokens": 9}
    assert "of 8 drafted" in refused(json.dumps({"usage": {}, "metrics": {"speculative_decoding": steps}}))
    assert "cut off, so save the reply again" in refused('{"timings": {"predicted_n": 4')


def test_the_outputs_of_a_real_llama_cpp_agree_with_each_other() -> None:
    """Metrics and replies of one server, and the log of another one that ran the same: the same counts."""
    at = ROOT / "doctor_outputs"
    (counted,) = read_files([at / f"llamacpp_real_metrics_{when}.prom" for when in ("before", "after")])
    (told,) = read_files([at / "llamacpp_real_replies.jsonl"])
    (logged,) = read_files([at / "llamacpp_real_log_trace.txt"])
    assert (counted.drafted, counted.accepted) == (told.drafted, told.accepted) == (logged.drafted, logged.accepted)
    assert counted.rounds == told.rounds == logged.rounds
    assert logged.kept == pytest.approx(counted.kept, abs=0.1) and logged.draft_ms
    # every pass drafted: the first token of each of three replies is of the prompt's pass and not timed
    assert told.timed_passes == told.rounds and told.timed_tokens == 3 * 63


def test_a_draft_has_one_token_at_least_and_no_part_of_one() -> None:
    lengths = [length_of(value) for value in (None, 0.0, 1.0, 2.5, 256.0, 257.0)]
    assert lengths == [None, None, 1, None, 256, None]
