"""A stop policy with two parameters and a rule with one, which the package does not have: all that there is of them
stands in this file."""

from __future__ import annotations

from dataclasses import dataclass, field

from hsd_core.core.policies import Confidence, DraftState
from hsd_core.grammar.key import DRAFTER, VERIFIER, Share, Whole
from hsd_core.grammar.keys import THETA
from hsd_core.grammar.strategies import PolicyKind, RuleKind


@dataclass(slots=True)
class Patient(Confidence):
    """Stop at T tokens or when `patience` tokens of the block were unsure."""

    patience: int
    unsure: list[float] = field(default_factory=list)

    def stops(self, state: DraftState) -> bool:
        if not state.length:
            self.unsure.clear()
        self.unsure += [sure for sure in state.sure if sure < self.theta]
        return state.length >= state.block or len(self.unsure) >= self.patience


def near(
    tree, p, judge, bonus, *, slack
):  # keep what is at least `slack` times as likely as the likeliest; chains only
    from hsd_core.core.rules import Verdict

    chances, n = tuple(float(p[t][x] >= slack * p[t].max()) for t, x in enumerate(tree.ids)), len(tree)
    kept = next((t for t, chance in enumerate(chances) if not chance), n)
    token = judge.draw(p[kept], kept) if kept < n or bonus or not n else None
    return Verdict(tuple(range(kept)), token, chances, (None,) * n, p[kept] if kept < n else None)


POLICIES = (
    PolicyKind(
        name="patient",
        order=50,
        words="patient · stop when unsure more than once",
        make=Patient,
        keys=(
            THETA.usually(0.5, "below which a token is unsure"),
            Whole(
                name="patience", place=21, counts=DRAFTER, low=1, high=9, usual=2, tip="how many unsure tokens it takes"
            ),
        ),
    ),
)
RULES = (
    RuleKind(
        name="near",
        order=50,
        words="near · keep what is nearly as likely as the first choice",
        function=f"{__name__}:near",
        lossless=False,
        trees=False,
        keys=(Share(name="slack", place=41, counts=VERIFIER, usual=0.5, tip="how near it has to be"),),
        strays=lambda slack: "" if slack == 1 else f"commits what is {slack:g} times as likely as its first choice",
    ),
)
