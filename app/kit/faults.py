"""What went wrong inside, in words for visitors: no folder of this machine, no library's message. The log has both."""

from __future__ import annotations

import errno
import os
import re
import sys
import tempfile
from pathlib import Path

from app.words import faults as says
from hsd_core.models.machine import out_of_memory
from hsd_core.typed.program_files import ROOT

_OWN = ("hsd_core", "app")  # whose errors were written to be read
_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))  # Windows has no quota
_UNREADABLE = ("safetensors", "safetensors_rust", "onnxruntime", "zipfile", "json", "pickle", "tokenizers")
_UNOPENED = re.compile(
    r"unable to (?:open|mmap|resize|stat)|mapping size|no such file|permission denied|file in archive", re.IGNORECASE
)
_QUOTED = re.compile(r"""(?<=['"<`])(?:file://)?(?:~|[A-Za-z]:)?[\\/](?:[^'"<>`\n]*[\\/])?(?=[^'"<>`\\/\n]+['">`])""")
_FOLDERS = re.compile(
    r"""(?<![\w.:/\\-])(?:file://)?(?:~|[A-Za-z]:)?[\\/]+(?:[^\s'"<>`:;,()\\/]+[\\/]+)+(?=[^\s'"<>`\\/])?"""
)
_HOME = Path(os.path.expanduser("~"))  # stays "~" where the user has none
_HERE = (_HOME, Path.cwd(), Path(sys.prefix), Path(tempfile.gettempdir()), ROOT)
_LONGEST_FIRST = sorted((str(place) for place in _HERE if place.name not in ("", "~")), key=len, reverse=True)
_PLACES = re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, _LONGEST_FIRST))})(?![\w-])")


def in_words(error: BaseException) -> str:
    """What a visitor is told of an error: what we wrote ourselves, without folders; of others, what it means here."""
    if _ours(error):
        return bare(str(error).strip()) or says.failed(type(error).__name__)
    text = str(error)
    number = error.errno if isinstance(error, OSError) else None
    if out_of_memory(error):
        return says.NO_MEMORY
    if number in _FULL:
        return says.DISK_FULL
    if isinstance(error, ImportError):
        return says.broken(error.name or "") if error.path else says.lacks(error.name or "")
    if isinstance(error, OSError | EOFError) or _library(error) in _UNREADABLE or _UNOPENED.search(text):
        return says.UNREADABLE
    return says.failed(type(error).__name__)


def bare(text: str) -> str:
    """A sentence with the names of files, without the folders that they lie in on this machine."""
    text = _PLACES.sub(lambda _: f"{os.sep}\0", text)  # first, for their names may hold spaces
    return _FOLDERS.sub("", _QUOTED.sub("", text)).replace(f"{os.sep}\0", "\0").replace("\0", "…")


def _ours(error: BaseException) -> bool:
    return _library(error) in _OWN or type(error) is ValueError


def _library(error: BaseException) -> str:
    return type(error).__module__.partition(".")[0]
