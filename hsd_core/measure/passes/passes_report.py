"""The records of the command `passes` as tables, the cost of several rows relative to one, and why it is over its
limit.

A pass of a few rows reads its weights once, as a pass of one row does, so it should cost little more. If it costs more,
either the products run at their kernel's peak for this number of rows, or something else is the bottleneck.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hsd_core.grammar import kinds
from hsd_core.measure import tables

FEW, MANY = 8, 256  # rows
KINDS = ("float32", "int8", "int4")  # of weights
FLOATS, ROUNDED = 1.3, 1.6  # limits, in costs of one row: for float32 weights, for 8 and 4 bits
NEAR = 0.8  # of a kernel's rate: products cannot be much quicker
_OF_WEIGHTS = ("products", "head")  # parts of a pass


class MoreRows(NamedTuple):
    """A level behind a text: ms of one row and of `FEW`.

    reached: multiply-adds with weights per ms in a pass of `FEW` rows; kernel, many: of its kernel alone with as many
    rows and with many; None if unknown. why: "" within the limit.
    """

    level: str
    context: int
    one: float
    few: float
    limit: float
    reached: float | None
    kernel: float | None
    many: float | None
    why: str

    @property
    def ratio(self) -> float:
        return self.few / self.one


def key_of(kind: str, rows: int) -> str:
    """The key of a kernel's rate among a machine's limits, in multiply-adds per ms."""
    return f"{kind}_{'many' if rows == MANY else 'few'}_per_ms"


def kernel_rate(limits: Mapping[str, Any], kind: str, rows: int) -> float | None:
    """A rate among a machine's limits; None in limits of earlier versions."""
    return limits.get(key_of(kind, rows))


def limit_of(level: str) -> float:
    """A level's limit, by its spec: copies of few bits, and drafts without layers of the target, multiply integers on a
    CPU."""
    kind = kinds().get(level.partition("@")[0])
    alone = kind is not None and kind.shares.reads is not None and kind.shares.reads.depth == 0
    return ROUNDED if alone or "int8" in level or "int4" in level else FLOATS


def more_rows(records: Sequence[Mapping[str, Any]]) -> Iterator[MoreRows]:
    """For every level and text with passes of one row and of `FEW`, in order."""
    found = {(r["level"], r["context"], r["rows"]): r for r in records if r["what"] == "pass"}
    for (level, context, rows), one in found.items():
        few = found.get((level, context, FEW))
        if rows == 1 and few is not None:
            multiplies, limit = few.get("multiplies") or {}, limit_of(level)
            rates = (multiplies.get("reached"), multiplies.get("few"), multiplies.get("many"))
            why = _why(one, few, rates[0], rates[1]) if few["ms"] > limit * one["ms"] else ""
            yield MoreRows(level, context, one["ms"], few["ms"], limit, *rates, why)


def _why(one: Mapping[str, Any], few: Mapping[str, Any], reached: float | None, kernel: float | None) -> str:
    if not (one["parts"] and few["parts"]):
        return "passes were not recorded one by one"
    more = {part: few["parts"][part] - one["parts"][part] for part in few["parts"] if part not in _OF_WEIGHTS}
    more["products"] = sum(few["parts"][part] - one["parts"][part] for part in _OF_WEIGHTS)
    part = max(more, key=lambda name: more[name])
    share = f"{part}: {more[part] / (few['ms'] - one['ms']):.0%} of the difference"
    if part != "products" or reached is None or kernel is None:
        return share
    if reached >= NEAR * kernel:
        return f"{share}, as quick as the kernel multiplies {FEW} rows"
    return f"{share}, at {reached / kernel:.0%} of what the kernel multiplies with {FEW} rows out of a cache"


PARTS = ("products", "attention", "head", "kernels", "around")  # of a pass; see `level_passes`
Records = Sequence[Mapping[str, Any]]
OUTSIDE, WRITTEN = ("drawing", "engine"), ("trace", "stream")  # parts of a round that should be small
KERNELS = (f"kernel, {FEW} rows", f"kernel, {MANY} rows")  # rates of the kernel alone


def passes(records: Records) -> str:
    """A row per pass: ms, its parts, and the machine's least time."""
    head = ("level", "text", "rows", "ms", *PARTS, "profiled", "least", "ms / least", "bound by")
    return tables.markdown(head, (_pass(r) for r in records if r["what"] == "pass"))


def _pass(r: Mapping[str, Any]) -> Sequence[object]:
    chosen = f", {tables.counted(r['threads'], 'thread')}" if r.get("threads") else ""  # if the level chose its own
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
    """A row per lookup, and per database of made-up n-grams, which earlier files may have."""
    body = []
    for r in records:
        if r["what"] == "lookup":
            body.append((f"`{r['level']}`", f"a text of {r['context']} tokens", r["ms"], f"{r['filed_ms']:.4f}"))
        elif r["what"] == "database":
            body.append((f"`{r['level']}`", f"{r['stored']:,} n-grams, made up", r["ms"], "-"))
    head = ("lookup", "in", "ms", "ms to file a token")
    return tables.markdown(head, ((level, where, f"{ms:.4f}", filed) for level, where, ms, filed in body))


def rounds(records: Records) -> str:
    """A row per stack and length: the mean round, in ms, and the shares that should be small."""
    head = ("stack", "text", "rounds", "ms a round", "passes (calls), by level", *OUTSIDE, *WRITTEN)
    shares = ("outside passes", "trace and stream", "ms of a bare run")
    found = [r for r in records if r["what"] == "round"]
    called = tables.stack_cells(r["stack"] for r in found)
    return tables.markdown((*head, *shares), (_round(r, called[r["stack"]]) for r in found))


def _round(r: Mapping[str, Any], stack: str) -> Sequence[object]:
    each = " + ".join(f"{ms:.2f} ({n:.1f})" for ms, n in zip(r["passes"], r["calls"], strict=True))
    parts = (f"{r[name]:.2f}" for name in (*OUTSIDE, *WRITTEN))
    shares = (f"{sum(r[name] for name in part) / (r['ms'] or 1.0):.1%}" for part in (OUTSIDE, WRITTEN))
    first = (stack, _text(r), r["rounds"], f"{r['ms']:.2f}", each)
    return (*first, *parts, *shares, f"{r['bare_ms']:.2f}")


def _text(r: Mapping[str, Any]) -> str:
    """The length of the texts of rounds."""
    return "prompts" if r["context"] is None else str(r["context"])


def rows(records: Records) -> str:
    """A row per level and text: ms of one row and of several, the ratio and its limit, the rates of its products and of
    the kernel in G/s, and why the limit is missed if it is."""
    head = ("level", "text", "1 row, ms", f"{FEW} rows, ms", "ratio", "limit", "products", *KERNELS, "if missed, for")
    return tables.markdown(head, (_more(one) for one in more_rows(records)))


def _more(one: MoreRows) -> Sequence[object]:
    rates = ("-" if rate is None else f"{rate / 1e6:.0f}" for rate in (one.reached, one.kernel, one.many))
    ms = (f"{one.one:.2f}", f"{one.few:.2f}", f"{one.ratio:.2f}", f"{one.limit:.1f}")
    return (f"`{one.level}`", one.context, *ms, *rates, one.why or "within")


TABLES: Mapping[str, Callable[[Records], str]] = {"passes": passes, "rows": rows, "lookups": lookups, "rounds": rounds}


def method(about: Mapping[str, Any]) -> str:
    """The method, in words, with the machine's rates."""
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
    """torch's rates, if the least time uses these."""
    if kernel_rate(limits, "float32", MANY):
        return ""
    integers = (
        f" and {limits['integers_per_ms'] / 1e6:.1f} G/s of 8-bit integers" if "integers_per_ms" in limits else ""
    )
    return f", torch's multiply-adds at {limits['floats_per_ms'] / 1e6:.1f} G/s of floats{integers}"


def _kernels(limits: Mapping[str, Any]) -> str:
    """onnxruntime's rates on this machine, if they were measured."""
    rates = {kind: [kernel_rate(limits, kind, rows) for rows in (MANY, FEW)] for kind in KINDS}
    said = [f"{many / 1e6:.0f} and {few / 1e6:.0f} in {kind}" for kind, (many, few) in rates.items() if many and few]
    if not said:
        return ""
    return (
        f" One product of onnxruntime, its weight in a cache, multiplies with {MANY} rows and with {FEW}: "
        f"{', '.join(said)} (G/s); *least* takes the rate of {MANY}. *products*, where passes of 1 and {FEW} rows are "
        "compared: G/s of multiply-adds with weights, the head's included."
    )
