"""A language whose blanks are known: sentences from a chain of words, and the exact law of every cell given any others.

For a bigram chain the law of a masked cell given the unmasked ones comes from the forward-backward algorithm. So this
is a diffusion language model without an error and without training; its joint law and its left-to-right law are known
too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from random import Random
from typing import NamedTuple

import torch
from torch import Tensor

CELLS = 16  # of a block
END, LEAK = ".", 1e-3  # what precedes a text; the share of any word after any other

# A class of words, its words, and how often which class follows.
GRAMMAR: dict[str, tuple[str, dict[str, float]]] = {
    "end": (END, {"article": 0.8, "adverb": 0.1, "link": 0.1}),
    "article": ("the a one every", {"noun": 0.65, "adjective": 0.35}),
    "adjective": ("old small red quiet tired happy", {"noun": 0.85, "adjective": 0.15}),
    "noun": (
        "cat dog bird child fox king tree river house moon sky",
        {"sees": 0.42, "sleeps": 0.28, "near": 0.12, "link": 0.05, "end": 0.13},
    ),
    "sees": ("sees likes follows finds hears is", {"article": 0.92, "adverb": 0.08}),
    "sleeps": ("sleeps sings waits runs", {"end": 0.4, "near": 0.3, "adverb": 0.2, "link": 0.1}),
    "near": ("near under behind beside", {"article": 1.0}),
    "adverb": ("often slowly today again", {"end": 0.5, "article": 0.3, "near": 0.2}),
    "link": ("and while because", {"article": 0.9, "adverb": 0.1}),
}


class Canvas(NamedTuple):
    """A block of cells, each a word or None for a blank, after the word `before`."""

    before: int
    cells: tuple[int | None, ...]

    @property
    def blanks(self) -> list[int]:
        return [cell for cell, word in enumerate(self.cells) if word is None]

    def filled(self, cell: int, word: int) -> Canvas:
        return Canvas(self.before, (*self.cells[:cell], word, *self.cells[cell + 1 :]))


class Language:
    """
    Args:
        words: their texts. step: (W, W) the law of a word after each, float64. cells: of a block. first: the word
            before a text.
    """

    def __init__(self, words: Sequence[str], step: Tensor, cells: int = CELLS, first: int = 0) -> None:
        self.words, self.step, self.cells, self.first = tuple(words), step, cells, first
        self.rows = lru_cache(maxsize=4096)(self._rows)

    def _rows(self, canvas: Canvas) -> Tensor:
        """(cells, W): the law of every cell given the filled ones, which `rows` remembers."""
        size, n = len(self.words), len(canvas.cells)
        seen = torch.ones(n, size, dtype=torch.float64)
        for cell, word in enumerate(canvas.cells):
            if word is not None:
                seen[cell] = 0.0
                seen[cell, word] = 1.0
        ahead, back, row = torch.empty_like(seen), torch.ones_like(seen), self.step[canvas.before]
        for cell in range(n):
            ahead[cell] = row * seen[cell] / (row * seen[cell]).sum()
            row = ahead[cell] @ self.step
        for cell in range(n - 2, -1, -1):
            back[cell] = self.step @ (seen[cell + 1] * back[cell + 1])
            back[cell] /= back[cell].sum()
        both = ahead * back
        return both / both.sum(-1, keepdim=True)

    @cached_property
    def share(self) -> Tensor:
        """(W,): how often each word occurs."""
        row = torch.full((len(self.words),), 1.0 / len(self.words), dtype=torch.float64)
        for _ in range(200):
            row = row @ self.step
        return row / row.sum()

    @cached_property
    def apart(self) -> Tensor:
        """(cells, W, W): the law of a word so many places after another one, from 0 places on."""
        powers = [torch.eye(len(self.words), dtype=torch.float64)]
        while len(powers) < self.cells + 1:
            powers.append(powers[-1] @ self.step)
        return torch.stack(powers)


@lru_cache(maxsize=1)
def sentences() -> Language:
    """The language that ships. Within a class, which word follows is weighed by the word before it."""
    words = [word for text, _ in GRAMMAR.values() for word in text.split()]
    kinds = {word: kind for kind, (text, _) in GRAMMAR.items() for word in text.split()}
    step = torch.zeros(len(words), len(words), dtype=torch.float64)
    for one, word in enumerate(words):
        for kind, share in GRAMMAR[kinds[word]][1].items():
            own = [words.index(other) for other in GRAMMAR[kind][0].split()]
            weights = torch.tensor([2.0 ** Random(f"{word} {words[other]}").gauss(0.0, 1.6) for other in own])
            step[one, own] = share * weights.double() / weights.double().sum()
    step = (1.0 - LEAK) * step + LEAK / len(words)
    return Language(words, step, first=words.index(END))
