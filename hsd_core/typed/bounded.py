"""Reading what somebody names: a device or a pipe has no end, and a file may be larger than it is good for."""

from __future__ import annotations

import stat
from pathlib import Path

MAX_BYTES = 200_000_000


def regular(path: str | Path) -> Path:
    """The path, where a file with an end lies.

    Raises:
        ValueError: it is a folder, a device or a pipe. OSError: there is nothing, or it may not be looked at.
    """
    path = Path(path)
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise ValueError(f"{path} is a folder; name a file")
    if not stat.S_ISREG(mode):
        raise ValueError(f"{path} is a device or a pipe, which may have no end; save it to a file and name that")
    return path


def whole(path: str | Path, most: int = MAX_BYTES) -> bytes:
    """All bytes of a file.

    Raises:
        ValueError: as `regular`, or it is larger than `most` bytes. OSError: it cannot be read.
    """
    with regular(path).open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"{path} is larger than {most / 1e6:g} MB; name a smaller file")
    return data


def text(path: str | Path, most: int = MAX_BYTES) -> str:
    """A file as text.

    Raises:
        ValueError: as `whole`, or it is not UTF-8. OSError: it cannot be read.
    """
    try:
        return whole(path, most).decode()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path} is not text in UTF-8 (byte {error.start} is 0x{error.object[error.start]:02X}); name another"
        ) from None
