"""D_s, the statistics-dependent database: suffix lookup in general text (HD takes REST's datastore). Static.

The text is one array of ids; `order` sorts its positions by the ids that follow (a suffix array, sorted to a depth
of `widest` ids: 4 for SmolLM2). The occurrences of a key are neighbours in it and are found by bisection.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hsd_core.models import database_file
from hsd_core.models.database_file import Array, NgramError
from hsd_core.systems.ngram.packing import Ints, pack, pack_windows, widest

KIND = "text"


class TextDatabase:
    """
    Args:
        tokens: (n,) ids; the id vocab_size separates documents.
        order: (n,) positions sorted by the ids that follow; sorted here when None.
        header: vocab_size and where the text comes from.
    Raises:
        NgramError: an id is beyond the vocabulary, or the order does not sort the text.
    """

    def __init__(self, tokens: Array, order: Array | None, header: dict[str, Any]) -> None:
        self.header, self.vocab_size = header, int(header["vocab_size"])
        self.tokens = tokens
        self.max_key = widest(self.vocab_size)
        self._base = self.vocab_size + 1
        if (
            tokens.ndim != 1
            or tokens.dtype.kind not in "iu"
            or (len(tokens) and not 0 <= int(tokens.min()) <= int(tokens.max()) <= self.vocab_size)
        ):
            raise NgramError("text database: not a row of ids of its vocabulary")
        # padded with the separator, so that every position has a full window
        padded = np.concatenate([tokens, np.full(self.max_key, self.vocab_size)]).astype(np.int64)
        windows = pack_windows(padded, self.max_key, self._base)[: len(tokens)]
        self.order = np.argsort(windows, kind="stable").astype(np.int32) if order is None else order
        if self.order.shape != tokens.shape or self.order.dtype.kind not in "iu":
            raise NgramError("text database: its order does not fit its text")
        if len(tokens) and (int(self.order.min()) < 0 or int(self.order.max()) >= len(tokens)):
            raise NgramError("text database: its order points outside its text")
        self._windows: Ints = windows[self.order]
        if np.any(self._windows[1:] < self._windows[:-1]):
            raise NgramError("text database: its order does not sort its text")
        self._keys = self._windows.data

    def places(self, key: Sequence[int]) -> tuple[int, int]:
        """The half-open range of `order` in which a key of at most `max_key` ids occurs."""
        scale = self._base ** (self.max_key - len(key))
        packed = pack(key, self._base)
        low = bisect_left(self._keys, packed * scale)
        return low, bisect_left(self._keys, (packed + 1) * scale, low)

    def find(
        self, tail: Sequence[int], *, min_key: int, max_key: int, min_count: int, min_share: float
    ) -> tuple[int, int] | None:
        """The commonest token after the longest suffix of `tail` that occurs `min_count` times, and the suffix's
        length; None on a miss.

        Ties go to the smallest id. Only that suffix is asked: if its answer occurs less than `min_count` times or at
        less than `min_share` of its places, there is none.
        """
        # the follower must be inside the sorted window, where equal ones are neighbours
        for length in range(min(max_key, self.max_key - 1, len(tail)), min_key - 1, -1):
            low, high = self.places(tail[-length:])
            if high - low >= max(1, min_count):
                tokens, counts = self._followers(low, high, length)
                token, count = int(tokens[best := counts.argmax()]), int(counts[best])
                sure = token < self.vocab_size and count >= min_count and count >= min_share * (high - low)
                return (token, length) if sure else None
        return None

    def continuations(self, key: Sequence[int]) -> list[tuple[int, int]]:
        """(token, number of places where it follows the key), most frequent first; ties by the smallest id."""
        low, high = self.places(key) if len(key) < self.max_key else (0, 0)
        if low == high:
            return []
        tokens, counts = self._followers(low, high, len(key))
        order = np.argsort(-counts, kind="stable")
        return [(int(tokens[i]), int(counts[i])) for i in order if counts[i]]

    def _followers(self, low: int, high: int, length: int) -> tuple[Ints, Ints]:
        """The tokens that follow a key of this length, ascending, with counts; the end of a document counts 0."""
        followers = self._windows[low:high] // self._base ** (self.max_key - length - 1)
        starts = np.concatenate([[0], np.flatnonzero(followers[1:] != followers[:-1]) + 1])
        counts = np.diff(starts, append=high - low)
        tokens = followers[starts] % self._base
        counts[tokens == self.vocab_size] = 0
        return tokens, counts

    def save(self, path: str | Path) -> None:
        """Write the database to a .npz file."""
        kind = np.uint16 if self.vocab_size < 2**16 else np.uint32
        database_file.save(path, KIND, self.header, {"tokens": self.tokens.astype(kind), "order": self.order})


def load_text_db(path: str | Path, *, tokenizer: str | None = None) -> TextDatabase:
    """Read D_s; arguments and errors as for `load_model_db`."""
    header, arrays = database_file.load(path, KIND, ("tokens", "order"), tokenizer=tokenizer)
    try:
        return TextDatabase(arrays["tokens"], arrays["order"], header)
    except NgramError as error:
        raise NgramError(f"{path}: damaged: {error}") from error
