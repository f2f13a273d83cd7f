"""A sweep's results as Markdown tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from hsd_core.measure import tables
from hsd_core.measure.results import measured_on
from hsd_core.systems.nano.train.scaling.law import BLOCK
from hsd_core.systems.nano.train.scaling.sweep_study import GATES, study
from hsd_core.theory.profiles.profile_store import shipped_profiles

GATE_WORDS = {"gate": "with copies", "own": "without"}
TEXT_WORDS = {"held_out": "held out", "other": "others"}
MEASURE_WORDS = {
    "acceptance": "acceptance rate",
    "tokens_per_pass": "tokens a pass",
    "agreement": "agreement",
    "overlap": "1 - TV",
}
Study = Mapping[str, Any]


def trainings(found: Study) -> str:
    """A row for each training, set of texts and gate."""
    measures = (f"{word} (95 % interval)" for word in MEASURE_WORDS.values())
    head = ("tokens learned", "own layers, head", "judged by texts", "copies", *measures)
    body = []
    for one in found["trainings"]:
        for texts, gates in one["judged"].items():
            for gate in GATES:
                values = (_reading(gates[gate][name]) for name in MEASURE_WORDS)
                judges = f"{found['texts'][texts]} {TEXT_WORDS[texts]}"
                body.append((f"{one['tokens']:,}", _size(one), judges, GATE_WORDS[gate], *values))
    return tables.markdown(head, body)


def lines(found: Study) -> str:
    """A row for each line: the gain per doubling, and the largest training as predicted and as measured."""
    head = (
        "measure",
        "judged by",
        "copies",
        "a doubling bought",
        "largest: predicted",
        "measured",
        "measured less predicted",
    )
    body = [
        (MEASURE_WORDS[name], TEXT_WORDS[texts], GATE_WORDS[gate], *_line(law))
        for name in MEASURE_WORDS
        for texts, gates in found["laws"].items()
        for gate, of in gates.items()
        for law in [of[name]]
    ]
    return tables.markdown(head, body)


def sizes(found: Study) -> str:
    """The draft's own size and others, at one share of the tokens."""
    by_share: dict[float, list[Mapping[str, Any]]] = {}
    for one in found["trainings"]:
        by_share.setdefault(one["share"], []).append(one)
    some = max(by_share.values(), key=len, default=[])
    head = ("own layers, head", "weights read a drafted token", "of the target's", "core-seconds", *_sizes_head(found))
    body = []
    for one in sorted(some, key=lambda one: one["weights"]):
        judged = (_reading(one["judged"][texts][gate]["acceptance"]) for texts in found["texts"] for gate in GATES)
        weights = f"{one['weights'] / 1e6:.1f} million"
        body.append((_size(one), weights, f"{one['weight_share']:.1%}", f"{one['core_seconds']:.0f}", *judged))
    return tables.markdown(head, body)


def hour(found: Study) -> str:
    """The prediction for more training."""
    prediction = found["hour"]
    head = ("predicted", f"after {_tokens(prediction, 'from')} tokens", f"after {_tokens(prediction, 'tokens')} tokens")
    if prediction is None:
        return tables.markdown(head, [])
    rates = (_reading(prediction["acceptance"][when]) for when in ("now", "then"))
    body = [("acceptance rate (first: measured)", *rates)]
    for one in prediction["stacks"]:
        speeds = (_reading(one["tokens_per_s"][when], 1) for when in ("now", "then"))
        body.append((f"tokens/s of `{one['stack']}` (plain {one['plain']:.1f})", *speeds))
    return tables.markdown(head, body)


def figures(about: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> Study:
    """The study that `TABLES` show."""
    return study(about, records, measured_on(about, shipped_profiles()))


def method(about: Mapping[str, Any]) -> str:
    """The method, in words."""
    times = "once" if about["epochs"] == 1 else f"{about['epochs']} times"
    return (
        f"Draft `{about['draft']['name']}{'-fed' if about['draft']['fed'] else ''}`, seed "
        f"{about['hyperparameters']['seed']}, batches of {about['hyperparameters']['batch']} tokens; every text read "
        f"{times}. Acceptance rate: accepted over judged tokens in rounds of {BLOCK} "
        "drafted tokens along the target's greedy text; tokens a pass: the same rounds, Scylla's measure. Lines are "
        "fitted without the largest training."
    )


def _line(law: Mapping[str, Any]) -> Iterator[str]:
    for key in ("slope", "predicted", "measured", "off"):
        yield _reading(law[key], sign="+" if key in ("slope", "off") else "")


def _reading(reading: Sequence[float], digits: int = 3, sign: str = "") -> str:
    value, low, high = (f"{round(each, digits) + 0.0:{sign}.{digits}f}" for each in reading)  # no minus before a 0
    return f"{value} ({low} to {high})"


def _size(one: Mapping[str, Any]) -> str:
    return f"{one['layers']}, {one['rows']:,} rows"


def _sizes_head(found: Study) -> list[str]:
    return [f"acceptance rate, {TEXT_WORDS[t]}, {GATE_WORDS[g]}" for t in found["texts"] for g in GATES]


def _tokens(prediction: Mapping[str, Any] | None, key: str) -> str:
    return "-" if prediction is None else f"{prediction[key]:,}"


TABLES: Mapping[str, Callable[[Study], str]] = MappingProxyType(
    {"trainings": trainings, "lines": lines, "sizes": sizes, "hour": hour}
)
