"""What each engine calls its settings and where it prints its figures: advice names the flags of the reader's engine.

vLLM: docs/features/speculative_decoding. llama.cpp: docs/speculative.md. SGLang: docs/advanced_features. LM Studio:
lmstudio-js, `draftModel` and `speculativeDecodingNumDraftTokensExact`. mlx-lm: `mlx_lm.generate --help`. TabbyAPI:
config_sample.yml. TensorRT-LLM: docs/source/features/speculative-decoding.md.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Engine:
    """title: the usual spelling. length: how to set a draft length, with {k} and {k1} = k + 1. off: plain decoding.

    plain, time, positions, draft: how to obtain a missing figure. start: what turns drafting on. why: why nothing may
    have been drafted. without: the setting that plain decoding lacks. output: what a run prints. given: where the draft
    length is set. splits_time: whether the engine ever times drafting and verifying separately. silent: whether its
    speed line looks the same with drafts and without.
    """

    title: str
    length: str = "draft length {k}"
    off: str = "plain decoding"
    without: str = "speculation"
    output: str = "that output"
    given: str = "the length that it was started with"
    time: str = "give an output with the time of decoding, or tokens/s at one request at a time"
    start: str = "start it with a drafter"
    why: str = ""
    plain: str = ""
    positions: str = ""
    draft: str = ""
    splits_time: bool = False
    silent: bool = False

    def __post_init__(self) -> None:
        defaults = {
            "plain": f"run the same prompts without {self.without} and add {self.output}",
            "positions": f"{self.title} does not print positions",
            "draft": f"{self.title} does not print it; run the same prompts at another {self.given} and "
            f"add {self.output}",
            "why": f"It runs without {self.without}.",
        }
        for name, text in defaults.items():
            object.__setattr__(self, name, getattr(self, name) or text)


UNKNOWN = Engine(
    title="the engine",
    positions="give an output with counts by position",
    draft="run the same prompts at another draft length and add that output",
    why="Nothing in the output says that a drafter was running.",
    splits_time=True,
)
_ENGINES = {
    "vllm": Engine(
        title="vLLM",
        length='--speculative-config \'{{"method": "METHOD", "model": "DRAFT", "num_speculative_tokens": {k}}}\'',
        off="vllm serve MODEL  # without --speculative-config",
        plain="run the same prompts on `vllm serve MODEL --enable-per-request-metrics` without --speculative-config "
        "and add that output",
        time="curl http://HOST:8000/metrics before and after some prompts, one request at a time, and give both; "
        "or start with --enable-per-request-metrics",
        positions="curl http://HOST:8000/metrics, or --per-request-spec-decode-metrics summary; vLLM's log has them "
        "since 0.8.5",
        why="The server runs without --speculative-config, or its n-gram lookup found nothing to copy.",
        start='--speculative-config \'{"method": "draft_model", "model": "DRAFT", "num_speculative_tokens": 3}\'',
        given="num_speculative_tokens of the command that started vLLM",
    ),
    "llama.cpp": Engine(
        title="llama.cpp",
        length="--spec-draft-n-max {k}",
        off="--spec-type none",
        plain="run the same prompts with --spec-type none and add that output",
        splits_time=True,
        time="keep the log's lines `eval time`, or the replies' timings",
        positions="llama-server -lv 4 prints `acc per pos`; --metrics counts it too",
        draft="llama-server prints `statistics ... dur(b,g,a)` in its log",
        why="llama-server drafts only with --spec-type, which is `none` unless given: a model named with -md is loaded "
        "and not used.",
        start="--spec-type draft-simple -md DRAFT.gguf --spec-draft-n-max 3",
        given="--spec-draft-n-max of the command that started llama-server",
    ),
    "sglang": Engine(
        title="SGLang",
        length="--speculative-num-steps {k} --speculative-eagle-topk 1 --speculative-num-draft-tokens {k1}",
        off="python -m sglang.launch_server --model-path MODEL  # without --speculative-algorithm",
        without="--speculative-algorithm",
        output="that log",
        time="keep the log's lines `Decode batch` at one request at a time",
        positions="POST /generate gives meta_info with spec_correct_drafts_histogram",
        why="The server runs without --speculative-algorithm, or has fallen back to plain decoding.",
        start="--speculative-algorithm STANDALONE --speculative-draft-model-path DRAFT --speculative-num-steps 3 "
        "--speculative-eagle-topk 1 --speculative-num-draft-tokens 4",
        given="--speculative-num-steps of the command that started SGLang",
    ),
    "transformers": Engine(
        title="transformers",
        length="assistant.generation_config.num_assistant_tokens = {k}\n"
        'assistant.generation_config.num_assistant_tokens_schedule = "constant"',
        off="model.generate(**inputs)  # without assistant_model and prompt_lookup_num_tokens",
        plain="run generate without assistant_model under the same counting and add that file",
        positions=UNKNOWN.positions,
        draft=UNKNOWN.draft,
        why="generate had no assistant.",
        start="model.generate(**inputs, assistant_model=assistant)",
        splits_time=True,
    ),
    "lmstudio": Engine(
        title="LM Studio",
        length="speculativeDecodingNumDraftTokensExact: {k}",
        off="Speculative Decoding: off  # in the chat's side bar, or a request without draft_model",
        without="draft_model",
        output="the replies",
        time="give the replies' stats, which have tokens_per_second",
        positions="LM Studio does not print them; llama-server -lv 4 with the same two models prints `acc per pos`",
        why="No draft model was chosen.",
        start='"draft_model": "DRAFT"',
        given="draft length in LM Studio's settings",
    ),
    "mlx-lm": Engine(
        title="mlx-lm",
        length="--num-draft-tokens {k}",
        off="mlx_lm.generate --model MODEL  # without --draft-model",
        without="--draft-model",
        output="the line `Generation`",
        time="keep the line `Generation: N tokens, X tokens-per-sec`",
        positions="mlx-lm prints none; count `from_draft` of stream_generate's responses",
        start="--draft-model DRAFT --num-draft-tokens 3",
        given="--num-draft-tokens of the command",
        silent=True,
    ),
    "tabbyapi": Engine(
        title="TabbyAPI",
        length="draft_model:\n  draft_num_tokens: {k}",
        off="draft_model:\n  draft_model_name:  # empty",
        without="draft_model_name",
        output="the line `Metrics`",
        time="keep the line `Metrics ... Generate: X T/s`",
        positions="TabbyAPI does not print positions; the replies' usage has accepted_prediction_tokens",
        why="config.yml names no draft model.",
        start="draft_model:\n  draft_model_name: DRAFT",
        given="draft_num_tokens in config.yml",
        silent=True,
    ),
    "tensorrt-llm": Engine(
        title="TensorRT-LLM",
        length="speculative_config:\n  max_draft_len: {k}",
        off="trtllm-serve MODEL  # without speculative_config",
        without="speculative_config",
        output="the report of trtllm-bench",
        time="run trtllm-bench with --streaming, which reports TPOT",
        start="speculative_config:\n  decoding_type: DraftTarget\n  max_draft_len: 3\n  speculative_model: DRAFT",
        given="max_draft_len of speculative_config",
    ),
    "tgi": Engine(
        title="TGI",
        length="--speculate {k}",
        off="text-generation-launcher  # without --speculate",
        without="--speculate",
        output="its /metrics",
        time="curl http://HOST:8080/metrics before and after some prompts, and give both",
        why="It runs without --speculate.",
        start="--speculate 3",
        given="--speculate of the launcher",
    ),
    "koboldcpp": Engine(
        title="koboldcpp",
        length="--draftamount {k}",
        off="koboldcpp --model MODEL  # without --draftmodel",
        without="--draftmodel",
        time="keep the line with T/s of generation",
        positions="koboldcpp does not print them; llama-server -lv 4 with the same two models prints `acc per pos`",
        start="--draftmodel DRAFT.gguf --draftamount 3",
        given="--draftamount of the command",
        silent=True,
    ),
    "mlx-vlm": Engine(
        title="mlx-vlm",
        off="mlx_vlm.server  # without --draft-model",
        without="--draft-model",
        output="the replies",
        time="give the replies' timings",
        start="--draft-model DRAFT",
        given="draft length of the requests",
    ),
}


def engine_of(name: str) -> Engine:
    """The settings of an engine; for an unknown one, what holds for any engine."""
    return _ENGINES.get(name, UNKNOWN)


def name_of(name: str) -> str:
    """An engine's name in its usual spelling."""
    return _ENGINES[name].title if name in _ENGINES else name or UNKNOWN.title
