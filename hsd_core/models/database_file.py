"""N-gram databases and texts on disk: a numpy .npz of plain arrays and a JSON header, never a pickle.

The header has the file's kind, its schema, the vocabulary size, the tokenizer's digest and the source of its counts. A
file of another kind, a damaged one or one of another tokenizer is refused.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from hsd_core.typed import Wrong, convert, decode, encode, json_decoder, write_whole

SCHEMA = 1
KINDS = ("model", "text")
ZIP = b"PK"  # how an .npz file begins
_DAMAGED = (
    OSError,
    ValueError,
    KeyError,
    EOFError,
    AttributeError,
    TypeError,
    MemoryError,
    NotImplementedError,
    zipfile.BadZipFile,
    zlib.error,
)
Array = npt.NDArray[Any]


_OBJECT = json_decoder(dict[str, Any])


class _Tokenizer(msgspec.Struct):
    digest: str | None = None
    name: str = "unnamed"


class _Made(msgspec.Struct):
    """The fields that every header has."""

    vocab_size: Annotated[int, msgspec.Meta(ge=1)]
    tokenizer: _Tokenizer = msgspec.field(default_factory=_Tokenizer)


class Text(NamedTuple):
    """A text as ids: (n,) tokens, of which the id `vocab_size` separates documents."""

    tokens: Array
    vocab_size: int


class NgramError(ValueError):
    """A database that cannot be read, built or used; the message names the cure."""


def save(path: str | Path, kind: str, header: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Write a database atomically."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    text = encode({"kind": kind, "schema": SCHEMA, **header})
    packed, parts = io.BytesIO(), {"header": np.frombuffer(text, np.uint8), **arrays}
    np.savez_compressed(packed, **parts)  # type: ignore[arg-type]
    write_whole(target, packed.getvalue())


def file_kind(path: str | Path) -> str:
    """The kind of a database, from its header: "model" or "text".

    Raises:
        NgramError: the file is missing, damaged, or another kind of file.
    """
    build = "build one with `python -m hsd_core ngram-text` or `ngram-model`"
    kind = _read(path, build, ("header",))[0].get("kind")
    if kind not in KINDS:
        raise NgramError(f"{path}: a database of kind {kind!r}; {build}")
    return str(kind)


def load(
    path: str | Path, kind: str, names: tuple[str, ...], *, tokenizer: str | None = None
) -> tuple[dict[str, Any], dict[str, Array]]:
    """Read a database's header and arrays.

    Args:
        names: the arrays it must have; it may have more.
        tokenizer: the target's (`Tokenizer.digest`); None leaves it unchecked.
    Raises:
        NgramError: the file is missing, damaged, of another kind or schema, or of another tokenizer.
    """
    rebuild = f"rebuild it with `python -m hsd_core ngram-{kind}`"
    header, arrays = _read(path, rebuild)
    if header.get("kind") != kind:
        raise NgramError(f"{path}: expected a database of kind {kind!r}, found {header.get('kind')!r}")
    if header.get("schema") != SCHEMA:
        raise NgramError(f"{path}: schema {header.get('schema')!r}, this version reads {SCHEMA}; {rebuild}")
    if missing := [name for name in names if name not in arrays]:
        raise NgramError(f"{path}: damaged: {missing[0]!r} is missing; {rebuild}")
    try:
        made = convert(header, _Made)
    except Wrong as error:
        raise NgramError(f"{path}: damaged: {error}; {rebuild}") from None
    known = made.tokenizer.digest
    if tokenizer is not None and known != tokenizer:
        named = f" ({made.tokenizer.name or 'unnamed'}, {known[:12]}, not {tokenizer[:12]})" if known else ""
        of = f"another tokenizer{named}" if known else "a tokenizer that it does not name"
        cure = f"build one with `python -m hsd_core ngram-{kind} --preset P`, where P is the preset that you run"
        raise NgramError(f"{path}: made with {of}; {cure}")
    return header, arrays


def load_text(path: str | Path, *, tokenizer: str | None = None) -> Text:
    """The text that a text database holds; arguments and errors as for `load`."""
    header, arrays = load(path, "text", ("tokens",), tokenizer=tokenizer)
    return Text(arrays["tokens"], header["vocab_size"])


def _read(
    path: str | Path, rebuild: str, names: tuple[str, ...] | None = None
) -> tuple[dict[str, Any], dict[str, Array]]:
    """The header and the arrays of a file, or only the arrays in `names`."""
    try:
        with Path(path).open("rb") as raw:
            if raw.read(len(ZIP)) != ZIP:
                raise ValueError("no .npz file")
            raw.seek(0)
            with np.load(raw, allow_pickle=False) as file:
                arrays = {name: np.asarray(file[name]) for name in names or file.files}
        return decode(arrays.pop("header").tobytes(), _OBJECT), arrays
    except FileNotFoundError as error:
        raise NgramError(f"{path}: no such n-gram database; {rebuild}") from error
    except _DAMAGED as error:
        why = (str(error) or type(error).__name__).splitlines()[0]
        raise NgramError(f"{path}: damaged, or not an n-gram database ({why}); {rebuild}") from error
