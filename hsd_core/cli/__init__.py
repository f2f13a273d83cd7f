"""The command line: generate, plan, calibrate, validate, train and the others that `--help` lists.

Bad input gives one line on stderr that says what to do, and exit code 2. Text goes to stdout, all else to stderr.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, NoReturn

from hsd_core.cli.options import check_counts, check_files, error_text
from hsd_core.cli.page import called_as, open_page
from hsd_core.grammar.registry import plugins
from hsd_core.models.machine import out_of_memory

# Files of this folder in the order of `--help`; the commands of systems follow.
RUNS, MEASURED = (
    ("generate", "trace_files", "page", "site", "reference", "models"),
    ("bench", "passes", "race", "record", "depth"),
)
PLANNED, ENGINES = ("calibrate", "plan", "validate", "whatif"), ("doctor", "probe", "pair")
COMMANDS = (*RUNS, *MEASURED, *PLANNED, *ENGINES, "selfgen")
BAD_INPUT = 2
INTERRUPTED = 130
NO_MEMORY = (
    "the memory of this machine does not suffice; take a smaller preset, a target of fewer bits (--dtype int8 or "
    "int4), or ask for fewer tokens"
)


class _Parser(argparse.ArgumentParser):
    complete: Callable[[], None] | None = None  # adds the options that need slow imports, once the command is chosen

    def parse_known_args(self, *given: Any, **named: Any) -> Any:
        complete, self.complete = self.complete, None
        if complete is not None:
            complete()
        return super().parse_known_args(*given, **named)

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"error: {message}; see {self.prog} --help\n")


def command_line() -> tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]:
    """The parser, and the parsers of its commands by name; options that need slow imports are added during parsing."""
    parser = _Parser(prog=called_as(), description=__doc__.splitlines()[0] if __doc__ else None)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in (*(import_module(f"{__name__}.{name}") for name in COMMANDS), *plugins("command")):
        command.add(commands)
    return parser, commands.choices


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if arguments[:1] == ["page"]:  # whose options app.py reads
        return open_page(arguments[1:])
    parser, _ = command_line()
    options = parser.parse_args(arguments)
    options.command_line = shlex.join(["python", "-m", "hsd_core", *arguments])  # for files that record the command
    try:
        check_files(options)
        check_counts(options)
        code = int(options.act(options))
        sys.stdout.flush()  # a closed pipe raises here, not at exit
        return code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader closed the pipe: not an error
        return 0
    except (ValueError, OSError, RuntimeError, MemoryError, ImportError) as error:
        exhausted = out_of_memory(error)
        if isinstance(error, ImportError) and not exhausted:
            raise
        why = error_text(error) if isinstance(error, OSError) else str(error)
        print(f"error: {NO_MEMORY if exhausted else ' '.join(why.split())}", file=sys.stderr)
        return BAD_INPUT
