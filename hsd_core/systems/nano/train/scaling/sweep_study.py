"""A sweep's results as plain numbers, for tables and for the page's figures.

Another hour of training is predicted: the line of acceptance is extrapolated to at most `FARTHEST` times the tokens,
and the exact recursion prices each acceptance with the costs of a measured profile, with the best block lengths each
time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from hsd_core.grammar.keys import AT
from hsd_core.measure import tables
from hsd_core.measure.results import measured_on
from hsd_core.systems.nano.train.scaling.law import BLOCK, FARTHEST, FEWEST, MEASURES, Law, Reading, Readings
from hsd_core.theory import Profile
from hsd_core.theory.profiles.profile_store import FOLDER, readable_profiles, shipped_profiles
from hsd_core.theory.profiles.under_load import under_load
from hsd_core.theory.search.planner import best_block_lengths

COPY = "int8"  # the level that a draft may stand below
HOUR = 3600.0


def hour(about: Mapping[str, Any], largest: Mapping[str, Any], law: Law, profile: Profile | None) -> dict[str, Any]:
    """What another hour on one core would give the training on all tokens.

    Args:
        about, largest: the first line of a sweep's file, and the record of that training. law: of its acceptance.
        profile: of the machine; None, or one without this draft, prices nothing.
    Returns:
        `per_hour`: tokens that an hour reads; `tokens`: the end of the extrapolation; `hours` until then; `acceptance`
        now and then; `stacks` (see `_priced`).
    """
    per_hour = about["epochs"] * largest["tokens"] / largest["core_seconds"] * HOUR
    now, then = law.measured[-1], min(FARTHEST * law.tokens[-1], law.tokens[-1] + per_hour)
    reached = law.reaches(then)
    return {
        "per_hour": round(per_hour),
        "from": law.tokens[-1],
        "tokens": round(then),
        "hours": round(about["epochs"] * (then - law.tokens[-1]) / per_hour, 3),
        "acceptance": {"now": ends(now), "then": ends(reached)},
        "stacks": [] if profile is None else [*_priced(about["draft"], profile, now, reached)],
    }


def ends(reading: Reading) -> list[float]:
    """A reading as [value, low, high]."""
    return [round(each, 5) for each in (reading.value, *reading.interval)]


def _priced(draft: Mapping[str, Any], profile: Profile, now: Reading, then: Reading) -> Iterator[dict[str, Any]]:
    """The draft alone and below the 8-bit copy: `tokens_per_s` now and then as [value, low, high] over the acceptance's
    interval, and `blocks` then. The copy is assumed to accept what the target does."""
    name = draft["name"] if not draft["at"] else f"{draft['name']}@{AT}={draft['depth']}"
    if name not in profile.names or not draft["fed"]:  # a profile's level is the fed draft
        return
    below, copy = profile.index(name), [profile.index(COPY)] if COPY in profile.names else []
    for above in ([], copy) if copy else ([],):
        found: dict[str, list[float]] = {}
        for when, reading in (("now", now), ("then", then)):
            prices = []
            for acceptance in (reading.value, *reading.interval):
                pairs = {(below, level): acceptance for level in (*above, profile.target)}
                gain, blocks = best_block_lengths(profile.with_acceptance(pairs), (below, *above, profile.target))
                prices.append(round(gain * 1000.0 / profile.plain_ms, 3))
                if acceptance == reading.value:
                    chosen = blocks
            found[when] = prices
        yield {
            "stack": ",".join(profile.levels[level].spec for level in (below, *above, profile.target)),
            "blocks": list(chosen),
            "plain": round(1000.0 / profile.plain_ms, 3),
            "tokens_per_s": found,
        }


LOADS = (1, 2, 4, 8, 16, 32)  # requests at once


def by_load(
    draft: Mapping[str, Any], rates: Sequence[tuple[int, float]], profile: Profile | None
) -> list[dict[str, Any]]:
    """Scylla's batch axis: what each training is worth where passes are shared, against plain decoding at this load.

    Args:
        rates: (tokens learned, acceptance) of trainings. profile: with joint costs where they were measured.
    Returns:
        By load: `measured`, whether joint passes of draft and target were; `gains`, for each training [tokens learned,
        speed-up, block length], both of the best block length; [] without a profile of this draft.
    """
    if profile is None or draft["name"] not in profile.names or draft["at"] or not draft["fed"]:
        return []
    pair = profile.index(draft["name"]), profile.target
    found = []
    for load in LOADS:
        shared = under_load(profile, load)
        gains = []
        for tokens, rate in rates:
            gain, blocks = best_block_lengths(shared.with_acceptance({pair: rate}), pair)
            gains.append([tokens, round(gain, 4), blocks[0]])
        measured = load == 1 or load in profile.levels[profile.target].joint
        found.append({"load": load, "measured": measured, "gains": gains})
    return found


GATES = ("gate", "own")  # with the copy gate, and without copies
AHEAD = (1.0, 2.0, 4.0)  # points of the extrapolation, in multiples of the most training tokens
SIZES = ("share", "layers", "rows", "texts", "tokens", "weights", "weight_share", "seconds", "core_seconds", "steps")
Record = Mapping[str, Any]


def study(
    about: Record, records: Sequence[Record], profile: Profile | None, loaded: Profile | None = None
) -> dict[str, Any]:
    """
    Args:
        profile: of the machine that trained, for prices. loaded: one with the costs of joint passes, for those at loads
            (default: `profile`).
    Returns:
        `trainings`: sizes, costs, and [value, low, high] by set of texts, gate and measure; `own_size`: the indices of
        trainings of the draft's own size, fewest tokens first; `laws` by texts, gate and measure, and `hour`, if there
        are enough trainings; `texts`: the number of texts in each set.
    """
    base = _as_it_is(about, records)
    judges = {name: Readings(records, name) for name in about["judges"]} if records else {}
    trainings = [
        {
            **{key: one[key] for key in SIZES},
            "judged": {
                name: {g: {m: ends(found.reading(at, g, m)) for m in MEASURES} for g in GATES}
                for name, found in judges.items()
            },
        }
        for at, one in enumerate(records)
    ]
    common = {"trainings": trainings, "own_size": base, "texts": {name: found.texts for name, found in judges.items()}}
    if len(base) < FEWEST:
        return {**common, "laws": {}, "hour": None, "loads": []}
    tokens = [records[at]["tokens"] for at in base]
    laws = {
        name: {g: {m: found.law(base, tokens, g, m) for m in MEASURES} for g in GATES} for name, found in judges.items()
    }
    shown = {
        name: {g: {m: _law_json(one) for m, one in of.items()} for g, of in gates.items()}
        for name, gates in laws.items()
    }
    unseen = [*laws][-1]  # other texts where there are some
    worth = hour(about, records[base[-1]], laws[unseen]["gate"]["acceptance"], profile)
    rates = [(records[at]["tokens"], trainings[at]["judged"][unseen]["gate"]["acceptance"][0]) for at in base]
    loads = by_load(about["draft"], [rates[0], rates[-1]], loaded or profile)
    return {**common, "laws": shown, "hour": {**worth, "texts": unseen}, "loads": loads}


def _as_it_is(about: Record, records: Sequence[Record]) -> list[int]:
    """The indices of trainings of the draft's own size, which differ only in their tokens."""
    size = about["draft"]["layers"], about["hyperparameters"]["rows"]
    found = [at for at, one in enumerate(records) if (one["layers"], one["asked_rows"]) == size]
    return sorted(found, key=lambda at: records[at]["tokens"])


def _law_json(law: Law) -> dict[str, Any]:
    last = law.tokens[-1]
    return {
        "slope": ends(law.slope),
        "predicted": ends(law.predicted),
        "measured": ends(law.measured[-1]),
        "off": ends(law.off),
        "residuals": [round(each, 5) for each in law.residuals],
        "line": [[n, round(float(law.line.at(n)), 5)] for n in (law.tokens[0], last)],
        "ahead": [[round(k * last), *ends(law.reaches(k * last))] for k in AHEAD],
    }


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


def hour_table(found: Study) -> str:
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


def loads_table(found: Study) -> str:
    """The speed-up of the smallest and the largest training at each load, and the best block length."""
    first = found["loads"][0]["gains"] if found["loads"] else []
    head = (
        "requests at once",
        "the target's joint passes",
        *(f"after {tokens:,} tokens learned" for tokens, _, _ in first),
    )
    body = [
        (
            one["load"],
            "measured" if one["measured"] else "computed",
            *(f"{gain:.2f} at T = {block}" for _, gain, block in one["gains"]),
        )
        for one in found["loads"]
    ]
    return tables.markdown(head, body)


def figures(about: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> Study:
    """The study that `TABLES` show."""
    loaded = measured_on(about, readable_profiles(sorted((FOLDER / "by-load").glob("*.json"))))
    return study(about, records, measured_on(about, shipped_profiles()), loaded)


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
    {"trainings": trainings, "lines": lines, "sizes": sizes, "hour": hour_table, "load": loads_table}
)
