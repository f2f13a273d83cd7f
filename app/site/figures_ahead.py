"""The layers of a recording, as a server draws them, for a page without one: both themes, at a desk and on a wall.

Plotly's template is the same in all of them and is told once (`TEMPLATE`). `assets/js/site/ahead.js` shows
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from app.kit.figures.depth_map import Drawn, drawn
from app.site.seen_as import merged, packed
from hsd_core.core.events import Event
from hsd_core.typed import plain

TEMPLATE = "figures"  # its path; a recording's figures lie below it
LOOKS = tuple((dark, wall) for wall in (False, True) for dark in (False, True))


def figures(events: Sequence[Event]) -> dict[str, Any]:
    """A `seen_as.packed` object, for `LOOKS`: `{"depths": {"note", "data", "layout"}}`, or `{}` where nothing was
    measured."""
    return packed(merged([_seen(drawn(events, dark=dark, wall=wall)) for dark, wall in LOOKS]))


def template() -> dict[str, Any]:
    """What plotly gives every figure that names no template of its own."""
    layout: dict[str, Any] = _layout(go.Figure())["template"]
    return layout


def _seen(found: Drawn | None) -> dict[str, Any]:
    return {} if found is None else {"depths": _plain(found)}


def _plain(one: Drawn) -> dict[str, Any]:
    layout = {name: value for name, value in _layout(one.figure).items() if name != "template"}
    return {"note": one.note, "data": plain(one.figure.to_json())["data"], "layout": layout}


def _layout(figure: go.Figure) -> dict[str, Any]:
    layout: dict[str, Any] = plain(figure.to_json())["layout"]
    return layout
