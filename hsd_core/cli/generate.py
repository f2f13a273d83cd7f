"""`generate`: decode a prompt with a stack; the text goes to stdout, the totals to stderr."""

from __future__ import annotations

import argparse
import base64
import codecs
import sys
from typing import Any

from hsd_core.cli import repeat
from hsd_core.cli.options import flag, option, reads, writes
from hsd_core.cli.shared_options import (
    add_preset,
    add_sampling,
    check_sampling,
    command,
    opened,
    progress,
    prompt_of,
    reads_prompt,
    sampled,
)
from hsd_core.cli.terminal import ACCEPTED, SUPPLIED, Tint, printable, totals_lines
from hsd_core.core import events as trace
from hsd_core.measure.bench.prompts import DEFAULT
from hsd_core.trace import file as tracefile
from hsd_core.trace import metrics


def add(commands: Any) -> None:
    parser = command(commands, "generate", "decode a prompt with a stack", act)
    add_preset(parser)
    option(parser, "--stack", "levels, cheapest first (default: `default`, this machine's), e.g. ngram:2,int8:8,target")
    what = parser.add_mutually_exclusive_group(required=True)
    option(what, "--prompt TEXT", "the prompt; - reads it from stdin")
    reads(what, "--repeat TRACE", "run a trace again by its header; say if it is the same")
    add_sampling(parser)
    flag(parser, "--baseline", "measure plain decoding of the same prompt too")
    flag(parser, "--replan", "choose levels and T of --stack again while generating")
    reads(parser, "--profile FILE", "with --replan: plan with this (default: calibrated, else shipped)")
    option(parser, "--explore N", "with --replan: every N rounds, one round of levels not seen lately", type=int)
    option(
        parser,
        "--by",
        "colour the text by the level that supplied a token, or by the highest that accepted it before the target",
        choices=(SUPPLIED, ACCEPTED),
    )
    writes(parser, "--trace FILE", "write the run to FILE (.jsonl or .jsonl.gz)")


def act(options: argparse.Namespace) -> int:
    from hsd_core.theory import profile_from, read_profile
    from hsd_core.theory.replan import Pace

    if options.repeat:
        return _repeat(options)
    if options.profile and not options.replan:
        raise ValueError("--profile is what --replan plans with; add --replan")
    if options.explore is not None and not options.replan:
        raise ValueError("--explore is how --replan looks around; add --replan")
    check_sampling(options)
    pace = Pace(explore=options.explore or 0)
    profile = read_profile(options.profile) if options.profile else None
    prompt = prompt_of(options)
    stack = None if options.stack == DEFAULT else options.stack
    pipeline = opened(options, stack)
    events: list[trace.Event] = []
    tint = Tint(colour=sys.stdout.isatty(), by=options.by) if options.by else None
    text = _Text(tint)
    run = pipeline.run(
        stack or pipeline.default_stack,
        prompt,
        baseline=options.baseline,
        replan=options.replan and pace,
        profile=profile,
        reading=reads_prompt(),
        **sampled(options),
    )
    try:
        for event in run:
            events.append(event)
            text.feed(event)
    finally:
        run.close()
        text.close()
        if options.trace and events:  # an interrupted run is kept: a trace without a footer says that it was
            tracefile.write(options.trace, events)
    for line in totals_lines(events, colour=sys.stderr.isatty()):
        print(line, file=sys.stderr)
    asked = len(pipeline.encode(prompt, raw=options.raw)) + options.max_new_tokens
    header = metrics.header_of(events)
    longest = None if header.replan is None else profile_from(header.profile).max_block
    memory = pipeline.memory(stack or pipeline.default_stack, asked, longest)
    if memory.weights:
        print(f"memory: {memory}", file=sys.stderr)
    return 0


def _repeat(options: argparse.Namespace) -> int:
    """0 if the run comes out the same, 1 if not."""
    events = tracefile.read(options.repeat)
    where = {name: getattr(options, name) for name in ("target", "draft", "device", "dtype")}
    pipeline = repeat.opened(events, **where, progress=progress())
    same = repeat.repeat(pipeline, events)
    print(same)
    return 0 if same else 1


class _Text:
    """Committed tokens as text, printed as they come; a character that spans tokens waits for its last byte."""

    def __init__(self, tint: Tint | None = None) -> None:
        self._tint = tint
        self._pieces: dict[int, bytes] = {}
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        # A terminal is protected from control characters; a pipe or file gets the text as it is.
        self._clean = printable if sys.stdout.isatty() else str

    def feed(self, event: trace.Event) -> None:
        if self._tint is not None:
            print(self._tint.of(event), end="", flush=True)
        elif isinstance(event, trace.Piece):
            self._pieces[event.id] = b"" if event.special else base64.b64decode(event.b64)
        elif isinstance(event, trace.Commit):
            data = b"".join(self._pieces[token.id] for token in event.tokens)
            print(self._clean(self._decoder.decode(data)), end="", flush=True)

    def close(self) -> None:
        print(self._tint.end() if self._tint is not None else self._clean(self._decoder.decode(b"", final=True)))
