"""How often a verifier accepts the tokens of the level below: i.i.d., one number a_ij for every token.

(Leviathan et al. 2023; the formulas of HSD assume it.) Of several tokens side by side one is accepted more often: a_ij
by their number.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from hsd_core.theory.profiles.costs import Array
from hsd_core.theory.profiles.profile import TOKENWISE, Profile, ProfileLevel


def accepts(
    profile: Profile, below: int, level: int, n: int, *, rule: str = TOKENWISE, widths: tuple[int, ...] = ()
) -> Array:
    """Of n tokens of `below`: P(`level` accepts each of them, given that it accepted those before it), (n,).

    Args:
        widths: of a tree: how many tokens lie side by side, by depth. A position is then a fork, and accepted if one of
            its tokens is; beyond the tree that of its last fork stands.
    Raises:
        ProfileError: the profile knows nothing of that rule.
    """
    if max(widths, default=1) == 1:
        return np.full(n, profile.accepts(below, level, rule))
    forks = [profile.by_width[below, level][k - 1] for k in widths]
    return np.array([*forks, *[forks[-1]] * (n - len(forks))])


def rows_of(drafter: ProfileLevel, block: int, bonus: bool) -> Array:
    """Rows of the verification of what a level hands up, if it is 0, 1, ..., `block` tokens deep: (block + 1,).

    They are means where it offers several tokens side by side. Without a bonus the last ones would decide nothing.
    """
    offered = drafter.offered(block)
    return 1.0 + (offered if bonus else np.append(0.0, offered[:-1]))


@lru_cache(maxsize=1024)  # the planner and its figures ask for the same few again and again
def lookup_lengths(hit_rate: float, reach: tuple[float, ...], block: int) -> Array:
    """P(a lookup asked for `block` tokens gives n of them), n = 0, ..., block. Read-only."""
    head = reach[:block] or (1.0,)
    at_least = np.array([1.0, *(hit_rate * p for p in head), *[hit_rate * head[-1]] * (block - len(head))])
    dist: Array = at_least - np.append(at_least[1:], 0.0)
    dist.flags.writeable = False
    return dist
