"""PEARL (Liu et al., arXiv 2408.11850): draft the next tokens while the ones before are verified, in lock step.

    PRE   nothing is undecided: the verifier computes the row behind the text while tokens are drafted, and judges the
          first of them with it (pre-verify)
    POST  tokens are undecided: the verifier judges them, and with its last row the first of those that are drafted
          meanwhile (post-verify)

The lanes meet at the end of each step. After a rejection everything behind it is dropped, and the next step is PRE.
There is never a bonus: the row that would give one judges the next token.
"""

from __future__ import annotations

from dataclasses import dataclass

from hsd_core.grammar.strategies import Orders, SchedulerKind, Submission, View
from hsd_core.systems.lanes.reach import AHEAD


@dataclass(slots=True)
class Pearl:
    """ahead: tokens drafted in a step; 0: one block of the drafter, T and what it hands up beyond."""

    ahead: int

    def ended(self, view: View) -> Orders:
        if view.drafting:
            return Orders()
        if view.verifying:
            return Orders(0 if view.silent else max(0, min(view.room, self.ahead - view.drafted)))
        draft = 0 if view.silent else min(view.room, self.ahead) if self.ahead else view.room
        return Orders(draft, Submission(view.undecided, next=view.room > 0))


SCHEDULERS = (
    SchedulerKind(
        name="pearl",
        order=20,
        words="pearl · draft the next block while this one is verified, in lock step",
        in_names="drafting on meanwhile",
        keys=(
            AHEAD.usually(0, "how many tokens are drafted during one verification; 0: one block of the level below"),
        ),
        make=Pearl,
    ),
)
