"""llama.cpp, vLLM and SGLang: the commands that start them for a probe, and the counts of one request.

Start commands: `llama-server --help` (build 11434); vLLM's docs/features/speculative_decoding; SGLang's server
arguments. A server's /v1/models names the engine. llama.cpp: /metrics before and after give the positions, `timings`
the time. vLLM: the reply's `metrics`. SGLang: the last event's `meta_info`; the time is measured here, between two
events.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from hsd_core.doctor.reading.counts import Counts
from hsd_core.doctor.reading.replies import counts_in_reply
from hsd_core.doctor.reading.scrapes import Scrape, between, counts_in, scrapes
from hsd_core.measure.probe.server import HttpServer, ProbeError, Refused

LENGTHS = (1, 2, 4, 8)
MOST = 64  # tokens of a draft
SYNTHETIC_SHARE = 0.6  # the share of a draft's tokens that a synthetic run accepts


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine that can be probed.

    owner: its name in /v1/models. flags: that a probe needs. synthetic: whether the number of accepted tokens can be
    set, so that times at any length need no good draft.
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
    """The command for every draft length, 0 for plain decoding.

    Args:
        target, draft: models as the engine names them, or the words TARGET and DRAFT.
    Raises:
        ValueError: the engine has no synthetic acceptance.
    """
    if synthetic and not ENGINES[engine].synthetic:
        raise ValueError(f"{engine} has no synthetic acceptance; leave --synthetic out")
    make = {"llama.cpp": _start_llama, "vllm": _start_vllm, "sglang": _start_sglang}[engine]
    return {k: make(k, target, draft, port, synthetic) for k in (0, *lengths)}


def synthetic_length(k: int) -> float:
    """Tokens per pass of a synthetic run, the target's own included."""
    return round(1.0 + SYNTHETIC_SHARE * k, 2)


def _start_llama(k: int, target: str, draft: str, port: int, synthetic: bool) -> str:
    start = f"llama-server -m {target} --port {port} --metrics --parallel 1"
    if not k:
        return start
    drafts = f"-md {draft} --spec-type draft-simple --spec-draft-n-max {k} --spec-draft-p-min 0"
    return f"{start} {drafts}" + (f" --spec-synth-len {synthetic_length(k)}" if synthetic else "")


def _start_vllm(k: int, target: str, draft: str, port: int, synthetic: bool) -> str:
    start = f"vllm serve {target} --port {port} --max-num-seqs 1 {ENGINES['vllm'].flags}"
    if not k:
        return start
    config: dict[str, object] = {"method": "draft_model", "model": draft, "num_speculative_tokens": k}
    if synthetic:
        config |= {"rejection_sample_method": "synthetic", "synthetic_acceptance_length": synthetic_length(k)}
    return f"{start} --speculative-config '{json.dumps(config)}'"


def _start_sglang(k: int, target: str, draft: str, port: int, synthetic: bool) -> str:
    start = f"python -m sglang.launch_server --model-path {target} --port {port} --max-running-requests 1"
    start += f" {ENGINES['sglang'].flags}"
    if not k:
        return start
    drafts = f"--speculative-algorithm STANDALONE --speculative-draft-model-path {draft}"
    chain = f"--speculative-num-steps {k} --speculative-eagle-topk 1 --speculative-num-draft-tokens {k + 1}"
    return f"{start} {drafts} {chain}"


@dataclass(frozen=True, slots=True)
class Server:
    """A running server: its engine, and the model to name in requests."""

    asked: HttpServer
    engine: str
    model: str


def server_at(asked: HttpServer, engine: str | None = None) -> Server:
    """The server at an address.

    Raises:
        ProbeError: nothing answers, or it is not `engine`, or an unknown engine.
    """
    owner, model = _owner(asked.found("/v1/models"))
    name = next((each.name for each in ENGINES.values() if each.owner == owner), None)
    if name is None:
        what = f"says that its models are owned by {owner!r}" if owner else "has no /v1/models"
        raise ProbeError(f"{asked.root} {what}; a probe knows {', '.join(ENGINES)}")
    if engine and engine != name:
        raise ProbeError(f"{asked.root} is a server of {name}, not of {engine}; name that, or another address")
    return Server(asked, name, model)


def _owner(models: str | None) -> tuple[str, str]:
    """The owner and the name of the first model; "" if the answer has another form."""
    try:
        first = json.loads(models or "")["data"][0]
        return str(first.get("owned_by", "")), str(first.get("id", ""))
    except (ValueError, LookupError, TypeError, AttributeError):
        return "", ""


def ask(server: Server, prompt: str, tokens: int) -> Counts:
    """The counts of one greedy reply of at most `tokens` tokens.

    Raises:
        ProbeError: the server does not report what is needed; the message names the flag.
    """
    asks = {"llama.cpp": _ask_llama, "vllm": _ask_vllm, "sglang": _ask_sglang}[server.engine]
    seen = asks(server, prompt, tokens)
    if not seen.decode_ms or not seen.timed_tokens or seen.timed_tokens < 2:
        raise ProbeError(
            f"the reply to {prompt[:40]!r} has fewer than three tokens; use prompts with longer replies, or more "
            "--max-new-tokens"
        )
    return seen


def _chat(server: Server, prompt: str, tokens: int) -> dict[str, Any]:
    body = {
        "model": server.model,
        "messages": [{"role": "user", "content": prompt}],
        "max_tokens": tokens,
        "temperature": 0,
        "seed": 0,
    }
    if server.engine == "llama.cpp":
        body["cache_prompt"] = False
    return server.asked.posted("/v1/chat/completions", body)


def _ask_llama(server: Server, prompt: str, tokens: int) -> Counts:
    before = _scraped(server)
    reply = _chat(server, prompt, tokens)
    happened = between(before, _scraped(server), server.asked.root)
    timings = reply.get("timings")
    if not isinstance(timings, dict):
        raise ProbeError(f"{server.asked.root}: the reply has no timings; use llama.cpp's own server")
    timing_counts = counts_in_reply(reply, server.asked.root)
    assert timing_counts is not None
    seen = counts_in(happened, server.asked.root, difference=True)
    if seen.accepted is not None and timing_counts.accepted is not None and seen.accepted != timing_counts.accepted:
        raise ProbeError(f"{server.asked.root}: other requests ran meanwhile; probe a server that nobody else uses")
    seen.decode_ms, seen.timed_tokens, seen.timed_passes = (
        timing_counts.decode_ms,
        timing_counts.timed_tokens,
        timing_counts.timed_passes,
    )
    return seen


def _scraped(server: Server) -> Scrape:
    try:
        found = scrapes(server.asked.text("/metrics"), server.asked.root)
    except Refused:
        raise ProbeError(f"{server.asked.root}: /metrics is off; start llama-server with --metrics") from None
    if not found:
        raise ProbeError(f"{server.asked.root}: /metrics has none of llama.cpp's counters; use its own server")
    return found[0]


def _ask_vllm(server: Server, prompt: str, tokens: int) -> Counts:
    reply = _chat(server, prompt, tokens)
    metrics = reply.get("metrics")
    if not isinstance(metrics, dict) or metrics.get("generation_time_ms") is None:
        raise ProbeError(f"{server.asked.root}: the reply has no times; start vLLM with --enable-per-request-metrics")
    drafts = "vllm:spec_decode_num_drafts" in (server.asked.found("/metrics") or "")
    if drafts and not metrics.get("speculative_decoding"):
        raise ProbeError(
            f"{server.asked.root}: the reply does not say what was accepted; start vLLM with "
            "--per-request-spec-decode-metrics detailed"
        )
    seen = counts_in_reply(reply, server.asked.root)
    assert seen is not None
    return seen


def _ask_sglang(server: Server, prompt: str, tokens: int) -> Counts:
    body = {"text": prompt, "stream": True, "sampling_params": {"max_new_tokens": tokens, "temperature": 0}}
    first: tuple[float, float] | None = None  # s, tokens
    last: tuple[float, float] = (0.0, 0.0)
    event: dict[str, Any] = {}
    for event in server.asked.streamed("/generate", body):
        count = event.get("meta_info", {}).get("completion_tokens")
        if not isinstance(count, int | float):
            raise ProbeError(f"{server.asked.root}: /generate gives no meta_info; use SGLang's own server")
        last = (time.perf_counter(), float(count))
        first = first or last
    seen = counts_in_reply(event, server.asked.root) if first else None
    if first is None or seen is None:
        raise ProbeError(f"{server.asked.root}: /generate gave nothing; look at the server's log")
    seen.decode_ms, seen.timed_tokens = 1e3 * (last[0] - first[0]), last[1] - first[1]
    rounds = seen.rounds or 0.0
    seen.timed_passes = max(1.0, rounds * seen.timed_tokens / last[1]) if rounds else seen.timed_tokens
    return seen
