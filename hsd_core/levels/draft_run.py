"""The run of a trained draft: a nano over the target's token embeddings, or one after an early exit.

A *feature-fed* draft also reads the last hidden state that a full pass over the target's weights computed one position
earlier: the input at position t is (embedding of x_t or state after the exit's layers, feature of t - 1). Before such a
pass (tokens of the current draft, tokens that only smaller levels have seen) its own output state of t - 1 replaces the
feature; once the true feature is known, those positions are computed again. Which of the two is used depends on the
past only, so every token is drawn from the row that is handed up with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor

from hsd_core.core.level import DraftOrder, LevelRun, Outcome, Proposal, Work, score_by_branches
from hsd_core.core.tree import NOTHING, Tree
from hsd_core.levels.growing import draft
from hsd_core.levels.parallel_draft import draft_in_one_pass
from hsd_core.levels.readout import Readout
from hsd_core.levels.shared import SharedState
from hsd_core.levels.trunk import Features, Trunk, nearest
from hsd_core.models.cache import Cache, Positions
from hsd_core.models.context import Context
from hsd_core.models.one_pass import Branches, Pass, in_order
from hsd_core.models.sampling import TrimmedLogits, joined_rows, whole_rows


class TrainedDraft(Readout, Protocol):
    """A trained draft with layers of its own.

    `at`: its depth, 0 for a nano. `fed`: it reads features. `hidden`: the width of the model. `joined`, `ahead`,
    `window`, `unknown`: see `drafts.head.OpenedDraft`.
    """

    at: int
    fed: bool
    hidden: int
    joined: tuple[int, ...]
    ahead: int
    window: int
    unknown: Tensor | None

    def join(self, states: Tensor) -> Tensor:
        """(n, F hidden) states of the layers of `joined` -> (n, hidden) its features."""
        ...

    def forward(
        self,
        given: Pass,
        x: Tensor,
        cache: Cache,
        line: Sequence[int],
        fed: Tensor | None = None,
        begun: int | None = None,
    ) -> tuple[Tensor, Tensor]:
        """See `Readout.forward`. begun: the wanted rows are of successive positions after the line; the first one
        weighs its copies by gate `begun`, the next by the next gate."""
        ...


class Embeds(Protocol):
    """The embeddings that a draft reads: the target's, or its own."""

    def embed(self, ids: Sequence[int]) -> Tensor:
        """(n, hidden)."""
        ...


@runtime_checkable
class OpensRun(Protocol):
    """A trained draft with its own kind of run."""

    def open_run(self, shared: SharedState, source: str) -> LevelRun:
        """Its state in a run."""
        ...


class DraftRun:
    """`cached` positions were processed, the first `_true` of them with true features.

    features: the trunks that compute them, the nearest first; the first that does not rest is read. trunk, depth: the
    input of the draft, None and 0 for the embeddings.
    """

    def __init__(
        self,
        embeds: Embeds,
        draft: TrainedDraft,
        features: Sequence[Features],
        capacity: int,
        source: str,
        trunk: Trunk | None = None,
        depth: int = 0,
    ) -> None:
        self._embeds, self._draft, self._trunks, self._source = embeds, draft, features, source
        self._forward = getattr(draft, "trimmed", draft.forward)
        self.trunk, self._at = trunk, depth
        self._cache = draft.new_cache(capacity)
        self._stand_ins: Tensor | None = None  # (capacity, hidden) own output states, where features are read
        self._capacity = capacity
        self._true = 0

    @property
    def cached(self) -> int:
        return self._cache.length

    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        if self._draft.ahead > 1:
            return draft_in_one_pass(self._rows_ahead, self._draft, self._cache, context, order, self._source)
        copied, mark = partial(self._draft.copied, self._cache), partial(self._draft.mark, self._cache)
        return draft(self, context, order, self._source, copied, mark)

    @torch.inference_mode()
    def grow(self, context: Context, ids: Sequence[int], branches: Branches, new: int) -> tuple[Tensor, Work]:
        """See `Grows.grow`. A node's feature is its parent's output state: true features end before the context
        does."""
        whole = context + ids
        if not new or self._features is None:
            return self._whole(whole, max(1, new), branches)
        start, end = self.cached, len(whole)
        assert end - start == new, f"{self._source}: {new} nodes are new, and {end - start} inputs"
        assert self._stand_ins is not None
        spans = self.trunk.run(whole, self._at, end, branches) if self.trunk is not None else ()
        fed = self._stand_ins[[len(context) + parent for parent in branches.parents[-new:]]]
        logits = self._step(whole, start, end, start, fed, branches)
        return whole_rows(logits), Work(1, new, 0, spans)

    @torch.inference_mode()
    def _rows_ahead(self, context: Context, count: int) -> tuple[Tensor, Work]:
        """(n, V) logits of the next n positions after a context from one pass, n at most `count` and the draft's
        `ahead`. The cache keeps the context only."""
        logits, work = self._whole(context, 1, ahead=min(self._draft.ahead, count) - 1)
        self._cache.cut(len(context))
        return logits, Work(1, work.rows + len(logits) - 1, work.catch_up, work.ran)

    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        if self._features is not None:  # each node's input is the state of its parent
            return score_by_branches(self._whole, self, context, tree)
        branches = None if tree.is_chain else Branches(len(context), tree.lineage)
        return self._whole(context + tree.ids if len(tree) else context, len(tree) + 1, branches)

    def next_row(self, context: Context) -> tuple[Tensor | TrimmedLogits, Work]:
        """See `drafting.Scores`."""
        return self._score(context, 1)

    def _whole(self, *given: Any, **more: Any) -> tuple[Tensor, Work]:
        rows, work = self._score(*given, **more)
        return whole_rows(rows), work

    @torch.inference_mode()
    def _score(
        self, ids: Sequence[int], rows: int, branches: Branches | None = None, ahead: int = 0
    ) -> tuple[Tensor | TrimmedLogits, Work]:
        """See `Scorer.score`. It counts as one forward, however many steps the missing features need. ahead: how many
        unknown tokens follow the last one, with a row for each."""
        before, end = self.cached, len(ids)
        if (new := end - before) < rows:
            raise ValueError(f"{self._source}: {rows} rows asked for, but {new} tokens are new")
        spans = self.trunk.run(ids, self._at, end, branches) if self.trunk is not None else ()
        # Position t needs the feature of t - 1: with f features, positions 0 to f have true inputs.
        reach = end if self._features is None else min(end, self._features.valid(self._depth) + 1)
        start = self._true if reach > self._true else before
        logits = []
        if reach > start:
            further = ahead if reach == end else 0
            logits.append(self._step(ids, start, reach, end - rows, self._before(start, reach), branches, further))
            self._true = reach
        for at in range(max(start, reach), end):
            assert self._stand_ins is not None
            further, fed = ahead if at == end - 1 else 0, self._stand_ins[at - 1 : at]
            logits.append(self._step(ids, at, at + 1, end - rows, fed, branches, further))
        return joined_rows(logits), Work(1, end - start, end - start - rows, spans)

    @torch.inference_mode()
    def keep(self, start: int, path: Sequence[int]) -> None:
        if in_order(path):
            self.cut(start + len(path))
            return
        if self.trunk is not None:
            self.trunk.keep(start, path, self._at)
        mine = [node for node in path if start + node < self.cached]
        if self._stand_ins is not None and not in_order(mine):
            self._stand_ins[start : start + len(mine)] = self._stand_ins[[start + node for node in mine]]
        self._cache.keep(start, path)
        self._true = min(self._true, start if self._features is not None else self.cached)

    def cut(self, length: int) -> None:
        """Forget every position from `length` on."""
        self._cache.cut(length)
        self._true = min(self._true, length)
        if self.trunk is not None:
            self.trunk.cut(length, self._at)

    def observe(self, outcome: Outcome) -> None:
        """Nothing to do: features are read when the next token is asked for."""

    def close(self) -> None:
        self._cache, self._stand_ins = Positions(), None

    @property
    def _features(self) -> Features | None:
        return nearest(self._trunks) if self._trunks else None

    @property
    def _depth(self) -> int:
        assert self._features is not None
        return self._features.decoder.layers

    def _step(
        self,
        ids: Sequence[int],
        lo: int,
        hi: int,
        wanted: int,
        fed: Tensor | None,
        branches: Branches | None = None,
        ahead: int = 0,
    ) -> Any:
        """Process slots lo to hi - 1. Returns the logits from slot `wanted` on, and those of `ahead` unknown tokens."""
        x, rows, begun = self._inputs(ids, lo, hi), max(0, hi - max(lo, wanted)) + ahead, None
        fed, inputs = None if fed is None else fed.to(x), ids[lo:hi]
        if ahead:
            assert self._draft.unknown is not None and fed is not None
            x = torch.cat((x, self._draft.unknown[:ahead].to(x)))
            fed, begun = torch.cat((fed, fed[-1:].expand(ahead, -1))), 0
            inputs = [*inputs, *[0] * ahead]
        given = Pass(inputs, lo, max(1, rows), branches)
        logits, own = self._forward(given, x, self._cache, ids[:hi], fed, begun)
        if self._features is not None:
            if self._stand_ins is None:
                self._stand_ins = own.new_zeros(self._capacity, own.shape[1])
            self._stand_ins[lo:hi] = own[: hi - lo]
        return logits[len(logits) - rows :]

    def _inputs(self, ids: Sequence[int], lo: int, hi: int) -> Tensor:
        if self.trunk is None:
            return self._embeds.embed(ids[lo:hi])
        return self.trunk.hidden(self._at, lo, hi)

    def _before(self, lo: int, hi: int) -> Tensor | None:
        """(hi - lo, hidden) true features of positions lo - 1 to hi - 2; zeros before the first."""
        if self._features is None:
            return None
        if lo > 0:
            return self._fed(lo - 1, hi - 1)
        none = torch.zeros(1, self._draft.hidden)
        if hi == 1:
            return none
        known = self._fed(0, hi - 1)
        return torch.cat((none.to(known), known))

    def _fed(self, lo: int, hi: int) -> Tensor:
        """(hi - lo, hidden) features from the states of these positions."""
        features = self._features
        assert features is not None
        if not self._draft.joined:
            return features.hidden(self._depth, lo, hi)
        return self._draft.join(torch.cat([features.hidden(depth, lo, hi) for depth in self._draft.joined], 1))
