"""Levels with running states draft and verify, on chains and trees, and the output follows the target's distribution:
enumerated whole, with a target whose own state is a running sum, in float64."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from enumerator import SAMPLED, Distribution, distance, run_distribution
from lean_stacks import drafted_stacks, model_distribution
from test_shared_stacks_are_exact import EXACT as EXACT_OF_MODELS
from toys import LookupLevel, lookup, table
from tree_distributions import EXACT, WRONG

from hsd_core.core.level import StackEntry
from hsd_core.grammar.stack_text import parse
from hsd_core.models.sampling import to_probs
from hsd_core.systems.stree.scan import StateCache
from hsd_core.systems.table.table_level import TableLevel
from tests.state_drafts import States, with_states

VOCAB, PROMPT = 5, [0, 3, 1, 1]
STACKS = [
    # stack, tokens
    ("table:2,target", 2),
    ("table:2,target@rule=block", 2),
    ("table:1,target@rule=match", 2),
    ("nano:1,target", 2),
    ("ngram:3,target@rule=block", 2),
    ("table:2@tree=2.1,target", 2),
    ("nano:2@tree=2.1,target", 2),
    ("table:1,nano:2@rule=block,target", 2),
    ("nano:2@policy=confidence@theta=0.3,target@bonus=0", 2),
]


@cache
def model(seed: int) -> States:
    return States(VOCAB, seed)


def level(name: str) -> Any:
    if name == "ngram":
        return LookupLevel(lookup(VOCAB, 3), VOCAB)
    if name == "table":
        return TableLevel(table(VOCAB, 9), VOCAB)
    return model(int(name == "nano")).level(name)


def expected(tokens: int) -> Distribution:
    found: Distribution = {(): 1.0}
    for _ in range(tokens):
        longer: Distribution = {}
        for output, mass in found.items():
            row = to_probs(model(0).row([*PROMPT, *output])[None], SAMPLED)[0].tolist()
            longer |= {(*output, token): mass * chance for token, chance in enumerate(row) if chance > 0.0}
        found = longer
    return found


def off_by(text: str, tokens: int) -> float:
    stack = [StackEntry(level(spec.name), spec, spec.block) for spec in parse(text)]
    return distance(run_distribution(stack, PROMPT, tokens), expected(tokens))


@pytest.mark.covering("text", kinds=True)
@pytest.mark.parametrize(("text", "tokens"), STACKS)
def test_a_target_with_a_running_state_keeps_its_distribution(text: str, tokens: int) -> None:
    assert off_by(text, tokens) < EXACT


def test_a_state_that_keeps_what_was_rejected_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the inputs of rejected tokens stayed in the sum under the next ones."""
    real = StateCache.keep

    def stays(self: StateCache, base: int, path: Any) -> None:
        inputs, at = self.inputs, base - self.base
        real(self, base, path)
        if len(inputs[0].raw) > at + len(path) > 0:
            self.inputs = [one.taken([*range(at - 1), at]) for one in inputs]

    monkeypatch.setattr(StateCache, "keep", stays)
    assert off_by("table:2,target", 2) > WRONG


@pytest.mark.parametrize("text", ["nano:2@tree=2.1,target", "ngram:2,nano:2,target@rule=block"])
def test_over_a_model_with_keys_and_values(text: str) -> None:
    made = drafted_stacks(2)
    made.drafts = {"nano": with_states(made.target)}
    found = run_distribution(made.stack(text), PROMPT[2:], 3)
    assert distance(found, model_distribution(made.target, PROMPT[2:], 3)) < EXACT_OF_MODELS
