"""Models of the language of blanks: one that fills cells in any order, and one that reads from left to right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from hsd_core.core.level import DraftOrder, DrawnFrom, LevelAbout, Outcome, Proposal, Work
from hsd_core.core.notes import noted
from hsd_core.core.tree import NOTHING, Tree
from hsd_core.models.context import Context
from hsd_core.models.one_pass import path_to
from hsd_core.models.sampling import Logits
from hsd_core.systems.canvas.blanks import canvas_of, size
from hsd_core.systems.canvas.language import Canvas, Language
from hsd_core.systems.canvas.notes import Canvases

if TYPE_CHECKING:
    from hsd_core.levels.shared import SharedState

# How sure a model is of each of the (n, W) rows of blank cells; the first of the surest is filled next. A cell that is
# chosen by its row, not by the token that was drawn from it, keeps the joint law.
ORDERS: dict[str, Callable[[Tensor], Tensor]] = {
    "surest": lambda rows: rows.amax(-1),
    "entropy": lambda rows: torch.special.xlogy(rows, rows).sum(-1),
    "left": lambda rows: -torch.arange(len(rows)),
}


class Seen:
    """The canvases whose rows the passes of a run have computed, and the order in which cells are filled."""

    def __init__(self, order: str) -> None:
        self.canvases, self.order = set[Canvas](), order


class BlanksLevel:
    """`table(prefix)` is the (V,) law of the next filling. Nothing is cached: a pass reads the whole block."""

    can_verify, has_cache = True, False
    max_positions: int | None = None

    def __init__(self, language: Language, name: str, label: str, order: str, params: dict[str, object]) -> None:
        self.language, self.name, self.order, self.vocab_size = language, name, order, size(language)
        self.about = LevelAbout(kind=name, label=label, params=params)

    def table(self, prefix: tuple[int, ...]) -> Tensor:
        raise NotImplementedError

    def open(self, capacity: int, shared: SharedState) -> BlanksRun:
        return BlanksRun(self, shared.held(self.language, lambda _: Seen(self.order)))


class InfillLevel(BlanksLevel):
    """The diffusion model: one cell a step, drawn from its exact law given the filled ones.

    It drafts several cells from the left in one pass, each from its law given the text alone, so that the row of a
    token does not depend on other drafted tokens.
    """

    def __init__(self, language: Language, order: str = "surest") -> None:
        super().__init__(language, "infill", f"blanks, {order} first", order, {"order": order})

    def table(self, prefix: tuple[int, ...]) -> Tensor:
        canvas = canvas_of(self.language, prefix)
        rows = self.language.rows(canvas)
        cell = next_cell(canvas, rows, self.order)
        return placed(self.language, cell, rows[cell])


class BigramLevel(BlanksLevel):
    """The left-to-right model of the same language: it fills the leftmost blank and sees nothing to the right of it.

    blur: the share of a word's frequency in its law; at 0 it is the language's own chain.
    """

    def __init__(self, language: Language, blur: float) -> None:
        super().__init__(language, "bigram", f"left to right, {blur:g} blurred", "left", {"blur": blur})
        self.blur = blur

    def table(self, prefix: tuple[int, ...]) -> Tensor:
        canvas = canvas_of(self.language, prefix)
        cell = (canvas.blanks or [0])[0]
        return placed(self.language, cell, self.after(before(canvas, cell)))

    def after(self, word: int) -> Tensor:
        """(W,): the law of the word after another."""
        return (1.0 - self.blur) * self.language.step[word] + self.blur * self.language.share


class BlanksRun:
    cached = 0

    def __init__(self, level: BlanksLevel, seen: Seen) -> None:
        self._level, self._seen = level, seen

    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        """Cells from the left, in one pass over the present block; see `InfillLevel`."""
        language = self._level.language
        canvas = canvas_of(language, [*context])
        blanks, rows = canvas.blanks[: order.limit], language.rows(canvas)
        logits = torch.stack([placed(language, cell, rows[cell]) for cell in blanks]).log()
        dists, ids = order.sampler.to_probs(logits), list[int]()
        while len(ids) < len(blanks) and not order.stops(len(ids), logits[len(ids) - 1 :][:1] if ids else None):
            ids.append(int(order.sampler.pick(dists[len(ids)], len(ids), 0)))
        n = len(ids)
        drawn, sources = DrawnFrom(dists[:n], Logits(logits[:n])), (self._level.name,) * n
        return Proposal(tuple(ids), sources, Work(1, max(n, 1), 0), drawn, notes=noted(Canvases(1)))

    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        paths = [path_to(node, tree.lineage) for node in range(-1, len(tree))]
        prefixes = [(*context, *(tree.ids[node] for node in path)) for path in paths]
        self._seen.canvases = {canvas_of(self._level.language, prefix) for prefix in prefixes}
        logits = torch.stack([self._level.table(prefix) for prefix in prefixes]).log()
        return logits, Work(1, len(logits), 0, notes=noted(Canvases(len(self._seen.canvases))))

    def keep(self, start: int, path: Sequence[int]) -> None:
        """Nothing to do."""

    def observe(self, outcome: Outcome) -> None:
        """Nothing to do."""

    def close(self) -> None:
        """Nothing to do."""


def next_cell(canvas: Canvas, rows: Tensor, order: str) -> int:
    """The blank that is filled next."""
    blanks = canvas.blanks or [0]  # of a canvas that a rejected draft has filled twice
    return blanks[int(ORDERS[order](rows[blanks]).argmax())]


def placed(language: Language, cell: int, row: Tensor) -> Tensor:
    """(W,) -> (V,): the law of a cell's word as one of fillings."""
    found, words = torch.zeros(size(language), dtype=torch.float64), len(language.words)
    found[cell * words : (cell + 1) * words] = row
    return found


def before(canvas: Canvas, cell: int) -> int:
    """The word before a cell; those before the leftmost blank are all filled."""
    word = canvas.cells[cell - 1] if cell else canvas.before
    return canvas.before if word is None else word
