"""`probe`: measures a server of llama.cpp, vLLM or SGLang at several draft lengths and recommends one.

Without `--start` it prints the command for each length; the user restarts the server with it, and it is measured.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from hsd_core.cli.options import counts, flag, option, reads, writes
from hsd_core.cli.shared_options import command, countdown
from hsd_core.measure.probe.engine_requests import ENGINES, LENGTHS, MOST
from hsd_core.typed.program_files import ASSETS

DEFAULT_PROMPTS = ASSETS / "prompts" / "calibration.jsonl"
_MOST_PROMPTS = 64
_MOST_TOKENS = 2048


def add(commands: Any) -> None:
    parser = command(commands, "probe", "measure a running llama.cpp, vLLM or SGLang server at several lengths", act)
    option(parser, "--url URL", "the server, such as http://127.0.0.1:8000/v1", required=True)
    option(parser, "--engine", "its engine (default: as it reports)", choices=[*ENGINES])
    option(parser, "--target ID", "the model in the commands", default="TARGET")
    option(parser, "--draft ID", "the draft model in the commands", default="DRAFT")
    counts(parser, "--lengths K", "draft lengths (default 1 2 4 8)", nargs="+", default=[*LENGTHS])
    option(parser, "--length K", "measure only what the server runs now: this length, 0 without drafts", type=int)
    option(parser, "--start COMMAND", "start and stop the server here: its command with {k} for the length")
    option(parser, "--plain COMMAND", "with --start: its command without drafts")
    flag(parser, "--synthetic", "the engine accepts at random: times of lengths without a good draft")
    reads(parser, "--prompts FILE", "JSON lines with prompt or turns (default: eight shipped ones)")
    counts(parser, "--limit N", "prompts that are sent at each length (default 8)", default=8)
    counts(parser, "--max-new-tokens N", "tokens of a reply (default 96)", default=96)
    writes(parser, "--out FILE", "the replies' counts, which `doctor` reads; goes on", goes_on=True)
    writes(parser, "--profile FILE", "with all lengths measured: a profile, which `plan` reads")
    reads(parser, "--unseen FILE", "with --start: check the advice at every length up to the longest, on these prompts")
    writes(parser, "--table FILE", "with --unseen: the result as Markdown")
    flag(parser, "--commands", "print the start commands and exit; with --engine no server has to run")


def act(options: argparse.Namespace) -> int:
    from hsd_core.measure.probe.engine_requests import commands, server_at
    from hsd_core.measure.probe.length_sweep import CLOSE, advice_lines, checked, plan_profile
    from hsd_core.measure.probe.server import HttpServer
    from hsd_core.theory import write_profile

    lengths = _checked(options)
    asked = HttpServer(options.url)
    if options.commands:
        engine = options.engine or _engine_at(asked)
    elif options.start:
        engine = options.engine or "llama.cpp"
    else:
        engine = server_at(asked, options.engine).engine
    start_commands = commands(
        engine,
        [k for k in lengths if k],
        target=shlex.quote(options.target),
        draft=shlex.quote(options.draft),
        port=asked.port,
        synthetic=options.synthetic,
    )
    if options.commands:
        print("\n".join(start_commands.values()))
        return 0
    out = Path(options.out) if options.out else None
    kept = _swept(options, asked, lengths, start_commands, options.prompts or DEFAULT_PROMPTS, out)
    print("\n".join(advice_lines(kept)))
    if options.profile:
        write_profile(plan_profile(kept), options.profile)
        print(f"{options.profile} is a profile for plan", file=sys.stderr)
    if options.unseen:
        every = range(max(lengths) + 1)
        other = out.with_name(f"{out.stem}-unseen{out.suffix}") if out else None
        table, holds = checked(kept, _swept(options, asked, every, start_commands, options.unseen, other))
        print(f"\n{table}\nThat is {'within' if holds else 'more than'} {CLOSE:.0%}.")
        if options.table:
            _write_table(options, table)
    return 0


def _engine_at(asked: Any) -> str:
    """The engine that answers, if only its commands are wanted."""
    from hsd_core.measure.probe.engine_requests import server_at
    from hsd_core.measure.probe.server import Silent

    try:
        return server_at(asked).engine
    except Silent:
        named = f"{', '.join(list(ENGINES)[:-1])} or {list(ENGINES)[-1]}"
        raise ValueError(
            f"{asked.root}: nothing answers; name the engine for --commands without a running server: --engine {named}"
        ) from None


def _swept(
    options: argparse.Namespace, asked: Any, lengths: Sequence[int], start_commands: Any, file: Any, out: Path | None
) -> Any:
    """All replies to a file's prompts at these lengths; measures those that are missing."""
    from hsd_core.measure.probe.length_sweep import SweepFile

    prompts = _prompts(options, file)
    kept = SweepFile.at(out, len(prompts), options.max_new_tokens)
    left = sum(len(kept.missing(k)) for k in lengths)
    report = countdown("reply", left) if left else lambda _: None
    for k in lengths:
        if kept.missing(k):
            step = (
                start_commands[k] if not options.start else options.start.replace("{k}", str(k)) if k else options.plain
            )
            _measure(options, asked, k, step, prompts, kept, report)
    return kept


def _write_table(options: argparse.Namespace, table: str) -> None:
    from hsd_core.models.machine import describe
    from hsd_core.typed import write_whole

    each = f"{options.limit} prompts, {options.max_new_tokens} tokens each"
    about = f"Made by `{options.command_line}` ({describe('cpu')}; {each})."
    write_whole(Path(options.table), f"{about}\n\n{table}\n".encode())


def _checked(options: argparse.Namespace) -> list[int]:
    """The lengths to measure, 0 first."""
    if options.length is not None and options.start:
        raise ValueError("--length measures what runs now, --start starts it; give one of them")
    if bool(options.start) != bool(options.plain):
        raise ValueError("--start and --plain go together: the commands with and without drafts")
    if options.start and "{k}" not in options.start:
        raise ValueError("--start has no {k}; write it in place of the draft length, as in --spec-draft-n-max {k}")
    if (options.unseen and not options.start) or (options.table and not options.unseen):
        raise ValueError("--table goes with --unseen, and --unseen with --start: the server is started at every length")
    if options.length is not None and not 0 <= options.length <= MOST:
        raise ValueError(f"--length is {options.length}; give 0 (no drafts) to {MOST}")
    if wrong := [k for k in options.lengths if k > MOST]:
        raise ValueError(f"--lengths has {wrong[0]}; give 1 to {MOST}")
    if options.limit > _MOST_PROMPTS or options.max_new_tokens > _MOST_TOKENS:
        raise ValueError(f"at most {_MOST_PROMPTS} prompts of {_MOST_TOKENS} tokens can be sent; ask for fewer")
    return [options.length] if options.length is not None else [0, *sorted(set(options.lengths))]


def _prompts(options: argparse.Namespace, file: Any) -> list[str]:
    """Prompts spread over a file."""
    from hsd_core.trace.prompt_files import PromptLine
    from hsd_core.typed import records

    found = [line.text for _, line in records(file, PromptLine, 'JSON with "prompt" or "turns"') if line.text]
    if not found:
        raise ValueError(f"{file}: no line in it has a prompt or turns")
    step = max(1, len(found) // options.limit)
    return found[::step][: options.limit]


def _measure(
    options: argparse.Namespace, asked: Any, k: int, step: str, prompts: Sequence[str], kept: Any, report: Any
) -> None:
    from hsd_core.measure.probe.engine_requests import server_at
    from hsd_core.measure.probe.length_sweep import measure
    from hsd_core.measure.probe.server import started

    named = f"length {k}" if k else "no drafts"
    if not options.start and options.length is None:
        if not sys.stdin.isatty():
            raise ValueError(
                f"nobody can restart the server for {named}: name what it runs now with --length (0 without "
                "drafts), or give --start and --plain"
            )
        print(f"{named}: stop the server, start this, and press Enter when it answers\n    {step}", file=sys.stderr)
        input()
    with started(step, asked) if options.start else nullcontext():
        server = server_at(asked, options.engine)
        measure(server, k, prompts, kept, progress=lambda *_: report(f" ({named})"), synthetic=options.synthetic)
