"""Counting the n-grams of a target's outputs, for D_m."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hsd_core.models.database_file import NgramError
from hsd_core.systems.ngram.model_db import ModelDatabase, Table
from hsd_core.systems.ngram.packing import Ints, pack_windows, widest

Progress: TypeAlias = Callable[[str, float, float], None]
Written: TypeAlias = tuple[list[int], list[int]]  # prompt ids, output ids


def silent(stage: str, done: float, total: float) -> None:
    """Progress that is not shown."""


def count_ngrams(
    texts: Sequence[Written],
    vocab_size: int,
    *,
    max_key: int = 4,
    min_outputs: int = 2,
    max_continuations: int = 7,
    progress: Progress = silent,
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
    tables, written = {}, sum(len(output) for _, output in texts)
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
                np.concatenate(keys),
                np.concatenate(following),
                np.concatenate(owner),
                min_outputs,
                max_continuations,
            )
    progress("counting", max_key, max_key)
    if not any(len(table.keys) for table in tables.values()):
        raise NgramError(f"no n-gram occurs in {min_outputs} or more outputs; give more outputs or a lower min_outputs")
    header: dict[str, Any] = {
        "vocab_size": vocab_size,
        "tokenizer": {},
        "outputs": len(texts),
        "prompts": len(number),
        "output_tokens": written,
        "ngrams": {str(length): len(table.keys) for length, table in tables.items()},
        "parameters": {
            "max_key": max_key,
            "min_outputs": min_outputs,
            "max_continuations": max_continuations,
        },
    }
    return ModelDatabase(tables, header)


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
