"""DuoDecoding (Lv et al., arXiv 2503.00784): PEARL with several drafts that differ in their first token.

The first token of what is drafted meanwhile is judged with the verifier's last row. PEARL has one for it, and where
that one is rejected a step was drafted in vain; here each of the drafter's likeliest first tokens is gone on from, and
the sequence that begins as the verifier goes on is kept. The lanes meet at the end of each step.
"""

from __future__ import annotations

from dataclasses import dataclass

from hsd_core.grammar.keys import WIDTH
from hsd_core.grammar.strategies import Orders, SchedulerKind, Submission, View


@dataclass(frozen=True, slots=True)
class Duo:
    """width: how many sequences are drafted in a step, each of one block."""

    width: int

    def ended(self, view: View) -> Orders:
        draft = max(0, min(view.room, view.block))
        return Orders(draft, Submission(view.undecided, next=draft > 0))


SCHEDULERS = (
    SchedulerKind(
        name="duo",
        order=22,
        words="duo · as pearl, with several first tokens kept ready",
        in_names="several beginnings kept ready",
        keys=(WIDTH.usually(2, "how many sequences are drafted meanwhile, each beginning with another token"),),
        make=Duo,
        driver="fanned",
        nodes=lambda block, width: block * width,
    ),
)
