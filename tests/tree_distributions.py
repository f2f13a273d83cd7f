"""How far the engine's distribution is from the target's over trees of tables, however they are drafted: for
tests/exactness."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from enumerator import SAMPLED, distance, merged_distribution, run_distribution, target_distribution
from lean_stacks import drafted_stacks, model_distribution
from toys import output_of

import hsd_core
from hsd_core.models.sampling import Sampling
from hsd_core.trace.checks import check

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


def off_lean(text: str, tokens: int, vocab: int, prompt: Sequence[int] = (1, 0)) -> float:
    """The same over tiny models that share states."""
    made = drafted_stacks(vocab)
    found = run_distribution(made.stack(text), prompt, tokens)
    return distance(found, model_distribution(made.target, prompt, tokens))


def greedy_as_alone(text: str, ends: frozenset[int]) -> list[Any]:
    """The events of a greedy run, whose text is the target's own; its trace and that of a sampled run are true."""
    made, prompt = drafted_stacks(13), [5, 6, 7, 8, 5, 6, 9, 5, 6, 7, 5, 6, 9, 11, 5, 6]

    def ran(which: str, sampling: Sampling, seed: int) -> list[Any]:
        return list(hsd_core.run(made.stack(which), prompt, sampling, seed, max_new_tokens=24, ends=ends))

    events = ran(text, Sampling(), 3)
    assert check(events) == [] and output_of(events) == output_of(ran("target", Sampling(), 3))
    assert check(ran(text, SAMPLED, 1)) == []
    return events
