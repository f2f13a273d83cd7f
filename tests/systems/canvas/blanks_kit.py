"""Small languages of blanks, and the laws that tests hold stacks over them to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from random import Random

import torch
from torch import Tensor

from hsd_core.core.level import StackEntry
from hsd_core.grammar.keys import GUESS
from hsd_core.grammar.stack_text import parse
from hsd_core.systems.canvas.canvas_level import BigramLevel, InfillLevel
from hsd_core.systems.canvas.declaration import BLUR, ORDER
from hsd_core.systems.canvas.language import Canvas, Language
from hsd_core.systems.canvas.refine import CoralLevel
from hsd_core.systems.canvas.states import StatesLevel

Law = dict[tuple[int, ...], float]


def small(words: int, cells: int, seed: int = 1) -> Language:
    rng = Random(seed)
    step = torch.tensor([[2.718 ** rng.gauss(0.0, 1.2) for _ in range(words)] for _ in range(words)]).double()
    return Language([str(word) for word in range(words)], step / step.sum(-1, keepdim=True), cells)


def stack_over(language: Language, text: str) -> list[StackEntry]:
    made = {
        "infill": lambda spec: InfillLevel(language, spec[ORDER]),
        "bigram": lambda spec: BigramLevel(language, spec[BLUR]),
        "states": lambda spec: StatesLevel(language, spec[GUESS]),
        "coral": lambda spec: CoralLevel(language),
    }
    return [StackEntry(made[spec.name](spec), spec, spec.block) for spec in parse(text)]


def start(language: Language) -> list[int]:
    """A context without a text."""
    return [language.cells * len(language.words)]


def words_of(language: Language, acts: Sequence[int]) -> tuple[int, ...]:
    """The words of a filled block, from left to right."""
    return tuple(act % len(language.words) for act in sorted(acts, key=lambda act: act // len(language.words)))


def texts(law: Law, language: Language) -> Law:
    """The law of the texts, whatever the order in which they were filled."""
    found: Law = {}
    for acts, mass in law.items():
        text = words_of(language, acts)
        found[text] = found.get(text, 0.0) + mass
    return found


def joint(language: Language, cells: int | None = None) -> Law:
    """The language's own law of a block, by the chain rule."""
    found: Law = {}
    for text in product(range(len(language.words)), repeat=cells or language.cells):
        mass, word = 1.0, language.first
        for then in text:
            mass *= float(language.step[word, then])
            word = then
        found[text] = mass
    return found


def brute(language: Language, canvas: Canvas) -> Tensor:
    """(cells, W): the law of every cell given the filled ones, by summing over all texts."""
    rows = torch.zeros(len(canvas.cells), len(language.words), dtype=torch.float64)
    for text in product(range(len(language.words)), repeat=len(canvas.cells)):
        if any(given is not None and given != word for given, word in zip(canvas.cells, text, strict=True)):
            continue
        mass, before = 1.0, canvas.before
        for word in text:
            mass *= float(language.step[before, word])
            before = word
        for cell, word in enumerate(text):
            rows[cell, word] += mass
    return rows / rows.sum(-1, keepdim=True)


def canvases(language: Language) -> Iterator[Canvas]:
    """Every canvas of a block, behind every word."""
    options: list[int | None] = [None, *range(len(language.words))]
    for before in range(len(language.words)):
        for cells in product(options, repeat=language.cells):
            yield Canvas(before, cells)
