"""Where the figures of a run stand in Gradio's page, below the fold: for each a head, a plot and a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradio as gr

from app.kit.figures.notes import Notes, note
from app.kit.figures.run_figures import FIGURES, drawn
from app.kit.payload import dumps
from app.words import figures as says
from hsd_core.core.events import Event


def build() -> list[gr.components.Component]:
    """Add the four figures to the Blocks that is open; returns what `draw` fills, in order."""
    parts: list[gr.components.Component] = []
    # The wide one stands first, next to the button that leads to it; it is hidden where nothing was measured.
    with gr.Row(elem_id="figures-wide"), gr.Column(elem_classes="hx-figure hx-wide", elem_id="figure-depths-panel"):
        parts += _panel(FIGURES[0])
    with gr.Row(elem_id="figures"):
        for name in FIGURES[1:]:
            with gr.Column(min_width=360, elem_classes="hx-figure"):
                parts += _panel(name)
    return parts


def _panel(name: str) -> list[gr.components.Component]:
    head = Notes(elem_classes="hx-figure-head", part="head")
    with gr.Column(elem_classes="hx-figure-view", min_width=0):
        plot = gr.Plot(show_label=False, visible=False, container=False, elem_id=f"figure-{name}")
    return [head, plot, Notes(elem_classes="hx-figure-table", part="table")]


def undrawn(run: str, why: str) -> list[Any]:
    """Where it is not one's turn: a note in the place of the first of the three small figures, as it leaves Gradio."""
    nothing: list[Any] = ["", {"visible": False, "__type__": "update"}, ""]
    said = dumps({**note(says.NOT_DRAWN, why, [], []), "run": run})
    return [*nothing, said, *nothing[1:], *nothing * (len(FIGURES) - 2)]


def draw(events: Sequence[Event], **look: bool) -> list[Any]:
    """Head, plot and table of each figure, in the order of `build`; `look` as `drawn` takes it."""
    parts: list[Any] = []
    for one in drawn(events, **look):
        parts += (
            [None, gr.Plot(visible=False), None]
            if one is None
            else [one.note, gr.Plot(value=one.figure, visible=True), one.note]
        )
    return parts
