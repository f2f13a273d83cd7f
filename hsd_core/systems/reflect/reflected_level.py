"""A target that reads a draft twice in one pass, the second time after a request to reflect (arXiv 2505.18629).

    context  x_1 .. x_n  r_1 .. r_m  x_1 .. x_n-1

The row before a token's copy is the second reading's, and the rule judges by (1 - a) p_first + a p_second. The row
after the last token is the first reading's, so a bonus is the model's own. Of a tree the first branch is read again.
The second reading's inputs are dropped before anything is kept. The paper's prompt is not known; this one is ours.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from hsd_core.core.level import Work
from hsd_core.core.notes import noted
from hsd_core.core.tree import NOTHING, Tree, named
from hsd_core.levels.model_level import ModelLevel
from hsd_core.levels.readout import Lens, TrunkRun
from hsd_core.levels.shared import SharedState
from hsd_core.levels.trunk import Trunk
from hsd_core.models.context import Context
from hsd_core.models.sampling import softmax
from hsd_core.systems.reflect.notes import Reread

WIDEST = 64  # tokens of a branch that are read again


class ReflectedRun(TrunkRun):
    """The target's state in a run. share: the second reading's, a. request: ids of the request to reflect."""

    def __init__(self, trunk: Trunk, share: float, request: tuple[int, ...], name: str) -> None:
        super().__init__(trunk, trunk.decoder.layers, Lens(trunk.decoder), name)
        self._share, self._request = share, request

    @torch.inference_mode()
    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        n = len(tree)
        branch = (tree.branches() or [[]])[0][:WIDEST]
        again = [*self._request, *(tree.ids[node] for node in branch[:-1])]
        most = min(self._trunk.room, self._trunk.decoder.max_positions)
        if not branch or not self._share or len(context) + n + len(again) > most:
            return super().score(context, tree)
        parents = (*tree.lineage, branch[-1], *range(n, n + len(again) - 1))
        both = replace(named([*tree.ids, *again]), parents=None if tree.is_chain else parents)
        rows, work = super().score(context, both)
        if tree.is_chain:  # of a tree the driver keeps the path, which drops them too
            self.keep(len(context), range(n))
        places = [tree.lineage[node] + 1 for node in branch]
        seconds = [n + len(self._request) + depth for depth in range(len(branch))]
        first, second = softmax(rows[places]), softmax(rows[seconds])
        mixed = rows[: n + 1].clone()
        mixed[places] = ((1.0 - self._share) * first + self._share * second).log().to(mixed.dtype)
        ids = torch.tensor([tree.ids[node] for node in branch], device=rows.device)[:, None]
        of = [[float(f"{x:.3g}") for x in row.gather(1, ids)[:, 0].tolist()] for row in (first, second)]
        note = Reread(len(again), tuple(branch), *map(tuple, of))
        notes = {**work.notes, **noted(note)}
        return mixed, replace(work, catch_up=work.catch_up + len(again), notes=notes)


class ReflectedLevel(ModelLevel):
    """A target that reads every draft twice."""

    def __init__(self, target: ModelLevel, share: float, request: tuple[int, ...]) -> None:
        about = target.about
        super().__init__(
            target.decoder,
            name=target.name,
            kind=about.kind,
            label=about.label,
            feeds=target.feeds,
            weights=about.weights,
        )
        self.share, self.request = share, request
        self.about.params["reflect"] = share

    def enter(self, shared: SharedState) -> Trunk:
        shared.branches += len(self.request) + 2 * WIDEST  # slots of a draft and its second reading
        trunk = super().enter(shared)
        assert isinstance(trunk, Trunk), "a target that reflects runs layer by layer"
        return trunk

    def open(self, capacity: int, shared: SharedState) -> ReflectedRun:
        return ReflectedRun(self.enter(shared), self.share, self.request, self.name)
