"""Where the layers of a run stand in Gradio's page, below the fold: a head, a plot and a table; and the place of the
figures that the page draws itself (assets/js/tabs/explore/charts/study.js)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradio as gr

from app.kit.figures.depth_map import drawn
from app.kit.figures.notes import SCRIPT, note
from app.kit.mounted import Mounted
from app.kit.payload import dumps
from app.words import figures as says
from hsd_core.core.events import Event


def build() -> list[gr.components.Component]:
    """Add the figures to the Blocks that is open; returns what `draw` fills, in order."""
    gr.HTML(html_template='<div class="hx-run-plots"></div>', apply_default_css=False, elem_id="figures")
    # The wide one comes once a run is over: it stands last, so that nothing moves.
    with gr.Row(elem_id="figures-wide"), gr.Column(elem_classes="hx-figure hx-wide", elem_id="figure-depths-panel"):
        head = Mounted(SCRIPT, elem_classes="hx-figure-head", part="head")
        with gr.Column(elem_classes="hx-figure-view", min_width=0):
            plot = gr.Plot(show_label=False, visible=False, container=False, elem_id="figure-depths")
        table = Mounted(SCRIPT, elem_classes="hx-figure-table", part="table")
    return [head, plot, table]


def undrawn(run: str, why: str) -> list[Any]:
    """Where it is not one's turn: a note in the place of the figure, as it leaves Gradio."""
    said = dumps({**note(says.NOT_DRAWN, why, [], []), "run": run})
    return [said, {"visible": False, "__type__": "update"}, ""]


def draw(events: Sequence[Event], **look: bool) -> list[Any]:
    """Head, plot and table, in the order of `build`; `look` as `drawn` takes it."""
    found = drawn(events, **look)
    if found is None:
        return [None, gr.Plot(visible=False), None]
    return [found.note, gr.Plot(value=found.figure, visible=True), found.note]
