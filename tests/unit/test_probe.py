"""A probe: a server of another engine is measured from outside, and the length that it advises is the best one.

The answers of llama.cpp are real ones, replayed; where its server is installed (or HSD_LLAMA_SERVER names it) it is
also probed from its start to a profile.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pretend_engine import pretended, recorded

from hsd_core import cli
from hsd_core.doctor.diagnosis import diagnose
from hsd_core.doctor.reading.counts import Counts
from hsd_core.doctor.reading.inputs import read_files
from hsd_core.measure.probe.engine_requests import ask, server_at
from hsd_core.measure.probe.length_sweep import SweepFile, advice_lines, checked, measure, plan_profile, recommended
from hsd_core.measure.probe.server import HttpServer, ProbeError, started
from hsd_core.theory import best_plans, expected, read_profile
from hsd_core.theory.latency.plans import StackPlan

HERE = Path(__file__).parents[1]
OUTPUTS = HERE / "doctor_outputs"
SESSION = str(OUTPUTS / "llamacpp_real_session.json")
PROMPTS = '{"prompt": "Why is the sky blue?"}\n{"prompt": "Name three rivers."}\n'
MODELS = {"llama.cpp": "llamacpp", "vllm": "vllm", "sglang": "sglang"}


def models(engine: str) -> tuple[str, int, str]:
    return "/v1/models", 200, json.dumps({"data": [{"id": "m", "owned_by": MODELS[engine]}]})


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def probe(folder: Path, url: str, *more: str) -> int:
    (folder / "prompts.jsonl").write_text(PROMPTS)
    given = ["--prompts", str(folder / "prompts.jsonl"), "--limit", "2", "--max-new-tokens", "24"]
    return cli.main(["probe", "--url", url, *given, "--out", str(folder / "probe.json"), *more])


def test_real_answers_of_llama_cpp_become_what_doctor_and_plan_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for k in ("0", "1", "4"):
        with pretended([models("llama.cpp"), *recorded(SESSION, k)]) as server:
            assert probe(tmp_path, server.url, "--length", k, "--profile", str(tmp_path / "p.json")) in (0, 2)
        assert all(body["temperature"] == 0 for body in server.asked) and len(server.asked) == 3
    said = capsys.readouterr()
    assert "no profile yet" in said.err and "| 4 |" in said.out
    seen = read_files([tmp_path / "probe.json"])
    assert len(seen) == 6
    last = [json.loads(body) for path, _, body in recorded(SESSION, "4") if path == "/v1/chat/completions"][1:]
    at_four = [one for one in seen if one.k == 4]
    assert sum(one.drafted or 0 for one in at_four) == sum(reply["timings"]["draft_n"] for reply in last)
    # every pass gives the target's own token, but the first token of a reply is of the prompt's pass
    assert all(one.timed_passes == 24 - 1 - (one.accepted or 0) >= (one.rounds or 0) for one in at_four)
    answer = diagnose(seen)
    assert answer["engine"] == "llama.cpp" and answer["best"] and "plain_ms" in answer
    profile = read_profile(tmp_path / "p.json")
    assert profile.names == ("draft", "target") and best_plans(profile).best.prediction.ms_per_token > 0


def test_a_sweep_goes_on_where_it_was_broken_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = recorded(SESSION, "1")
    cut = [n for n, (path, _, _) in enumerate(whole) if path == "/v1/chat/completions"][2]
    with pretended([models("llama.cpp"), *whole[:cut]]) as server:
        assert probe(tmp_path, server.url, "--length", "1") == 2  # the second prompt is not answered any more
    assert len(read_files([tmp_path / "probe.json"])) == 1
    # the warm-up once more, then the second prompt alone
    asked = [[*one] for one in whole]
    chat = [n for n, (path, *_) in enumerate(asked) if path == "/v1/chat/completions"]
    again = [models("llama.cpp"), *whole[: chat[0] + 2], *whole[chat[2] - 1 :]]
    with pretended(again) as server:
        assert probe(tmp_path, server.url, "--length", "1") == 0
    assert len(server.asked) == 2 and len(read_files([tmp_path / "probe.json"])) == 2
    with pretended([]) as server:  # all is there: nothing is asked but who it is
        server.answers["/v1/models"].append((200, models("llama.cpp")[2]))
        assert probe(tmp_path, server.url, "--length", "1") == 0
    assert not server.asked
    capsys.readouterr()
    assert probe(tmp_path, "http://127.0.0.1:1", "--length", "1", "--max-new-tokens", "25") == 2


def test_a_server_is_started_at_every_length_and_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    port = free_port()
    start = f"{sys.executable} {HERE / 'pretend_engine.py'} {port} {SESSION}"
    url = f"http://127.0.0.1:{port}"
    assert probe(tmp_path, url, "--start", f"{start} {{k}}", "--plain", f"{start} 0", "--lengths", "1", "4") == 0
    said = capsys.readouterr().out
    assert "| none |" in said and "accepted, given that all before it were" in said
    assert ("use drafts of" in said) != ("leave speculation off" in said)
    with pytest.raises(ProbeError, match="nothing answers"):
        server_at(HttpServer(url))


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("false", "ended with code 1: it said nothing"),
        (f"{sys.executable} -c \"print('no such model'); raise SystemExit(3)\"", "ended with code 3: no such model"),
        ("/no/such/program", "cannot be started"),
    ],
)
def test_a_server_that_does_not_start_says_why(command: str, said: str) -> None:
    with pytest.raises(ProbeError, match=said), started(command, HttpServer(f"http://127.0.0.1:{free_port()}")):
        pass


def test_a_probe_that_is_ended_ends_its_server(tmp_path: Path) -> None:
    port = free_port()
    asked, before = HttpServer(f"http://127.0.0.1:{port}"), signal.getsignal(signal.SIGTERM)
    command = f"{sys.executable} {HERE / 'pretend_engine.py'} {port} {SESSION} 1"
    with pytest.raises(SystemExit), started(command, asked):
        signal.raise_signal(signal.SIGTERM)
    with pytest.raises(ProbeError, match="nothing answers"):
        server_at(asked)
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_probe_that_is_cancelled_ends_its_server_and_keeps_what_it_has(tmp_path: Path) -> None:
    port = free_port()
    asked, kept = HttpServer(f"http://127.0.0.1:{port}"), SweepFile(tmp_path / "k.json", 2, 24)

    def cancel(*_: int) -> None:
        raise KeyboardInterrupt

    command = f"{sys.executable} {HERE / 'pretend_engine.py'} {port} {SESSION} 1"
    with pytest.raises(KeyboardInterrupt), started(command, asked):
        measure(server_at(asked), 1, ["a", "b"], kept, progress=cancel)
    with pytest.raises(ProbeError, match="nothing answers"):
        server_at(asked)
    assert [*SweepFile.at(kept.path, 2, 24).runs] == [(1, 1)]


def test_a_server_is_started_on_this_machine_alone_and_never_over_another(tmp_path: Path) -> None:
    with pytest.raises(ProbeError, match="not this machine"), started("true", HttpServer("http://192.0.2.1:8000")):
        pass
    with (
        pretended([]) as server,
        pytest.raises(ProbeError, match="answers already"),
        started("true", HttpServer(server.url)),
    ):
        pass


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([], "has no /v1/models"),
        ([("/v1/models", 200, '{"data": [{"owned_by": "somebody"}]}')], "owned by 'somebody'"),
        ([models("vllm")], "is a server of vllm, not of llama.cpp"),
        ([models("llama.cpp"), ("/metrics", 501, "no")], "start llama-server with --metrics"),
        ([models("llama.cpp"), ("/metrics", 200, "nothing")], "none of llama.cpp's counters"),
    ],
)
def test_what_a_server_does_not_tell_is_named_with_the_cure(answers: list[Any], said: str) -> None:
    with pretended(answers) as server, pytest.raises(ProbeError, match=said):
        ask(server_at(HttpServer(server.url), "llama.cpp"), "Hello", 8)


@pytest.mark.parametrize("url", ["127.0.0.1:8000", "file:///etc/passwd", "http://", "http://h:x/v1", "http://u@h/v1"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ProbeError, match="give the server's address"):
        HttpServer(url)


def test_a_redirect_is_not_followed() -> None:
    with pretended([("/v1/models", 302, "elsewhere")]) as server, pytest.raises(ProbeError, match="no /v1/models"):
        server_at(HttpServer(server.url))


def test_a_server_at_another_length_is_found_out(tmp_path: Path) -> None:
    for k, told, said in ((0, "4", "without a draft"), (1, "4", "drafts up to 4 tokens"), (2, "0", "spec-type")):
        kept = SweepFile(tmp_path / f"{k}.json", 2, 24)
        with pretended(recorded(SESSION, told)) as server, pytest.raises(ProbeError, match=said):
            measure(server_at(HttpServer(server.url)), k, ["a", "b"], kept, progress=lambda *_: None)
        assert not kept.runs and not SweepFile.at(kept.path, 2, 24).runs


def test_a_reply_of_vllm_is_read_and_its_flags_are_named() -> None:
    reply = json.loads((OUTPUTS / "vllm_composed_reply_detailed.json").read_text())
    posted = "/v1/chat/completions"
    metrics = ("/metrics", 200, (OUTPUTS / "vllm_composed_metrics_after.prom").read_text())
    with pretended([models("vllm"), (posted, 200, json.dumps(reply)), metrics]) as server:
        seen = ask(server_at(HttpServer(server.url)), "Hello", 64)
    spec = reply["metrics"]["speculative_decoding"]
    assert (seen.rounds, seen.drafted) == (spec["num_spec_steps"], spec["num_draft_tokens"])
    for part, flag in (("speculative_decoding", "per-request-spec-decode-metrics"), ("", "enable-per-request-metrics")):
        less = {**reply, "metrics": {**reply["metrics"], part: None} if part else None}
        answers = [models("vllm"), (posted, 200, json.dumps(less)), metrics]
        with pretended(answers) as server, pytest.raises(ProbeError, match=flag):
            ask(server_at(HttpServer(server.url)), "Hello", 64)


def test_a_stream_of_sglang_is_counted_and_timed() -> None:
    reply = json.loads((OUTPUTS / "sglang_composed_reply.json").read_text())
    first = {"text": "", "meta_info": {"id": "2b9a", "completion_tokens": 1}}
    stream = "".join(f"data: {json.dumps(event)}\n\n" for event in (first, reply)) + "data: [DONE]\n\n"
    with pretended([models("sglang"), ("/generate", 200, stream)]) as server:
        seen = ask(server_at(HttpServer(server.url)), "Hello", 64)
    meta = reply["meta_info"]
    assert seen.rounds == meta["spec_verify_ct"] and seen.kept[0] == sum(meta["spec_correct_drafts_histogram"][1:])
    assert seen.timed_tokens == meta["completion_tokens"] - 1 and seen.decode_ms > 0


def sweep(
    shares: list[float], *, plain: float, slope: float, lengths: tuple[int, ...], rounds: int = 4000
) -> SweepFile:
    """What a sweep would give where positions are accepted so and a drafted token adds `slope` ms to a plain pass."""
    kept = SweepFile(None, 1, 64)
    for k in (0, *lengths):
        survived = np.cumprod(shares[:k]) * rounds
        seen = Counts(engine="llama.cpp", k=k or None, rounds=float(rounds if k else 0), drafted=float(rounds * k))
        seen.kept, seen.accepted = [round(x) for x in survived], float(sum(round(x) for x in survived))
        seen.tried = [float(rounds), *map(float, seen.kept[:-1])] if k else []
        seen.timed_passes, seen.timed_tokens = float(rounds), rounds + seen.accepted
        seen.decode_ms = rounds * (plain + slope * k)
        kept.add(k, 1, seen)
    return kept


@pytest.mark.parametrize(
    ("shares", "slope"),
    [([0.9] * 12, 1.0), ([0.7, 0.6, 0.5, *[0.4] * 9], 2.0), ([0.4] * 12, 6.0), ([0.8, *[0.95] * 11], 2.5)],
)
def test_the_length_that_is_advised_is_the_best_of_all(shares: list[float], slope: float) -> None:
    kept = sweep(shares, plain=10.0, slope=slope, lengths=(1, 2, 4, 8))
    best, predicted = recommended(kept)
    true = {k: (10.0 + slope * k) / (1 + float(np.cumprod(shares[:k]).sum())) for k in range(9)}
    assert true[best] <= 1.05 * min(true.values())
    assert predicted[best] == pytest.approx(true[best], rel=0.02)
    table, holds = checked(kept, sweep(shares, plain=10.0, slope=slope, lengths=tuple(range(1, 9))))
    assert holds and "recommended" in table


def test_advice_that_is_wrong_is_told_from_advice_that_holds() -> None:
    """The other prompts accept next to nothing: what was good for the first ones is far from the best there."""
    kept = sweep([0.95] * 8, plain=10.0, slope=1.0, lengths=(1, 2, 4, 8))
    table, holds = checked(kept, sweep([0.1] * 12, plain=10.0, slope=1.0, lengths=tuple(range(1, 13))))
    assert not holds and "longer a token than the quickest one" in table


def test_without_plain_decoding_there_is_no_advice_and_no_profile() -> None:
    kept = sweep([0.8] * 8, plain=10.0, slope=1.0, lengths=(2, 4))
    del kept.runs[0, 1]
    assert "no advice yet" in "\n".join(advice_lines(kept))
    with pytest.raises(ProbeError, match="no profile yet"):
        plan_profile(kept)


def test_a_profile_gives_back_the_measured_time_of_a_token() -> None:
    profile = plan_profile(sweep([0.7] * 8, plain=10.0, slope=3.0, lengths=(1, 2, 4, 8)))
    for k in (1, 2, 4, 8):
        tokens = sum(0.7**i for i in range(k + 1))
        plan = StackPlan((0, 1), (k,))
        assert expected(profile, plan).ms_per_token == pytest.approx((10 + 3 * k) / tokens, rel=0.02)


def test_synthetic_runs_give_times_and_no_acceptance(tmp_path: Path) -> None:
    kept = SweepFile(tmp_path / "s.json", 2, 24)
    for k in ("0", "4"):
        with pretended([*recorded(SESSION, k)]) as server:
            measure(
                server_at(HttpServer(server.url)), int(k), ["a", "b"], kept, progress=lambda *_: None, synthetic=True
            )
    seen = [one for one in read_files([tmp_path / "s.json"]) if one.k == 4]
    assert all(one.decode_ms and one.accepted is None and not one.kept for one in seen)
    assert "no advice yet" in "\n".join(advice_lines(kept))


def test_commands_without_a_running_server_ask_for_the_engine(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["probe", "--url", "http://127.0.0.1:9/v1", "--commands"]) == 2
    said = capsys.readouterr().err.strip()
    assert said.startswith("error: http://127.0.0.1:9: nothing answers; name the engine")
    assert said.endswith("--engine llama.cpp, vllm or sglang") and "\n" not in said


@pytest.mark.parametrize(("engine", "flag"), [("llama.cpp", "--spec-synth-len 3.4"), ("vllm", '"synthetic"')])
def test_the_five_commands_are_printed(engine: str, flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = ["probe", "--url", "http://127.0.0.1:8000/v1", "--commands", "--engine", engine]
    assert cli.main([*shown, "--target", "big model", "--draft", "small", "--synthetic"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5 and all("'big model'" in line and "8000" in line for line in lines)
    assert [flag in line for line in lines] == [False, False, False, True, False] if "3.4" in flag else [0, 1, 1, 1, 1]
    assert cli.main([*shown[:-1], "sglang", "--synthetic"]) == 2


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--start", "a {k}"], "--start and --plain go together"),
        (["--start", "a", "--plain", "b"], "has no {k}"),
        (["--length", "1", "--start", "a {k}"], "give one of them"),
        (["--length", "99"], "give 0 (no drafts) to 64"),
        (["--limit", "900"], "at most 64 prompts"),
        (["--unseen", __file__], "--unseen with --start"),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    more: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["probe", "--url", "http://127.0.0.1:8000/v1", *more]) == 2
    assert said in capsys.readouterr().err


def test_a_file_of_something_else_is_never_written_over(tmp_path: Path) -> None:
    other = tmp_path / "notes.json"
    other.write_text('{"a": 1}')
    with pytest.raises(ProbeError, match="is no file of a probe"):
        SweepFile.at(other, 2, 24)
    assert other.read_text() == '{"a": 1}'


def test_a_real_llama_cpp_is_probed_from_its_start_to_a_profile(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    binary = os.environ.get("HSD_LLAMA_SERVER") or shutil.which("llama-server")
    if not binary:
        pytest.skip("no llama-server here; name one with HSD_LLAMA_SERVER")
    pytest.importorskip("gguf")
    from test_weights import write_gguf

    write_gguf(tmp_path / "target.gguf", quantised=False)
    write_gguf(tmp_path / "draft.gguf")
    port = free_port()
    plain = f"{binary} -m {tmp_path / 'target.gguf'} --port {port} --metrics --parallel 1 -t 1"
    drafts = f"{plain} -md {tmp_path / 'draft.gguf'} -td 1 --spec-type draft-simple --spec-draft-n-max {{k}}"
    given = ["--plain", plain, "--start", drafts, "--lengths", "2", "3", "--profile", str(tmp_path / "p.json")]
    assert probe(tmp_path, f"http://127.0.0.1:{port}", *given) == 0
    seen = read_files([tmp_path / "probe.json"])
    assert {one.k for one in seen} == {None, 2, 3} and all(one.decode_ms for one in seen)
    assert all(one.drafted and one.rounds for one in seen if one.k)
    assert read_profile(tmp_path / "p.json").plain_ms > 0
    assert "| 3 |" in capsys.readouterr().out
    (tmp_path / "unseen.jsonl").write_text('{"prompt": "the"}\n{"prompt": "he the"}\n')
    check = ["--unseen", str(tmp_path / "unseen.jsonl"), "--table", str(tmp_path / "table.md")]
    assert probe(tmp_path, f"http://127.0.0.1:{port}", *given, *check) == 0
    assert (
        "recommended" in (tmp_path / "table.md").read_text()
        and "Made by `python" in (tmp_path / "table.md").read_text()
    )
    assert {one.k for one in read_files([tmp_path / "probe-unseen.json"])} == {None, 1, 2, 3}


def test_the_table_of_the_check_is_what_its_runs_give() -> None:
    shipped = HERE.parent / "assets" / "doctor"
    if not (shipped / "probe-check.md").exists():
        pytest.skip("the check was not measured yet")
    sweeps = []
    for name in ("probe-smollm2.json", "probe-smollm2-unseen.json"):
        first = json.loads((shipped / name).read_text())["runs"][0]["name"].split()
        sweeps.append(SweepFile.at(shipped / name, int(first[-3].rstrip(",")), int(first[-2])))
    table, _ = checked(*sweeps)
    assert table in (shipped / "probe-check.md").read_text()
