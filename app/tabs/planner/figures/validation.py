"""Predicted and measured ms per token of stacks that were run on prompts nothing was tuned on, on one picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.tabs.planner import words as says
from app.tabs.planner.figures.ink import Ink, percent, safe, wrapped
from hsd_core.grammar.stack_names import stack_names

LEAST_HEIGHT = 420
LINE, NARROW_LINE = 60, 24  # characters of a label


def height(stacks: int, lines: int = 2) -> int:
    """Of the figure, so that each stack has room for so many lines."""
    return max(LEAST_HEIGHT, 60 + 16 * lines * stacks)


def validation_figure(measured: Mapping[str, Any], ink: Ink) -> dict[str, Any]:
    """The predicted line over the measured dots, slowest stack on top; `measured`: see `validations.nearest`."""
    title, stacks = says.VALIDATION, measured.get("stacks") or ()
    if not stacks:
        return {
            "title": title,
            "text": says.NOT_VALIDATED,
            "figure": None,
            "table": {"columns": [], "rows": []},
        }
    ranked = sorted(stacks, key=lambda row: -row["predicted_ms"])
    off = [row["predicted_ms"] / row["measured_ms"] - 1 for row in ranked]
    codes = [safe(row["stack"]) for row in ranked]
    names = {safe(code): name for code, name in stack_names(row["stack"] for row in ranked).items()}
    told = [f"{wrapped(safe(names[code]), LINE)}<br>{code}" for code in codes]
    ends = [row["interval"] or [row["measured_ms"]] * 2 for row in ranked]
    took = [row["measured_ms"] for row in ranked]
    data = [
        {
            "type": "scatter",
            "name": says.PREDICTED,
            "mode": "lines+markers",
            "y": codes,
            "x": [row["predicted_ms"] for row in ranked],
            "line": {"width": 2.5, "color": ink.hue("target")},
            "marker": {"symbol": "line-ns-open", "size": 9},
            "customdata": [[name, f"{100 * x:+.1f} %"] for name, x in zip(told, off, strict=True)],
            "hovertemplate": says.PREDICTED_HOVER,
        },
        {
            "type": "scatter",
            "name": says.MEASURED,
            "mode": "markers",
            "y": codes,
            "x": took,
            "marker": {
                "size": [ink.px(14) if row.get("picked") else ink.px(10) for row in ranked],
                "symbol": ["star" if row.get("picked") else "circle" for row in ranked],
                "color": ink.mark,
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
            "customdata": [
                [name, says.PICK_HOVER if row.get("picked") else ""] for name, row in zip(told, ranked, strict=True)
            ],
            "hovertemplate": says.MEASURED_HOVER,
        },
    ]
    names_px = 10 if ink.narrow else ink.px(12)
    labels = [wrapped(safe(names[code]), NARROW_LINE if ink.narrow else LINE) for code in codes]
    layout = ink.layout(
        height(len(ranked), max(2, *(1 + label.count("<br>") for label in labels))),
        showlegend=True,
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        xaxis={"title": {"text": says.PER_TOKEN_AXIS}, "rangemode": "tozero"},
        yaxis={
            "type": "category",
            "tickvals": codes,
            "ticktext": labels,
            "tickfont": {"size": names_px},
        },
        margin={"l": 8, "r": 8, "t": 32, "b": 8},
    )
    quickest = min(ranked, key=lambda row: row["measured_ms"])
    chosen = next((row for row in ranked if row.get("picked")), None)
    picked = chosen or ranked[-1]
    who = says.picked(names[safe(picked["stack"])]) if chosen else says.PREDICTED_QUICKEST
    cost = picked["measured_ms"] / quickest["measured_ms"] - 1
    said = says.is_quickest(who) if cost == 0 else says.was_slower(who, percent(cost, 1))
    rows = [
        [
            names[safe(row["stack"])],
            row["stack"],
            f"{row['predicted_ms']:.1f}",
            f"{row['measured_ms']:.1f}",
            says.interval(e[0], e[1]) if row["interval"] else "",
            f"{100 * x:+.1f} %",
            _times(row["predicted_speed_up"]),
            _times(row["speed_up"]),
        ]
        for row, x, e in zip(ranked, off, ends, strict=True)
    ]
    columns = says.VALIDATION_COLUMNS
    return {
        "title": title,
        "text": says.validation_text(len(ranked), _where(measured), sittings_said(measured), said),
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
    when = says.fixed(measured["model"], measured["named"]) if each else ""
    said = "; ".join(
        says.sitting(part["began"], percent(part["speed_ups"], 1), percent(part["ms"], 1), percent(part["pace"], 0))
        for part in each
    )
    sittings = says.ONE_SITTING if len(each) == 1 else says.sittings(len(each))
    return says.off(
        sittings,
        percent(whole["speed_ups"], 1),
        percent(whole["worst_speed_ups"], 1),
        percent(whole["ms"], 1),
        percent(whole["worst_ms"], 1),
        when,
        said,
        _before(measured),
    )


def _where(measured: Mapping[str, Any]) -> str:
    """Whose times these are, as plainly as that they are measured."""
    machine, own = measured.get("machine"), measured.get("elsewhere")
    if not machine:
        return ""
    return says.measured_elsewhere(machine, own) if own else says.measured_on(machine)


def _before(measured: Mapping[str, Any]) -> str:
    """What earlier predictions came to."""
    return "".join(
        says.earlier(part["began"], part["model"], part["named"], percent(part["speed_ups"], 1), percent(part["ms"], 1))
        for part in measured.get("earlier") or ()
    )


def _times(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
