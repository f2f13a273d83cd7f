"""Spiffy (arXiv 2509.18085): the next states of a block are computed in the pass that computes the present one.

From the rows that the last pass has left, c_ij is the j-th likeliest word of the i-th surest blank. A drafted state is
the present one with a set of c_ij; which sets are worth a place was counted on trajectories of the model alone. The
verifier goes its own way, by its own choices, and where it comes to a drafted state, its rows are there already. So
nothing is drawn from a draft, and text and order are those of plain decoding.

A draft is a tree, as the engine's are: each order in which a state can be reached is a path of its own. The verifier
computes states, so several roads to one state are one canvas.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING

from torch import Tensor

from hsd_core.core.level import DraftOrder, Forks, LevelAbout, Outcome, Proposal, Work
from hsd_core.grammar.keys import MAX_NODES
from hsd_core.models.context import Context
from hsd_core.systems.canvas.blanks import canvas_of, size
from hsd_core.systems.canvas.canvas_level import ORDERS, Seen, next_cell
from hsd_core.systems.canvas.language import Canvas, Language

if TYPE_CHECKING:
    from hsd_core.levels.shared import SharedState

Ranks = tuple[tuple[int, int], ...]  # (i, j) of each filling, in order
TRAJECTORIES, RANKS = 48, 8  # that are counted; the most cells and words that are ranked


class StatesLevel:
    """states: the most that are drafted (the paper's D)."""

    name = "states"
    can_verify = has_cache = False
    max_positions: int | None = None

    def __init__(self, language: Language, states: int) -> None:
        self.language, self.states, self.vocab_size = language, states, size(language)
        params: dict[str, object] = {"guess": states}
        label = f"{states} states ahead"
        self.about = LevelAbout(kind="states", label=label, dtype="ids", params=params, sequences=states)

    def open(self, capacity: int, shared: SharedState) -> StatesRun:
        return StatesRun(self, shared.held(self.language, lambda _: Seen("surest")))


class StatesRun:
    cached = 0

    def __init__(self, level: StatesLevel, seen: Seen) -> None:
        self._level, self._seen = level, seen

    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        language, words = self._level.language, len(self._level.language.words)
        ids, past = [*context], canvas_of(language, context[:-1])
        found: dict[tuple[int, ...], int] = {}  # the fillings of a path -> its node
        cell = ids[-1] // words
        if len(ids) > 1 and past in self._seen.canvases and past.cells[cell : cell + 1] == (None,):
            ranked = ranks(past, cell, language.rows(past), self._seen.order)
            limit = min(order.limit, len(past.blanks) - 1)
            greedy = order.sampler.greedy
            for path in graph(language, self._seen.order, self._level.states, greedy):
                if len(path) <= limit and all(i < len(ranked) and j < len(ranked[i]) for i, j in path):
                    acts = tuple(ranked[i][j] for i, j in path)
                    found[acts] = len(found)
        parents = tuple(found[acts[:-1]] if len(acts) > 1 else -1 for acts in found)
        forks = Forks(None if parents == tuple(range(-1, len(found) - 1)) else parents)
        return Proposal(tuple(acts[-1] for acts in found), ("states",) * len(found), Work(1, 0, 0), forks=forks)

    def keep(self, start: int, path: Sequence[int]) -> None:
        """Nothing to do."""

    def observe(self, outcome: Outcome) -> None:
        """Nothing to do: what a pass has computed is in `Seen`."""

    def close(self) -> None:
        """Nothing to do."""


def ranks(canvas: Canvas, but: int, rows: Tensor, order: str) -> list[list[int]]:
    """The fillings c_ij of all blanks but one, whose word is known by now: [i][j]."""
    blanks = [cell for cell in canvas.blanks if cell != but]
    if not blanks:
        return []
    surest = ORDERS[order](rows[blanks]).argsort(descending=True, stable=True)[:RANKS].tolist()
    words = rows.shape[-1]
    found = []
    for i in surest:
        likeliest = rows[blanks[i]].argsort(descending=True, stable=True)[:RANKS].tolist()
        found.append([blanks[i] * words + word for word in likeliest])
    return found


@lru_cache(maxsize=64)
def graph(language: Language, order: str, states: int, greedy: bool) -> tuple[Ranks, ...]:
    """The paths to the `states` most frequent states that are reached through states among them."""
    roads = Counter(road for walk in _walks(language, order, greedy) for road in walk)
    counts: Counter[frozenset[tuple[int, int]]] = Counter()
    for road, count in roads.items():
        counts[frozenset(road)] += count
    kept: set[frozenset[tuple[int, int]]] = {frozenset()}
    while len(kept) <= states:
        open_ = [s for s in counts if s not in kept and any(s - {one} in kept for one in s)]
        if not open_:
            break
        kept.add(max(open_, key=lambda state: (counts[state], sorted(state))))
    usable = [r for r in roads if all(frozenset(r[:n]) in kept for n in range(1, len(r) + 1))]
    return tuple(sorted(usable, key=lambda road: (len(road), -roads[road], road))[:MAX_NODES])


def _walks(language: Language, order: str, greedy: bool) -> Iterator[list[Ranks]]:
    """For each step of trajectories of the model alone: the ranks of what it fills next, step by step, by the rows from
    before the last filling."""
    rng = Random(7)
    for _ in range(TRAJECTORIES):
        canvas = Canvas(rng.randrange(len(language.words)), (None,) * language.cells)
        past, acts = [], []
        while canvas.blanks:
            rows = language.rows(canvas)
            cell = next_cell(canvas, rows, order)
            row = rows[cell].tolist()
            word = row.index(max(row)) if greedy else rng.choices(range(len(row)), row)[0]
            past.append(canvas)
            acts.append(cell * len(language.words) + word)
            canvas = canvas.filled(cell, word)
        for at, canvas in enumerate(past):
            ranked = ranks(canvas, acts[at] // len(language.words), language.rows(canvas), order)
            known = list[tuple[int, int]]()
            for act in acts[at + 1 : at + 1 + RANKS]:
                if (rank := _rank(ranked, act)) is None:
                    break
                known.append(rank)
            yield [tuple(known[:n]) for n in range(1, len(known) + 1)]


def _rank(ranked: list[list[int]], act: int) -> tuple[int, int] | None:
    return next(((i, row.index(act)) for i, row in enumerate(ranked) if act in row), None)
