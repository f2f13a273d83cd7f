"""Filling a block of masked cells: what is drawn, what is named, and which rows may go up with it.

A verifier divides by the row of each drafted token, so that row has to be the distribution given the past.

    one pass, each cell drawn from its own row     the row depends on no other cell: exact
    several passes, cells drawn from the left      a row depends on earlier cells only: exact
    any order, any search, tokens chosen           the draft is certain, so its tokens go up named, without a row: exact
    several passes, surest first, tokens drawn     a row depends on *later* cells: wrong, and not offered here

`Rows` is one pass: the cells that are known so far, None for a mask -> (m, V) logits of the cells behind the known ones
at the left, and its work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor

from hsd_core.core.level import DraftOrder, Work
from hsd_core.core.tree import NOTHING, Tree
from hsd_core.levels.parallel_draft import FREE
from hsd_core.models.context import Context
from hsd_core.models.gpu.transfer import fetched

Rows = Callable[[Sequence[int | None]], tuple[Tensor, Work]]


def shares(places: int, passes: int) -> list[int]:
    """How many of the cells each pass fills: as even as can be, the larger ones first."""
    each, more = divmod(places, passes)
    return [each + (i < more) for i in range(passes) if each + (i < more)]


class FromTheLeft:
    """Several passes as a level that scores token by token: a pass whenever those before it have filled their cells.

    depth: the row last given, counted from the first cell of its pass.
    """

    def __init__(self, base: int, places: int, passes: int, rows: Rows) -> None:
        self._base, self._places, self._rows, self.depth = base, places, rows, 0
        self._starts, at = set[int](), 0
        for size in shares(places, passes):
            self._starts.add(at)
            at += size
        self._begun = 0
        self._held: Tensor | None = None

    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        """See `drafting.Scores`."""
        at, work = len(context) - self._base, FREE
        if at in self._starts:
            drafted = context[self._base :] if at else ()
            held, work = self._rows([*drafted, *[None] * (self._places - at)])
            self._begun, self._held = at, fetched(held)[0] if len(self._starts) > 1 else held
        assert self._held is not None
        self.depth = at - self._begun
        return self._held[self.depth][None], work

    def keep(self, start: int, path: Sequence[int]) -> None:
        """Nothing to do: a draft's cells are not kept."""


def surest_first(places: int, passes: int, rows: Rows, order: DraftOrder) -> tuple[list[int], list[int], Work]:
    """Each pass fills the cells whose likeliest token has most probability, with that token.

    Returns:
        The tokens; for each the pass that filled it; the work of all passes.
    """
    cells, filled, work = list[int | None]([None] * places), [0] * places, FREE
    for step, share in enumerate(shares(places, passes)):
        known = next((i for i, cell in enumerate(cells) if cell is None), places)
        held, took = rows(cells)
        (held,) = fetched(held)
        work = Work(work.forwards + took.forwards, work.rows + took.rows, work.catch_up + took.catch_up)
        masked = [i for i in range(known, places) if cells[i] is None]
        open_rows = held[[i - known for i in masked]]
        order.sampler.check(open_rows)
        most, tokens = open_rows.log_softmax(-1).max(-1)
        for at in most.argsort(descending=True, stable=True)[:share].tolist():
            cells[masked[at]], filled[masked[at]] = int(tokens[at]), step
    return [cell for cell in cells if cell is not None], filled, work
