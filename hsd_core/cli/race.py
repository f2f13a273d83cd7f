"""`race`: runs stacks on one prompt, a round of each in turn, as the page's Race tab replays them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from hsd_core.core.clock import EngineClock


def add(commands: Any) -> None:
    parser = command(commands, "race", "stacks side by side over one prompt", act)
    option(
        parser,
        "stacks STACK",
        "two to four stacks; the others are compared with the first; `default` is this machine's; with --load one",
        nargs="+",
    )
    option(parser, "--prompt TEXT", "the prompt; - reads it from stdin")
    counts(
        parser,
        "--load N",
        "instead one stack beside plain decoding, each in a batch of N requests with shipped prompts",
    )
    counts(parser, "--repeats N", "number of repeats (default 5)", default=5)
    writes(parser, "--out FILE", "write the race for the page (.jsonl or .jsonl.gz)")
    option(parser, "--title TEXT", "its title on the page", default="")
    option(parser, "--about TEXT", "a sentence about what it shows", default="")
    add_preset(parser)
    add_sampling(parser)


def act(options: argparse.Namespace) -> int:
    from hsd_core.measure.race.racing import raced

    check_sampling(options)
    if options.load:
        return _under_load(options)
    if options.prompt is None:
        raise ValueError("a race needs --prompt, or --load for many requests at once")
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


def _under_load(options: argparse.Namespace) -> int:
    """Race a stack and plain decoding under one load; writes the repeat of the median speed-up."""
    from hsd_core.measure.race import load_race
    from hsd_core.measure.rawfile import now, ran_on

    if len(options.stacks) != 1 or options.prompt is not None:
        raise ValueError("--load takes one stack, which runs beside plain decoding, and no --prompt")
    stack = format_stack(parse(default_of(options).stack if options.stacks == [DEFAULT] else options.stacks[0]))
    stacks, prompts = load_race.sides(stack), load_race.load_prompts(options.load)
    pipeline = opened(options, stack)
    load_race.refuse_too_large(pipeline, stacks, prompts, options.max_new_tokens)

    def runner(stack: str, prompt: str, *, clock: EngineClock, stop: Callable[[], bool]) -> Iterator[Event]:
        return pipeline.run(stack, prompt, heads=0, clock=clock, stop=stop, **sampled(options))

    repeats = list[load_race.Repeat]()
    for one in load_race.load_race(runner, stack, prompts, repeats=options.repeats):
        if isinstance(one, load_race.Repeat):
            repeats.append(one)
            plain, own = (batch.rate for batch in one.batches)
            line = f"repeat {len(repeats)} of {options.repeats}: {own:.1f} tokens/s in sum, plain decoding {plain:.1f}"
            print(f"{line}; {own / plain:.2f} times", file=sys.stderr, flush=True)
    shown = load_race.middle(repeats)
    head = load_race.Load(
        load_race.SCHEMA,
        pipeline.preset.name,
        options.load,
        stacks,
        options.max_new_tokens,
        load_race.openings(prompts),
        tuple(repeat.batches for repeat in repeats),
        shown,
        options.command_line,
        now(),
        device=pipeline.device,
        dtype=pipeline.dtype,
        **ran_on(pipeline.device),
    )
    if options.out:
        load_race.write(options.out, head, repeats[shown].events)
    return 0


def _with_progress(running: Iterable[Turn | Heat], repeats: int) -> Generator[Heat, None, None]:
    """The heats; prints on stderr how many are finished."""
    done = 0
    for one in running:
        if isinstance(one, Heat):
            done += 1
            print(f"repeat {done} of {repeats}", file=sys.stderr, flush=True)
            yield one
