"""The records of the command `passes` as Markdown tables, and as one HTML file with plots over the text's length."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from hsd_core.measure.passes.parts import PARTS

Records = Sequence[Mapping[str, Any]]


def passes(records: Records) -> str:
    """A row a pass: ms, its parts, and the least that the machine could take."""
    head = ["level", "text", "rows", "ms", *PARTS, "profiled", "least", "ms / least", "bound by"]
    return _table(head, [_pass(r) for r in records if r["what"] == "pass"])


def _pass(r: Mapping[str, Any]) -> list[str]:
    parts, bound = r["parts"], r["least"]
    split = [f"{parts[part]:.2f}" for part in PARTS] if parts else ["-"] * len(PARTS)
    beside = [f"{bound['ms']:.2f}", f"{r['ms'] / bound['ms']:.2f}", bound["binds"]] if bound else ["-"] * 3
    profiled = "-" if r["profiled_ms"] is None else f"{r['profiled_ms']:.2f}"
    return [f"`{r['level']}`", str(r["context"]), str(r["rows"]), f"{r['ms']:.2f}", *split, profiled, *beside]


def lookups(records: Records) -> str:
    """A row a lookup, and one a database of a given size."""
    body = []
    for r in records:
        if r["what"] == "lookup":
            body.append(
                [f"`{r['level']}`", f"a text of {r['context']} tokens", f"{r['ms']:.4f}", f"{r['filed_ms']:.4f}"]
            )
        elif r["what"] == "database":
            body.append([f"`{r['level']}`", f"{r['stored']:,} n-grams, made up", f"{r['ms']:.4f}", "-"])
    return _table(["lookup", "in", "ms", "ms to file a token"], body)


def rounds(records: Records) -> str:
    """A row a stack and length: one round on average, in ms, and the shares that should be small."""
    head = ["stack", "text", "rounds", "ms a round", "passes (calls), by level", "drawing", "engine", "trace", "stream"]
    head += ["outside passes", "trace and stream", "ms of a bare run"]
    body = []
    for r in (r for r in records if r["what"] == "round"):
        each = " + ".join(f"{ms:.2f} ({n:.1f})" for ms, n in zip(r["passes"], r["calls"], strict=True))
        parts = [f"{r[name]:.2f}" for name in ("drawing", "engine", "trace", "stream")]
        outside, written = ((r[a] + r[b]) / (r["ms"] or 1.0) for a, b in (("drawing", "engine"), ("trace", "stream")))
        text = "prompts" if r["context"] is None else str(r["context"])
        shares = [f"{outside:.1%}", f"{written:.1%}", f"{r['bare_ms']:.2f}"]
        body.append([f"`{r['stack']}`", text, str(r["rounds"]), f"{r['ms']:.2f}", each, *parts, *shares])
    return _table(head, body)


TABLES: Mapping[str, Callable[[Records], str]] = {"passes": passes, "lookups": lookups, "rounds": rounds}


def method(about: Mapping[str, Any]) -> str:
    """How it was measured, and the machine's rates."""
    limits = about["limits"]
    return (
        f"Read at {limits['bytes_per_ms'] / 1e6:.1f} GB/s (sum of 256 MiB), multiply-adds at "
        f"{limits['floats_per_ms'] / 1e6:.1f} G/s in float32 and {limits['integers_per_ms'] / 1e6:.1f} G/s of 8-bit "
        "integers (products of 1024 x 2048 and 2048 x 1024), each the best of nine. *ms* is a pass that nobody "
        "profiles, as a run pays for it; its parts are the kernels' times of profiled passes (*profiled*: what such a "
        "pass takes whole), *around* is the rest. *least*: the longer of reading weights, keys and values once and of "
        "multiplying."
    )


def _table(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def page(about: Mapping[str, Any], records: Records) -> str:
    """One HTML file: ms of passes by the text's length, what of it is attention, and rounds by their parts."""
    import plotly.graph_objects as go
    from plotly.io import to_html

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
    charts = "".join(
        to_html(figure, full_html=False, include_plotlyjs=first)
        for figure, first in ((whole, True), (split, False), (turn, False))
    )
    title = escape(f"Passes of {about['preset']} on {about['machine']}")
    said = escape(f"{about['threads']} threads, {about['recorded']}. {method(about)} Command: {about['command']}")
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
    return f"{head}<h1>{title}</h1><p>{said}</p>{charts}</html>"
