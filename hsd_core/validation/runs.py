"""Runs of a validation: the machinery of `sweep`, with the books of each run beside its measurement, kept in a file."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from hsd_core import bench
from hsd_core.trace import Event
from hsd_core.validation.books import Books, books_from, keep_books


@dataclass(frozen=True, slots=True)
class Run:
    """A measured run of a stack on a prompt (numbered as in the prompts file)."""

    measurement: bench.Measurement
    books: Books


def measure(
    runner: bench.Runner, stacks: Sequence[str], prompts: Sequence[bench.Prompt], done: frozenset[int]
) -> Generator[list[Run], None, None]:
    """Run every stack on every prompt that is not `done`, interleaved as in `bench.sweep`; a list a prompt.

    Args:
        stacks: each once, plain decoding of their targets among them.
    Raises:
        ValueError: a run was stopped.
    """
    books: dict[tuple[str, str], Books] = {}

    def counted(stack: str, prompt: str) -> Iterator[Event]:
        events = list(runner(stack, prompt))
        books[stack, prompt] = keep_books(events)  # a warm-up's are replaced by the run's
        yield from events

    with closing(bench.sweep(counted, stacks, prompts, done=done)) as measurements:
        for first in measurements:  # of a prompt; the others of it are there already
            batch = [first, *islice(measurements, len(stacks) - 1)]
            yield [Run(m, books[m.stack, prompts[m.prompt].text]) for m in batch]


class RunsFile:
    """Finished prompts, a JSON line each, so that an interrupted validation goes on. The first line says of what.

    Raises:
        ValueError: the file holds runs of something else, or no runs.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        self.path, self.runs = path, list[Run]()
        first = json.dumps(settings, sort_keys=True) + "\n"
        if not path.exists():
            path.write_text(first, encoding="utf-8")
            return
        head, *lines = path.read_text(encoding="utf-8").splitlines(keepends=True) or [""]
        if head != first:
            raise ValueError(f"{path} holds runs of another validation; give another file to --out, or delete it")
        if lines and not lines[-1].endswith("\n"):  # broken off
            path.write_text("".join([head, *lines[:-1]]), encoding="utf-8")
            del lines[-1]
        try:
            self.runs = [_read(record) for line in lines for record in json.loads(line)]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ValueError(f"{path} is damaged; delete it") from None

    @property
    def done(self) -> frozenset[int]:
        """The prompts that need not be run again."""
        return frozenset(run.measurement.prompt for run in self.runs)

    def add(self, runs: Sequence[Run]) -> None:
        """Keep the runs of one prompt."""
        line = json.dumps([{"run": asdict(run.measurement), "books": run.books.as_dict()} for run in runs])
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
        self.runs += runs


def _read(record: Mapping[str, Any]) -> Run:
    return Run(bench.from_line(json.dumps(record["run"])), books_from(record["books"]))


def by_stack(runs: Iterable[Run]) -> dict[str, list[Run]]:
    """The runs of each stack, by prompt."""
    found: dict[str, list[Run]] = {}
    for run in sorted(runs, key=lambda run: run.measurement.prompt):
        found.setdefault(run.measurement.stack, []).append(run)
    return found
