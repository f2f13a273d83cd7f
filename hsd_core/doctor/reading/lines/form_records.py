"""From the fields of a form to what was told: where an engine counts in its own way, it is said here."""

from __future__ import annotations

from hsd_core.doctor.reading.lines.forms import (
    BENCH,
    SPECULATIVE,
    TENSORRT,
    VLLM_OLD,
    Fields,
    Form,
)
from hsd_core.doctor.reading.numbers import length_of
from hsd_core.doctor.reading.told import Told

_SAME = ("rounds", "drafted", "accepted", "length", "rate", "per_token", "speed", "round_ms", "running", "tokens", "ms")


def told_of(form: Form, fields: Fields) -> Told:
    """What the fields tell."""
    one = {name: values[0] for name, values in fields.items()}
    told = Told(engine=form.engine)
    for name in _SAME:
        if name in one:
            setattr(told, name, one[name])
    if "k" in one:
        told.k = length_of(one["k"])
    told.places = [place for place in fields.get("places", []) if place <= 1] or _places(one)
    if form is VLLM_OLD:
        _old(told, one)
    elif form is BENCH or form is TENSORRT:
        _bench(told, one)
    elif form is SPECULATIVE:
        _example(told, one)
    elif "tokens" in one and told.accepted is not None:
        told.passes = max(1.0, one["tokens"] - told.accepted)  # mtp-bench, exllamav2
    if "seconds" in one:
        told.ms = 1e3 * one["seconds"]
    if "rejected" in one and told.accepted is not None:
        told.drafted = told.accepted + one["rejected"]
    return told


def _places(one: dict[str, float]) -> list[float]:
    """Positions that are told one by one, as long as none is missing."""
    found = {int(name.split()[1]): value for name, value in one.items() if name.startswith("place ")}
    first = min(found, default=0)
    listed: list[float] = []
    while first + len(listed) in found and first <= 1:
        listed.append(found[first + len(listed)])
    return listed


def _old(told: Told, one: dict[str, float]) -> None:
    """vLLM up to 0.8 counts accepted tokens behind a rejected one too; what was emitted is exact."""
    emitted = one.get("emitted")
    told.rate = None
    told.notes.append("rising")
    if emitted is not None and told.k and told.drafted:
        told.rounds = told.drafted / told.k
        told.accepted = max(0.0, emitted - told.rounds)
    else:
        told.accepted = one.get("old_accepted")


def _bench(told: Told, one: dict[str, float]) -> None:
    """Times of a benchmark are means over its requests; the first token of each is of its prompt's pass."""
    requests, tokens = one.get("requests", 0.0), one.get("all_tokens")
    if told.running is None:
        told.running = one.get("most_running")
    if tokens is not None and tokens > requests:
        told.tokens = tokens - requests
    told.passes = told.rounds
    if not told.engine and (told.rounds is not None or told.rate is not None):
        told.engine = "vllm"


def _example(told: Told, one: dict[str, float]) -> None:
    """llama-speculative: the first token is of the prompt's pass, every further pass had a draft."""
    tokens = one.get("decoded", one.get("written"))
    told.tokens = tokens
    if tokens is not None and told.accepted is not None and tokens - 1 > told.accepted:
        told.rounds = told.passes = tokens - 1.0 - told.accepted
    if one.get("most"):
        told.k = length_of(one["most"])  # the limit: drafts may be shorter
