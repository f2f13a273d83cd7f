"""Fillings as tokens: a token is (cell, word), so a text that is filled in any order is a sequence of tokens.

    id = cell * W + word        START = cells * W begins every context

A block is full after `cells` tokens; then the next one begins. A prompt's words stand in the first cells of the first
block, or in the cell that stands behind them (`cat₃`); `_`, and any word that the language lacks, leaves a blank.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hsd_core.systems.canvas.language import END, Canvas, Language, sentences

SMALL, LARGE = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"), str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


def size(language: Language) -> int:
    """How many ids there are."""
    return language.cells * len(language.words) + 1


def canvas_of(language: Language, ids: Sequence[int]) -> Canvas:
    """The block that a context fills at present. Ids of a cell that is full already replace its word: such a draft is
    rejected, but rows behind it are computed."""
    words, cells, acts = len(language.words), language.cells, ids[1:]
    done = len(acts) // cells * cells
    last = [id_ % words for id_ in acts[max(0, done - cells) : done] if id_ // words == cells - 1]
    held: list[int | None] = [None] * cells
    for id_ in acts[done:]:
        if id_ // words < cells:
            held[id_ // words] = id_ % words
    return Canvas(last[-1] if last else language.first, tuple(held))


class BlanksTokenizer:
    """The tokenizer of the preset `blanks`."""

    def __init__(self) -> None:
        self.language = sentences()
        self.vocab_size = size(self.language)
        self.start = self.vocab_size - 1
        self.eos_ids = frozenset({self.start})  # never drawn: a run ends with its number of tokens

    def encode(self, text: str) -> list[int]:
        """
        Raises:
            ValueError: more words than a block has cells.
        """
        words, cells = self.language.words, self.language.cells
        asked = re.findall(r"([^\W₀-₉]+|[.?!])([₀-₉]*)", text.lower())
        places = [int(cell.translate(LARGE)) - 1 if cell else place for place, (_, cell) in enumerate(asked)]
        if max(places, default=0) >= cells:
            raise ValueError(f"a block has {cells} cells and the prompt {max(places) + 1} words; write at most {cells}")
        known = [(cell, END if word in "?!" else word) for cell, (word, _) in zip(places, asked, strict=True)]
        return [self.start, *(cell * len(words) + words.index(word) for cell, word in known if word in words)]

    def chat(self, *said: str) -> list[int]:
        """There are no roles: a prompt is its own text."""
        return self.encode(" ".join(said))

    def turn(self, start: str, system: str | None = None) -> tuple[list[int], list[int]]:
        return self.encode(start), []

    def piece(self, id_: int) -> bytes:
        """A word and the number of its cell, as tokens stand in the order in which they are filled."""
        cell, word = divmod(id_, len(self.language.words))
        return b"" if id_ == self.start else f"{self.language.words[word]}{cell + 1} ".translate(SMALL).encode()

    def is_special(self, id_: int) -> bool:
        """None is: a prompt is shown as it was written."""
        return False

    def decode(self, ids: list[int]) -> str:
        return b"".join(self.piece(id_) for id_ in ids).decode()
