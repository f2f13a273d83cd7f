"""`depth`: after how many layers a preset's target already knows the next token, over a file of prompts."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from hsd_core.cli.files import reads
from hsd_core.cli.shared_options import add_preset, command, countdown, counts, opened, plain_stack, within_context
from hsd_core.models.sampling import Sampling
from hsd_core.pipeline import Pipeline
from hsd_core.trace.prompt_files import PromptText, check_ids, read_texts
from hsd_core.trace.typed import pretty

SILENCE = 5.0  # seconds between two lines of progress


def add(commands: Any) -> None:
    parser = command(commands, "depth", "measure at which depth the target knows the next token", act)
    add_preset(parser)
    reads(
        parser,
        "--prompts",
        required=True,
        metavar="FILE",
        help="JSON lines with prompt, turns or prompt_ids; output_ids are read where given, else written greedily",
    )
    counts(parser, "--max-new-tokens", default=128, metavar="N", help="tokens read a text (default 128)")
    counts(parser, "--limit", metavar="N", help="only the first N prompts")
    counts(parser, "--batch", default=8, metavar="B", help="texts written side by side (default 8)")
    parser.add_argument("--raw", action="store_true", help="no chat template: the prompt is the text itself")
    parser.add_argument("--loops", choices=("cut", "keep"), default="cut", help="what follows a loop's start in a text")
    parser.add_argument("--drafts-only", action="store_true", help="leave out the untrained layers: much quicker")
    parser.add_argument("--json", action="store_true", help="as JSON")


def act(options: argparse.Namespace) -> int:
    from hsd_core.engine.depths import read_depths
    from hsd_core.lab import depth

    stack = plain_stack(options)
    pipeline = opened(options, stack)
    decoder = pipeline.lean_target(stack)
    texts = read_texts(options.prompts, lambda prompt: pipeline.encode(prompt, raw=options.raw))[: options.limit]
    fits = within_context(texts, decoder.max_positions)
    for text in fits:
        check_ids((*text.prompt_ids, *(text.output_ids or ())), decoder.vocab_size)
    drafts = pipeline.trained(stack)
    sums, reading, tell = [], None, countdown("text", len(fits), silence=SILENCE)
    for text, output in _outputs(pipeline, stack, fits, options):
        room = decoder.max_positions - len(text.prompt_ids)
        output = output[: min(options.max_new_tokens, room)]
        if options.loops == "cut":
            output = [*text.before_loop(output)]
        if not output:
            continue
        ids = [*text.prompt_ids, *output]
        reading = read_depths(decoder, ids, len(text.prompt_ids), drafts, lens=not options.drafts_only)
        sums.append(depth.Sums.of(reading, text.sort))
        tell()
    if reading is None:
        raise ValueError(f"{options.prompts}: no text in it has a token to read")
    study = {"preset": pipeline.preset.name, **pipeline.about["versions"], **depth.summary(reading, sums)}
    if options.json:
        print(pretty(study, 2))
    else:
        whole = study["all"]
        print(
            f"{pipeline.preset.name}, {whole['texts']} texts, {whole['tokens']} tokens, {pipeline.about['machine']}\n"
        )
        print(depth.tables(study))
    return 0


def _outputs(
    pipeline: Pipeline, stack: str, texts: list[PromptText], options: argparse.Namespace
) -> Iterator[tuple[PromptText, list[int]]]:
    """Every text with what follows its prompt: as the file has it, or written now."""
    from hsd_core.lab.train.data.selfgen import Job, generate

    yield from ((text, list(text.output_ids)) for text in texts if text.output_ids is not None)
    jobs = [Job(text, 0) for text in texts if text.output_ids is None]
    written = generate(
        pipeline.lean_target(stack),
        jobs,
        Sampling(),
        ends=pipeline.ends,
        max_new_tokens=options.max_new_tokens,
        batch=options.batch,
    )
    yield from ((job.text, output) for job, output in written)
