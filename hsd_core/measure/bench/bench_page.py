"""One HTML file that shows a benchmark without a network: charts of plotly and the tables behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hsd_core.measure.bench.summary import sampled
from hsd_core.measure.results.sheet import StackCell, html, page, rounded, shares, stack_cells

LINE = 44  # characters of a label
_STACKS = ("stack", "tokens/s", "speed-up", "95 % interval", "slower on", "tokens a target pass", "accepted", "equal")
_PEERS = (*("program", "tokens/s", "of our plain decoding", "tokens up to the first difference"), "what it did not run")


def report(found: Mapping[str, Any]) -> str:
    """results.json as a page of its own."""
    import plotly.graph_objects as go

    about, peers, stacks = found["about"], found["peers"], found["stacks"]
    called = stack_cells(row["stack"] for row in stacks)
    rates = [(row["stack"], row["tokens_per_s"]) for row in stacks]
    rates += [(row["name"], row["tokens_per_s"]) for row in peers if row["tokens_per_s"] is not None]
    rates.sort(key=lambda pair: pair[1])
    labels = [called[code].label(LINE) if code in called else code for code, _ in rates]
    lines = sum(1 + label.count("<br>") for label in labels)
    speed = go.Figure(
        go.Bar(x=[rate for _, rate in rates], y=[code for code, _ in rates], orientation="h"),
        layout={"title": "Tokens a second", "height": 140 + 16 * (len(rates) + lines), "margin": {"l": 10}},
    )
    speed.update_yaxes(automargin=True, tickvals=[code for code, _ in rates], ticktext=labels)
    gains = go.Figure(layout={"title": "Speed-up over plain decoding of the same target, by task"})
    for row in stacks:
        if row["stack"] != row["plain"]:
            name, tasks = called[row["stack"]].label(LINE), row["tasks"]
            gains.add_bar(name=name, x=list(tasks), y=list(tasks.values()), hovertext=row["stack"])
    gains.add_hline(y=1.0, line_dash="dot")
    drawn = f"Tokens are drawn at temperature {about['temperature']:g}: every run writes a text of its own. "
    drawn = drawn if sampled(about) else ""
    said = (
        f"{stacks[0]['prompts'] if stacks else 0} prompts of {about['prompts']}, up to {about['max_new_tokens']} "
        f"tokens each, {about['threads']} threads, {about['recorded']}. Decoding alone is timed, without reading the "
        f"prompt. {drawn}Intervals are 95 %, a bootstrap over prompts. Peak memory of the whole measurement: "
        f"{about.get('peak_mb', 0):.0f} MB."
    )
    rows = (_stack(row, called[row["stack"]]) for row in stacks)
    others = html(_PEERS, map(_peer, peers)) if peers else "<p>None was asked for.</p>"
    return page(
        f"Benchmark of {about.get('preset', '')} on {about.get('machine', '')}",
        said,
        about["command"],
        (speed, gains),
        f"{html(_STACKS, rows)}<h2>Other programs</h2>{others}",
    )


def _stack(row: Mapping[str, Any], called: StackCell) -> Sequence[object]:
    low, high = row["interval"]
    slower, equal = f"{row['slower_on']}/{row['prompts']}", "-" if row["equal"] is None else f"{row['equal']:.0%}"
    gain = (f"{row['speed_up']:.2f}", f"{low:.2f} to {high:.2f}", slower, f"{row['accepted_per_pass']:.2f}")
    return (called, rounded(row["tokens_per_s"]), *gain, shares(row["acceptance"]), equal)


def _peer(row: Mapping[str, Any]) -> Sequence[str]:
    if row["tokens_per_s"] is None:
        return (row["name"], "-", "-", "-", row["why"])
    figures = (rounded(row["tokens_per_s"]), f"{row['beside_plain']:.2f}", f"{row['same_tokens']:.0%}")
    return (row["name"], *figures, row["why"])
