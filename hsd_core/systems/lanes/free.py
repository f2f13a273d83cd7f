"""Free-running lanes: a drafter never waits for a verdict, a verifier takes what lies there.

AMUSD (arXiv 2410.17375) at the last level, PipeSpec (2505.01572) at every verifier: a pipeline of as many lanes.
Without lock step costs need not match: the dearer lane is never idle. How many tokens are judged at once follows from
the time that things take, perhaps from the values of tokens; a rule that judges token by token does not mind.
"""

from __future__ import annotations

from dataclasses import dataclass

from hsd_core.grammar.strategies import Orders, SchedulerKind, Submission, View
from hsd_core.systems.lanes.reach import AHEAD, LEAST


@dataclass(slots=True)
class Free:
    """ahead: tokens that may lie there which the verifier was not given; 0: two blocks of the drafter. least: how
    many must lie there before it starts, fewer only where no more can come."""

    ahead: int
    least: int

    def ended(self, view: View) -> Orders:
        alone = view.verifying and not view.submitted and not view.between  # it writes a token of its own
        ahead = max(self.least, self.ahead or 2 * view.block)
        begins = not view.verifying and view.undecided >= self.least
        waiting = 0 if begins else view.undecided - view.submitted
        draft = 0
        if not (view.drafting or view.silent or alone):
            draft = max(0, min(view.room, ahead - waiting))
        if view.verifying:
            return Orders(draft)
        more = view.drafting or draft > 0
        return Orders(draft, Submission(view.undecided) if begins or not more else None)


SCHEDULERS = (
    SchedulerKind(
        name="ahead",
        order=30,
        words="ahead · draft on and on; verify whatever lies there",
        in_names="drafting ahead",
        keys=(
            AHEAD.usually(0, "how many tokens may wait for the verifier; 0: two blocks of the level below"),
            LEAST.usually(1, "how many drafted tokens must wait before the verifier starts"),
        ),
        make=Free,
        by_count=False,
        inner=True,
    ),
)
