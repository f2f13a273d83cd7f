"""COrAL's refinement (arXiv 2410.09675): a block is rewritten in parallel until it stands still. Lossy.

Every position speaks about its neighbours, `BACK` before it and `AHEAD` after it. What they say about a cell is
averaged as log-probabilities, weighed by distance and by how sure the speaker is. Here each speaker is exact: it knows
the law of a word some places away from its own. Their average is not the model's law, as they repeat each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from hsd_core.core.level import DraftOrder, LevelAbout, Outcome, Proposal, Work
from hsd_core.core.notes import noted
from hsd_core.models.context import Context
from hsd_core.systems.canvas.blanks import canvas_of, size
from hsd_core.systems.canvas.canvas_level import before
from hsd_core.systems.canvas.language import Canvas, Language
from hsd_core.systems.canvas.notes import Rewritten

if TYPE_CHECKING:
    from hsd_core.levels.shared import SharedState

AHEAD, BACK = 4, 8  # places that a position speaks about
FADE = 0.7  # the weight of a speaker, by each place of distance
MOST = 24  # rewritings of a block that swings


class CoralLevel:
    name = "coral"
    can_verify = has_cache = False
    max_positions: int | None = None

    def __init__(self, language: Language) -> None:
        self.language, self.vocab_size = language, size(language)
        self.about = LevelAbout(kind="coral", label="a block rewritten until it stands still", dtype="ids")

    def open(self, capacity: int, shared: SharedState) -> CoralRun:
        return CoralRun(self.language)


class CoralRun:
    cached = 0

    def __init__(self, language: Language) -> None:
        self._language = language

    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        canvas, words = canvas_of(self._language, [*context]), len(self._language.words)
        first = canvas.blanks[0]
        cells = [cell for cell in canvas.blanks if cell < first + order.limit][: order.limit]
        drafts = rewritten(self._language, canvas, cells)
        ids = tuple(cell * words + word for cell, word in zip(cells, drafts[-1], strict=True))
        passes = tuple(tuple(self._language.words[word] for word in draft) for draft in drafts)
        work = Work(len(drafts), 0, 0)
        return Proposal(ids, ("coral",) * len(ids), work, notes=noted(Rewritten(passes)))

    def keep(self, start: int, path: Sequence[int]) -> None:
        """Nothing to do."""

    def observe(self, outcome: Outcome) -> None:
        """Nothing to do."""

    def close(self) -> None:
        """Nothing to do."""


def rewritten(language: Language, canvas: Canvas, cells: Sequence[int]) -> list[list[int]]:
    """The words of these cells after each pass, until a pass changes none, or swings back to an earlier one."""
    left = cells[0]
    spoken = {left - 1: before(canvas, left)} | {c: w for c, w in enumerate(canvas.cells) if w is not None and c > left}
    found = list[list[int]]()
    guesses = dict[int, int]()
    while len(found) < MOST:
        words = [int(_opinion(language, cell, spoken | guesses).argmax()) for cell in cells]
        settled = words in found
        if not (found and words == found[-1]):
            found.append(words)
        if settled:
            break
        guesses = dict(zip(cells, words, strict=True))
    return found


def _opinion(language: Language, cell: int, said: dict[int, int]) -> Tensor:
    """(W,): the weighed mean of what the others say about a cell, as log-probabilities."""
    total = torch.zeros(len(language.words), dtype=torch.float64)
    for place, word in said.items():
        away = cell - place
        if 0 < away <= AHEAD:
            row = language.apart[away][word]
        elif -BACK <= away < 0:
            row = language.apart[-away][:, word] * language.share
            row = row / row.sum()
        else:
            continue
        total += FADE ** (abs(away) - 1) * float(row.amax()) * row.log()
    return total
