"""`selfgen`: generates texts with a preset's target, for training; an interrupted run is continued."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hsd_core.cli.options import counts, flag, reads, writes
from hsd_core.cli.shared_options import (
    add_preset,
    add_sampling,
    check_sampling,
    command,
    countdown,
    opened,
    plain_stack,
    within_context,
)
from hsd_core.grammar.registry import plugins
from hsd_core.typed import encode_lines
from hsd_core.typed.program_files import ASSETS

if TYPE_CHECKING:
    from hsd_core.measure.texts.selfgen import Job, Keep
    from hsd_core.models.lean.decoder import LeanDecoder
    from hsd_core.pipeline import Pipeline

SILENCE = 5.0  # seconds between two lines of progress
OPENINGS = ASSETS / "prompts" / "openings.jsonl"


def add(commands: Any) -> None:
    parser = command(commands, "selfgen", "generate texts with the target, for training", act)
    add_preset(parser)
    add_written(parser, parser.add_mutually_exclusive_group(required=True))
    writes(parser, "--out FILE", "JSON lines; an existing file is continued", goes_on=True, required=True)
    writes(parser, "--states DIR", "also write the hidden states that training will read", folder=True)


def add_written(parser: argparse.ArgumentParser, what: Any) -> None:
    """Adds the options about what the target generates. what: the group of options of which one is given."""
    reads(what, "--prompts FILE", "JSON lines with prompt, turns or prompt_ids")
    counts(what, "--invent N", "N texts whose prompts the target writes itself (Magpie)")
    reads(parser, "--openings FILE", "the beginnings of invented prompts", default=str(OPENINGS))
    flag(parser, "--cut-loops", "end an output soon after it begins to repeat itself")
    counts(parser, "--limit N", "only the first N prompts")
    counts(parser, "--batch B", "texts generated in one batch (default 16)", default=16)
    add_sampling(parser)


def act(options: argparse.Namespace) -> int:
    from hsd_core.measure.texts import output_file as written
    from hsd_core.measure.texts import selfgen

    sampling = check_sampling(options)
    if options.prompts is not None and Path(options.out).resolve() == Path(options.prompts).resolve():
        raise ValueError(f"--out {options.out} is the file of the prompts; give a new file")
    stack = plain_stack(options)
    finished = written.open_file(options.out)
    pipeline = opened(options, stack)
    decoder = pipeline.lean_target(stack)
    asked = _jobs(options, pipeline, decoder)
    limit = options.max_new_tokens
    jobs = written.jobs_left(asked, finished, sampling, options.seed, limit=limit, ends=pipeline.ends)
    print(f"{len(jobs)} of {len(asked)} prompts to do", file=sys.stderr, flush=True)
    began, report = time.monotonic(), countdown("text", len(jobs), silence=SILENCE)
    outputs = tokens = loops = 0
    depths, keep = _states(Path(options.states), decoder) if options.states else ((), None)
    texts = selfgen.generate(
        decoder,
        jobs,
        sampling,
        ends=pipeline.ends,
        max_new_tokens=limit,
        batch=options.batch,
        seed=options.seed,
        cut_loops=options.cut_loops,
        depths=depths,
        keep=keep,
    )
    try:
        with Path(options.out).open("ab") as file:
            for job, output in texts:
                record = written.record(job, output, sampling, options.seed, limit=limit)
                file.write(encode_lines([record]))
                file.flush()
                prompt = len(record["prompt_ids"])
                tokens += prompt - record.get("written_from", prompt) + len(output)
                outputs, loops = outputs + 1, loops + ("loop_from" in record)
                report(f", {tokens / (time.monotonic() - began):.0f} tokens/s")
    finally:
        written.drop_outgrown(options.out)
    print(f"{outputs} outputs, {tokens} tokens, {loops} end in a loop", file=sys.stderr)
    return 0


def _jobs(options: argparse.Namespace, pipeline: Pipeline, decoder: LeanDecoder) -> list[Job]:
    from hsd_core.measure.texts import selfgen
    from hsd_core.trace.prompt_files import check_ids, read_openings, read_texts

    if options.invent is None:
        texts = read_texts(options.prompts, lambda prompt: pipeline.encode(prompt, raw=options.raw))[: options.limit]
        fits = within_context(texts, decoder.max_positions)
        for text in fits:
            check_ids(text.prompt_ids, decoder.vocab_size)
        return selfgen.jobs_of(fits)
    openings = []
    for one in read_openings(options.openings):
        opening, closing = pipeline.turn(one.start, one.system)
        openings.append(selfgen.TurnOpening(tuple(opening), tuple(closing), one.kind, one.weight or 1.0))
    return selfgen.invented(openings, options.invent, options.seed)[: options.limit]


def _states(folder: Path, decoder: LeanDecoder) -> tuple[Sequence[int], Keep]:
    """The depths that drafts are trained on, and a function that stores their states for training.

    Raises:
        ValueError: no system here trains.
    """
    for one in plugins("command"):
        if hasattr(one, "kept_states"):
            found: tuple[Sequence[int], Keep] = one.kept_states(folder, decoder)
            return found
    raise ValueError("--states: nothing here trains on hidden states; leave it out")
