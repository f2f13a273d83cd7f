"""The inputs of benchmarks: prompts and conversations with their category and task, and files of stacks.

Tasks are the six of Spec-Bench (Xia et al. 2024, arXiv 2401.07851), with its eight kinds of conversation as one. In
files with other categories, such as SPEED-Bench's (arXiv 2604.09557), each category is a task.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

from hsd_core.grammar import lanes_of
from hsd_core.grammar.placing import check_measured
from hsd_core.grammar.stack_text import format_stack, parse
from hsd_core.measure.tables import RECKONED, OnClock
from hsd_core.theory.stack_table import StackTable, whole
from hsd_core.trace.prompt_files import PromptLine, parquet_lines
from hsd_core.typed import records
from hsd_core.typed.files import read_text
from hsd_core.typed.program_files import ASSETS

TASKS = ("conversation", "translation", "summarization", "qa", "math_reasoning", "rag")
_CONVERSATIONS = ("writing", "roleplay", "reasoning", "math", "coding", "extraction", "stem", "humanities")
_FOLDER = ASSETS / "prompts"
BUILT_IN = {"own": None, "quick": 2}  # name -> prompts of each task of `bench.jsonl`; None: all
DEFAULT = "default"  # a line of a stacks file
UNRESOLVED = "FULL BENCHMARK DATA SHOULD BE FETCHED"  # how SPEED-Bench marks a text that its licence keeps elsewhere
_WANTED = 'JSON with "prompt" or "turns"'


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt and its category. later: what the user says after each answer."""

    text: str
    category: str = ""
    later: tuple[str, ...] = ()


def tasks_of(categories: Iterable[str]) -> dict[str, str]:
    """Category -> task: Spec-Bench's eight kinds of conversation are one task where no category is another
    benchmark's."""
    kinds = dict.fromkeys(categories)
    together = set(kinds) <= {*TASKS, *_CONVERSATIONS}
    return {kind: TASKS[0] if together and kind in _CONVERSATIONS else kind for kind in kinds}


def prompts_path(name: str) -> Path:
    """The file of a built-in set of prompts, or the given path."""
    return _FOLDER / "bench.jsonl" if name in BUILT_IN else Path(name)


def read_prompts(path: str | Path, each: int | None = None) -> list[Prompt]:
    """The prompts of a file, and of its conversations the first turns; see `read_conversations`."""
    return [replace(prompt, later=()) for prompt in read_conversations(path, each)]


def read_conversations(path: str | Path, each: int | None = None) -> list[Prompt]:
    """A prompts file: JSON lines, or SPEED-Bench's Parquet, with `prompt` or `turns`, and `category`.

    Args:
        path: a file, or "own" (60 prompts, ten of each task) or "quick" (two of each).
        each: prompts per task, with a task's categories in turn; None: all.
    Raises:
        ValueError: a line is malformed, or only names a text that is elsewhere; the message names it and the cure.
    """
    file = prompts_path(str(path))
    prompts = []
    for where, line in parquet_lines(file) or records(file, PromptLine, _WANTED):
        first, *later = (line.prompt,) if line.prompt else line.turns or (None,)
        if not first or not all(later):
            raise ValueError(f"{where}: expected {_WANTED}, none of them empty")
        if first.startswith(UNRESOLVED):
            raise ValueError(
                f"{where}: SPEED-Bench keeps this text elsewhere; have its own program fetch it (prepare_data.py in "
                "examples/specdec_bench of NVIDIA's Model-Optimizer), and name the file that it writes"
            )
        prompts.append(Prompt(first, line.category, tuple(later)))
    if not prompts:
        raise ValueError(f"{path}: no prompts in it")
    quick = BUILT_IN.get(str(path))
    return prompts if (most := min((n for n in (each, quick) if n), default=None)) is None else _of_each(prompts, most)


def _of_each(prompts: Sequence[Prompt], n: int) -> list[Prompt]:
    found: list[Prompt] = []
    tasks = tasks_of(prompt.category for prompt in prompts)
    for task in dict.fromkeys(tasks.values()):
        own = [prompt for prompt in prompts if tasks[prompt.category] == task]
        kinds = [[p for p in own if p.category == kind] for kind in dict.fromkeys(p.category for p in own)]
        in_turn = [prompt for turn in zip_longest(*kinds) for prompt in turn if prompt is not None]
        found += in_turn[:n]
    return found


def read_stacks(path: str | Path) -> list[str]:
    """The stacks of a file; see `read_stack_lines`."""
    return list(dict.fromkeys(read_stack_lines(path).values()))


def read_stack_lines(
    path: str | Path, default: str = "", reckoned: bool = False, by_load: bool = False
) -> dict[str, str]:
    """Line -> stack for the lines of a stacks file; empty lines and lines that begin with # are ignored.

    Args:
        default: the stack for the line `default`. reckoned, by_load: see `stacks_of_lines`.
    Raises:
        ValueError: there are none, or a line is not a stack; the message says why.
    """
    lines = [line.strip() for line in read_text(path).splitlines()]
    written = [line for line in lines if line and not line.startswith("#")]
    return stacks_of_lines(written, default, str(path), reckoned, by_load)


def stacks_of_lines(
    lines: Iterable[str], default: str, where: str, reckoned: bool = False, by_load: bool = False
) -> dict[str, str]:
    """Line -> stack; see `read_stack_lines`.

    Args:
        reckoned: allow stacks whose levels work at the same time; such a line and its stack are marked as reckoned
            (`OnClock`). by_load: allow tables of stacks by requests at once.
    """
    read = {line: default if line == DEFAULT and default else line for line in lines}
    tables = {line: table for line, text in read.items() if by_load and (table := StackTable.read(text))}
    found = {line: str(tables.get(line) or format_stack(parse(text))) for line, text in read.items()}
    if not found:
        raise ValueError(f"{where}: no stacks in it")
    asked: dict[str, str] = {}
    for line, stack in found.items():
        specs = parse(whole(stack))
        if reckoned and lanes_of(specs)[-1]:
            asked[str(OnClock(line, RECKONED))] = str(OnClock(stack, RECKONED))
        else:
            check_measured(specs)
            asked[line] = stack
    return asked
