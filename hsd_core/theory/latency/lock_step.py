"""The expected latency of levels that work at the same time: PEARL's lock step over one edge (arXiv 2408.11850).

With i.i.d. acceptance a, blocks of g tokens that what stands below gives in the time L, and verifications that take c,
a step takes max(L, c). One from nothing undecided judges one token; one with g - 1 undecided ones judges g:

    nothing undecided:  kept with a, then g - 1 are undecided       1 token either way
    g - 1 undecided:    all g kept with a^g, else back to nothing   (1 - a^g) / (1 - a) tokens

In the long run that is (1 - a^g) / ((1 - a) (1 + a - a^g)) tokens a step. For long blocks it tends to 1 / (1 - a^2),
where one level after another keeps 1 / (1 - a): where a draft costs little, overlapping loses.

With several first tokens ready (DuoDecoding, arXiv 2503.00784) the token at the boundary is found among them with h,
not a. With a tree that is rooted anew (CARD, arXiv 2508.04462) the target's own token is found in it with h, and then
what was grown behind it is judged next. Both take the places as independent.
"""

from __future__ import annotations

from dataclasses import replace

from hsd_core.theory.latency.plans import StackPlan
from hsd_core.theory.latency.recursion import expected
from hsd_core.theory.profiles.costs import ProfileError
from hsd_core.theory.profiles.profile import Profile


def tokens_per_step(a: float, block: float) -> float:
    """Tokens that a step commits, in the long run. a: acceptance of a token, below 1 or 1. block: g, at least 1."""
    if a >= 1.0:
        return block
    whole: float = a**block
    return (1.0 - whole) / ((1.0 - a) * (1.0 + a - whole))


def duo_tokens_per_step(a: float, hit: float, block: float) -> float:
    """Tokens that a step commits in the long run, where sequences of `block` tokens begin with different ones.

    Args:
        a: acceptance of a token inside a sequence. hit: chance that the target goes on as one of them begins; with
            hit = a it is `tokens_per_step`.
    """
    if a >= 1.0 and hit >= 1.0:
        return block
    whole = a ** (block - 1.0) * hit
    tokens = block if a >= 1.0 else (1.0 - a**block) / (1.0 - a)
    found: float = (1.0 - whole + hit * tokens) / (1.0 - whole + hit)
    return found


def card_tokens_per_step(a: float, hit: float, layers: float) -> float:
    """Tokens that a step commits in the long run, where the tree grows by `layers` in it.

    Args:
        a: acceptance of a token of the best path. hit: chance that the tree has the target's own token at a place.
    """
    return 1.0 + hit * (layers if a >= 1.0 else a * (1.0 - a**layers) / (1.0 - a))


def expected_in_lock_step(profile: Profile, plan: StackPlan) -> float:
    """ms per token of a plan whose target verifies while the levels below it draft on.

    What a stack below hands up is taken at its mean length.

    Raises:
        ProfileError: the plan does not fit the profile, has one level, or drafts a tree.
    """
    if len(plan.levels) < 2 or plan.widths:
        raise ProfileError("levels overlap where one drafts chains for the target; add a level, or leave its tree out")
    *below, top = expected(profile, plan).levels
    block = sum(n * share for n, share in enumerate(below[-1].block_lengths))
    verify = profile.verify_cost(plan.levels[-2], top.level)(round(block))
    a = profile.accepts(plan.levels[-2], top.level, plan.rule_of(len(plan.levels) - 1))
    return max(sum(level.ms_per_round for level in below), verify) / tokens_per_step(a, block)


def overlapping_pays(profile: Profile, plan: StackPlan) -> bool:
    """Whether a plan in lock step is quicker than these levels one after another, with whatever block at the top, and
    than the target alone."""
    blocks = range(1, profile.max_block + 1)
    after = [expected(profile, replace(plan, blocks=(*plan.blocks[:-1], block))) for block in blocks]
    alone = after[0].ms_per_token * after[0].speedup
    return expected_in_lock_step(profile, plan) < min(alone, *(one.ms_per_token for one in after))
