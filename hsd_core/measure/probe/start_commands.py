"""How each engine is started so that it can be probed: plain, and at several draft lengths.

llama.cpp: `llama-server --help` (build 11434). vLLM: docs/features/speculative_decoding. SGLang: server arguments.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

LENGTHS = (1, 2, 4, 8)
MOST = 64  # tokens of a draft
SYNTHETIC_SHARE = 0.6  # of a draft's tokens that a synthetic run accepts


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine that can be probed.

    owner: what /v1/models says of it. flags: without which it does not tell what is needed. synthetic: whether it can
    be told how many tokens to accept, so that times at any length need no good draft.
    """

    name: str
    owner: str
    flags: str
    synthetic: bool


ENGINES: Mapping[str, Engine] = MappingProxyType(
    {
        "llama.cpp": Engine("llama.cpp", "llamacpp", "--metrics", True),
        "vllm": Engine("vllm", "vllm", "--enable-per-request-metrics --per-request-spec-decode-metrics detailed", True),
        "sglang": Engine("sglang", "sglang", "--enable-metrics", False),
    }
)


def commands(
    engine: str, lengths: Sequence[int], *, target: str, draft: str, port: int, synthetic: bool = False
) -> dict[int, str]:
    """The command of every draft length, 0 for plain decoding.

    Args:
        target, draft: models as the engine takes them, or the words TARGET and DRAFT.
    Raises:
        ValueError: the engine has no synthetic acceptance.
    """
    if synthetic and not ENGINES[engine].synthetic:
        raise ValueError(f"{engine} has no synthetic acceptance; leave --synthetic out")
    make = {"llama.cpp": _llama, "vllm": _vllm, "sglang": _sglang}[engine]
    return {k: make(k, target, draft, port, synthetic) for k in (0, *lengths)}


def synthetic_length(k: int) -> float:
    """Tokens that a synthetic run commits a pass, the target's own included."""
    return round(1.0 + SYNTHETIC_SHARE * k, 2)


def _llama(k: int, target: str, draft: str, port: int, synthetic: bool) -> str:
    start = f"llama-server -m {target} --port {port} --metrics --parallel 1"
    if not k:
        return start
    drafts = f"-md {draft} --spec-type draft-simple --spec-draft-n-max {k} --spec-draft-p-min 0"
    return f"{start} {drafts}" + (f" --spec-synth-len {synthetic_length(k)}" if synthetic else "")


def _vllm(k: int, target: str, draft: str, port: int, synthetic: bool) -> str:
    start = f"vllm serve {target} --port {port} --max-num-seqs 1 {ENGINES['vllm'].flags}"
    if not k:
        return start
    config: dict[str, object] = {"method": "draft_model", "model": draft, "num_speculative_tokens": k}
    if synthetic:
        config |= {"rejection_sample_method": "synthetic", "synthetic_acceptance_length": synthetic_length(k)}
    return f"{start} --speculative-config '{json.dumps(config)}'"


def _sglang(k: int, target: str, draft: str, port: int, synthetic: bool) -> str:
    start = f"python -m sglang.launch_server --model-path {target} --port {port} --max-running-requests 1"
    start += f" {ENGINES['sglang'].flags}"
    if not k:
        return start
    drafts = f"--speculative-algorithm STANDALONE --speculative-draft-model-path {draft}"
    chain = f"--speculative-num-steps {k} --speculative-eagle-topk 1 --speculative-num-draft-tokens {k + 1}"
    return f"{start} {drafts} {chain}"
