"""Metrics of engines in the Prometheus text format: counters by suffix, differences of scrapes.

Names: vLLM `v1/spec_decode/metrics.py` and `v1/metrics/loggers.py`; llama.cpp `tools/server` uses the same suffixes
with its own prefix; SGLang `observability/metrics_collector.py`; TensorRT-LLM `metrics/collector.py` of 1.3; TGI
`docs/reference/metrics`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from hsd_core.doctor.reading.counts import MOST_POSITIONS, Counts, DoctorError, check, length_of, number, tried_of

ENGINES = {"vllm": "vllm", "llamacpp": "llama.cpp", "sglang": "sglang", "trtllm": "tensorrt-llm", "tgi": "tgi"}
MOST_LINES = 200_000  # of samples
_PREFIXES = ("vllm:", "llamacpp:", "sglang:", "trtllm_", "tgi_")
_LINE = re.compile(rf"\b({'|'.join(_PREFIXES)})(\w{{3,80}})")
_VALUE = re.compile(r"[+-]?(?:\d[\d.,]*(?:[eE][+-]?\d+)?|nan|inf)", re.IGNORECASE)
_TIMES = {"k": 1e3, "m": 1e6, "mil": 1e6, "b": 1e9, "bil": 1e9}  # abbreviations of dashboards
_SHORT = re.compile(r"\s?(k|mil|m|bil|b)\b", re.IGNORECASE)
_RATE = re.compile(r"\b(?:i?rate|increase|histogram_quantile)\s?\(|\[\d+[smhdw](?::\w*)?\]")  # a query, not a sample
_LABEL = re.compile(r'(\w{1,60})="([^"]{0,300})"')
_PER_POS = "spec_decode_num_accepted_tokens_per_pos"
_BY_PLACE = ("spec_decode_drafted_tokens", "spec_decode_accepted_tokens")  # TensorRT-LLM: both by position
_COUNTS = {
    "spec_decode_num_drafts",
    "spec_decode_num_draft_tokens",
    "spec_decode_num_accepted_tokens",
    "spec_decode_num_emitted_tokens",
    _PER_POS,
    "generation_tokens",
    "tokens_predicted",
    "tokens_predicted_seconds",
    "spec_verify_calls",
    "inter_token_latency_seconds_sum",
    "inter_token_latency_seconds_count",
    "request_decode_time_seconds_sum",
    "request_decode_time_seconds_count",
    "iteration_tokens_total_count",
    *_BY_PLACE,
    *(f"request_{what}" for what in ("skipped_tokens_sum", "skipped_tokens_count", "generated_tokens_sum")),
    *(f"request_mean_time_per_token_duration_{what}" for what in ("sum", "count")),
}
_GAUGES = {
    *("num_requests_running", "num_running_reqs", "requests_processing", "spec_accept_length", "spec_accept_rate"),
    *("spec_decode_draft_acceptance_rate", "spec_decode_efficiency", "n_busy_slots_per_decode", "batch_current_size"),
}

_RUNNING = (
    *("n_busy_slots_per_decode", "num_requests_running", "num_running_reqs", "requests_processing"),
    "batch_current_size",
)

Key = tuple[str, int | None]  # a counter's suffix without _total, and its position


def is_scrape(line: str) -> bool:
    """Whether a line is a sample, or one of the comments between samples."""
    if not any(prefix in line for prefix in _PREFIXES):
        return False
    found = _LINE.search(line)
    return found is not None and not _RATE.search(line[:4000]) and found[2].removesuffix("_total") in _COUNTS | _GAUGES


@dataclass
class Scrape:
    """Counters and gauges of one answer of /metrics. counts: summed over the label `engine`."""

    engine: str
    models: set[str]
    counts: dict[Key, float] = field(default_factory=dict)
    gauges: dict[str, float] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)  # gauges that were no numbers


def scrapes(text: str, name: str) -> list[Scrape]:
    """The consecutive scrapes in a text, the first and the last of each server.

    Samples may be in a table, as PromQL prints them, or follow other text.

    Raises:
        DoctorError: a line has no number, or a counter is not a number.
    """
    found: dict[tuple[str, str], dict[int, Scrape]] = {}
    seen: Counter[str] = Counter()
    for count, line in enumerate(text.split("\n")):
        sample = _sample(line, name) if count < MOST_LINES else None
        if sample is None:
            continue
        prefix, suffix, labels, value = sample
        which = f"{prefix}:{suffix}{sorted(labels.items())}"
        model = labels.get("model_name", "")
        scrape = found.setdefault((prefix, model), {}).setdefault(
            seen[which], Scrape(ENGINES[prefix], {model} if model else set())
        )
        seen[which] += 1
        if suffix in _GAUGES:
            if value is None:
                scrape.unread.append(suffix)
            else:
                scrape.gauges[suffix] = scrape.gauges.get(suffix, 0.0) + value
            continue
        if value is None:
            raise DoctorError(f"{name}: the counter {prefix}:{suffix} is no number, such as nan; scrape /metrics again")
        by_place = suffix in _BY_PLACE and "token_position" in labels
        position = _position(labels, name) if suffix == _PER_POS or by_place else None
        scrape.counts[suffix, position] = scrape.counts.get((suffix, position), 0.0) + value
    listed = []
    for of in _of_servers(found):
        numbered = [of[n] for n in sorted(of)]
        listed += numbered if len(numbered) < 3 else [numbered[0], numbered[-1]]
    return listed


def _of_servers(found: dict[tuple[str, str], dict[int, Scrape]]) -> list[dict[int, Scrape]]:
    """The scrapes of each model; samples without a model's name belong to the only one."""
    for prefix in {prefix for prefix, _ in found}:
        models = [model for of, model in found if of == prefix and model]
        if len(models) == 1 and (prefix, "") in found:
            for n, also in found.pop((prefix, "")).items():
                scrape = found[prefix, models[0]].setdefault(n, Scrape(also.engine, also.models))
                scrape.counts |= also.counts
                scrape.gauges |= also.gauges
                scrape.unread += also.unread
    return list(found.values())


def between(before: Scrape, after: Scrape, name: str) -> Scrape:
    """The difference of two scrapes.

    Raises:
        DoctorError: a counter fell, because the server was restarted or the order is reversed, or the scrapes are of
            two engines or models.
    """
    if before.engine != after.engine or (before.models and after.models and before.models != after.models):
        raise DoctorError(f"{name}: the two scrapes are of different servers; take both from one")
    if fell := [key[0] for key, value in before.counts.items() if after.counts.get(key, -1.0) < value]:
        raise DoctorError(
            f"{name}: the counter {fell[0]} fell between the two scrapes: the server was started again, or the later "
            "scrape came first; take both from one start and give the earlier one first"
        )
    counts = {key: value - before.counts.get(key, 0.0) for key, value in after.counts.items()}
    return Scrape(after.engine, after.models, counts, after.gauges, after.unread)


def counts_in(scrape: Scrape, name: str, *, difference: bool) -> Counts:
    """The counts of a scrape, or of a difference of two.

    Raises:
        DoctorError: they contradict each other, or there are only gauges.
    """
    counts: Mapping[Key, float] = scrape.counts

    def of(suffix: str) -> float | None:
        return counts.get((suffix, None))

    if not any(key[0].startswith("spec_") for key in counts) and (means := _gauges(scrape, name)) is not None:
        return means
    if not counts:
        raise DoctorError(
            f"{name}: contains only gauges, which are of the last moment; save all of /metrics, whose counters end in "
            "_total, _sum and _count"
        )
    rounds, drafted = of("spec_decode_num_drafts"), of("spec_decode_num_draft_tokens")
    accepted = of("spec_decode_num_accepted_tokens")
    tokens = of("generation_tokens")
    if tokens is None:
        tokens = of("tokens_predicted")
    if scrape.engine == "tensorrt-llm":
        rounds, drafted, accepted = _tensorrt(counts)
    per_pos = (_PER_POS, _BY_PLACE[1])
    positions = sorted((at, value) for (suffix, at), value in counts.items() if at is not None and suffix in per_pos)
    first = min(positions)[0] if positions and scrape.engine == "tensorrt-llm" else 0
    if [position for position, _ in positions] != list(range(first, first + len(positions))):
        raise DoctorError(f"{name}: counters of some positions are missing; save all of /metrics")
    kept = [value for _, value in positions]
    emitted, efficiency = of("spec_decode_num_emitted_tokens"), scrape.gauges.get("spec_decode_efficiency")
    if rounds is None and emitted and efficiency and drafted:  # vLLM up to 0.8: emitted of all that could be
        rounds = max(1.0, emitted / efficiency - drafted)
        accepted = max(0.0, emitted - rounds)
    elif rounds is None and drafted and len(kept):
        rounds = drafted / len(kept)
    seen = Counts(engine=scrape.engine, name=name, kind="scrape", rounds=rounds, drafted=drafted, accepted=accepted)
    if rounds:
        seen.kept = kept
        seen.k = len(kept) or None
        if seen.k is None and drafted:
            seen.k = length_of(float(math.ceil(drafted / rounds - 1e-9)))
        if kept and not seen.lengths_vary:
            seen.tried = tried_of(kept, rounds)
    if scrape.engine == "sglang":
        _sglang(seen, scrape, of("spec_verify_calls"), tokens)
    if scrape.engine == "tgi":
        _tgi(seen, counts)
    _times(seen, scrape, tokens)
    seen.running = _running(scrape)
    if not difference:
        seen.notes.append("one_scrape")
    if scrape.unread:
        seen.notes.append(f"not_a_number:{scrape.unread[0]}")
    return check(seen)


def _running(scrape: Scrape) -> float | None:
    """Requests at once: the mean over passes where the engine counts those, else the gauge of the last moment.

    vLLM records an inter-token latency for each request of a pass, so they are its requests summed over the passes.
    """
    passes = scrape.counts.get(("iteration_tokens_total_count", None), 0.0)
    shares = scrape.counts.get(("inter_token_latency_seconds_count", None), 0.0)
    if passes and shares >= passes:
        return shares / passes
    gauges = (scrape.gauges.get(gauge, 0.0) for gauge in _RUNNING)
    return next((running for running in gauges if running > 0), None)


def _tensorrt(counts: Mapping[Key, float]) -> tuple[float | None, float | None, float | None]:
    """Drafts, drafted and accepted tokens; a draft has a first token."""
    totals = [sum(value for (suffix, _), value in counts.items() if suffix == name) for name in _BY_PLACE]
    if not any(suffix in _BY_PLACE for suffix, _ in counts):
        return None, None, None
    starts = [at for suffix, at in counts if suffix == _BY_PLACE[0] and at is not None]
    return (counts[_BY_PLACE[0], min(starts)] if starts else None), totals[0], totals[1]


def _tgi(seen: Counts, counts: Mapping[Key, float]) -> None:
    """TGI records the accepted tokens of each request at each pass, and the mean time of a token of each request."""
    accepted = counts.get(("request_skipped_tokens_sum", None))
    passes = counts.get(("request_skipped_tokens_count", None))
    if accepted is not None and passes:
        seen.rounds, seen.accepted = (passes, accepted) if accepted else (0.0, 0.0)
        seen.drafted = None if accepted else 0.0
    sums, requests, tokens = (
        counts.get((f"request_{name}", None))
        for name in (
            "mean_time_per_token_duration_sum",
            "mean_time_per_token_duration_count",
            "generated_tokens_sum",
        )
    )
    if sums and requests and tokens:
        seen.decode_ms, seen.timed_tokens, seen.timed_passes = 1e3 * sums / requests * tokens, tokens, passes


def _sglang(seen: Counts, scrape: Scrape, calls: float | None, tokens: float | None) -> None:
    """SGLang counts only calls and tokens: no positions, and the first token of a request is included."""
    if calls is None:
        return
    seen.rounds = calls
    if calls and tokens is not None:
        seen.accepted = max(0.0, tokens - calls)
    if (k := _length(scrape)) is not None:
        seen.k, seen.drafted = k, calls * k


def _times(seen: Counts, scrape: Scrape, tokens: float | None) -> None:
    """The time of decoding. vLLM records its inter-token latency once per step, however many tokens that gave."""
    counts = scrape.counts
    if scrape.engine == "llama.cpp":
        seconds = counts.get(("tokens_predicted_seconds", None))
        if seconds and tokens:
            seen.decode_ms, seen.timed_tokens = 1e3 * seconds, tokens
            seen.timed_passes = tokens - (seen.accepted or 0.0)
        return
    ms = 1e3 * counts.get(("inter_token_latency_seconds_sum", None), 0.0)
    steps = counts.get(("inter_token_latency_seconds_count", None), 0.0)
    decode = 1e3 * counts.get(("request_decode_time_seconds_sum", None), 0.0)
    finished = counts.get(("request_decode_time_seconds_count", None), 0.0)
    if scrape.engine == "vllm" and ms and steps:
        length = 1.0 + seen.accepted / seen.rounds if seen.rounds and seen.accepted is not None else 1.0
        drafting = seen.rounds or 0.0
        others = max(0.0, steps - drafting)  # steps without a draft give one token
        seen.decode_ms, seen.timed_passes = ms, steps
        seen.timed_tokens = min(steps, drafting) * length + others
    elif ms and steps:
        seen.decode_ms, seen.timed_tokens = ms, steps
        seen.timed_passes = steps * seen.rounds / tokens if seen.rounds and tokens else None
    elif decode and tokens:
        seen.decode_ms, seen.timed_tokens = decode, max(1.0, tokens - finished)
        seen.timed_passes = seen.rounds


def _length(scrape: Scrape) -> int | None:
    """SGLang's draft length, if its two gauges agree on one."""
    length, rate = scrape.gauges.get("spec_accept_length"), scrape.gauges.get("spec_accept_rate")
    if not length or not rate or length <= 1:
        return None
    k = (length - 1) / rate
    return length_of(float(round(k))) if abs(k - round(k)) < 0.1 else None


def _gauges(scrape: Scrape, name: str) -> Counts | None:
    """The counts of gauges, if there are no counters: means of the last moment."""
    length = scrape.gauges.get("spec_accept_length")
    if length is None or length < 1:
        return None
    seen = Counts(engine=scrape.engine, name=name, kind="scrape", rounds=1.0, accepted=length - 1.0)
    seen.k, seen.notes = _length(scrape), ["means", "gauges"]
    seen.drafted = float(seen.k) if seen.k else None
    return check(seen)


def _sample(line: str, name: str) -> tuple[str, str, dict[str, str], float | None] | None:
    """Prefix, suffix, labels and value of a line; None if it is not a sample of interest."""
    found = _LINE.search(line)
    if found is None or line.lstrip().startswith(("# HELP", "# TYPE")):
        return None
    suffix = found[2].removesuffix("_total")
    if suffix not in _COUNTS | _GAUGES:
        return None
    labels, _, rest = line[found.end() :].rpartition("}")
    value = _VALUE.search(rest)
    if value is None:
        raise DoctorError(f"{name}: {line.strip()[:80]!r} is not a complete line of /metrics; save it again")
    text = value[0].rstrip(".,")
    text = text.replace(",", ".") if text.count(",") == 1 and "." not in text else text.replace(",", "")
    read = number(text)
    if read is not None and (short := _SHORT.match(rest, value.end())):
        read *= _TIMES[short[1].lower()]
    return found[1][:-1], suffix, dict(_LABEL.findall(labels[:4000])), read


def _position(labels: Mapping[str, str], name: str) -> int:
    position = number(labels.get("position", labels.get("token_position", "")))
    if position is None or position != int(position) or position >= MOST_POSITIONS:
        raise DoctorError(f"{name}: {_PER_POS} has no position; save /metrics as the server sends it")
    return int(position)
