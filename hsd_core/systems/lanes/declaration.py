"""Schedules in which a verifier and the levels below it work at the same time: what each starts, and when.

PEARL (Liu et al., arXiv 2408.11850) drafts the next tokens while the previous ones are verified, in lock step.

    PRE   nothing is undecided: the verifier computes the row behind the text while tokens are drafted, and judges the
          first of them with it (pre-verify)
    POST  tokens are undecided: the verifier judges them, and with its last row the first of the tokens that are drafted
          meanwhile (post-verify)

The lanes meet at the end of each step. After a rejection everything behind it is dropped, and the next step is PRE.
There is no bonus token: the row that would give one judges the next drafted token.

DuoDecoding (Lv et al., arXiv 2503.00784) is PEARL with several drafts. PEARL's next draft has one first token, and if
that is rejected the whole draft is lost; DuoDecoding continues each of the drafter's likeliest first tokens, and keeps
the sequence whose first token the verifier chooses. A first token begins a sequence if it is likelier than the
drafter's first two tokens together; drafting takes as long as verifying does, by this run's own clock. In the paper the
sequences are drafted one after another, so a budget of tokens is divided among them; here they share the drafter's
passes.

Free lanes never wait: AMUSD (arXiv 2410.17375) at the last level; PipeSpec (2505.01572) at every verifier, a pipeline
with a lane for each. Costs need not match, as the more expensive lane is never idle. The number of tokens judged at
once follows from timing, perhaps from token values; rules that judge token by token are not affected.

CARD (arXiv 2508.04462) has the drafter grow a tree that serves as a cache: the verifier reads the best path through it,
and all candidates next to that path. If the verifier's token is among the tree's candidates for its place, the tree is
re-rooted there and what was grown behind it stays; otherwise it starts again. The lanes meet at each step.
"""

from __future__ import annotations

from dataclasses import dataclass

from hsd_core.grammar.key import VERIFIER, Whole
from hsd_core.grammar.keys import MAX_BLOCK, MAX_NODES, WIDTH
from hsd_core.grammar.strategies import Orders, SchedulerKind, Submission, View

AHEAD = Whole(name="ahead", place=32, counts=VERIFIER, usual=0, low=0, high=MAX_BLOCK, noted="{} ahead")
LEAST = Whole(name="least", place=33, counts=VERIFIER, usual=1, low=1, high=MAX_BLOCK, noted="at least {}")


@dataclass(slots=True)
class Pearl:
    """ahead: tokens drafted in a step; 0: one block of the drafter."""

    ahead: int

    def ended(self, view: View) -> Orders:
        if view.drafting:
            return Orders()
        if view.verifying:
            return Orders(0 if view.silent else max(0, min(view.room, self.ahead - view.drafted)))
        draft = 0 if view.silent else min(view.room, self.ahead) if self.ahead else view.room
        return Orders(draft, Submission(view.undecided, next=view.room > 0))


@dataclass(slots=True)
class Free:
    """ahead: drafted tokens that may wait for the verifier; 0: two blocks of the drafter. least: tokens that must wait
    before it starts; it starts with fewer only if no more can come."""

    ahead: int
    least: int

    def ended(self, view: View) -> Orders:
        alone = view.verifying and not view.submitted and not view.between  # it samples a token without drafts
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


@dataclass(frozen=True, slots=True)
class Duo:
    """width: the most sequences drafted in a step, each of one block at most."""

    width: int

    def ended(self, view: View) -> Orders:
        draft = max(0, min(view.room, view.block))
        return Orders(draft, Submission(view.undecided, next=draft > 0))


@dataclass(frozen=True, slots=True)
class Card:
    """ahead: how deep the tree may grow; 0: two blocks of the drafter. width: candidates behind a token, and tokens of
    a layer that are expanded."""

    ahead: int
    width: int

    def ended(self, view: View) -> Orders:
        deep = self.ahead or 2 * view.block
        draft = max(0, min(view.room, view.block, deep - view.undecided))
        return Orders(draft, Submission(view.undecided, next=draft > 0))


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
    SchedulerKind(
        name="duo",
        order=22,
        words="duo · as pearl, with several first tokens kept ready",
        in_names="several beginnings kept ready",
        keys=(
            WIDTH.usually(
                8, "how many sequences are drafted meanwhile, at most; the probabilities of the draft say how many"
            ),
        ),
        make=Duo,
        driver="fanned",
        nodes=lambda block, width: block * width,
    ),
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
# The drivers that carry out a scheduler's orders, by name; "pipeline": for stacks in which several levels have lanes.
DRIVERS = {
    "overlapped": "hsd_core.systems.lanes.overlapped:Overlapped",
    "fanned": "hsd_core.systems.lanes.lock_step:DuoDriver",
    "regrown": "hsd_core.systems.lanes.card_driver:CardDriver",
    "pipeline": "hsd_core.systems.lanes.pipeline_driver:Pipeline",
}
