"""A masked draft as a level: it fills a block of cells in one pass or a few, over the states of the last full pass.

It reads the states of every position that a full pass has reached; the tokens since are known cells of its block, so a
middle level's tokens take places of the draft. SpecDiff (arXiv 2408.05636) draws its cells; DiffuSpec (2510.02358)
searches a path through their candidates and lets the length follow what was kept of late.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Tensor

from hsd_core.core.level import DraftOrder, Outcome, Proposal, Verified, Work
from hsd_core.core.notes import noted
from hsd_core.levels.drafting import draft_token_by_token
from hsd_core.levels.parallel_draft import FREE, AheadLevel, AheadRun, Copies
from hsd_core.levels.shared import SharedState
from hsd_core.levels.trunk import Features, Layered, nearest
from hsd_core.models.cache import Cache
from hsd_core.models.context import Context
from hsd_core.models.suffixes import Copied
from hsd_core.systems.masked.filling import FromTheLeft, Rows, shares, surest_first
from hsd_core.systems.masked.lattice import Candidate, Proxy, RecentLength, Search, Trigrams, candidates, likeliest_path
from hsd_core.systems.masked.notes import Lattice

DRAWN, SUREST, SEARCHED = "drawn", "surest", "searched"
TOLD = {DRAWN: "cells drawn", SUREST: "surest cells first", SEARCHED: "a searched line"}
USUAL = Search()


class Masked(Copies, Protocol):
    """A masked draft: `MaskedDraft`."""

    name: str
    layers: int
    hidden: int
    vocab_size: int
    ahead: int

    def new_cache(self, capacity: int) -> Cache: ...

    def read(self, ids: Sequence[int], fed: Tensor, cache: Cache) -> None:
        """See `MaskedDraft.read`."""
        ...

    def rows(self, line: Sequence[int], begun: int, later: Sequence[int | None], fed: Tensor, cache: Cache) -> Tensor:
        """See `MaskedDraft.rows`."""
        ...

    def weight_bytes(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Filling:
    """How a block is filled.

    fill: cells are drawn (several passes go on from the left), filled with the likeliest tokens, surest first, or
    searched. passes: over a block. recent: the length follows what was kept of late. text: the counts of a search.
    """

    fill: str = DRAWN
    passes: int = 1
    recent: bool = False
    search: Search = USUAL
    text: Trigrams | None = None


class MaskedRun(AheadRun):
    """features: see `DraftRun`."""

    def __init__(
        self, draft: Masked, features: Sequence[Features], how: Filling, block: int, capacity: int, source: str
    ) -> None:
        self._states = draft.new_cache(capacity)
        super().__init__(draft, self._states, draft.vocab_size, source)
        self._masked, self._trunks, self._how = draft, features, how
        self._length = RecentLength(1, min(block, draft.ahead)) if how.recent else None
        self._proxy = Proxy(how.text, draft.vocab_size) if how.text else None

    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        most = order.limit if self._length is None else min(order.limit, self._length.length)
        if most < 1 or order.stops(0, None):
            return Proposal((), (), FREE)
        places, caught = self._read(context)
        if not (places := min(places, most)):
            return Proposal((), (), FREE)
        start = self._states.length

        def rows(cells: Sequence[int | None]) -> tuple[Tensor, Work]:
            known = next((i for i, cell in enumerate(cells) if cell is None), len(cells))
            line = context + [cell for cell in cells[:known] if cell is not None]
            found = self._masked.rows(line, start, cells[known:], self._before(start, start + 1)[0], self._states)
            computed = len(context) - start + len(cells) - 1
            return found, Work(1, computed + (0 if known else caught), 0 if known else caught)

        order = replace(order, limit=places)
        if self._how.fill == DRAWN:
            return self._drawn(context, order, rows)
        return self._chosen(context, order, rows)

    def _drawn(self, context: Context, order: DraftOrder, rows: Rows) -> Proposal:
        given = FromTheLeft(len(context), order.limit, self._how.passes, rows)

        def copied(token: int) -> Copied | None:
            return self._masked.copied(self._states, token, given.depth)

        drafted = draft_token_by_token(given, context, order, self._source, copied)
        if self._length is not None:
            self._length.drafted(drafted.ids, order.ends)
        filled = [step for step, size in enumerate(shares(order.limit, self._how.passes)) for _ in range(size)]
        note = Lattice(tuple(filled[: len(drafted.ids)])) if drafted.ids and self._how.passes > 1 else None
        return replace(drafted, notes={**drafted.notes, **noted(note)})

    def _chosen(self, context: Context, order: DraftOrder, rows: Rows) -> Proposal:
        """A draft whose tokens are decided by the past, not drawn."""
        kept = list[Tensor]()

        def kept_rows(cells: Sequence[int | None]) -> tuple[Tensor, Work]:
            found, work = rows(cells)
            kept[:] = kept or [found]
            return found, work

        ids, filled, work = surest_first(order.limit, self._how.passes, kept_rows, order)
        if self._length is not None:
            self._length.drafted(ids, order.ends)
        lattice = list[list[Candidate]]()
        if self._proxy is not None:
            self._proxy.read(context)
            (first,) = kept
            lattice = candidates(first, order.ends, self._how.search)
            ids = likeliest_path(lattice, context[-2:], self._proxy, order.ends, self._how.search)
        (first,) = kept
        n = 0
        while n < len(ids) and not (n and (ids[n - 1] in order.ends or order.stops(n, first[n - 1]))):
            n += 1
        columns = tuple(tuple((one.id, round(one.chance, 4)) for one in column) for column in lattice)
        note = Lattice(tuple(filled[:n]), columns) if lattice or self._how.passes > 1 else None
        return Proposal(tuple(ids[:n]), (self._source,) * n, work, notes=noted(note))

    def _read(self, context: Context) -> tuple[int, int]:
        """Read what full passes have reached. Returns the cells that a draft may have behind the context, and the
        positions read."""
        trunk, draft = nearest(self._trunks), self._masked
        start = min(trunk.valid(trunk.decoder.layers), len(context) - 1)
        self.cached = len(context)
        if start < 1:
            return 0, 0
        self._states.cut(min(self._states.length, start))
        if (read := self._states.length) < start:
            draft.read(context[read:start], self._before(read, start), self._states)
        return max(0, draft.ahead - (len(context) - 1 - start)), start - read

    def _before(self, lo: int, hi: int) -> Tensor:
        """(hi - lo, hidden) the target's states of positions lo - 1 to hi - 2; zeros before the first."""
        trunk = nearest(self._trunks)
        depth = trunk.decoder.layers
        if lo:
            return trunk.hidden(depth, lo - 1, hi - 1)
        known = trunk.hidden(depth, 0, max(1, hi - 1))
        return torch.cat((torch.zeros_like(known[:1]), known[: hi - 1]))

    def keep(self, start: int, path: Sequence[int]) -> None:
        super().keep(start, path)
        self._states.cut(min(self._states.length, start))

    def observe(self, outcome: Outcome) -> None:
        """What was kept decides the next length."""
        if self._length is not None and isinstance(outcome, Verified):
            self._length.judged(len(outcome.rows) - 1)

    def close(self) -> None:
        super().close()
        self._states = self._masked.new_cache(0)


class MaskedLevel(AheadLevel):
    """A draft over `decoder`, the target's. block: the most tokens of a draft that is asked for."""

    def __init__(
        self,
        decoder: Layered,
        draft: Masked,
        how: Filling,
        *,
        block: int = 64,
        weights: dict[str, object] | None = None,
    ) -> None:
        params: dict[str, object] = {"readout": draft.name, "layers": draft.layers, "ahead": draft.ahead}
        params |= {"fill": how.fill} if how.fill != DRAWN else {}
        params |= {"passes": how.passes} if how.passes > 1 else {}
        params |= {"recent": True} if how.recent else {}
        super().__init__(decoder, draft, "masked", f"masked draft, {TOLD[how.fill]}", params, weights)
        self._how, self._block = how, block

    def open(self, capacity: int, shared: SharedState) -> MaskedRun:
        room = capacity + self.draft.ahead
        return MaskedRun(self.draft, shared.features(), self._how, self._block, room, self.name)
