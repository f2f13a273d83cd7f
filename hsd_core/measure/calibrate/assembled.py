"""A profile from what was counted and timed."""

from __future__ import annotations

from typing import Any

import numpy as np

from hsd_core.grammar import fan_of
from hsd_core.grammar.keys import FUSE
from hsd_core.measure.calibrate.candidates import Candidates
from hsd_core.measure.calibrate.costs.scaling import per_token
from hsd_core.measure.calibrate.costs.short_runs import Observed, Outside
from hsd_core.measure.calibrate.costs.timing import Timings
from hsd_core.measure.calibrate.reading import LONGEST, WIDEST
from hsd_core.measure.tally import Tally, mean_interval
from hsd_core.theory import Costs, Profile, ProfileLevel

MAX_BLOCK = 16
LEAST = 15.0  # tokens that the acceptance of a fork must rest on


def assembled(
    found: Candidates,
    tally: Tally,
    timings: Timings,
    seen: Observed,
    between: Outside,
    temperature: float,
    about: dict[str, Any],
) -> Profile:
    """The profile of what was counted of these levels and timed.

    Args:
        between: the engine's own time. about: what the profile says of where it was measured.
    """
    one = len(found.entries)  # numbers from there on only draft
    silent = [i for i in found.order if i >= one and tally.ratio(("beside", i, 1)) is None]
    left_out = {found.names[i]: "it offered nothing on these texts; give longer or more of them" for i in silent}
    order = [i for i in found.order if i not in silent]
    at = {number: place for place, number in enumerate(order)}
    pairs = [(j, i) for place, i in enumerate(order) for j in order[:place] if i < one]
    return Profile(
        tuple(_level(found, i, tally, timings, seen, between.verify_ms) for i in order),
        tuple(tuple(_accepts(tally, j, i) if (j, i) in pairs else float(i == j) for i in order) for j in order),
        MAX_BLOCK,
        edge_cost={
            (at[j], at[i]): costs.plus(between.verify_ms) for (j, i), costs in timings.edges.items() if (j, i) in pairs
        },
        interval=tuple(tuple(_interval(tally, j, i) if (j, i) in pairs else None for i in order) for j in order),
        temperature=temperature,
        round_ms=round(between.round_ms, 4),
        by_width={(at[j], at[i]): known for j, i in pairs if (known := _by_width(tally, j, i))},
        about={**about, "left_out": {**found.left_out, **left_out}},
    )


def _level(found: Candidates, i: int, tally: Tally, timings: Timings, seen: Observed, engine_ms: float) -> ProfileLevel:
    name, drafts = found.names[i], seen.drafts[i]
    if i in timings.verify:
        draft = timings.draft.get(i)
        costs = timings.verify[i].plus(engine_ms)
        return ProfileLevel(name, costs, name, draft_ms=None if draft is None else round(draft, 5))
    rows = [share for m in range(1, LONGEST + 1) if (share := tally.ratio(("beside", i, m))) is not None]
    own = found.at_work[i - len(found.entries)] if i > found.target else None
    beside = tuple(round(share, 3) for share in rows) if own and fan_of(own.spec) else ()
    rate = tally.ratio(("hit", i)) or 0.0
    reach = [tally.ratio(("reach", i, m)) for m in range(1, LONGEST + 1)]
    known = tuple(_round(r) for r in reach if r is not None)
    if own and own.level.has_cache:
        # What a draft caught up on is in its mean: the level itself verifies nothing.
        alone = float(np.median([draft.ms / draft.forwards for draft in drafts if draft.forwards]))
        ms = round(per_token(drafts, Costs.constant(alone), alone), 5)
        if own.spec.get(FUSE):  # what was looked up rides in the passes of a draft
            return ProfileLevel(name, Costs.constant(ms), name, draft_ms=ms, beside=beside)
        took = [ms * (tally.ratio(("forwards", i, n)) or n) for n in range(1, LONGEST + 1)]
        return ProfileLevel(
            name, Costs(tuple(range(1, LONGEST + 1)), tuple(round(x, 5) for x in took)), name, _round(rate), known
        )
    hits, misses = ([draft.ms for draft in drafts if draft.hit is hit] for hit in (True, False))
    parts = [(share, mean_interval(ms)) for share, ms in ((rate, hits), (1.0 - rate, misses)) if ms]
    total = sum(share for share, _ in parts) or 1.0
    ms, low, high = (round(max(1e-5, sum(share * times[k] for share, times in parts) / total), 5) for k in range(3))
    return ProfileLevel(name, Costs((1,), (ms,), (low,), (high,)), name, _round(rate), known, beside=beside)


def _accepts(tally: Tally, j: int, i: int) -> float:
    return _round(tally.ratio(("pair", j, i)) or 0.0)


def _interval(tally: Tally, j: int, i: int) -> tuple[float, float] | None:
    found = tally.interval(("pair", j, i))
    return None if found is None else (_round(found[0]), _round(found[1]))


def _by_width(tally: Tally, j: int, i: int) -> tuple[float, ...]:
    """The acceptances of a fork of 1, 2, ... tokens; none, where they rest on too few."""
    keys = [("width", j, i, k) for k in range(1, WIDEST + 1)]
    shares = [_round(tally.ratio(key) or 0.0) for key in keys if tally.weight(key) >= LEAST]
    return tuple(np.maximum.accumulate(shares).tolist()) if len(shares) == WIDEST else ()


def _round(share: float) -> float:
    """Sums of float32 rows may end a little beyond 1."""
    return round(min(1.0, max(0.0, share)), 5)
