"""A stop policy: asked before a token is drawn, it sees the past alone."""

from dataclasses import dataclass

from hsd_core.core.policies import Fixed
from hsd_core.grammar.strategies import PolicyKind


@dataclass
class Heuristic(Fixed):
    most: int = 2  # tokens: two more after a block that was kept whole, one fewer after another

    def stops(self, state):
        return state.length >= min(self.most, state.block)

    def on_verified(self, handed_up, accepted, block):
        self.most = min(block, self.most + 2) if accepted == handed_up else max(1, self.most - 1)


POLICIES = (PolicyKind(name="heuristic", order=50, words="heuristic · follow the last block", make=Heuristic),)
