"""Predicted and measured ms per token of stacks that were run on held-out prompts, on one picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.planner.ink import Ink, percent, safe

LEAST_HEIGHT = 420


def height(stacks: int) -> int:
    """Of the figure, so that each stack has its line."""
    return max(LEAST_HEIGHT, 60 + 24 * stacks)


def validation_figure(stacks: Sequence[dict[str, Any]], ink: Ink) -> dict[str, Any]:
    """The predicted line over the measured dots, slowest stack on top."""
    title = "Predicted and measured"
    if not stacks:
        return {
            "title": title,
            "text": "No stack of this profile has been run against its prediction here. "
            "The command python -m hsd_core validate runs some on held-out prompts and writes what they took.",
            "figure": None,
            "table": {"columns": [], "rows": []},
        }
    ranked = sorted(stacks, key=lambda row: -row["predicted_ms"])
    off = [row["predicted_ms"] / row["measured_ms"] - 1 for row in ranked]
    names = [safe(row["stack"]) for row in ranked]
    ends = [row["interval"] or [row["measured_ms"]] * 2 for row in ranked]
    measured = [row["measured_ms"] for row in ranked]
    data = [
        {
            "type": "scatter", "name": "predicted", "mode": "lines+markers", "y": names,
            "x": [row["predicted_ms"] for row in ranked], "line": {"width": 2.5, "color": ink.hue("target")},
            "marker": {"symbol": "line-ns-open", "size": 9}, "customdata": [f"{100 * x:+.1f} %" for x in off],
            "hovertemplate": "%{y}<br>predicted %{x:.1f} ms per token (%{customdata})<extra></extra>",
        },
        {
            "type": "scatter", "name": "measured", "mode": "markers", "y": names, "x": measured,
            "marker": {
                "size": [ink.px(14) if row.get("picked") else ink.px(10) for row in ranked],
                "symbol": ["star" if row.get("picked") else "circle" for row in ranked],
                "color": ink.hue("ngram"), "line": {"width": 1.5, "color": ink.text},
            },
            "error_x": {
                "type": "data", "symmetric": False, "thickness": 1.5, "width": 4, "color": ink.muted,
                "array": [b - m for (_, b), m in zip(ends, measured, strict=True)],
                "arrayminus": [m - a for (a, _), m in zip(ends, measured, strict=True)],
            },
            "customdata": [", the planner's pick" if row.get("picked") else "" for row in ranked],
            "hovertemplate": "%{y}<br>measured %{x:.1f} ms per token%{customdata}<extra></extra>",
        },
    ]  # fmt: skip
    names_px = 10 if ink.narrow else ink.px(11)
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
    size = sorted(abs(x) for x in off)
    median = (size[(len(size) - 1) // 2] + size[len(size) // 2]) / 2
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
        [row["stack"], f"{row['predicted_ms']:.1f}", f"{row['measured_ms']:.1f}",
         f"{e[0]:.1f} to {e[1]:.1f}" if row["interval"] else "", f"{100 * x:+.1f} %"]
        for row, x, e in zip(ranked, off, ends, strict=True)
    ]  # fmt: skip
    return {
        "title": title,
        "text": f"{len(ranked)} stacks on held-out prompts. The prediction is off by {percent(median, 1)} in the "
        f"median and {percent(size[-1], 1)} at most; {said}.",
        "figure": {"data": data, "layout": layout},
        "table": {"columns": ["stack", "predicted, ms", "measured, ms", "interval, ms", "off by"], "rows": rows},
    }
