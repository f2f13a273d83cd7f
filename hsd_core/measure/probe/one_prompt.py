"""What one request to a server tells: its counts and times, as the engine itself gives them.

Which engine it is, its own /v1/models says. llama.cpp: /metrics before and after for the positions, `timings` for the
time. vLLM: the reply's `metrics`. SGLang: the last event's `meta_info`; its time is taken here, between two events.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any

from hsd_core.doctor.reading.replies import seen_in_reply
from hsd_core.doctor.reading.scrapes import Scrape, between, scrapes, seen_in
from hsd_core.doctor.reading.seen import Seen
from hsd_core.measure.probe.http_server import Asked, ProbeError, Refused
from hsd_core.measure.probe.start_commands import ENGINES


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answers: its engine, and the model that requests name."""

    asked: Asked
    engine: str
    model: str


def server_at(asked: Asked, engine: str | None = None) -> Server:
    """The server behind an address.

    Raises:
        ProbeError: nothing answers, or it is another engine than `engine`, or none that is known.
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
    """Whose models these are, and the first one; "" where the answer is of another form."""
    try:
        first = json.loads(models or "")["data"][0]
        return str(first.get("owned_by", "")), str(first.get("id", ""))
    except (ValueError, LookupError, TypeError, AttributeError):
        return "", ""


def ask(server: Server, prompt: str, tokens: int) -> Seen:
    """The counts of one greedy reply of at most so many tokens.

    Raises:
        ProbeError: the server does not tell what is needed; the message names the flag.
    """
    asks = {"llama.cpp": _llama, "vllm": _vllm, "sglang": _sglang}[server.engine]
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


def _llama(server: Server, prompt: str, tokens: int) -> Seen:
    before = _scraped(server)
    reply = _chat(server, prompt, tokens)
    happened = between(before, _scraped(server), server.asked.root)
    timings = reply.get("timings")
    if not isinstance(timings, dict):
        raise ProbeError(f"{server.asked.root}: the reply has no timings; use llama.cpp's own server")
    told = seen_in_reply(reply, server.asked.root)
    assert told is not None
    seen = seen_in(happened, server.asked.root, difference=True)
    if seen.accepted is not None and told.accepted is not None and seen.accepted != told.accepted:
        raise ProbeError(f"{server.asked.root}: other requests ran meanwhile; probe a server that nobody else uses")
    seen.decode_ms, seen.timed_tokens, seen.timed_passes = told.decode_ms, told.timed_tokens, told.timed_passes
    return seen


def _scraped(server: Server) -> Scrape:
    try:
        found = scrapes(server.asked.text("/metrics"), server.asked.root)
    except Refused:
        raise ProbeError(f"{server.asked.root}: /metrics is off; start llama-server with --metrics") from None
    if not found:
        raise ProbeError(f"{server.asked.root}: /metrics has none of llama.cpp's counters; use its own server")
    return found[0]


def _vllm(server: Server, prompt: str, tokens: int) -> Seen:
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
    seen = seen_in_reply(reply, server.asked.root)
    assert seen is not None
    return seen


def _sglang(server: Server, prompt: str, tokens: int) -> Seen:
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
    seen = seen_in_reply(event, server.asked.root) if first else None
    if first is None or seen is None:
        raise ProbeError(f"{server.asked.root}: /generate gave nothing; look at the server's log")
    seen.decode_ms, seen.timed_tokens = 1e3 * (last[0] - first[0]), last[1] - first[1]
    rounds = seen.rounds or 0.0
    seen.timed_passes = max(1.0, rounds * seen.timed_tokens / last[1]) if rounds else seen.timed_tokens
    return seen
