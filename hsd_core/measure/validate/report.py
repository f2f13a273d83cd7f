"""A validation's results: predicted and measured figures of each stack, in each sitting and over all, and their tables.

Two figures per stack: ms per token, and the speed-up over plain decoding of the same target, predicted over predicted,
measured over measured in the same sitting. A machine that is slower than at calibration affects only the first.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hsd_core.measure.bench import plain_of
from hsd_core.measure.intervals import Floats, Tally
from hsd_core.measure.results import on
from hsd_core.measure.tables import counted, markdown, stack_cells, with_interval
from hsd_core.measure.validate.counters import Attribution, Counters, LevelCounters, attribute
from hsd_core.measure.validate.raw_results import MODEL_NAMES, Sitting, Validation
from hsd_core.theory import Profile

RESAMPLES = 2000
TERMS = ("acceptance", "rows", "cost", "engine")
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Figure:
    """Predicted, and measured over all sittings with a 95 % interval (a bootstrap over prompts), and in each
    sitting."""

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
    """A stack. speed_up: None for plain decoding. equal: the number of `runs` whose ids were plain decoding's; None if
    sampled. picked_by: the questions that the planner answered with this stack."""

    stack: str
    ms: Figure
    speed_up: Figure | None
    attribution: Attribution
    equal: int | None
    runs: int
    picked_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Errors:
    """Absolute relative errors: the median, with a 95 % interval (a bootstrap over prompts), and the worst."""

    median: float
    interval: Interval
    worst: float


@dataclass(frozen=True, slots=True)
class ErrorPart:
    """A sitting, or all of them (number None). pace: measured ms of plain decoding / predicted."""

    number: int | None
    began: str
    prompts: int
    pace: float
    ms: Errors
    speed_ups: Errors


@dataclass(frozen=True, slots=True)
class Report:
    """rows: fastest measured first. parts: the sittings, then all of them. pooled: errors of ms and of speed-ups with
    each stack's runs of all sittings as one figure. models: errors of ms and speed-ups by model."""

    model: str
    rows: tuple[StackRow, ...]
    parts: tuple[ErrorPart, ...]
    pooled: tuple[Errors, Errors]
    models: Mapping[str, tuple[Errors, Errors]]


def report(validation: Validation) -> Report:
    """The figures for the tables and the page.

    Raises:
        ValueError: no prompt is finished yet.
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
        {name: _errors(validation, drawn, name, [[s] for s in validation.sittings]) for name in MODEL_NAMES},
    )


class _Draws:
    """A bootstrap over prompts with the same resamples for every stack and sitting, so that ratios are paired."""

    def __init__(self, validation: Validation) -> None:
        runs = (run for s in validation.sittings for runs in s.runs.values() for run in runs)
        self._place = {prompt: at for at, prompt in enumerate(sorted({run.measurement.prompt for run in runs}))}
        self._spent = Tally(len(self._place), RESAMPLES)

    def per_token(self, sittings: Sequence[Sitting], stack: str) -> Floats:
        """(1 + RESAMPLES,) ms per token, the measured one first; NaN for a resample without runs of a sitting."""
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
    """Errors of ms per token and of speed-ups, one for each stack in each group of sittings."""
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
    sizes = sizes[:, ~np.isnan(sizes).all(axis=0)]  # a resample may have none of a sitting's prompts
    measured = sizes[:, 0].tolist()
    return Errors(statistics.median(measured), _interval(np.nanmedian(sizes, axis=0)), max(measured))


def as_json(validation: Validation, earlier: Sequence[Validation] = ()) -> dict[str, Any]:
    """The page's data, as plain JSON types. earlier: validations before this one, whose results stay."""
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


def cost_source(profile: Profile) -> str:
    """The source of a profile's costs, in words: older profiles timed each level alone."""
    return "costs measured in runs" if "runs" in profile.about else "costs of passes timed alone"


def _named(validation: Validation) -> dict[str, str]:
    model = validation.about["model"]
    return {
        "name": model,
        "said": f"{MODEL_NAMES[model]}; {cost_source(validation.profile)}",
        "named": validation.about["recorded"],
    }


def _part_json(part: ErrorPart) -> dict[str, Any]:
    """Shares have enough digits that rounding them again gives the tables' figures."""
    shares = {"pace": part.pace, "ms": part.ms.median, "worst_ms": part.ms.worst}
    shares |= {"speed_ups": part.speed_ups.median, "worst_speed_ups": part.speed_ups.worst}
    rounded = {name: round(value, 6) for name, value in shares.items()}
    return {"number": part.number, "began": part.began, "prompts": part.prompts, **rounded}


_OFF = ("speed-ups", "ms per token")


def sittings_table(found: Report) -> str:
    """Errors of the prediction: a row per sitting, one for all, one with each stack's runs pooled."""
    off, pace = (f"{what} off by, median (95 % interval)" for what in _OFF), "plain decoding beside calibration"
    body: list[tuple[object, ...]] = [
        (_name(part), part.prompts, _signed(part.pace - 1.0), _size_cells(part.speed_ups), _size_cells(part.ms))
        for part in found.parts
    ]
    if len(found.parts) > 1:
        ms, speed_ups = found.pooled
        prompts = f"{found.parts[-1].prompts} a stack"
        body.append(("the same, sittings of a stack as one", prompts, "", _size_cells(speed_ups), _size_cells(ms)))
    return markdown(("sitting", "prompts", pace, next(off), "worst", next(off), "worst"), body)


def stacks_table(found: Report) -> str:
    """A row per stack: predicted and measured speed-up and ms per token, over all sittings and in each."""
    measured = ("measured (95 % interval)", "by sitting", "off by")
    head = ("stack", "speed-up predicted", *measured, "ms per token predicted", *measured, "equal")
    called, body = stack_cells(row.stack for row in found.rows), []
    for row in found.rows:
        mark = " (planner)" if row.picked_by else ""
        equal = "-" if row.equal is None else f"{row.equal}/{row.runs}"
        speed_up = "1 | 1 | | " if row.speed_up is None else _figure_cells(row.speed_up, 2)
        body.append((f"{called[row.stack]}{mark}", speed_up, _figure_cells(row.ms, 1), equal))
    return markdown(head, body)


def models_table(found: Report) -> str:
    """A row per model, over all sittings: the tested one, and the others for comparison."""
    off, body = (f"{what} off by, median (95 % interval)" for what in _OFF), []
    for model, said in MODEL_NAMES.items():
        ms, speed_ups = found.models[model]
        name = f"**{said}** (the prediction)" if model == found.model else f"{said} (for comparison)"
        body.append((name, _size_cells(speed_ups), _size_cells(ms)))
    return markdown(("model of the theory", next(off), "worst", next(off), "worst"), body)


def terms_table(found: Report) -> str:
    """A row per stack: the error of its ms per token by terms of the theory, which add up."""
    first, *others = TERMS
    head = ("stack", "ms per token off by", f"of that {first}", *others)
    called, body = stack_cells(row.stack for row in found.rows), []
    for row in found.rows:
        terms = (_signed(-getattr(row.attribution, term) / row.ms.measured) for term in TERMS)
        body.append((called[row.stack], _signed(row.ms.error), *terms))
    return markdown(head, body)


def levels_table(found: Report) -> str:
    """A row per level of a stack: calls per token and ms per call, predicted and measured."""
    calls = ("calls per token, predicted", "measured", "rows per call", "of them catching up", "accepted")
    head = ("stack", "level", *calls, "ms per call, predicted", "at the measured rows", "measured")
    called, body = stack_cells(row.stack for row in found.rows), []
    for row in found.rows:
        for at, level in enumerate(row.attribution.levels):
            accepted = "-" if level.accepted is None else f"{level.accepted:.3f}"
            rows = (f"{level.rows:.2f}", f"{level.catch_up:.2f}", accepted)
            calls = (f"{level.calls_predicted:.3f}", f"{level.calls:.3f}", *rows)
            ms = (f"{level.ms_predicted:.2f}", f"{level.priced_ms:.2f}", f"{level.ms:.2f}")
            body.append(("" if at else called[row.stack], level.level, *calls, *ms))
    return markdown(head, body)


TABLES: dict[str, Callable[[Report], str]] = {
    "sittings": sittings_table,
    "stacks": stacks_table,
    "models": models_table,
    "terms": terms_table,
    "levels": levels_table,
}


def method(validation: Validation) -> str:
    """The method, in words: the tested model and profile, the sittings, machines and the command."""
    about, profile = validation.about, validation.profile.about
    machines = dict.fromkeys(on(sitting.began) for sitting in validation.sittings)
    first, others = validation.sittings[0].began, "other " if "each" in about else ""
    return (
        f"The prediction is *{MODEL_NAMES[about['model']]}*, named {about['recorded']} with the profile "
        f"`{about['profile_digest']}` (calibrated on {profile.get('machine')}, {profile.get('recorded')}, "
        f"{cost_source(validation.profile)}), before the first run; {first['prompts']} {others}prompts of "
        f"`{about['prompts']}` a sitting, up to {about['max_new_tokens']} tokens each. "
        f"{counted(len(validation.sittings), 'sitting')}, all that there were, from {first['began']} to "
        f"{validation.sittings[-1].began['began']}. Measured on {'; '.join(machines)} by `{first['command']}`."
    )


def _name(part: ErrorPart) -> str:
    return f"all {part.began}" if part.number is None else f"{part.number}, {part.began}"


def _size_cells(errors: Errors) -> str:
    low, high = errors.interval
    return f"{errors.median:.1%} ({low:.1%} to {high:.1%}) | {errors.worst:.1%}"


def _figure_cells(figure: Figure, digits: int) -> str:
    measured = with_interval(figure.measured, figure.interval, digits)
    each = ", ".join(f"{x:.{digits}f}" for x in figure.by_sitting)
    return f"{figure.predicted:.{digits}f} | {measured} | {each} | {_signed(figure.error)}"


def _signed(share: float) -> str:
    return f"{100.0 * share:+.1f} %"
