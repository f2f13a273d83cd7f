"""How far the engine's distribution is from the target's over trees of tables, however they are drafted: for
tests/exactness."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from enumerator import distance, merged_distribution, target_distribution

EXACT, CLOSE, WRONG = 1e-12, 1e-5, 1e-3
ABOVE = (  # a tree's drafter
    "table",
    "table@bonus=0",
    "table:2,table@rule=block",
    "table:2@bonus=0,table",
    "table:3@policy=flush,table:2@rule=block,table",
)


def off_from(made: Callable[..., Any]) -> Callable[..., float]:
    """The distance as a function of a stack's text; `made`: (text, vocabulary, seed, zeros=) -> the stack."""

    def off(text: str, *, tokens: int = 3, vocab: int = 3, seed: int = 1, zeros: float = 0.0, **options: Any) -> float:
        stack = made(text, vocab, seed, zeros=zeros)
        return distance(
            merged_distribution(stack, [0], tokens, **options), target_distribution(stack, [0], tokens, **options)
        )

    return off
