"""The file of what a target wrote: it can be interrupted and gone on with.

JSON lines, appended as they come: `kind`, `category`, `temperature`, `seed` (of sampled outputs), `prompt_ids`,
`output_ids`, and `loop_from` where an output ends in a repeating pattern. A record of an invented prompt has
`written_from`, the place in `prompt_ids` where the target began.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hsd_core.loops import loop_from
from hsd_core.sampling import Sampling
from hsd_core.selfgen import Job

_SETTINGS = ("temperature", "seed", "top_k", "top_p")
_BEGINNING = b'{"kind":'  # of every line that `record` makes


def jobs_left(jobs: Sequence[Job], finished: Sequence[dict[str, Any]], sampling: Sampling, seed: int) -> list[Job]:
    """Those still to be written.

    `finished`: records of the output file; those of another temperature or seed do not count.
    """
    wanted = _settings(sampling, seed)
    done = {
        (tuple(r["prompt_ids"][: r.get("written_from")]), r.get("copy", 0))
        for r in finished
        if {k: r[k] for k in _SETTINGS if k in r} == wanted
    }
    return [job for job in jobs if (job.text.prompt_ids, job.copy) not in done]


def record(job: Job, output: list[int], sampling: Sampling, seed: int) -> dict[str, Any]:
    """A finished text as a line of the file."""
    text, loop = job.text, loop_from(output)
    line: dict[str, Any] = {"kind": text.kind or text.category}
    if text.category:
        line["category"] = text.category
    if job.copy:
        line["copy"] = job.copy
    line |= _settings(sampling, seed) | {"prompt_ids": list(text.prompt_ids), "output_ids": output}
    if text.written_from is not None:
        line["written_from"] = text.written_from
    return line if loop is None else {**line, "loop_from": loop}


def open_file(path: str | Path) -> list[dict[str, Any]]:
    """The finished records of an output file; a last line that an interruption tore is cut off. Creates the file.

    Raises:
        ValueError: it is compressed, or holds a line that is neither a record nor the beginning of one; it is left as
            it is.
    """
    path = Path(path)
    if path.suffix == ".gz":
        raise ValueError(
            f"{path}: lines are appended as they come, so write to a plain file and compress it at the end"
        )
    data = path.read_bytes() if path.exists() else b""
    *whole, last = data.split(b"\n")
    records = [_record(line, f"{path}, line {number}") for number, line in enumerate(whole, 1)]
    if _torn(last):
        os.truncate(path, len(data) - len(last))
    elif last:
        records.append(_record(last, f"{path}, line {len(whole) + 1}"))
        with path.open("ab") as file:
            file.write(b"\n")
    elif not data:
        path.touch()
    return records


def _record(line: bytes, where: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        value = None
    ids = [value.get(name) for name in ("prompt_ids", "output_ids")] if isinstance(value, dict) else [None]
    if not all(isinstance(each, list) for each in ids):
        raise ValueError(f"{where}: no record of a written text; give a new file")
    return value  # type: ignore[no-any-return]


def _torn(line: bytes) -> bool:
    """Whether it is the beginning of a line of ours, and not the whole of any JSON."""
    if not line or line[: len(_BEGINNING)] != _BEGINNING[: len(line)]:
        return False
    try:
        json.loads(line)
    except ValueError:
        return True
    return False


def _settings(sampling: Sampling, seed: int) -> dict[str, Any]:
    """What decides an output beside its prompt; a greedy one needs no seed."""
    if sampling.greedy:
        return {"temperature": 0.0}
    cuts = {k: v for k, v, off in (("top_k", sampling.top_k, 0), ("top_p", sampling.top_p, 1.0)) if v != off}
    return {"temperature": sampling.temperature, "seed": seed, **cuts}
