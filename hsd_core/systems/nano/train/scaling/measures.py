"""What a draft is judged by along a text that the target wrote greedily. Sums only: no model, no torch.

In rounds: each drafts up to `BLOCK` tokens; as long as one is the target's own it is accepted, the first that is not is
rejected and put right, and a round in which none was rejected ends with one more token of the target's. So rounds begin
where the last one failed, as in a run. Exact for greedy decoding, where an accepted draft is the text itself.

    acceptance        accepted over judged tokens, a probability
    tokens_per_pass   of the target, a count: what Scylla (arXiv 2505.07858) calls the acceptance rate
    agreement         at all positions: the draft's first choice is the target's
    overlap           at all positions: 1 - TV to the target's distribution at temperature 1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

BLOCK = 4  # tokens drafted a round
COUNTS = ("tokens", "agreed", "overlap", "accepted", "rejected", "passes")  # the columns of a text's row
# Each measure is a ratio of two sums of counts: acceptance and tokens a pass of rounds, the others of all positions.
MEASURES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = MappingProxyType(
    {
        "acceptance": (("accepted",), ("accepted", "rejected")),
        "tokens_per_pass": (("tokens",), ("passes",)),
        "agreement": (("agreed",), ("tokens",)),
        "overlap": (("overlap",), ("tokens",)),
    }
)
Row = tuple[int, int, float, int, int, int]


@dataclass(frozen=True, slots=True)
class Walk:
    """What the rounds along one text came to."""

    accepted: int = 0
    rejected: int = 0
    passes: int = 0


def walk(hits: Sequence[Sequence[bool]]) -> Walk:
    """Rounds along n tokens. hits[d][t]: whether the d-th token of a chain, if that is token t, is the target's."""
    n, block = len(hits[0]), len(hits)
    at = accepted = rejected = passes = 0
    while at < n:
        run = 0
        while run < block and at + run < n and hits[run][at + run]:
            run += 1
        passes, accepted = passes + 1, accepted + run
        rejected += run < block and at + run < n
        at += run + 1
    return Walk(accepted, rejected, passes)
