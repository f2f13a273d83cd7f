"""A validation as Markdown tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hsd_core.validation.models import SAID
from hsd_core.validation.report import TERMS, Row


def stacks_table(found: Sequence[Row]) -> str:
    """A row a stack: predicted, measured, and the terms of the theory in which the difference lies (they add up)."""
    lines = [
        "| stack | predicted | measured ms per token (95 % interval) | off by | "
        + " | ".join(TERMS)
        + " | equal |",
        "|---|---|---|---|" + "---|" * len(TERMS) + "---|",
    ]  # fmt: skip
    for row in found:
        low, high = row.interval
        terms = " | ".join(_signed(-getattr(row.blame, term) / row.measured_ms) for term in TERMS)
        mark = " (planner)" if row.picked_by else ""
        equal = "-" if row.equal is None else f"{row.equal}/{row.prompts}"
        lines.append(
            f"| `{row.stack}`{mark} | {row.predicted_ms:.1f} | {row.measured_ms:.1f} ({low:.1f} to {high:.1f}) "
            f"| {_signed(row.error())} | {terms} | {equal} |"
        )
    return "\n".join(lines)


def models_table(summed: Mapping[str, Any]) -> str:
    """A row a model: what each thing that is known more takes off the error.

    Measured against plain decoding in the same runs, a machine that was slower or quicker at calibration cancels out.
    """
    lines = [
        "| model of the theory | median error | worst | mean, signed | of speed-ups: median | worst | mean, signed |",
        "|---|---|---|---|---|---|---|",
    ]
    for model, said in SAID.items():
        speed_up = _errors(summed["speed_ups"][model]) if summed["speed_ups"] else "- | - | -"
        lines.append(f"| {said} | {_errors(summed['models'][model])} | {speed_up} |")
    return "\n".join(lines)


def levels_table(found: Sequence[Row]) -> str:
    """A row a level of a stack: calls per token and ms per call, as predicted and as they were."""
    lines = [
        "| stack | level | calls per token, predicted | measured | rows per call | of them catching up "
        "| accepted | ms per call, predicted | at the measured rows | measured |",
        "|---" * 10 + "|",
    ]
    for row in found:
        for at, level in enumerate(row.blame.levels):
            accepted = "-" if level.accepted is None else f"{level.accepted:.3f}"
            lines.append(
                f"| {f'`{row.stack}`' if at == 0 else ''} | {level.level} | {level.calls_predicted:.3f} "
                f"| {level.calls:.3f} | {level.rows:.2f} | {level.catch_up:.2f} | {accepted} "
                f"| {level.ms_predicted:.2f} | {level.priced_ms:.2f} | {level.ms:.2f} |"
            )
    return "\n".join(lines)


def verdict_lines(summed: Mapping[str, Any]) -> list[str]:
    """The planner's picks against the best measured stack, and the largest term."""
    best = summed["best"]
    lines = [f"best measured: `{best['stack']}`, {best['measured_ms']:.1f} ms per token"]
    for asked, pick in summed["picks"].items():
        low, high = pick["interval"]
        lines.append(
            f"planner, {asked}: `{pick['stack']}`, {pick['measured_ms']:.1f} ms per token, "
            f"{_signed(pick['over_best'])} against the best ({_signed(low)} to {_signed(high)})"
        )
    term = max(TERMS, key=lambda name: float(summed["blame"][name]["median"]))
    lines.append(
        f"the largest error lies in: {term} (median {summed['blame'][term]['median']:.1%} of the measured time)"
    )
    return lines


def _errors(errors: Mapping[str, float]) -> str:
    return f"{errors['median']:.1%} | {errors['worst']:.1%} | {_signed(errors['mean'])}"


def _signed(share: float) -> str:
    return f"{100.0 * share:+.1f} %"
