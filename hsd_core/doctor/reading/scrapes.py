"""Prometheus text of vLLM, llama.cpp and SGLang: counters by suffix, the difference of two scrapes.

Names: vLLM `v1/spec_decode/metrics.py` and `v1/metrics/loggers.py`; llama.cpp `tools/server` gives the same suffixes
under its own prefix; SGLang `observability/metrics_collector.py`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from prometheus_client.parser import text_string_to_metric_families

from hsd_core.doctor.reading.seen import DoctorError, Seen, check, tried_of

ENGINES = {"vllm": "vllm", "llamacpp": "llama.cpp", "sglang": "sglang"}
_LINE = re.compile(r"^(vllm|llamacpp|sglang):\w+[ {]", re.MULTILINE)
_PER_POS = "spec_decode_num_accepted_tokens_per_pos_total"
_COUNTS = {
    "spec_decode_num_drafts_total",
    "spec_decode_num_draft_tokens_total",
    "spec_decode_num_accepted_tokens_total",
    _PER_POS,
    "generation_tokens_total",
    "tokens_predicted_total",
    "tokens_predicted_seconds_total",
    "n_decode_total",
    "spec_verify_calls_total",
    "inter_token_latency_seconds_sum",
    "inter_token_latency_seconds_count",
    "request_decode_time_seconds_sum",
    "request_decode_time_seconds_count",
}
_GAUGES = {"num_requests_running", "num_running_reqs", "requests_processing", "spec_accept_length", "spec_accept_rate"}

Key = tuple[str, int | None]  # a counter's suffix, and its position


def is_scrape(text: str) -> bool:
    return _LINE.search(text) is not None


@dataclass
class Scrape:
    """Counters and gauges of one answer of /metrics. counts: added up over the engine's own parts (label `engine`)."""

    engine: str
    models: set[str]
    counts: dict[Key, float] = field(default_factory=dict)
    gauges: dict[str, float] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)  # gauges that were no numbers


def scrapes(text: str, name: str) -> list[Scrape]:
    """The scrapes that lie in a text one behind another: mostly one.

    Raises:
        DoctorError: it is no whole Prometheus text, of more than one engine, or of more than one model.
    """
    found: dict[int, Scrape] = {}
    seen: Counter[tuple[str, tuple[tuple[str, str], ...]]] = Counter()
    prefixes = sorted(set(_LINE.findall(text)))
    if len(prefixes) > 1:
        both = " and ".join(sorted(ENGINES[prefix] for prefix in prefixes))
        raise DoctorError(f"{name}: holds counters of {both}; give each engine a file of its own")
    for sample_name, labels, value in _samples(text, name):
        prefix, _, suffix = sample_name.partition(":")
        if prefix not in ENGINES or suffix not in _COUNTS | _GAUGES:
            continue
        which = (sample_name, tuple(sorted(labels.items())))
        scrape = found.setdefault(seen[which], Scrape(ENGINES[prefix], set()))
        seen[which] += 1
        scrape.models |= {labels["model_name"]} if "model_name" in labels else set()
        if suffix in _GAUGES:
            if math.isfinite(value):
                scrape.gauges[suffix] = scrape.gauges.get(suffix, 0.0) + value
            else:
                scrape.unread.append(suffix)
            continue
        if not math.isfinite(value) or value < 0:
            raise DoctorError(f"{name}: the counter {sample_name} is {value}; scrape /metrics again")
        place = _position(labels, name) if suffix == _PER_POS else None
        scrape.counts[suffix, place] = scrape.counts.get((suffix, place), 0.0) + value
    listed = [found[n] for n in sorted(found)]
    if len(listed) > 2:
        raise DoctorError(f"{name}: holds {len(listed)} scrapes; keep the first and the last one")
    if listed and len(models := set[str]().union(*(one.models for one in listed))) > 1:
        raise DoctorError(f"{name}: holds counters of two models ({', '.join(sorted(models))}); keep those of one")
    return listed


def between(before: Scrape, after: Scrape, name: str) -> Scrape:
    """What happened between two scrapes.

    Raises:
        DoctorError: a counter fell: the server was started again, or the order is the other one; or they are of two
            engines or models.
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


def seen_in(scrape: Scrape, name: str, *, difference: bool) -> Seen:
    """The counts of a scrape, or of the difference of two.

    Raises:
        DoctorError: they contradict each other, or there are only gauges.
    """
    counts: Mapping[Key, float] = scrape.counts

    def of(suffix: str) -> float | None:
        return counts.get((suffix, None))

    if not counts:
        raise DoctorError(
            f"{name}: holds gauges alone, which are of the last moment; save all of /metrics, whose counters end in "
            "_total, _sum and _count"
        )
    rounds, drafted = of("spec_decode_num_drafts_total"), of("spec_decode_num_draft_tokens_total")
    accepted = of("spec_decode_num_accepted_tokens_total")
    tokens = of("generation_tokens_total")
    if tokens is None:
        tokens = of("tokens_predicted_total")
    places = sorted((place, value) for (suffix, place), value in counts.items() if place is not None)
    if [place for place, _ in places] != list(range(len(places))):
        raise DoctorError(f"{name}: counters of some positions are missing; save all of /metrics")
    kept = [value for _, value in places]
    if rounds is None and any(key[0].startswith("spec_decode") for key in counts):
        raise DoctorError(f"{name}: spec_decode_num_drafts_total is missing; the scrape is cut off, so save all of it")
    seen = Seen(engine=scrape.engine, name=name, kind="scrape", rounds=rounds, drafted=drafted, accepted=accepted)
    if rounds:
        seen.kept = kept
        seen.k = len(kept) or None
        if seen.k is None and drafted:
            seen.k = math.ceil(drafted / rounds - 1e-9)
        if kept and not seen.lengths_vary:
            seen.tried = tried_of(kept, rounds)
    if scrape.engine == "sglang":
        _sglang(seen, scrape, of("spec_verify_calls_total"), tokens)
    _times(seen, scrape, tokens)
    running = [
        scrape.gauges[gauge]
        for gauge in ("num_requests_running", "num_running_reqs", "requests_processing")
        if gauge in scrape.gauges
    ]
    seen.running = running[0] if running and running[0] > 0 else None
    if not difference:
        seen.notes.append("one_scrape")
    if scrape.unread:
        seen.notes.append(f"not_a_number:{scrape.unread[0]}")
    return check(seen)


def _sglang(seen: Seen, scrape: Scrape, calls: float | None, tokens: float | None) -> None:
    """SGLang counts calls and tokens alone: no position, and the first token of a request is among them."""
    if calls is None:
        return
    seen.rounds = calls
    if calls and tokens is not None:
        seen.accepted = max(0.0, tokens - calls)
    length, rate = scrape.gauges.get("spec_accept_length"), scrape.gauges.get("spec_accept_rate")
    if length and rate and length > 1:
        k = (length - 1) / rate
        if abs(k - round(k)) < 0.1:
            seen.k = round(k)
            seen.drafted = calls * round(k)


def _times(seen: Seen, scrape: Scrape, tokens: float | None) -> None:
    """Time of decoding. vLLM observes its inter-token latency once a step, however many tokens that gave."""
    counts = scrape.counts
    if scrape.engine == "llama.cpp":
        seconds = counts.get(("tokens_predicted_seconds_total", None))
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


def _samples(text: str, name: str) -> list[tuple[str, dict[str, str], float]]:
    lines = [line.rstrip("\r") for line in text.split("\n")]
    last = next((line for line in reversed(lines) if line.strip()), "")
    whole = text.endswith(("\n", "\r"))
    samples = []
    for number, line in enumerate(lines, 1):
        found = _LINE.match(line + " ")
        if not found or line.partition(":")[2].partition("{")[0].split(" ")[0] not in _COUNTS | _GAUGES:
            continue
        try:
            read = [sample for family in text_string_to_metric_families(line + "\n") for sample in family.samples]
        except (ValueError, IndexError, KeyError):
            if re.search(r"\d,\d+$", line.strip()):
                raise DoctorError(
                    f"{name}, line {number}: {line.strip().split()[-1][:40]} has a decimal comma; Prometheus text has "
                    "points, so save /metrics as the server sends it"
                ) from None
            raise DoctorError(
                f"{name}, line {number}: {line.strip()[:80]!r} is no whole line of /metrics; save it again"
            ) from None
        if line == last and not whole:
            suffix = read[0].name.partition(":")[2]
            if suffix in _COUNTS and suffix != _PER_POS:
                raise DoctorError(
                    f"{name}: ends in the middle of a line ({suffix}), so its last number may be cut off; save all of "
                    "/metrics, with its last line end"
                )
        samples += [(sample.name, dict(sample.labels), float(sample.value)) for sample in read]
    return samples


def _position(labels: Mapping[str, str], name: str) -> int:
    place = labels.get("position", "")
    if not place.isdecimal() or int(place) > 255:
        raise DoctorError(f"{name}: {_PER_POS} has no position; save /metrics as the server sends it")
    return int(place)
