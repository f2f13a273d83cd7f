"""Tables and sentences from raw results, updated in Markdown files.

A table is between `<!-- results: FILE VIEW -->` and `<!-- /results -->`; FILE is a file of raw results relative to the
Markdown file's folder, or several separated by commas, for sentences one below another. A benchmark has the views
`stacks` (all), `best` (the fastest for each number of levels), `drafts` (cost and share of drafts) and `categories`
(each stack on each category of prompts); a validation `sittings`, `stacks`, `models`, `terms` and `levels`; `passes`
has `passes`, `rows`, `lookups` and `rounds`; a system's study has the `TABLES` of its `study.py`. Every table ends with
machine, date and command. For prose a benchmark and a validation have a `sentence`, and a benchmark
`speed-ups:STACK;STACK` (names without blanks) and `peers`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from hsd_core.grammar.registry import plugins
from hsd_core.measure import bench
from hsd_core.measure.bench.side_by_side import Measurement
from hsd_core.measure.bench.summary import claim, results, runs_of, sampled
from hsd_core.measure.passes import passes_report
from hsd_core.measure.rawfile import read_raw
from hsd_core.measure.tables import counted, rounded
from hsd_core.theory import Profile
from hsd_core.typed import files

if TYPE_CHECKING:
    from hsd_core.measure.validate.report import Report


About: TypeAlias = Mapping[str, Any]
Records: TypeAlias = Sequence[Mapping[str, Any]]
SENTENCE, SPEED_UPS, PEERS = SENTENCES = ("sentence", "speed-ups", "peers")
_BLOCK = re.compile(r"^(<!-- results: (\S+) (\S+) -->\n).*?^(<!-- /results -->)$", re.DOTALL | re.MULTILINE)
_OPENS = re.compile(r"^<!-- results:", re.MULTILINE)


def updated(path: Path) -> str:
    """The text of a Markdown file with updated tables.

    Raises:
        ValueError: a marker is not closed, or names no view.
        OSError: a marker names no file.
    """
    text = files.read_text(path)
    if len(_BLOCK.findall(text)) != len(_OPENS.findall(text)):
        raise ValueError(f"{path}: write <!-- results: FILE VIEW --> on a line, and <!-- /results --> behind the table")

    def made(found: re.Match[str]) -> str:
        views = "\n".join(view(path.parent / name, found[3]) for name in found[2].split(","))
        return f"{found[1]}\n{views}\n\n{found[4]}"

    return _BLOCK.sub(made, text)


def view(path: Path, name: str) -> str:
    """A table from a file of raw results, and a sentence on its method.

    Raises:
        ValueError: it has no such view.
    """
    about, records = read_raw(path)
    make, known = _made_of(path, about["kind"])
    if name.partition(":")[0] not in known:
        raise ValueError(f"{path} has no view {name!r}; views are {', '.join(known)}")
    return make(name, about, records)


def views(path: Path) -> tuple[str, ...]:
    """The names of all views of a file of raw results."""
    return _made_of(path, read_raw(path)[0]["kind"])[1]


def _bench(name: str, about: About, records: Records) -> str:
    runs = bench.completed(runs_of(records), about["stacks"])
    rows = bench.summary(runs, drawn=bench.sampled(about))
    if name == SENTENCE:
        return of_bench(about, rows, runs)
    if name == PEERS:
        return of_peers(about, rows, results(about, records)["peers"])
    what, _, asked = name.partition(":")
    if what == SPEED_UPS:
        return of_stacks(about, rows, asked.split(";") if asked else None)
    if name == "best":  # of the stacks over the target as it is: of each number of levels
        rows = bench.best_by_levels(rows, "target")
    drawn = f", drawn at temperature {about['temperature']:g}" if bench.sampled(about) else ""
    said = (
        f"{max((row['prompts'] for row in rows), default=0)} prompts of `{about['prompts']}`, up to "
        f"{about['max_new_tokens']} tokens each{drawn}."
    )
    if name == "categories":
        table = bench.category_table(bench.by_category(runs))
    else:
        table = (bench.drafts_table if name == "drafts" else bench.table)(rows)
    return f"{table}\n\n{said} {_measured(about)}"


def _validation(name: str, about: About, records: Records) -> str:
    from hsd_core.measure.validate.raw_results import read_validation
    from hsd_core.measure.validate.report import TABLES, method, report

    validation = read_validation(about, records)
    if name == SENTENCE:
        machine = "; ".join(dict.fromkeys(str(sitting.began["machine"]) for sitting in validation.sittings))
        return of_validation(about, report(validation), machine)
    return f"{TABLES[name](report(validation))}\n\n{method(validation)}"


def _of_study(study: Any, name: str, about: About, records: Records) -> str:
    """A table of `passes` or of a system's study, from its `TABLES` over its `figures` (or the records), with its
    `method`."""
    made = study.figures(about, records) if hasattr(study, "figures") else records
    return f"{study.TABLES[name](made)}\n\n{study.method(about)} {_measured(about)}"


def _measured(about: About) -> str:
    return f"Measured on {on(about)}, {about['recorded']}, by `{about['command']}`."


def on(about: About) -> str:
    """A machine in a few words."""
    versions = about["versions"]
    torch, threads = versions.get("torch", "unknown"), counted(about["threads"], "thread")
    return f"{about['machine']} ({threads}, Python {versions['python']}, torch {torch})"


def _made_of(path: Path, kind: str) -> tuple[Callable[[str, About, Records], str], tuple[str, ...]]:
    """The function that makes tables for a kind of file, and the names of its views.

    Raises:
        ValueError: the kind is unknown.
    """
    if kind in _VIEWS:
        return _VIEWS[kind]
    found = next((study for study in plugins("study") if getattr(study, "KIND", "") == kind), None)
    if found is None:
        raise ValueError(f"{path} holds results of {kind!r}, of which nothing here makes tables")
    return partial(_of_study, found), tuple(found.TABLES)


_VIEWS: dict[str, tuple[Callable[[str, About, Records], str], tuple[str, ...]]] = {
    "bench": (_bench, ("stacks", "best", "drafts", "categories", *SENTENCES)),
    "validation": (_validation, ("sittings", "stacks", "models", "terms", "levels", SENTENCE)),
    "passes": (partial(_of_study, passes_report), tuple(passes_report.TABLES)),
}


def of_bench(about: About, rows: Sequence[dict[str, Any]], measured: Sequence[Measurement]) -> str:
    """The best stack for each number of levels over the target, and the gain of the best over the next."""
    found = claim(rows, measured, "target")
    first, *others = found["best"]
    said = [
        f"the best stack of {counted(first['levels'], 'level')} gains {_gain(first)}",
        *(f"of {counted(one['levels'], 'level')} {_gain(one)}" for one in others),
    ]
    if over := found["over"]:
        said.append(f"the first is {over['speed_up']:.2f} ({_interval(over['interval'])}) times as fast as the second")
    return f"- {_on(about, rows)}: {'; '.join(said)}."


def of_stacks(about: About, rows: Sequence[dict[str, Any]], names: Sequence[str] | None) -> str:
    """The speed-ups of stacks over plain decoding, in order; names None: of all stacks.

    Raises:
        ValueError: a name is no stack of the benchmark.
    """
    by = {row["stack"].replace(" ", ""): row for row in rows}
    if missing := [name for name in names or () if name not in by]:
        raise ValueError(f"no stack {missing[0]} was measured; stacks are {', '.join(by)}")
    asked = [by[name] for name in names] if names else [row for row in rows if row["stack"] != row["plain"]]
    return f"- {_on(about, rows)}: gains of {_listed([_gain(row) for row in asked])}."


def of_peers(about: About, rows: Sequence[dict[str, Any]], peers: Sequence[dict[str, Any]]) -> str:
    """tokens/s of other programs, and of our plain decoding of each target and the quickest stack over it."""
    theirs = [f"{one['name']} {rounded(one['tokens_per_s'])}" for one in peers if one["tokens_per_s"]]
    best: dict[str, Any] = {}
    for row in sorted(rows, key=lambda row: -row["tokens_per_s"]):
        best.setdefault(row["plain"], row)
    ours = [
        f"`{one}` {rounded(next(row['tokens_per_s'] for row in rows if row['stack'] == one))}, "
        f"`{row['stack']}` {rounded(row['tokens_per_s'])}"
        for one, row in best.items()
    ]
    return f"- {_on(about, rows)}, tokens/s: {_listed([*theirs, 'here ' + ', '.join(ours)])}."


def of_validation(about: About, found: Report, machine: str) -> str:
    """The errors of predicted speed-ups: the median of each sitting, and the worst of all."""
    parts = [part for part in found.parts if part.number is not None]
    off = _listed([f"{part.speed_ups.median:.1%}" for part in parts])
    worst = max(part.speed_ups.worst for part in parts)
    return f"- {machine}, {len(found.rows)} stacks, {about['recorded'][:10]}: {off}; at worst {worst:.1%}."


def _on(about: About, rows: Sequence[Mapping[str, Any]]) -> str:
    """The machine, the number of prompts, and the temperature if sampled."""
    prompts = counted(max(row["prompts"] for row in rows), "prompt")
    drawn = f", temperature {about['temperature']:g}" if sampled(about) else ""
    return f"{about['machine']}, {prompts}{drawn}"


def _gain(one: Mapping[str, Any]) -> str:
    return f"{one['speed_up']:.2f} ({_interval(one['interval'])}, `{one['stack']}`)"


def _interval(ends: Sequence[float]) -> str:
    return f"{ends[0]:.2f} to {ends[1]:.2f}"


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def measured_on(about: Mapping[str, Any], profiles: list[Profile]) -> Profile | None:
    """The greedy profile of the machine, preset and device of these results, or None."""
    same = ("machine", "preset", "device")
    found = (one for one in profiles if one.temperature == 0 and all(one.about.get(x) == about.get(x) for x in same))
    return next(found, None)
