"""The file of a target's outputs; an interrupted generation can resume.

JSON lines, appended as texts are finished: `kind`, `category`, `temperature`, `seed` (if sampled), `max_new_tokens`
(its limit; older files lack it), `prompt_ids`, `output_ids`, and `loop_from` if an output ends in a repeating pattern.
A record of an invented prompt has `written_from`, the index in `prompt_ids` at which the target began. A text that is
written again with a larger limit replaces the shorter one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hsd_core.measure.texts.selfgen import Job
from hsd_core.models.sampling import Sampling
from hsd_core.trace.conventions import loop_from
from hsd_core.typed import plain, write_whole
from hsd_core.typed.files import regular_file

_SETTINGS = ("temperature", "seed", "top_k", "top_p")
_BEGINNING = b'{"kind":'  # of every line made by `record`


def jobs_left(
    jobs: Sequence[Job],
    finished: Sequence[dict[str, Any]],
    sampling: Sampling,
    seed: int,
    *,
    limit: int = 0,
    ends: frozenset[int] = frozenset(),
) -> list[Job]:
    """The jobs without a finished record.

    finished: records of the output file. Records of another temperature or seed do not count, nor outputs that ended
    by a limit smaller than `limit` (of new tokens) without an id of `ends`. A record without a limit counts.
    """
    wanted = _settings(sampling, seed)
    done = {_name(r) for r in finished if _drawn(r) == wanted and not _cut_short(r, limit, ends)}
    return [job for job in jobs if (job.text.prompt_ids, job.copy) not in done]


def record(job: Job, output: list[int], sampling: Sampling, seed: int, *, limit: int | None = None) -> dict[str, Any]:
    """A finished text as a record. limit: of new tokens."""
    text, loop = job.text, loop_from(output)
    line: dict[str, Any] = {"kind": text.kind or text.category}
    if text.category:
        line["category"] = text.category
    if job.copy:
        line["copy"] = job.copy
    line |= _settings(sampling, seed)
    if limit is not None:
        line["max_new_tokens"] = limit
    line |= {"prompt_ids": list(text.prompt_ids), "output_ids": output}
    if text.written_from is not None:
        line["written_from"] = text.written_from
    return line if loop is None else {**line, "loop_from": loop}


def open_file(path: str | Path) -> list[dict[str, Any]]:
    """The records of an output file; an incomplete last line is removed from it.

    Raises:
        ValueError: it is compressed, or has a line that is no record; the file is not changed.
    """
    path = Path(path)
    if path.suffix == ".gz":
        raise ValueError(
            f"{path}: lines are appended as they come, so write to a plain file and compress it at the end"
        )
    data = regular_file(path).read_bytes() if path.exists() else b""
    *whole, last = data.split(b"\n")
    records = [_record(line, f"{path}, line {number}") for number, line in enumerate(whole, 1)]
    if _torn(last):
        os.truncate(path, len(data) - len(last))
    elif last:
        records.append(_record(last, f"{path}, line {len(whole) + 1}"))
        with path.open("ab") as file:
            file.write(b"\n")
    return records


def drop_outgrown(path: str | Path) -> None:
    """Remove outputs that were written again with a larger limit, so that no text counts twice."""
    path = Path(path)
    *lines, last = path.read_bytes().split(b"\n")  # the last is empty, or incomplete
    texts, largest = [], dict[object, int]()
    for number, line in enumerate(lines, 1):
        record = _record(line, f"{path}, line {number}")
        name, limit = (_name(record), *_drawn(record).items()), record.get("max_new_tokens")
        texts.append((line, name, limit))
        largest[name] = max(largest.get(name, 0), limit or 0)
    kept = [line for line, name, limit in texts if limit is None or limit == largest[name]]
    if len(kept) < len(lines):
        write_whole(path, b"\n".join([*kept, last]))


def _record(line: bytes, where: str) -> dict[str, Any]:
    try:
        value = plain(line)
    except ValueError:
        value = None
    ids = [value.get(name) for name in ("prompt_ids", "output_ids")] if isinstance(value, dict) else [None]
    if not all(isinstance(each, list) for each in ids):
        raise ValueError(f"{where}: no record of a written text; give a new file")
    return value  # type: ignore[no-any-return]


def _torn(line: bytes) -> bool:
    """Whether it is an incomplete record."""
    if not line or line[: len(_BEGINNING)] != _BEGINNING[: len(line)]:
        return False
    try:
        plain(line)
    except ValueError:
        return True
    return False


def _name(record: dict[str, Any]) -> tuple[tuple[int, ...], int]:
    """Identifies a text: the given prompt, and its number among equal ones."""
    return tuple(record["prompt_ids"][: record.get("written_from")]), record.get("copy", 0)


def _drawn(record: dict[str, Any]) -> dict[str, Any]:
    return {k: record[k] for k in _SETTINGS if k in record}


def _cut_short(record: dict[str, Any], limit: int, ends: frozenset[int]) -> bool:
    own, output = record.get("max_new_tokens"), record["output_ids"]
    return own is not None and own < limit and len(output) >= own and ends.isdisjoint(output[-1:])


def _settings(sampling: Sampling, seed: int) -> dict[str, Any]:
    """The settings that an output's tokens depend on besides the prompt, without the limit; greedy needs no seed."""
    if sampling.greedy:
        return {"temperature": 0.0}
    cuts = {k: v for k, v, off in (("top_k", sampling.top_k, 0), ("top_p", sampling.top_p, 1.0)) if v != off}
    return {"temperature": sampling.temperature, "seed": seed, **cuts}
