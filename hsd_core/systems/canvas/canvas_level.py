"""Models of the language of blanks: one that fills cells in any order, and one that reads from left to right."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from hsd_core.core.level import DraftOrder, DrawnFrom, Proposal, Work
from hsd_core.core.notes import noted
from hsd_core.core.tree import Tree
from hsd_core.models.context import Context
from hsd_core.models.one_pass import path_to
from hsd_core.models.sampling import Logits
from hsd_core.systems.canvas.blanks import canvas_of, size
from hsd_core.systems.canvas.language import Canvas, Language
from hsd_core.systems.canvas.notes import Canvases
from hsd_core.systems.table.table_level import TableLevel, TableRun

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


class CanvasLevel(TableLevel):
    """The diffusion model: one cell a step, drawn from its exact law given the filled ones.

    It drafts several cells from the left in one pass, each from its law given the text alone, so that the row of a
    token does not depend on other drafted tokens.
    """

    def __init__(self, language: Language, order: str = "surest") -> None:
        super().__init__(self.row, size(language), name="infill", label=f"blanks, {order} first")
        self.language, self.order = language, order
        self.about.kind, self.about.params = "infill", {"order": order}

    def row(self, prefix: tuple[int, ...]) -> Tensor:
        """(V,): the law of the next filling."""
        canvas = canvas_of(self.language, prefix)
        rows = self.language.rows(canvas)
        cell = next_cell(canvas, rows, self.order)
        return placed(self.language, cell, rows[cell])

    def open(self, capacity: int, shared: SharedState) -> CanvasRun:
        return CanvasRun(self, shared.held(self.language, lambda _: Seen(self.order)))


def next_cell(canvas: Canvas, rows: Tensor, order: str) -> int:
    """The blank that is filled next."""
    blanks = canvas.blanks or [0]  # of a canvas that a rejected draft has filled twice
    return blanks[int(ORDERS[order](rows[blanks]).argmax())]


def placed(language: Language, cell: int, row: Tensor) -> Tensor:
    """(W,) -> (V,): the law of a cell's word as one of fillings."""
    found, words = torch.zeros(size(language), dtype=torch.float64), len(language.words)
    found[cell * words : (cell + 1) * words] = row
    return found


class CanvasRun(TableRun):
    def __init__(self, level: CanvasLevel, seen: Seen) -> None:
        super().__init__(level.table, level.name)
        self._language, self._shared = level.language, seen

    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        canvas, language = canvas_of(self._language, [*context]), self._language
        blanks = canvas.blanks[: order.limit]
        rows = language.rows(canvas)
        logits = torch.stack([placed(language, cell, rows[cell]) for cell in blanks]).log()
        dists, ids = order.sampler.to_probs(logits), list[int]()
        while len(ids) < len(blanks) and not order.stops(len(ids), logits[len(ids) - 1 :][:1] if ids else None):
            ids.append(int(order.sampler.pick(dists[len(ids)], len(ids), 0)))
        new = max(1, len(context) - len(self._seen))
        self._seen = [*context]
        n = len(ids)
        work = Work(1, new + max(n, 1) - 1, new - 1)
        drawn = DrawnFrom(dists[:n], Logits(logits[:n]))
        return Proposal(tuple(ids), (self._source,) * n, work, drawn, notes=noted(Canvases(1)))

    def _scored(self, context: Context, tree: Tree, rows: int) -> tuple[Tensor, Work]:
        logits, work = super()._scored(context, tree, rows)
        paths = [path_to(node, tree.lineage) for node in range(len(tree) - rows, len(tree))]
        found = {canvas_of(self._language, [*context, *(tree.ids[node] for node in path)]) for path in paths}
        self._shared.canvases = found
        return logits, Work(work.forwards, work.rows, work.catch_up, notes=noted(Canvases(len(found))))


class ReaderLevel(TableLevel):
    """The left-to-right model of the same language: it fills the leftmost blank and sees nothing to the right of it.

    blur: the share of a word's frequency in its law; at 0 it is the language's own chain.
    """

    def __init__(self, language: Language, blur: float) -> None:
        super().__init__(self.row, size(language), name="bigram", label=f"left to right, {blur:g} blurred")
        self.language, self.blur = language, blur
        self.about.kind, self.about.params = "bigram", {"blur": blur}

    def row(self, prefix: tuple[int, ...]) -> Tensor:
        """(V,): the law of the next filling."""
        canvas = canvas_of(self.language, prefix)
        cell = (canvas.blanks or [0])[0]
        return placed(self.language, cell, self.after(before(canvas, cell)))

    def after(self, word: int) -> Tensor:
        """(W,): the law of the word after another."""
        return (1.0 - self.blur) * self.language.step[word] + self.blur * self.language.share


def before(canvas: Canvas, cell: int) -> int:
    """The word before a cell; those before the leftmost blank are all filled."""
    word = canvas.cells[cell - 1] if cell else canvas.before
    return canvas.before if word is None else word
