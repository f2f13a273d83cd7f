"""Tables in Markdown files, made anew from raw results.

A table stands between `<!-- results: FILE VIEW -->` and `<!-- /results -->`; FILE is a file of raw results, found from
the folder of the Markdown file. A benchmark has the views `stacks` (all), `best` (the fastest of each number of
levels) and `drafts` (what drafting takes and brings), a validation `sittings`, `stacks`, `models` and `terms`, what
`passes` measured `passes`, `lookups` and `rounds`. Every view ends with machine, date and command.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hsd_core.measure import bench
from hsd_core.measure.bench.outputs import runs_of
from hsd_core.measure.passes import tables
from hsd_core.measure.results.rawfile import read_raw

_BLOCK = re.compile(r"^(<!-- results: (\S+) (\S+) -->\n).*?^(<!-- /results -->)$", re.DOTALL | re.MULTILINE)
_OPENS = re.compile(r"^<!-- results:", re.MULTILINE)


def updated(path: Path) -> str:
    """The text of a Markdown file with its tables made anew.

    Raises:
        ValueError: a marker is not closed or names no view. OSError: it names no file.
    """
    text = path.read_text(encoding="utf-8")
    if len(_BLOCK.findall(text)) != len(_OPENS.findall(text)):
        raise ValueError(f"{path}: write <!-- results: FILE VIEW --> on a line, and <!-- /results --> behind the table")
    return _BLOCK.sub(lambda found: f"{found[1]}\n{view(path.parent / found[2], found[3])}\n\n{found[4]}", text)


def view(path: Path, name: str) -> str:
    """A table of a file of raw results, and a sentence on how it was measured.

    Raises:
        ValueError: it has no such view.
    """
    about, records = read_raw(path)
    if name not in (known := _VIEWS[about["kind"]]):
        raise ValueError(f"{path} has no view {name!r}; views are {', '.join(known)}")
    return known[name](about, records)


def views(path: Path) -> tuple[str, ...]:
    """The names of all views of a file of raw results."""
    return tuple(_VIEWS[read_raw(path)[0]["kind"]])


def _stacks(about: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> str:
    return _swept(about, _rows(about, records), bench.table)


def _rows(about: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return bench.summary(bench.whole(runs_of(records), about["stacks"]), drawn=bench.sampled(about))


def _best(about: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> str:
    """Of the stacks over the target as it is: the fastest of each number of levels, fastest first."""
    rows = _rows(about, records)
    depths: dict[int, dict[str, Any]] = {}
    for row in rows:
        if row["plain"] == "target":
            depths.setdefault(row["stack"].count(",") + 1, row)
    return _swept(about, sorted(depths.values(), key=lambda row: -row["tokens_per_s"]), bench.table)


def _drafts(about: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> str:
    return _swept(about, _rows(about, records), bench.drafts_table)


def _swept(about: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], table: Callable[..., str]) -> str:
    runs = max((row["prompts"] for row in rows), default=0)
    said = (
        f"{runs} prompts of `{about['prompts']}`, up to {about['max_new_tokens']} tokens each{_drawn(about)}. Measured "
        f"on {on(about)}, {about['recorded']}, by `{about['command']}`."
    )
    return f"{table(rows)}\n\n{said}"


def _drawn(about: Mapping[str, Any]) -> str:
    return f", drawn at temperature {about['temperature']:g}" if bench.sampled(about) else ""


def counted(n: int, what: str) -> str:
    """For example "2 threads"."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def on(about: Mapping[str, Any]) -> str:
    """A machine in a few words."""
    versions = about["versions"]
    torch, threads = versions.get("torch", "unknown"), counted(about["threads"], "thread")
    return f"{about['machine']} ({threads}, Python {versions['python']}, torch {torch})"


def _validation(name: str) -> Callable[[Mapping[str, Any], Sequence[Mapping[str, Any]]], str]:
    def make(about: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> str:
        from hsd_core.measure.validation.report import report
        from hsd_core.measure.validation.runs import read_validation
        from hsd_core.measure.validation.tables import TABLES, said

        validation = read_validation(about, records)
        return f"{TABLES[name](report(validation))}\n\n{said(validation)}"

    return make


def _passes(name: str) -> Callable[[Mapping[str, Any], Sequence[Mapping[str, Any]]], str]:
    def make(about: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> str:
        return (
            f"{tables.TABLES[name](records)}\n\n{tables.method(about)} Measured on {on(about)}, {about['recorded']}, "
            f"by `{about['command']}`."
        )

    return make


_VIEWS: dict[str, dict[str, Callable[[Mapping[str, Any], Sequence[Mapping[str, Any]]], str]]] = {
    "bench": {"stacks": _stacks, "best": _best, "drafts": _drafts},
    "validation": {name: _validation(name) for name in ("sittings", "stacks", "models", "terms", "levels")},
    "passes": {name: _passes(name) for name in tables.TABLES},
}
