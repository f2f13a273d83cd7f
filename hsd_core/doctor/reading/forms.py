"""What engines call the figures that they print: a form is a list of names and the figures that it requires.

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
    """names: from a printed name to a field of `Printed`, or to "" if ignored. needs: sets of fields that suffice.

    mark: text of its lines, in lower case; without it the engine is unknown. one_line: all figures are on one line.
    about: the object of a reply to which the names belong, for pieces of JSON.
    """

    engine: str
    names: Mapping[str, str]
    needs: tuple[frozenset[str], ...]
    mark: str = ""
    one_line: bool = True
    about: str = ""
    ends: frozenset[str] = field(default=frozenset(), init=False)  # last words of the names

    def __post_init__(self) -> None:
        object.__setattr__(self, "ends", frozenset(name.rsplit(" ", 1)[-1] for name in self.names))

    def complete(self, found: Fields) -> bool:
        return any(need <= found.keys() for need in self.needs)


def _needs(*sets: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(one.split()) for one in sets)


def called(**fields: str) -> dict[str, str]:
    """A field for each of the names, which are separated by bars; `over`: ignored figures."""
    return {name: "" if field == "over" else field for field, names in fields.items() for name in names.split("|")}


VLLM_LINE = Form(
    "vllm",
    called(
        length="mean acceptance length",
        accepted="accepted",
        drafted="drafted",
        positions="per-position acceptance rate|per-position acceptance probabilities",
        rate="draft acceptance rate",
    ),
    _needs("accepted drafted", "positions"),
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
TENSORRT_STEP = Form("tensorrt-llm", called(running="num_scheduled_requests"), _needs("running"))
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
        position="position",
        positions="spec_decode_per_position_acceptance_rates",
    ),
    _needs("per_token", "rounds drafted accepted", "requests length"),
    one_line=False,
)
OFFLINE = Form(
    "vllm",
    called(
        rounds="num_drafts",
        drafted="num_draft_tokens",
        accepted="num_accepted_tokens",
        length="mean acceptance length",
        position="acceptance at token",
        over="total_num_output_tokens",
    ),
    _needs("rounds drafted accepted"),
    one_line=False,
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
    one_line=False,
)
MTP_BENCH = Form(
    "llama.cpp",
    called(tokens="pred", drafted="draft", accepted="acc", speed="tok/s", over="rate"),
    _needs("tokens drafted accepted"),
)
EXLLAMA = Form(
    "",
    called(
        tokens="new_tokens", seconds="time_generate", accepted="accepted_draft_tokens", rejected="rejected_draft_tokens"
    ),
    _needs("tokens seconds", "accepted rejected"),
    one_line=False,
)
LATENCY = Form("vllm", called(seconds="avg latency"), _needs("seconds"), one_line=False)


def _piece(engine: str, about: str, names: str, *needs: str) -> Form:
    """A reply that is cut off: its names stay as they are, `replies.py` reads it like a complete one."""
    return Form(engine, {name: name for name in names.split()}, _needs(*needs), one_line=False, about=about)


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
    one_line=False,
)
# in the order in which they are tried: the first complete one takes the line
ONE_LINE = (VLLM_LINE, VLLM_OLD, VLLM_THROUGHPUT, SGLANG, MTP_BENCH, TENSORRT_STEP)
SEVERAL_LINES = (BENCH, OFFLINE, SPECULATIVE, EXLLAMA, LATENCY, TIMINGS, META_INFO, LM_STUDIO, TENSORRT)
ENDS = frozenset().union(*(form.ends for form in (*ONE_LINE, *SEVERAL_LINES)))
PERCENT = ("rate", "position", "positions")  # fields that are shares


def fields_of(form: Form, figures: Sequence[Figure]) -> Fields:
    """The figures of a line that belong to a form, by field; shares are from 0 to 1."""
    found: Fields = {}
    for figure in figures:
        if figure.last not in form.ends and not figure.last.isdecimal():
            continue
        what = _field(form, figure.name)
        if what.startswith("position "):
            found[what] = [figure.share if figure.percent or figure.value <= 1 else figure.value / 100]
        elif what and what not in found:
            values = figure.values if what == "positions" else figure.values[:1]
            if what in PERCENT and (figure.percent or (what == "rate" and figure.value > 1.5)):
                values = [value / 100 for value in values]
            found[what] = list(values)
    return found


@lru_cache(maxsize=4096)
def _field(form: Form, name: str) -> str:
    """The field of a name, such as "position 3"; "" for none."""
    words = name.split()
    index = words[-1] if len(words) > 1 and words[-1].isdecimal() else ""
    if index and len(index) < 4 and known(form.names, words[:-1]) == "position":
        return f"position {int(index)}"
    what = known(form.names, words) or ""
    return "" if what == "position" else what


def known(names: Mapping[str, str], words: Sequence[str]) -> str | None:
    """The field of the longest known ending of a name."""
    for count in range(min(MOST_WORDS, len(words)), 0, -1):
        if (what := names.get(" ".join(words[-count:]))) is not None:
            return what
    return None


_SAME = ("rounds", "drafted", "accepted", "length", "rate", "per_token", "speed", "round_ms", "running", "tokens", "ms")


def printed_of(form: Form, fields: Fields) -> Printed:
    """The fields as `Printed`."""
    one = {name: values[0] for name, values in fields.items()}
    printed = Printed(engine=form.engine)
    for name in _SAME:
        if name in one:
            setattr(printed, name, one[name])
    if "k" in one:
        printed.k = length_of(one["k"])
    printed.positions = [position for position in fields.get("positions", []) if position <= 1] or _positions(one)
    if form is VLLM_OLD:
        _old(printed, one)
    elif form is BENCH or form is TENSORRT:
        _bench(printed, one)
    elif form is SPECULATIVE:
        _example(printed, one)
    elif "tokens" in one and printed.accepted is not None:
        printed.passes = max(1.0, one["tokens"] - printed.accepted)  # mtp-bench, exllamav2
    if "seconds" in one:
        printed.ms = 1e3 * one["seconds"]
    if "rejected" in one and printed.accepted is not None:
        printed.drafted = printed.accepted + one["rejected"]
    return printed


def _positions(one: dict[str, float]) -> list[float]:
    """Positions that are printed one by one, up to the first missing one."""
    found = {int(name.split()[1]): value for name, value in one.items() if name.startswith("position ")}
    first = min(found, default=0)
    listed: list[float] = []
    while first + len(listed) in found and first <= 1:
        listed.append(found[first + len(listed)])
    return listed


def _old(printed: Printed, one: dict[str, float]) -> None:
    """vLLM up to 0.8 counts accepted tokens after a rejected one too; the emitted tokens are exact."""
    emitted = one.get("emitted")
    printed.rate = None
    printed.notes.append("rising")
    if emitted is not None and printed.k and printed.drafted:
        printed.rounds = printed.drafted / printed.k
        printed.accepted = max(0.0, emitted - printed.rounds)
    else:
        printed.accepted = one.get("old_accepted")


def _bench(printed: Printed, one: dict[str, float]) -> None:
    """The times of a benchmark are means over its requests; the first token of each comes from its prompt's pass."""
    requests, tokens = one.get("requests", 0.0), one.get("all_tokens")
    if printed.running is None:
        printed.running = one.get("most_running")
    if tokens is not None and tokens > requests:
        printed.tokens = tokens - requests
    printed.passes = printed.rounds
    if not printed.engine and (printed.rounds is not None or printed.rate is not None):
        printed.engine = "vllm"


def _example(printed: Printed, one: dict[str, float]) -> None:
    """llama-speculative: the first token comes from the prompt's pass, every further pass had a draft."""
    tokens = one.get("decoded", one.get("written"))
    printed.tokens = tokens
    if tokens is not None and printed.accepted is not None and tokens - 1 > printed.accepted:
        printed.rounds = printed.passes = tokens - 1.0 - printed.accepted
    if one.get("most"):
        printed.k = length_of(one["most"])  # the limit: drafts may be shorter
