"""Predicted and measured ms per token of stacks that were run on prompts nothing was tuned on, on one picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.planner.ink import Ink, percent, safe

LEAST_HEIGHT = 420


def height(stacks: int) -> int:
    """Of the figure, so that each stack has its line."""
    return max(LEAST_HEIGHT, 60 + 24 * stacks)


def validation_figure(measured: Mapping[str, Any], ink: Ink) -> dict[str, Any]:
    """The predicted line over the measured dots, slowest stack on top; `measured`: see `Sources.validation`."""
    title, stacks = "Predicted and measured", measured.get("stacks") or ()
    if not stacks:
        return {
            "title": title,
            "text": "No stack of this profile has been run against its prediction here. "
            "The command python -m hsd_core validate runs some on prompts of other kinds and writes what they took.",
            "figure": None,
            "table": {"columns": [], "rows": []},
        }
    ranked = sorted(stacks, key=lambda row: -row["predicted_ms"])
    off = [row["predicted_ms"] / row["measured_ms"] - 1 for row in ranked]
    names = [safe(row["stack"]) for row in ranked]
    ends = [row["interval"] or [row["measured_ms"]] * 2 for row in ranked]
    took = [row["measured_ms"] for row in ranked]
    data = [
        {
            "type": "scatter",
            "name": "predicted",
            "mode": "lines+markers",
            "y": names,
            "x": [row["predicted_ms"] for row in ranked],
            "line": {"width": 2.5, "color": ink.hue("target")},
            "marker": {"symbol": "line-ns-open", "size": 9},
            "customdata": [f"{100 * x:+.1f} %" for x in off],
            "hovertemplate": "%{y}<br>predicted %{x:.1f} ms per token (%{customdata})<extra></extra>",
        },
        {
            "type": "scatter",
            "name": "measured",
            "mode": "markers",
            "y": names,
            "x": took,
            "marker": {
                "size": [ink.px(14) if row.get("picked") else ink.px(10) for row in ranked],
                "symbol": ["star" if row.get("picked") else "circle" for row in ranked],
                "color": ink.hue("ngram"),
                "line": {"width": 1.5, "color": ink.text},
            },
            "error_x": {
                "type": "data",
                "symmetric": False,
                "thickness": 1.5,
                "width": 4,
                "color": ink.muted,
                "array": [b - m for (_, b), m in zip(ends, took, strict=True)],
                "arrayminus": [m - a for (a, _), m in zip(ends, took, strict=True)],
            },
            "customdata": [", the planner's pick" if row.get("picked") else "" for row in ranked],
            "hovertemplate": "%{y}<br>measured %{x:.1f} ms per token%{customdata}<extra></extra>",
        },
    ]
    names_px = 10 if ink.narrow else ink.px(12)
    layout = ink.layout(
        height(len(ranked)),
        showlegend=True,
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        xaxis={"title": {"text": "ms per token"}, "rangemode": "tozero"},
        yaxis={
            "type": "category",
            "tickfont": {"family": "ui-monospace, monospace", "size": names_px},
        },
        margin={"l": 8, "r": 8, "t": 32, "b": 8},
    )
    quickest = min(ranked, key=lambda row: row["measured_ms"])
    chosen = next((row for row in ranked if row.get("picked")), None)
    picked = chosen or ranked[-1]
    who = f"the planner's pick, {picked['stack']} (the star)," if chosen else "the one predicted quickest"
    cost = picked["measured_ms"] / quickest["measured_ms"] - 1
    said = (
        f"{who} is also the one measured quickest"
        if cost == 0
        else f"{who} took {percent(cost, 1)} more than the one measured quickest"
    )
    rows = [
        [
            row["stack"],
            f"{row['predicted_ms']:.1f}",
            f"{row['measured_ms']:.1f}",
            f"{e[0]:.1f} to {e[1]:.1f}" if row["interval"] else "",
            f"{100 * x:+.1f} %",
            _times(row["predicted_speed_up"]),
            _times(row["speed_up"]),
        ]
        for row, x, e in zip(ranked, off, ends, strict=True)
    ]
    columns = ["stack", "predicted, ms", "measured, ms", "interval, ms", "off by", "speed-up predicted", "measured"]
    return {
        "title": title,
        "text": f"{len(ranked)} stacks on prompts that nothing was tuned on. {sittings_said(measured)}{said[0].upper()}"
        f"{said[1:]}.",
        "figure": {"data": data, "layout": layout},
        "table": {"columns": columns, "rows": rows},
    }


def sittings_said(measured: Mapping[str, Any]) -> str:
    """How far the prediction was off, over all sittings and in each of them."""
    parts: Sequence[Mapping[str, Any]] = measured.get("sittings") or ()
    if not parts:
        return ""
    each = [part for part in parts if part["number"] is not None]
    whole = next((part for part in parts if part["number"] is None), parts[0])
    when = f" Predictions ({measured['model']}) were fixed {measured['named']}, before the first run." if each else ""
    said = "; ".join(
        f"{part['began']}: speed-ups {percent(part['speed_ups'], 1)}, milliseconds {percent(part['ms'], 1)}, plain "
        f"decoding at {percent(part['pace'], 0)} of its calibrated time"
        for part in each
    )
    sittings = "One sitting" if len(each) == 1 else f"{len(each)} sittings, all that there were"
    return (
        f"{sittings}: speed-ups were off by {percent(whole['speed_ups'], 1)} in the median and "
        f"{percent(whole['worst_speed_ups'], 1)} at most, milliseconds by {percent(whole['ms'], 1)} and "
        f"{percent(whole['worst_ms'], 1)}.{when} By sitting: {said}. {_before(measured)}"
    )


def _before(measured: Mapping[str, Any]) -> str:
    """What earlier predictions came to."""
    return "".join(
        f"Before that, {part['began']} of another prediction ({part['model']}), fixed {part['named']}: speed-ups off "
        f"by {percent(part['speed_ups'], 1)}, milliseconds by {percent(part['ms'], 1)}. "
        for part in measured.get("earlier") or ()
    )


def _times(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
