"""The target's weights over a view of the target's cache (TriForce, arXiv 2404.11912): a drafter and a verifier.

A pass of the target reads its weights and its cache, and in a long text the cache is the larger part. This level reads
a part of the cache, selected when the prompt has been read and then frozen (`view.py`). Positions that the target
verifies are copied exactly at the commit. The level hands up its own rows, and corrects rejections from the residual;
TriForce's code samples from the row itself there, which is not exact.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from hsd_core.core.level import CommittedIds, DraftOrder, Outcome, Proposal, Work
from hsd_core.core.tree import NOTHING, Tree
from hsd_core.grammar.keys import MAX_BLOCK, MAX_LEVELS
from hsd_core.levels.growing import draft
from hsd_core.levels.model_level import OverDecoder
from hsd_core.levels.shared import SharedState
from hsd_core.levels.trunk import Layered, Prepared, Trunk
from hsd_core.models.context import Context
from hsd_core.models.decoder_protocol import Asked
from hsd_core.models.gpu.transfer import fetched
from hsd_core.models.lean.decoder import CHUNK
from hsd_core.models.one_pass import Branches
from hsd_core.systems.views.notes import Chosen, Held
from hsd_core.systems.views.selection import Chunks, Select
from hsd_core.systems.views.view import View

TAIL = MAX_LEVELS * MAX_BLOCK  # slots for tokens that levels hold between two commits


class ViewLevel(OverDecoder):
    """The target's weights, or a copy of them, over a view of the target's cache."""

    views = over_target = True

    def __init__(self, decoder: Layered, select: Select, *, weights: dict[str, object] | None = None) -> None:
        chunks = isinstance(select, Chunks)
        shape = {"chunk": select.chunk} if isinstance(select, Chunks) else {"sink": getattr(select, "sink", 0)}
        params: dict[str, object] = {"keep": "chunks" if chunks else "stream", "budget": select.budget, **shape}
        label = f"view of {select.budget} positions, " + ("in chunks" if chunks else "the first and the last")
        super().__init__(
            decoder, name="view", kind="view", label=label, layers=decoder.layers, params=params, weights=weights
        )
        self.decoder, self.select = decoder, select

    def room(self, capacity: int) -> int:
        """The size of its own cache, without a tree, in a run over a context of at most `capacity` tokens."""
        return min(self.select.budget + TAIL, self.decoder.max_positions, self.select.budget + capacity)

    def open(self, capacity: int, shared: SharedState) -> ViewRun:
        trunk = shared.viewed(self.decoder)
        if self.select.asks and isinstance(trunk.decoder, Asked):
            trunk.decoder.show_queries()
        return ViewRun(self, trunk, self.room(capacity), shared.branches)


class ViewRun:
    """`cached` is the length of the view: positions that the target has verified, and those run here behind them."""

    def __init__(self, level: ViewLevel, trunk: Trunk, slots: int, branches: int) -> None:
        self._decoder, self._select, self._source = level.decoder, level.select, level.name
        self._trunk, self._slots, self._branches = trunk, slots, branches
        self._text: list[int] = []
        self._view: View | None = None

    @property
    def cached(self) -> int:
        return 0 if self._view is None else self._view.length

    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        return draft(self, context, order, self._source)

    def grow(self, context: Context, ids: Sequence[int], branches: Branches, new: int) -> tuple[Tensor, Work]:
        """See `Grows.grow`."""
        return self._score(context + ids, max(1, new), branches)

    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        branches = None if tree.is_chain else Branches(len(context), tree.lineage)
        return self._score(context + tree.ids if len(tree) else context, len(tree) + 1, branches)

    @torch.inference_mode()
    def _score(self, ids: Sequence[int], rows: int, branches: Branches | None = None) -> tuple[Tensor, Work]:
        view = self._opened()
        new = ids[view.length :]
        if len(new) < rows:
            raise ValueError(f"{self._source}: {rows} rows asked for, but only {len(new)} tokens are new")
        parts = view.given(new, 0, branches).parts(CHUNK)
        x = torch.cat([self._decoder.forward_layers(part, view.cache, 0, self._decoder.layers) for part in parts])
        view.grew(len(new))
        return self._decoder.head(x[len(x) - rows :]), Work(1, len(new), len(new) - rows)

    def keep(self, start: int, path: Sequence[int]) -> None:
        self._opened().keep(start, path)

    def observe(self, outcome: Outcome) -> Chosen | None:
        """After the prompt and after every commit of the target, copy its keys and values."""
        if not isinstance(outcome, CommittedIds):
            return None
        self._text.extend(outcome.ids)
        view, upto = self._opened(), self._trunk.valid(self._decoder.layers)
        if not view.follow(upto, lambda: self._queries(upto)):
            return None
        held = view.held()
        (counts,) = fetched(torch.bincount(held.flatten(), minlength=upto))
        return Chosen(upto, self._select.budget, held.shape[0] * held.shape[1], spans(counts))

    def close(self) -> None:
        self._view = None

    def _opened(self) -> View:
        if self._view is None:
            own = self._decoder.new_cache(self._slots, branches=self._branches)
            if isinstance(self._decoder, Prepared):
                self._decoder.prepare(own, [self._decoder.layers])
            self._view = View(self._trunk.kv(), self._select, own)
        return self._view

    def _queries(self, position: int) -> Tensor:
        assert isinstance(self._trunk.decoder, Asked), "a decoder whose layers can be run in ranges shows their queries"
        return self._trunk.decoder.queries(self._text[position], position, self._trunk.kv())


def spans(counts: Tensor) -> tuple[Held, ...]:
    """Runs of positions that the same number of heads holds, in order, without those that none holds. counts: (n,) by
    position, on the host."""
    heads, lengths = torch.unique_consecutive(counts, return_counts=True)
    ends = lengths.cumsum(0)
    found = zip((ends - lengths).tolist(), ends.tolist(), heads.tolist(), strict=True)
    return tuple(Held(*span) for span in found if span[2])
