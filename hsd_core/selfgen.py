"""Self-generation: what a target writes after many prompts, in batches, into a file that can be gone on with.

Drafts are trained on it and n-gram databases are filled from it. The file is JSON lines, append-only: `kind`,
`category`, `temperature`, `seed` (of sampled outputs), `prompt_ids`, `output_ids`, and `loop_from` where an output ends
in a repeating pattern.

Every text has a generator of its own, seeded by the run's seed, its prompt and how many equal prompts stand before it,
so what is written for a prompt does not depend on the batch size, on the other prompts or on interruptions; only
near ties may (see `equality`), where a device's products differ in the last bits with the number of rows.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from hsd_core.decoders.batched import BatchedDecoder
from hsd_core.decoders.lean import LeanDecoder
from hsd_core.sampling import Sampling, law
from hsd_core.texts import Text

_SETTINGS = ("temperature", "seed", "top_k", "top_p")
LONGEST_PERIOD, FEWEST_TURNS, SHORTEST_LOOP = 48, 3, 12  # tokens, times, tokens


@dataclass(frozen=True, slots=True)
class Job:
    """A text to write. `copy`: how many equal prompts stand before it in the file."""

    text: Text
    copy: int

    def chance(self, seed: int) -> random.Random:
        """The generator of this text alone."""
        name = hashlib.sha256(json.dumps([seed, self.copy, self.text.prompt_ids]).encode()).hexdigest()
        return random.Random(name)


@dataclass(slots=True)
class _Row:
    job: Job
    chance: random.Random
    limit: int
    ids: list[int] = field(default_factory=list)


def jobs_left(texts: Sequence[Text], finished: Sequence[dict[str, Any]], sampling: Sampling, seed: int) -> list[Job]:
    """The texts still to be written: every prompt once for each time that it stands in the file.

    `finished`: records of the output file; those of another temperature or seed do not count.
    """
    wanted = _settings(sampling, seed)
    done = {
        (tuple(r["prompt_ids"]), r.get("copy", 0)) for r in finished if {k: r[k] for k in _SETTINGS if k in r} == wanted
    }
    seen: Counter[tuple[int, ...]] = Counter()
    jobs = []
    for text in texts:
        copy = seen[text.prompt_ids]
        seen[text.prompt_ids] += 1
        if (text.prompt_ids, copy) not in done:
            jobs.append(Job(text, copy))
    return jobs


def generate(
    decoder: LeanDecoder,
    jobs: Sequence[Job],
    sampling: Sampling,
    *,
    ends: frozenset[int],
    max_new_tokens: int = 192,
    batch: int = 16,
    seed: int = 0,
) -> Iterator[tuple[Job, list[int]]]:
    """Write all texts, at most `batch` at a time; yields each as it is finished, so not in order.

    An output ends with an id of `ends`, after `max_new_tokens`, or where the context does.

    Raises:
        ValueError: a prompt fills the context, or an id lies beyond the vocabulary.
    """
    if max_new_tokens < 1 or batch < 1:
        raise ValueError(f"max_new_tokens is {max_new_tokens} and batch {batch}; both must be at least 1")
    if not jobs:
        return
    for job in jobs:
        _check(job.text.prompt_ids, decoder)
    # Long prompts first, so that no long one is left alone at the end; the cache is as long as the longest needs.
    waiting = sorted(jobs, key=lambda job: len(job.text.prompt_ids))
    capacity = min(decoder.max_positions, len(waiting[-1].text.prompt_ids) + max_new_tokens)
    slots = min(batch, len(jobs))
    batched = BatchedDecoder(decoder)
    cache = batched.new_cache(slots, capacity)
    rows: list[_Row | None] = [None] * slots
    while waiting or any(rows):
        for b in range(slots):
            while rows[b] is None and waiting:
                job = waiting.pop()
                prompt = job.text.prompt_ids
                row = _Row(job, job.chance(seed), min(max_new_tokens, capacity - len(prompt)))
                logits = decoder.forward(list(prompt), cache.slot(b), 0, 1)
                row.ids += _draw(logits, sampling, [row.chance])
                rows[b] = row
                if _over(row, ends):
                    yield row.job, row.ids
                    rows[b] = None
        live = [row for row in rows if row]
        if not live:
            continue
        # An empty slot runs along as a token at position 0: nobody reads it, and the batch keeps its shape.
        ids = [row.ids[-1] if row else 0 for row in rows]
        positions = [len(row.job.text.prompt_ids) + len(row.ids) - 1 if row else 0 for row in rows]
        logits = batched.step(ids, positions, cache)
        index = torch.tensor([b for b in range(slots) if rows[b]], device=logits.device)
        for row, token in zip(live, _draw(logits[index], sampling, [row.chance for row in live]), strict=True):
            row.ids.append(token)
        for b, ended in enumerate(rows):
            if ended and _over(ended, ends):
                yield ended.job, ended.ids
                rows[b] = None


def loop_from(ids: Sequence[int]) -> int | None:
    """Where an output starts to repeat itself until its end, or None: the first copy of the pattern is not counted.

    A loop is a pattern of up to 48 tokens, seen at least 3 times and over at least 12 tokens at the very end. What
    follows the index only flatters n-gram and agreement figures.
    """
    found: tuple[int, int] | None = None
    for period in range(1, min(LONGEST_PERIOD, len(ids) // FEWEST_TURNS) + 1):
        start = len(ids) - period
        while start > 0 and ids[start - 1] == ids[start - 1 + period]:
            start -= 1
        long_enough = len(ids) - start >= max(FEWEST_TURNS * period, SHORTEST_LOOP)
        if long_enough and (found is None or start < found[0]):
            found = start, period
    return None if found is None else sum(found)


def record(job: Job, output: list[int], sampling: Sampling, seed: int) -> dict[str, Any]:
    """A finished text as a line of the file."""
    text, loop = job.text, loop_from(output)
    line: dict[str, Any] = {"kind": text.kind or text.category}
    if text.category:
        line["category"] = text.category
    if job.copy:
        line["copy"] = job.copy
    line |= _settings(sampling, seed) | {"prompt_ids": list(text.prompt_ids), "output_ids": output}
    return line if loop is None else {**line, "loop_from": loop}


def open_file(path: str | Path) -> list[dict[str, Any]]:
    """The finished records of an output file; a last line that an interruption tore is cut off. Creates the file.

    Raises:
        ValueError: it is compressed, or a line before the last is no record.
    """
    path = Path(path)
    if path.suffix == ".gz":
        raise ValueError(
            f"{path}: lines are appended as they come, so write to a plain file and compress it at the end"
        )
    data = path.read_bytes() if path.exists() else b""
    *whole, torn = data.split(b"\n")
    if torn:
        whole = [*whole, torn] if _parsed(torn) else whole
        if _parsed(torn):
            with path.open("ab") as file:
                file.write(b"\n")
        else:
            os.truncate(path, len(data) - len(torn))
    elif not data:
        path.touch()
    records = []
    for number, line in enumerate(whole, 1):
        parsed = _parsed(line)
        if parsed is None:
            raise ValueError(f"{path}, line {number}: no record of a written text; give a new file")
        records.append(parsed)
    return records


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) and isinstance(value.get("prompt_ids"), list) else None


def _settings(sampling: Sampling, seed: int) -> dict[str, Any]:
    """What decides an output beside its prompt; a greedy one needs no seed."""
    if sampling.greedy:
        return {"temperature": 0.0}
    cuts = {k: v for k, v, off in (("top_k", sampling.top_k, 0), ("top_p", sampling.top_p, 1.0)) if v != off}
    return {"temperature": sampling.temperature, "seed": seed, **cuts}


def _check(prompt: Sequence[int], decoder: LeanDecoder) -> None:
    if len(prompt) >= decoder.max_positions:
        raise ValueError(f"a prompt has {len(prompt)} tokens, the context {decoder.max_positions}; leave it out")
    if max(prompt) >= decoder.shape.vocab_size:
        raise ValueError(f"a prompt holds id {max(prompt)}, the vocabulary ends at {decoder.shape.vocab_size - 1}")


def _over(row: _Row, ends: frozenset[int]) -> bool:
    return row.ids[-1] in ends or len(row.ids) >= row.limit


def _draw(logits: Tensor, sampling: Sampling, chances: Sequence[random.Random]) -> list[int]:
    """One token a row, (n, V) -> n ids: the inverse of the row's distribution function at its own uniform number."""
    if sampling.greedy:
        return logits.argmax(-1).tolist()  # type: ignore[no-any-return]
    total = law(logits, sampling).double().cumsum(-1)
    uniform = torch.tensor([chance.random() for chance in chances], dtype=torch.float64, device=logits.device)
    at = total[:, -1] * uniform
    # side="right" never picks a token of probability zero; rounding at the very top must not step beyond the last one.
    token = torch.searchsorted(total, at[:, None], right=True)[:, 0]
    last = torch.searchsorted(total, total[:, -1:].contiguous())[:, 0]
    return torch.minimum(token, last).tolist()  # type: ignore[no-any-return]
