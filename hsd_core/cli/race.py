"""`race`: runs stacks on one prompt, a round of each in turn, as the page's Race tab replays them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Generator, Iterable
from typing import Any

from hsd_core.cli.options import counts, option, writes
from hsd_core.cli.shared_options import (
    add_preset,
    add_sampling,
    check_sampling,
    command,
    default_of,
    explained,
    opened,
    prompt_of,
    sampled,
)
from hsd_core.core.events import Event
from hsd_core.grammar.stack_text import format_stack, parse
from hsd_core.measure import race
from hsd_core.measure.bench.prompts import DEFAULT
from hsd_core.measure.race import Heat, Turn


def add(commands: Any) -> None:
    parser = command(commands, "race", "stacks side by side over one prompt", act)
    option(
        parser,
        "stacks STACK",
        "two to four stacks; the others are compared with the first; `default` is this machine's",
        nargs="+",
    )
    option(parser, "--prompt TEXT", "the prompt; - reads it from stdin", required=True)
    counts(parser, "--repeats N", "number of repeats (default 5)", default=5)
    writes(parser, "--out FILE", "write the race for the page (.jsonl or .jsonl.gz)")
    option(parser, "--title TEXT", "its title on the page", default="")
    option(parser, "--about TEXT", "a sentence about what it shows", default="")
    add_preset(parser)
    add_sampling(parser)


def act(options: argparse.Namespace) -> int:
    from hsd_core.measure.race.racing import raced

    check_sampling(options)
    default = default_of(options)
    stacks = [format_stack(parse(default.stack if asked == DEFAULT else asked)) for asked in options.stacks]
    race.check_lanes(stacks)
    prompt = prompt_of(options)
    if options.out:
        words = {"title": options.title, "about": options.about, "prompt": prompt, "command": options.command_line}
        race.check_storable(stacks, options.repeats, **words)
    pipeline = opened(options, stacks[0])
    for stack in stacks:  # refuses a stack that cannot be built before the first round
        pipeline.entries(stack)
    most = len(pipeline.encode(prompt, raw=options.raw)) + options.max_new_tokens
    race.refuse_too_large([pipeline.memory(stack, most) for stack in stacks], most, pipeline.device)

    if DEFAULT in options.stacks:
        print(explained(default), file=sys.stderr)

    def lane(stack: str, tokens: int) -> Generator[Event, None, None]:
        settings = {**sampled(options), "max_new_tokens": tokens, "heads": race.HEADS}
        return pipeline.run(stack, prompt, title=options.title, **settings)

    running = race.race(lane, stacks, tokens=options.max_new_tokens, repeats=options.repeats)
    found = raced(
        _with_progress(running, options.repeats),
        stacks,
        title=options.title,
        about=options.about,
        prompt=prompt,
        raw=options.raw,
        command=options.command_line,
        device=pipeline.device,
        dtype=pipeline.dtype,
    )
    if options.out:
        race.write(options.out, found)
    print(race.table(race.rows(found)))
    return 0


def _with_progress(running: Iterable[Turn | Heat], repeats: int) -> Generator[Heat, None, None]:
    """The heats; prints on stderr how many are finished."""
    done = 0
    for one in running:
        if isinstance(one, Heat):
            done += 1
            print(f"repeat {done} of {repeats}", file=sys.stderr, flush=True)
            yield one
