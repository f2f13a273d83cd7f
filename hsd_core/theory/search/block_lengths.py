"""The best block lengths of one set of levels, all of a few tried, priced by the exact recursion."""

from __future__ import annotations

from itertools import product

from hsd_core.theory.latency.plans import StackPlan
from hsd_core.theory.latency.recursion import Pricer
from hsd_core.theory.profiles.profile import Profile

# Block lengths that are tried, of a drafter below another one and of the level right below the target.
DRAFTED, HELD = (1, 2, 3, 4, 6, 8), (1, 2, 3, 4, 5, 6, 8, 10, 12, 16)


def best_plan(profile: Profile, levels: tuple[int, ...]) -> tuple[float, tuple[int, ...]]:
    """The speed-up over plain decoding of the best plan through these levels, and its block lengths; see `DRAFTED`."""
    blocks = [DRAFTED, *[HELD] * (len(levels) - 2)] if len(levels) > 2 else [HELD]
    plans = [StackPlan(levels, chosen) for chosen in product(*blocks)]
    prices = Pricer(profile, catch_up=True).price_all(plans)
    best = max(range(len(plans)), key=lambda k: prices[k].speedup)
    return prices[best].speedup, plans[best].blocks
