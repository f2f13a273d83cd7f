"""One HTML file that shows a benchmark without a network: charts of plotly and the table behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from hsd_core.measure.bench.summary import sampled

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1b1f24; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .3rem .6rem; border-bottom: 1px solid #d0d7de; }
th:first-child, td:first-child { text-align: left; font-family: ui-monospace, monospace; }
.wide { overflow-x: auto; }
"""


def report(found: Mapping[str, Any]) -> str:
    """results.json as a page of its own; plotly's script is part of it."""
    import plotly.graph_objects as go
    from plotly.io import to_html

    stacks = found["stacks"]
    rates = [*((row["stack"], row["tokens_per_s"]) for row in stacks)]
    rates += [(row["name"], row["tokens_per_s"]) for row in found["peers"] if row["tokens_per_s"] is not None]
    rates.sort(key=lambda pair: pair[1])
    speed = go.Figure(
        go.Bar(x=[rate for _, rate in rates], y=[name for name, _ in rates], orientation="h"),
        layout={"title": "Tokens a second", "height": 140 + 34 * len(rates), "margin": {"l": 10}},
    )
    speed.update_yaxes(automargin=True)
    gains = go.Figure(layout={"title": "Speed-up over plain decoding of the same target, by task"})
    for row in stacks:
        if row["stack"] != row["plain"]:
            gains.add_trace(go.Bar(name=row["stack"], x=list(row["tasks"]), y=list(row["tasks"].values())))
    gains.add_hline(y=1.0, line_dash="dot")
    charts = to_html(speed, full_html=False, include_plotlyjs=True) + to_html(
        gains, full_html=False, include_plotlyjs=False
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Benchmark of {escape(_name(found))}</title>'
        f"<style>{_STYLE}</style><h1>Benchmark of {escape(_name(found))}</h1>{_said(found)}{charts}"
        f'<div class="wide">{_table(stacks)}</div><h2>Other programs</h2>{_peers(found["peers"])}</html>'
    )


def _name(found: Mapping[str, Any]) -> str:
    return f"{found['about'].get('preset', '')} on {found['about'].get('machine', '')}"


def _said(found: Mapping[str, Any]) -> str:
    about = found["about"]
    prompts = found["stacks"][0]["prompts"] if found["stacks"] else 0
    return (
        f"<p>{prompts} prompts of {escape(str(about['prompts']))}, up to {about['max_new_tokens']} tokens each, "
        f"{about['threads']} threads, {escape(str(about['recorded']))}. Decoding alone is timed, without reading the "
        f"prompt. {_drawn(about)}Intervals are 95 %, a bootstrap over prompts. Peak memory of the whole measurement: "
        f"{about.get('peak_mb', 0):.0f} MB. Command: <code>{escape(str(about['command']))}</code></p>"
    )


def _drawn(about: Mapping[str, Any]) -> str:
    if not sampled(about):
        return ""
    return f"Tokens are drawn at temperature {about['temperature']:g}: every run writes a text of its own. "


def _table(stacks: Sequence[Mapping[str, Any]]) -> str:
    head = ("stack", "tokens/s", "speed-up", "95 % interval", "slower on", "tokens a target pass", "accepted", "equal")
    body = []
    for row in stacks:
        low, high = row["interval"]
        accepted = " / ".join("-" if a is None else f"{a:.2f}" for a in row["acceptance"][1:]) or "-"
        body.append(
            (
                row["stack"],
                f"{row['tokens_per_s']:.1f}",
                f"{row['speed_up']:.2f}",
                f"{low:.2f} to {high:.2f}",
                f"{row['slower_on']}/{row['prompts']}",
                f"{row['accepted_per_pass']:.2f}",
                accepted,
                "-" if row["equal"] is None else f"{row['equal']:.0%}",
            )
        )
    return _html_table(head, body)


def _peers(peers: Sequence[Mapping[str, Any]]) -> str:
    if not peers:
        return "<p>None was asked for.</p>"
    body = [
        (
            row["name"],
            f"{row['tokens_per_s']:.1f}",
            f"{row['beside_plain']:.2f}",
            f"{row['same_tokens']:.0%}",
            row["why"],
        )
        if row["tokens_per_s"] is not None
        else (row["name"], "-", "-", "-", row["why"])
        for row in peers
    ]
    head = (
        "program",
        "tokens/s",
        "of our plain decoding",
        "tokens up to the first difference",
        "what it did not run",
    )
    return _html_table(head, body)


def _html_table(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    top = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in body)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{rows}</tbody></table>"
