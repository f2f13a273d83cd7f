"""Lone times scaled to what real runs took: sums of runs are predicted, so means count here and not medians."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from hsd_core.measure.calibrate.costs.short_runs import Drafting, Observed, Pair
from hsd_core.measure.calibrate.costs.timing import Timings
from hsd_core.theory import Costs

PRIOR, LEAST = 20.0, 8  # calls: a row count is trusted as far as it was met more often; is a knot if met so often
NEAR = math.log(2.0)  # row counts as far apart as 1 and 2, or 4 and 8, say nothing of each other
MOST = 4.0  # times its lone time: what took longer was a stall of the machine, and counts as so much


def in_runs(timings: Timings, observed: Observed) -> Timings:
    """The timings of levels alone, scaled to the runs; what no run showed stays as it was."""
    verify = {}
    for i, alone in timings.verify.items():
        verify[i] = scaled(alone, _calls(observed, (pair for pair, _ in observed.verify if pair[1] == i), timings))
    edges = {(j, i): scaled(timings.verify[i], _calls(observed, [(j, i)], None)) for j, i in timings.lighter}
    for pair, alone in timings.edges.items():
        edges[pair] = scaled(alone, _calls(observed, [pair], None))
        if edges[pair] is alone and pair[0] not in timings.verify:  # a drafter that met this verifier in no run
            own, lone = verify[pair[1]], timings.verify[pair[1]]
            edges[pair] = alone.scaled(float(np.mean([own(n) / lone(n) for n in alone.rows])))
    draft = {
        i: round(per_token(observed.drafts[i], verify[i], ms), 5) if i in observed.drafts else ms
        for i, ms in timings.draft.items()
    }
    return Timings(verify, draft, edges, timings.lighter, timings.turns, timings.context)


def _calls(observed: Observed, pairs: Iterable[Pair], timings: Timings | None) -> dict[int, list[float]]:
    """Verifications of these pairs by rows; without those that have costs of their own in `timings`."""
    wanted = set(pairs) - (set() if timings is None else {*timings.edges, *timings.lighter})
    calls: dict[int, list[float]] = {}
    for (pair, rows), ms in observed.verify.items():
        if pair in wanted:
            calls.setdefault(rows, []).extend(ms)
    return calls


def scaled(alone: Costs, calls: Mapping[int, Sequence[float]]) -> Costs:
    """Costs at the row counts that were timed alone or met in runs, each lone time multiplied by a factor.

    The factor of n rows is that of the calls of n rows and, with a weight that falls with the distance, of their
    neighbours; `PRIOR` calls at the level's mean factor stand beside them.

    Args:
        calls: ms of single calls, by rows.
    """
    met = [(n, len(ms), alone(n), sum(min(x, MOST * alone(n)) for x in ms)) for n, ms in calls.items()]
    expected = sum(k * ms for _, k, ms, _ in met)
    if not expected:
        return alone
    whole = sum(took for *_, took in met) / expected
    knots = sorted({*alone.rows, *(n for n, k, *_ in met if k >= PRIOR)})
    low, high = (np.interp(knots, alone.rows, ends) if ends else None for ends in (alone.low, alone.high))
    factors = []
    for n in knots:
        near = [(max(0.0, 1.0 - abs(math.log(n / m)) / NEAR), k, ms, took) for m, k, ms, took in met]
        took = sum(w * t for w, _, _, t in near) + PRIOR * whole * alone(n)
        factors.append(took / (sum(w * k * ms for w, k, ms, _ in near) + PRIOR * alone(n)))

    def times(values: Iterable[float]) -> tuple[float, ...]:
        return tuple(round(float(x) * f, 5) for x, f in zip(values, factors, strict=True))

    ends = (None, None) if low is None or high is None else (times(low), times(high))
    return Costs(tuple(knots), times(alone(n) for n in knots), *ends)


def per_token(drafts: Sequence[Drafting], cost: Costs, alone: float) -> float:
    """Mean ms of a drafted token, without what the rows cost that a draft caught up on."""
    forwards = sum(draft.forwards for draft in drafts)
    took = sum(min(draft.ms, MOST * alone * (draft.forwards + draft.late)) for draft in drafts)
    late = sum(cost(1 + draft.late) - cost(1) for draft in drafts)
    return max(0.1 * alone, (took - late) / forwards)
