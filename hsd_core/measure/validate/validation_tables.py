"""A validation as Markdown tables."""

from __future__ import annotations

from collections.abc import Callable

from hsd_core.measure.results import on
from hsd_core.measure.tables import counted, markdown, stack_cells, with_interval
from hsd_core.measure.validate.raw_results import SAID, Validation
from hsd_core.measure.validate.report import TERMS, ErrorPart, Errors, Figure, Report, costs_said

_OFF = ("speed-ups", "ms per token")


def sittings_table(found: Report) -> str:
    """How far the prediction was off: a row a sitting, one of all of them, one of each stack's runs taken together."""
    off, pace = (f"{what} off by, median (95 % interval)" for what in _OFF), "plain decoding beside calibration"
    body: list[tuple[object, ...]] = [
        (_name(part), part.prompts, _signed(part.pace - 1.0), _sizes(part.speed_ups), _sizes(part.ms))
        for part in found.parts
    ]
    if len(found.parts) > 1:
        ms, speed_ups = found.pooled
        prompts = f"{found.parts[-1].prompts} a stack"
        body.append(("the same, sittings of a stack as one", prompts, "", _sizes(speed_ups), _sizes(ms)))
    return markdown(("sitting", "prompts", pace, next(off), "worst", next(off), "worst"), body)


def stacks_table(found: Report) -> str:
    """A row a stack: predicted and measured speed-up and ms per token, over all sittings and in each."""
    measured = ("measured (95 % interval)", "by sitting", "off by")
    head = ("stack", "speed-up predicted", *measured, "ms per token predicted", *measured, "equal")
    called, body = stack_cells(row.stack for row in found.rows), []
    for row in found.rows:
        mark = " (planner)" if row.picked_by else ""
        equal = "-" if row.equal is None else f"{row.equal}/{row.runs}"
        speed_up = "1 | 1 | | " if row.speed_up is None else _figure(row.speed_up, 2)
        body.append((f"{called[row.stack]}{mark}", speed_up, _figure(row.ms, 1), equal))
    return markdown(head, body)


def models_table(found: Report) -> str:
    """A row a model, over all sittings: the one that was named before, and the others for comparison."""
    off, body = (f"{what} off by, median (95 % interval)" for what in _OFF), []
    for model, said in SAID.items():
        ms, speed_ups = found.models[model]
        name = f"**{said}** (the prediction)" if model == found.model else f"{said} (for comparison)"
        body.append((name, _sizes(speed_ups), _sizes(ms)))
    return markdown(("model of the theory", next(off), "worst", next(off), "worst"), body)


def terms_table(found: Report) -> str:
    """A row a stack: in which terms of the theory its ms per token were off (they add up)."""
    first, *others = TERMS
    head = ("stack", "ms per token off by", f"of that {first}", *others)
    called, body = stack_cells(row.stack for row in found.rows), []
    for row in found.rows:
        terms = (_signed(-getattr(row.attribution, term) / row.ms.measured) for term in TERMS)
        body.append((called[row.stack], _signed(row.ms.error), *terms))
    return markdown(head, body)


def levels_table(found: Report) -> str:
    """A row a level of a stack: calls per token and ms per call, as predicted and as they were."""
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
    """What was predicted by what, before what was run, on what, when and by which command."""
    about, profile = validation.about, validation.profile.about
    machines = dict.fromkeys(on(sitting.began) for sitting in validation.sittings)
    first, others = validation.sittings[0].began, "other " if "each" in about else ""
    return (
        f"The prediction is *{SAID[about['model']]}*, named {about['recorded']} with the profile "
        f"`{about['profile_digest']}` (calibrated on {profile.get('machine')}, {profile.get('recorded')}, "
        f"{costs_said(validation.profile)}), before the first run; {first['prompts']} {others}prompts of "
        f"`{about['prompts']}` a sitting, up to {about['max_new_tokens']} tokens each. "
        f"{counted(len(validation.sittings), 'sitting')}, all that there were, from {first['began']} to "
        f"{validation.sittings[-1].began['began']}. Measured on {'; '.join(machines)} by `{first['command']}`."
    )


def _name(part: ErrorPart) -> str:
    return f"all {part.began}" if part.number is None else f"{part.number}, {part.began}"


def _sizes(errors: Errors) -> str:
    low, high = errors.interval
    return f"{errors.median:.1%} ({low:.1%} to {high:.1%}) | {errors.worst:.1%}"


def _figure(figure: Figure, digits: int) -> str:
    measured = with_interval(figure.measured, figure.interval, digits)
    each = ", ".join(f"{x:.{digits}f}" for x in figure.by_sitting)
    return f"{figure.predicted:.{digits}f} | {measured} | {each} | {_signed(figure.error)}"


def _signed(share: float) -> str:
    return f"{100.0 * share:+.1f} %"
