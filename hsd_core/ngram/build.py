"""Building the static databases: D_m from what a target wrote, D_s from a folder of text.

Both are the same file, bit for bit in content, for the same input and parameters.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer as FastTokenizer

from hsd_core.ngram.counting import Progress, Written, count_ngrams, silent
from hsd_core.ngram.model_db import ModelDatabase
from hsd_core.ngram.packing import Ints
from hsd_core.ngram.store import NgramError
from hsd_core.ngram.text_db import TextDatabase
from hsd_core.tokenizer import Tokenizer, TokenizerError


def build_model_db(
    path_in: str | Path,
    path_out: str | Path,
    *,
    tokenizer_file: str | Path | None = None,
    tokenizer_name: str = "",
    vocab_size: int | None = None,
    max_key: int = 4,
    min_outputs: int = 2,
    max_continuations: int = 7,
    max_ngrams: int | None = None,
    source: str = "",
    progress: Progress | None = None,
) -> ModelDatabase:
    """Count what a target wrote and write the commonest n-grams (HD: 5-grams, counted once per document).

    Args:
        path_in: JSON lines (.gz or plain) with `prompt_ids`, `output_ids` and, where an output ends in a repeating
            pattern, `loop_from`: what follows it is dropped.
        vocab_size: by default the tokenizer's, or one more than the largest id.
        max_key, min_outputs, max_continuations, max_ngrams: see `count_ngrams`.
        progress: called with (stage, done, total).
    Raises:
        NgramError: a line that is no such record, no n-gram that is common enough, or ids beyond the vocabulary.
    """
    tell = progress or silent
    tokenizer, known_size = _tokenizer(tokenizer_file, tokenizer_name)
    tell("reading", 0, 1)
    texts, lines = [], 0
    for lines, record in enumerate(_records(Path(path_in)), 1):
        texts.append(_written(record, path_in, lines))
    tell("reading", 1, 1)
    if vocab_size is None:
        largest = max((max(p + o) for p, o in texts if p or o), default=0)
        vocab_size = known_size or largest + 1
    database = count_ngrams(
        texts,
        vocab_size,
        max_key=max_key,
        min_outputs=min_outputs,
        max_continuations=max_continuations,
        max_ngrams=max_ngrams,
        progress=tell,
    )
    database.header.update(tokenizer=tokenizer, source={"name": source, "lines": lines, "sha256": _sha256(path_in)})
    tell("writing", 0, 1)
    database.save(path_out)
    tell("writing", 1, 1)
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
    progress: Progress | None = None,
) -> TextDatabase:
    """Tokenise every UTF-8 text file under a folder, in the order of their paths, and write D_s.

    Args:
        tokenizer_file: the tokenizer.json of a model folder.
        max_tokens: stop reading there; None reads everything. Half to two million are enough.
        source, licence: where the text comes from; kept in the file.
        progress: called with (stage, done, total).
    Raises:
        NgramError: no text was found, or the tokenizer cannot be read.
    """
    tell = progress or silent
    identity, vocab_size = _tokenizer(tokenizer_file, tokenizer_name)
    coder = FastTokenizer.from_file(str(tokenizer_file))
    paths = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    parts: list[Ints] = []
    files, held = [], 0
    for number, path in enumerate(paths):
        tell("tokenising", number, len(paths))
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
    tell("sorting", 0, 1)
    database = TextDatabase(np.concatenate(parts), None, header)
    tell("writing", 0, 1)
    database.save(path_out)
    tell("writing", 1, 1)
    return database


def _pieces(text: str, size: int = 1 << 20) -> Iterator[str]:
    """Cut at line ends, so that a long file is not tokenised in one go."""
    at = 0
    while at < len(text):
        end = len(text) if at + size >= len(text) else text.rfind("\n", at, at + size) + 1 or at + size
        yield text[at:end]
        at = end


def _records(path: Path) -> Iterator[Any]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            for line in file:
                if line.strip():
                    yield json.loads(line)
    except FileNotFoundError as error:
        raise NgramError(f"{path}: no such file; give JSON lines with prompt_ids and output_ids") from error
    except (OSError, EOFError, ValueError) as error:
        raise NgramError(f"{path}: cannot be read as JSON lines ({error})") from error


def _written(record: Any, path: str | Path, line: int) -> Written:
    """A record's prompt and what of its output is no loop."""
    try:
        prompt, output = record["prompt_ids"], record["output_ids"]
        loop = record.get("loop_from")
        for ids in (prompt, output):
            if not isinstance(ids, list) or not all(type(i) is int and i >= 0 for i in ids):
                raise TypeError("ids are lists of whole numbers")
        return prompt, output if loop is None else output[: int(loop)]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise NgramError(f"{path}: record {line} lacks prompt_ids and output_ids of whole numbers ({error})") from error


def _tokenizer(path: str | Path | None, name: str) -> tuple[dict[str, Any], int | None]:
    """What the header says of a tokenizer, and its vocabulary size."""
    if path is None:
        return {"name": name}, None
    try:
        known = Tokenizer(Path(path).parent)
    except TokenizerError as error:
        raise NgramError(str(error)) from error
    return {"name": name, "digest": known.digest}, known.vocab_size


def _sha256(path: str | Path) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
