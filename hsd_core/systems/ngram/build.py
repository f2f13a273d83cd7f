"""Building the static databases: D_m from a target's outputs, D_s from a folder of text.

The same input and parameters give files of identical contents.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from tokenizers import Tokenizer as FastTokenizer

from hsd_core.models.database_file import NgramError
from hsd_core.models.tokenizer import Tokenizer, TokenizerError
from hsd_core.models.weights.fetch import sha256_of
from hsd_core.systems.ngram.model_db import ModelDatabase, Table
from hsd_core.systems.ngram.packing import Ints, pack_windows, widest
from hsd_core.systems.ngram.text_db import TextDatabase
from hsd_core.trace.prompt_files import Id
from hsd_core.typed import records


def build_model_db(
    path_in: str | Path,
    path_out: str | Path,
    *,
    tokenizer_file: str | Path | None = None,
    tokenizer_name: str = "",
    vocab_size: int | None = None,
    min_outputs: int = 2,
    source: str = "",
    progress: Progress = lambda *_: None,
) -> ModelDatabase:
    """Count the n-grams of a target's outputs and write the commonest (HD: 5-grams, counted once per document).

    Args:
        path_in: JSON lines (.gz or plain) with `prompt_ids`, `output_ids` and, for an output that ends in a repeating
            pattern, `loop_from`, from which on it is dropped.
        vocab_size: by default the tokenizer's, or one more than the largest id.
        min_outputs: see `count_ngrams`.
        progress: called with (stage, done, total).
    Raises:
        NgramError: a line is malformed, no n-gram is common enough, or an id is beyond the vocabulary.
    """
    tokenizer, known_size = _tokenizer(tokenizer_file, tokenizer_name)
    progress("reading", 0, 1)
    texts = list(read_outputs(path_in))
    progress("reading", 1, 1)
    if vocab_size is None:
        largest = max((max(p + o) for p, o in texts if p or o), default=0)
        vocab_size = known_size or largest + 1
    database = count_ngrams(texts, vocab_size, min_outputs=min_outputs, progress=progress)
    database.header.update(
        tokenizer=tokenizer, source={"name": source, "lines": len(texts), "sha256": sha256_of(Path(path_in))}
    )
    progress("writing", 0, 1)
    database.save(path_out)
    progress("writing", 1, 1)
    return database


def build_text_db(
    folder: str | Path,
    tokenizer_file: str | Path,
    path_out: str | Path,
    *,
    tokenizer_name: str = "",
    max_tokens: int | None = None,
    source: str = "",
    licence: str = "",
    progress: Progress = lambda *_: None,
) -> TextDatabase:
    """Tokenise every UTF-8 text file under a folder, in the order of their paths, and write D_s.

    Args:
        tokenizer_file: the tokenizer.json of a model folder.
        max_tokens: the most tokens read; None reads everything. Half to two million are enough.
        source, licence: where the text comes from; kept in the file.
        progress: called with (stage, done, total).
    Raises:
        NgramError: no text was found, or the tokenizer cannot be read.
    """
    identity, vocab_size = _tokenizer(tokenizer_file, tokenizer_name)
    coder = FastTokenizer.from_file(str(tokenizer_file))
    paths = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    parts: list[Ints] = []
    files, held = [], 0
    for number, path in enumerate(paths):
        progress("tokenising", number, len(paths))
        try:
            text = path.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            continue
        if "\0" in text or (max_tokens is not None and held >= max_tokens):
            continue
        ids = [i for piece in _pieces(text) for i in coder.encode(piece, add_special_tokens=False).ids]
        ids = ids if max_tokens is None else ids[: max_tokens - held]
        held += len(ids)
        if ids:
            parts.append(np.asarray([*ids, vocab_size], np.int64))
            name = path.relative_to(folder).as_posix()
            files.append({"name": name, "tokens": len(ids), "sha256": hashlib.sha256(text.encode()).hexdigest()})
    if not parts:
        raise NgramError(f"{folder}: no UTF-8 text file with a token in it; give a folder of text files")
    header = {
        "vocab_size": vocab_size,
        "tokenizer": identity,
        "source": {"name": source, "licence": licence, "files": files},
        "tokens": held,
    }
    progress("sorting", 0, 1)
    database = TextDatabase(np.concatenate(parts), None, header)
    progress("writing", 0, 1)
    database.save(path_out)
    progress("writing", 1, 1)
    return database


def _pieces(text: str, size: int = 1 << 20) -> Iterator[str]:
    """Pieces of a text, cut at line ends, so that a long file is not tokenised in one call."""
    at = 0
    while at < len(text):
        end = len(text) if at + size >= len(text) else text.rfind("\n", at, at + size) + 1 or at + size
        yield text[at:end]
        at = end


class _Output(Struct):
    """A line of a target's outputs."""

    prompt_ids: list[Id]
    output_ids: list[Id]
    loop_from: int | None = None


def read_outputs(path: str | Path) -> Iterator[Written]:
    """Prompts, and their outputs without loops."""
    wanted = "JSON with prompt_ids and output_ids of whole numbers"
    try:
        for _, line in records(path, _Output, wanted):
            yield line.prompt_ids, line.output_ids[: line.loop_from]
    except FileNotFoundError as error:
        raise NgramError(f"{path}: no such file; give JSON lines with prompt_ids and output_ids") from error
    except (OSError, ValueError) as error:
        raise NgramError(str(error)) from error


def _tokenizer(path: str | Path | None, name: str) -> tuple[dict[str, Any], int | None]:
    """A tokenizer's entry in the header, and its vocabulary size."""
    if path is None:
        return {"name": name}, None
    try:
        known = Tokenizer(Path(path).parent)
    except TokenizerError as error:
        raise NgramError(str(error)) from error
    return {"name": name, "digest": known.digest}, known.vocab_size


Progress: TypeAlias = Callable[[str, float, float], None]
Written: TypeAlias = tuple[list[int], list[int]]  # prompt ids, output ids


def count_ngrams(
    texts: Sequence[Written],
    vocab_size: int,
    *,
    max_key: int = 4,
    min_outputs: int = 2,
    max_continuations: int = 7,
    progress: Progress = lambda *_: None,
) -> ModelDatabase:
    """D_m of (prompt ids, output ids) pairs.

    An n-gram counts once per output, and outputs of one prompt are one text. Its last token is in the output; its key
    may begin in the prompt.

    Args:
        max_key: the longest key in tokens, at most `packing.widest`.
        min_outputs: n-grams of fewer texts are left out.
        max_continuations: kept per key, the most frequent ones.
    Raises:
        NgramError: nothing is common enough, or an id lies beyond the vocabulary.
    """
    base, max_key = vocab_size + 1, min(max_key, widest(vocab_size))
    number: dict[tuple[int, ...], int] = {}
    groups = [number.setdefault(tuple(prompt), len(number)) for prompt, _ in texts]
    tables, written = {}, np.zeros(vocab_size, np.uint32)
    for length in range(1, max_key + 1):
        progress("counting", length - 1, max_key)
        keys, following, owner = [], [], []
        for (prompt, output), group in zip(texts, groups, strict=True):
            ids = np.asarray(prompt[-length:] + output, np.int64)
            if len(ids) and (ids.min() < 0 or ids.max() >= vocab_size):
                raise NgramError(
                    f"id {int(ids.max())} is beyond the vocabulary of {vocab_size}; give its own tokenizer"
                )
            windows = pack_windows(ids, length, base)[:-1]
            keys.append(windows)
            following.append(ids[length:])
            owner.append(np.full(len(windows), group, np.int64))
        if keys:
            tables[length] = _table(
                np.concatenate(keys), np.concatenate(following), np.concatenate(owner), min_outputs, max_continuations
            )
    for _, output in texts:
        np.add.at(written, output, 1)
    progress("counting", max_key, max_key)
    if not any(len(table.keys) for table in tables.values()):
        raise NgramError(f"no n-gram occurs in {min_outputs} or more outputs; give more outputs or a lower min_outputs")
    header: dict[str, Any] = {
        "vocab_size": vocab_size,
        "tokenizer": {},
        "outputs": len(texts),
        "prompts": len(number),
        "output_tokens": int(written.sum()),
        "ngrams": {str(length): len(table.keys) for length, table in tables.items()},
        "parameters": {"max_key": max_key, "min_outputs": min_outputs, "max_continuations": max_continuations},
    }
    return ModelDatabase(tables, header, written)


def _table(keys: Ints, following: Ints, owner: Ints, least: int, per_key: int) -> Table:
    """Count distinct owners of every (key, follower) and keep the commonest."""
    order = np.lexsort((owner, following, keys))
    keys, following, owner = keys[order], following[order], owner[order]
    fresh = _changes(keys) | _changes(following)
    once = fresh | _changes(owner)
    first = np.flatnonzero(fresh)
    count = np.add.reduceat(once.astype(np.int64), first) if len(first) else np.zeros(0, np.int64)
    # the number of texts with the key: the same count over (key, owner)
    by_owner = np.lexsort((owner, keys))
    new_key = _changes(keys[by_owner])
    distinct = np.add.reduceat((new_key | _changes(owner[by_owner])).astype(np.int64), np.flatnonzero(new_key))
    keys, following = keys[first], following[first]
    seen = distinct[np.cumsum(_changes(keys)) - 1]
    order = np.lexsort((following, -count, keys))
    keys, following, count, seen = keys[order], following[order], count[order], seen[order]
    start = np.flatnonzero(_changes(keys))
    place = np.arange(len(keys)) - np.repeat(start, np.diff(np.append(start, len(keys))))
    keep = (count >= least) & (place < per_key)
    small = np.uint16 if not len(following) or int(following.max()) < 2**16 else np.uint32
    return Table(keys[keep], following[keep].astype(small), count[keep].astype(np.uint32), seen[keep].astype(np.uint32))


def _changes(values: Ints) -> npt.NDArray[np.bool_]:
    """(n,) True where a sorted array has another value than before, and at its first place."""
    return np.append(np.ones(min(1, len(values)), bool), values[1:] != values[:-1])
