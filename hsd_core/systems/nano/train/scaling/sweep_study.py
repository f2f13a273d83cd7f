"""A sweep's results as plain numbers, for tables and for the page's figures.

Another hour of training is predicted: the line of acceptance is extrapolated to at most `FARTHEST` times the tokens,
and the exact recursion prices each acceptance with the costs of a measured profile, with the best block lengths each
time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hsd_core.grammar.keys import AT
from hsd_core.systems.nano.train.scaling.law import FARTHEST, FEWEST, MEASURES, Law, Reading, Readings
from hsd_core.theory import Profile
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


GATES = ("gate", "own")  # with the copy gate, and without copies
AHEAD = (1.0, 2.0, 4.0)  # points of the extrapolation, in multiples of the most training tokens
SIZES = ("share", "layers", "rows", "texts", "tokens", "weights", "weight_share", "seconds", "core_seconds", "steps")
Record = Mapping[str, Any]


def study(about: Record, records: Sequence[Record], profile: Profile | None) -> dict[str, Any]:
    """
    Args:
        profile: of the machine that trained, for prices.
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
        return {**common, "laws": {}, "hour": None}
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
    return {**common, "laws": shown, "hour": {**worth, "texts": unseen}}


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
