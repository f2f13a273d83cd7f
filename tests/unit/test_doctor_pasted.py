"""What people paste, in made-up round numbers: the figures that follow by hand, and what may not be said.

Rounds are drafted / k, tokens a pass 1 + accepted / rounds, a position's acceptance is of the drafts that came so far.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hsd_core.cli.doctor import answer_lines
from hsd_core.doctor.diagnosis import diagnose
from hsd_core.doctor.reading.counts import DoctorError
from hsd_core.doctor.reading.inputs import read_texts

PASTED = Path(__file__).parents[1] / "doctor_outputs" / "pasted"
CONTROL = {"title": "vLLM", "rounds": 400, "k": 3, "tokens_per_pass": 2.33, "acceptance_by_position": [0.7, 0.6, 0.5]}
RIGHT: dict[str, dict[str, Any]] = {
    "01-prose-names-two-engines": CONTROL,
    "02-prose-with-thousands": {"title": "SGLang", "k": 3, "tokens_per_pass": 2.0, "ms_per_token": 5},
    "03-vllm-rate-first": {**CONTROL, "rounds": 800},
    "04-vllm-v0": {"k": 3, "rounds": 100, "tokens_per_pass": 1.6},
    "05-vllm-early-v1": {"k": None, "tokens_per_pass": None},
    "06-first-place-near-zero": {"rounds": 1000, "k": 4, "tokens_per_pass": 1.03},
    "07-vllm-bench-serve": {
        **{"title": "vLLM", "rounds": 833, "k": 4, "tokens_per_pass": 2.4, "ms_per_token": 10},
    },
    "08-promql-table": {"rounds": 100, "k": 3, "tokens_per_pass": 2.2, "acceptance_by_position": [0.7, 0.5, 0.43]},
    "09-llama-speculative-example": {"rounds": 80, "k": 4, "tokens_per_pass": 2.5, "ms_per_token": 100},
    "10-bare-timings": {"title": "llama.cpp", "rounds": 120, "k": 2, "tokens_per_pass": 1.67, "ms_per_token": 40},
    "11-mtp-bench": {"rounds": 200, "tokens_per_pass": 2.0, "ms_per_token": 32.5},
    "12-sglang-first-line-since-idle": {"ms_per_token": 5, "tokens_per_pass": 2.0, "k": 3},
    "13-sglang-with-and-without": {"ms_per_token": 5, "plain_ms": 8},
    "14-sglang-meta-info": {"rounds": 190, "k": 5, "tokens_per_pass": 1.05},
    "15-reply-inside-data": {"rounds": 80, "tokens_per_pass": 2.5, "ms_per_token": 25},
    "16-lmstudio-stats": {"title": "LM Studio", "rounds": 120, "tokens_per_pass": 2.5, "ms_per_token": 50},
    "17-docker-json-file": CONTROL,
    "18-only-positions": {"k": 2, "tokens_per_pass": 2.30, "rounds": None},
    "19-plain-and-speculated-one-log": {
        **{"ms_per_token": 40, "plain_ms": 30, "rounds": 125, "k": 3, "tokens_per_pass": 1.6},
    },
    "20-ngram-statistics": {"rounds": 50, "k": 2, "ms_per_token": 20},
    "21-no-plain-time": {"rounds": 57, "ms_per_token": 40, "plain_ms": None},
    "22-mlx-two-lines": {"title": "mlx-lm", "ms_per_token": 28.57, "plain_ms": 32.26},
    "23-control-modern": {**CONTROL, "at_most_ms": 10.73},
    "24-block-drafter": {"rounds": 180, "k": 15, "draft_ms_per_token": 9, "tokens_per_pass": 2.0},
    "25-zero-drafts-ngram-mod": {"drafter": "ngram-mod", "ms_per_token": 30},
    "31-vllm-hard-wrapped": CONTROL,
    "32-vllm-quoted-and-wrapped": CONTROL,
    "33-vllm-kubernetes-and-compose": {**CONTROL, "rounds": 800, "at_most_ms": 10.73},
    "34-vllm-two-lengths": {"k": 1, "rounds": 1000, "acceptance_by_position": [0.8, 0.5625, 0.5556]},
    "35-llama-server-2025": {"rounds": 60, "tokens_per_pass": 1.67, "ms_per_token": 100},
    "36-docker-model-runner": {"ms_per_token": 100, "plain_ms": 202.5, "tokens_per_pass": 3.0},
    "37-table-of-lengths": {"title": "llama.cpp", "plain_ms": 27.78, "best": {"k": 1, "speed_up": 1.327}},
    "38-lmstudio-status-line": {"title": "LM Studio", "ms_per_token": 40, "plain_ms": 50},
    "39-tabbyapi-line": {"title": "TabbyAPI", "ms_per_token": 50, "plain_ms": None},
    "40-tabbyapi-usage": {"title": "TabbyAPI", "rounds": 80, "tokens_per_pass": 2.5, "ms_per_token": 40},
    "41-tensorrt-llm-report": {"title": "TensorRT-LLM", "ms_per_token": 8, "tokens_per_pass": 2.4},
    "42-vllm-offline-example-cut": {"title": "vLLM", "rounds": 4687, "k": 10, "tokens_per_pass": 3.64},
    "43-vllm-bench-serve-positions": {"rounds": 10934, "k": 1, "ms_per_token": 18, "acceptance_by_position": [0.834]},
    "44-sglang-finish": {"title": "SGLang", "tokens_per_pass": 2.5, "at_most_ms": 8.75},
    "45-two-timings-cut-out": {"ms_per_token": 25, "plain_ms": 30, "rounds": 80, "tokens_per_pass": 2.5},
    "46-stream-of-chunks": {"rounds": 80, "ms_per_token": 25},
    "47-llama-speculative-2023": {"rounds": 81, "tokens_per_pass": 1.58, "ms_per_token": 1925},
    "48-one-sentence": {"ms_per_token": 26.3, "plain_ms": 22.2},
    "49-baseline-and-spec": {"ms_per_token": 34.14, "plain_ms": 25.84, "k": 4},
    "50-vllm-throughputs": {**CONTROL, "at_most_ms": 10.73},
    "51-llama-three-drafters": {"rounds": 74, "ms_per_token": 74.6},
    "52-bench-json-lines": {"rounds": 23975, "k": 3, "tokens_per_pass": 2.73},
    "53-mlx-two-commands": {"title": "mlx-lm", "ms_per_token": 28.57, "plain_ms": 32.26, "k": 3},
    "54-sglang-early-2025": {"tokens_per_pass": 2.05, "ms_per_token": 9.88, "running": 4},
    "55-llama-cli-and-speculative": {"ms_per_token": 18.03, "plain_ms": 30.78, "rounds": 146, "k": 5},
    "56-progress-bars": {"plain_ms": 7.77},
    "57-length-in-the-command": {"rounds": 25, "k": 4, "tokens_per_pass": 3.4},
    "58-headings-with-speeds": {"ms_per_token": 3.333, "plain_ms": 6.667},
    "59-two-machines-of-one-name": {"ms_per_token": 20, "plain_ms": 16},
    "60-speeds-of-three-lengths": {"plain_ms": 8, "ms_per_token": 5.714, "tokens_per_pass": 1.9},
    "61-openai-usage": {"title": "the engine", "rounds": None, "ms_per_token": None, "tokens_per_pass": None},
    "62-table-of-two-backends": {"ms_per_token": 20, "plain_ms": 40, "k": 3},
    "63-vllm-twice-tokens": {"rounds": 2000, "k": 16, "tokens_per_pass": 1.0},
    "64-names-with-underscores": {"ms_per_token": 5, "tokens_per_pass": 1.9, "k": 3},
    "65-decimal-commas-in-words": {"plain_ms": 50, "ms_per_token": 40},
    "66-typed-by-hand": {"rounds": 40, "ms_per_token": 20, "tokens_per_pass": 2.5},
    "67-last-request-cut": {"rounds": 40, "ms_per_token": 20, "plain_ms": None, "tokens_per_pass": 2.5},
    "68-ollama-verbose": {"ms_per_token": 25, "plain_ms": 25},
    "69-table-of-batches": {"ms_per_token": 5, "running": 1, "tokens_per_pass": 2.5},
    "70-promql-in-json": {"rounds": 100, "k": 2, "tokens_per_pass": 2.5},
    "71-shortened-counts": {"rounds": 900000, "k": 2, "tokens_per_pass": 2.5},
    "72-share-and-speeds-in-words": {"ms_per_token": 25, "plain_ms": 31.25},
    "73-times-of-both-models": {
        "k": 5,
        "tokens_per_pass": 5.0,
        "draft_ms_per_token": 2,
        "pass_ms": 30,
        "ms_per_token": 8,
    },
    "74-sglang-bench-serving": {"title": "SGLang", "ms_per_token": 5, "tokens_per_pass": 2.5, "k": None},
    "75-mlx-long-command": {"title": "mlx-lm", "ms_per_token": 50, "plain_ms": None, "k": 3},
    "76-limit-of-the-draft": {"k": 8, "rounds": 60, "tokens_per_pass": 1.667, "ms_per_token": 2000, "plain_ms": 2500},
    "77-tabs": {"plain_ms": 50, "ms_per_token": 33.33, "k": 3, "tokens_per_pass": 2.8},
    "78-aligned-columns": {"plain_ms": 20, "ms_per_token": 12.5},
    "79-kobold-console": {"title": "koboldcpp", "ms_per_token": 25, "plain_ms": None, "tokens_per_pass": None},
    "80-speeds-beside-a-log": {"rounds": 100, "tokens_per_pass": 2.5, "ms_per_token": 20, "plain_ms": 17.24},
    "81-two-speeds-a-row": {"plain_ms": 50, "ms_per_token": 25},
    "82-command-above-the-speed": {"ms_per_token": 20, "plain_ms": None},
    "83-draft-model-without-rates": {"ms_per_token": 20, "plain_ms": None, "tokens_per_pass": None},
    "84-table-of-loads": {"plain_ms": 20, "ms_per_token": 10, "tokens_per_pass": 2.5},
    "85-table-with-a-dash": {"plain_ms": 20, "ms_per_token": 12.5, "k": 2, "tokens_per_pass": 2.0},
    "86-bench-with-a-median-last": {"plain_ms": None, "ms_per_token": 5, "tokens_per_pass": 2.5},
    "87-vllm-bench-latency": {"title": "vLLM", "plain_ms": 20, "ms_per_token": 10, "k": 3, "tokens_per_pass": None},
    "88-llama-bench-beside-a-log": {"plain_ms": 25, "ms_per_token": 20, "rounds": 80, "tokens_per_pass": 2.5},
    "89-llama-bench-in-json": {"title": "llama.cpp", "plain_ms": 10, "ms_per_token": 10},
    "90-positions-in-columns": {
        "k": 3,
        "tokens_per_pass": 2.73,
        "acceptance_by_position": [0.78, 0.705, 0.727],
        "ms_per_token": None,
    },
    "91-unit-in-the-heading": {"plain_ms": 25, "ms_per_token": 16.67, "k": 4},
    "92-lmstudio-sdk-object": {
        "title": "LM Studio",
        "ms_per_token": 25,
        "rounds": 80,
        "tokens_per_pass": 2.5,
        "plain_ms": None,
    },
    "93-mlx-counted-from-draft": {
        "title": "mlx-lm",
        "ms_per_token": 15.625,
        "rounds": 96,
        "k": 3,
        "tokens_per_pass": 2.667,
    },
    "94-mlx-tokens-per-sec-columns": {
        "title": "mlx-lm",
        "plain_ms": 50,
        "ms_per_token": 33.33,
        "k": 2,
        "tokens_per_pass": 2.5,
    },
    "95-exllama-result": {"ms_per_token": 20, "rounds": 80, "k": 2, "tokens_per_pass": 2.5},
    "96-compose-file-and-speeds": {"title": "vLLM", "plain_ms": 28.57, "ms_per_token": 33.33, "k": 5},
    "97-sentences-of-two-tasks": {"plain_ms": 28.57, "ms_per_token": 20, "k": 5, "tokens_per_pass": 4.55},
    "98-positions-in-rows": {
        "k": 3,
        "tokens_per_pass": 2.85,
        "acceptance_by_position": [0.8, 0.75, 0.75],
        "plain_ms": None,
    },
    "99-names-that-differ-by-spec": {"title": "vLLM", "plain_ms": 14.286, "ms_per_token": 16.667, "k": 5},
    "100-unit-in-the-caption": {"plain_ms": 16.667, "ms_per_token": 10, "k": 4, "tokens_per_pass": 2.6},
    "101-acceptance-lengths-alone": {"tokens_per_pass": 2.4, "k": None, "ms_per_token": None, "plain_ms": None},
    "102-subsets-with-positions": {
        "k": 4,
        "tokens_per_pass": 3.2,
        "acceptance_by_position": [0.85, 0.706, 0.75, 0.667],
    },
    "103-llama-bench-of-both-models": {"plain_ms": 20, "ms_per_token": 10, "rounds": 50, "tokens_per_pass": 4.0},
    "104-tensorrt-llm-iterations": {
        "title": "TensorRT-LLM",
        "rounds": 2,
        "k": 3,
        "tokens_per_pass": 2.5,
        "ms_per_token": 4.8,
        "draft_ms_per_token": 1,
    },
    "105-lmstudio-stats-without-time": {
        "title": "LM Studio",
        "rounds": 60,
        "k": 2,
        "tokens_per_pass": 1.667,
        "ms_per_token": None,
    },
    "106-full-width-punctuation": {"plain_ms": 25, "ms_per_token": 14.286, "k": 3, "tokens_per_pass": 2.95},
    "107-speeds-with-a-spread": {"plain_ms": 25, "ms_per_token": 12.5, "tokens_per_pass": 2.7},
    "108-columns-of-one-blank": {"plain_ms": 25, "ms_per_token": 12.5, "k": None},
    "109-dotted-list-under-a-unit": {"plain_ms": 40, "ms_per_token": 25},
    "110-two-drafters-in-sentences": {"plain_ms": 71.43, "ms_per_token": 44.64},
    "111-sglang-steps-in-headings": {"title": "SGLang", "k": 8, "ms_per_token": 2.6415, "tokens_per_pass": 5.39},
    "112-tensorrt-llm-step-time": {"title": "TensorRT-LLM", "k": 3, "tokens_per_pass": 2.65, "ms_per_token": 4.717},
    "113-tabbyapi-with-or-without": {
        "title": "TabbyAPI",
        "ms_per_token": 32.258,
        "plain_ms": None,
        "tokens_per_pass": None,
    },
    "114-columns-of-a-user": {
        "title": "TensorRT-LLM",
        "plain_ms": 20,
        "ms_per_token": 9.091,
        "tokens_per_pass": 2.9,
        "running": 1,
    },
    "115-speeds-beside-a-scrape": {"rounds": 2000, "tokens_per_pass": 2.6, "ms_per_token": 10.526, "plain_ms": 16.667},
    "116-tokens-in-seconds": {"title": "transformers", "plain_ms": 40, "ms_per_token": 25},
    "117-ollama-reply": {"ms_per_token": 50, "plain_ms": 50},
    "118-lengths-before-the-colon": {"plain_ms": 30.303, "ms_per_token": 19.608, "k": 2, "tokens_per_pass": 2.56},
    "119-median-of-a-name": {"plain_ms": 20, "ms_per_token": 11.8, "k": 4, "tokens_per_pass": 2.6},
    "120-usage-cut-out": {"title": "TabbyAPI", "rounds": 80, "tokens_per_pass": 2.5, "ms_per_token": 20},
    "121-dashes-before-figures": {"plain_ms": 57.143, "ms_per_token": 37.037},
    "122-length-and-speed-in-a-row": {
        "title": "SGLang",
        "plain_ms": 10.526,
        "ms_per_token": 3.2258,
        "tokens_per_pass": 6.2,
    },
    "123-counts-in-lines-of-their-own": {"rounds": 1000, "k": 4, "tokens_per_pass": 3.4, "ms_per_token": 9.5},
    "124-llama-statistics-alone": {
        "plain_ms": 50,
        "ms_per_token": 30,
        "rounds": 40,
        "tokens_per_pass": 2.5,
        "draft_ms_per_token": 2.5,
    },
    "125-a-flag-beside-the-throughput": {"at_most_ms": 12.5, "tokens_per_pass": None, "plain_ms": None},
    "126-bench-without-an-engine": {"title": "vLLM", "plain_ms": 10, "ms_per_token": 7, "k": 3, "tokens_per_pass": 2.1},
    "127-rows-without-a-head": {"plain_ms": 28.571, "ms_per_token": 16.34, "k": 3},
    "128-drafters-in-a-column": {"title": "mlx-lm", "plain_ms": 66.667, "ms_per_token": 41.667, "k": None},
    "129-passes-without-a-draft": {
        "rounds": 87,
        "k": 3,
        "tokens_per_pass": 2.92,
        "ms_per_token": 10,
        "draft_ms_per_token": 1.257,
    },
}
SAID = {
    "05-vllm-early-v1": ["60 of 100 drafted tokens", "num_speculative_tokens of the command that started vLLM"],
    "06-first-place-near-zero": ["This drafter does not fit.", "3 % of the cases", "look for a mismatch"],
    "07-vllm-bench-serve": ["24 ms a pass"],
    "11-mtp-bench": ["200 of 400 drafted tokens"],
    "12-sglang-first-line-since-idle": ["33 % accepted of drafted"],
    "13-sglang-with-and-without": ["1.60 times as fast", "without: 8 ms a token"],
    "14-sglang-meta-info": ["without --speculative-algorithm", "does not fit"],
    "16-lmstudio-stats": ["180 of 400 drafted tokens", "without draft_model"],
    "18-only-positions": ["At 2, drafts of 2", "2.30 tokens a pass", "2.64 tokens a pass"],
    "19-plain-and-speculated-one-log": ["Speculation loses: 40 ms a token, 30 ms without", "--spec-type none"],
    "20-ngram-statistics": ["50 of 310", "14 % of the passes at most"],
    "21-no-plain-time": ["Longer ones cannot be judged"],
    "22-mlx-two-lines": ["1.13 times as fast"],
    "23-control-modern": ["at most 10.7 ms"],
    "24-block-drafter": ["9 ms a draft whatever its length", "60 % first position", "Shorter drafts save no drafting"],
    "25-zero-drafts-ngram-mod": [
        "made no drafts",
        "--spec-ngram-mod-n-match 12 --spec-ngram-mod-n-min 4",
        "least length",
    ],
    "59-two-machines-of-one-name": ["tp = 1: with eagle, with drafts: 33.3 ms", "tp = 4: without eagle: 16 ms"],
    "61-openai-usage": ["60 of 80 drafted tokens, 75 %, were accepted"],
    "62-table-of-two-backends": ["2.00 times as fast", "HIP Q6_K baseline: 50 ms"],
    "69-table-of-batches": ["8 at once, with drafts: 8 ms a token"],
    "73-times-of-both-models": [
        "40 ms a pass with its draft",
        "if each position is accepted so often, a pass gives 3.69",
    ],
    "75-mlx-long-command": ["speculation pays if a plain token takes longer"],
    "76-limit-of-the-draft": ["60 drafts of 2 tokens", "1.25 times as fast"],
    "90-positions-in-columns": [
        "drafts of 1: 1.78 tokens a pass",
        "taken as a share of all drafts",
        "a pass gives 2.38 tokens",
    ],
    "113-tabbyapi-with-or-without": ["does not show whether a drafter was running"],
}
NEVER = {
    "02-prose-with-thousands": ["decimal comma"],
    "05-vllm-early-v1": ["cut off"],
    "06-first-place-near-zero": ["Draft 1 token"],
    "09-llama-speculative-example": ["No drafts"],
    "12-sglang-first-line-since-idle": ["629", "574"],
    "20-ngram-statistics": ["Try drafts", "Draft 3", "7.5"],
    "21-no-plain-time": ["Try drafts", "--spec-draft-p-min"],
    "24-block-drafter": ["--spec-draft-n-max", "--spec-draft-p-min"],
    "64-names-with-underscores": ["plain decoding"],
    "67-last-request-cut": ["without drafts", "Speculation loses"],
    "73-times-of-both-models": ["A token takes 2 ms", "A token takes 30 ms"],
    "74-sglang-bench-serving": ["Only 0 %", "plain decoding"],
    "75-mlx-long-command": ["plain decoding", "without --draft-model."],
    "79-kobold-console": ["plain decoding", "200 ms"],
    "82-command-above-the-speed": ["plain decoding"],
    "83-draft-model-without-rates": ["which is plain decoding"],
    "96-compose-file-and-speeds": ["speculation pays"],
    "106-speeds-with-a-spread": ["2500 ms"],
    "111-sglang-steps-in-headings": ["draft length, and with it", "- draft length:"],
    "113-tabbyapi-with-or-without": ["plain decoding", "names no draft model"],
    "125-a-flag-beside-the-throughput": ["No line here mentions drafts", "runs without --speculative-config"],
}


def test_drafts_that_are_spoken_of_and_not_read_are_not_called_plain_decoding() -> None:
    log = "eval time = 2000.00 ms / 100 tokens (20.00 ms per token, 50.00 tokens per second)\n"
    assert "which is plain decoding" in said(answered(log))
    unread = said(answered(log + "our own counter: 60 drafted tokens were right, 20 accepted by luck\n"))
    assert "plain decoding" not in unread and "is not known" in unread


@pytest.mark.parametrize(
    ("text", "read", "completes"),
    [
        (
            '{"method":"eagle3","num_speculative_tokens":3}',
            "vLLM drafts (method eagle3, drafts of 3 tokens)",
            "/metrics",
        ),
        (
            "vllm serve meta-llama/Llama-3.1-8B --speculative-config "
            '\'{"method": "eagle3", "model": "x/EAGLE3", "num_speculative_tokens": 3}\'',
            "vLLM drafts (method eagle3, drafts of 3 tokens)",
            "without --speculative-config",
        ),
        (
            "(EngineCore_0 pid=71) INFO 08-01 10:00:00 [core.py:71] Initializing a V1 LLM engine with config: "
            "speculative_config=SpeculativeConfig(method='eagle3', model='x/EAGLE3', num_spec_tokens=3), seed=0",
            "vLLM drafts (method eagle3, drafts of 3 tokens)",
            "/metrics",
        ),
        (
            "python3 -m sglang.launch_server --model-path m --speculative-algorithm EAGLE3 --speculative-num-steps 3 "
            "--speculative-eagle-topk 1 --speculative-num-draft-tokens 4",
            "SGLang drafts (method EAGLE3, drafts of 3 tokens)",
            "`Decode batch`",
        ),
        (
            "$ llama-server -m big.gguf -md small.gguf --spec-type draft-simple --spec-draft-n-max 8",
            "llama.cpp drafts (method draft-simple, draft model small.gguf, drafts of 8 tokens)",
            "`eval time`",
        ),
        (
            "speculative_config:\n  decoding_type: Eagle3\n  max_draft_len: 3\n",
            "TensorRT-LLM drafts (method Eagle3, drafts of 3 tokens)",
            "trtllm-bench",
        ),
    ],
)
def test_a_setting_without_an_output_is_told_with_what_would_complete_it(text: str, read: str, completes: str) -> None:
    with pytest.raises(DoctorError) as refused:
        answered(text)
    told = str(refused.value)
    assert f"it sets how {read} and contains no run" in told
    assert completes in told and "no line" not in told and "understood" not in told


def answered(text: str) -> dict[str, Any]:
    return diagnose(read_texts([("pasted text", text)]))


def said(answer: dict[str, Any]) -> str:
    return "\n".join(answer_lines(answer))


@pytest.mark.parametrize("name", RIGHT)
def test_a_pasted_text_is_answered_as_worked_out_by_hand(name: str) -> None:
    answer = answered((PASTED / f"{name}.txt").read_text(encoding="utf-8"))
    if answer["parts"]:
        assert sum(part["ms"] for part in answer["parts"]) == pytest.approx(answer["ms_per_token"], rel=3e-3)
    for figure, value in RIGHT[name].items():
        assert (answer.get(figure) is None) == (value is None), figure
        expected = value if value is None or isinstance(value, str) else pytest.approx(value, rel=6e-3)
        assert answer[figure] == expected, figure
    text = said(answer)
    for sentence in SAID.get(name, []):
        assert sentence in text
    for sentence in NEVER.get(name, []):
        assert sentence not in text


def test_every_pasted_text_has_its_right_answer_here() -> None:
    assert {path.stem for path in PASTED.glob("*.txt")} == set(RIGHT)
