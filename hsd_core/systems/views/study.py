"""Tables on views of a cache: agreement by budget, ms by length, and the length from which views pay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hsd_core.cli.options import counts
from hsd_core.levels.trunk import Layered
from hsd_core.measure import tables
from hsd_core.systems.views.view_measurements import EVERY, TARGET, WINDOW, read
from hsd_core.theory.search.prices_by_length import LinearCosts, view_gain, view_pays_from

if TYPE_CHECKING:
    import argparse

    from hsd_core.cli.depth import Subject

KIND, OPTION, LENGTHS = "views", "views", True
USUAL_LENGTHS = (1024, 2048, 4096, 7500)
Records = Sequence[Mapping[str, Any]]


def agreements(records: Records) -> str:
    """Agreement: a row for each text, dtype, selection and budget; a column for each length."""
    own = [r for r in records if r["what"] == "agreement"]
    lengths = sorted({r["length"] for r in own})
    found = {(r["text"], r["dtype"], r["keep"], r["budget"], r["length"]): r["agree"] for r in own}
    body = []
    for text, dtype, keep, budget in dict.fromkeys(key[:4] for key in found):
        cells = (found.get((text, dtype, keep, budget, length)) for length in lengths)
        body.append((text, dtype, keep, budget, *("" if one is None else f"{one:.3f}" for one in cells)))
    return tables.markdown(("text", "weights", "keep", "budget", *(f"{n:,} tokens" for n in lengths)), body)


def costs(records: Records) -> str:
    """ms of passes: a row for each level and number of rows; a column for each length."""
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
    """For each text, dtype, selection and budget: the speed-up over the target alone at the longest length, with its T,
    and the length from which it is more than 1."""
    times = [r for r in records if r["what"] == "cost"]
    target = LinearCosts.fitted({(r["rows"], r["length"]): r["ms"] for r in times if r["level"] == TARGET})
    single = {(r["dtype"], r["budget"], r["length"]): r["ms"] for r in times if r["level"] != TARGET and r["rows"] == 1}
    own = [r for r in records if r["what"] == "agreement"]
    longest = {r["text"]: max(one["length"] for one in own if one["text"] == r["text"]) for r in own}
    body = []
    for r in own:
        if r["length"] != longest[r["text"]]:
            continue
        of = [ms for (dtype, budget, _), ms in single.items() if (dtype, budget) == (r["dtype"], r["budget"])]
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


def method(about: Mapping[str, Any]) -> str:
    """The method, in words."""
    return (
        f"{about['texts']} texts of `{about['prompts']}`, read as they stand by {about['preset']}. At every length "
        f"slots are chosen as behind a prompt of so many tokens, then {WINDOW} tokens are read, {EVERY} in a pass, and "
        "each time the view takes over what the whole cache has. Agreement: first choices that are the whole cache's. "
        "Gains are computed from both, with a line in the length for each number of rows; beyond the measured lengths "
        "they are extrapolated, at the agreement of the longest."
    )


def add(parser: argparse.ArgumentParser) -> None:
    counts(
        parser,
        "--views BUDGET",
        "instead: views of so many positions of the target's cache (TriForce) along the prompts themselves, by "
        "length: how often they choose its token, what their passes take, and from which length on they pay; "
        f"--lengths are of the text before (default {' '.join(map(str, USUAL_LENGTHS))})",
        nargs="+",
    )


def act(subject: Subject) -> None:
    """Print the agreement, costs and gains of views along the given texts; --out keeps them."""
    lengths = subject.options.lengths or USUAL_LENGTHS
    longest = max(len(text.prompt_ids) for text in subject.texts)
    if len({n for n in lengths if n + WINDOW < longest}) < 2:
        raise ValueError(
            f"views are measured along {WINDOW} tokens behind each length, and the longest text has {longest} tokens; "
            "name two lengths that fit with --lengths"
        )
    decoder = subject.running(Layered, "whose cache no view reads")
    copies = {decoder.dtype: decoder}
    if decoder.dtype == "float32" and decoder.device == "cpu":
        copies["int8"] = subject.pipeline.entries(f"int8,{subject.stack}")[0].level.decoder  # type: ignore[attr-defined]
    given = [(text.sort or "text", text.prompt_ids) for text in subject.texts]
    progress = subject.progress("length of a text", len(lengths))
    records = [*read(decoder, copies, given, lengths, subject.options.views, progress)]
    subject.keep(subject.about(KIND, texts=len(given)), records)
    print("\n\n".join(table(records) for table in TABLES.values()))
