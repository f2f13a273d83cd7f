"""What each engine calls its settings, and what it prints where: advice names the reader's own flags.

vLLM: docs/features/speculative_decoding. llama.cpp: docs/speculative.md. SGLang: docs/advanced_features. LM Studio:
lmstudio-js, `draftModel` and `speculativeDecodingNumDraftTokensExact`. mlx-lm: `mlx_lm.generate --help`. TabbyAPI:
config_sample.yml. TensorRT-LLM: docs/source/features/speculative-decoding.md.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Engine:
    """title: as people write it. length: sets a draft length, with {k} and {k1} = k + 1. off: plain decoding.

    plain, time, places, draft: how to learn what is missing. begin: why nothing is drafted, and what starts it. given:
    where the draft length is set. apart: whether drafting is ever told apart from verifying.
    """

    title: str
    length: str
    off: str
    plain: str
    time: str
    places: str
    draft: str
    begin: tuple[str, str]
    given: str = "the draft length that it was started with"
    apart: bool = True


UNKNOWN = Engine(
    title="the engine",
    length="draft length {k}",
    off="plain decoding",
    plain="run the same prompts without speculation and add that output",
    time="give an output with the time of decoding, or tokens/s at one request at a time",
    places="give an output with counts by position",
    draft="run the same prompts at another draft length and add that output",
    begin=("Nothing in the output says that a drafter was at work.", "start it with a drafter"),
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
        places="curl http://HOST:8000/metrics, or --per-request-spec-decode-metrics summary; vLLM's log has them since "
        "0.8.5",
        draft="vLLM does not tell; run the same prompts at another num_speculative_tokens and give both outputs",
        begin=(
            "The server runs without --speculative-config, or its n-gram lookup found nothing to copy.",
            '--speculative-config \'{"method": "draft_model", "model": "DRAFT", "num_speculative_tokens": 3}\'',
        ),
        given="num_speculative_tokens of the command that started vLLM",
        apart=False,
    ),
    "llama.cpp": Engine(
        title="llama.cpp",
        length="--spec-draft-n-max {k}",
        off="--spec-type none",
        plain="run the same prompts with --spec-type none and add that output",
        time="keep the log's lines `eval time`, or the replies' timings",
        places="llama-server -lv 4 prints `acc per pos`; --metrics counts it too",
        draft="llama-server prints `statistics ... dur(b,g,a)` in its log",
        begin=(
            "llama-server drafts only with --spec-type, which is `none` unless given: a model named with -md is loaded "
            "and not used.",
            "--spec-type draft-simple -md DRAFT.gguf --spec-draft-n-max 3",
        ),
        given="--spec-draft-n-max of the command that started llama-server",
    ),
    "sglang": Engine(
        title="SGLang",
        length="--speculative-num-steps {k} --speculative-eagle-topk 1 --speculative-num-draft-tokens {k1}",
        off="python -m sglang.launch_server --model-path MODEL  # without --speculative-algorithm",
        plain="run the same prompts without --speculative-algorithm and add that log",
        time="keep the log's lines `Decode batch` at one request at a time",
        places="POST /generate gives meta_info with spec_correct_drafts_histogram",
        draft="SGLang does not tell; run the same prompts at another --speculative-num-steps and give both outputs",
        begin=(
            "The server runs without --speculative-algorithm, or has fallen back to plain decoding.",
            "--speculative-algorithm STANDALONE --speculative-draft-model-path DRAFT --speculative-num-steps 3 "
            "--speculative-eagle-topk 1 --speculative-num-draft-tokens 4",
        ),
        given="--speculative-num-steps of the command that started SGLang",
        apart=False,
    ),
    "transformers": Engine(
        title="transformers",
        length="assistant.generation_config.num_assistant_tokens = {k}\n"
        'assistant.generation_config.num_assistant_tokens_schedule = "constant"',
        off="model.generate(**inputs)  # without assistant_model and prompt_lookup_num_tokens",
        plain="run generate without assistant_model under the same counting and add that file",
        time=UNKNOWN.time,
        places=UNKNOWN.places,
        draft=UNKNOWN.draft,
        begin=("generate had no assistant.", "model.generate(**inputs, assistant_model=assistant)"),
    ),
    "lmstudio": Engine(
        title="LM Studio",
        length="speculativeDecodingNumDraftTokensExact: {k}",
        off="Speculative Decoding: off  # in the chat's side bar, or a request without draft_model",
        plain="send the same prompts without draft_model and add the replies",
        time="give the replies' stats, which have tokens_per_second",
        places="LM Studio does not tell; llama-server -lv 4 with the same two models prints `acc per pos`",
        draft="LM Studio does not tell; send the same prompts at another draft length and add the replies",
        begin=("No draft model was chosen.", '"draft_model": "DRAFT"'),
        given="the draft length in LM Studio's settings",
        apart=False,
    ),
    "mlx-lm": Engine(
        title="mlx-lm",
        length="--num-draft-tokens {k}",
        off="mlx_lm.generate --model MODEL  # without --draft-model",
        plain="run the same prompts without --draft-model and add the line `Generation`",
        time="keep the line `Generation: N tokens, X tokens-per-sec`",
        places="mlx-lm prints none; count `from_draft` of stream_generate's responses",
        draft="mlx-lm does not tell; run the same prompts at another --num-draft-tokens and add the line `Generation`",
        begin=("It runs without --draft-model.", "--draft-model DRAFT --num-draft-tokens 3"),
        given="--num-draft-tokens of the command",
        apart=False,
    ),
    "tabbyapi": Engine(
        title="TabbyAPI",
        length="draft_model:\n  draft_num_tokens: {k}",
        off="draft_model:\n  draft_model_name:  # empty",
        plain="run the same prompts without draft_model_name and add the line `Metrics`",
        time="keep the line `Metrics ... Generate: X T/s`",
        places="TabbyAPI does not tell positions",
        draft="TabbyAPI does not tell; run the same prompts at another draft length and add the line `Metrics`",
        begin=("config.yml names no draft model.", "draft_model:\n  draft_model_name: DRAFT"),
        given="draft_num_tokens in config.yml",
        apart=False,
    ),
    "tensorrt-llm": Engine(
        title="TensorRT-LLM",
        length="speculative_config:\n  max_draft_len: {k}",
        off="trtllm-serve MODEL  # without speculative_config",
        plain="run trtllm-bench on the same data set without speculative_config and add its report",
        time="run trtllm-bench with --streaming, which reports TPOT",
        places="TensorRT-LLM does not tell positions",
        draft="TensorRT-LLM does not tell; run the same data set at another max_draft_len and add the report",
        begin=(
            "It runs without speculative_config.",
            "speculative_config:\n  decoding_type: Eagle3\n  max_draft_len: 3",
        ),
        given="max_draft_len of speculative_config",
        apart=False,
    ),
    "koboldcpp": Engine(
        title="koboldcpp",
        length="--draftamount {k}",
        off="koboldcpp --model MODEL  # without --draftmodel",
        plain="run the same prompts without --draftmodel and add that output",
        time="keep the line with T/s of generation",
        places="koboldcpp does not tell; llama-server -lv 4 with the same two models prints `acc per pos`",
        draft="koboldcpp does not tell; run the same prompts at another --draftamount and add that output",
        begin=("It runs without --draftmodel.", "--draftmodel DRAFT.gguf --draftamount 3"),
        given="--draftamount of the command",
        apart=False,
    ),
    "mlx-vlm": Engine(
        title="mlx-vlm",
        length=UNKNOWN.length,
        off="mlx_vlm.server  # without --draft-model",
        plain="send the same prompts to a server without --draft-model and add the replies",
        time="give the replies' timings",
        places="mlx-vlm does not tell positions",
        draft="mlx-vlm does not tell; send the same prompts at another draft length and add the replies",
        begin=("It runs without --draft-model.", "--draft-model DRAFT"),
    ),
}


def engine_of(name: str) -> Engine:
    """What is known of an engine; of one that is not known, what holds for any."""
    return _ENGINES.get(name, UNKNOWN)


def name_of(name: str) -> str:
    """An engine's name as people write it."""
    return _ENGINES[name].title if name in _ENGINES else name or UNKNOWN.title
