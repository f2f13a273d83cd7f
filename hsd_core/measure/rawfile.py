"""Files of raw results: JSON lines, the first of which has the kind, the machine and the command. Records are never
lost.

An interrupted measurement resumes in its file; a file of another measurement is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from hsd_core.models import machine
from hsd_core.models.weights.fetch import sha256_of
from hsd_core.typed import TooLong, decode, encode, encode_lines, json_decoder, lines, opened, plain, write_whole

VERSION = 1
_OBJECT = json_decoder(dict[str, Any])
MAY_DIFFER = frozenset({"recorded", "command"})  # fields that may change when a measurement resumes


def read_raw(path: str | Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The first line of a file of raw results, and the others; an incomplete last line is left out.

    Raises:
        ValueError: the file has no raw results of this version.
        OSError: there is no such file.
    """
    with opened(path) as file:
        try:
            whole = [line for _, line in lines(file) if line.endswith(b"\n")]
        except TooLong as error:
            raise ValueError(f"{path}, line {error.line}: {error}; name a file that this program wrote") from None
    try:
        about, *records = (decode(line, _OBJECT) for line in whole)
    except ValueError:
        about = {}
    if not isinstance(about.get("kind"), str) or about.get("version") != VERSION:
        raise ValueError(
            f"{path} holds no raw results of version {VERSION}; bench, validate, passes, depth and train make some"
        )
    return about, records


class RawFile:
    """A file of raw results to which records are added. about: its first line. records: its other lines."""

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        """
        Args:
            about: the first line of a new file; that of an existing one must be equal, except for `MAY_DIFFER`.
        Raises:
            ValueError: the file has another first line; the message names a field that differs.
        """
        self.path, self.records = path, list[dict[str, Any]]()
        self.about: dict[str, Any] = plain(encode(about))
        if path.exists():
            found, self.records = read_raw(path)
            both = (found.keys() | self.about.keys()) - MAY_DIFFER
            if differs := sorted(key for key in both if found.get(key) != self.about.get(key)):
                raise ValueError(
                    f"{path} holds results with another {', '.join(differs)} ({_short(found.get(differs[0]))}, not "
                    f"{_short(self.about.get(differs[0]))}); give a new file to --out"
                )
            self.about["recorded"] = found.get("recorded")
        self.keep(self.records)

    def keep(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Rewrite the file with these records."""
        self.records = [dict(record) for record in records]
        write_whole(self.path, encode_lines((self.about, *self.records)))

    def add(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Append records."""
        added = [dict(record) for record in records]
        with self.path.open("ab") as file:
            file.write(encode_lines(added))
        self.records += added


def measured_by(kind: str, command: str) -> dict[str, Any]:
    """The first fields of a first line."""
    return {"kind": kind, "version": VERSION, "recorded": now(), "command": command}


def ran_on(device: str) -> dict[str, Any]:
    """The machine, its threads and versions. Imports torch."""
    from hsd_core.models.threads import model_threads

    return {"machine": machine.describe(device), "threads": model_threads(), "versions": dict(machine.versions())}


def prompts_file(path: str | Path) -> dict[str, str]:
    """A prompts file's name and digest."""
    return {"prompts": Path(path).name, "prompts_sha256": sha256_of(Path(path))}


def now() -> str:
    """For example 2026-11-22 10:30 UTC."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def _short(value: Any) -> str:
    text = encode(value).decode()
    return text if len(text) <= 60 else text[:57] + "..."
