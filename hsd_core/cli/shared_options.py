"""Options of several commands, and progress on stderr."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hsd_core import pipeline
from hsd_core.cli.options import counts, flag, option
from hsd_core.grammar.preset import Preset
from hsd_core.measure.bench import plain_of
from hsd_core.measure.rawfile import measured_by, prompts_file, ran_on
from hsd_core.models.machine import size
from hsd_core.models.sampling import Sampling
from hsd_core.stacks.targets import preset_chosen, source_of
from hsd_core.theory.search.default_stack import DefaultStack, default_for_machine
from hsd_core.theory.stack_table import whole
from hsd_core.trace.prompt_files import PromptText
from hsd_core.typed import MAX_INT

DEFAULT_PRESET = "smollm2"
IN_BYTES = ("download", "convert")  # stages whose progress is in bytes
MAX_PROMPT = 4_000_000  # characters read from stdin: more than any context
_NOT_TEXT = "the byte 0x{:02X} is not UTF-8; give it a text in UTF-8"
SAMPLING = ("max_new_tokens", "temperature", "top_k", "top_p", "seed", "raw")  # the options of `add_sampling`


def command(commands: Any, name: str, help: str, act: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
    """The parser of a new command, which is run by `act`."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=help)
    parser.set_defaults(act=act)
    return parser


def add_preset(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group()
    option(what, "--preset P", f"preset (default {DEFAULT_PRESET})", default=DEFAULT_PRESET)
    option(what, "--target ID", "a target instead of a preset: a Hub id, a folder or a .gguf file")
    option(parser, "--draft ID", "a smaller model of the target's family, for the level `model`")
    option(parser, "--device D", "cpu, cuda, ... (default: an accelerator if there is one)")
    option(
        parser,
        "--dtype F",
        "the target's dtype (default: float32 on CPU, bfloat16 on a GPU, float16 on one before Ampere)",
    )


def add_sampling(parser: argparse.ArgumentParser) -> None:
    counts(parser, "--max-new-tokens --tokens N", "length limit (default 128)", default=128)
    option(parser, "--temperature T", "0 is greedy (default)", type=float, default=0.0)
    option(parser, "--top-k K", "0 switches it off (default)", type=int, default=0)
    option(parser, "--top-p P", "1 switches it off (default)", type=float, default=1.0)
    option(parser, "--seed S", "the same seed gives the same run", type=int, default=0)
    flag(parser, "--raw", "no chat template: the prompt is the text itself")


def add_load(parser: argparse.ArgumentParser, help: str) -> None:
    option(parser, "--load B,...", f"{help}: such as 1,2,4,8,16,32", default="")


def loads_of(options: argparse.Namespace) -> list[int]:
    """The option of `add_load`, ascending; none where it is not given.

    Raises:
        ValueError: it is not a list of counts.
    """
    parts = options.load.split(",") if options.load else []
    if any(not part.isdecimal() or int(part) < 1 for part in parts):
        raise ValueError(f"--load is {options.load!r}; give numbers of requests from 1, such as 1,2,4,8")
    return sorted({int(part) for part in parts})


def sampled(options: argparse.Namespace) -> dict[str, Any]:
    """The options of `add_sampling`, as `Pipeline.run` takes them."""
    return {name: getattr(options, name) for name in SAMPLING}


def check_sampling(options: argparse.Namespace) -> Sampling:
    """The sampling of the options of `add_sampling`; to be called before anything is loaded.

    Raises:
        ValueError: an option is out of range.
    """
    check_whole(options, "max_new_tokens", "top_k", "seed")
    return Sampling(options.temperature, options.top_k, options.top_p)


def check_whole(options: argparse.Namespace, *names: str) -> None:
    """Checks that integers fit a trace.

    Raises:
        ValueError: one does not.
    """
    for name in names:
        if abs(getattr(options, name)) > MAX_INT:
            raise ValueError(f"--{name.replace('_', '-')} has more than 64 bits; use {MAX_INT} at most")


def prompt_of(options: argparse.Namespace) -> str:
    """The option --prompt; - reads stdin.

    Raises:
        ValueError: stdin has more than `MAX_PROMPT` characters, or the bytes of either are not UTF-8.
    """
    if options.prompt != "-":
        return _utf8(str(options.prompt), "--prompt")
    try:
        prompt = sys.stdin.read(MAX_PROMPT + 1)
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise ValueError(f"--prompt -: {_NOT_TEXT.format(byte)}") from None
    if len(prompt) > MAX_PROMPT:
        raise ValueError(f"--prompt -: stdin holds more than {MAX_PROMPT} characters; give it a shorter text")
    return _utf8(prompt, "--prompt -")


def _utf8(text: str, option: str) -> str:
    """The text, unless it has undecodable bytes, which Python passes on as surrogates."""
    lost = next((ord(c) for c in text if 0xDC80 <= ord(c) <= 0xDCFF), None)
    if lost is not None:
        raise ValueError(f"{option}: {_NOT_TEXT.format(lost - 0xDC00)}")
    return text


def preset_from(options: argparse.Namespace, stack: str | None = None) -> Preset:
    """The preset selected by the options of `add_preset`, or by a stack whose target has an id.

    Raises:
        ValueError: see `preset_chosen`.
    """
    return preset_chosen(options.preset, target=options.target, draft=options.draft, stack=stack and whole(stack))


def opened(options: argparse.Namespace, stack: str | None, **more: Any) -> pipeline.Pipeline:
    """The pipeline selected by the options of `add_preset`. stack, more: see `Pipeline.open`.

    Raises:
        ValueError: the preset cannot run on the named device; and see `Pipeline.open`.
    """
    preset = preset_from(options, stack)
    if preset.toy and options.device not in (None, "cpu"):
        raise ValueError(
            f"preset {preset.name} runs only on the CPU; leave --device {options.device} out, or name another preset"
        )
    made = pipeline.Pipeline.open(
        preset, stack=stack, device=options.device, dtype=options.dtype, progress=progress(), **more
    )
    if options.draft and (own := made.preset.stranger) == source_of(options.draft) and own:
        print(f"{own.title} has another tokenizer: it is the level cross, whose text is retokenized", file=sys.stderr)
    return made


def default_of(options: argparse.Namespace) -> DefaultStack:
    """The default stack of the selected preset on this machine.

    Raises:
        ValueError: see `preset_chosen`.
    """
    return default_for_machine(preset_from(options), options.device, options.dtype)


def explained(default: DefaultStack) -> str:
    """The default stack, the origin of its block lengths, and the planner's prediction."""
    return f"default stack {default.stack}: {default.summary}"


def about_of(
    options: argparse.Namespace, kind: str, made: pipeline.Pipeline, prompts: str | Path, **more: Any
) -> dict[str, Any]:
    """The first line of a file of raw results: command, preset, machine and prompts. more: further entries."""
    return {
        **measured_by(kind, options.command_line),
        "preset": made.preset.name,
        "device": made.device,
        "dtype": made.dtype,
        **ran_on(made.device),
        **prompts_file(prompts),
        **more,
    }


def plain_stack(options: argparse.Namespace) -> str:
    """Plain decoding of the selected target, as a stack.

    Raises:
        ValueError: see `preset_chosen`.
    """
    return plain_of(preset_from(options).default_stack)


def within_context(texts: list[PromptText], max_positions: int) -> list[PromptText]:
    """The texts whose prompts leave room for a token; prints on stderr how many do not."""
    fits = [text for text in texts if len(text.prompt_ids) < max_positions]
    if len(fits) < len(texts):
        print(f"{len(texts) - len(fits)} prompts are as long as the context and are left out", file=sys.stderr)
    return fits


def countdown(what: str, total: int, done: int = 0, silence: float = 0.0) -> Callable[..., None]:
    """A function to call after each of `total` steps: it prints the count and the estimated time left on stderr.

    silence: least number of seconds between two lines. Its argument is printed after the count.
    """
    began = reported = time.monotonic()
    finished = 0

    def report(more: str = "") -> None:
        nonlocal finished, reported
        finished += 1
        if (now := time.monotonic()) - reported < silence:
            return
        reported = now
        rest = (now - began) / finished * (total - done - finished)
        print(f"{what} {done + finished} of {total}{more}, about {rest / 60:.0f} min left", file=sys.stderr, flush=True)

    return report


def progress(left: bool = False) -> Callable[[str, float, float], None]:
    """Prints progress on stderr: updated in place on a terminal, else one line per stage.

    left: on a terminal also the estimated time left, for progress of a single stage.
    """
    shown, begun = "", list[tuple[float, float]]()

    def report(stage: str, done: float, total: float) -> None:
        nonlocal shown
        if left and sys.stderr.isatty():
            begun.append((time.monotonic(), done))
            (at, first), (now, _) = begun[0], begun[-1]
            rest = (now - at) / (done - first) * (total - done) if done > first else 0.0
            stage += f", about {rest:.0f} s left" if rest else ""
        if sys.stderr.isatty():
            share = f" {done / total:4.0%}" if total else ""
            if total and stage in IN_BYTES:
                share += f"  {size(done)} of {size(total)}"
            end = "\n" if total and done >= total else ""
            print(f"\r\033[K{stage}{share}", end=end, file=sys.stderr, flush=True)
        elif stage != shown:
            print(stage, file=sys.stderr, flush=True)
        shown = stage

    return report


def prompt_progress(clock: Callable[[], float] = time.monotonic) -> Callable[[str, int, int], None]:
    """Prints on a terminal how much of a prompt a level has read and the estimated time left, updated in place; nothing
    for a prompt that is read at once."""
    of, began, first = "", 0.0, 0

    def report(level: str, done: int, total: int) -> None:
        nonlocal of, began, first
        if not sys.stderr.isatty() or (level != of and done >= total):
            return
        if level != of:
            of, began, first = level, clock(), done
        left = (clock() - began) / (done - first) * (total - done) if done > first else 0.0
        rest = f", about {left:.0f} s left" if left >= 1 else ""
        line = f"reading the prompt: {done:,} of {total:,} tokens, by {level}{rest}" if done < total else ""
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)

    return report
