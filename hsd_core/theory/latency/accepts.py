"""How often a verifier accepts the tokens of the level below, under the two models of acceptance.

`iid`: one number a_ij for every token (Leviathan et al. 2023; the formulas of HSD assume it). `marked`: a token is
accepted depending on how it came to be (kept by the level below, drawn from its residual, added as its bonus; of a
bottom drafter: on its position), because a drafter's likely tokens survive more often than corrections do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np

from hsd_core.theory.profiles.costs import Array, ProfileError
from hsd_core.theory.profiles.profile import TOKENWISE, Conditional, Profile, ProfileLevel

Model: TypeAlias = Literal["iid", "marked"]
MODELS: tuple[Model, ...] = ("iid", "marked")
ACCEPTED, RESIDUAL, BONUS = range(3)  # how a verifier's token came to be


@dataclass(frozen=True, slots=True)
class Accepts:
    """`by_mark`: acceptance of a token ACCEPTED, RESIDUAL or BONUS. `positions[m - 1]`: of a bottom drafter's m-th."""

    by_mark: tuple[float, float, float]
    positions: tuple[float, ...]

    def drafted(self, n: int) -> Array:
        """Acceptance of each of n drafted tokens, given that those before it were accepted: (n,)."""
        head = self.positions[:n]
        return np.array([*head, *[self.positions[-1]] * (n - len(head))], dtype=np.float64)


def accepts(
    profile: Profile,
    below: int,
    level: int,
    *,
    rule: str = TOKENWISE,
    model: Model = "iid",
    widths: tuple[int, ...] = (),
) -> Accepts:
    """How `level` accepts tokens of `below`. What was not measured apart is the pair's plain acceptance.

    Args:
        widths: of a tree: how many tokens lie side by side, by depth. A position is then a fork, and accepted if one of
            its tokens is.
    Raises:
        ProfileError: the profile knows nothing of that rule, or there is no such model.
    """
    if model not in MODELS:
        raise ProfileError(f"unknown model {model!r}; models are {', '.join(MODELS)}")
    a = profile.accepts(below, level, rule)
    # The conditional figures are those of rule tokenwise; another rule has its one number.
    if any(k > 1 for k in widths):
        fork = forks(profile, below, level, model=model)
        return Accepts((a, a, a), tuple(fork(depth, k) for depth, k in enumerate(widths)))
    apart = profile.conditional.get((below, level)) if model == "marked" and rule == TOKENWISE else None
    known = apart or Conditional()
    marks = tuple(a if value is None else value for value in (known.accepted, known.residual, known.bonus))
    return Accepts((marks[0], marks[1], marks[2]), known.by_position or (a,))


def forks(profile: Profile, below: int, level: int, *, model: Model = "iid") -> Callable[[int, int], float]:
    """(depth from 0, k) -> P(`level` accepts one of k tokens of `below`, given that it did so at the depths before)."""
    known = profile.conditional[below, level]
    by_depth = known.forks if model == "marked" and known.forks else (known.by_width,)
    return lambda depth, k: by_depth[min(depth, len(by_depth) - 1)][k - 1]


def rows_of(drafter: ProfileLevel, block: int, bonus: bool) -> Array:
    """Rows of the verification of what a level hands up, if it is 0, 1, ..., `block` tokens deep: (block + 1,).

    They are means where it offers several tokens side by side. Without a bonus the last ones would decide nothing.
    """
    offered = drafter.offered(block)
    return 1.0 + (offered if bonus else np.append(0.0, offered[:-1]))


@lru_cache(maxsize=1024)  # the planner and its figures ask for the same few again and again
def lookup_law(hit_rate: float, reach: tuple[float, ...], block: int) -> Array:
    """P(a lookup asked for `block` tokens gives n of them), n = 0, ..., block. Read-only."""
    head = reach[:block] or (1.0,)
    at_least = np.array([1.0, *(hit_rate * p for p in head), *[hit_rate * head[-1]] * (block - len(head))])
    law: Array = at_least - np.append(at_least[1:], 0.0)
    law.flags.writeable = False
    return law
