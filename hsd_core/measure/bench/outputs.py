"""What a benchmark leaves in its folder: results.json, results.csv, stacks.txt and report.md, from its raw runs.

results.json: `about` (machine, versions, command, prompts), `stacks` (a row a stack, fastest first: `asked`, its line
in the stacks file, `stack`, `tokens_per_s`, `speed_up`, `interval`, `tasks`, `accepted_per_pass`, `acceptance`, and
`equal`, the share of prompts whose text is plain decoding's, null where tokens were drawn), `peers` (`name`,
`tokens_per_s` or null, `why`) and the `claim` (see there).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hsd_core.measure.bench.prompts import DEFAULT
from hsd_core.measure.bench.side_by_side import Measurement, PeerRun, from_record, plain_of, whole
from hsd_core.measure.bench.summary import claim, peer_rows, sampled, summary
from hsd_core.measure.tables import OnClock
from hsd_core.typed import encode, write_whole

_COLUMNS = ("asked", "stack", "tokens_per_s", "speed_up", "low", "high", "accepted_per_pass", "equal", "prompts")


def results(about: Mapping[str, Any], records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The contents of results.json from a file of raw results; prompts that were not finished are left out."""
    records = list(records)
    kept = whole(runs_of(records), about["stacks"])
    finished = {run.prompt for run in kept}
    peers = [PeerRun(**record) for record in records if "peer" in record and record["prompt"] in finished]
    first = plain_of(about["stacks"][0])
    plain = {run.prompt: run for run in kept if run.stack == first}
    rows = summary(kept, drawn=sampled(about))
    return {
        "about": {key: value for key, value in about.items() if key not in ("stacks", "asked", "missing")},
        "stacks": [_stack(row, _line(about, row["stack"])) for row in rows],
        "peers": peer_rows(peers, plain, about.get("missing", {})),
        "claim": claim(rows, kept, first),
    }


def _line(about: Mapping[str, Any], stack: str) -> str:
    """What asked for a stack: `default`, if that is one of its lines in the file, else the first of them, else nobody,
    where it is the plain decoding of another one."""
    lines = [line for line, found in about.get("asked", {}).items() if found == stack]
    return DEFAULT if DEFAULT in lines else next(iter(lines), stack)


def _stack(row: Mapping[str, Any], line: str) -> dict[str, Any]:
    kept = ("stack", "plain", "prompts", "tokens_per_s", "speed_up", "interval", "slower_on", "acceptance", "tasks")
    return {
        "asked": line,
        **{name: row[name] for name in kept},
        "accepted_per_pass": row["tokens_per_target_forward"],
        "equal": None if row["equal"] is None else row["equal"] / row["prompts"],
    }


def write(folder: Path, found: Mapping[str, Any], asked: Mapping[str, str], report: str) -> None:
    """Write results.json, results.csv, stacks.txt and report.md into a folder."""
    write_whole(folder / "results.json", encode(found))
    write_whole(folder / "results.csv", as_csv(found).encode())
    write_whole(folder / "stacks.txt", as_stacks(asked).encode())
    write_whole(folder / "report.md", report.encode())


def as_stacks(asked: Mapping[str, str]) -> str:
    """A stacks file of what was asked for (line -> stack): `default` may be another stack one day, and files grow."""
    return "".join(f"{stack}\n" for stack in dict.fromkeys(OnClock.read(one).stack for one in asked.values()))


def as_csv(found: Mapping[str, Any]) -> str:
    """The rows of the stacks in results.json, a column a task."""
    tasks = dict.fromkeys(task for row in found["stacks"] for task in row["tasks"])
    written = io.StringIO()
    table = csv.DictWriter(written, [*_COLUMNS, *tasks])
    table.writeheader()
    for row in found["stacks"]:
        low, high = row["interval"]
        kept = {name: row[name] for name in _COLUMNS if name in row}
        table.writerow({**kept, "low": low, "high": high, **row["tasks"]})
    return written.getvalue()


def runs_of(records: Sequence[Mapping[str, Any]]) -> list[Measurement]:
    """The stacks' runs among raw records."""
    return [from_record(record) for record in records if "stack" in record]
