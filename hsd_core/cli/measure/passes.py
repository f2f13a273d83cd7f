"""`passes`: where the time of a level's pass and of a stack's round goes, beside what the machine could do."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hsd_core.cli.options import add_preset, check_counts, command, opened, plain_stack, progress
from hsd_core.measure.bench.prompts import prompts_path, read_prompts
from hsd_core.measure.results.rawfile import measured_by, prompts_file, ran_on
from hsd_core.models.loading import KINDS
from hsd_core.pipeline import Pipeline
from hsd_core.trace.typed import encode_lines, pretty

STORED = 1_000_000
LENGTH_ROWS = (1, 8)  # where no rows are asked for and several lengths are


def add(commands: Any) -> None:
    parser = command(commands, "passes", "show where the time of passes and rounds goes", act)
    add_preset(parser)
    parser.add_argument("--levels", metavar="L", help="which levels, without T, e.g. ngram,int8,target (default: all)")
    parser.add_argument("--stack", metavar="S", help="the stack whose rounds are taken apart (default: the preset's)")
    parser.add_argument("--rows", metavar="N,N", help="rows of a pass (default 1,2,4,8,16; with --lengths 1,8)")
    parser.add_argument("--context", type=int, metavar="N", help="tokens of text before a pass (default 128)")
    parser.add_argument("--lengths", metavar="N,N", help="texts of these lengths instead, up to the context")
    parser.add_argument("--prompts", default="quick", metavar="FILE", help="what rounds are run on (default quick)")
    parser.add_argument("--limit", type=int, default=3, metavar="N", help="the first N prompts (default 3)")
    parser.add_argument("--max-new-tokens", type=int, default=32, metavar="N", help="of each run (default 32)")
    parser.add_argument(
        "--decoder", choices=KINDS, default="auto", help="what runs the models (default auto: the quickest)"
    )
    parser.add_argument("--out", metavar="FILE", help="keep it: .json, or .jsonl as the command results reads it")
    parser.add_argument("--html", metavar="FILE", help="plots over the text's length, as one page")


def act(options: argparse.Namespace) -> int:
    from hsd_core.measure.passes import measuring, tables
    from hsd_core.measure.passes.report import page
    from hsd_core.measure.passes.stored import time_databases
    from hsd_core.measure.passes.timing import CONTEXT, ROWS
    from hsd_core.models import machine
    from hsd_core.models.room import refuse
    from hsd_core.stacks.presets import PRESETS

    check_counts(options, "context", "limit", "max_new_tokens")
    if options.context and options.lengths:
        raise ValueError("--context is one length and --lengths are several; give one of them")
    rows = _counts("--rows", options.rows) or (LENGTH_ROWS if options.lengths else ROWS)
    asked = _counts("--lengths", options.lengths) or (options.context or CONTEXT,)
    for path in (options.out, options.html):
        if path and not Path(path).parent.is_dir():  # met now, not after minutes
            raise ValueError(f"{Path(path).parent} is no folder; name a file in one that is there")
    prompts, plain = read_prompts(options.prompts)[: options.limit], plain_stack(options.preset)
    pipeline = opened(options, plain, kind=options.decoder)
    levels = _levels(pipeline, options.levels)
    stack = options.stack or PRESETS[options.preset].stack(pipeline.device)
    entries = [*pipeline.entries(levels), *pipeline.entries(stack)]
    room = min((e.level.max_positions for e in entries if e.level.max_positions is not None), default=None)
    lengths = measuring.fitting(asked, rows, room)
    ids = [pipeline.encode(prompt.text, raw=False) for prompt in prompts]
    about = {
        **measured_by("passes", options.said),
        "preset": options.preset,
        "device": pipeline.device,
        "dtype": pipeline.dtype,
        **ran_on(pipeline.device),
        **prompts_file(prompts_path(options.prompts)),
        "decoder": options.decoder,
        "levels": levels,
        "stack": stack,
        "lengths": lengths,
        "rows": list(rows),
    }
    text = measuring.text_of(ids, max(lengths) + max(rows))
    again = lambda profile: opened(options, plain, kind=options.decoder, profile=profile)  # noqa: E731
    longest = max(lengths) + max(rows)
    memory = pipeline.memory(levels, longest)
    print(f"memory of {levels} over {longest} tokens: {memory}; twice that with a profiler beside", file=sys.stderr)
    needed, free = memory.weights + 2 * (memory.kept + memory.at_work), machine.free_bytes(pipeline.device)
    refuse(needed, free, f"measuring {levels} over {longest} tokens", "name fewer levels or shorter texts")
    tell = progress()
    limits, records = measuring.measure_levels(pipeline, again, levels, text, lengths, rows, tell=tell)
    about["limits"] = asdict(limits)
    if any(record["what"] == "lookup" for record in records):
        made = {"what": "database", "stored": STORED}
        records += [{**made, "level": f"ngram@db={letter}", "ms": ms} for letter, ms in time_databases(STORED).items()]
    contexts = (
        [max(1, min(n, room - options.max_new_tokens)) if room else n for n in lengths] if options.lengths else [None]
    )
    for number, context in enumerate(contexts):
        records.append(measuring.measure_rounds(pipeline, stack, ids, options.max_new_tokens, context=context))
        tell("rounds", number + 1, len(contexts))
    print(f"{options.preset}, {about['machine']}, {about['threads']} threads. {tables.method(about)}")
    for make in tables.TABLES.values():
        print(f"\n{make(records)}")
    if options.out:
        lines = Path(options.out).suffix == ".jsonl"
        whole = (
            encode_lines((about, *records)) if lines else f"{pretty({'about': about, 'records': records})}\n".encode()
        )
        Path(options.out).write_bytes(whole)
    if options.html:
        Path(options.html).write_text(page(about, records), encoding="utf-8")
    return 0


def _levels(pipeline: Pipeline, asked: str | None) -> str:
    """A stack of the levels whose passes are measured."""
    from hsd_core.measure.calibrate.candidates import candidates
    from hsd_core.stacks.grammar import bare, format_stack, parse

    if asked and len(specs := parse(asked)) == 1:
        return format_stack([bare(specs[0])])
    return candidates(pipeline, asked).stack


def _counts(name: str, text: str | None) -> tuple[int, ...]:
    """Counts with commas between them; none for no text."""
    if text is None:
        return ()
    try:
        found = tuple(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError:
        found = (0,)
    if min(found) < 1:
        raise ValueError(f"{name} is {text!r}; give whole numbers from 1 on, for example 1,2,4,8")
    return found
