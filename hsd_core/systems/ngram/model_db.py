"""D_m, the model-dependent database: the commonest n-grams of the target's outputs. Static, read-only."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hsd_core.models import database_file
from hsd_core.models.database_file import Array, NgramError
from hsd_core.systems.ngram.packing import Ints, pack, widest

KIND = "model"


class Table:
    """Keys of one length, each with its continuations, the most frequent first.

    Args:
        keys: (n,) packed, ascending, one entry per continuation. next: (n,) the token that follows.
        count: (n,) texts with this continuation. seen: (n,) texts with the key.
    """

    def __init__(self, keys: Ints, next: Array, count: Array, seen: Array) -> None:
        self.keys, self.next, self.count, self.seen = keys, next, count, seen
        self._keys, self._next = keys.data, next.data  # item access without numpy scalars
        self._count, self._seen = count.data, seen.data

    def best(self, key: int) -> tuple[int, int, int] | None:
        """The commonest continuation of a key, as (token, count, seen); None for an unknown key."""
        at = bisect_left(self._keys, key)
        if at == len(self._keys) or self._keys[at] != key:
            return None
        return self._next[at], self._count[at], self._seen[at]

    def all(self, key: int) -> list[tuple[int, int]]:
        """(token, count) of every continuation of a key, most frequent first."""
        low, high = np.searchsorted(self.keys, [key, key + 1])
        return [(int(t), int(c)) for t, c in zip(self.next[low:high], self.count[low:high], strict=True)]


class ModelDatabase:
    """Lookups by the longest suffix, one token each, so that every lookup has the longest key."""

    def __init__(self, tables: dict[int, Table], header: dict[str, Any], written: Array | None = None) -> None:
        """written: (V,) how often the outputs have each id, for heads that say the most frequent ones."""
        self.tables, self.header, self.written = tables, header, written
        self.vocab_size: int = header["vocab_size"]
        self.max_key = max(tables)

    def find(
        self, tail: Sequence[int], *, min_key: int, max_key: int, min_count: int, min_share: float
    ) -> tuple[int, int] | None:
        """The commonest token after the longest known suffix of `tail`, and the suffix's length, or None.

        Only that suffix is asked: if its answer is too rare (`min_count`) or uncertain (`min_share` of the key's
        texts), there is none; a shorter suffix has less context.
        """
        base = self.vocab_size + 1
        for length in range(min(max_key, self.max_key, len(tail)), min_key - 1, -1):
            known = self.tables[length].best(pack(tail[-length:], base))
            if known is not None:
                token, count, seen = known
                return (token, length) if count >= min_count and count >= min_share * seen else None
        return None

    def continuations(self, key: Sequence[int]) -> list[tuple[int, int]]:
        """(token, outputs in which it followed the key), most frequent first."""
        table = self.tables.get(len(key))
        return table.all(pack(key, self.vocab_size + 1)) if table else []

    def save(self, path: str | Path) -> None:
        """Write the database to a .npz file."""
        arrays = {
            f"{name}{length}": getattr(table, name)
            for length, table in self.tables.items()
            for name in ("keys", "next", "count", "seen")
        }
        arrays |= {} if self.written is None else {"written": self.written}
        database_file.save(path, KIND, self.header, arrays)


def load_model_db(path: str | Path, *, tokenizer: str | None = None) -> ModelDatabase:
    """Read D_m.

    Args:
        tokenizer: the target's (`Tokenizer.digest`); None leaves it unchecked.
    Raises:
        NgramError: see `database_file.load`.
    """
    header, arrays = database_file.load(path, KIND, ("keys1",), tokenizer=tokenizer)
    vocab, tables = header["vocab_size"], {}
    for length in range(1, widest(vocab) + 1):
        if f"keys{length}" not in arrays:
            break
        parts = [arrays.get(f"{name}{length}") for name in ("keys", "next", "count", "seen")]
        tables[length] = _checked(path, length, vocab, parts)
    return ModelDatabase(tables, header, arrays.get("written"))


def _checked(path: str | Path, length: int, vocab: int, parts: list[Array | None]) -> Table:
    sizes = {part.shape if part is not None and part.dtype.kind in "iu" else None for part in parts}
    if None in sizes or len(sizes) != 1 or len(next(iter(sizes)) or ()) != 1:
        raise NgramError(f"{path}: damaged: the arrays of {length}-token keys are missing or differ in size")
    keys, following, count, seen = (np.ascontiguousarray(part) for part in parts if part is not None)
    keys = keys.astype(np.int64)
    if len(keys) and (
        np.any(np.diff(keys) < 0) or keys[0] < 0 or not 0 <= int(following.min()) <= int(following.max()) < vocab
    ):
        raise NgramError(f"{path}: damaged: the {length}-token keys are out of order or name unknown ids")
    return Table(keys, following, count, seen)
