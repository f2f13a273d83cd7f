"""A program that fetches a model from the Hub and can be ended at any moment (see `child_process`): ID SECONDS [look |
drafter].

It writes JSON lines: first the plan, {"blobs": FOLDER, "files": {NAME OF THE BLOB: BYTES}}, at last {"folder":
SNAPSHOT}, or {"wrong": KIND, "why": REASON}. With `look` only config.json is fetched; a `drafter` needs no tokenizer.
It imports nothing of this package, so it runs without it.

The Hub's library starts an interrupted file again. So large files are fetched here, into its cache:
`blobs/SHA256.incomplete` grows by the missing range, is checked, and renamed. Then the library links all files; the
weights last, so that a snapshot with weights is complete.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import huggingface_hub
from filelock import FileLock
from huggingface_hub import constants, errors
from huggingface_hub.file_download import http_get
from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

INDEX = "model.safetensors.index.json"
AT_A_TIME = 4  # files
PIECE = 1 << 22  # bytes read at a time
WRITTEN = 1 << 18  # bytes buffered before writing, the most that an interruption loses
SPARE = 16_000_000  # bytes that must stay free


@dataclass(frozen=True)
class File:
    """A file of the model. `blob`: its name among the cache's blobs, the sha256 of a large file (`whole`)."""

    name: str
    blob: str
    bytes: int
    whole: bool


def main(hub_id: str, seconds: float, mode: str = "") -> None:
    """Fetch the missing files of a model; `seconds`: the Hub's time to answer."""
    constants.DOWNLOAD_CHUNK_SIZE = WRITTEN
    root = Path(constants.HF_HUB_CACHE) / f"models--{hub_id.replace('/', '--')}"
    commit, files = _files(hub_id, seconds, tokenizer=mode != "drafter")
    blobs = root / "blobs"
    _say({"blobs": str(blobs), "files": {file.blob: file.bytes for file in files}})
    if mode == "look":
        path = huggingface_hub.hf_hub_download(hub_id, "config.json", revision=commit, etag_timeout=seconds)
        return _say({"folder": str(Path(path).parent)})
    locks = Path(constants.HF_HUB_CACHE) / ".locks" / root.name
    _ask_for_space(Path(constants.HF_HUB_CACHE), sum(file.bytes - _here(blobs, file) for file in files))
    locks.mkdir(parents=True, exist_ok=True)
    blobs.mkdir(parents=True, exist_ok=True)
    with FileLock(locks / "hsd-explorer.lock"):  # another process may be fetching it
        _fetch_all(hub_id, commit, [file for file in files if file.whole], blobs)
        weights = [file.name for file in files if file.name.endswith(".safetensors")]
        rest = [file.name for file in files if file.name not in weights]
        for names in (rest, weights):
            folder = huggingface_hub.snapshot_download(hub_id, allow_patterns=names, etag_timeout=seconds)
    _say({"folder": str(folder)})


def _files(hub_id: str, seconds: float, tokenizer: bool) -> tuple[str, list[File]]:
    """The commit, and the files for a decoder and, if it needs one, a tokenizer."""
    info = huggingface_hub.HfApi().model_info(hub_id, files_metadata=True, timeout=seconds)
    there = {file.rfilename: file for file in info.siblings or () if "/" not in file.rfilename}
    commit = str(info.sha)
    if not any(name.endswith(".safetensors") for name in there):
        _fail("pickles")
    if tokenizer and "tokenizer.json" not in there:
        _fail("tokenizer")
    # The list of files of a gated model is public; access is checked by a file.
    first = huggingface_hub.hf_hub_url(hub_id, "config.json" if "config.json" in there else min(there), revision=commit)
    huggingface_hub.get_hf_file_metadata(first, timeout=seconds)
    if INDEX in there:
        index = huggingface_hub.hf_hub_download(hub_id, INDEX, revision=commit, etag_timeout=seconds)
        weights = set(json.loads(Path(index).read_text(encoding="utf-8"))["weight_map"].values())
    elif "model.safetensors" in there:
        weights = {"model.safetensors"}
    else:
        weights = {name for name in there if name.endswith(".safetensors")}
    if lost := sorted(weights - set(there)):
        _fail("failed", f"its index names {lost[0]}, which it does not have")
    return commit, [
        _file(there[name]) for name in sorted(there) if name in weights or name.endswith((".json", ".jinja"))
    ]


def _file(entry: Any) -> File:
    if entry.lfs is None:
        return File(entry.rfilename, str(entry.blob_id), int(entry.size or 0), False)
    return File(entry.rfilename, str(entry.lfs.sha256), int(entry.lfs.size), True)


def _here(blobs: Path, file: File) -> int:
    """Bytes of a file that are in the cache."""
    for path in (blobs / file.blob, _part(blobs, file)):
        if path.is_file():
            return min(path.stat().st_size, file.bytes)
    return 0


def _part(blobs: Path, file: File) -> Path:
    return blobs / f"{file.blob}.incomplete"


def _ask_for_space(cache: Path, need: int) -> None:
    there = next(folder for folder in (cache, *cache.parents) if folder.is_dir())
    if need and (free := shutil.disk_usage(there).free) < need + SPARE:
        _fail("full", need=need + SPARE, free=free, cache=str(cache))


def _fetch_all(hub_id: str, commit: str, files: Sequence[File], blobs: Path) -> None:
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        for done in as_completed([pool.submit(_fetch, hub_id, commit, file, blobs) for file in files]):
            if error := done.exception():
                _explain(error)  # exits now: leaving the block would wait for the other files


def _fetch(hub_id: str, commit: str, file: File, blobs: Path) -> None:
    if (blobs / file.blob).exists():
        return
    part, have = _part(blobs, file), _here(blobs, file)
    if part.exists() and part.stat().st_size > file.bytes:
        part.unlink()
        have = 0
    url = huggingface_hub.hf_hub_url(hub_id, file.name, revision=commit)
    headers = {
        **build_hf_headers(),
        "Accept-Encoding": "identity",
    }  # a range of compressed data would not be one of the file
    with part.open("ab", buffering=0) as kept:
        http_get(url, kept, resume_size=have, headers=headers, expected_size=file.bytes, displayed_filename=file.name)
    digest = hashlib.sha256()
    with part.open("rb") as kept:
        while piece := kept.read(PIECE):
            digest.update(piece)
    if digest.hexdigest() != file.blob:
        part.unlink()
        raise ValueError(f"{file.name} arrived damaged and was thrown away")
    os.replace(part, blobs / file.blob)


def _say(line: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def _fail(wrong: str, why: str = "", **more: Any) -> NoReturn:
    """Write the error and exit immediately, without waiting for other threads."""
    _say({"wrong": wrong, "why": why, "token": bool(huggingface_hub.get_token()), **more})
    os._exit(1)


def _explain(error: BaseException) -> NoReturn:
    lines = str(error).splitlines()
    why = f"{type(error).__name__}: {lines[0][:160] if lines else 'no reason given'}"
    status = getattr(getattr(error, "response", None), "status_code", None)
    if isinstance(error, errors.GatedRepoError) or status == 403:  # it is a subclass of RepositoryNotFoundError
        _fail("gated", why)
    if isinstance(error, errors.RepositoryNotFoundError):
        _fail("unknown", why)
    if status == 401:  # the Hub's answer for models that do not exist or are private, too
        _fail("token" if huggingface_hub.get_token() else "unknown", why)
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        cache = Path(constants.HF_HUB_CACHE)
        _fail("full", why, need=None, free=shutil.disk_usage(cache).free, cache=str(cache))
    _fail("failed", why)


if __name__ == "__main__":
    try:
        main(sys.argv[1], float(sys.argv[2]), *sys.argv[3:])
    except Exception as failed:  # exceptions of the HTTP client differ between versions of the Hub's library
        _explain(failed)
