"""What several beginnings save: a rejection need not cost a step where one of those that lie ready goes on with the
target's own word. CARD (arXiv 2508.04462) and DuoDecoding (arXiv 2503.00784) in closed form.

a: acceptance of a drafted token, given that those before it were. hit: the chance that the target's own word is among
those that are ready. Both independent from token to token, in lock step.
"""

from __future__ import annotations


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
