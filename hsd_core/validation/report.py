"""A validation's result: a row a stack, what the models are off by, how good the planner's picks were."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hsd_core.bench import plain_of
from hsd_core.theory import Plan, Profile, plan_of
from hsd_core.validation.blame import Blame, blame
from hsd_core.validation.books import Books
from hsd_core.validation.models import SAID, WHOLE, Texts, in_full, predictions
from hsd_core.validation.runs import Run

RESAMPLES = 2000
TERMS = ("acceptance", "rows", "cost", "engine")


@dataclass(frozen=True, slots=True)
class Row:
    """A stack. ms per committed token; `interval`: 95 %, by a bootstrap over prompts. `models`: by the keys of `SAID`.

    `equal`: on how many of the prompts its ids were plain decoding's; None at temperatures at which they need not be.
    `picked_by`: what the planner was asked.
    """

    stack: str
    plan: Plan
    models: dict[str, float]
    measured_ms: float
    interval: tuple[float, float]
    blame: Blame
    equal: int | None
    prompts: int
    picked_by: tuple[str, ...]

    @property
    def predicted_ms(self) -> float:
        return self.models[WHOLE]

    def error(self, model: str = WHOLE) -> float:
        """predicted / measured - 1."""
        return self.models[model] / self.measured_ms - 1.0


def rows(profile: Profile, runs: Mapping[str, Sequence[Run]], limit: int, picks: Mapping[str, str]) -> list[Row]:
    """The rows, fastest measured first.

    Args:
        runs: of every stack, on the same prompts. limit: the length limit of the runs. picks: stack by question.
    """
    made = [
        _row(profile, stack, own, limit, tuple(asked for asked, pick in picks.items() if pick == stack))
        for stack, own in runs.items()
    ]
    return sorted(made, key=lambda row: row.measured_ms)


def _row(profile: Profile, stack: str, runs: Sequence[Run], limit: int, picked_by: tuple[str, ...]) -> Row:
    plan = plan_of(profile, stack)
    books = Books([type(level)() for level in runs[0].books.levels])
    for run in runs:
        books.add(run.books)
    measured = [run.measurement for run in runs]
    texts = Texts(tuple(m.tokens for m in measured), tuple(m.category for m in measured), limit)
    spent = np.array([(run.books.decode_ms, run.books.tokens) for run in runs])
    found = ratios(spent)
    return Row(
        stack, plan, predictions(profile, plan, texts), books.decode_ms / books.tokens,
        (float(np.quantile(found, 0.025)), float(np.quantile(found, 0.975))),
        blame(profile, plan, in_full(profile, plan, texts), books),
        None if profile.temperature else sum(not m.diverges for m in measured), len(runs), picked_by,
    )  # fmt: skip


def ratios(sums: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """(prompts, 2) numerators and denominators -> (RESAMPLES,) ratios of sums over prompts drawn anew; seeded, so
    that two stacks on the same prompts meet the same draws."""
    n = len(sums)
    draws = np.random.default_rng(0).multinomial(n, [1.0 / n] * n, size=RESAMPLES)
    over, under = (draws @ sums).T
    found: np.ndarray[Any, np.dtype[np.float64]] = over / under
    return found


def summary(found: Sequence[Row], runs: Mapping[str, Sequence[Run]]) -> dict[str, Any]:
    """Errors by model, the same of ms per token over plain decoding's, terms to blame, and the planner's picks."""
    best = found[0]
    plain = next((row for row in found if row.stack == plain_of(best.stack)), None)
    return {
        "stacks": len(found),
        "models": {model: _errors([row.error(model) for row in found]) for model in SAID},
        "speed_ups": {} if plain is None else {
            model: _errors(
                [(1.0 + row.error(model)) / (1.0 + plain.error(model)) - 1.0 for row in found if row is not plain]
            )
            for model in SAID
        },
        "blame": {
            term: _errors([getattr(row.blame, term) / row.measured_ms for row in found]) for term in TERMS
        },
        "best": {"stack": best.stack, "measured_ms": best.measured_ms},
        "picks": {
            asked: _pick(row, best, runs) for row in found for asked in row.picked_by
        },
    }  # fmt: skip


def _errors(errors: Sequence[float]) -> dict[str, float]:
    """`median` and `worst` of the sizes, `mean` with its sign."""
    sizes = [abs(error) for error in errors] or [0.0]
    return {
        "median": statistics.median(sizes), "worst": max(sizes), "mean": statistics.fmean(errors) if errors else 0.0
    }  # fmt: skip


def _pick(row: Row, best: Row, runs: Mapping[str, Sequence[Run]]) -> dict[str, Any]:
    """`over_best`: measured over the best measured stack's, less 1; `interval`: 95 %, over prompts."""
    per_token = (
        ratios(np.array([(run.books.decode_ms, run.books.tokens) for run in runs[each.stack]])) for each in (row, best)
    )
    found = np.divide(*per_token) - 1.0
    return {
        "stack": row.stack, "predicted_ms": row.predicted_ms, "measured_ms": row.measured_ms,
        "over_best": row.measured_ms / best.measured_ms - 1.0,
        "interval": [float(np.quantile(found, 0.025)), float(np.quantile(found, 0.975))],
    }  # fmt: skip


def as_json(profile: Profile, found: Sequence[Row], summed: Mapping[str, Any], about: Mapping[str, Any]) -> Any:
    """The result as plain JSON types."""
    return {
        "version": 1,
        "about": dict(about),
        "summary": dict(summed),
        "stacks": [
            {
                "stack": row.stack, "levels": [profile.names[i] for i in row.plan.levels],
                "blocks": list(row.plan.blocks), "predicted_ms": row.predicted_ms, "measured_ms": row.measured_ms,
                "interval": list(row.interval), "models": row.models, "blame": asdict(row.blame),
                "equal": row.equal, "prompts": row.prompts, "picked_by": list(row.picked_by),
            }
            for row in found
        ],
    }  # fmt: skip
