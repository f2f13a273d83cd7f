"""Tables in Markdown files, made again from raw results.

A table stands between `<!-- results: FILE VIEW -->` and `<!-- /results -->`; FILE is a file of raw results, found from
the folder of the Markdown file, or several with commas between them, for sentences below each other. A benchmark has
the views `stacks` (all), `best` (the fastest of each number of levels) and `drafts` (what drafting takes and brings), a
validation `sittings`, `stacks`, `models` and `terms`, what `passes` measured `passes`, `lookups` and `rounds`, a
system's study those that its `study.py` names in `views`. Every table ends with machine, date and command. For
prose a benchmark and a validation have a `sentence` too, and a benchmark `speed-ups:STACK;STACK` of stacks by their
names (without blanks) and `peers`, other programs beside ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from hsd_core.grammar.registry import plugins
from hsd_core.measure import bench
from hsd_core.measure.bench.outputs import results, runs_of
from hsd_core.measure.passes import passes_report
from hsd_core.measure.results import sentences
from hsd_core.measure.results.rawfile import read_raw
from hsd_core.measure.results.sheet import counted
from hsd_core.typed import bounded

About: TypeAlias = Mapping[str, Any]
Records: TypeAlias = Sequence[Mapping[str, Any]]
SENTENCE, SPEED_UPS, PEERS = SENTENCES = ("sentence", "speed-ups", "peers")
_BLOCK = re.compile(r"^(<!-- results: (\S+) (\S+) -->\n).*?^(<!-- /results -->)$", re.DOTALL | re.MULTILINE)
_OPENS = re.compile(r"^<!-- results:", re.MULTILINE)


def updated(path: Path) -> str:
    """The text of a Markdown file with its tables made again.

    Raises:
        ValueError: a marker is not closed or names no view. OSError: it names no file.
    """
    text = bounded.text(path)
    if len(_BLOCK.findall(text)) != len(_OPENS.findall(text)):
        raise ValueError(f"{path}: write <!-- results: FILE VIEW --> on a line, and <!-- /results --> behind the table")

    def made(found: re.Match[str]) -> str:
        views = "\n".join(view(path.parent / name, found[3]) for name in found[2].split(","))
        return f"{found[1]}\n{views}\n\n{found[4]}"

    return _BLOCK.sub(made, text)


def view(path: Path, name: str) -> str:
    """A table of a file of raw results, and a sentence on how it was measured.

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
    runs = bench.whole(runs_of(records), about["stacks"])
    rows = bench.summary(runs, drawn=bench.sampled(about))
    if name == SENTENCE:
        return sentences.of_bench(about, rows, runs)
    if name == PEERS:
        return sentences.of_peers(about, rows, results(about, records)["peers"])
    what, _, asked = name.partition(":")
    if what == SPEED_UPS:
        return sentences.of_stacks(about, rows, asked.split(";") if asked else None)
    if name == "best":  # of the stacks over the target as it is: of each number of levels
        rows = bench.best_by_levels(rows, "target")
    drawn = f", drawn at temperature {about['temperature']:g}" if bench.sampled(about) else ""
    said = (
        f"{max((row['prompts'] for row in rows), default=0)} prompts of `{about['prompts']}`, up to "
        f"{about['max_new_tokens']} tokens each{drawn}."
    )
    table = bench.drafts_table if name == "drafts" else bench.table
    return f"{table(rows)}\n\n{said} {_measured(about)}"


def _validation(name: str, about: About, records: Records) -> str:
    from hsd_core.measure.validate.raw_results import read_validation
    from hsd_core.measure.validate.report import report
    from hsd_core.measure.validate.tables import TABLES, said

    validation = read_validation(about, records)
    if name == SENTENCE:
        machine = "; ".join(dict.fromkeys(str(sitting.began["machine"]) for sitting in validation.sittings))
        return sentences.of_validation(about, report(validation), machine)
    return f"{TABLES[name](report(validation))}\n\n{said(validation)}"


def _passes(name: str, about: About, records: Records) -> str:
    return f"{passes_report.TABLES[name](records)}\n\n{passes_report.method(about)} {_measured(about)}"


def _measured(about: About) -> str:
    return f"Measured on {on(about)}, {about['recorded']}, by `{about['command']}`."


def on(about: About) -> str:
    """A machine in a few words."""
    versions = about["versions"]
    torch, threads = versions.get("torch", "unknown"), counted(about["threads"], "thread")
    return f"{about['machine']} ({threads}, Python {versions['python']}, torch {torch})"


def _made_of(path: Path, kind: str) -> tuple[Callable[[str, About, Records], str], tuple[str, ...]]:
    """What makes tables of a file of this kind, and their names.

    Raises:
        ValueError: nothing here does.
    """
    if kind in _VIEWS:
        return _VIEWS[kind]
    found = next((study for study in plugins("study") if getattr(study, "KIND", "") == kind), None)
    if found is None:
        raise ValueError(f"{path} holds results of {kind!r}, of which nothing here makes tables")
    return lambda name, about, records: f"{found.view(name, about, records)} {_measured(about)}", found.views()


_VIEWS: dict[str, tuple[Callable[[str, About, Records], str], tuple[str, ...]]] = {
    "bench": (_bench, ("stacks", "best", "drafts", *SENTENCES)),
    "validation": (_validation, ("sittings", "stacks", "models", "terms", "levels", SENTENCE)),
    "passes": (_passes, tuple(passes_report.TABLES)),
}
