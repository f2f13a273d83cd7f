"""The ids that a trimmed head says: the most frequent ones of a text (VocabTrim, arXiv 2506.22694)."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np

from hsd_core.grammar.key import StackError
from hsd_core.grammar.keys import TEXT, VOCAB
from hsd_core.grammar.kind import Site
from hsd_core.grammar.spec import LevelSpec
from hsd_core.models.database_file import Array, NgramError, file_kind, load, load_text


def head_ids(spec: LevelSpec, site: Site, never: Collection[int] = ()) -> list[int] | None:
    """The ids of a head of `@vocab=` rows, ascending, with those that end a text; None for the whole head.

    They are counted in the database that `@text=` names, else in the preset's D_m: what its target wrote. Without
    either they are the first ids, which byte-pair encodings give to their first merges.

    Args:
        never: ids that are left out.
    Raises:
        StackError: the file is no database of the target's tokenizer.
    """
    if not spec[VOCAB]:
        return None
    named, counts = spec.get(TEXT), np.zeros(site.tokenizer.vocab_size)
    if path := site.file(named) if named else site.preset.model_db:
        try:
            counts = counted(path, site.tokenizer.digest)
        except NgramError as error:
            raise StackError(f"{spec.name}: {error}") from error
    return most_frequent(counts, spec[VOCAB], site.ends, never)


def counted(path: Path, tokenizer: str | None = None) -> Array:
    """(V,) how often the text or the outputs that a database was made of have each id.

    Raises:
        NgramError: see `database_file.load`.
    """
    if file_kind(path) == "text":
        text = load_text(path, tokenizer=tokenizer)
        return np.bincount(text.tokens, minlength=text.vocab_size + 1)[:-1]  # without the end of a document
    return load(path, "model", ("written",), tokenizer=tokenizer)[1]["written"].astype(np.int64)


def most_frequent(counts: Array, size: int, always: Collection[int], never: Collection[int] = ()) -> list[int]:
    """`size` ids, ascending, and those of `always`; ids of equal counts in the vocabulary's order."""
    first = np.argsort(-counts, kind="stable")[:size].tolist()
    return sorted({*first, *always} - {*never})
