"""What engines call the figures that they print: a form is a list of names, and the figures that make it one.

vLLM: `v1/spec_decode/metrics.py`, `v1/metrics/loggers.py`, `benchmarks/serve.py`, `examples/.../spec_decode.py`, and
`spec_decode/metrics.py` up to 0.8. SGLang: the scheduler's `Decode batch`, `bench_serving.py`. llama.cpp: its timings,
`llama-speculative`, `mtp-bench`. TensorRT-LLM: `bench/dataclasses/reporting.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from hsd_core.doctor.reading.counts import length_of
from hsd_core.doctor.reading.figures import MOST_WORDS, Figure
from hsd_core.doctor.reading.printed import Printed

Fields = dict[str, list[float]]


@dataclass(frozen=True, eq=False, slots=True)
class Form:
    """names: to a field of `Printed`, or to "" for what is passed over. needs: sets of fields that suffice.

    mark: what its lines have, in small letters; without it the engine is not told. whole: all stands on one line.
    about: the object of a reply that its names are of, where they are pieces of one.
    """

    engine: str
    names: Mapping[str, str]
    needs: tuple[frozenset[str], ...]
    mark: str = ""
    whole: bool = True
    about: str = ""
    ends: frozenset[str] = field(default=frozenset(), init=False)  # last words of the names

    def __post_init__(self) -> None:
        object.__setattr__(self, "ends", frozenset(name.rsplit(" ", 1)[-1] for name in self.names))

    def complete(self, found: Fields) -> bool:
        return any(need <= found.keys() for need in self.needs)


def _needs(*sets: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(one.split()) for one in sets)


def called(**fields: str) -> dict[str, str]:
    """Names, divided by bars, to the field that they are of; `over`: figures that are passed over."""
    return {name: "" if field == "over" else field for field, names in fields.items() for name in names.split("|")}


VLLM_LINE = Form(
    "vllm",
    called(
        length="mean acceptance length",
        accepted="accepted",
        drafted="drafted",
        places="per-position acceptance rate|per-position acceptance probabilities",
        rate="draft acceptance rate",
    ),
    _needs("accepted drafted", "places"),
    mark="specdecoding",
)
VLLM_OLD = Form(
    "vllm",
    called(
        k="number of speculative tokens",
        old_accepted="number of accepted tokens",
        drafted="number of draft tokens",
        emitted="number of emitted tokens",
        rate="draft acceptance rate",
        over="system efficiency",
    ),
    _needs("old_accepted drafted"),
    mark="speculative metrics",
)
VLLM_THROUGHPUT = Form(
    "vllm",
    called(interval_speed="avg generation throughput", running="running", over="waiting"),
    _needs("interval_speed running"),
)
SGLANG = Form(
    "sglang",
    called(
        running="#running-req",
        length="accept len|accept_len|avg_accept_len",
        rate="accept rate|accept_rate",
        speed="gen throughput",
        over="input throughput",
    ),
    _needs("running speed"),
)
BENCH = Form(
    "",
    called(
        requests="successful requests|completed",
        rate="acceptance rate|spec_decode_acceptance_rate",
        length="acceptance length|accept length|accept_length|spec_decode_acceptance_length",
        rounds="drafts|spec_decode_num_drafts",
        drafted="draft tokens|spec_decode_draft_tokens",
        accepted="accepted tokens|spec_decode_accepted_tokens",
        per_token="mean tpot|mean_tpot_ms",
        round_ms="mean itl|mean_itl_ms",
        all_tokens="total generated tokens|total_output_tokens",
        most_running="maximum request concurrency|max request concurrency|max_concurrency",
        running="concurrency",
        place="position",
        places="spec_decode_per_position_acceptance_rates",
    ),
    _needs("per_token", "rounds drafted accepted", "requests length"),
    whole=False,
)
OFFLINE = Form(
    "vllm",
    called(
        rounds="num_drafts",
        drafted="num_draft_tokens",
        accepted="num_accepted_tokens",
        length="mean acceptance length",
        place="acceptance at token",
        over="total_num_output_tokens",
    ),
    _needs("rounds drafted accepted"),
    whole=False,
)
SPECULATIVE = Form(
    "llama.cpp",
    called(
        most="n_draft",
        written="n_predict",
        drafted="n_drafted",
        accepted="n_accept",
        decoded="decoded|generated",
        seconds="tokens in",
        over="accept",
    ),
    _needs("drafted accepted"),
    whole=False,
)
MTP_BENCH = Form(
    "llama.cpp",
    called(tokens="pred", drafted="draft", accepted="acc", speed="tok/s", over="rate"),
    _needs("tokens drafted accepted"),
)
EXLLAMA = Form(
    "",
    called(
        tokens="new_tokens",
        seconds="time_generate",
        accepted="accepted_draft_tokens",
        rejected="rejected_draft_tokens",
    ),
    _needs("tokens seconds", "accepted rejected"),
    whole=False,
)
LATENCY = Form("vllm", called(seconds="avg latency"), _needs("seconds"), whole=False)


def _piece(engine: str, about: str, names: str, *needs: str) -> Form:
    """A reply that is cut off: its names stay as they are, `replies.py` reads it like a whole one."""
    return Form(engine, {name: name for name in names.split()}, _needs(*needs), whole=False, about=about)


TIMINGS = _piece(
    "llama.cpp",
    "timings",
    "predicted_n predicted_ms predicted_per_token_ms draft_n draft_n_accepted prompt_n prompt_ms",
    "predicted_n predicted_ms",
    "draft_n draft_n_accepted",
)
META_INFO = _piece(
    "sglang",
    "meta_info",
    "completion_tokens spec_verify_ct spec_accept_length spec_accept_token_num spec_accepted_drafts e2e_latency "
    "spec_num_correct_drafts spec_draft_token_num spec_proposed_drafts spec_num_proposed_drafts decode_throughput",
    "spec_verify_ct completion_tokens",
    "spec_verify_ct spec_accept_length",
)
LM_STUDIO = _piece(
    "lmstudio",
    "stats",
    "total_draft_tokens_count accepted_draft_tokens_count tokens_per_second generation_time predicted_tokens_count "
    "completion_tokens",
    "total_draft_tokens_count accepted_draft_tokens_count",
)
TENSORRT = Form(
    "tensorrt-llm",
    called(
        length="ar average|al average|avg_decoded_tokens_per_iter",
        drafted="dt average",
        accepted="adt average",
        rate="dar average",
        per_token="tpot",
        requests="number of requests",
        running="number of concurrent requests",
    ),
    _needs("length", "drafted accepted"),
    whole=False,
)
# in the order in which a line is offered to them: the first whole one takes it
WHOLE = (VLLM_LINE, VLLM_OLD, VLLM_THROUGHPUT, SGLANG, MTP_BENCH)
SPREAD = (BENCH, OFFLINE, SPECULATIVE, EXLLAMA, LATENCY, TIMINGS, META_INFO, LM_STUDIO, TENSORRT)
ENDS = frozenset().union(*(form.ends for form in (*WHOLE, *SPREAD)))
PERCENT = ("rate", "place", "places")  # fields that are shares


def fields_of(form: Form, figures: Sequence[Figure]) -> Fields:
    """The figures of a line that a form knows, by field; a share is from 0 to 1."""
    found: Fields = {}
    for figure in figures:
        if figure.last not in form.ends and not figure.last.isdecimal():
            continue
        what = _field(form, figure.name)
        if what.startswith("place "):
            found[what] = [figure.share if figure.percent or figure.value <= 1 else figure.value / 100]
        elif what and what not in found:
            values = figure.values if what == "places" else figure.values[:1]
            if what in PERCENT and (figure.percent or (what == "rate" and figure.value > 1.5)):
                values = [value / 100 for value in values]
            found[what] = list(values)
    return found


@lru_cache(maxsize=4096)
def _field(form: Form, name: str) -> str:
    """The field that a name is of, "place 3" for one of a position; "" for none."""
    words = name.split()
    index = words[-1] if len(words) > 1 and words[-1].isdecimal() else ""
    if index and len(index) < 4 and known(form.names, words[:-1]) == "place":
        return f"place {int(index)}"
    what = known(form.names, words) or ""
    return "" if what == "place" else what


def known(names: Mapping[str, str], words: Sequence[str]) -> str | None:
    """What the longest end of a name is called here."""
    for count in range(min(MOST_WORDS, len(words)), 0, -1):
        if (what := names.get(" ".join(words[-count:]))) is not None:
            return what
    return None


_SAME = ("rounds", "drafted", "accepted", "length", "rate", "per_token", "speed", "round_ms", "running", "tokens", "ms")


def printed_of(form: Form, fields: Fields) -> Printed:
    """What the fields tell."""
    one = {name: values[0] for name, values in fields.items()}
    told = Printed(engine=form.engine)
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


def _old(told: Printed, one: dict[str, float]) -> None:
    """vLLM up to 0.8 counts accepted tokens behind a rejected one too; what was emitted is exact."""
    emitted = one.get("emitted")
    told.rate = None
    told.notes.append("rising")
    if emitted is not None and told.k and told.drafted:
        told.rounds = told.drafted / told.k
        told.accepted = max(0.0, emitted - told.rounds)
    else:
        told.accepted = one.get("old_accepted")


def _bench(told: Printed, one: dict[str, float]) -> None:
    """Times of a benchmark are means over its requests; the first token of each is of its prompt's pass."""
    requests, tokens = one.get("requests", 0.0), one.get("all_tokens")
    if told.running is None:
        told.running = one.get("most_running")
    if tokens is not None and tokens > requests:
        told.tokens = tokens - requests
    told.passes = told.rounds
    if not told.engine and (told.rounds is not None or told.rate is not None):
        told.engine = "vllm"


def _example(told: Printed, one: dict[str, float]) -> None:
    """llama-speculative: the first token is of the prompt's pass, every further pass had a draft."""
    tokens = one.get("decoded", one.get("written"))
    told.tokens = tokens
    if tokens is not None and told.accepted is not None and tokens - 1 > told.accepted:
        told.rounds = told.passes = tokens - 1.0 - told.accepted
    if one.get("most"):
        told.k = length_of(one["most"])  # the limit: drafts may be shorter
