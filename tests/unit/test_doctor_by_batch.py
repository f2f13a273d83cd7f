"""The Doctor's table by batch: how many requests run at once, what a draft is worth then, and each engine's syntax."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from hsd_core.cli import main
from hsd_core.doctor.by_batch import FREE_ROWS, by_batch, costs_in
from hsd_core.doctor.reading.counts import Counts, DoctorError
from hsd_core.doctor.reading.inputs import read_texts
from hsd_core.theory import Costs, Profile, ProfileLevel

SHARES = (0.7, 0.6, 0.5)  # as a log prints them: of all drafts 0.7, 0.42, 0.21
ACCEPTED = (1.0, 1.7, 2.12, 2.33)  # tokens a pass by draft length


def one(text: str) -> Counts:
    (seen,) = read_texts([("text", text)])
    return seen


def counts(engine: str, drafter: str = "", **more: Any) -> Counts:
    kept = [700.0, 420.0, 210.0]
    seen = Counts(engine=engine, drafter=drafter, rounds=1000, drafted=3000, accepted=1330, k=3, kept=kept)
    seen.tried = [1000.0, 700.0, 420.0]
    for name, value in more.items():
        setattr(seen, name, value)
    return seen


def table(*seen: Counts, **more: Any) -> dict[str, Any]:
    found = by_batch(list(seen), **more)
    assert found is not None
    return found


def test_requests_at_once_are_read_from_what_each_engine_prints() -> None:
    label = '{engine="0",model_name="m"}'
    vllm = "".join(
        f"vllm:{name}{label} {value}\n"
        for name, value in {
            "num_requests_running": 0.0,
            "iteration_tokens_total_count": 500.0,
            "inter_token_latency_seconds_count": 4000.0,
            "inter_token_latency_seconds_sum": 80.0,
            "spec_decode_num_drafts_total": 4000.0,
            "spec_decode_num_draft_tokens_total": 8000.0,
            "spec_decode_num_accepted_tokens_total": 3000.0,
        }.items()
    )
    assert one(vllm).running == 8  # the mean over passes, where the gauge of the last moment is 0
    assert one(vllm.replace("500.0", "0.0").replace('running{engine="0",model_name="m"} 0', "running 3")).running == 3
    llama = (
        "llamacpp:n_busy_slots_per_decode 2.5\nllamacpp:requests_processing 4\nllamacpp:tokens_predicted_total 100\n"
    )
    assert one(llama + "llamacpp:tokens_predicted_seconds_total 5\n").running == 2.5
    trt = "".join(
        f'trtllm_spec_decode_{what}_tokens_total{{token_position="{at}"}} {value}\n'
        for what, values in {"drafted": (100, 100), "accepted": (70, 40)}.items()
        for at, value in enumerate(values)
    )
    seen = one(trt + "trtllm_num_requests_running 6.0\n")
    assert (seen.engine, seen.running, seen.rounds, seen.k, seen.kept) == ("tensorrt-llm", 6, 100, 2, [70, 40])
    tgi = "tgi_request_skipped_tokens_sum 150\ntgi_request_skipped_tokens_count 100\ntgi_batch_current_size 4\n"
    seen = one(tgi)
    assert (seen.engine, seen.running, seen.rounds, seen.accepted) == ("tgi", 4, 100, 150)
    assert one(tgi.replace("sum 150", "sum 0")).drafted == 0
    steps = "iter = 5, rank = 0, host_step_time = 20.1ms, num_scheduled_requests: 8, states = {'num_ctx_requests': 0}\n"
    bench = "[AL] Average: 2.00\n[DT] Average: 3.00\n[ADT] Average: 1.00\n"
    seen = one(steps + bench)
    assert (seen.engine, seen.running) == ("tensorrt-llm", 8)


def test_where_rows_are_free_drafts_pay_until_an_h100s_arithmetic_is_full() -> None:
    """A pass of B requests has B (k + 1) rows; up to 295 they cost as much as one."""
    found = table(counts("vllm"))
    ranges, free = found["ranges"], FREE_ROWS
    assert free == 295
    assert ranges[0]["k"] == 3 and ranges[0]["low"] == 1 and ranges[-1]["k"] == 0
    assert ranges[0]["high"] >= free // 4  # all of their rows are free
    assert [one["k"] for one in ranges] == sorted((one["k"] for one in ranges), reverse=True)
    assert all(after["low"] == before["high"] + 1 for before, after in pairwise(ranges))
    assert "computed" in found["costs"] and "an H100" in found["costs"] and "assumed" in found["costs"]
    assert not found["measured"] and "vllm bench serve --max-concurrency" in found["needs"]


def test_where_the_output_shows_what_rows_cost_the_line_goes_on() -> None:
    """Plain 20 ms, four rows 35: c(n) = 15 + 5 n. At B requests k drafted tokens cost 3 k of drafting each."""
    dear = counts("vllm", draft_ms=3000.0, draft_timed=3000.0, decode_ms=38_000.0, timed_passes=1000.0)
    dear.timed_tokens = 2330.0
    found = table(dear, plain_ms=20)
    assert "on the line through a plain pass and one of 4 rows" in found["costs"]

    def c(n: int) -> float:
        return 20 + 5 * (n - 1)

    def gain(load: int, k: int) -> float:
        return c(load) * ACCEPTED[k] / (c(load * (k + 1)) + k * c(load) / 20)

    for at in found["ranges"]:
        for load in (at["low"], min(at["high"], 400)):
            best = max(range(4), key=lambda k: gain(load, k))
            assert at["k"] == (best if gain(load, best) >= 1.02 else 0), load
    first = found["ranges"][0]
    least = min(gain(load, first["k"]) for load in range(1, first["high"] + 1))
    assert first["speed_up"] == pytest.approx(least)


def test_times_at_several_loads_are_the_table() -> None:
    def timed(k: int, load: int, ms: float) -> Counts:
        seen = counts("vllm", running=float(load), decode_ms=ms * 1000, timed_tokens=1000.0)
        if not k:
            return Counts(engine="vllm", running=float(load), decode_ms=ms * 1000, timed_tokens=1000.0)
        return seen

    found = table(
        timed(0, 1, 20), timed(3, 1, 10), timed(0, 8, 22), timed(3, 8, 18), timed(0, 32, 30), timed(3, 32, 40)
    )
    assert found["measured"] and found["needs"] == ""
    assert [(at["low"], at["high"], at["k"]) for at in found["ranges"]] == [(1, 31, 3), (32, 512, 0)]
    assert found["ranges"][0]["speed_up"] == pytest.approx(22 / 18)


def profile(joint: bool) -> Profile:
    draft, target = ProfileLevel("draft", Costs.constant(1)), ProfileLevel("target", Costs((1, 4), (20, 22)))
    if joint:  # of eight texts a pass of four rows each takes as long as four passes
        costs = {1: Costs((1, 4), (20, 22)), 8: Costs((1, 4), (30, 160))}
        draft = replace(draft, joint={1: Costs.constant(1), 8: Costs.constant(2)})
        target = replace(target, joint=costs)
    return Profile((draft, target), ((1, 0.5), (0, 1)), about={"machine": "two cores"})


def test_a_profile_with_joint_passes_prices_the_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = table(counts("vllm"), costs=profile(True))
    assert found["measured"] and "joint passes of draft and target, measured (two cores)" in found["costs"]
    assert [(at["low"], at["k"]) for at in found["ranges"]] == [(1, 3), (8, 0)]
    assert found["ranges"][0]["speed_up"] == pytest.approx(20 * ACCEPTED[3] / (22 + 3))
    alone = table(counts("vllm"), costs=profile(False))
    assert not alone["measured"] and "c(nB) / B" in alone["costs"]
    with pytest.raises(DoctorError, match="no level that drafts"):
        table(counts("vllm"), costs=profile(False).only((1,)))
    given = tmp_path / "profile.json"
    given.write_text(json.dumps(profile(True).as_dict()))
    log = tmp_path / "vllm.log"
    log.write_text(
        "INFO SpecDecoding metrics: Mean acceptance length: 2.33, Accepted: 1330 tokens, Drafted: 3000 tokens, "
        "Per-position acceptance rate: 0.700, 0.420, 0.210\n"
    )
    assert main(["doctor", str(log), "--profile", str(given)]) == 0
    printed = capsys.readouterr().out
    assert "- 1 to 7: drafts of 3, at least 1.86 times plain decoding" in printed
    assert "- 8 or more: no drafts" in printed
    costs, others = costs_in([("profile.json", given.read_text()), ("vllm.log", log.read_text())])
    assert costs == profile(True) and [name for name, _ in others] == ["vllm.log"]
    with pytest.raises(DoctorError, match=r"^broken\.json"):
        costs_in([("broken.json", given.read_text()[:-9])])


def test_each_engine_is_told_the_table_in_its_own_syntax() -> None:
    def of(engine: str, drafter: str = "") -> tuple[str, str, list[dict[str, Any]]]:
        found = table(counts(engine, drafter, running=4.0))
        return found["setting"], found["note"], found["ranges"]

    text, note, ranges = of("vllm", "eagle3")
    config = json.loads(text.removeprefix("--speculative-config '").removesuffix("'"))
    steps = config["num_speculative_tokens_per_batch_size"]
    assert steps == [[at["low"], at["high"], at["k"]] for at in ranges] and steps[0][0] == 1
    assert (config["method"], config["num_speculative_tokens"]) == ("eagle3", 3)
    assert "--data-parallel-size" in note and "disable_by_batch_size" in note

    text, note, ranges = of("sglang", "EAGLE3")
    written = re.match(r"printf '%s' '(.*)' > by-batch\.json\n", text)
    assert written is not None
    assert json.loads(written[1]) == {str(at["low"]): {"candidate_steps": [at["k"]]} for at in ranges}
    assert text.endswith("--speculative-adaptive --speculative-adaptive-config by-batch.json")
    assert "--speculative-algorithm EAGLE3" in text and "--speculative-eagle-topk 1" in note
    text, note, _ = of("sglang", "ngram")
    assert "adaptive" not in text and "for EAGLE and EAGLE3 alone" in note

    text, note, ranges = of("tensorrt-llm", "eagle3")
    schedule = re.search(r"draft_len_schedule: \{(.*)\}", text)
    assert schedule is not None
    upper = dict(tuple(map(int, pair.split(": "))) for pair in schedule[1].split(", "))
    assert upper == {at["high"]: at["k"] for at in ranges if at["k"]}  # above the last key nothing is drafted
    assert "max_draft_len: 3" in text and text.count("max_draft_len") == 1 and "max_concurrency" in note

    text, note, ranges = of("llama.cpp")
    assert text == f"--parallel {ranges[-2]['high']} --spec-draft-n-max 3" and "has no table by batch" in note
    text, note, _ = of("tgi")
    assert text == "--speculate 3" and "TGI has no table by batch" in note


def test_a_table_is_of_many_requests() -> None:
    assert by_batch([counts("llama.cpp")]) is None  # one request at a time
    assert by_batch([counts("llama.cpp", running=3.0)]) is not None
    assert by_batch([Counts(engine="vllm", rounds=0, drafted=0, accepted=0)]) is None
