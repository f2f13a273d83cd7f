"""A causal language model as a level: a decoder over a preallocated KV cache whose rollback is a position.

A decoder whose layers can be run in ranges reads a trunk, which early exits of the same weights share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torch import Tensor

from hsd_core.core.level import DraftOrder, LevelAbout, Outcome, Proposal, Work, score_by_branches
from hsd_core.core.tree import NOTHING, Tree, named
from hsd_core.levels.growing import draft
from hsd_core.levels.readout import Lens, TrimmedHead, TrunkRun
from hsd_core.levels.shared import SharedState
from hsd_core.levels.trunk import Layered, Trunk
from hsd_core.levels.whole_trunk import WholeTrunk
from hsd_core.models import Decoder
from hsd_core.models.cache import Cache, Positions
from hsd_core.models.context import Context
from hsd_core.models.decoder_protocol import Recording
from hsd_core.models.one_pass import Branches, Pass


class OverDecoder:
    """The description of a level that drafts and verifies with a decoder, on its device and in its dtype."""

    can_verify = has_cache = True

    def __init__(
        self,
        decoder: Decoder,
        *,
        name: str,
        kind: str,
        label: str,
        layers: int | None,
        params: dict[str, object],
        weights: dict[str, object] | None = None,
        fed: bool = False,
    ) -> None:
        self.name, self.vocab_size = name, decoder.vocab_size
        self.max_positions: int | None = decoder.max_positions
        self.about = LevelAbout(
            kind=kind,
            label=label,
            layers=layers,
            device=str(decoder.device),
            dtype=str(decoder.dtype).removeprefix("torch."),
            weights=weights,
            params=params,
            fed=fed,
        )


class ModelLevel(OverDecoder):
    """Any `Decoder` (lean or transformers, of any dtype). Read-only; shared between runs.

    feeds: whether a drafter may read its last states, because its weights are the target's. head_ids: the ids that its
    head is trimmed to; None for all.
    """

    def __init__(
        self,
        decoder: Decoder,
        *,
        name: str,
        kind: str,
        label: str,
        feeds: bool = True,
        weights: dict[str, object] | None = None,
        head_ids: Sequence[int] | None = None,
    ) -> None:
        """
        Raises:
            ValueError: the head is to be trimmed, but the decoder does not run layer by layer.
        """
        super().__init__(decoder, name=name, kind=kind, label=label, layers=decoder.layers, params={}, weights=weights)
        self.decoder, self.feeds = decoder, feeds
        self.readout: TrimmedHead | None = None
        if head_ids is not None:
            if not isinstance(decoder, Layered):
                raise ValueError(f"{name} runs whole, through transformers, with its whole head; leave @vocab= out")
            self.readout = TrimmedHead(decoder, head_ids)
            self.about.params["vocab"] = len(self.readout.ids)

    def enter(self, shared: SharedState) -> Trunk | WholeTrunk | None:
        if not isinstance(self.decoder, Layered):
            return shared.recorded(self.decoder) if self.feeds and isinstance(self.decoder, Recording) else None
        return shared.trunk(self.decoder, self.decoder.layers, features=self.feeds)

    def open(self, capacity: int, shared: SharedState) -> ModelRun | TrunkRun:
        trunk = self.enter(shared)
        if not isinstance(trunk, Trunk):
            # the nodes of a tree follow the context, up to the model's last position
            room = min(capacity + shared.branches, self.decoder.max_positions)
            return ModelRun(self.decoder, room, source=self.name, trunk=trunk)
        return TrunkRun(trunk, trunk.decoder.layers, self.readout or Lens(trunk.decoder), self.name)


class ModelRun:
    """The cache holds keys and values of the first `cached` positions; the rest of the context is the catch-up list.

    trunk: takes the states that a drafter reads.
    """

    def __init__(self, decoder: Decoder, capacity: int, source: str, trunk: WholeTrunk | None = None) -> None:
        self._decoder = decoder
        self._cache: Cache = decoder.new_cache(capacity)
        self._source, self._trunk = source, trunk
        self._scored: tuple[int, list[Sequence[int]]] = 0, []  # the last tree: where it begins, its branches
        self._passed: list[dict[int, Tensor]] = []  # and the states of each branch

    @property
    def cached(self) -> int:
        return self._cache.length

    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        return draft(self, context, order, self._source)

    def grow(self, context: Context, ids: Sequence[int], branches: Branches, new: int) -> tuple[Tensor, Work]:
        """See `Grows.grow`. The decoder takes only chains, so every branch is run again."""
        if not new:
            return self._score(context, 1)
        self._cache.cut(len(context) - 1)
        rows, work = self.score(context, replace(named(ids), parents=branches.parents))
        return rows[-new:], Work(1, work.rows, work.rows - new)

    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        self._scored, self._passed = (len(context), [range(len(tree))] if tree.is_chain else [*tree.branches()]), []
        return score_by_branches(self._score, self._cache, context, tree)

    def _score(self, ids: Context, rows: int) -> tuple[Tensor, Work]:
        new = ids[self.cached :]
        if len(new) < rows:
            raise ValueError(f"{self._source}: {rows} rows asked for, but only {len(new)} tokens are new")
        given = Pass(new, self.cached, rows)
        if self._trunk is not None and self._trunk.depths:
            assert isinstance(self._decoder, Recording)
            logits, states = self._decoder.recorded(given, self._cache, self._trunk.depths)
            self._trunk.put(given.start, states)
            self._passed.append({depth: state[len(state) - rows + 1 :] for depth, state in states.items()})
        else:
            logits = self._decoder.forward(given, self._cache)
        return logits, Work(1, len(new), len(new) - rows)

    def keep(self, start: int, path: Sequence[int]) -> None:
        self._cache.keep(start, path)
        if self._trunk is None:
            return
        self._trunk.cut(start)
        (at, branches), passed = self._scored, self._passed
        if at == start and (
            along := [s for b, s in zip(branches, passed, strict=False) if [*b[: len(path)]] == [*path]]
        ):
            self._trunk.put(start, {depth: state[: len(path)] for depth, state in along[0].items()})
        self._scored = 0, []

    def observe(self, outcome: Outcome) -> None:
        """Nothing to do: the cache already holds what was verified."""

    def close(self) -> None:
        self._cache = Positions()
