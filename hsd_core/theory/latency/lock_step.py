"""The expected latency of levels that work at the same time: PEARL's lock step over one edge (arXiv 2408.11850).

With i.i.d. acceptance a, blocks of g tokens that what stands below gives in the time L, and verifications that take c,
a step takes max(L, c). One from nothing undecided judges one token; one with g - 1 undecided ones judges g:

    nothing undecided:  kept with a, then g - 1 are undecided       1 token either way
    g - 1 undecided:    all g kept with a^g, else back to nothing   (1 - a^g) / (1 - a) tokens

In the long run that is (1 - a^g) / ((1 - a) (1 + a - a^g)) tokens a step. For long blocks it tends to 1 / (1 - a^2),
where one level after another keeps 1 / (1 - a): where a draft costs little, overlapping loses.
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
