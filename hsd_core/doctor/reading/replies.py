"""Replies in JSON with what one request did: vLLM's `metrics`, llama.cpp's and mlx-vlm's `timings`, SGLang's
`meta_info`, aiperf's records, and what the snippet for transformers writes.

vLLM: docs/features/speculative_decoding/acceptance_metrics.md and per_request_metrics.md. aiperf:
docs/reference/spec-decode-acceptance.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from hsd_core.doctor.reading.seen import DoctorError, Seen, check, kept_of, timed_tokens, tried_by_step, tried_of

_LONGEST = 256  # positions of a draft

Json = Mapping[str, Any]


def is_reply(value: Any) -> bool:
    return isinstance(value, Mapping) and (
        any(isinstance(value.get(name), Mapping) for name in ("timings", "meta_info", "spec_decode_acceptance"))
        or (isinstance(value.get("metrics"), Mapping) and ("usage" in value or "metadata" in value))
        or (isinstance(value.get("usage"), Mapping) and "choices" in value)
        or isinstance(value.get("internal_states"), list)
    )


def seen_in_reply(value: Json, name: str) -> Seen | None:
    """The counts of a reply; None where it says nothing of its decoding.

    Raises:
        DoctorError: a number is none, or the counts contradict each other.
    """
    if isinstance(timings := value.get("timings"), Mapping):
        return check(_timings(timings, name))
    if isinstance(meta := value.get("meta_info"), Mapping):
        return check(_sglang(meta, name))
    if isinstance(states := value.get("internal_states"), list):
        return _server_info(value, states, name)
    if isinstance(value.get("metadata"), Mapping) and isinstance(value.get("metrics"), Mapping):
        return check(_aiperf(value, name))
    if isinstance(metrics := value.get("metrics"), Mapping):
        return check(_vllm(value, metrics, name))
    return None


def _vllm(value: Json, metrics: Json, name: str) -> Seen:
    engine = value.get("engine")
    seen = Seen(engine=engine if engine in ("transformers", "mlx-lm") else "vllm", name=name, kind="reply")
    usage = value.get("usage")
    tokens = _number(usage, "completion_tokens", name) if isinstance(usage, Mapping) else None
    spec = metrics.get("speculative_decoding")
    if isinstance(spec, Mapping):
        seen.drafter = str(spec.get("method") or "")[:60]
        _accepted(seen, spec, name)
    ms = _number(metrics, "generation_time_ms", name)
    # the first token comes of the prompt's pass; the snippet for transformers leaves that round out itself
    behind = tokens if seen.engine == "transformers" else None if tokens is None else tokens - 1
    if ms and behind and behind > 0:
        seen.decode_ms, seen.timed_tokens = ms, behind
        passes = behind - seen.accepted if seen.accepted is not None else behind
        seen.timed_passes = max(passes, seen.rounds or 0.0)
    draft_ms = _number(metrics, "draft_time_ms", name)
    if draft_ms is not None and seen.drafted:
        seen.draft_ms, seen.draft_timed = draft_ms, seen.drafted
    return seen


def _accepted(seen: Seen, spec: Json, name: str) -> None:
    """vLLM's fields, which aiperf and the snippet for transformers share."""
    seen.rounds = _number(spec, "num_spec_steps", name)
    seen.drafted = _number(spec, "num_draft_tokens", name)
    seen.accepted = _number(spec, "num_accepted_draft_tokens", name)
    k = _number(spec, "num_spec_tokens", name)
    seen.k = int(k) if k else None
    _places(
        seen,
        _histogram(spec.get("acceptance_histogram"), name),
        spec.get("per_step_accepted"),
        spec.get("per_step_drafted"),
        name,
    )
    by_length = spec.get("acceptance_histogram_by_draft_length")
    if not seen.tried and isinstance(by_length, Mapping) and len(by_length) <= _LONGEST:
        tried = [0.0] * max((int(length) for length in by_length if str(length).isdecimal()), default=0)
        for length, histogram in by_length.items():
            counts = _histogram(histogram, name)
            for place in range(min(int(length), len(tried)) if str(length).isdecimal() else 0):
                tried[place] += sum(counts[place:])
        seen.tried = tried


def _places(seen: Seen, histogram: list[float], accepted: Any, drafted: Any, name: str) -> None:
    """Positions, from the steps where they are told, else from the histogram."""
    if _counts(accepted) and _counts(drafted) and len(accepted) == len(drafted) and accepted:
        if any(took > length for took, length in zip(accepted, drafted, strict=True)) or max(drafted) > _LONGEST:
            raise DoctorError(f"{name}: a step accepted more than it drafted; take both lists from one reply")
        longest = max(drafted)
        seen.kept = [float(sum(took > place for took in accepted)) for place in range(longest)]
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
            seen.kept += [0.0] * (min(seen.k, _LONGEST) - len(seen.kept))
        if not seen.lengths_vary:
            seen.tried = tried_of(seen.kept, steps)


def _timings(timings: Json, name: str) -> Seen:
    seen = Seen(engine="llama.cpp", name=name, kind="reply")
    tokens, ms = _number(timings, "predicted_n", name), _number(timings, "predicted_ms", name)
    drafted, accepted = _number(timings, "draft_n", name), _number(timings, "draft_n_accepted", name)
    rounds = _number(timings, "draft_rounds", name)
    if "draft_rounds" in timings or "draft_kind" in timings:
        seen.engine = "mlx-vlm"
        seen.drafter = str(timings.get("draft_kind") or "")[:60]
    seen.drafted, seen.accepted, seen.rounds = drafted or 0.0, accepted or 0.0, rounds
    if not drafted:
        seen.rounds = 0.0
    if tokens and ms:
        tokens = timed_tokens(tokens, ms, _number(timings, "predicted_per_token_ms", name))
        seen.decode_ms, seen.timed_tokens = ms, tokens
        # every pass gives one token of the target's own; mlx-vlm counts drafts past the end of the reply too
        behind = rounds if seen.engine == "mlx-vlm" and rounds else tokens - (accepted or 0.0)
        seen.timed_passes = max(1.0, behind)
        if seen.engine == "llama.cpp" and drafted:
            seen.notes.append("rounds_from_tokens")
            seen.rounds = seen.timed_passes
            seen.k = math.ceil(drafted / seen.rounds - 1e-9)
    return seen


def _sglang(meta: Json, name: str) -> Seen:
    seen = Seen(engine="sglang", name=name, kind="reply", rounds=_number(meta, "spec_verify_ct", name) or 0.0)
    tokens = _number(meta, "completion_tokens", name)
    if seen.rounds:
        seen.accepted = _first(meta, ("spec_num_correct_drafts", "spec_accepted_drafts", "spec_accept_token_num"), name)
        seen.drafted = _first(meta, ("spec_num_proposed_drafts", "spec_proposed_drafts", "spec_draft_token_num"), name)
        if seen.accepted is None and tokens is not None:
            seen.accepted = max(0.0, tokens - seen.rounds)
        if seen.drafted:
            seen.k = math.ceil(seen.drafted / seen.rounds - 1e-9)
        histogram = meta.get("spec_correct_drafts_histogram", meta.get("spec_accept_histogram"))
        _places(seen, _histogram(histogram, name), None, None, name)
    else:
        seen.drafted = seen.accepted = 0.0
    rate = _number(meta, "decode_throughput", name)
    if rate and tokens and tokens > 1:
        seen.decode_ms, seen.timed_tokens = 1e3 * (tokens - 1) / rate, tokens - 1
        seen.timed_passes = seen.rounds or tokens - 1
    return seen


def _server_info(value: Json, states: Sequence[Any], name: str) -> Seen | None:
    """SGLang's /server_info: a mean since the server began, and how it was started."""
    lengths = [_number(state, "avg_spec_accept_length", name) for state in states if isinstance(state, Mapping)]
    known = [length for length in lengths if length]
    steps = _number(value, "speculative_num_steps", name)
    if not known:
        return None
    mean = max(0.0, sum(known) / len(known) - 1.0)
    seen = Seen(engine="sglang", name=name, kind="reply", rounds=1.0, accepted=mean, notes=["means"])
    if steps:
        seen.k, seen.drafted = int(steps), steps
    seen.drafter = str(value.get("speculative_algorithm") or "")[:60]
    return seen


def _aiperf(value: Json, name: str) -> Seen:
    spec = value.get("spec_decode_acceptance")
    seen = Seen(name=name, kind="requests")
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


def _number(values: Any, field: str, name: str) -> float | None:
    value = values.get(field)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        hint = "; it has a decimal comma" if isinstance(value, str) and "," in value else ""
        raise DoctorError(f"{name}: {field} is {str(value)[:40]!r}, which is no number{hint}")
    if not math.isfinite(value) or value < 0:
        raise DoctorError(f"{name}: {field} is {value}; take the reply of another request")
    return float(value)


def _first(values: Json, fields: Sequence[str], name: str) -> float | None:
    return next((found for field in fields if (found := _number(values, field, name)) is not None), None)


def _histogram(value: Any, name: str) -> list[float]:
    """Dense, from vLLM's list or aiperf's map."""
    if isinstance(value, Mapping):
        if not all(str(key).isdecimal() and int(key) <= _LONGEST for key in value):
            raise DoctorError(f"{name}: the histogram's keys must be counts of accepted tokens, 0 to {_LONGEST}")
        value = [value.get(str(place), 0) for place in range(max((int(key) for key in value), default=-1) + 1)]
    if value is None:
        return []
    if not _counts(value) or len(value) > _LONGEST + 1:
        raise DoctorError(f"{name}: the histogram must be a list of counts, {_LONGEST + 1} at most")
    return [float(count) for count in value]


def _counts(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(count, int | float) and not isinstance(count, bool) and math.isfinite(count) and count >= 0
        for count in value
    )
