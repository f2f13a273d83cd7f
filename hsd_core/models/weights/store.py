"""The cache of converted weights: folders that are either complete or missing.

A folder is built under another name and a lock, flushed to disk, then renamed. A second process waits for the lock and
finds the folder; a killed one leaves a `.building-...` folder that the next builder removes.

The manifest has every file's size and CRC-32. A folder whose files have changed is renamed to `.damaged-...` and built
again.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import shutil
import time
import uuid
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from hsd_core.models.weights.source import WeightsError

FORMAT = 1  # of the converted folder; other versions are rebuilt
LOCK_SECONDS = 3600.0
LOOK_S = 0.5
PIECE = 1 << 22  # bytes read at a time
log = logging.getLogger(__name__)


def cache_folder() -> Path:
    """HSD_CACHE, else hsd-explorer in the user's cache folder. Not created here."""
    named = os.environ.get("HSD_CACHE")
    if named:
        return Path(os.path.expanduser(named))
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else home_folder() / ".cache") / "hsd-explorer"


def home_folder() -> Path:
    """The user's home folder; "/" without one, as in containers: a failed write there has an error with the cure."""
    home = Path(os.path.expanduser("~"))
    return home if home.is_absolute() else Path(os.sep)


def is_whole(folder: Path) -> bool:
    """Whether `folder` was completed by `build` and every file has the recorded size."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        return manifest["format"] == FORMAT and all(
            (folder / name).stat().st_size == size for name, size in manifest["files"].items()
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def is_sound(folder: Path) -> bool:
    """Whether `folder` is complete and every file has the recorded checksum; reads all of it (3 to 4 ms per 4 MB).

    A folder of an earlier version has no checksums; they are computed now.
    """
    if not is_whole(folder):
        return False
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    try:
        found = {name: _crc32(folder / name) for name in manifest["files"]}
    except OSError:
        return False
    if "crc32" in manifest:
        return bool(manifest["crc32"] == found)
    partial = folder / f".manifest-{uuid.uuid4().hex[:8]}"
    with suppress(OSError):  # the cache may be read-only
        partial.write_text(json.dumps({**manifest, "crc32": found}, indent=1), encoding="utf-8")
        os.replace(partial, folder / "manifest.json")
    return True


def _crc32(path: Path) -> str:
    value, piece = 0, memoryview(bytearray(PIECE))
    with path.open("rb", buffering=0) as file:
        while read := file.readinto(piece):
            value = zlib.crc32(piece[:read], value)
    return f"{value:08x}"


def build(
    key: str,
    make: Callable[[Path], dict[str, object]],
    *,
    need_mb: float,
    waiting: Callable[[], None] = lambda: None,
) -> Path:
    """The cached folder `key`, made by `make` if it is missing or damaged.

    Args:
        make: fills an empty folder and returns the manifest's entries on the source.
        need_mb: required free space. waiting: called twice a second while another process builds it; an exception from
            it ends the wait.
    Raises:
        WeightsError: no space, no permission, or one from `make`. Nothing is left behind.
    """
    root = cache_folder()
    final = root / key
    if is_sound(final):
        return final
    try:
        root.mkdir(parents=True, exist_ok=True)
        with _locked(root / f".{key}.lock", waiting):
            if is_sound(final):  # another process was faster
                return final
            aside = _put_aside(final)
            for stale in root.glob(f".building-{key}-*"):
                shutil.rmtree(stale, ignore_errors=True)
            _ask_for_space(root, need_mb)
            _build(root, key, make, final)
            shutil.rmtree(aside, ignore_errors=True)
    except Timeout:
        raise WeightsError(f"another process has been preparing {key} for an hour; end it and try again") from None
    except OSError as error:
        raise explain(error, root, need_mb) from error
    return final


@contextmanager
def _locked(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    lock, until = FileLock(path), time.monotonic() + LOCK_SECONDS
    while not lock.is_locked:
        try:
            lock.acquire(timeout=LOOK_S)
        except Timeout:
            if time.monotonic() >= until:
                raise
            waiting()
    try:
        yield
    finally:
        lock.release()


def _put_aside(final: Path) -> Path:
    """Rename a damaged folder, replacing an earlier damaged one."""
    aside = final.with_name(f".damaged-{final.name}")
    if final.exists():
        shutil.rmtree(aside, ignore_errors=True)
        os.replace(final, aside)
        log.warning("%s is damaged, or of another version: it is put aside, and its weights are fetched again", final)
    return aside


def explain(error: OSError, root: Path, need_mb: float) -> WeightsError:
    """An error of the operating system as one with a cure."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _no_space(root, need_mb)
    return WeightsError(f"the cache folder {root} cannot be used: {error}; set HSD_CACHE to a folder you can write")


def _ask_for_space(root: Path, need_mb: float) -> None:
    if shutil.disk_usage(root).free < need_mb * 1e6:
        raise _no_space(root, need_mb)


def _no_space(root: Path, need_mb: float) -> WeightsError:
    return WeightsError(
        f"the disk with the cache folder {root} is full: {need_mb:.0f} MB must be free; "
        "free some, or set HSD_CACHE to a folder on another disk"
    )


def _build(root: Path, key: str, make: Callable[[Path], dict[str, object]], final: Path) -> None:
    work = root / f".building-{key}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    work.mkdir()
    try:
        about = make(work)
        files = {f.name: f.stat().st_size for f in sorted(work.iterdir())}
        sums = {name: _crc32(work / name) for name in files}
        manifest = {"format": FORMAT, **about, "files": files, "crc32": sums}
        (work / "manifest.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        for path in work.iterdir():
            _flush(path)
        _flush(work)
        os.replace(work, final)
        _flush(root)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _flush(path: Path) -> None:
    """fsync of a file or, if the system supports it, of a folder."""
    if path.is_dir() and os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() or os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
