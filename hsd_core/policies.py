"""Stop policies: when a level stops drafting or accumulating and hands its block up.

A policy is asked *before* the next token is drawn, and sees only what lies behind: how many tokens are
held, how sure their rows were, whether the last verification ended in a correction. Looking at the next
token itself would make the stack inexact (design rule 2; total variation 0.05 and more on toy models).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Held:
    """What a level holds when its policy is asked.

    length: tokens held. block: its T. corrected: the last verification ended in a correction.
    confidence: raw (temperature 1) top probabilities of the rows of the tokens added last.
    """

    length: int
    block: int
    corrected: bool
    confidence: Sequence[float | None]


Policy = Callable[[Held, float], bool]


def fixed(held: Held, theta: float) -> bool:
    """Stop at T tokens. What one verification yields beyond T is handed up as well."""
    return held.length >= held.block


def flush(held: Held, theta: float) -> bool:
    """Stop at T tokens or at the first correction: what follows a correction is less likely to survive."""
    return held.length >= held.block or held.corrected


def confidence(held: Held, theta: float) -> bool:
    """Stop at T tokens or after a token whose row's raw top probability was below theta; the token is kept.

    Kangaroo (arXiv 2404.18911).
    """
    return held.length >= held.block or any(c is not None and c < theta for c in held.confidence)


POLICIES: Mapping[str, Policy] = MappingProxyType({"fixed": fixed, "flush": flush, "confidence": confidence})
DEFAULT_THETA = 0.6
