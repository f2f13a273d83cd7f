"""Where one drafter pays: speed-up of two-level stacks over acceptance and cost ratio, a profile's levels as dots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from app.kit.figures.hues import mix
from app.tabs.planner import words as says
from app.tabs.planner.figures.ink import Ink, brief, called, percent, safe
from hsd_core.theory.latency.plans import StackPlan
from hsd_core.theory.profiles.costs import Array
from hsd_core.theory.profiles.profile import Profile
from hsd_core.theory.search.planner import Planner

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "pentagon", "hexagon", "star")
COSTS = (-3.15, 0.2)  # of the axis, in powers of ten
RATIOS = np.logspace(-3, 0.2, 41)  # cost of a drafted token / cost of a pass of the target
ALIKE = np.linspace(0.0, 0.99, 45)


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
    ranked = [planner.ranked(StackPlan((index, top), (block,))) for block in range(1, profile.max_block + 1)]
    best = max(ranked, key=lambda one: one.prediction.speedup)
    hit = 1.0 if level.hit_rate is None else level.hit_rate
    each = level.cost(1) if level.is_lookup or level.draft_ms is None else level.draft_ms
    return {
        "name": called(profile)[index],
        "acceptance": hit * profile.accepts(index, top),
        "ratio": each / profile.levels[top].cost(1),
        "block": best.plan.blocks[0],
        "speedup": best.prediction.speedup,
    }


def surface(planner: Planner, ink: Ink, height: int = 420) -> dict[str, Any]:
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
            "contours": {
                "coloring": "heatmap",
                "start": 1.0,
                "end": high,
                "size": 0.5 if high <= 5 else 1.0,
                "showlabels": True,
                "labelfont": {"size": ink.px(12), "color": ink.text},
            },
            "line": {"width": 0.8, "color": ink.muted},
            "colorbar": {"title": {"text": says.SPEED_UP, "side": "right"}, "thickness": 10, "outlinewidth": 0},
            "showscale": not ink.narrow,
            "hovertemplate": says.SURFACE_HOVER,
        },
        {
            "type": "contour",
            "x": _short(ALIKE),
            "y": _short(RATIOS),
            "z": [_short(row) for row in speed],
            "contours": {"type": "constraint", "operation": "=", "value": 1.0},
            "showscale": False,
            "line": {"width": 2.5, "color": ink.hue("reject"), "dash": "dash"},
            "hoverinfo": "skip",
        },
    ]
    if dots:
        data.append(_dots(profile, dots, ink, height))
    layout = ink.layout(
        height,
        xaxis={"title": {"text": says.ACCEPTANCE_AXIS}, "tickformat": ".0%", "range": [0, 1]},
        yaxis={
            "title": {"text": says.COST_AXIS},
            "type": "log",
            "range": list(COSTS),
            "tickvals": [0.001, 0.01, 0.1, 1],
            "ticktext": ["0.001", "0.01", "0.1", "1"],
        },
    )
    rows = [
        [d["name"], percent(d["acceptance"], 1), f"{d['ratio']:.3g}", d["block"], f"{d['speedup']:.2f}×"] for d in dots
    ]
    return {
        "title": says.SURFACE,
        "text": says.surface_text(profile.max_block),
        "figure": {"data": data, "layout": layout},
        "table": {
            "columns": says.SURFACE_COLUMNS,
            "rows": rows,
        },
    }


def _dots(profile: Profile, dots: Sequence[dict[str, Any]], ink: Ink, height: int) -> dict[str, Any]:
    shares = [(d["acceptance"], max(float(RATIOS[0]), d["ratio"])) for d in dots]
    wide, high = ink.width - (145 if ink.narrow else 240), ink.px(height) - 60  # less the axes and the scale
    spots = [(x * wide, (COSTS[1] - math.log10(y)) / (COSTS[1] - COSTS[0]) * high) for x, y in shares]
    names = [brief(safe(d["name"]), 24) if ink.narrow else safe(d["name"]) for d in dots]
    size = 11 if ink.narrow else ink.px(13)
    return {
        "type": "scatter",
        "x": [x for x, _ in shares],
        "y": [y for _, y in shares],
        "mode": "markers+text",
        "text": [f" {name} " for name in names],
        "textposition": label_places(spots, names, size=size, dot=ink.px(13), plot=(wide, high)),
        "textfont": {"size": size, "color": ink.text},
        "cliponaxis": False,
        "marker": {
            "size": ink.px(13),
            "color": [ink.level(profile, i) for i in range(len(dots))],
            "symbol": [SYMBOLS[i % len(SYMBOLS)] for i in range(len(dots))],
            "line": {"width": 2, "color": ink.text},
        },
        "customdata": [[d["block"], d["speedup"], d["ratio"]] for d in dots],
        "hovertemplate": says.DOT_HOVER,
    }


def _short(values: Array) -> list[float]:
    return [float(f"{value:.4g}") for value in values]


# ---- Where the names of dots stand in a plot: beside their dots, where no name covers another name or a dot


# Plotly's names of the places, in the order in which they are tried: a name is read best beside its dot.
_PLACES = [(row, side) for row in ("middle", "top", "bottom") for side in ("right", "left", "center")]
PLACES = tuple(" ".join(place) for place in _PLACES if place != ("middle", "center"))
_WIDE, _HIGH = 0.6, 1.3  # of a letter and of a line, in sizes of type
_Box = tuple[float, float, float, float]  # left, top, right, bottom


def label_places(
    dots: Sequence[tuple[float, float]], names: Sequence[str], *, size: float, dot: float, plot: tuple[float, float]
) -> list[str]:
    """The place of each name, one of `PLACES`.

    Args:
        dots: in px of the plot, from its top left corner.
        names: of the dots.
        size: of the type, in px. dot: of a dot, in px.
        plot: its width and height, in px, which no name leaves if it can.
    """
    taken = [_around(x, y, dot, dot) for x, y in dots]
    chosen = []
    for (x, y), name in zip(dots, names, strict=True):
        wide, high = _WIDE * size * (len(name) + 1), _HIGH * size
        boxes = {place: _placed(place, x, y, wide, high, dot) for place in PLACES}
        own = _around(x, y, dot, dot)
        others = [box for box in taken if box != own]
        best = min(PLACES, key=lambda place: (_cost(boxes[place], others, plot), PLACES.index(place)))
        taken.append(boxes[best])
        chosen.append(best)
    return chosen


def _placed(place: str, x: float, y: float, wide: float, high: float, dot: float) -> _Box:
    row, column = place.split()
    away = 0.5 * (dot + wide) if row == "middle" else 0.5 * wide
    x += {"left": -away, "center": 0.0, "right": away}[column]
    y += {"top": -1.0, "middle": 0.0, "bottom": 1.0}[row] * 0.5 * (dot + high)
    return _around(x, y, wide, high)


def _around(x: float, y: float, wide: float, high: float) -> _Box:
    return x - wide / 2, y - high / 2, x + wide / 2, y + high / 2


def _cost(box: _Box, others: Sequence[_Box], plot: tuple[float, float]) -> float:
    """The px² that a name would share with others, or have outside the plot."""
    inside = _shared(box, (0.0, 0.0, *plot))
    return sum(_shared(box, other) for other in others) + (box[2] - box[0]) * (box[3] - box[1]) - inside


def _shared(a: _Box, b: _Box) -> float:
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
