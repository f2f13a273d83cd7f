"""The records of the command `passes` as Markdown tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
