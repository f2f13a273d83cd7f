"""CARD (arXiv 2508.04462): the drafter never stops growing a tree, and the verifier's word decides where it goes on.

In each step the verifier looks at the best path through the tree as it stood, while the drafter adds layers to it.
Where the verifier's own token is among those that the tree has for its place, the tree is rooted anew there and what
was grown behind it stays; else it begins anew. The tree is a cache: one path of it is verified in a pass, with all
candidates beside that path. The lanes meet at the end of each step.
"""

from __future__ import annotations

from dataclasses import dataclass

from hsd_core.grammar.keys import MAX_NODES, WIDTH
from hsd_core.grammar.strategies import Orders, SchedulerKind, Submission, View
from hsd_core.systems.lanes.reach import AHEAD


@dataclass(frozen=True, slots=True)
class Card:
    """ahead: how deep the tree may grow; 0: two blocks of the drafter. width: candidates behind a token, and tokens of
    a layer that are gone on from."""

    ahead: int
    width: int

    def ended(self, view: View) -> Orders:
        deep = self.ahead or 2 * view.block
        draft = max(0, min(view.room, view.block, deep - view.undecided))
        return Orders(draft, Submission(view.undecided, next=draft > 0))


SCHEDULERS = (
    SchedulerKind(
        name="card",
        order=40,
        words="card · a tree that keeps growing; the verified token decides where it goes on",
        in_names="growing a tree meanwhile",
        keys=(
            AHEAD.usually(0, "how many tokens deep the tree may grow; 0: two blocks of the level below"),
            WIDTH.usually(4, "how many candidates the tree has behind a token, and how many of a layer are continued"),
        ),
        make=Card,
        driver="regrown",
        nodes=lambda block, width, ahead: min(MAX_NODES, width * (ahead or 2 * block)),
    ),
)
