"""Tables of stacks under load: what was measured beside what was predicted, and the errors of several sittings.

A sitting is one calibrated profile and one bench on one day. What comes back in every sitting is the model's error, or
the texts'; what changes from one to the next is the machine's day.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from hsd_core.measure.bench.side_by_side import plain_of
from hsd_core.measure.load import errors
from hsd_core.measure.tables import markdown, rounded, stack_cells, with_interval


def table(found: Mapping[str, Any]) -> str:
    """Markdown: a row per stack and load, a line per crossing point, and the errors of the prediction."""
    names = stack_cells(dict.fromkeys(row["stack"] for row in found["rows"]))
    head = (
        *("stack", "requests", "tokens/s in sum", "predicted", "of a request"),
        *("times plain", "predicted", "theory", "as plain"),
    )
    body = [
        (
            names[row["stack"]],
            row["load"],
            rounded(row["sum"]),
            _or_dash(row["predicted_sum"]),
            "-" if row["each"] is None else with_interval(row["each"], row["each_interval"], 1),
            with_interval(row["speed_up"], row["interval"], 2),
            *("-" if one is None else f"{one:.2f}" for one in (row["predicted_speed_up"], _by_theory(found, row))),
            f"{row['equal']:.0%}",
        )
        for row in found["rows"]
    ]
    lines = [f"{names[stack]} {_until(at, found['loads'])}" for stack, at in found["crossings"].items()]
    if found["errors"]:
        costs, model = (median(abs(one[what]) for one in found["errors"]) for what in ("costs", "model"))
        lines += ["", f"predictions: of plain decoding off by {costs:.0%} (median), of speed-ups by {model:.0%}"]
    return "\n".join((markdown(head, body), "", *lines))


def sittings_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Markdown of `by_sitting`."""
    names = stack_cells(dict.fromkeys(row["stack"] for row in rows))
    head = ("stack", "requests", *(f"error, {name}" for name in rows[0]["each"]), "every day", "from day to day")
    body = [
        (
            names[row["stack"]],
            row["load"],
            *(f"{one:+.0%}" for one in (*row["each"].values(), row["model"])),
            f"{row['day']:.0%}",
        )
        for row in rows
    ]
    return markdown(head, body)


def _by_theory(found: Mapping[str, Any], row: Mapping[str, Any]) -> float | None:
    """The speed-up of a row by the theory alone."""
    plain = next(one for one in found["rows"] if (one["stack"], one["load"]) == (plain_of(row["stack"]), row["load"]))
    return float(row["theory_sum"] / plain["theory_sum"]) if row["theory_sum"] and plain["theory_sum"] else None


def _or_dash(value: float | None) -> str:
    return "-" if value is None else rounded(value)


def _until(at: Mapping[str, float | None], loads: Sequence[int]) -> str:
    if at["at"] is None:
        return f"pays at every load up to {loads[-1]}"
    if not at["at"]:
        return "pays at none of these loads"
    ends = [f"more than {loads[-1]}" if at[end] is None else rounded(at[end] or 0.0, 2) for end in ("low", "high")]
    return f"pays up to {rounded(at['at'], 2)} requests ({ends[0]} to {ends[1]})"


def by_sitting(sittings: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Errors of the speed-up in several sittings, each with its own profile and bench: of each stack but plain decoding
    and load that all have, `each` of them by name, their mean (`model`: what comes back every day) and the largest
    distance from it (`day`). The same for plain decoding's tokens/s in sum, whose mean should be 0.

    Raises:
        ValueError: they have none in common.
    """
    names = [f"{one['about']['recorded']}, {one['about']['machine']}" for one in sittings]
    known = [{(e["stack"], e["load"]): e for e in errors(one["rows"])} for one in sittings]
    rows = []
    for stack, load in [key for key in known[0] if all(key in other for other in known)]:
        what = "sum" if stack == plain_of(stack) else "model"
        each = [found[stack, load][what] for found in known]
        mean = sum(each) / len(each)
        day = max(abs(one - mean) for one in each)
        named = dict(zip(names, each, strict=True))
        rows.append({"stack": stack, "load": load, "each": named, "model": mean, "day": day})
    if not rows:
        raise ValueError("the sittings have no predicted stack in common at a load; give --profile and --load as there")
    return rows
