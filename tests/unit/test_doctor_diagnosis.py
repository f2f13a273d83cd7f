"""What the doctor says of a profile: figures of public threads, the curve, the advice, and the command."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from hsd_core.cli import main
from hsd_core.doctor.categories import by_category, categories_in, diagnose_kinds
from hsd_core.doctor.diagnosis import JSON_NAMES, diagnose
from hsd_core.doctor.draft_profile import profile_of
from hsd_core.doctor.gain import break_even_acceptance, gain_of
from hsd_core.doctor.reading.counts import Counts, DoctorError
from hsd_core.doctor.reading.inputs import read_texts

# MakazhanAlpamys/Soup, issue 843: target 39.28 tokens/s, draft 65.90 tokens/s, acceptance 0.813, k = 5
SOUP = {"engine": "transformers", "k": 5, "acceptance": 0.813, "draft_ms": 1e3 / 65.90, "draft_timed": 1}
SOUP |= {"verify_ms": 1e3 / 39.28, "plain_ms": 1e3 / 39.28}
LOG = """\
slot print_timing: id  0 | task 0 |        eval time =  156180.00 ms /  1789 tokens (   87.30 ms per token)
slot print_timing: id  0 | task 0 | draft acceptance = 0.63658 ( 1093 accepted /  1717 generated), mean len =  2.57
statistics draft-mtp: #calls(b,g,a) = 1 696 696, #gen drafts = 696, #acc drafts = 560, #gen tokens = 1717, \
#acc tokens = 1093, dur(b,g,a) = 0.005, 40350.000, 0.517 ms
"""


def runs(*seen: dict[str, Any]) -> list[Counts]:
    return read_texts([("runs", json.dumps({"format": "hsd-doctor-runs", "runs": list(seen)}))])


def vllm(rounds: int, kept: list[int], ms: float | None = None, **more: Any) -> dict[str, Any]:
    k = len(kept)
    seen = {"engine": "vllm", "rounds": rounds, "drafted": rounds * k, "accepted": sum(kept), "k": k, "kept": kept}
    seen["tried"] = [rounds, *kept[:-1]]
    if ms is not None:
        seen |= {"decode_ms": ms * rounds, "timed_passes": rounds, "timed_tokens": rounds + sum(kept)}
    return {**seen, **more}


def found(answer: dict[str, Any], kind: str) -> str:
    return next((finding["text"] for finding in answer["findings"] if finding["kind"] == kind), "")


def test_a_public_series_breaks_even_where_its_thread_says() -> None:
    profile = profile_of(runs(SOUP))
    assert break_even_acceptance(profile, 5) == pytest.approx(0.832, abs=5e-4)
    gain = gain_of(profile)
    assert gain is not None
    assert gain.best.k == 1
    assert gain.best.speed_up == pytest.approx(1.136, abs=5e-4)
    answer = diagnose(runs(SOUP))
    assert answer["verdict"].startswith("Speculation loses")
    assert "0.832" in found(answer, "needed")
    assert "num_assistant_tokens = 1" in answer["remedies"][0]["text"]


def test_the_time_of_a_token_is_taken_apart() -> None:
    answer = diagnose(read_texts([("log", LOG)]))
    assert answer["pays_if_plain_above_ms"] == pytest.approx(87.3, abs=0.05)
    assert sum(part["ms"] for part in answer["parts"]) == pytest.approx(answer["ms_per_token"], rel=1e-4)
    assert [part["kind"] for part in answer["parts"]] == ["draft", "pass"]
    assert "26 %" in found(answer, "drafting")
    assert answer["remedies"] == []  # one length and no plain time: no other length is advised
    assert answer["best"]["speed_up"] is None
    assert any("at most 166 ms" in what for what in answer["missing"])


def test_the_curve_is_the_sum_over_positions() -> None:
    answer = diagnose(runs(vllm(1000, [800, 600, 300], ms=30)), plain_ms=20)
    by_k = {at["k"]: at for at in answer["curve"]}
    # R(k) = 20 + 10 k / 3, E = 1, 1.8, 2.4, 2.7
    assert by_k[2]["tokens"] == pytest.approx(2.4)
    assert by_k[2]["speed_up"] == pytest.approx(20 * 2.4 / (20 + 20 / 3))
    assert by_k[3]["speed_up"] == pytest.approx(1.8)
    assert answer["best"]["speed_up"] == pytest.approx(1.8)
    assert by_k[3]["low"] < 1.8 < by_k[3]["high"]
    assert not by_k[3]["assumed"]
    assert by_k[4]["assumed"]


def test_a_longer_draft_that_was_run_gives_its_own_time() -> None:
    """A table with a cliff: five tokens are quicker than six."""
    answer = diagnose(
        runs(vllm(1000, [900, 810, 730, 650, 590], ms=30), vllm(900, [800, 720, 650, 580, 520, 470], ms=60)),
        plain_ms=20,
    )
    assert answer["best"]["k"] == 5


def test_what_three_lengths_tell_is_not_asked_for_again() -> None:
    plain = {"engine": "vllm", "rounds": 0, "drafted": 0, "accepted": 0, "decode_ms": 1200, "timed_tokens": 100}
    two = (vllm(1000, [800, 560, 340], ms=15), plain)
    assert any("num_speculative_tokens" in what for what in diagnose(runs(*two))["missing"])
    three = (*two, vllm(900, [720, 500, 310, 180, 90], ms=20, running=7.5))
    answer = diagnose(runs(*three))
    assert answer["missing"] == []
    assert "7.5 requests" in found(answer, "batch")


def test_the_largest_comes_first() -> None:
    answer = diagnose(runs(vllm(1000, [100, 50, 30, 10, 5], ms=40)), plain_ms=20)
    assert answer["findings"][0]["kind"] == "length"
    assert "No draft length is worth it" in found(answer, "length")
    assert answer["remedies"][0]["text"].startswith("vllm serve MODEL")
    assert "unreached" in {finding["kind"] for finding in answer["findings"]}


@pytest.mark.parametrize(
    ("engine", "text"),
    [
        ("vllm", '"num_speculative_tokens": 1}'),
        ("llama.cpp", "--spec-draft-n-max 1"),
        ("sglang", "--speculative-num-steps 1 --speculative-eagle-topk 1 --speculative-num-draft-tokens 2"),
        ("transformers", "num_assistant_tokens = 1"),
    ],
)
def test_advice_is_in_the_engines_own_syntax(engine: str, text: str) -> None:
    answer = diagnose(runs(vllm(1000, [800, 100, 30], ms=32, engine=engine)), plain_ms=20)
    assert text in answer["remedies"][0]["text"]


@pytest.mark.parametrize(
    ("engine", "text"),
    [("llama.cpp", "--spec-type draft-simple"), ("vllm", "--speculative-config"), ("sglang", "STANDALONE")],
)
def test_no_drafts_were_made_because(engine: str, text: str) -> None:
    quiet = {"engine": engine, "rounds": 0, "drafted": 0, "accepted": 0, "decode_ms": 900, "timed_tokens": 30}
    answer = diagnose(runs(quiet))
    assert answer["verdict"] == "No drafts were made. A token takes 30 ms, which is plain decoding."
    assert text in answer["remedies"][0]["text"]
    assert (answer["best"], answer["pays_if_plain_above_ms"], answer["acceptance_by_position"]) == (None, None, None)


OTHERS = {
    "vllm": (
        """--speculative-config '{"method": "mtp", "num_speculative_tokens": 2}'""",
        """--speculative-config '{"method": "eagle3", "model": "DRAFT", "num_speculative_tokens": 3}'""",
        """--speculative-config '{"method": "dflash", "model": "DRAFT", "num_speculative_tokens": 8}'""",
        """--speculative-config '{"method": "suffix", "num_speculative_tokens": 8}'""",
    ),
    "sglang": (
        "--speculative-algorithm EAGLE --speculative-num-steps 2 --speculative-eagle-topk 1 "
        "--speculative-num-draft-tokens 3",
        "--speculative-algorithm EAGLE3 --speculative-draft-model-path DRAFT --speculative-num-steps 3 "
        "--speculative-eagle-topk 1 --speculative-num-draft-tokens 4",
        "--speculative-algorithm DFLASH --speculative-draft-model-path DRAFT --speculative-dflash-block-size 8",
        "--speculative-algorithm NGRAM --speculative-num-draft-tokens 8",
    ),
    "tensorrt-llm": (
        "speculative_config:\n  decoding_type: MTP\n  max_draft_len: 2",
        "speculative_config:\n  decoding_type: Eagle3\n  max_draft_len: 3\n  speculative_model: DRAFT",
        "speculative_config:\n  decoding_type: DFlash\n  max_draft_len: 8\n  speculative_model: DRAFT",
        "speculative_config:\n  decoding_type: SA\n  max_draft_len: 8",
    ),
    "llama.cpp": (
        "--spec-type draft-mtp --spec-draft-n-max 2",
        "--spec-type draft-eagle3 -md EAGLE3.gguf --spec-draft-n-max 3",
        "--spec-type draft-dflash -md DFLASH.gguf --spec-draft-n-max 8",
        "--spec-type ngram-mod",
    ),
    "lmstudio": ("MTP: on  # among the load parameters of the model", ""),
    "mlx-lm": ("",),
}


@pytest.mark.parametrize("engine", OTHERS)
def test_a_small_model_that_is_often_wrong_is_told_what_else_can_draft_in_that_engine(engine: str) -> None:
    off, *others = diagnose(runs(vllm(1000, [300, 100, 30], ms=60, engine=engine)), plain_ms=20)["remedies"]
    assert off["why"].startswith("Switch it off")
    assert tuple(one["text"] for one in others) == OTHERS[engine]
    lacks = [one["why"] for one in others if " has no " in one["why"]]
    assert all(" or newer" in one["why"] for one in others if one["why"] not in lacks), "each names its version"
    said = {
        "sglang": "no suffix decoding; the nearest is its n-grams",
        "llama.cpp": "no suffix decoding; the nearest is ngram-mod",
        "lmstudio": "LM Studio has no EAGLE-3, DFlash or suffix decoding.",
        "mlx-lm": "mlx-lm has no multi-token prediction (MTP), EAGLE-3, DFlash or suffix decoding.",
    }
    assert len(lacks) == (engine in said) and said.get(engine, "") in "".join(lacks)


def test_who_drafts_by_heads_is_told_their_length_and_no_other_drafter() -> None:
    heads = vllm(1000, [400, 20, 5], ms=24, drafter="mtp")
    (only,) = diagnose(runs(heads), plain_ms=20)["remedies"]
    assert only["text"] == """--speculative-config '{"method": "mtp", "num_speculative_tokens": 1}'"""
    heads |= {"engine": "sglang", "drafter": "EAGLE"}  # of an older EAGLE or of MTP: nobody knows
    (only,) = diagnose(runs(heads), plain_ms=20)["remedies"]
    assert "speculative-algorithm" not in only["text"]


def test_what_pays_with_a_drafter_that_is_often_right_is_left_as_it_is() -> None:
    remedies = diagnose(runs(vllm(1000, [900, 800, 700], ms=24)), plain_ms=20)["remedies"]
    assert [remedy["why"] for remedy in remedies] == ["Try drafts of 7 tokens."]


def test_batches_and_rows_are_named() -> None:
    answer = diagnose(runs(vllm(1000, [800, 600, 500], ms=50, running=6.0)), plain_ms=20)
    assert "6.0 requests" in found(answer, "batch")
    split = vllm(1000, [800, 600, 500], ms=50, engine="llama.cpp", draft_ms=3000, draft_timed=3000)
    assert "Rows are not free" in found(diagnose(runs(split), plain_ms=20), "rows")


def test_rates_that_go_by_one_name_stand_side_by_side() -> None:
    rates = {rate["name"]: rate["value"] for rate in diagnose(runs(vllm(100, [60, 30, 6])))["rates"]}
    assert rates == {
        "accepted of drafted": pytest.approx(0.32),
        "first position": pytest.approx(0.6),
        "accepted of written": pytest.approx(96 / 196, rel=1e-5),
    }


def test_a_level_more_is_priced_with_what_it_assumes() -> None:
    levels = diagnose(read_texts([("log", LOG)]), plain_ms=150)["levels"]
    assert len(levels) == 2
    assert all("Assumed, from the pairs measured here (SmolLM2-135M)" in level for level in levels)
    assert all("No engine runs this yet" in level for level in levels)
    free = vllm(1000, [300, 100], ms=22, engine="llama.cpp", draft_ms=1.0, draft_timed=2000)
    assert all("floor" not in level for level in diagnose(runs(free), plain_ms=20)["levels"])


def test_the_command_prints_the_names_that_others_rely_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "server.log"
    file.write_text(LOG)
    assert main(["doctor", str(file), "--plain-ms", "110", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert tuple(answer) == JSON_NAMES
    assert answer["acceptance_by_position"] is None
    assert set(answer["best"]) == {"k", "speed_up"}
    assert main(["doctor", str(file)]) == 0
    assert "A token takes 87.3 ms" in capsys.readouterr().out


def test_each_kind_of_text_has_its_best_draft_length_in_the_engines_syntax(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    timed = vllm(1000, [700, 400, 200, 100], ms=30, draft_ms=2.0, draft_timed=4000)
    seen = runs(timed)
    coding, chat, none = by_category(seen, {"coding": 4.4, "chat": 2.0, "noise": 1.02}, plain_ms=20.0)
    assert coding["k"] > chat["k"] > none["k"] == 0 and coding["speed_up"] > chat["speed_up"] > 1.0
    assert f'"num_speculative_tokens": {coding["k"]}' in coding["setting"] and none["setting"] != chat["setting"]
    assert coding["acceptance"] > chat["acceptance"] > none["acceptance"]
    file = tmp_path / "runs.json"
    file.write_text(json.dumps({"format": "hsd-doctor-runs", "runs": [timed]}))
    command = ["doctor", str(file), "--plain-ms", "20", "--categories"]
    assert main([*command, "coding=4.4,chat=2"]) == 0
    assert "- coding: " in capsys.readouterr().out
    for wrong, said in (
        ("coding", "write coding=3.1"),
        ("coding=0.5", "fewer than 1"),
        ("coding=9", "more than drafts"),
    ):
        assert main([*command, wrong]) == 2
        assert said in capsys.readouterr().err
    with pytest.raises(DoctorError, match="--plain-ms"):
        by_category(runs(vllm(1000, [700, 400])), {"coding": 2.0})


MATRIX = """        Acceptance Length Report
┏━━━━━━━┳━━━━━━━━┳━━━━━━┳━━━━━━━━━┓
┃ Model ┃ coding ┃ chat ┃ Overall ┃
┡━━━━━━━╇━━━━━━━━╇━━━━━━╇━━━━━━━━━┩
│ a/b   │   4.40 │ 2.00 │    3.20 │
"""
BENCH = """| stack | category | prompts | speed-up (95 % interval) | per target forward | accepted, by level |
| --- | --- | --- | --- | --- | --- |
| `a:4>b` | coding | 4 | 1.50 (1.40 to 1.60) | 4.40 | 0.85 |
| `a:4>b` | chat | 4 | 1.20 (1.10 to 1.30) | 2.00 | 0.40 |
"""
COLUMN = "\n| Category | acceptance length |\n|---|---|\n| coding | 4.40 |\n| chat | 2.0 |\n| **overall** | 3.2 |\n"


def test_a_table_by_kind_of_text_is_found_in_a_pasted_text() -> None:
    for text in (MATRIX, BENCH, COLUMN, "coding  4.40\nchat\t2.00\n", "coding: 4.4\nchat: 2\n"):
        assert categories_in(["a log\n", f"words\n{text}and more words\n"]) == {"coding": 4.4, "chat": 2.0}
    two_stacks = BENCH + BENCH.splitlines()[-1].replace("a:4", "c:4")
    for text in (two_stacks, "coding 75.2\nchat 1.9\n", "coding 0.75\nchat 0.4\n", "task 1.5\nslot 2.5\n"):
        assert categories_in([text]) == {}
    timed = runs(vllm(1000, [700, 400, 200, 100], ms=30, draft_ms=2.0, draft_timed=4000))
    seen = timed + read_texts([("table", COLUMN)])
    answer = diagnose_kinds(seen, [COLUMN], plain_ms=20.0)
    assert answer["by_category"] == by_category(timed, {"coding": 4.4, "chat": 2.0}, plain_ms=20.0)
    assert answer["categories"] == "coding=4.4, chat=2" and answer["compared"] == []
    untimed = diagnose_kinds(runs(vllm(1000, [700, 400, 200, 100])), [MATRIX])
    assert untimed["by_category"] == [] and untimed["categories"] == "" and "by kind of text" in untimed["missing"][-1]


def test_what_cannot_be_read_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("hello\n")
    done = subprocess.run(
        [sys.executable, "-m", "hsd_core", "doctor", str(file)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert done.stderr.startswith("error: notes.txt: no line in it mentions speculation")
    assert main(["doctor"]) == 2
    assert main(["doctor", str(file), "--url", "http://127.0.0.1:1"]) == 2


def test_a_server_is_scraped_twice(capsys: pytest.CaptureFixture[str]) -> None:
    counts = iter([100, 300])

    class Metrics(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            n = next(counts)
            assert self.path == "/metrics"
            body = (
                f"llamacpp:spec_decode_num_drafts_total {n}\nllamacpp:spec_decode_num_draft_tokens_total {2 * n}\n"
                f"llamacpp:spec_decode_num_accepted_tokens_total {n}\nllamacpp:tokens_predicted_total {2 * n}\n"
                f"llamacpp:tokens_predicted_seconds_total {n / 100}\n"
            ).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            return

    server = HTTPServer(("127.0.0.1", 0), Metrics)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/v1"
        assert main(["doctor", "--url", url, "--pause", "0.1", "--json"]) == 0
    finally:
        server.shutdown()
    answer = json.loads(capsys.readouterr().out)
    assert (answer["tokens_per_pass"], answer["ms_per_token"]) == (2, 5)
    assert main(["doctor", "--url", "file:///etc/passwd"]) == 2
    assert main(["doctor", "--url", "http://127.0.0.1:9", "--pause", "0.1"]) == 2


def test_dearer_than_a_pass_over_a_draft_it_loses_however_long_plain_decoding_takes() -> None:
    assistant = {"engine": "transformers", "k": 4, "acceptance": 0.5, "draft_ms": 186.0, "draft_timed": 1}
    answer = diagnose(runs(assistant | {"verify_ms": 320.0}))
    assert answer["plain_ms"] is None
    assert answer["verdict"].startswith("Speculation loses")
    assert "without assistant_model" in answer["remedies"][0]["text"]


def test_transformers_lookups_are_told_their_own_setting() -> None:
    lookups = {"engine": "transformers", "k": 2, "acceptance": 0.6, "draft_ms": 0.1, "draft_timed": 1}
    lookups |= {"verify_ms": 100.0, "plain_ms": 90.0, "drafter": "PromptLookupCandidateGenerator"}
    answer = diagnose(runs(lookups))
    assert "prompt_lookup_num_tokens=" in answer["remedies"][0]["text"]
    assert not any("assistant" in remedy["text"] for remedy in answer["remedies"])


def test_whatever_the_counts_are_there_is_an_answer_or_a_sentence() -> None:
    """A link's counts are anybody's to write."""
    pick = random.Random(0)
    usual, rare = [None, 1, 2.5, 40, 300, 1e6], [0, 1e-9, 1e-300, 7e14, 1e300, -1]
    names = ["rounds", "drafted", "accepted", "decode_ms", "timed_tokens", "timed_passes", "draft_ms", "draft_timed"]
    names += ["plain_ms", "verify_ms", "running", "acceptance"]
    answered = 0
    for _ in range(300):
        seen = {name: pick.choice(rare if pick.random() < 0.05 else usual) for name in names}
        seen |= {
            "engine": pick.choice(["vllm", "llama.cpp", "", "x"]),
            "k": pick.choice([None, None, 1, 3, 7, 300, -2]),
        }
        rounds = pick.choice([1, 50, 1e6])
        seen["acceptance"] = pick.choice([None, None, 0.0, 0.5, 1.0, 2.0])
        if pick.random() < 0.7:
            kept = sorted((pick.random() * rounds for _ in range(pick.choice([1, 3, 20]))), reverse=True)
            seen |= {"kept": kept, "rounds": rounds, "accepted": sum(kept), "drafted": rounds * len(kept)}
        try:
            answer = diagnose(runs(seen), plain_ms=pick.choice([None, 10.0]))
        except DoctorError:
            continue
        answered += 1
        assert answer["verdict"]
        json.loads(json.dumps(answer, allow_nan=False))
    assert answered > 40
