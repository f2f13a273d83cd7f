"""The shortest-path picture: columns are levels, rows block lengths, and a stack is a path from the target downwards.

A unit of demand that enters an edge becomes `gain` units of the block below, and each unit pays the edge's cost once
(a generalized shortest path). Cells are shaded by D(i, t) / t: the least ms that level i needs for each token of a
block of t. What the edges leave out, the overshoot of a block, is in the ranking: so the sum may differ a little.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from app.kit.figures.hues import mix
from app.tabs.planner import words as says
from app.tabs.planner.figures.ink import Ink, brief, called, safe, wrapped
from hsd_core.theory.latency.plans import Ranked, StackPlan
from hsd_core.theory.profiles.profile import Profile
from hsd_core.theory.search.planner import Edge, Planner, node_ms, path_edges

OTHERS = 4  # paths drawn beside the best one
NAME_LINE = 12  # characters of a level's name before it is broken


def graph_figure(planner: Planner, best: Ranked, others: Sequence[Ranked], ink: Ink) -> dict[str, Any]:
    """The graph with the best path lit; `paths` are its edges in words, each with its point in the plot."""
    profile = planner.profile
    title = says.GRAPH
    edges = path_edges(planner, best.plan)
    text = says.graph_text(min(OTHERS, len(others)))
    rows = [[_named(profile, e), f"{e.cost_ms:.3g}", f"{e.gain:.3g}", f"{e.token_ms:.3g}"] for e in edges]
    shown: dict[str, Any] = {
        "title": title,
        "text": text,
        "figure": None,
        "paths": [],
        "table": {"columns": says.GRAPH_COLUMNS, "rows": rows},
    }
    if profile.target == 0:
        return {**shown, "text": says.ONLY_TARGET}
    data = [_cells(planner, ink)]
    data += [_path(planner, one.plan, ink, lit=False) for one in others[:OTHERS]]
    data += [_path(planner, best.plan, ink, lit=True), _stations(planner, best.plan, ink)]
    data.append(_middles(planner, edges, ink))
    shown["paths"] = [
        {"id": str(i), "curve": len(data) - 1, "point": i, **_words(profile, edge, i)} for i, edge in enumerate(edges)
    ]
    shown_name = brief if ink.narrow else wrapped  # upright beside each other, or sideways
    names = [shown_name(safe(name), NAME_LINE * (1 + ink.narrow)) for name in called(profile)]
    each = profile.max_block <= 16 and not ink.narrow  # every block length has its number
    layout = ink.layout(
        440 if ink.narrow else min(480, max(320, 120 + 18 * profile.max_block)),
        xaxis={
            "tickvals": list(range(len(names))),
            "ticktext": names,
            "range": [-0.75, len(names) - 0.35],
            "showgrid": False,
            "tickfont": {"size": 11 if ink.narrow else ink.px(13)},
        },
        yaxis={
            "title": {"text": says.BLOCK_LENGTH},
            "range": [0.4, profile.max_block + 0.6],
            "showgrid": False,
            "dtick": 1 if each else 4,
            "tick0": 1 if each else 0,
        },
    )
    layout["annotations"] = _labels(best.plan, ink)
    shown["figure"] = {"data": data, "layout": layout}
    return shown


def _cells(planner: Planner, ink: Ink) -> dict[str, Any]:
    profile = planner.profile
    per_token = node_ms(planner) / np.arange(1, profile.max_block + 1)
    finite = per_token[np.isfinite(per_token)]
    low, high = float(np.log10(finite.min())), float(np.log10(finite.max()))
    ticks = [10.0**p for p in range(math.ceil(low), math.floor(high) + 1)] or [float(finite.min())]
    blue = ink.hue("target")
    return {
        "type": "heatmap",
        "x": list(range(profile.target)),
        "y": list(range(1, profile.max_block + 1)),
        "z": [[_number(math.log10(v)) if math.isfinite(v) else None for v in row] for row in per_token.T],
        "customdata": [[_number(v) for v in row] for row in per_token.T],
        "zmin": low,
        "zmax": max(high, low + 0.01),
        "xgap": 60 if not ink.narrow else 24,
        "ygap": 2,
        "colorscale": [[0, mix(blue, ink.paper, 0.06)], [1, mix(blue, ink.paper, 0.55)]],
        "showscale": not ink.narrow,
        "colorbar": {
            "title": {"text": says.PER_TOKEN, "side": "right"},
            "thickness": 10,
            "outlinewidth": 0,
            "tickvals": [math.log10(t) for t in ticks],
            "ticktext": [f"{t:g}" for t in ticks],
        },
        "hovertemplate": says.BLOCK_HOVER,
    }


def _line(plan: StackPlan) -> tuple[list[float], list[float]]:
    blocks = [*plan.blocks, 1]
    return [float(i) for i in reversed(plan.levels)], [float(t) for t in reversed(blocks)]


def _path(planner: Planner, plan: StackPlan, ink: Ink, *, lit: bool) -> dict[str, Any]:
    x, y = _line(plan)
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [*x, x[-1] - 0.55],
        "y": [*y, y[-1]],
        "hoverinfo": "skip",
        "line": {
            "width": 5 if lit else 1.5,
            "color": ink.mark if lit else ink.muted,
            "shape": "linear",
            "dash": "solid" if lit else "dot",
        },
        "opacity": 1.0 if lit else 0.6,
    }


def _stations(planner: Planner, plan: StackPlan, ink: Ink) -> dict[str, Any]:
    x, y = _line(plan)
    profile = planner.profile
    names = called(profile)
    levels = list(reversed(plan.levels))
    blocks = [None, *reversed(plan.blocks)]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": x,
        "y": y,
        "cliponaxis": False,
        "marker": {
            "size": ink.px(18),
            "color": [ink.level(profile, i) for i in levels],
            "line": {"width": 2.5, "color": ink.text},
        },
        "hovertemplate": [
            says.TARGET_HOVER if t is None else says.station(safe(names[i]), t)
            for i, t in zip(levels, blocks, strict=True)
        ],
    }


def _labels(plan: StackPlan, ink: Ink) -> list[dict[str, Any]]:
    """The block lengths of the best path, on a ground of their own: other paths run behind them."""
    x, y = _line(plan)
    said = [says.ONE_TOKEN, *(f"T = {t}" for t in reversed(plan.blocks))]
    labels: list[dict[str, Any]] = [
        {
            "x": at,
            "y": t,
            "text": text,
            "showarrow": False,
            "yshift": ink.px(22),
            "bgcolor": ink.paper,
            "opacity": 0.92,
            "borderpad": 1,
            "font": {"size": ink.px(13), "color": ink.text},
        }
        for at, t, text in zip(x, y, said, strict=True)
    ]
    if not ink.narrow:  # beside the target, where no path runs
        labels[0] |= {"xanchor": "left", "xshift": ink.px(12), "yshift": 0}
    return labels


def _middles(planner: Planner, edges: Sequence[Edge], ink: Ink) -> dict[str, Any]:
    """A mark on each edge of the best path, which the pointer and the list of edges can light. It stands between the
    column of the upper level and the next one: on a column that the edge passes by it would look like a stop there."""
    profile = planner.profile
    x, y = [], []
    for edge in edges:
        (i, t), tail = edge.above, edge.below
        j, u = tail or (i - 1.1, t)
        x.append(i - 0.5)
        y.append(t + (u - t) * 0.5 / (i - j))
    words = [_words(profile, edge, at) for at, edge in enumerate(edges)]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": x,
        "y": y,
        "cliponaxis": False,
        "marker": {"size": ink.px(13), "symbol": "triangle-left", "color": ink.mark},
        "customdata": [[str(i), safe(w["name"]), safe(w["cost"]), safe(w["gain"])] for i, w in enumerate(words)],
        "hovertemplate": "<b>%{customdata[1]}</b><br>%{customdata[2]}<br>%{customdata[3]}<extra></extra>",
    }


def _named(profile: Profile, edge: Edge) -> str:
    (i, t), tail, names = edge.above, edge.below, called(profile)
    head = names[i] if i == profile.target else says.block_of(names[i], t)
    if tail is None:
        return says.drafts(head) if i != profile.target else says.decodes(head)
    return f"{head} ← {says.block_of(names[tail[0]], tail[1])}"


def _words(profile: Profile, edge: Edge, at: int) -> dict[str, str]:
    unit = says.TOKEN if at == 0 else says.BLOCK
    gain = says.ENDS if edge.below is None else says.gain(edge.gain, called(profile)[edge.below[0]], unit)
    cost = says.cost(edge.cost_ms, unit)
    return {
        "name": _named(profile, edge),
        "cost": says.cost_share(cost, edge.token_ms) if at else cost,
        "gain": gain,
    }


def _number(value: float) -> float | None:
    return float(f"{value:.4g}") if math.isfinite(value) else None
