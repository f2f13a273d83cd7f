"""The figures of a run that people study, drawn with plotly, each with its note and its table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import plotly.graph_objects as go

from app.kit.figures import depth_map
from app.kit.figures.hues import INK, LINE, MUTED, PAPER, SOFT, hue, shaded
from app.kit.figures.notes import note
from app.kit.figures.study import MS, Study, rate, study
from app.words import figures as says
from hsd_core.core.events import Event, LevelInfo
from hsd_core.grammar import drawn_as
from hsd_core.grammar.stack_names import stack_name
from hsd_core.trace.conventions import round_number

FIGURES = ("depths", "acceptance", "time", "tokens")  # in the order of the page; the first is wide
HEIGHT, TEXT = 320, 12  # px
WALL = 1.4  # times as large as at a desk: for a page that is thrown on a wall
MOST_EVENTS = 20_000  # of a run that are drawn; 512 tokens, the longest run of this page, make up to 8,000
MOST_PLANS = 12  # that are marked


class Drawn(NamedTuple):
    """A figure, and what its note says (`notes.note`)."""

    figure: go.Figure
    note: dict[str, Any]


def drawn(events: Sequence[Event], *, dark: bool, wall: bool = False) -> list[Drawn | None]:
    """The figures of `FIGURES`, for the light or the dark page, at a desk or on a wall, of the first `MOST_EVENTS`
    events; None where a run has none of it."""
    seen = study(events[:MOST_EVENTS])
    if not seen.levels:
        return [None] * len(FIGURES)
    said = says.CLOCKS.get(seen.clock, "")
    if len(events) > MOST_EVENTS:
        said += says.first_events(MOST_EVENTS, len(events))
    if seen.plans:
        said += says.auto(len(seen.plans) - 1, seen.origin)
    small = (
        Drawn(_style(figure, dark, wall), {**text, "text": f"{said}{text['text']}"})
        for figure, text in (_acceptance(seen, dark), _time(seen, dark), _tokens(seen, dark))
    )
    return [_depths(seen, dark, wall), *small]


def _depths(seen: Study, dark: bool, wall: bool) -> Drawn | None:
    if seen.knowledge is None:
        return None
    heat = depth_map.heat_map(seen.knowledge, paper=SOFT[dark], ink=INK[dark], hue=hue("target", dark))
    figure = _style(heat, dark, wall)
    figure.update_layout(**depth_map.size(seen.knowledge, WALL if wall else 1))
    figure.update_xaxes(automargin=False)
    figure.update_yaxes(automargin=False)
    text = note(
        says.DEPTHS,
        says.depths_text(depth_map.summary(seen.knowledge)),
        *depth_map.table(seen.knowledge),
    )
    return Drawn(figure, text)


def _acceptance(seen: Study, dark: bool) -> tuple[go.Figure, dict[str, Any]]:
    figure = go.Figure()
    rows = []
    for info in seen.levels:
        cells = [c for c in seen.positions if c.level == info.index]
        if not cells:
            continue
        figure.add_scatter(
            x=[c.position + 1 for c in cells],
            y=[c.accepted / c.judged for c in cells],
            mode="lines+markers",
            name=says.by(_name(info, seen)),
            line={"color": _hue(info, seen, dark), "width": 2},
            marker={"size": 8, "symbol": ("circle", "square", "diamond", "triangle-up")[info.index % 4]},
            customdata=[[c.accepted, c.judged] for c in cells],
            hovertemplate=says.ACCEPTANCE_HOVER,
        )
        rows += [
            [_name(info, seen), c.position + 1, c.judged, c.accepted, f"{c.accepted / c.judged:.0%}"] for c in cells
        ]
    figure.update_xaxes(title=says.BLOCK_POSITION, dtick=1 if len(rows) < 24 else None)
    figure.update_yaxes(title=says.ACCEPTED_JUDGED, tickformat=".0%", range=[0, 1.05])
    return figure, note(
        says.ACCEPTANCE,
        says.ACCEPTANCE_TEXT,
        says.ACCEPTANCE_COLUMNS,
        rows,
    )


def _time(seen: Study, dark: bool) -> tuple[go.Figure, dict[str, Any]]:
    figure = go.Figure()
    names = {info.index: _name(info, seen) for info in seen.levels}
    spent = [s for s in seen.spent if s.level in names]
    labels = [names[s.level] for s in spent] + [says.BETWEEN]
    colours = [_hue(info, seen, dark) for info in seen.levels] + [MUTED[dark]]
    parts = (
        (says.KEPT_TIME, [s.drafting + s.verifying for s in spent] + [seen.elsewhere], ""),
        (says.LOST_TIME, [s.lost for s in spent] + [0.0], "/"),
    )
    for name, values, pattern in parts:
        figure.add_bar(
            y=labels,
            x=values,
            name=name,
            orientation="h",
            marker={
                "color": hue("reject", dark) if pattern else colours,
                "pattern": {"shape": pattern, "solidity": 0.2, "fgcolor": PAPER[dark], "fillmode": "overlay"},
            },
            hovertemplate=says.time_hover(name),
        )
    figure.update_layout(barmode="stack")
    figure.update_xaxes(title=says.TIME_AXIS)
    rows = [[names[s.level], *(f"{v:.1f}" for v in (s.prefill, s.drafting, s.verifying, s.lost))] for s in spent]
    rows.append([says.BETWEEN, "", "", "", says.between_took(seen.elsewhere)])
    return figure, note(
        says.TIME,
        says.TIME_TEXT,
        says.TIME_COLUMNS,
        rows,
    )


def _tokens(seen: Study, dark: bool) -> tuple[go.Figure, dict[str, Any]]:
    figure = go.Figure()
    rows = []
    runs = [(says.THIS_STACK, seen.curve, seen.prefill, hue("target", dark), "solid", 3)]
    if seen.plain:
        runs.append((says.plain(seen.clock == "simulated"), seen.plain, seen.plain_prefill, MUTED[dark], "dash", 2))
    for name, curve, prefill, colour, dash, width in runs:
        figure.add_scatter(
            x=[prefill / 1000, *(t / 1000 for t, _ in curve)],
            y=[0, *(n for _, n in curve)],
            mode="lines",
            name=name,
            line={"color": colour, "width": width, "dash": dash, "shape": "hv"},
            hovertemplate=says.TOKENS_HOVER,
        )
        speed = rate(curve, prefill)
        last = curve[-1] if curve else (prefill, 0)
        rows.append([name, f"{prefill:.0f}", last[1], f"{last[0]:.0f}", "" if speed is None else f"{speed:.1f}"])
    if seen.prefill:
        figure.add_vrect(x0=0, x1=seen.prefill / 1000, line_width=0, fillcolor=LINE[dark], opacity=0.6, layer="below")
        figure.add_annotation(
            x=0,
            y=1,
            yref="paper",
            xanchor="left",
            yanchor="top",
            text=says.PREFILL,
            showarrow=False,
            font_color=MUTED[dark],
        )
    for plan in seen.plans[1:MOST_PLANS]:
        x = plan.t * MS / 1000
        figure.add_vline(x=x, line={"color": MUTED[dark], "width": 1, "dash": "dot"})
        figure.add_annotation(
            x=x,
            y=0,
            yref="paper",
            xanchor="left",
            yanchor="bottom",
            textangle=-90,
            showarrow=False,
            text=_safe(stack_name(plan.stack)),
            font={"color": MUTED[dark], "size": 10},
        )
    plans = "; ".join(says.plan(round_number(plan.round), stack_name(plan.stack)) for plan in seen.plans[:MOST_PLANS])
    figure.update_xaxes(title=says.CLOCK_AXIS, rangemode="tozero")
    figure.update_yaxes(title=says.COMMITTED_AXIS, rangemode="tozero")
    beside = "" if seen.plain else says.NO_PLAIN
    return figure, note(
        says.TOKENS,
        says.tokens_text(beside, plans),
        says.TOKENS_COLUMNS,
        rows,
    )


def _style(figure: go.Figure, dark: bool, wall: bool) -> go.Figure:
    scale = WALL if wall else 1
    for words in figure.layout.annotations:
        words.font.size = scale * (words.font.size or TEXT)
    figure.update_layout(
        height=scale * HEIGHT,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": INK[dark], "size": scale * TEXT, "family": "system-ui, sans-serif"},
        legend={"orientation": "h", "y": -0.28, "x": 0},
        showlegend=True,
        modebar={"remove": ["lasso2d", "select2d", "autoScale2d"], "bgcolor": "rgba(0,0,0,0)", "color": MUTED[dark]},
        hoverlabel={"bgcolor": INK[1 - dark], "font_color": INK[dark]},
    )
    figure.update_xaxes(gridcolor=LINE[dark], zerolinecolor=LINE[dark], automargin=True)
    figure.update_yaxes(gridcolor=LINE[dark], zerolinecolor=LINE[dark], automargin=True)
    return figure


def _safe(text: str) -> str:
    # Plotly reads a small HTML in its labels and a trace may come from anyone.
    return text.replace("<", "‹").replace(">", "›")[:120]


def _name(info: LevelInfo, seen: Study) -> str:
    """What the figures call a level; of several that would have one name each has its number, cheapest first."""
    names = [_own_name(level, seen) for level in seen.levels]
    at = seen.levels.index(info)
    return names[at] if names.count(names[at]) == 1 else f"{names[at]} ({names[: at + 1].count(names[at])})"


def _own_name(info: LevelInfo, seen: Study) -> str:
    name = _safe(info.label if "lanes" in drawn_as(info.kind).look.labelled and info.label else info.name or info.kind)
    depth = info.params.get("at")
    name = says.at_layer(name, depth) if isinstance(depth, int) else name
    return f"{name}:{info.block}" if info.block and not seen.plans else name  # with Auto, T is each plan's own


def _hue(info: LevelInfo, seen: Study, dark: bool) -> str:
    kinds = ["target" if x.index == seen.levels[-1].index else x.kind for x in seen.levels]
    return shaded(kinds, seen.levels.index(info), dark)
