"""What a text says of how an engine was started: which one it is, and what its command or configuration sets."""

from __future__ import annotations

import re

from hsd_core.doctor.engines import engine_of

_ENGINES = (
    ("mlx-lm", re.compile(r"mlx|tokens-per-sec", re.IGNORECASE)),
    ("tabbyapi", re.compile(r"tabby|exllama|\bexl[23]\b|cached tokens and|draft_model_name", re.IGNORECASE)),
    ("lmstudio", re.compile(r"lm ?studio|\blms\b", re.IGNORECASE)),
    ("tensorrt-llm", re.compile(r"tensorrt|trt-?llm|max_draft_len|decoding_type", re.IGNORECASE)),
    ("koboldcpp", re.compile(r"kobold|--draftamount", re.IGNORECASE)),
    ("sglang", re.compile(r"sglang|sgl\b|speculative[-_]num[-_]steps|#questions", re.IGNORECASE)),
    ("vllm", re.compile(r"vllm|num_spec(?:ulative)?_tokens|EngineCore|APIServer", re.IGNORECASE)),
    (
        "llama.cpp",
        re.compile(r"llama\.cpp|llama-(?:server|cli|bench|spec|lookup|run|swap)|gguf|--spec-|draft-max", re.IGNORECASE),
    ),
    ("ollama", re.compile(r"ollama", re.IGNORECASE)),
    ("transformers", re.compile(r"transformers|assistant_model|prompt_lookup", re.IGNORECASE)),
)
_LENGTH = re.compile(
    r"(?:num[_-]spec(?:ulative)?[_-]tokens|spec-draft-n-max|draft-max|num[_-]steps|draft-n-max|draftamount"
    r"|(?<!speculative[-_])num[_-]draft[_-]tokens|draft_num_tokens|max_draft_len|num_assistant_tokens"
    r"|prompt_lookup_num_tokens|n_max|\bk)\W{1,4}(\d{1,3})\b"
)
_METHOD = re.compile(
    r"(?:\bmethod\W{0,2}[:=]\W{0,3}|--speculative-algorithm[ =]|speculative_algorithm\W{1,5}|--spec-type[ =]"
    r"|decoding_type\W{1,5})([\w-]{2,40})"
)
_DRAFTER = re.compile(
    r"(?:--speculative-draft-model-path|--model-draft|(?<!\S)-md|--draft-?model|draft_model_name:|speculative_model(?:_dir)?:)"
    r"[ =]([^\s\"'`]{1,80})"
)


def engine_in(text: str) -> str:
    """The engine that a text speaks of most; "" for none."""
    counts = {name: len(pattern.findall(text[:200_000])) for name, pattern in _ENGINES}
    most = max(counts, key=lambda name: counts[name])
    return most if counts[most] else ""


def length_in(text: str) -> int | None:
    """The draft length that a command or a configuration sets; None where none does, or several differ."""
    found = {int(one) for one in _LENGTH.findall(text)}
    return found.pop() if len(found) == 1 else None


def settings_alone(text: str) -> str:
    """Of a text without any output: what its command or configuration sets, and what would complete it; "" for none."""
    text = text[:200_000]
    method, drafter, lengths = _METHOD.search(text), _DRAFTER.search(text), sorted(set(map(int, _LENGTH.findall(text))))
    told = [f"method {method[1]}"] if method and method[1] != "none" else []
    told += [f"draft model {drafter[1]}"] if drafter else []
    told += [f"drafts of {' or '.join(map(str, lengths[:4]))} tokens"] if lengths else []
    if not told:
        return ""
    engine = engine_of(engine_in(text))
    return (
        f"it sets how {engine.title} drafts ({', '.join(told)}) and tells nothing of a run. "
        f"Add an output: {engine.time}. To see whether it pays, {engine.plain}"
    )
