"""What engines call the figures that they print: a form is a list of names, and the figures that make it one.

vLLM: `v1/spec_decode/metrics.py`, `v1/metrics/loggers.py`, `benchmarks/serve.py`, `examples/.../spec_decode.py`, and
`spec_decode/metrics.py` up to 0.8. SGLang: the scheduler's `Decode batch`, `bench_serving.py`. llama.cpp: its timings,
`llama-speculative`, `mtp-bench`. TensorRT-LLM: `bench/dataclasses/reporting.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from hsd_core.doctor.reading.lines.figures import MOST_WORDS, Figure

Fields = dict[str, list[float]]


@dataclass(frozen=True, eq=False, slots=True)
class Form:
    """names: to a field of `Told`, or to "" for what is passed over. needs: sets of fields that suffice.

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


VLLM_LINE = Form(
    "vllm",
    {
        "mean acceptance length": "length",
        "accepted": "accepted",
        "drafted": "drafted",
        "per-position acceptance rate": "places",
        "per-position acceptance probabilities": "places",
        "draft acceptance rate": "rate",
    },
    _needs("accepted drafted", "places"),
    mark="specdecoding",
)
VLLM_OLD = Form(
    "vllm",
    {
        "number of speculative tokens": "k",
        "number of accepted tokens": "old_accepted",
        "number of draft tokens": "drafted",
        "number of emitted tokens": "emitted",
        "draft acceptance rate": "rate",
        "system efficiency": "",
    },
    _needs("old_accepted drafted"),
    mark="speculative metrics",
)
VLLM_THROUGHPUT = Form(
    "vllm",
    {"avg generation throughput": "interval_speed", "running": "running", "waiting": ""},
    _needs("interval_speed running"),
)
SGLANG = Form(
    "sglang",
    {
        "#running-req": "running",
        "accept len": "length",
        "accept rate": "rate",
        "avg_accept_len": "length",
        "accept_len": "length",
        "accept_rate": "rate",
        "gen throughput": "speed",
        "input throughput": "",
    },
    _needs("running speed"),
)
BENCH = Form(
    "",
    {
        "successful requests": "requests",
        "acceptance rate": "rate",
        "acceptance length": "length",
        "accept length": "length",
        "accept_length": "length",
        "drafts": "rounds",
        "draft tokens": "drafted",
        "accepted tokens": "accepted",
        "mean tpot": "per_token",
        "mean itl": "round_ms",
        "total generated tokens": "all_tokens",
        "maximum request concurrency": "most_running",
        "max request concurrency": "most_running",
        "concurrency": "running",
        "position": "place",
        "completed": "requests",
        "total_output_tokens": "all_tokens",
        "max_concurrency": "most_running",
        "mean_tpot_ms": "per_token",
        "mean_itl_ms": "round_ms",
        "spec_decode_acceptance_rate": "rate",
        "spec_decode_acceptance_length": "length",
        "spec_decode_num_drafts": "rounds",
        "spec_decode_draft_tokens": "drafted",
        "spec_decode_accepted_tokens": "accepted",
        "spec_decode_per_position_acceptance_rates": "places",
    },
    _needs("per_token", "rounds drafted accepted", "requests length"),
    whole=False,
)
OFFLINE = Form(
    "vllm",
    {
        "total_num_output_tokens": "",
        "num_drafts": "rounds",
        "num_draft_tokens": "drafted",
        "num_accepted_tokens": "accepted",
        "mean acceptance length": "length",
        "acceptance at token": "place",
    },
    _needs("rounds drafted accepted"),
    whole=False,
)
SPECULATIVE = Form(
    "llama.cpp",
    {
        "n_draft": "most",
        "n_predict": "written",
        "n_drafted": "drafted",
        "n_accept": "accepted",
        "decoded": "decoded",
        "tokens in": "seconds",
        "generated": "decoded",
        "accept": "",
    },
    _needs("drafted accepted"),
    whole=False,
)
MTP_BENCH = Form(
    "llama.cpp",
    {"pred": "tokens", "draft": "drafted", "acc": "accepted", "rate": "", "tok/s": "speed"},
    _needs("tokens drafted accepted"),
)
EXLLAMA = Form(
    "",
    {
        "new_tokens": "tokens",
        "time_generate": "seconds",
        "accepted_draft_tokens": "accepted",
        "rejected_draft_tokens": "rejected",
    },
    _needs("tokens seconds", "accepted rejected"),
    whole=False,
)
LATENCY = Form("vllm", {"avg latency": "seconds"}, _needs("seconds"), whole=False)


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
    {
        "ar average": "length",
        "al average": "length",
        "dt average": "drafted",
        "adt average": "accepted",
        "dar average": "rate",
        "tpot": "per_token",
        "number of requests": "requests",
        "number of concurrent requests": "running",
        "avg_decoded_tokens_per_iter": "length",
    },
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
