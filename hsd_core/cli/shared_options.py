"""Options that several commands share, and progress on stderr."""

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
from hsd_core.trace.prompt_files import PromptText
from hsd_core.typed import MAX_INT

DEFAULT_PRESET = "smollm2"
IN_BYTES = ("download", "convert")  # stages of progress
MAX_PROMPT = 4_000_000  # characters that are read from stdin: more than any context holds
_NOT_TEXT = "the byte 0x{:02X} is not UTF-8; give it a text in UTF-8"
SAMPLING = ("max_new_tokens", "temperature", "top_k", "top_p", "seed", "raw")  # the options of `add_sampling`


def command(commands: Any, name: str, help: str, act: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
    """The parser of a new command, which `act` carries out."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=help)
    parser.set_defaults(act=act)
    return parser


def add_preset(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group()
    option(what, "--preset P", f"preset (default {DEFAULT_PRESET})", default=DEFAULT_PRESET)
    option(what, "--target ID", "instead of a preset: a Hub id, a folder or a .gguf file")
    option(parser, "--draft ID", "a smaller model of the target's family, which `model` then is")
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


def sampled(options: argparse.Namespace) -> dict[str, Any]:
    """The options of `add_sampling`, as `Pipeline.run` takes them."""
    return {name: getattr(options, name) for name in SAMPLING}


def check_sampling(options: argparse.Namespace) -> Sampling:
    """The options of `add_sampling`: to be called before anything is loaded.

    Returns:
        How tokens are drawn.
    Raises:
        ValueError: one is out of the range that a run takes.
    """
    check_whole(options, "max_new_tokens", "top_k", "seed")
    return Sampling(options.temperature, options.top_k, options.top_p)


def check_whole(options: argparse.Namespace, *names: str) -> None:
    """
    Raises:
        ValueError: a number is larger than a trace can hold.
    """
    for name in names:
        if abs(getattr(options, name)) > MAX_INT:
            raise ValueError(f"--{name.replace('_', '-')} has more than 64 bits; use {MAX_INT} at most")


def prompt_of(options: argparse.Namespace) -> str:
    """The option --prompt; - is what stands on stdin.

    Raises:
        ValueError: stdin holds more than `MAX_PROMPT` characters; or its bytes, or the option's, are not UTF-8.
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
    """The text, unless it has bytes that Python could not read: it hands them on as halves of a character."""
    lost = next((ord(c) for c in text if 0xDC80 <= ord(c) <= 0xDCFF), None)
    if lost is not None:
        raise ValueError(f"{option}: {_NOT_TEXT.format(lost - 0xDC00)}")
    return text


def preset_from(options: argparse.Namespace, stack: str | None = None) -> Preset:
    """The preset that the options of `add_preset` ask for, or a stack whose target has an id.

    Raises:
        ValueError: see `preset_chosen`.
    """
    return preset_chosen(options.preset, target=options.target, draft=options.draft, stack=stack)


def opened(options: argparse.Namespace, stack: str | None, **more: Any) -> pipeline.Pipeline:
    """The pipeline that the options of `add_preset` ask for. stack, more: see `Pipeline.open`.

    Raises:
        ValueError: the preset has nothing that could run on the device that is named; and see `Pipeline.open`.
    """
    preset = preset_from(options, stack)
    if preset.toy and options.device not in (None, "cpu"):
        raise ValueError(
            f"preset {preset.name} runs on the CPU alone; leave --device {options.device} out, or name another preset"
        )
    made = pipeline.Pipeline.open(
        preset, stack=stack, device=options.device, dtype=options.dtype, progress=progress(), **more
    )
    if options.draft and (own := made.preset.stranger) == source_of(options.draft) and own:
        said = "it is the level cross, whose text is spelled in the target's tokens"
        print(f"{own.title} has another tokenizer: {said}", file=sys.stderr)
    return made


def default_of(options: argparse.Namespace) -> DefaultStack:
    """The default stack of what the options of `add_preset` ask for, on this machine.

    Raises:
        ValueError: see `preset_chosen`.
    """
    return default_for_machine(preset_from(options), options.device, options.dtype)


def explained(default: DefaultStack) -> str:
    """The default stack, where its block lengths come from, and what the planner predicts of it."""
    return f"default stack {default.stack}: {default.told}"


def about_of(
    options: argparse.Namespace, kind: str, made: pipeline.Pipeline, prompts: str | Path, **more: Any
) -> dict[str, Any]:
    """The first line of a file of raw results: what measured, over what, on what, along which file. more: of it."""
    return {
        **measured_by(kind, options.said),
        "preset": made.preset.name,
        "device": made.device,
        "dtype": made.dtype,
        **ran_on(made.device),
        **prompts_file(prompts),
        **more,
    }


def plain_stack(options: argparse.Namespace) -> str:
    """Plain decoding of the target that the options of `add_preset` ask for, as a stack.

    Raises:
        ValueError: see `preset_chosen`.
    """
    return plain_of(preset_from(options).default_stack)


def within_context(texts: list[PromptText], max_positions: int) -> list[PromptText]:
    """The texts whose prompts leave room for a token; says on stderr how many do not."""
    fits = [text for text in texts if len(text.prompt_ids) < max_positions]
    if len(fits) < len(texts):
        print(f"{len(texts) - len(fits)} prompts are as long as the context and are left out", file=sys.stderr)
    return fits


def countdown(what: str, total: int, done: int = 0, silence: float = 0.0) -> Callable[..., None]:
    """To be called when one more of `total` is done: says so on stderr, and how long the others may take.

    silence: seconds between two lines, at the least. What it is called with stands behind the count.
    """
    began = told = time.monotonic()
    finished = 0

    def report(said: str = "") -> None:
        nonlocal finished, told
        finished += 1
        if (now := time.monotonic()) - told < silence:
            return
        told = now
        rest = (now - began) / finished * (total - done - finished)
        print(f"{what} {done + finished} of {total}{said}, about {rest / 60:.0f} min left", file=sys.stderr, flush=True)

    return report


def progress(left: bool = False) -> Callable[[str, float, float], None]:
    """A progress line on stderr: in place on a terminal, a line a stage elsewhere; what is fetched in bytes.

    left: on a terminal it says how long the rest of its one stage may take, too.
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


def reads_prompt(clock: Callable[[], float] = time.monotonic) -> Callable[[str, int, int], None]:
    """To be told how much of a prompt a level has read: on a terminal a line in place, with the time that the rest
    takes; elsewhere nothing is said, and nothing of a prompt that is read in one piece."""
    of, began, first = "", 0.0, 0

    def report(level: str, done: int, total: int) -> None:
        nonlocal of, began, first
        if not sys.stderr.isatty() or (level != of and done >= total):
            return
        if level != of:
            of, began, first = level, clock(), done
        left = (clock() - began) / (done - first) * (total - done) if done > first else 0.0
        rest = f", about {left:.0f} s left" if left >= 1 else ""
        said = f"reading the prompt: {done:,} of {total:,} tokens, by {level}{rest}" if done < total else ""
        print(f"\r\033[K{said}", end="", file=sys.stderr, flush=True)

    return report
