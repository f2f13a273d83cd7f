"""Files that a user names: read within limits, as bytes, text or JSON lines; written atomically.

Devices and pipes are refused, as they may have no end.
"""

from __future__ import annotations

import gzip
import os
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TypeVar, cast

from hsd_core.typed.values import Malformed, Wrong, decode, json_decoder

MAX_BYTES = 200_000_000


def regular_file(path: str | Path) -> Path:
    """The path of a regular file.

    Raises:
        ValueError: it is a folder, a device or a pipe. OSError: it does not exist or cannot be accessed.
    """
    path = Path(path)
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise ValueError(f"{path} is a folder; name a file")
    if not stat.S_ISREG(mode):
        raise ValueError(f"{path} is a device or a pipe, which may have no end; save it to a file and name that")
    return path


def read_bytes(path: str | Path, most: int = MAX_BYTES) -> bytes:
    """All bytes of a file.

    Raises:
        ValueError: as `regular_file`, or it is larger than `most` bytes. OSError: it cannot be read.
    """
    with regular_file(path).open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"{path} is larger than {most / 1e6:g} MB; name a smaller file")
    return data


def read_text(path: str | Path, most: int = MAX_BYTES) -> str:
    """A file as text.

    Raises:
        ValueError: as `read_bytes`, or it is not UTF-8. OSError: it cannot be read.
    """
    try:
        return read_bytes(path, most).decode()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path} is not text in UTF-8 (byte {error.start} is 0x{error.object[error.start]:02X}); name another"
        ) from None


# Bytes, checked before a line is parsed, as parsing 100 MB takes gigabytes. The largest lines of a trace, notes with a
# value for each layer and token, have 5 MB for 10,000 tokens.
MAX_LINE = 8_000_000
T = TypeVar("T")


class TooLong(ValueError):
    """A file with too many or too long lines; `line`: the number of the long one, 0 for too many."""

    def __init__(self, what: str, line: int = 0) -> None:
        super().__init__(what)
        self.line = line


def write_whole(path: Path, data: bytes) -> None:
    """Write a file atomically: a reader sees the old one or the new one."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        partial.write_bytes(data)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def opened(path: str | Path) -> IO[bytes]:
    """A file to read, unpacked on the fly if its first bytes are those of gzip.

    Raises:
        ValueError: it is not a regular file. OSError: it cannot be read.
    """
    with regular_file(path).open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return cast("IO[bytes]", gzip.open(path) if packed else Path(path).open("rb"))


def lines(file: IO[bytes], *, most: int | None = None) -> Iterator[tuple[int, bytes]]:
    """The lines of a file that are not blank, each with its number, counted from 1.

    Raises:
        TooLong: there are more than `most`, or one is longer than `MAX_LINE` bytes.
    """
    for number, line in enumerate(iter(lambda: file.readline(MAX_LINE + 1), b""), 1):
        if most is not None and number > most:
            raise TooLong(f"more than {most} lines")
        if len(line) > MAX_LINE:
            raise TooLong(f"longer than {MAX_LINE / 1e6:g} MB", number)
        if not line.isspace():
            yield number, line


def records(path: str | Path, kind: type[T], wanted: str) -> Iterator[tuple[str, T]]:
    """The records of a file of JSON lines, packed or not: ("FILE, line 3", record).

    Args:
        wanted: the expected record, for the message.
    Raises:
        ValueError: the file is not text, or a line is another record; the message has the line and `wanted`.
        OSError: it cannot be read.
    """
    decoder = json_decoder(kind)
    where = str(path)
    try:
        with opened(path) as file:
            for number, line in lines(file):
                where = f"{path}, line {number}"
                yield where, decode(line, decoder)
    except TooLong as error:
        raise ValueError(f"{path}, line {error.line}: {error}; expected {wanted}") from None
    except (EOFError, zlib.error, Malformed, Wrong) as error:
        if isinstance(error, Wrong) or (isinstance(error, Malformed) and error.text):
            raise ValueError(f"{where}: {error}; expected {wanted}") from None
        raise ValueError(f"{path} cannot be read as text: {error}") from None
