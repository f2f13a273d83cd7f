"""The papers' schedules in closed form: tokens per step, and when lock step pays.

With i.i.d. acceptance a, blocks of g tokens that take the levels below a time L, and verifications that take c, a step
of PEARL (Liu et al., arXiv 2408.11850) takes max(L, c). A step that begins with nothing undecided judges one token; one
that begins with g - 1 undecided tokens judges g:

    nothing undecided:  kept with a, then g - 1 are undecided       1 token either way
    g - 1 undecided:    all g kept with a^g, else back to nothing   (1 - a^g) / (1 - a) tokens

The long-run mean is (1 - a^g) / ((1 - a) (1 + a - a^g)) tokens per step. For long blocks it tends to 1 / (1 - a^2),
while levels that run one after another keep 1 / (1 - a): if a draft costs little, overlapping loses. Two lanes never
gain more than (L + c) / max(L, c) over the same passes one after another, so never more than 2.

Costs are in passes of the target: a drafted token costs `share` of one. `theory.overlap.verdicts` computes the same
schedule over measured costs.
"""

from __future__ import annotations

from functools import lru_cache

LONGEST = 40  # the longest block tried: longer ones gain nothing at the figure's shares and acceptances
SHARES = tuple(round(0.02 * n, 2) for n in range(1, 51))  # the cost of a drafted token, in passes of the target
AGREEMENTS = tuple(round(0.3 + 0.025 * n, 3) for n in range(28))  # the share of tokens that the target accepts
SAME = 0.005  # speeds within half a percent are called equal
_FINER = tuple(round(0.005 * n, 3) for n in range(1, 201))


def tokens_per_step(a: float, block: float) -> float:
    """Mean tokens that a step of lock step commits. a: acceptance of a token, 0 to 1. block: g, at least 1."""
    if a >= 1.0:
        return block
    whole: float = a**block
    return (1.0 - whole) / ((1.0 - a) * (1.0 + a - whole))


def tokens_per_pass(a: float, block: int) -> float:
    """Mean tokens of a verification after its draft: 1 + a + ... + a^g (Leviathan et al. 2023, equation 1)."""
    return block + 1.0 if a >= 1.0 else (1.0 - a ** (block + 1)) / (1.0 - a)


def gain(share: float, a: float, longest: int = LONGEST) -> float:
    """The speed of lock step over the better of plain decoding and one level after another, each with its best block.

    share: the cost of a drafted token in passes of the target. a: its acceptance.
    """
    blocks = range(1, longest + 1)
    apart = min(1.0, *((g * share + 1.0) / tokens_per_pass(a, g) for g in blocks))
    return apart / min(max(g * share, 1.0) / tokens_per_step(a, g) for g in blocks)


@lru_cache(maxsize=1)
def gains() -> tuple[tuple[float, ...], ...]:
    """`gain` at each of `AGREEMENTS` (rows) and `SHARES` (columns)."""
    return tuple(tuple(round(gain(share, a), 4) for share in SHARES) for a in AGREEMENTS)


def pays_between(a: float) -> tuple[float, float] | None:
    """The smallest and the largest share at which overlapping pays, in steps of half a percent; None if it never
    does."""
    paying = [share for share in _FINER if gain(share, a) > 1.0 + SAME]
    return (paying[0], paying[-1]) if paying else None


def card_tokens_per_step(a: float, hit: float, layers: float) -> float:
    """CARD: mean tokens that a step commits.

    One token of the target, and with probability h (`hit`) the grown tree goes on from that and some of its m
    (`layers`) further tokens are kept: 1 + h a (1 - a^m) / (1 - a).
    """
    return 1.0 + hit * (layers if a >= 1.0 else a * (1.0 - a**layers) / (1.0 - a))


def duo_tokens_per_step(a: float, hit: float, block: float) -> float:
    """DuoDecoding: mean tokens that a step commits, with sequences of `block` tokens that differ in their first.

    PEARL's two states. A step keeps everything with A = a^(g-1) h: the block's rest is kept, and one of the first
    tokens that were drafted meanwhile is the target's.
    """
    whole: float = a ** (block - 1.0) * hit
    kept: float = block if a >= 1.0 else (1.0 - a**block) / (1.0 - a)
    return ((1.0 - whole) + hit * kept) / (1.0 - whole + hit)
