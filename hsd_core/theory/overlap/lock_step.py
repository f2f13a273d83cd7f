"""PEARL's lock step in closed form (Liu et al., arXiv 2408.11850), and where it pays.

With i.i.d. acceptance a, blocks of g tokens that what stands below gives in the time L, and verifications that take c,
a step takes max(L, c). One from nothing undecided judges one token; one with g - 1 undecided ones judges g:

    nothing undecided:  kept with a, then g - 1 are undecided       1 token either way
    g - 1 undecided:    all g kept with a^g, else back to nothing   (1 - a^g) / (1 - a) tokens

In the long run that is (1 - a^g) / ((1 - a) (1 + a - a^g)) tokens a step. For long blocks it tends to 1 / (1 - a^2),
where one level after another keeps 1 / (1 - a): where a draft costs little, overlapping loses.

Costs are in passes of the target here: a drafted token costs `share` of one. `verdicts` walks the same schedule over
measured costs.
"""

from __future__ import annotations

from dataclasses import dataclass

LONGEST = 40  # blocks that are tried: beyond it neither way gains anything at the shares and acceptances of a picture


def tokens_per_step(a: float, block: float) -> float:
    """Tokens that a step in lock step commits, in the long run. a: acceptance of a token, 0 to 1. block: g, from 1."""
    if a >= 1.0:
        return block
    whole: float = a**block
    return (1.0 - whole) / ((1.0 - a) * (1.0 + a - whole))


def tokens_per_pass(a: float, block: int) -> float:
    """Tokens of a verification that waits for its draft: 1 + a + ... + a^g (Leviathan et al. 2023, equation 1)."""
    return block + 1.0 if a >= 1.0 else (1.0 - a ** (block + 1)) / (1.0 - a)


@dataclass(frozen=True, slots=True)
class BestBlocks:
    """At one share and acceptance: passes of the target a token takes, and the block that takes fewest of them.

    `apart`: one level after another, or the target alone (block 0), whatever is quicker. `together`: in lock step.
    """

    apart: float
    apart_block: int
    together: float
    together_block: int

    @property
    def gain(self) -> float:
        """How many times as fast as the better of the two: above 1 overlapping pays."""
        return self.apart / self.together


def best_blocks(share: float, a: float, longest: int = LONGEST) -> BestBlocks:
    """The best of either way, with a drafted token at `share` of a pass of the target, accepted with `a`."""
    apart = {0: 1.0} | {g: (g * share + 1.0) / tokens_per_pass(a, g) for g in range(1, longest + 1)}
    together = {g: max(g * share, 1.0) / tokens_per_step(a, g) for g in range(1, longest + 1)}
    one, other = min(apart, key=apart.__getitem__), min(together, key=together.__getitem__)
    return BestBlocks(apart[one], one, together[other], other)
