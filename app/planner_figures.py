"""The Planner's figures as plotly's data and layout, plain JSON types: built here, drawn in the browser.

A figure is `{"title", "text", "figure": {"data", "layout"} or None, "table": {"columns", "rows"}}`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.figures import HUES, INK, LINE, MUTED, PAPER, SHADES, SOFT, mix
from app.planner_turn import kind_of
from hsd_core.theory.costs import Array
from hsd_core.theory.planner import Planner
from hsd_core.theory.plans import Plan
from hsd_core.theory.profile import Profile

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "pentagon", "hexagon", "star")
RATIOS = np.logspace(-3, 0.2, 41)  # cost of a drafted token / cost of a pass of the target
ALIKE = np.linspace(0.0, 0.99, 45)


@dataclass(frozen=True, slots=True)
class Ink:
    """The page that a figure is drawn for."""

    dark: bool
    narrow: bool = False

    @property
    def text(self) -> str:
        return INK[self.dark]

    @property
    def muted(self) -> str:
        return MUTED[self.dark]

    @property
    def paper(self) -> str:
        return PAPER[self.dark]

    @property
    def soft(self) -> str:
        return SOFT[self.dark]

    def hue(self, kind: str) -> str:
        return HUES.get(kind, HUES["model"])[self.dark]

    def level(self, profile: Profile, index: int) -> str:
        """The hue of a level, its kind's shades in order, as the page's own tables have them."""
        kind = kind_of(profile, index)
        same = [i for i in range(len(profile.levels)) if HUES.get(kind_of(profile, i)) == HUES.get(kind)]
        share, towards = SHADES[same.index(index) % len(SHADES)]
        return mix(self.hue(kind), self.text if towards == "ink" else self.paper, share)

    def layout(self, height: int, **more: Any) -> dict[str, Any]:
        """What all figures share."""
        axis = {"gridcolor": LINE[self.dark], "linecolor": LINE[self.dark], "zeroline": False, "automargin": True}
        return {
            "height": height,
            "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"color": self.text, "size": 12, "family": "system-ui, sans-serif"},
            "hoverlabel": {"bgcolor": INK[not self.dark], "font": {"color": self.text}, "bordercolor": self.muted},
            "showlegend": False,
            "dragmode": False,
            **more,
            "xaxis": {**axis, "fixedrange": True, **more.get("xaxis", {})},
            "yaxis": {**axis, "fixedrange": True, **more.get("yaxis", {})},
        }


def safe(text: str) -> str:
    """Plotly reads a small HTML in its labels, and a profile may come from anyone."""
    return text.replace("<", "‹").replace(">", "›").replace("&", "＆")


def two_levels(profile: Profile) -> Array:
    """(ratio, acceptance): speed-up of one drafter under this target at its best block length.

    Leviathan et al. 2023, eq. for the walltime improvement, with the target's measured cost of n rows and this
    profile's time per round; the best of all block lengths up to max_block.
    """
    target = profile.levels[-1].cost
    blocks = np.arange(1, profile.max_block + 1)
    rows = target.table(profile.max_block + 1)[blocks + 1]  # (T,)
    drafting = RATIOS[:, None] * blocks[None, :] * target(1)  # (ratio, T)
    latency = drafting + rows[None, :] + profile.round_ms
    yields = np.cumsum(ALIKE[:, None] ** np.arange(profile.max_block + 1), axis=1)[:, 1:]  # (acceptance, T)
    speed = profile.plain_ms * yields[None, :, :] / latency[:, None, :]
    return np.asarray(speed.max(axis=2), dtype=np.float64)


def alone(planner: Planner, index: int) -> dict[str, Any]:
    """One level as the only drafter: where its dot stands, and what the exact recursion says of it there."""
    profile = planner.profile
    level, top = profile.levels[index], profile.target
    ranked = [planner.ranked(Plan((index, top), (block,))) for block in range(1, profile.max_block + 1)]
    best = max(ranked, key=lambda one: one.prediction.speedup)
    hit = 1.0 if level.hit_rate is None else level.hit_rate
    each = level.cost(1) if level.is_lookup or level.draft_ms is None else level.draft_ms
    return {
        "name": level.name,
        "acceptance": hit * profile.accepts(index, top),
        "ratio": each / profile.levels[top].cost(1),
        "block": best.plan.blocks[0],
        "speedup": best.prediction.speedup,
    }


def surface(planner: Planner, ink: Ink) -> dict[str, Any]:
    """Speed-up of two-level stacks over acceptance and cost ratio, this profile's levels as dots."""
    profile = planner.profile
    speed = two_levels(profile)
    high = float(np.ceil(speed.max()))
    low = min(0.5, float(speed.min()))
    one = (1.0 - low) / (high - low)
    blue = ink.hue("target")
    dots = [alone(planner, i) for i in range(profile.target)]
    data: list[dict[str, Any]] = [
        {
            "type": "contour",
            "x": _short(ALIKE),
            "y": _short(RATIOS),
            "z": [_short(row) for row in speed],
            "zmin": low,
            "zmax": high,
            "colorscale": [
                [0.0, mix(ink.hue("reject"), ink.paper, 0.55)],
                [one, ink.soft],
                [one + (1 - one) * 0.35, mix(blue, ink.paper, 0.45)],
                [1.0, blue],
            ],
            "contours": {"start": 0.5, "end": high, "size": 0.5, "showlabels": True,
                         "labelfont": {"size": 11, "color": ink.text}},
            "line": {"width": 0.8, "color": ink.muted},
            "colorbar": {"title": {"text": "speed-up", "side": "right"}, "thickness": 10, "outlinewidth": 0},
            "showscale": not ink.narrow,
            "hovertemplate": "acceptance %{x:.2f}, a drafted token for %{y:.3g} of a pass:<br>"
            "%{z:.2f} times plain decoding<extra></extra>",
        },
        {
            "type": "contour", "x": _short(ALIKE), "y": _short(RATIOS), "z": [_short(row) for row in speed],
            "contours": {"type": "constraint", "operation": "=", "value": 1.0}, "showscale": False,
            "line": {"width": 2.5, "color": ink.hue("reject"), "dash": "dash"}, "hoverinfo": "skip",
        },
    ]  # fmt: skip
    if dots:
        data.append(_dots(profile, dots, ink))
    layout = ink.layout(
        420,
        xaxis={"title": {"text": "acceptance by the target"}, "tickformat": ".0%", "range": [0, 1]},
        yaxis={
            "title": {"text": "cost of a drafted token / cost of a pass"}, "type": "log", "range": [-3.15, 0.2],
            "tickvals": [0.001, 0.01, 0.1, 1], "ticktext": ["0.001", "0.01", "0.1", "1"],
        },
    )  # fmt: skip
    rows = [
        [d["name"], f"{d['acceptance']:.1%}", f"{d['ratio']:.3g}", d["block"], f"{d['speedup']:.2f}×"] for d in dots
    ]
    return {
        "title": "Where one drafter pays",
        "text": "Speed-up of one drafter under this target, at its best block length up to "
        f"{profile.max_block}. Left of the dashed line it is slower than plain decoding. Dots: the levels of this "
        "profile, alone under the target (of a lookup, a miss counts as a token that is not accepted).",
        "figure": {"data": data, "layout": layout},
        "table": {
            "columns": ["drafter", "acceptance", "cost ratio", "best block", "speed-up, exact recursion"],
            "rows": rows,
        },
    }


def _dots(profile: Profile, dots: Sequence[dict[str, Any]], ink: Ink) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": [d["acceptance"] for d in dots],
        "y": [max(RATIOS[0], d["ratio"]) for d in dots],
        "mode": "markers+text",
        "text": [safe(d["name"]) for d in dots],
        "textposition": ["middle left" if d["acceptance"] > 0.7 else "middle right" for d in dots],
        "textfont": {"size": 13, "color": ink.text},
        "cliponaxis": False,
        "marker": {
            "size": 13,
            "color": [ink.level(profile, i) for i in range(len(dots))],
            "symbol": [SYMBOLS[i % len(SYMBOLS)] for i in range(len(dots))],
            "line": {"width": 2, "color": ink.text},
        },
        "customdata": [[d["block"], d["speedup"], d["ratio"]] for d in dots],
        "hovertemplate": "<b>%{text}</b> alone under the target: %{customdata[1]:.2f} times plain decoding<br>"
        "acceptance %{x:.1%}, cost ratio %{customdata[2]:.3g}, best block %{customdata[0]}<extra></extra>",
    }


def validation_figure(stacks: Sequence[dict[str, Any]], ink: Ink) -> dict[str, Any]:
    """The predicted line over the measured dots, slowest stack on top."""
    title = "Predicted and measured"
    if not stacks:
        return {
            "title": title,
            "text": "No stack of this profile has been run against its prediction here. "
            "`python -m hsd_core validate` runs some on held-out prompts and writes what they took.",
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
            "marker": {"symbol": "line-ns-open", "size": 9}, "customdata": [f"{x:+.1%}" for x in off],
            "hovertemplate": "%{y}<br>predicted %{x:.1f} ms per token (%{customdata})<extra></extra>",
        },
        {
            "type": "scatter", "name": "measured", "mode": "markers", "y": names, "x": measured,
            "marker": {"size": 10, "color": ink.hue("ngram"), "line": {"width": 1.5, "color": ink.text}},
            "error_x": {
                "type": "data", "symmetric": False, "thickness": 1.5, "width": 4, "color": ink.muted,
                "array": [b - m for (_, b), m in zip(ends, measured, strict=True)],
                "arrayminus": [m - a for (a, _), m in zip(ends, measured, strict=True)],
            },
            "hovertemplate": "%{y}<br>measured %{x:.1f} ms per token<extra></extra>",
        },
    ]  # fmt: skip
    layout = ink.layout(
        max(300, 60 + 24 * len(ranked)),
        showlegend=True,
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        xaxis={"title": {"text": "ms per token"}, "rangemode": "tozero"},
        yaxis={"type": "category", "tickfont": {"family": "ui-monospace, monospace", "size": 10 if ink.narrow else 11}},
        margin={"l": 8, "r": 8, "t": 32, "b": 8},
    )
    size = sorted(abs(x) for x in off)
    median = (size[(len(size) - 1) // 2] + size[len(size) // 2]) / 2
    quickest = min(ranked, key=lambda row: row["measured_ms"])
    picked = ranked[-1]
    cost = picked["measured_ms"] / quickest["measured_ms"] - 1
    said = (
        "the one predicted quickest is also the one measured quickest"
        if cost == 0
        else f"the one predicted quickest took {cost:.1%} more than the one measured quickest"
    )
    rows = [
        [row["stack"], f"{row['predicted_ms']:.1f}", f"{row['measured_ms']:.1f}",
         f"{e[0]:.1f} to {e[1]:.1f}" if row["interval"] else "", f"{x:+.1%}"]
        for row, x, e in zip(ranked, off, ends, strict=True)
    ]  # fmt: skip
    return {
        "title": title,
        "text": f"{len(ranked)} stacks on held-out prompts. The prediction is off by {median:.1%} in the median and "
        f"{size[-1]:.1%} at most; {said}.",
        "figure": {"data": data, "layout": layout},
        "table": {"columns": ["stack", "predicted, ms", "measured, ms", "interval, ms", "off by"], "rows": rows},
    }


def _short(values: Array) -> list[float]:
    return [float(f"{value:.4g}") for value in values]
