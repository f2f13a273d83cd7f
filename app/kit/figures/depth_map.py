"""At which layer the model knew each token: the note `depths` of a trace as a grid, and its heat map.

Columns are the committed tokens, rows the depths: below, the ones read through a trained draft, above them every
layer through the model's own norm and head (the lens).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import plotly.graph_objects as go

from app.kit.figures.hues import INK, LINE, MUTED, SOFT, hue
from app.kit.figures.notes import note
from app.words import figures as says
from hsd_core.core.events import Commit, Event, Piece, Report
from hsd_core.core.notes import Note

LENS = "lens"
NOTE = "depths"
CELL = (26, 13)  # px, wide and high
EDGES = (56, 16, 8, 96)  # px left, right, top, bottom of the cells
WIDEST = 150  # px that the names of trained drafts may take
TEXT = 12  # px
WALL = 1.4  # times as large as at a desk: for a page that is thrown on a wall
LONGEST = 18  # characters of a token on the axis
_VISIBLE = str.maketrans({"\n": "↵", "\t": "⇥", " ": "·", "\r": "␍"})


@dataclass(frozen=True, slots=True)
class Depth:
    """One row: after `at` layers, through `readout`. `p[t]`: probability of committed token t; `right[t]`: whether it
    is the likeliest one there."""

    at: int
    readout: str
    p: tuple[float, ...]
    right: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Knowledge:
    """The grid. `since[t]`: the first depth from which the lens stays right about token t up to the last layer; None
    where the last layer itself is not (a sampled token, or one written by another stack)."""

    tokens: tuple[str, ...]
    rows: tuple[Depth, ...]
    since: tuple[int | None, ...]


class Drawn(NamedTuple):
    """A figure, and what its note says (`notes.note`)."""

    figure: go.Figure
    note: dict[str, Any]


def knowledge(events: Iterable[Event]) -> Knowledge | None:
    """The grid of a run; None where nothing was measured."""
    ids: list[int] = []
    pieces: dict[int, Piece] = {}
    seen: Knowledge | None = None
    for event in events:
        if isinstance(event, Piece):
            pieces[event.id] = event
        elif isinstance(event, Commit):
            ids += [token.id for token in event.tokens]
        elif isinstance(event, Report):
            seen = known(event, ids, pieces) or seen
    return seen


def drawn(events: Iterable[Event], *, dark: bool, wall: bool = False) -> Drawn | None:
    """The figure of a run, for the light or the dark page, at a desk or on a wall; None where nothing was measured."""
    seen = knowledge(events)
    if seen is None:
        return None
    scale = WALL if wall else 1
    figure = heat_map(seen, paper=SOFT[dark], ink=INK[dark], hue=hue("target", dark))
    figure.update_layout(
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": INK[dark], "size": scale * TEXT, "family": "system-ui, sans-serif"},
        hoverlabel={"bgcolor": INK[1 - dark], "font_color": INK[dark]},
        **size(seen, scale),
    )
    figure.update_layout(modebar={"bgcolor": "rgba(0,0,0,0)", "color": MUTED[dark]})
    for axes in (figure.update_xaxes, figure.update_yaxes):
        axes(gridcolor=LINE[dark], zerolinecolor=LINE[dark], automargin=False)
    return Drawn(figure, note(says.DEPTHS, says.depths_text(summary(seen)), *table(seen)))


def known(event: Report, ids: Sequence[int], pieces: Mapping[int, Piece]) -> Knowledge | None:
    """The grid of a report; None without such a note, or where its rows do not fit the text (a trace may come from
    anyone)."""
    found = event.notes.get(NOTE)
    if not isinstance(found, Note):
        return None
    read: Any = found
    rows = []
    for at, readout, p, top in zip(read.at, read.readouts, read.p, read.top, strict=False):
        if not isinstance(at, int) or len(p) != len(ids) or len(top) != len(ids):
            continue
        if all(isinstance(value, int | float) for value in p):
            right = tuple(guess == chosen for guess, chosen in zip(top, ids, strict=True))
            rows.append(Depth(at, str(readout), tuple(map(float, p)), right))
    # Trained drafts at the bottom, then the lens layer by layer.
    rows.sort(key=lambda row: (row.readout == LENS, row.at, row.readout))
    if not rows or not ids:
        return None
    lens = [row for row in rows if row.readout == LENS]
    return Knowledge(tuple(_text(i, pieces) for i in ids), tuple(rows), tuple(_since(lens, t) for t in range(len(ids))))


def _since(lens: Sequence[Depth], t: int) -> int | None:
    first = None
    for row in reversed(lens):
        if not row.right[t]:
            break
        first = row.at
    return first


def table(seen: Knowledge) -> tuple[list[str], list[list[str]]]:
    """The same figures as columns and rows: one row a token; ✓ where it is the likeliest one."""
    columns = [says.TOKEN, says.KNOWN_FROM, *(name(row) for row in seen.rows)]
    rows = [
        [f"{t + 1} {token}", "–" if seen.since[t] is None else str(seen.since[t])]
        + [f"{row.p[t]:.2f}{' ✓' if row.right[t] else ''}" for row in seen.rows]
        for t, token in enumerate(seen.tokens)
    ]
    return columns, rows


def summary(seen: Knowledge) -> str:
    """One sentence: by which layer half of the tokens, and nine in ten, were known for good."""
    found = sorted(at for at in seen.since if at is not None)
    if not found:
        return says.NONE_KNOWN
    half, most = found[(len(found) - 1) // 2], found[max(0, -(-9 * len(found) // 10) - 1)]
    return says.known_by(half, most)


def heat_map(seen: Knowledge, *, paper: str, ink: str, hue: str) -> go.Figure:
    """Colour: probability of the committed token. A dot: it is the likeliest. A frame: known from here on."""
    lens = [i for i, row in enumerate(seen.rows) if row.readout == LENS]
    drafts = len(seen.rows) - len(lens)
    y = [i + (0.5 if i >= drafts > 0 and lens else 0.0) for i in range(len(seen.rows))]  # a gap between the two kinds
    labels = [_plain(text) for text in seen.tokens]
    figure = go.Figure()
    for block in (range(drafts), range(drafts, len(seen.rows))):
        if block:
            figure.add_heatmap(
                x=list(range(1, len(labels) + 1)),
                y=[y[i] for i in block],
                z=[seen.rows[i].p for i in block],
                customdata=[[[token, _plain(name(seen.rows[i]))] for token in labels] for i in block],
                zmin=0,
                zmax=1,
                colorscale=[[0, paper], [1, hue]],
                xgap=1,
                ygap=1,
                showscale=False,
                hovertemplate="%{x} %{customdata[0]}<br>%{customdata[1]}: p = %{z:.2f}<extra></extra>",
            )
    dots = [(t + 1, y[i]) for i, row in enumerate(seen.rows) for t, right in enumerate(row.right) if right]
    figure.add_scatter(
        x=[x for x, _ in dots],
        y=[at for _, at in dots],
        mode="markers",
        marker={"size": 4, "color": ink, "line": {"color": paper, "width": 1}},
        hoverinfo="skip",
    )
    frames: tuple[list[float | None], list[float | None]] = ([], [])
    heights = {seen.rows[i].at: y[i] for i in lens}
    for t, at in enumerate(seen.since, 1):
        if at is not None:
            frames[0].extend((t - 0.5, t + 0.5, t + 0.5, t - 0.5, t - 0.5, None))
            frames[1].extend(heights[at] + dy for dy in (-0.5, -0.5, 0.5, 0.5, -0.5))
            frames[1].append(None)
    figure.add_scatter(
        x=frames[0],
        y=frames[1],
        mode="lines",
        line={"color": ink, "width": 2},
        hoverinfo="skip",
    )
    named = [i for i, row in enumerate(seen.rows) if i < drafts or row.at == 1 or row.at % 5 == 0 or i == len(y) - 1]
    figure.update_yaxes(
        tickvals=[y[i] for i in named],
        ticktext=[_plain(name(seen.rows[i])) for i in named],
        range=[-0.6, y[-1] + 0.6],
        showgrid=False,
        zeroline=False,
        fixedrange=True,
    )
    figure.update_xaxes(
        tickvals=list(range(1, len(labels) + 1)),
        ticktext=labels,
        tickangle=-90,
        range=[0.4, len(labels) + 0.6],
        showgrid=False,
        zeroline=False,
        fixedrange=True,
    )
    return figure


def size(seen: Knowledge, scale: float = 1) -> dict[str, Any]:
    """Width, height and margins of the heat map, px: cells of one size, so that a long text scrolls, never shrinks."""
    left, right, top, bottom = EDGES
    left = min(WIDEST, max(left, 8 + 7 * max((len(name(row)) for row in seen.rows if row.readout != LENS), default=0)))
    return {
        "width": scale * (left + right + CELL[0] * max(12, len(seen.tokens))),
        "height": scale * (top + bottom + CELL[1] * (len(seen.rows) + 1)),
        "margin": {"l": scale * left, "r": scale * right, "t": scale * top, "b": scale * bottom},
        "showlegend": False,
        "autosize": False,
        "modebar": {"remove": ["zoom", "pan", "zoomIn", "zoomOut", "resetScale", "toImage", "lasso", "select"]},
        "dragmode": False,
    }


def name(row: Depth) -> str:
    """A row in words: a layer, or a trained draft without its preset's name and with its depth if it does not tell."""
    if row.readout == LENS:
        return says.layer(row.at)
    short = row.readout.split("-", 1)[-1]
    return short if row.at == 0 or short.endswith(str(row.at)) else says.draft_at(short, row.at)


def _text(token: int, pieces: Mapping[int, Piece]) -> str:
    piece = pieces.get(token)
    if piece is None:
        return f"#{token}"
    try:
        data = base64.b64decode(piece.b64, validate=True)
    except (binascii.Error, ValueError):
        return f"#{token}"
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return f"‹{data.hex(' ').upper()}›"
    # A leading space belongs to nearly every word; shown alone it says something.
    text = text[1:] if len(text) > 1 and text[0] == " " else text
    return text.translate(_VISIBLE) or "∅"


def _plain(text: str) -> str:
    """Plotly reads a small HTML in its labels and a trace may come from anyone."""
    text = "".join(c if c.isprintable() else "·" for c in text)
    text = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
