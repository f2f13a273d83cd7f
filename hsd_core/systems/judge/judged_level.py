"""A target with a judge: a linear head on its last states that says whether a drafted token is wrong or only different
(Judge decoding, arXiv 2501.19309).

The head reads the state after the token was read, which is the one that predicts the next token. Its opinion, a logit,
goes to the rule with the row of that state: a softmax ignores a constant, so every row is shifted until the logarithm
of its summed exponentials is the opinion. The row after the context has no drafted token; it says that there is a head.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from hsd_core.core.choices import Judge
from hsd_core.core.level import Work
from hsd_core.core.notes import noted
from hsd_core.core.rules import Verdict, rows_of
from hsd_core.core.tree import NOTHING, Offer, Tree
from hsd_core.levels.model_level import ModelLevel
from hsd_core.levels.readout import Lens, TrunkRun
from hsd_core.levels.shared import SharedState
from hsd_core.levels.sparing import sparing
from hsd_core.levels.trunk import Trunk
from hsd_core.models.context import Context
from hsd_core.models.sampling import Distributions
from hsd_core.systems.judge.head_file import JudgeHead
from hsd_core.systems.judge.notes import Opinions

MARK = 0.125  # the shift of the row after the context
CLOSE = 1e-3
SUREST = 16.0  # opinions are cut here: a larger shift would cost digits of the row


def judged(
    tree: Tree,
    p: Distributions,
    judge: Judge,
    bonus: bool,
    *,
    delta: float = 0.5,
    scores: Tensor | None = None,
) -> Verdict:
    """Also keep a token that the head calls good with a probability above delta; with delta = 1 it is `tokenwise`.

    So it is for a token whose state was not computed (the last one without a bonus), and without a head. Arguments as
    in `tokenwise`.

    Args:
        scores: the verifier's logits, shifted by the head's opinions.
    """
    opinions = [] if scores is None else scores.logsumexp(-1).tolist()
    there = bool(opinions) and abs(opinions[0] - MARK) < CLOSE
    places = rows_of(tree, bonus)

    def good(place: int, offer: Offer) -> bool:
        at = places.get(offer.node)
        return there and at is not None and float(torch.sigmoid(torch.tensor(opinions[at]))) > delta

    return sparing(tree, p, judge, bonus, good)


class JudgedRun(TrunkRun):
    """The target's state in a run; its rows carry the head's opinions."""

    def __init__(self, trunk: Trunk, head: JudgeHead, name: str) -> None:
        super().__init__(trunk, trunk.decoder.layers, Lens(trunk.decoder), name)
        self._head = head

    @torch.inference_mode()
    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        logits, work = super().score(context, tree)
        if not len(tree):
            return logits, work
        start = len(context)
        states = self._trunk.hidden(self._depth, start, start + len(tree))
        opinions = self._head.opinions(states).clamp(-SUREST, SUREST).to(logits.dtype)
        shifts = torch.cat((opinions.new_tensor([MARK]), opinions))
        note = Opinions(tuple(float(f"{x:.3g}") for x in opinions.sigmoid().tolist()))
        return logits.log_softmax(-1) + shifts[:, None], replace(work, notes={**work.notes, **noted(note)})


class JudgedLevel(ModelLevel):
    """A target and the head that was trained for it."""

    def __init__(self, target: ModelLevel, head: JudgeHead) -> None:
        about = target.about
        super().__init__(
            target.decoder,
            name=target.name,
            kind=about.kind,
            label=about.label,
            feeds=target.feeds,
            weights=about.weights,
        )
        self.head = head
        self.about.params["judge"] = head.name

    def open(self, capacity: int, shared: SharedState) -> JudgedRun:
        trunk = self.enter(shared)
        assert isinstance(trunk, Trunk), "a target with a judge runs layer by layer"
        return JudgedRun(trunk, self.head, self.name)
