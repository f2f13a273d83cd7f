"""A validation as Markdown tables."""

from __future__ import annotations

from collections.abc import Callable

from hsd_core.measure.results.markdown import counted, on
from hsd_core.measure.validation.models import SAID
from hsd_core.measure.validation.report import TERMS, Errors, Figure, Part, Report, costs_said
from hsd_core.measure.validation.runs import Validation


def sittings_table(found: Report) -> str:
    """How far the prediction was off: a row a sitting, one of all of them, one of each stack's runs taken together."""
    lines = [
        "| sitting | prompts | plain decoding beside calibration | speed-ups off by, median (95 % interval) | worst "
        "| ms per token off by, median (95 % interval) | worst |",
        "|---|---|---|---|---|---|---|",
    ]
    for part in found.parts:
        lines.append(
            f"| {_name(part)} | {part.prompts} | {_signed(part.pace - 1.0)} | {_sizes(part.speed_ups)} "
            f"| {_sizes(part.ms)} |"
        )
    if len(found.parts) > 1:
        ms, speed_ups = found.pooled
        prompts = f"{found.parts[-1].prompts} a stack"
        lines.append(f"| the same, sittings of a stack as one | {prompts} | | {_sizes(speed_ups)} | {_sizes(ms)} |")
    return "\n".join(lines)


def stacks_table(found: Report) -> str:
    """A row a stack: predicted and measured speed-up and ms per token, over all sittings and in each."""
    lines = [
        "| stack | speed-up predicted | measured (95 % interval) | by sitting | off by "
        "| ms per token predicted | measured (95 % interval) | by sitting | off by | equal |",
        "|---" * 10 + "|",
    ]
    for row in found.rows:
        mark = " (planner)" if row.picked_by else ""
        equal = "-" if row.equal is None else f"{row.equal}/{row.runs}"
        speed_up = "1 | 1 | | " if row.speed_up is None else _figure(row.speed_up, 2)
        lines.append(f"| `{row.stack}`{mark} | {speed_up} | {_figure(row.ms, 1)} | {equal} |")
    return "\n".join(lines)


def models_table(found: Report) -> str:
    """A row a model, over all sittings: the one that was named before, and the others for comparison."""
    lines = [
        "| model of the theory | speed-ups off by, median (95 % interval) | worst "
        "| ms per token off by, median (95 % interval) | worst |",
        "|---|---|---|---|---|",
    ]
    for model, said in SAID.items():
        ms, speed_ups = found.models[model]
        name = f"**{said}** (the prediction)" if model == found.model else f"{said} (for comparison)"
        lines.append(f"| {name} | {_sizes(speed_ups)} | {_sizes(ms)} |")
    return "\n".join(lines)


def terms_table(found: Report) -> str:
    """A row a stack: in which terms of the theory its ms per token were off (they add up)."""
    lines = [
        "| stack | ms per token off by | of that " + " | ".join(TERMS) + " |",
        "|---|---|" + "---|" * len(TERMS),
    ]
    for row in found.rows:
        terms = " | ".join(_signed(-getattr(row.attribution, term) / row.ms.measured) for term in TERMS)
        lines.append(f"| `{row.stack}` | {_signed(row.ms.error)} | {terms} |")
    return "\n".join(lines)


def levels_table(found: Report) -> str:
    """A row a level of a stack: calls per token and ms per call, as predicted and as they were."""
    lines = [
        "| stack | level | calls per token, predicted | measured | rows per call | of them catching up "
        "| accepted | ms per call, predicted | at the measured rows | measured |",
        "|---" * 10 + "|",
    ]
    for row in found.rows:
        for at, level in enumerate(row.attribution.levels):
            accepted = "-" if level.accepted is None else f"{level.accepted:.3f}"
            lines.append(
                f"| {f'`{row.stack}`' if at == 0 else ''} | {level.level} | {level.calls_predicted:.3f} "
                f"| {level.calls:.3f} | {level.rows:.2f} | {level.catch_up:.2f} | {accepted} "
                f"| {level.ms_predicted:.2f} | {level.priced_ms:.2f} | {level.ms:.2f} |"
            )
    return "\n".join(lines)


TABLES: dict[str, Callable[[Report], str]] = {
    "sittings": sittings_table,
    "stacks": stacks_table,
    "models": models_table,
    "terms": terms_table,
    "levels": levels_table,
}


def said(validation: Validation) -> str:
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


def _name(part: Part) -> str:
    return f"all {part.began}" if part.number is None else f"{part.number}, {part.began}"


def _sizes(errors: Errors) -> str:
    low, high = errors.interval
    return f"{errors.median:.1%} ({low:.1%} to {high:.1%}) | {errors.worst:.1%}"


def _figure(figure: Figure, digits: int) -> str:
    low, high = figure.interval
    each = ", ".join(f"{x:.{digits}f}" for x in figure.by_sitting)
    return (
        f"{figure.predicted:.{digits}f} | {figure.measured:.{digits}f} ({low:.{digits}f} to {high:.{digits}f}) "
        f"| {each} | {_signed(figure.error)}"
    )


def _signed(share: float) -> str:
    return f"{100.0 * share:+.1f} %"
