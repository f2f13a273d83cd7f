"""JSON replies with the figures of one request: vLLM's `metrics`, llama.cpp's and mlx-vlm's `timings`, SGLang's
`meta_info`, LM Studio's `stats`, TabbyAPI's `usage`, aiperf's records, and the output of the snippet for transformers.

vLLM: docs/features/speculative_decoding/acceptance_metrics.md and per_request_metrics.md. aiperf:
docs/reference/spec-decode-acceptance.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from hsd_core.doctor.reading.counts import (
    MOST_POSITIONS,
    Counts,
    DoctorError,
    check,
    kept_by_step,
    kept_of,
    length_of,
    number,
    timed_tokens,
    tried_by_step,
    tried_of,
)
from hsd_core.doctor.reading.figures import words_of
from hsd_core.doctor.reading.pasted_text import mappings

_HERE = {  # an object that was cut out of its reply, recognised by keys that only it has
    "timings": ("predicted_n", "draft_n"),
    "meta_info": ("spec_verify_ct",),
    "stats": ("total_draft_tokens_count", "totalDraftTokensCount"),
    "usage": ("completion_tokens_per_sec",),
}
_SPEC = ("num_spec_steps", "acceptance_histogram")
MOST_REPLIES = 20_000  # requests of one text
MOST_STEPS = 200_000  # of one reply
Json = Mapping[str, Any]


def replies_in(value: Any, name: str) -> list[tuple[Any, Counts]]:
    """The requests in a JSON value, each with the id of its reply, whatever it is wrapped in.

    Raises:
        DoctorError: its counts contradict each other.
    """
    found: list[tuple[Any, Counts]] = []
    read: set[int] = set()
    for one in mappings(value):
        if id(one) in read or len(found) >= MOST_REPLIES:
            continue
        reply = next(({kind: one} for kind, keys in _HERE.items() if any(key in one for key in keys)), one)
        if any(key in one for key in _SPEC):
            reply = {"metrics": {"speculative_decoding": one}, "usage": {}}
        if (seen := counts_in_reply(reply, name)) is not None:
            meta = one.get("meta_info")
            found.append((one.get("id") or (meta.get("id") if isinstance(meta, Mapping) else None), seen))
            read |= {id(inner) for inner in mappings(one)}
    return found


def counts_in_reply(value: Json, name: str) -> Counts | None:
    """The counts of a reply; None if it has no figures of decoding.

    Raises:
        DoctorError: a value is not a number, or the counts contradict each other.
    """
    if isinstance(timings := value.get("timings"), Mapping):
        return check(_timings(timings, name))
    if isinstance(meta := value.get("meta_info"), Mapping):
        return check(_sglang(meta, name)) if "completion_tokens" in meta or "spec_verify_ct" in meta else None
    if isinstance(stats := value.get("stats"), Mapping) and _known(stats):
        return check(_lm_studio(value, stats, name))
    if isinstance(states := value.get("internal_states"), list):
        return _server_info(value, states, name)
    if isinstance(value.get("metadata"), Mapping) and isinstance(value.get("metrics"), Mapping):
        return check(_aiperf(value, name))
    if isinstance(metrics := value.get("metrics"), Mapping) and (
        "speculative_decoding" in metrics or "generation_time_ms" in metrics
    ):
        return check(_vllm(value, metrics, name))
    if isinstance(stats := value.get("specDecodingStats", value.get("specDecStats")), Mapping):
        return check(_tensorrt(value, stats, name))
    if "avg_ts" in value and "n_gen" in value:
        return check(counts) if (counts := _llama_bench(value, name)) is not None else None
    if "eval_count" in value and "eval_duration" in value:
        return check(_ollama(value, name))
    if isinstance(usage := value.get("usage"), Mapping):
        if "completion_tokens_per_sec" in usage:
            return check(_tabby(usage, name))
        return check(counts) if (counts := _predicted(usage, name)) is not None else None
    return None


def _known(stats: Json) -> bool:
    return any(words_of(str(key)) in ("tokens_per_second", "total_draft_tokens_count") for key in stats)


def _lm_studio(value: Json, stats: Json, name: str) -> Counts:
    """Its SDK writes camel case, its server snake case. Tokens that were never verified are part of the total."""
    fields = {words_of(str(key)): one for key, one in stats.items()}
    usage = value.get("usage")
    counted = usage.get("completion_tokens") if isinstance(usage, Mapping) else None
    tokens = number(counted) or _first(fields, ("completion_tokens", "predicted_tokens_count"), name)
    drafted, accepted = (_number(fields, f"{kind}_draft_tokens_count", name) for kind in ("total", "accepted"))
    speed, seconds = (_number(fields, field, name) for field in ("tokens_per_second", "generation_time"))
    seen = Counts(engine="lmstudio", name=name, kind="reply", drafted=drafted or 0.0, accepted=accepted or 0.0)
    per_token = 1e3 / speed if speed else None
    if tokens:
        _timed(seen, tokens, tokens * per_token if per_token else 1e3 * seconds if seconds else None)
    elif per_token:
        seen.decode_ms, seen.timed_tokens = per_token, 1.0
    _rounds_of_passes(seen)
    return seen


def _tabby(usage: Json, name: str) -> Counts:
    details = usage.get("completion_tokens_details")
    details = details if isinstance(details, Mapping) else {}
    accepted = _number(details, "accepted_prediction_tokens", name)
    rejected = _number(details, "rejected_prediction_tokens", name)
    tokens, speed = _number(usage, "completion_tokens", name), _number(usage, "completion_tokens_per_sec", name)
    seen = Counts(engine="tabbyapi", name=name, kind="reply")
    if accepted is not None and rejected is not None:
        seen.accepted, seen.drafted = accepted, accepted + rejected
    if tokens and speed:
        _timed(seen, tokens, 1e3 * tokens / speed)
    _rounds_of_passes(seen)
    return seen


def _timed(seen: Counts, tokens: float, ms: float | None) -> Counts:
    """Sets the time of tokens, and the passes, each of which gives one additional token of the target."""
    seen.decode_ms, seen.timed_tokens = ms, tokens
    seen.timed_passes = max(1.0, tokens - (seen.accepted or 0.0))
    return seen


def _tensorrt(value: Json, stats: Json, name: str) -> Counts:
    """TensorRT-LLM's statistics of an iteration: one pass of every request, drafting timed separately."""
    requests = _number(stats, "numRequestsWithDraftTokens", name) or 0.0
    seen = Counts(engine="tensorrt-llm", name=name, kind="reply", rounds=requests, running=requests or None)
    seen.drafted, seen.accepted = (_number(stats, f"num{what}Tokens", name) or 0.0 for what in ("Draft", "Accepted"))
    if requests:
        seen.k = length_of(float(math.ceil(seen.drafted / requests - 1e-9)))
        if ms := _number(value, "iterLatencyMS", name):
            seen.decode_ms, seen.timed_tokens, seen.timed_passes = ms * requests, requests + seen.accepted, requests
        if (ms := _number(stats, "iterLatencyMS", name)) and seen.drafted:
            seen.draft_ms, seen.draft_timed = ms * requests, seen.drafted
    return seen


def _ollama(value: Json, name: str) -> Counts:
    tokens, ns = _number(value, "eval_count", name), _number(value, "eval_duration", name)
    seen = Counts(engine="ollama", name=name, kind="reply")
    return _timed(seen, tokens, ns / 1e6) if tokens and ns else seen


def _llama_bench(value: Json, name: str) -> Counts | None:
    """A test of llama-bench, which drafts nothing; None for a test that reads a prompt."""
    tokens, speed = _number(value, "n_gen", name), _number(value, "avg_ts", name)
    if not tokens or not speed or _number(value, "n_prompt", name):
        return None
    seen = Counts(engine="llama.cpp", name=name, kind="reply", notes=["llama_bench"])
    return _timed(seen, tokens, 1e3 * tokens / speed)


def _predicted(usage: Json, name: str) -> Counts | None:
    """The two counts of OpenAI's reply format, which names no engine."""
    details = usage.get("completion_tokens_details")
    if not isinstance(details, Mapping):
        return None
    accepted = _number(details, "accepted_prediction_tokens", name)
    rejected = _number(details, "rejected_prediction_tokens", name)
    if accepted is None or rejected is None:
        return None
    return Counts(name=name, kind="reply", accepted=accepted, drafted=accepted + rejected)


def _rounds_of_passes(seen: Counts) -> None:
    """If drafts are not counted: every pass had one, unless that gives less than a token to each."""
    if not seen.drafted:
        seen.rounds = None if seen.drafted is None else 0.0
    elif seen.timed_passes and seen.drafted >= 0.98 * seen.timed_passes:
        seen.notes.append("rounds_from_tokens")
        seen.rounds = seen.timed_passes
        seen.k = length_of(float(math.ceil(seen.drafted / seen.rounds - 1e-9)))


def _vllm(value: Json, metrics: Json, name: str) -> Counts:
    engine = value.get("engine")
    seen = Counts(engine=engine if engine in ("transformers", "mlx-lm") else "vllm", name=name, kind="reply")
    usage = value.get("usage")
    tokens = _number(usage, "completion_tokens", name) if isinstance(usage, Mapping) else None
    spec = metrics.get("speculative_decoding")
    if isinstance(spec, Mapping):
        seen.drafter = str(spec.get("method") or "")[:60]
        _accepted(seen, spec, name)
    ms = _number(metrics, "generation_time_ms", name)
    # the first token comes from the prompt's pass; the snippet for transformers already excludes it
    behind = tokens if seen.engine == "transformers" else None if tokens is None else tokens - 1
    if ms and behind and behind > 0:
        seen.decode_ms, seen.timed_tokens = ms, behind
        passes = behind - seen.accepted if seen.accepted is not None else behind
        seen.timed_passes = max(passes, seen.rounds or 0.0)
    draft_ms = _number(metrics, "draft_time_ms", name)
    if draft_ms is not None and seen.drafted:
        seen.draft_ms, seen.draft_timed = draft_ms, seen.drafted
    return seen


def _accepted(seen: Counts, spec: Json, name: str) -> None:
    """vLLM's fields, also used by aiperf and the snippet for transformers."""
    seen.rounds = _number(spec, "num_spec_steps", name)
    seen.drafted = _number(spec, "num_draft_tokens", name)
    seen.accepted = _number(spec, "num_accepted_draft_tokens", name)
    k = _number(spec, "num_spec_tokens", name)
    seen.k = length_of(k)
    _positions(
        seen,
        _histogram(spec.get("acceptance_histogram"), name),
        spec.get("per_step_accepted"),
        spec.get("per_step_drafted"),
        name,
    )
    by_length = spec.get("acceptance_histogram_by_draft_length")
    if not seen.tried and isinstance(by_length, Mapping) and len(by_length) <= MOST_POSITIONS:
        at = {length: value for key, value in by_length.items() if (length := length_of(number(str(key))))}
        tried = [0.0] * max(at, default=0)
        for length, histogram in at.items():
            counts = _histogram(histogram, name)
            for position in range(length):
                tried[position] += sum(counts[position:])
        seen.tried = tried


def _positions(seen: Counts, histogram: list[float], accepted: Any, drafted: Any, name: str) -> None:
    """Sets the positions, from the steps if there are any, else from the histogram."""
    if _counts(accepted) and _counts(drafted) and len(accepted) == len(drafted) and accepted:
        if any(took > length for took, length in zip(accepted, drafted, strict=True)) or max(drafted) > MOST_POSITIONS:
            raise DoctorError(f"{name}: a step accepted more than it drafted; take both lists from one reply")
        longest = int(max(drafted))
        seen.kept = kept_by_step(accepted, longest)
        seen.tried = tried_by_step(accepted, drafted)
        seen.k = seen.k or longest or None
    elif histogram:
        seen.kept = kept_of(histogram)
        seen.k = seen.k or len(seen.kept) or None
        steps = seen.rounds if seen.rounds is not None else sum(histogram)
        if abs(sum(histogram) - steps) > 0.5:
            raise DoctorError(
                f"{name}: the histogram has {sum(histogram):g} steps, the reply {steps:g}; take both from one reply"
            )
        if seen.k and len(seen.kept) < seen.k:
            seen.kept += [0.0] * (min(seen.k, MOST_POSITIONS) - len(seen.kept))
        if not seen.lengths_vary:
            seen.tried = tried_of(seen.kept, steps)


def _timings(timings: Json, name: str) -> Counts:
    seen = Counts(engine="llama.cpp", name=name, kind="reply")
    tokens, ms = _number(timings, "predicted_n", name), _number(timings, "predicted_ms", name)
    drafted, accepted = _number(timings, "draft_n", name), _number(timings, "draft_n_accepted", name)
    rounds = _number(timings, "draft_rounds", name)
    if "draft_rounds" in timings or "draft_kind" in timings:
        seen.engine = "mlx-vlm"
        seen.drafter = str(timings.get("draft_kind") or "")[:60]
    has_drafter = drafted is not None or accepted is not None  # a server without a drafter omits them
    seen.drafted, seen.accepted, seen.rounds = (
        drafted or (0.0 if has_drafter else None),
        accepted or (0.0 if has_drafter else None),
        rounds,
    )
    if not drafted:
        seen.rounds = 0.0 if has_drafter else None
    if tokens and ms:
        tokens = timed_tokens(tokens, ms, _number(timings, "predicted_per_token_ms", name))
        seen.decode_ms, seen.timed_tokens = ms, tokens
        # every pass gives one additional token of the target; mlx-vlm also counts drafts past the end of the reply
        behind = rounds if seen.engine == "mlx-vlm" and rounds else tokens - (accepted or 0.0)
        seen.timed_passes = max(1.0, behind)
        if seen.engine == "llama.cpp":
            _rounds_of_passes(seen)
    return seen


def _sglang(meta: Json, name: str) -> Counts:
    seen = Counts(engine="sglang", name=name, kind="reply", rounds=_number(meta, "spec_verify_ct", name) or 0.0)
    tokens = _number(meta, "completion_tokens", name)
    if seen.rounds:
        seen.accepted = _first(meta, ("spec_num_correct_drafts", "spec_accepted_drafts", "spec_accept_token_num"), name)
        seen.drafted = _first(meta, ("spec_num_proposed_drafts", "spec_proposed_drafts", "spec_draft_token_num"), name)
        length = _number(meta, "spec_accept_length", name)
        if seen.accepted is None and tokens is not None:
            seen.accepted = max(0.0, tokens - seen.rounds)
        elif seen.accepted is None and length:
            seen.accepted = max(0.0, length - 1.0) * seen.rounds
        if seen.drafted:
            seen.k = length_of(float(math.ceil(seen.drafted / seen.rounds - 1e-9)))
        histogram = meta.get("spec_correct_drafts_histogram", meta.get("spec_accept_histogram"))
        _positions(seen, _histogram(histogram, name), None, None, name)
    else:
        seen.drafted = seen.accepted = 0.0
    rate = _number(meta, "decode_throughput", name)
    if rate and tokens and tokens > 1:
        seen.decode_ms, seen.timed_tokens = 1e3 * (tokens - 1) / rate, tokens - 1
        seen.timed_passes = seen.rounds or tokens - 1
    elif (latency := _number(meta, "e2e_latency", name)) and tokens:
        seen.at_most_ms = 1e3 * latency / tokens  # with the prompt and the queue
    return seen


def _server_info(value: Json, states: Sequence[Any], name: str) -> Counts | None:
    """SGLang's /server_info: a mean since the server started, and its settings."""
    few = [state for state in states[:MOST_REPLIES] if isinstance(state, Mapping)]
    lengths = [_number(state, "avg_spec_accept_length", name) for state in few]
    known = [length for length in lengths if length]
    steps = length_of(_number(value, "speculative_num_steps", name))
    if not known:
        return None
    mean = max(0.0, sum(known) / len(known) - 1.0)
    seen = Counts(engine="sglang", name=name, kind="reply", rounds=1.0, accepted=mean, notes=["means"])
    if steps:
        seen.k, seen.drafted = steps, max(float(steps), mean)
    seen.drafter = str(value.get("speculative_algorithm") or "")[:60]
    return check(seen)


def _aiperf(value: Json, name: str) -> Counts:
    spec = value.get("spec_decode_acceptance")
    seen = Counts(name=name, kind="requests")
    if isinstance(spec, Mapping):
        seen.engine = str(spec.get("engine") or "")[:40]
        _accepted(seen, spec, name)
    else:
        seen.rounds = seen.drafted = seen.accepted = 0.0
    metrics = value["metrics"]

    def of(metric: str) -> float | None:
        entry = metrics.get(metric)
        return _number(entry, "value", name) if isinstance(entry, Mapping) else None

    latency, first, tokens = of("request_latency"), of("time_to_first_token"), of("output_sequence_length")
    if latency and first is not None and tokens and tokens > 1 and latency > first:
        seen.decode_ms, seen.timed_tokens = latency - first, tokens - 1
        passes = tokens - 1 - (seen.accepted or 0.0)
        seen.timed_passes = max(1.0, passes, seen.rounds or 0.0)
    return seen


def _number(values: Json, field: str, name: str) -> float | None:
    value = values.get(field)
    if value is None:
        return None
    read = number(value.replace(",", ".") if isinstance(value, str) and value.count(",") == 1 else value)
    if read is None:
        shown = repr(value) if isinstance(value, str | float) else f"a {type(value).__name__}"
        raise DoctorError(f"{name}: {field} is {shown[:40]}, which is not a number; take the reply of another request")
    return read


def _first(values: Json, fields: Sequence[str], name: str) -> float | None:
    return next((found for field in fields if (found := _number(values, field, name)) is not None), None)


def _histogram(value: Any, name: str) -> list[float]:
    """A dense histogram, from vLLM's list or aiperf's map."""
    if isinstance(value, Mapping):
        at = {number(str(key)): count for key, count in list(value.items())[: MOST_POSITIONS + 2]}
        if any(position is None or position != int(position) or position > MOST_POSITIONS for position in at):
            raise DoctorError(f"{name}: the histogram's keys must be counts of accepted tokens, 0 to {MOST_POSITIONS}")
        value = [
            at.get(float(position), 0) for position in range(int(max((key or 0.0 for key in at), default=-1.0)) + 1)
        ]
    if value is None:
        return []
    if not _counts(value) or len(value) > MOST_POSITIONS + 1:
        raise DoctorError(f"{name}: the histogram must be a list of counts, {MOST_POSITIONS + 1} at most")
    return [float(count) for count in value]


def _counts(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) <= MOST_STEPS
        and all(not isinstance(count, str) and number(count) is not None for count in value)
    )
