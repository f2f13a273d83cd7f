"""A folder of texts as passages, ranked by BM25 (by bm25s, an optional library that only this needs)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

WORDS = 80  # of a passage, about
MOST_BYTES = 2_000_000  # of a folder's texts
ENDINGS = (".md", ".rst", ".txt")
NEEDED = "the package bm25s is not here, and it ranks the documents; install it with: pip install bm25s"


class DocumentsError(ValueError):
    """A folder has no usable documents; the message names the cure."""


class Ranking(Protocol):
    """Ranks passages for a query, by the same metric for any subset of them."""

    def scores(self, query: str) -> Sequence[float]:
        """The score of every passage; higher is better."""
        ...


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
    """BM25 over passages, a `Ranking`. Word counts and lengths are those of all passages, whatever subset is ranked."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        """
        Raises:
            DocumentsError: bm25s is not installed.
        """
        if find_spec("bm25s") is None:
            raise DocumentsError(NEEDED)
        import bm25s  # type: ignore[import-not-found, unused-ignore]

        self._index: Any = bm25s.BM25()
        self._index.index([words_of(one.text) for one in passages], show_progress=False)

    def scores(self, query: str) -> Sequence[float]:
        """See `Ranking.scores`."""
        found: Sequence[float] = self._index.get_scores(words_of(query))
        return found
