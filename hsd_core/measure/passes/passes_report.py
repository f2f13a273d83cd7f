"""The records of the command `passes` as Markdown tables, and as one HTML file of charts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hsd_core.measure.passes.more_rows import FEW, KINDS, MANY, MoreRows, kernel_rate, more_rows
from hsd_core.measure.results import sheet

PARTS = ("products", "attention", "head", "kernels", "around")  # of a pass; see `levels`
Records = Sequence[Mapping[str, Any]]
OUTSIDE, WRITTEN = ("drawing", "engine"), ("trace", "stream")  # parts of a round that should be small
KERNELS = (f"kernel, {FEW} rows", f"kernel, {MANY} rows")  # what it multiplies alone
LINE = 80  # characters of a title


def passes(records: Records) -> str:
    """A row a pass: ms, its parts, and the least that the machine could take."""
    head = ("level", "text", "rows", "ms", *PARTS, "profiled", "least", "ms / least", "bound by")
    return sheet.markdown(head, (_pass(r) for r in records if r["what"] == "pass"))


def _pass(r: Mapping[str, Any]) -> Sequence[object]:
    chosen = f", {sheet.counted(r['threads'], 'thread')}" if r.get("threads") else ""  # one that chose for itself
    first, ms = (f"`{r['level']}`{chosen}", r["context"], r["rows"]), r["ms"]
    parts, least = r["parts"] or {}, r["least"]
    figures = (ms, *(parts.get(part) for part in PARTS), r["profiled_ms"])
    figures += (least["ms"], ms / least["ms"]) if least else (None, None)
    return (
        *first,
        *("-" if figure is None else f"{figure:.2f}" for figure in figures),
        least["binds"] if least else "-",
    )


def lookups(records: Records) -> str:
    """A row a lookup, and one a database of so many n-grams that were made up: files of before may have some."""
    body = []
    for r in records:
        if r["what"] == "lookup":
            body.append((f"`{r['level']}`", f"a text of {r['context']} tokens", r["ms"], f"{r['filed_ms']:.4f}"))
        elif r["what"] == "database":
            body.append((f"`{r['level']}`", f"{r['stored']:,} n-grams, made up", r["ms"], "-"))
    head = ("lookup", "in", "ms", "ms to file a token")
    return sheet.markdown(head, ((level, where, f"{ms:.4f}", filed) for level, where, ms, filed in body))


def rounds(records: Records) -> str:
    """A row a stack and length: one round on average, in ms, and the shares that should be small."""
    head = ("stack", "text", "rounds", "ms a round", "passes (calls), by level", *OUTSIDE, *WRITTEN)
    shares = ("outside passes", "trace and stream", "ms of a bare run")
    found = [r for r in records if r["what"] == "round"]
    called = sheet.stack_cells(r["stack"] for r in found)
    return sheet.markdown((*head, *shares), (_round(r, called[r["stack"]]) for r in found))


def _round(r: Mapping[str, Any], stack: sheet.StackCell) -> Sequence[object]:
    each = " + ".join(f"{ms:.2f} ({n:.1f})" for ms, n in zip(r["passes"], r["calls"], strict=True))
    parts = (f"{r[name]:.2f}" for name in (*OUTSIDE, *WRITTEN))
    shares = (f"{sum(r[name] for name in part) / (r['ms'] or 1.0):.1%}" for part in (OUTSIDE, WRITTEN))
    first = (stack, _text(r), r["rounds"], f"{r['ms']:.2f}", each)
    return (*first, *parts, *shares, f"{r['bare_ms']:.2f}")


def _text(r: Mapping[str, Any]) -> str:
    """How long the texts of rounds were."""
    return "prompts" if r["context"] is None else str(r["context"])


def rows(records: Records) -> str:
    """A row a level and text: ms of one row and of several, the ratio beside its limit, what their products multiply
    beside what the kernel does, G/s, and why the limit is missed where it is."""
    head = ("level", "text", "1 row, ms", f"{FEW} rows, ms", "ratio", "limit", "products", *KERNELS, "if missed, for")
    return sheet.markdown(head, (_more(one) for one in more_rows(records)))


def _more(one: MoreRows) -> Sequence[object]:
    rates = ("-" if rate is None else f"{rate / 1e6:.0f}" for rate in (one.reached, one.kernel, one.many))
    ms = (f"{one.one:.2f}", f"{one.few:.2f}", f"{one.ratio:.2f}", f"{one.limit:.1f}")
    return (f"`{one.level}`", one.context, *ms, *rates, one.why or "within")


TABLES: Mapping[str, Callable[[Records], str]] = {"passes": passes, "rows": rows, "lookups": lookups, "rounds": rounds}


def method(about: Mapping[str, Any]) -> str:
    """How it was measured, and the machine's rates."""
    limits = about["limits"]
    return (
        f"Read at {limits['bytes_per_ms'] / 1e6:.1f} GB/s{_multiplied(limits)}, each the best of nine; a virtual "
        "machine shares its memory with others, so that sittings on one machine differ. *ms* is a pass that nobody "
        "profiles, as a run pays for it; its parts are the kernels' times of profiled passes (*profiled*: what such a "
        "pass takes whole), *around* is the rest. *least*: the longer of reading weights, keys and values once and of "
        "multiplying. The rows of a draft that reads the target's states are tokens that the "
        f"target has read, and it gives one row; its own guesses it reads one at a time.{_kernels(limits)}"
    )


def _multiplied(limits: Mapping[str, Any]) -> str:
    """The rates of the least time that are not onnxruntime's."""
    if kernel_rate(limits, "float32", MANY):
        return ""
    integers = (
        f" and {limits['integers_per_ms'] / 1e6:.1f} G/s of 8-bit integers" if "integers_per_ms" in limits else ""
    )
    return f", torch's multiply-adds at {limits['floats_per_ms'] / 1e6:.1f} G/s of floats{integers}"


def _kernels(limits: Mapping[str, Any]) -> str:
    """What onnxruntime multiplies on this machine, where it was measured."""
    rates = {kind: [kernel_rate(limits, kind, rows) for rows in (MANY, FEW)] for kind in KINDS}
    said = [f"{many / 1e6:.0f} and {few / 1e6:.0f} in {kind}" for kind, (many, few) in rates.items() if many and few]
    if not said:
        return ""
    return (
        f" One product of onnxruntime, its weight in a cache, multiplies with {MANY} rows and with {FEW}: "
        f"{', '.join(said)} (G/s); *least* takes the rate of {MANY}. *products*, where passes of 1 and {FEW} rows are "
        "compared: G/s of multiply-adds with weights, the head's included."
    )


def page(about: Mapping[str, Any], records: Records) -> str:
    """One HTML file: ms of passes by the text's length, what of it is attention, and rounds by their parts."""
    import plotly.graph_objects as go

    measured = [r for r in records if r["what"] == "pass"]
    whole = go.Figure(layout={"title": "ms of a pass", "xaxis_title": "tokens of text"})
    split = go.Figure(layout={"title": "ms of attention, and of all else", "xaxis_title": "tokens of text"})
    for level, rows in dict.fromkeys((r["level"], r["rows"]) for r in measured):
        own = [r for r in measured if (r["level"], r["rows"]) == (level, rows)]
        at, name = [r["context"] for r in own], f"{level}, {sheet.counted(rows, 'row')}"
        whole.add_scatter(x=at, y=[r["ms"] for r in own], name=name)
        if all(r["parts"] for r in own):
            attention = [r["parts"]["attention"] for r in own]
            split.add_scatter(x=at, y=attention, name=f"attention: {name}", line_dash="dot")
            split.add_scatter(x=at, y=[r["ms"] - a for r, a in zip(own, attention, strict=True)], name=f"rest: {name}")
    ran = [r for r in records if r["what"] == "round"]
    called = sheet.stack_cells([about["stack"]])[about["stack"]]
    turn = go.Figure(layout={"title": f"ms of a round of: {called.label(LINE)}", "barmode": "stack"})
    bars = {f"passes of {level}": [r["passes"][i] for r in ran] for i, level in enumerate(ran[0]["levels"])}
    for name, ms in {**bars, **{part: [r[part] for r in ran] for part in (*OUTSIDE, *WRITTEN)}}.items():
        turn.add_bar(x=[_text(r) for r in ran], y=ms, name=name)
    turn.update_xaxes(type="category", title="tokens of text")
    said = f"{sheet.counted(about['threads'], 'thread')}, {about['recorded']}. {method(about)}"
    title = f"Passes of {about['preset']} on {about['machine']}"
    return sheet.page(title, said, about["command"], (whole, split, turn))
