"""A stack and plain decoding of its target under the same load: a batch of each over the same requests, and their file.

JSON lines, gzip by the ending .gz. The first line is a `Load`; then each event of the repeat that is shown is a
`LoadEvent`, in the order in which they happened. The times of a batch are of one clock.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import field
from msgspec.structs import replace

from hsd_core.core.events import Event, Footer, Header, Record, Words
from hsd_core.measure.bench.prompts import read_prompts, tasks_of
from hsd_core.measure.bench.side_by_side import plain_of
from hsd_core.measure.load import LoadRun, LoadRunner, decoding, load_run
from hsd_core.measure.timed import rotated
from hsd_core.models import machine
from hsd_core.trace import file as tracefile
from hsd_core.typed import Int, decode, encode_lines, json_decoder
from hsd_core.typed.files import MAX_BYTES

if TYPE_CHECKING:
    from hsd_core.pipeline import Pipeline

SCHEMA = 1
SHORT = 320  # characters of a prompt, so that reading it takes less time than its answer
_OPENING = 80  # characters of a prompt that a menu of requests shows


class Load(Record, frozen=True):
    """The first line. stacks: plain decoding, and the one beside it. prompts: how that of each request begins. repeats:
    the two batches of each; the events are of repeat `shown`."""

    schema: Int
    preset: str
    load: Int
    stacks: tuple[str, str]
    max_new_tokens: Int
    prompts: tuple[str, ...]
    repeats: tuple[tuple[LoadRun, LoadRun], ...] = ()
    shown: Int = 0
    command: str = ""
    recorded: str = ""
    machine: str = ""
    device: str = ""
    dtype: str = ""
    threads: Int = 0
    versions: Words = field(default_factory=dict)


class LoadEvent(Record, frozen=True):
    """An event of a request. side: of the stacks."""

    side: Int
    request: Int
    of: Event


@dataclass(frozen=True, slots=True)
class Repeat:
    """A finished repeat: its two batches, and all of their events."""

    batches: tuple[LoadRun, LoadRun]
    events: list[LoadEvent]


_HEAD, _EVENT = json_decoder(Load), json_decoder(LoadEvent)


def load_prompts(load: int) -> list[str]:
    """So many short prompts of `bench.jsonl`, the tasks in turn."""
    tasks: dict[str, list[str]] = {}
    short = [prompt for prompt in read_prompts("own") if len(prompt.text) <= SHORT]
    known = tasks_of(prompt.category for prompt in short)
    for prompt in short:
        tasks.setdefault(known[prompt.category], []).append(prompt.text)
    texts = [text for turn in zip(*tasks.values(), strict=False) for text in turn]
    return [texts[i % len(texts)] for i in range(load)]


def openings(prompts: Sequence[str]) -> tuple[str, ...]:
    """How prompts begin, each in one line."""
    lines = (" ".join(prompt.split()) for prompt in prompts)
    return tuple(line if len(line) <= _OPENING else f"{line[: _OPENING - 1]}\u2026" for line in lines)


def sides(stack: str) -> tuple[str, str]:
    """Plain decoding of a stack's target, and the stack.

    Raises:
        ValueError: the stack is plain decoding.
    """
    if (plain := plain_of(stack)) == stack:
        raise ValueError(f"{stack} is plain decoding, which is run anyway; give a stack of two levels or more")
    return plain, stack


def refuse_too_large(pipeline: Pipeline, stacks: Sequence[str], prompts: Sequence[str], tokens: int) -> None:
    """
    Args:
        stacks: that run one after another. tokens: of an answer, at most.
    Raises:
        ValueError: a stack cannot be built. TooLarge: the free memory does not hold a batch of one.
    """
    most = max(len(pipeline.encode(prompt, raw=False)) for prompt in prompts) + tokens
    for stack in stacks:
        memory = pipeline.memory(stack, most)
        what = f"a batch of {len(prompts)} requests over {most} tokens each"
        needed = len(prompts) * memory.kept + memory.at_work
        machine.refuse(needed, machine.free_bytes(pipeline.device), what, "ask for fewer requests")


def load_race(
    runner: LoadRunner, stack: str, prompts: Sequence[str], *, repeats: int
) -> Generator[LoadEvent | Repeat, None, None]:
    """Decode the prompts in one batch by plain decoding and in one by a stack, after a warm-up of one request each.
    Yields events as they happen, and repeats as they are finished; a repeat that was stopped is not.

    Raises:
        ValueError: the stack is plain decoding. Exception: that of a request which could not be decoded.
    """
    stacks = sides(stack)
    for one in stacks:
        for _ in decoding(runner, one, prompts[:1]):
            pass
    for repeat in range(repeats):
        events, runs = list[LoadEvent](), tuple([list[Event]() for _ in prompts] for _ in stacks)
        for side in rotated(range(2), repeat):
            for request, event in decoding(runner, stacks[side], prompts):
                runs[side][request].append(event)
                if isinstance(event, Header):
                    event = replace(event, profile=None)  # kilobytes, in every request's
                events.append(LoadEvent(side, request, event))
                yield events[-1]
        ends = [run[-1] for batch in runs for run in batch if run]
        if any(not isinstance(end, Footer) or end.reason == "stopped" for end in ends):
            return
        plain, own = (
            load_run(len(prompts), repeat, one, batch, runs[0]) for one, batch in zip(stacks, runs, strict=True)
        )
        yield Repeat((plain, own), events)


def middle(repeats: Sequence[Repeat]) -> int:
    """The repeat whose speed-up is the median one."""
    ratio = [repeat.batches[1].rate / repeat.batches[0].rate for repeat in repeats]
    return sorted(range(len(repeats)), key=ratio.__getitem__)[(len(repeats) - 1) // 2]


def write(path: str | Path, head: Load, events: Sequence[LoadEvent]) -> None:
    """Write a load race; compressed if the name ends in .gz."""
    path, data = Path(path), encode_lines([head, *events])
    path.write_bytes(tracefile.pack(data) if path.suffix == ".gz" else data)


def read(path: str | Path) -> tuple[Load, list[LoadEvent]]:
    """The inverse of `write`.

    Raises:
        ValueError: it is no load race. OSError: the path cannot be read.
    """
    first, *lines = tracefile.unpacked(Path(path).read_bytes(), MAX_BYTES).splitlines()
    head = decode(first, _HEAD)
    if head.schema != SCHEMA:
        raise ValueError(f"schema {head.schema} of a load race is unknown; this version reads {SCHEMA}")
    return head, [decode(line, _EVENT) for line in lines]
