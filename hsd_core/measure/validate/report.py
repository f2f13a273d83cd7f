"""A validation's result: what was predicted of each stack beside what it took, in each sitting and over all of them.

Two figures a stack: ms per token, and the speed-up over plain decoding of the same target, predicted over predicted,
measured over measured in the same sitting. A machine that was slower than at calibration shows in the first alone.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hsd_core.measure.bench import plain_of
from hsd_core.measure.intervals import Floats, Tally
from hsd_core.measure.validate.counters import Attribution, Counters, LevelCounters, attribute
from hsd_core.measure.validate.raw_results import SAID, Sitting, Validation
from hsd_core.theory import Profile

RESAMPLES = 2000
TERMS = ("acceptance", "rows", "cost", "engine")
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Figure:
    """Predicted, and measured over all sittings with a 95 % interval (a bootstrap over prompts) and in each of them."""

    predicted: float
    measured: float
    interval: Interval
    by_sitting: tuple[float, ...]

    @property
    def error(self) -> float:
        """predicted / measured - 1."""
        return self.predicted / self.measured - 1.0


@dataclass(frozen=True, slots=True)
class StackRow:
    """A stack. `speed_up`: None for plain decoding. `equal`: of `runs`, the runs whose ids were plain decoding's; None
    at temperatures at which they need not be. `picked_by`: what the planner was asked.
    """

    stack: str
    ms: Figure
    speed_up: Figure | None
    attribution: Attribution
    equal: int | None
    runs: int
    picked_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Errors:
    """Sizes of relative errors: their median, with a 95 % interval (a bootstrap over prompts), and the worst."""

    median: float
    interval: Interval
    worst: float


@dataclass(frozen=True, slots=True)
class ErrorPart:
    """A sitting, or all of them (`number` None). `pace`: measured ms of plain decoding / predicted."""

    number: int | None
    began: str
    prompts: int
    pace: float
    ms: Errors
    speed_ups: Errors


@dataclass(frozen=True, slots=True)
class Report:
    """`rows`: fastest measured first. `parts`: the sittings, then all of them. `pooled`: errors of ms and of speed-ups
    where each stack's runs of all sittings are one figure. `models`: ms and speed-ups by model."""

    model: str
    rows: tuple[StackRow, ...]
    parts: tuple[ErrorPart, ...]
    pooled: tuple[Errors, Errors]
    models: Mapping[str, tuple[Errors, Errors]]


def report(validation: Validation) -> Report:
    """Everything that the tables and the page show.

    Raises:
        ValueError: nothing has been run to its end yet.
    """
    if not validation.sittings:
        raise ValueError("no prompt of this validation has been run to its end; run validate")
    model, drawn = validation.about["model"], _Draws(validation)
    parts = [_part(validation, drawn, model, [sitting]) for sitting in validation.sittings]
    if len(parts) > 1:
        parts.append(_part(validation, drawn, model, validation.sittings))
    rows = [_row(validation, drawn, stack, model) for stack in validation.stacks]
    return Report(
        model,
        tuple(sorted(rows, key=lambda row: row.ms.measured)),
        tuple(parts),
        _errors(validation, drawn, model, [validation.sittings]),
        {name: _errors(validation, drawn, name, [[s] for s in validation.sittings]) for name in SAID},
    )


class _Draws:
    """Bootstrap over prompts: every stack and sitting meets the same draws, so ratios are taken within a draw."""

    def __init__(self, validation: Validation) -> None:
        runs = (run for s in validation.sittings for runs in s.runs.values() for run in runs)
        self._place = {prompt: at for at, prompt in enumerate(sorted({run.measurement.prompt for run in runs}))}
        self._spent = Tally(len(self._place), RESAMPLES)

    def per_token(self, sittings: Sequence[Sitting], stack: str) -> Floats:
        """(1 + RESAMPLES,) ms per token, the measured one first; a draw that holds no run of a sitting gives NaN."""
        key = (stack, *(sitting.number for sitting in sittings))
        if not self._spent.weight(key):
            for run in (run for sitting in sittings for run in sitting.runs[stack]):
                at, took = self._place[run.measurement.prompt], run.counters
                self._spent.add(key, at, took.decode_ms, took.tokens)
        return np.array([self._spent.ratio(key), *self._spent.resampled(key)])


def _figure(predicted: float, drawn: Floats, by_sitting: Iterable[Floats]) -> Figure:
    return Figure(predicted, float(drawn[0]), _interval(drawn), tuple(float(each[0]) for each in by_sitting))


def _interval(drawn: Floats) -> Interval:
    low, high = np.nanquantile(drawn[1:], (0.025, 0.975))
    return float(low), float(high)


def _row(validation: Validation, drawn: _Draws, stack: str, model: str) -> StackRow:
    own, sittings = [run for s in validation.sittings for run in s.runs[stack]], [[s] for s in validation.sittings]
    plain, ms = plain_of(stack), validation.models(stack)[model]
    whole = drawn.per_token(validation.sittings, stack)
    each = [drawn.per_token(sitting, stack) for sitting in sittings]
    speed_up = None
    if plain != stack:
        beside = drawn.per_token(validation.sittings, plain)
        ratios = [drawn.per_token(s, plain) / mine for s, mine in zip(sittings, each, strict=True)]
        speed_up = _figure(validation.models(plain)[model] / ms, beside / whole, ratios)
    greedy = not validation.profile.temperature
    counters = Counters([LevelCounters() for _ in own[0].counters.levels])
    for run in own:
        counters.add(run.counters)
    return StackRow(
        stack,
        _figure(ms, whole, each),
        speed_up,
        attribute(validation.profile, validation.plan(stack), validation.work(stack), counters),
        sum(run.measurement.holds for run in own) if greedy else None,
        len(own),
        tuple(asked for asked, pick in validation.about["picks"].items() if pick == stack),
    )


def _part(validation: Validation, drawn: _Draws, model: str, sittings: Sequence[Sitting]) -> ErrorPart:
    plain = plain_of(validation.stacks[0])
    pace = float(drawn.per_token(sittings, plain)[0]) / validation.models(plain)[model]
    one, whole = sittings[0], len(sittings) > 1
    began = f"{len(sittings)} sittings" if whole else str(one.began["began"])
    prompts = sum(sitting.prompts for sitting in sittings)
    errors = _errors(validation, drawn, model, [[s] for s in sittings])
    return ErrorPart(None if whole else one.number, began, prompts, pace, *errors)


def _errors(
    validation: Validation, drawn: _Draws, model: str, groups: Iterable[Sequence[Sitting]]
) -> tuple[Errors, Errors]:
    """Of ms per token and of speed-ups: each stack in each group of sittings is one error."""
    ms, speed_ups = [], []
    for group in groups:
        off = {stack: validation.models(stack)[model] / drawn.per_token(group, stack) for stack in validation.stacks}
        ms += list(off.values())
        speed_ups += [off[plain_of(stack)] / off[stack] for stack in off if plain_of(stack) != stack]
    return _sizes(ms), _sizes(speed_ups)


def _sizes(off: Sequence[Floats]) -> Errors:
    """Args:
    off: of each error (1 + RESAMPLES,) predicted / measured, the measured one first.
    """
    if not off:
        return Errors(0.0, (0.0, 0.0), 0.0)
    sizes = np.abs(np.stack(off) - 1.0)
    sizes = sizes[:, ~np.isnan(sizes).all(axis=0)]  # a draw may hold none of the prompts that a sitting had
    measured = sizes[:, 0].tolist()
    return Errors(statistics.median(measured), _interval(np.nanmedian(sizes, axis=0)), max(measured))


def as_json(validation: Validation, earlier: Sequence[Validation] = ()) -> dict[str, Any]:
    """What the page draws, as plain JSON types. `earlier`: validations before this one; their outcome stays."""
    about, found = validation.about, report(validation)
    return {
        "version": 2,
        "about": {
            **{key: about[key] for key in ("preset", "device", "profile_digest", "prompts", "max_new_tokens")},
            "machine": "; ".join(dict.fromkeys(sitting.began["machine"] for sitting in validation.sittings)),
            "temperature": validation.profile.temperature,
        },
        "model": _named(validation),
        "sittings": [_part_json(part) for part in found.parts],
        "earlier": [
            {**_named(one), "sittings": len(one.sittings), **_part_json(report(one).parts[-1])} for one in earlier
        ],
        "stacks": [_stack_json(row) for row in found.rows],
    }


def _stack_json(row: StackRow) -> dict[str, Any]:
    figures = {"predicted_ms": row.ms.predicted, "measured_ms": row.ms.measured}
    if row.speed_up is not None:
        figures |= {"predicted_speed_up": row.speed_up.predicted, "speed_up": row.speed_up.measured}
    interval = [round(end, 4) for end in row.ms.interval]
    rounded = {name: round(value, 4) for name, value in figures.items()}
    return {"stack": row.stack, "interval": interval, "picked_by": list(row.picked_by), **rounded}


def costs_said(profile: Profile) -> str:
    """Where a profile's costs are from: older ones were measured on each level alone."""
    return "costs measured in runs" if "runs" in profile.about else "costs of passes timed alone"


def _named(validation: Validation) -> dict[str, str]:
    model = validation.about["model"]
    return {
        "name": model,
        "said": f"{SAID[model]}; {costs_said(validation.profile)}",
        "named": validation.about["recorded"],
    }


def _part_json(part: ErrorPart) -> dict[str, Any]:
    """Shares keep so many digits that rounding them again for people gives what the tables say."""
    shares = {"pace": part.pace, "ms": part.ms.median, "worst_ms": part.ms.worst}
    shares |= {"speed_ups": part.speed_ups.median, "worst_speed_ups": part.speed_ups.worst}
    rounded = {name: round(value, 6) for name, value in shares.items()}
    return {"number": part.number, "began": part.began, "prompts": part.prompts, **rounded}
