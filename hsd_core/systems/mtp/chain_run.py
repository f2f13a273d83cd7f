"""Several heads for multi-token prediction, one after another (DeepSeek-V3, arXiv 2412.19437, section 2.2).

Head k reads at slot t the state of head k - 1 at t (head 1: the target's) and the token of position t + k, and says the
token of t + k + 1. Beyond the last head it is applied again: its own state takes the place of the target's next one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from hsd_core.core.level import DraftOrder, Outcome, Proposal, Work, score_by_branches
from hsd_core.core.tree import NOTHING, Tree, named
from hsd_core.levels.growing import draft
from hsd_core.levels.shared import SharedState
from hsd_core.levels.trunk import Features, nearest
from hsd_core.models.cache import Cache
from hsd_core.models.context import Context
from hsd_core.models.drafts.fed_draft import FedDraft, LaterCache
from hsd_core.models.one_pass import Branches, Pass, in_order
from hsd_core.systems.mtp.lean_mtp import LeanMtp
from hsd_core.systems.mtp.whole_mtp import WholeMtp

if TYPE_CHECKING:
    from hsd_core.models.drafts.public_draft import Over


class ChainMtp(FedDraft):
    """A `TrainedDraft` of several heads."""

    def __init__(self, over: Over, heads: Sequence[LeanMtp | WholeMtp]) -> None:
        first = heads[0]
        self.over, self.heads, self.name, self.layers, self.hidden = over, heads, first.name, len(heads), first.hidden
        self.vocab_size, self.joined, self.join = first.vocab_size, first.joined, first.join

    def new_cache(self, capacity: int) -> LaterCache:
        """Of its first head."""
        return self.heads[0].new_cache(capacity)

    def open_run(self, shared: SharedState, source: str) -> ChainRun:
        """See `OpensRun`."""
        return ChainRun(self, shared.features(self.joined), shared.capacity + shared.branches, source)

    @property
    def nbytes(self) -> int:
        """Bytes of its own weights."""
        return sum(head.nbytes for head in self.heads)

    def weight_bytes(self) -> int:
        """Bytes that a pass reads: of one head."""
        return self.heads[0].weight_bytes()


class ChainRun:
    """Every row is computed by itself, and a tree branch by branch. cached: positions that have a row."""

    def __init__(self, chain: ChainMtp, features: Sequence[Features], capacity: int, source: str) -> None:
        self._chain, self._trunks, self._source, self.cached = chain, features, source, 0
        self._caches: list[Cache] = [head.new_cache(capacity).layers for head in chain.heads]
        self._states = torch.zeros(len(chain.heads), capacity, chain.hidden)  # (k, slots, hidden), normalised
        self._filled = [0] * len(chain.heads)  # slots of each head
        self._known = 0  # slots whose state was the target's
        self._said: dict[int, Tensor] = {}  # positions of a text -> the state that said the next token

    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        return draft(self, context, order, self._source)

    def grow(self, context: Context, ids: Sequence[int], branches: Branches, new: int) -> tuple[Tensor, Work]:
        """See `Grows.grow`."""
        if not new:
            return self._score(context, 1)
        self.cut(len(context) - 1)
        rows, work = self.score(context, replace(named(ids), parents=branches.parents))
        return rows[-new:], Work(1, work.rows, work.rows - new)

    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        return score_by_branches(self._score, self, context, tree)

    @torch.inference_mode()
    def _score(self, ids: Sequence[int], rows: int) -> tuple[Tensor, Work]:
        before, end = self.cached, len(ids)
        states = [self._row(ids[: end - rows + 1 + i]) for i in range(rows)]
        self.cached = end
        logits = self._chain.heads[0].logits(torch.stack(states))
        return logits, Work(1, max(rows, end - before), max(0, end - before - rows))

    def _row(self, ids: Sequence[int]) -> Tensor:
        """(hidden,) the state that says what follows the ids."""
        trunk, heads, end = nearest(self._trunks), self._chain.heads, len(ids)
        if end == 1:  # no state comes before it
            x = self._chain.over.embed(ids)
            alone = heads[0].new_cache(1).layers
            return heads[0].normal(heads[0].states(Pass(ids), x, torch.zeros_like(x), alone))[0]
        known = min(trunk.valid(trunk.decoder.layers), end - 1)
        self._cut_slots([min(known, self._known) if known != self._known else end] * len(heads))
        self._known = known
        used = min(max(1, end - known), len(heads))
        last = end - 1 - used
        for slot in range(known, last + 1):
            if slot + 1 not in self._said:
                self._row(ids[: slot + 1])
        for k, head in enumerate(heads[:used]):
            if (lo := self._filled[k]) > last:
                continue
            fed = self._fed(trunk, k, lo, last + 1)
            x = self._chain.over.embed(ids[lo + k + 1 : last + k + 2])
            given = Pass(ids[lo + k + 1 : last + k + 2], lo, last + 1 - lo)
            normal = head.normal(head.states(given, x, fed, self._caches[k]))
            self._states = self._states.to(normal)
            self._states[k, lo : last + 1], self._filled[k] = normal, last + 1
        self._said[end] = self._states[used - 1, last]
        return self._said[end]

    def _fed(self, trunk: Features, k: int, lo: int, hi: int) -> Tensor:
        """(hi - lo, hidden) what head k reads at these slots."""
        if k:
            return self._states[k - 1, lo:hi]
        depth, known = trunk.decoder.layers, min(self._known, hi)
        parts = [self._chain.join(trunk.hidden(depth, lo, known))] if lo < known else []
        return torch.cat([*parts, *(self._said[slot + 1][None] for slot in range(max(lo, known), hi))])

    def keep(self, start: int, path: Sequence[int]) -> None:
        self.cut(start + len(path) if in_order(path) else start)

    def cut(self, length: int) -> None:
        """Forget every position from `length` on."""
        self.cached, self._known = min(self.cached, length), min(self._known, length)
        self._said = {end: state for end, state in self._said.items() if end <= length}
        self._cut_slots([max(0, length - k - 1) for k in range(len(self._filled))])

    def _cut_slots(self, lengths: Sequence[int]) -> None:
        self._filled = [min(pair) for pair in zip(self._filled, lengths, strict=True)]
        for cache, filled in zip(self._caches, self._filled, strict=True):
            cache.cut(filled)

    def observe(self, outcome: Outcome) -> None:
        """Nothing to do: states are read when the next token is asked for."""

    def close(self) -> None:
        self._caches, self._said = [], {}
