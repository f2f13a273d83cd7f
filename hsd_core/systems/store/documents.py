"""A folder of texts as passages, ranked by BM25 (by bm25s, an optional library that only this needs)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

WORDS = 80  # of a passage, about
MOST_BYTES = 2_000_000  # of a folder's texts
ENDINGS = (".md", ".rst", ".txt")
NEEDED = "the package bm25s is not here, and it ranks the documents; install it with: pip install bm25s"


class DocumentsError(ValueError):
    """A folder has no usable documents; the message names the cure."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a file. file: its path within the folder."""

    file: str
    text: str


def passages_of(folder: Path) -> list[Passage]:
    """The paragraphs of a folder's texts, short ones joined up to about `WORDS` words, in the order of their files.

    Raises:
        DocumentsError: it has no text, or too much.
    """
    files = sorted(path for path in folder.rglob("*") if path.suffix in ENDINGS and path.is_file())
    if (held := sum(path.stat().st_size for path in files)) > MOST_BYTES:
        raise DocumentsError(f"{folder} holds {held / 1e6:.1f} MB of text, and {MOST_BYTES / 1e6:.0f} MB is the most")
    found: list[Passage] = []
    for path in files:
        name, held_back = str(path.relative_to(folder)), ""
        for paragraph in re.split(r"\n\s*\n", path.read_text(encoding="utf-8", errors="replace")):
            held_back = f"{held_back}\n{paragraph.strip()}".strip()
            if len(held_back.split()) >= WORDS:
                found.append(Passage(name, held_back))
                held_back = ""
        if held_back:
            found.append(Passage(name, held_back))
    if not found:
        raise DocumentsError(f"{folder} holds no text; put files in it that end in {', '.join(ENDINGS)}")
    return found


def words_of(text: str) -> list[str]:
    """The words that BM25 counts."""
    return re.findall(r"\w+", text.lower())


class Bm25:
    """BM25 over passages, a `Retriever` of queries in ids. Word counts and lengths are those of all passages, whatever
    subset is ranked, and words are summed in the query's order: a passage's score is the same to the last bit."""

    def __init__(self, passages: Sequence[Passage], decode: Callable[[Sequence[int]], str]) -> None:
        """
        Args:
            decode: ids to text.
        Raises:
            DocumentsError: bm25s is not installed.
        """
        if find_spec("bm25s") is None:
            raise DocumentsError(NEEDED)
        import bm25s  # type: ignore[import-not-found, unused-ignore]

        index: Any = bm25s.BM25()
        index.index([words_of(one.text) for one in passages], show_progress=False)
        self._decode, self._words, held = decode, index.vocab_dict, index.scores
        # a word's scores: those of the passages at starts[word] to starts[word + 1]
        self._starts, self._holds, self._scores = held["indptr"].tolist(), held["indices"], held["data"]
        self._passages: list[dict[int, float]] = [{} for _ in passages]
        for word, (lo, hi) in enumerate(pairwise(self._starts)):
            for at, score in zip(self._holds[lo:hi].tolist(), self._scores[lo:hi].tolist(), strict=True):
                self._passages[at][word] = score

    def _query(self, ids: Sequence[int]) -> list[int]:
        return [self._words[word] for word in words_of(self._decode(ids)) if word in self._words]

    def scores(self, queries: Sequence[Sequence[int]]) -> Sequence[Sequence[float]]:
        """See `Retriever.scores`."""
        import numpy as np

        count = len(self._passages)
        words = [(row, word) for row, query in enumerate(queries) for word in self._query(query)]
        parts = [(row, slice(self._starts[word], self._starts[word + 1])) for row, word in words]
        at = [np.empty(0, np.int64), *(self._holds[part].astype(np.int64) + row * count for row, part in parts)]
        there = [np.empty(0), *(self._scores[part] for _, part in parts)]
        sums = np.bincount(np.concatenate(at), np.concatenate(there), len(queries) * count)
        rows: Sequence[Sequence[float]] = sums.reshape(len(queries), count).tolist()
        return rows

    def among(self, query: Sequence[int], passages: Sequence[int]) -> Sequence[float]:
        """See `Retriever.among`."""
        words, found = self._query(query), [0.0] * len(passages)
        for place, passage in enumerate(passages):
            for word in words:
                found[place] += self._passages[passage].get(word, 0.0)
        return found
