"""The papers' schedules in closed form: tokens of a step, and where lock step pays.

With i.i.d. acceptance a, blocks of g tokens that what stands below gives in the time L, and verifications that take c,
a step of PEARL (Liu et al., arXiv 2408.11850) takes max(L, c). A step that begins with nothing undecided judges one
token; one that begins with g - 1 undecided tokens judges g:

    nothing undecided:  kept with a, then g - 1 are undecided       1 token either way
    g - 1 undecided:    all g kept with a^g, else back to nothing   (1 - a^g) / (1 - a) tokens

In the long run that is (1 - a^g) / ((1 - a) (1 + a - a^g)) tokens a step. For long blocks it tends to 1 / (1 - a^2),
where one level after another keeps 1 / (1 - a): where a draft costs little, overlapping loses. Two lanes never gain
more than (L + c) / max(L, c) over the same passes one after another, so never more than 2.

Costs are in passes of the target here: a drafted token costs `share` of one. `theory.overlap.verdicts` walks the same
schedule over measured costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

LONGEST = 40  # blocks that are tried: beyond it neither way gains anything at the shares and acceptances of a picture
SHARES = tuple(round(0.02 * n, 2) for n in range(1, 51))  # of a pass of the target, that a drafted token costs
AGREEMENTS = tuple(round(0.3 + 0.025 * n, 3) for n in range(28))  # shares of the tokens that the target accepts
SAME = 0.005  # closer than half a percent, two are called equal
_FINER = tuple(round(0.005 * n, 3) for n in range(1, 201))


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


@lru_cache(maxsize=1)
def gains() -> tuple[tuple[float, ...], ...]:
    """How many times as fast as the better of plain decoding and one level after another: a row for each of
    `AGREEMENTS`, in it one for each of `SHARES`."""
    return tuple(tuple(round(best_blocks(share, a).gain, 4) for share in SHARES) for a in AGREEMENTS)


def pays_between(a: float) -> tuple[float, float] | None:
    """The least and the largest share at which overlapping pays at an agreement, to half a percent; None: at none."""
    paying = [share for share in _FINER if best_blocks(share, a).gain > 1.0 + SAME]
    return (paying[0], paying[-1]) if paying else None


def card_tokens_per_step(a: float, hit: float, layers: float) -> float:
    """CARD: tokens that a step commits, in the long run.

    The target's own word every time; where the grown tree goes on from that (`hit`), those of its `layers` further
    tokens that are kept, too: 1 + h a (1 - a^m) / (1 - a).
    """
    return 1.0 + hit * (layers if a >= 1.0 else a * (1.0 - a**layers) / (1.0 - a))


def duo_tokens_per_step(a: float, hit: float, block: float) -> float:
    """DuoDecoding: tokens that a step commits, with `block` tokens in each of the sequences that differ in their first.

    PEARL's two states. A step is whole with A = a^(g-1) h: the block's rest kept, and one of the first tokens that were
    drafted meanwhile is the target's own.
    """
    whole: float = a ** (block - 1.0) * hit
    kept: float = block if a >= 1.0 else (1.0 - a**block) / (1.0 - a)
    return ((1.0 - whole) + hit * kept) / (1.0 - whole + hit)
