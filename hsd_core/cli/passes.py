"""`passes`: where the time of a level's pass and of a stack's round goes, compared with the machine's limits."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from itertools import cycle, islice, product
from pathlib import Path
from typing import Any

from hsd_core.cli.options import counts, option, reads, writes
from hsd_core.cli.shared_options import about_of, add_preset, command, opened, plain_stack, progress
from hsd_core.grammar.stack_text import bare, format_stack, parse
from hsd_core.measure.bench.prompts import BUILT_IN, DEFAULT, prompts_path, read_prompts
from hsd_core.models.loading import KINDS
from hsd_core.pipeline import Pipeline
from hsd_core.typed import encode_lines

CONTEXT, ROWS = 128, (1, 2, 4, 8, 16)
LENGTH_ROWS = (1, 8)  # the default with --lengths


def add(commands: Any) -> None:
    parser = command(commands, "passes", "show where the time of passes and rounds goes", act)
    add_preset(parser)
    option(parser, "--levels L", "which levels, without T, e.g. ngram,int8,target (default: all)")
    option(parser, "--stack S", "the stack whose rounds are broken down (default: this machine's default)")
    option(parser, "--rows N,N", "rows of a pass (default 1,2,4,8,16; with --lengths 1,8)")
    counts(parser, "--context N", "tokens of text before a pass (default 128)")
    option(parser, "--lengths N,N", "texts of these lengths instead, up to the context")
    reads(parser, "--prompts FILE", "prompts of the rounds (default quick)", known=BUILT_IN, default="quick")
    counts(parser, "--limit N", "the first N prompts (default 3)", default=3)
    counts(parser, "--max-new-tokens N", "length limit of each run (default 32)", default=32)
    option(parser, "--decoder", "what runs the models (default auto: the fastest)", choices=KINDS, default="auto")
    writes(parser, "--out FILE", "write JSON lines, which the command results reads")


def act(options: argparse.Namespace) -> int:
    from hsd_core.measure.passes import passes_report
    from hsd_core.measure.passes.round_times import measure_rounds

    if options.context and options.lengths:
        raise ValueError("--context is one length and --lengths are several; give one of them")
    rows = _counts("--rows", options.rows) or (LENGTH_ROWS if options.lengths else ROWS)
    wanted = _counts("--lengths", options.lengths) or (options.context or CONTEXT,)
    asked_stack = None if options.stack == DEFAULT else options.stack
    for stack in filter(None, (options.levels, asked_stack)):
        parse(stack)  # refuses a bad stack before the weights are loaded
    prompts = read_prompts(options.prompts)[: options.limit]
    pipeline = opened(options, plain_stack(options), kind=options.decoder)
    levels = _levels(pipeline, options.levels)
    stack = asked_stack or pipeline.default_stack
    entries = pipeline.entries(stack)
    each = [*pipeline.entries(levels), *entries]
    room = min((e.level.max_positions for e in each if e.level.max_positions is not None), default=None)
    lengths = fitting(wanted, rows, room)
    ids = [pipeline.encode(prompt.text, raw=False) for prompt in prompts]
    text = list(islice(cycle(token for prompt in ids for token in prompt), lengths[-1] + max(rows)))
    asked = {"decoder": options.decoder, "levels": levels, "stack": stack, "lengths": lengths, "rows": [*rows]}
    about = about_of(options, "passes", pipeline, prompts_path(options.prompts), **asked)
    about["limits"], records = _passes(options, pipeline, about, text)
    names = [format_stack([bare(spec)]) for spec in parse(stack)]
    most = None if room is None else max(1, room - options.max_new_tokens)
    for context in [min(n, most or n) for n in lengths] if options.lengths else [None]:
        # after a cut text the end could come at once: such a run has no end token
        given, ends = (ids, pipeline.ends) if context is None else ([text[:context]], frozenset[int]())
        found = measure_rounds(entries, given, pipeline.tokenizer, tokens=options.max_new_tokens, ends=ends)
        records.append({"what": "round", "stack": stack, "levels": names, "context": context, **found})
    print(f"{pipeline.preset.name}, {about['machine']}, {about['threads']} threads. {passes_report.method(about)}")
    for make in passes_report.TABLES.values():
        print(f"\n{make(records)}")
    if options.out:
        Path(options.out).write_bytes(encode_lines((about, *records)))
    return 0


def _levels(pipeline: Pipeline, asked: str | None) -> str:
    """The levels whose passes are measured, as a stack."""
    from hsd_core.measure.calibrate.candidates import candidates

    if asked and len(specs := parse(asked)) == 1:
        return format_stack([bare(specs[0])])
    return candidates(pipeline, asked).stack


def _passes(
    options: argparse.Namespace, pipeline: Pipeline, about: Mapping[str, Any], text: list[int]
) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """The machine's limits, the higher of before and after, and a record of each pass and lookup.

    Raises:
        TooLarge: opening every level twice takes more memory than is free.
    """
    from hsd_core.measure.passes import level_passes
    from hsd_core.models import machine
    from hsd_core.models.compiled.node_profile import NodeProfile

    stack, what = about["levels"], f"{about['levels']} over {len(text)} tokens"
    memory, free = pipeline.memory(stack, len(text)), machine.free_bytes(pipeline.device)
    print(f"memory of {what}: {memory}; twice that with a profiler", file=sys.stderr)
    needed = memory.weights + 2 * (memory.kept + memory.at_work)
    machine.refuse(needed, free, f"measuring {what}", "name fewer levels or shorter texts")
    entries, device, records = pipeline.entries(stack), pipeline.device, list[dict[str, Any]]()
    before = measured(device)
    with tempfile.TemporaryDirectory(prefix="hsd-passes-") as folder:
        profile = NodeProfile(Path(folder))
        again = entries
        if device == "cpu":  # passes are not profiled on a GPU, whose memory may hold the levels only once
            again = opened(options, plain_stack(options), kind=options.decoder, profile=profile).entries(stack)
        times = level_passes.time_passes(entries, again, profile, text, about["lengths"], about["rows"], progress())
    limits = {name: max(rate, before[name]) for name, rate in measured(device).items()}
    for (i, name), length in product(enumerate(stack.split(",")), about["lengths"]):
        level, where = entries[i].level, {"level": name, "context": length}
        if not level.can_verify:
            records.append({"what": "lookup", **where, **level_passes.lookup(level, text[:length])})
            continue
        for n in about["rows"]:
            found = level_passes.pass_record(level, length, n, times[i, length, n], limits)
            records.append({"what": "pass", **where, "rows": n, "threads": level.about.params.get("threads"), **found})
    return limits, records


def measured(device: str) -> dict[str, float]:
    """The rates at which the machine reads and multiplies, and on a CPU those of the kernels of passes."""
    from hsd_core.measure.passes.level_passes import kernel_rates, measured_limits

    return {**measured_limits(device), **(kernel_rates() if device == "cpu" else {})}


def _counts(name: str, text: str | None) -> tuple[int, ...]:
    """Counts separated by commas; empty for no text."""
    parts = [] if text is None else text.split(",")
    if not all(part.strip().isdecimal() and int(part) for part in parts):
        raise ValueError(f"{name} is {text!r}; give whole numbers from 1 on, for example 1,2,4,8")
    return tuple(dict.fromkeys(int(part) for part in parts))


def fitting(lengths: Sequence[int], rows: Sequence[int], room: int | None) -> list[int]:
    """The lengths, ascending, cut so that the rows after them fit a context of `room`.

    Raises:
        ValueError: a length or the rows exceed the context.
    """
    if room is None:
        return sorted(set(lengths))
    most, longest = room - max(rows), max(lengths)
    if longest > room or most < 1:
        message = f"a text of {longest} tokens and {max(rows)} rows are more than the context of {room}"
        raise ValueError(f"{message}; use fewer of either")
    return sorted({min(length, most) for length in lengths})
