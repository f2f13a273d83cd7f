"""The engine's own distribution, every branch enumerated in float64, equals the target's: whatever the stack."""

from __future__ import annotations

import random

import pytest
from cases import ENDS, in_turn
from covering import seeds
from enumerator import SAMPLED, distance, merged_distribution, run_distribution, target_distribution
from toys import random_stack, toy_stack

import hsd_core
from hsd_core.grammar.stack_text import parse, stack_lossless
from hsd_core.models.sampling import Sampling

EXACT = 1e-12
WRONG = 1e-3
GREEDY = Sampling(temperature=0.0)
SAMPLINGS = (SAMPLED, Sampling(0.7, top_k=2), Sampling(1.0, top_p=0.8), Sampling(1.6, top_p=0.95), GREEDY)

CURATED = [
    # stack, vocabulary, tokens
    ("table", 4, 3),
    ("table@bonus=0", 3, 3),
    ("table:1,table", 4, 3),
    ("table:3,table@rule=block", 3, 4),
    ("table:4,table@rule=block@bonus=0", 2, 5),
    ("table:2@policy=confidence,table@rule=block", 3, 4),
    ("table:3@policy=margin@theta=0.5,table@rule=block", 3, 4),
    ("ngram:4,table", 3, 4),
    ("ngram:4,table@bonus=0", 3, 4),  # draws one token where the lookup proposes none
    ("ngram:3,table@rule=block@bonus=0", 3, 4),
    ("table:2,table:1,table", 3, 4),  # T_1 < T_0: every block of level 1 overshoots
    ("table:3,table:1@rule=block,table@rule=block", 2, 5),
    ("table:1,table:4,table", 3, 4),
    ("table:2,table:3@rule=block,table", 3, 4),
    ("table:2,table:3,table@rule=block", 3, 4),
    ("table:2@policy=flush,table:3@policy=flush,table@rule=block", 3, 4),
    ("table:2,table:4@policy=flush@rule=block,table@rule=block", 3, 4),
    ("table:2,table:4@policy=confidence@theta=0.5,table@rule=block@bonus=0", 3, 4),
    ("table:1,table:4@policy=margin@theta=0.7,table@rule=block@bonus=0", 3, 4),
    ("table:2@policy=margin@theta=0.7,table:3@policy=margin@theta=0.9@bonus=0,table", 3, 5),
    ("table:2@bonus=0,table:3@bonus=0@rule=block,table@bonus=0@rule=block", 2, 5),
    ("ngram:3,table:2,table", 3, 4),
    ("ngram:2,table:2@bonus=0,table@bonus=0@rule=block", 3, 4),
    ("table:1,table:2,table:3,table", 2, 5),
    ("table:2,table:2@rule=block,table:3@policy=flush,table@rule=block", 2, 5),
    ("table:3,table:2,table:1,table@rule=block", 2, 5),
    ("ngram:2,table:2,table:3@rule=block@bonus=0,table@bonus=0", 2, 5),
]


@in_turn("text, vocab, tokens, ends", CURATED, ENDS)
def test_output_follows_the_targets_distribution(text: str, vocab: int, tokens: int, ends: frozenset[int]) -> None:
    stack = toy_stack(text, vocab, seed=7)
    found = merged_distribution(stack, [0], tokens, ends=ends)
    assert distance(found, target_distribution(stack, [0], tokens, ends=ends)) < EXACT


@pytest.mark.parametrize(("text", "vocab", "tokens"), [case for case in CURATED if "margin" in case[0]])
def test_margins_cut_blocks_within_these_runs(text: str, vocab: int, tokens: int) -> None:
    def blocks(text: str, seed: int) -> list[list[int]]:
        events = hsd_core.run(toy_stack(text, vocab, seed=7), [0], SAMPLED, seed, max_new_tokens=tokens)
        judged = [(e.level, len(e.checks)) for e in events if e.event == "verify"]
        return [[n for level, n in judged if level == i] for i in range(1, text.count(",") + 1)]

    for i, level in enumerate(text.split(",")):
        if "margin" not in level:
            continue
        fixed = ",".join(x.replace("margin", "fixed") if i == n else x for n, x in enumerate(text.split(",")))
        differ = sum(blocks(text, seed)[i] != blocks(fixed, seed)[i] for seed in range(20))
        assert differ > 3, f"{level}: {differ} of 20 runs hand up other blocks"


@pytest.mark.parametrize("seed", seeds(240, always=60))
def test_random_stacks_follow_the_targets_distribution(seed: int) -> None:
    rng = random.Random(seed)
    text = random_stack(rng)
    vocab = rng.choice((2, 3)) if text.count(",") < 3 else 2
    tokens = rng.choice((2, 3, 4)) if vocab == 3 else rng.choice((3, 4, 5))
    if text.count(",") == 3 and text.count("adaptive") > 1:
        tokens = 3  # a policy that remembers has a state for every past: paths join late, minutes for a fourth token
    options = {"sampling": rng.choice(SAMPLINGS), "ends": rng.choice((frozenset(), frozenset({vocab - 1})))}
    stack = toy_stack(text, vocab, seed, zeros=rng.choice((0.0, 0.0, 0.25)))
    found = merged_distribution(stack, [0], tokens, **options)
    assert distance(found, target_distribution(stack, [0], tokens, **options)) < EXACT, text


@pytest.mark.parametrize(
    ("text", "vocab", "tokens"),
    [
        ("table", 3, 4),
        ("table:2,table", 3, 3),
        ("table:2,table@rule=block@bonus=0", 2, 4),
        ("ngram:3,table@rule=block", 3, 3),
        ("table:1,table:2@rule=block,table", 2, 3),
        ("table:2,table:1,table@rule=block", 2, 3),
        ("table:1@bonus=0,table:2@bonus=0@policy=flush,table@bonus=0", 2, 3),
        ("ngram:2,table:1,table:2@rule=block,table", 2, 3),
    ],
)
def test_whole_runs_have_the_distribution_of_joined_paths(text: str, vocab: int, tokens: int) -> None:
    # No path is joined here: caches, rollbacks and rounds of the real engine from the first token to the last.
    stack = toy_stack(text, vocab, seed=3)
    whole = run_distribution(stack, [1, 0], tokens)
    assert distance(whole, target_distribution(stack, [1, 0], tokens)) < EXACT
    assert distance(whole, merged_distribution(stack, [1, 0], tokens)) < EXACT


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_the_context_limit_cuts_without_bias(temperature: float) -> None:
    stack = toy_stack("table:3,table:2@rule=block,table", 2, seed=5)
    for entry in stack:
        entry.level.max_positions = 5
    found = merged_distribution(stack, [0, 1], 50, sampling=Sampling(temperature))
    assert distance(found, target_distribution(stack, [0, 1], 3, Sampling(temperature))) < EXACT


def test_stack_lossless_says_what_enumeration_finds() -> None:
    verdicts = []
    for seed in range(60):
        rng = random.Random(1000 + seed)
        text = random_stack(rng, deepest=3, rules=("tokenwise", "block", "greedy"))
        if "," not in text and rng.random() < 0.5:
            text += "@rule=greedy"
        sampling = rng.choice((SAMPLED, SAMPLED, GREEDY))
        stack = toy_stack(text, 3, seed)
        # 3 tokens: enough for every level of these stacks to be asked, bonus or not.
        truth = distance(
            merged_distribution(stack, [0], 3, sampling=sampling), target_distribution(stack, [0], 3, sampling)
        )
        said, reason = stack_lossless(parse(text), sampling)
        assert truth < EXACT if said else truth > WRONG, f"{text} at {sampling}: {truth}, but {reason}"
        verdicts.append(said)
    assert {True, False} == set(verdicts)


@pytest.mark.parametrize("rule", ["tokenwise", "block", "greedy"])
def test_at_temperature_0_all_rules_give_the_targets_own_choice(rule: str) -> None:
    for seed in range(20):
        stack = toy_stack(f"table:2,table:3@rule={rule},table@rule={rule}", 4, seed)
        found = run_distribution(stack, [0], 6, sampling=GREEDY)
        assert found == target_distribution(stack, [0], 6, GREEDY)
