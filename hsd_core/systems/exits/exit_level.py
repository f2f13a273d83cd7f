"""Early exits: the target, read before its last layer (HiSpec, arXiv 2510.01336; LayerSkip, arXiv 2404.16710).

An exit shares keys, values and hidden states with every level over the same weights, so it stores nothing of the model;
a trained draft adds a few layers, a norm and a head behind it (as Kangaroo's adapter, arXiv 2404.18911). A fed draft
also reads the last states of the full pass above it (see `nano`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from torch import Tensor

from hsd_core.core.choices import Judge
from hsd_core.core.rules import Verdict, followed
from hsd_core.core.tree import Tree
from hsd_core.levels.draft_run import DraftRun, TrainedDraft
from hsd_core.levels.model_level import OverDecoder
from hsd_core.levels.readout import Lens, Readout, TrimmedHead, TrunkRun
from hsd_core.levels.shared import SharedState
from hsd_core.levels.trunk import Layered, Trunk


class ExitLevel(OverDecoder):
    """The model after `at` of its layers, read by `draft` or, without one, by its own last norm and head."""

    def __init__(
        self, decoder: Layered, at: int, draft: Readout | None = None, *, weights: dict[str, object] | None = None
    ) -> None:
        """
        Raises:
            ValueError: the model has no layer behind `at`.
        """
        if not 1 <= at < decoder.layers:
            raise ValueError(f"an exit at {at} is not an early one: the model has {decoder.layers} layers")
        self.decoder, self.at = decoder, at
        self.readout = draft or Lens(decoder)
        fed = bool(getattr(draft, "fed", False))
        label = f"exit at layer {at}, " + (draft.name if draft else "untrained read-out")
        params: dict[str, object] = {"at": at, "readout": self.readout.name, "layers": self.readout.layers}
        if fed:
            params["fed"] = True
        if threads := getattr(draft, "threads", None):
            params["threads"] = threads  # chosen on this machine
        if isinstance(draft, TrimmedHead):
            params["vocab"], label = len(draft.ids), f"exit at layer {at}, a head of {len(draft.ids):,} tokens"
        named = {"name": "exit", "kind": "exit", "label": label}
        super().__init__(decoder, **named, layers=at, params=params, weights=weights, fed=fed)

    def enter(self, shared: SharedState) -> Trunk:
        if self.about.fed:
            shared.features()  # refuses a stack in which no level above has any
        return shared.trunk(self.decoder, self.at)

    def open(self, capacity: int, shared: SharedState) -> DraftRun | TrunkRun:
        trunk = self.enter(shared)
        if self.about.fed:
            draft = cast("TrainedDraft", self.readout)
            return DraftRun(
                self.decoder, draft, shared.features(), capacity + shared.branches, self.name, trunk, self.at
            )
        return TrunkRun(trunk, self.at, self.readout, self.name)


class SeveralExits(OverDecoder):
    """A level that drafts by several exits of one model. readouts: by depth.

    Raises:
        ValueError: there are none, or one is not an early exit.
    """

    can_verify = False

    def __init__(
        self,
        decoder: Layered,
        readouts: Mapping[int, Readout],
        *,
        name: str,
        label: str,
        params: dict[str, object],
        weights: dict[str, object] | None,
    ) -> None:
        if not readouts or not all(1 <= at < decoder.layers for at in readouts):
            raise ValueError(f"exits {sorted(readouts)} are not within layers 1 to {decoder.layers - 1}")
        self.decoder, self.readouts = decoder, dict(sorted(readouts.items()))
        deepest = max(readouts)
        super().__init__(decoder, name=name, kind=name, label=label, layers=deepest, params=params, weights=weights)

    def enter(self, shared: SharedState) -> Trunk:
        """Announces every exit's depth, the deepest first."""
        return [shared.trunk(self.decoder, at) for at in reversed(self.readouts)][-1]


def top(tree: Tree, p: Tensor, judge: Judge, bonus: bool, *, k: int = 1, scores: Tensor | None = None) -> Verdict:
    """Keep the longest path of tokens among the verifier's k likeliest; then a token of its own distribution.

    HiSpec's TopPredictions (arXiv 2510.01336, algorithm 1). With k = 1 at temperature 0 this is `greedy`; otherwise the
    emitted tokens do not follow the rows that go up. Arguments as in `tokenwise`.

    Args:
        scores: rows as p that rank tokens. For k > 1 the logits: at temperature 0, p has one token only.
    """
    ranks = p if scores is None else scores
    best = ranks.topk(min(k, ranks.shape[-1]), dim=-1).indices.tolist()
    path, alphas, fork, places = followed(tree, bonus, lambda place, token: token in best[place])
    rejected = fork in tree.forks
    token = judge.draw(p[places[fork]], len(path)) if rejected or bonus or not len(tree) else None
    return Verdict(tuple(path), token, alphas, (None,) * len(alphas), p[places[fork]] if rejected else None)
