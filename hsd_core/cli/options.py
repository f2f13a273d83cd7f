"""How a command declares its options; its files and counts are checked before it does anything.

`check_files` and `check_counts` refuse bad ones.
"""

from __future__ import annotations

import argparse
import errno
import os
import stat
import tempfile
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hsd_core.typed.files import regular_file

_MESSAGES = MappingProxyType(
    {
        errno.ENOENT: "there is no {name}; check the name and its folder",
        errno.EACCES: "{name} may not be opened; change its permissions, or name another",
        errno.EPERM: "{name} may not be opened; change its permissions, or name another",
        errno.EISDIR: "{name} is a folder; name a file",
        errno.ENOTDIR: "{name} is below a file, not in a folder; check the path",
        errno.EEXIST: "{name} exists already; name another, or move it away",
        errno.ENAMETOOLONG: "the name {name} is too long; take a shorter one",
        errno.ENOSPC: "the disk of {name} is full; free some space, or name a place on another disk",
        errno.EDQUOT: "the disk of {name} is full; free some space, or name a place on another disk",
        errno.EROFS: "{name} is on a read-only disk; name a place on another disk",
    }
)


@dataclass(frozen=True, slots=True)
class FileArgument:
    """An option or argument that names files. dest: its attribute of the parsed options; label: as typed.

    written: it is an output. folder: it is a folder. goes_on: an existing file is read and continued. known: values
    that are not file names. file_with: the option that makes it a file instead of a folder, to be continued.
    """

    dest: str
    label: str
    written: bool = False
    folder: bool = False
    goes_on: bool = False
    known: Collection[str] = ()
    file_with: str = ""


def option(parser: Any, named: str, help: str | None = None, **more: Any) -> argparse.Action:
    """Adds an option or an argument.

    Args:
        named: its names and its metavar: "--limit N", "file FILE". more: arguments of `add_argument`.
    """
    first, *others = named.split()
    names = [first, *(word for word in others if word.startswith("-"))]
    if value := [word for word in others if not word.startswith("-")]:
        more["metavar"] = value[0]
    action: argparse.Action = parser.add_argument(*names, help=help, **more)
    return action


def flag(parser: Any, name: str, help: str, **more: Any) -> None:
    """Adds a boolean option."""
    option(parser, name, help, action="store_true", **more)


def counts(parser: Any, named: str, help: str | None = None, **more: Any) -> None:
    """Adds an option that counts something; arguments as for `option`."""
    before = parser.get_default("counted") or ()
    parser.set_defaults(counted=(*before, option(parser, named, help, type=int, **more).dest))


def reads(
    parser: Any, named: str, help: str | None = None, *, folder: bool = False, known: Collection[str] = (), **more: Any
) -> None:
    """Adds an argument that names an input. folder, known: see `FileArgument`; others as for `option`."""
    _add_file(parser, option(parser, named, help, **more), folder=folder, known=known)


def writes(
    parser: Any,
    named: str,
    help: str | None = None,
    *,
    folder: bool = False,
    goes_on: bool = False,
    file_with: str = "",
    **more: Any,
) -> None:
    """Adds an argument that names an output; a missing folder is created. Arguments as for `reads`."""
    action = option(parser, named, help, **more)
    _add_file(parser, action, written=True, folder=folder, goes_on=goes_on, file_with=file_with)


def check_counts(options: argparse.Namespace) -> None:
    """Checks every option that counts something.

    Raises:
        ValueError: one is less than 1.
    """
    for name in getattr(options, "counted", ()):
        value = getattr(options, name)
        for one in value if isinstance(value, list) else [value]:
            if one is not None and one < 1:
                raise ValueError(f"--{name.replace('_', '-')} is {one}; use at least 1")


def check_files(options: argparse.Namespace) -> None:
    """Checks every file that a command line names.

    Raises:
        ValueError: one cannot be read or written; the message says which, why, and what to do.
    """
    for named in getattr(options, "named_files", ()):
        given = getattr(options, named.dest)
        if getattr(options, named.file_with, False):
            named = replace(named, folder=False, goes_on=True)
        for path in given if isinstance(given, list) else [given]:
            if path is None or path in named.known:
                continue
            try:
                (_check_output if named.written else _check_input)(Path(path), named)
            except OSError as error:
                raise ValueError(f"{named.label}: {error_text(error, path)}") from None
            except ValueError as error:
                raise ValueError(f"{named.label}: {error}") from None


def error_text(error: OSError, name: object = None) -> str:
    """The message for an error of the system, with what to do if known. name: the file that was named."""
    name = error.filename if name is None else name
    words = _MESSAGES.get(error.errno or 0)
    if words is not None and name is not None:
        return words.format(name=name)
    return f"{error.strerror or error}" + (f": {name}" if name is not None else "")


def _add_file(parser: Any, action: argparse.Action, **what: Any) -> None:
    label = action.option_strings[0] if action.option_strings else str(action.metavar or action.dest)
    before = parser.get_default("named_files") or ()
    parser.set_defaults(named_files=(*before, FileArgument(action.dest, label, **what)))


def _check_input(path: Path, named: FileArgument) -> None:
    if not named.folder:
        with regular_file(path).open("rb"):
            return
    if not stat.S_ISDIR(path.stat().st_mode):
        raise ValueError(f"{path} is not a folder; name one")
    os.listdir(path)


def _check_output(path: Path, named: FileArgument) -> None:
    if named.folder:
        _check_room(path)
        return
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        if not path.parent.is_dir():
            raise ValueError(f"{path.parent} is not a folder; make it, or name a file in an existing one") from None
        with path.open("xb"):  # the only sure test of whether a name can be written
            pass
        path.unlink()
        return
    if named.goes_on:
        regular_file(path)
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):  # opening a pipe would wait for its reader
        with path.open("ab"):
            pass


def _check_room(folder: Path) -> None:
    """Refuses a folder in which, or in whose nearest existing parent, no files can be created."""
    there = next(path for path in _upwards(folder) if path.exists())
    if not there.is_dir():
        raise ValueError(f"{there} is not a folder; name one, or a place for a new one")
    with tempfile.TemporaryDirectory(dir=there):
        pass


def _upwards(folder: Path) -> Iterable[Path]:
    path = folder.absolute()
    return (path, *path.parents)
