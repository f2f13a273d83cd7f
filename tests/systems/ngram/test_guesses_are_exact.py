"""Lookups that offer several sequences: the engine's distribution is the target's, under every rule that takes
trees."""

from __future__ import annotations

from collections import Counter

import pytest
from enumerator import SAMPLED, distance, run_distribution, target_distribution
from test_sampled_runs import UNLIKELY, p_value
from toys import output_of, toy_stack

import hsd_core
from hsd_core.core import rules
from hsd_core.core.level import StackEntry
from hsd_core.grammar.stack_text import parse
from hsd_core.models.sampling import Sampling
from hsd_core.systems.ngram.databases import Databases, LookupLimits
from hsd_core.systems.ngram.ngram_level import NgramLevel
from hsd_core.trace.checks import check

PROMPT = [0, 1, 2, 0, 2, 1, 0, 0, 1, 1, 0, 2, 2, 0]  # every pair of tokens goes on in several ways
EXACT = 1e-12
ABOVE = ("table", "table@bonus=0", "table:2,table", "table:1@policy=flush,table@rule=block", "table:2@bonus=0,table")
GREEDY = ("table@rule=greedy", "table@rule=top@k=1", "table:2@rule=top@k=2,table", "table:2@rule=greedy,table")


def guessing(above: str, guess: int, block: int = 2, vocab: int = 3) -> list[StackEntry]:
    """Real lookups in what was written so far, over tables."""
    spec = parse(f"ngram:{block}@guess={guess},target")[0]
    lookups = NgramLevel(lambda: Databases("c", reach={"c": LookupLimits(1, 4)}), vocab, guess=guess)
    return [StackEntry(lookups, spec, block), *toy_stack(above, vocab, seed=7)]  # type: ignore[list-item]


def branching(stack: list[StackEntry], sampling: Sampling = SAMPLED) -> bool:
    events = list(hsd_core.run(stack, PROMPT, sampling, 1, max_new_tokens=24))
    assert check(events) == []
    return any(e.event == "draft" and e.is_tree for e in events)


@pytest.mark.covering
@pytest.mark.parametrize("guess", [2, 7])
@pytest.mark.parametrize("above", ABOVE)
def test_several_sequences_leave_the_targets_distribution(above: str, guess: int) -> None:
    stack = guessing(above, guess)
    assert branching(stack), "no draft had branches"
    assert distance(run_distribution(stack, PROMPT, 3), target_distribution(stack, PROMPT, 3)) < EXACT


@pytest.mark.parametrize("above", ["table", "table@bonus=0", "table:2,table"])
def test_branches_may_end_the_text(above: str) -> None:
    stack, ends = guessing(above, 7), frozenset({2})
    assert (
        distance(run_distribution(stack, PROMPT, 3, ends=ends), target_distribution(stack, PROMPT, 3, ends=ends))
        < EXACT
    )
    for seed in range(40):
        assert check(list(hsd_core.run(stack, PROMPT, SAMPLED, seed, max_new_tokens=12, ends=ends))) == []


@pytest.mark.parametrize("sampling", [Sampling(0.7, top_k=2), Sampling(1.0, top_p=0.8)])
def test_other_samplings_too(sampling: Sampling) -> None:
    stack = guessing("table:2,table", 3)
    found = run_distribution(stack, PROMPT, 3, sampling=sampling)
    assert distance(found, target_distribution(stack, PROMPT, 3, sampling=sampling)) < EXACT


@pytest.mark.parametrize("above", [*ABOVE, *GREEDY])
def test_greedy_runs_of_every_rule_are_plain_decoding(above: str) -> None:
    stack = guessing(above, 7, block=4)
    assert branching(stack, Sampling())
    runs = [hsd_core.run(entries, PROMPT, Sampling(), 0, max_new_tokens=60) for entries in (stack, stack[-1:])]
    assert output_of(list(runs[0])) == output_of(list(runs[1]))


@pytest.mark.parametrize("above", ["table:2,table", pytest.param("table", marks=pytest.mark.everything)])
def test_seeded_runs_agree_with_the_exact_distribution(above: str) -> None:
    stack, runs = guessing(above, 5, block=3), 600
    outputs = (list(hsd_core.run(stack, PROMPT, SAMPLED, s, max_new_tokens=3, heads=0)) for s in range(runs))
    assert p_value(Counter(map(output_of, outputs)), target_distribution(stack, PROMPT, 3), runs) > UNLIKELY


def test_a_correction_that_forgets_the_rejected_siblings_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "_without", lambda row, token: row)
    stack = guessing("table", 7)
    assert distance(run_distribution(stack, PROMPT, 3), target_distribution(stack, PROMPT, 3)) > 1e-3
