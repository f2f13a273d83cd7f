"""What views of a cache are worth, in tables: agreement by budget, ms by length, and the length from which they pay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hsd_core.measure import tables
from hsd_core.systems.views.study import EVERY, TARGET, WINDOW
from hsd_core.theory.search.prices_by_length import LinearCosts, view_gain, view_pays_from

Records = Sequence[Mapping[str, Any]]


def agreements(records: Records) -> str:
    """A row for each text, dtype, selection and budget; a column for each length."""
    own = [r for r in records if r["what"] == "agreement"]
    lengths = sorted({r["length"] for r in own})
    found = {(r["text"], r["dtype"], r["keep"], r["budget"], r["length"]): r["agree"] for r in own}
    body = []
    for text, dtype, keep, budget in dict.fromkeys(key[:4] for key in found):
        cells = (found.get((text, dtype, keep, budget, length)) for length in lengths)
        body.append((text, dtype, keep, budget, *("" if one is None else f"{one:.3f}" for one in cells)))
    return tables.markdown(("text", "weights", "keep", "budget", *(f"{n:,} tokens" for n in lengths)), body)


def costs(records: Records) -> str:
    """A row for each level and number of rows; ms by length."""
    own = [r for r in records if r["what"] == "cost"]
    lengths = sorted({r["length"] for r in own})
    found = {(r["level"], r["dtype"], r["budget"], r["rows"], r["length"]): r["ms"] for r in own}
    body = []
    for level, dtype, budget, rows in sorted(
        dict.fromkeys(key[:4] for key in found), key=lambda key: (*key[:3], key[3])
    ):
        called = "the whole cache" if level == TARGET else f"view of {budget:,}, {dtype}"
        cells = (found.get((level, dtype, budget, rows, length)) for length in lengths)
        body.append((called, rows, *("" if one is None else f"{one:.1f}" for one in cells)))
    return tables.markdown(("ms of a pass over", "rows", *(f"{n:,} tokens" for n in lengths)), body)


def gains(records: Records) -> str:
    """For each text, dtype, selection and budget: how much faster than the target alone at the longest length, with
    which T, and the length from which that is more than 1."""
    times = [r for r in records if r["what"] == "cost"]
    target = LinearCosts.fitted({(r["rows"], r["length"]): r["ms"] for r in times if r["level"] == TARGET})
    views = {(r["dtype"], r["budget"], r["length"]): r["ms"] for r in times if r["level"] != TARGET and r["rows"] == 1}
    own = [r for r in records if r["what"] == "agreement"]
    longest = {r["text"]: max(one["length"] for one in own if one["text"] == r["text"]) for r in own}
    body = []
    for r in own:
        if r["length"] != longest[r["text"]]:
            continue
        of = [ms for (dtype, budget, _), ms in views.items() if (dtype, budget) == (r["dtype"], r["budget"])]
        ms = sorted(of)[len(of) // 2]
        gain, block = view_gain(target, ms, r["agree"], r["length"])
        first = view_pays_from(target, ms, r["agree"])
        body.append(
            (
                r["text"],
                r["dtype"],
                r["keep"],
                r["budget"],
                f"{r['agree']:.3f}",
                f"{gain:.2f} (T = {block})",
                "never" if first is None else "always" if first <= 1 else f"{first:,}",
            )
        )
    head = ("text", "weights", "keep", "budget", "agreement", "times as fast as the target alone", "pays from (tokens)")
    return tables.markdown(head, body)


TABLES = {"agreements": agreements, "costs": costs, "gains": gains}


def said(about: Mapping[str, Any]) -> str:
    """What was read, and how."""
    return (
        f"{about['texts']} texts of `{about['prompts']}`, read as they stand by {about['preset']}. At every length "
        f"slots are chosen as behind a prompt of so many tokens, then {WINDOW} tokens are read, {EVERY} in a pass, and "
        "each time the view takes over what the whole cache has. Agreement: first choices that are the whole cache's. "
        "Gains are computed from both, with a line in the length for each number of rows; beyond the measured lengths "
        "they are extrapolated, at the agreement of the longest."
    )
