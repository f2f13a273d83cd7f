"""What a sweep's raw results come to, as plain numbers: for tables and for the page's figures alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hsd_core.systems.nano.train.scaling.law import FEWEST, Law, Readings
from hsd_core.systems.nano.train.scaling.measures import MEASURES
from hsd_core.systems.nano.train.scaling.worth import ends, hour
from hsd_core.theory import Profile

GATES = ("gate", "own")  # with the copy gate, and what the draft itself says
AHEAD = (1.0, 2.0, 4.0)  # times the most tokens that were learned
SIZES = ("share", "layers", "rows", "texts", "tokens", "weights", "weight_share", "seconds", "core_seconds", "steps")
Record = Mapping[str, Any]


def study(about: Record, records: Sequence[Record], profile: Profile | None) -> dict[str, Any]:
    """
    Args:
        profile: of the machine that trained, for what is priced.
    Returns:
        `trainings`: sizes and costs of each, and by set of texts, gate and measure [value, low, high]; `own_size`: the
        places of those of the draft as it is, fewest tokens first; `laws` by texts, gate and measure, if there are
        enough trainings; `hour`, then; `texts`: how many of each set judged.
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
    told = {"trainings": trainings, "own_size": base, "texts": {name: found.texts for name, found in judges.items()}}
    if len(base) < FEWEST:
        return {**told, "laws": {}, "hour": None}
    tokens = [records[at]["tokens"] for at in base]
    laws = {
        name: {g: {m: found.law(base, tokens, g, m) for m in MEASURES} for g in GATES} for name, found in judges.items()
    }
    shown = {
        name: {g: {m: _said(one) for m, one in of.items()} for g, of in gates.items()} for name, gates in laws.items()
    }
    unseen = [*laws][-1]  # other texts where there are some
    worth = hour(about, records[base[-1]], laws[unseen]["gate"]["acceptance"], profile)
    return {**told, "laws": shown, "hour": {**worth, "texts": unseen}}


def _as_it_is(about: Record, records: Sequence[Record]) -> list[int]:
    """The trainings that differ in their tokens alone."""
    size = about["draft"]["layers"], about["hyperparameters"]["rows"]
    found = [at for at, one in enumerate(records) if (one["layers"], one["asked_rows"]) == size]
    return sorted(found, key=lambda at: records[at]["tokens"])


def _said(law: Law) -> dict[str, Any]:
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
