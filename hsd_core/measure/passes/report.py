"""What `passes` measured as one HTML file of charts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hsd_core.measure.passes.tables import Records, method
from hsd_core.measure.results import sheet


def page(about: Mapping[str, Any], records: Records) -> str:
    """One HTML file: ms of passes by the text's length, what of it is attention, and rounds by their parts."""
    import plotly.graph_objects as go

    measured = [r for r in records if r["what"] == "pass"]
    whole = go.Figure(layout={"title": "ms of a pass", "xaxis_title": "tokens of text"})
    split = go.Figure(layout={"title": "ms of attention, and of all else", "xaxis_title": "tokens of text"})
    for level, rows in dict.fromkeys((r["level"], r["rows"]) for r in measured):
        own = [r for r in measured if (r["level"], r["rows"]) == (level, rows)]
        at, name = [r["context"] for r in own], f"{level}, {rows} {'row' if rows == 1 else 'rows'}"
        whole.add_scatter(x=at, y=[r["ms"] for r in own], name=name)
        if all(r["parts"] for r in own):
            attention = [r["parts"]["attention"] for r in own]
            split.add_scatter(x=at, y=attention, name=f"attention: {name}", line_dash="dot")
            split.add_scatter(x=at, y=[r["ms"] - a for r, a in zip(own, attention, strict=True)], name=f"rest: {name}")
    ran = [r for r in records if r["what"] == "round"]
    at = ["prompts" if r["context"] is None else str(r["context"]) for r in ran]
    turn = go.Figure(layout={"title": f"ms of a round of {about['stack']}", "barmode": "stack"})
    for i, level in enumerate(ran[0]["levels"] if ran else ()):
        turn.add_bar(x=at, y=[r["passes"][i] for r in ran], name=f"passes of {level}")
    for part in ("drawing", "engine", "trace", "stream"):
        turn.add_bar(x=at, y=[r[part] for r in ran], name=part)
    turn.update_xaxes(type="category", title="tokens of text")
    said = f"{about['threads']} threads, {about['recorded']}. {method(about)}"
    title = f"Passes of {about['preset']} on {about['machine']}"
    return sheet.page(title, said, about["command"], (whole, split, turn))
