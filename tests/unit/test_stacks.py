from __future__ import annotations

import random

import pytest

from hsd_core.policies import POLICIES
from hsd_core.rules import RULES
from hsd_core.sampling import Sampling
from hsd_core.stacks import (
    HEEDS,
    LEVEL_NAMES,
    MAX_BLOCK,
    MAX_LEVELS,
    RULE_NAMES,
    LevelSpec,
    StackError,
    format_stack,
    parse,
    stack_lossless,
)

SAMPLED = Sampling(1.0)


def random_spec(rng: random.Random, name: str, last: bool) -> LevelSpec:
    def maybe(*values: object) -> object:
        return rng.choice((None, *values))

    values: dict[str, object] = {
        "policy": rng.choice([name for name in POLICIES if name != "del"]),
        "theta": maybe(0.0, 1.0, 0.6, rng.random(), 1e-9),
        "rule": rng.choice(RULE_NAMES),
        "bonus": rng.random() < 0.5,
        "db": maybe("c", "ms", "smc"),
        "dtype": maybe("float32", "bfloat16", "int8", "int4"),
        "device": maybe("cpu", "cuda:1"),
        "id": maybe("owner/model-1.7B", "./folder", "a=b"),
    }
    heeded = {key: value for key, value in values.items() if key in HEEDS[name]}
    return LevelSpec(name, None if last or rng.random() < 0.3 else rng.randint(1, MAX_BLOCK), **heeded)  # type: ignore[arg-type]


def test_what_is_formatted_parses_to_the_same_stack() -> None:
    rng = random.Random(1)
    for _ in range(500):
        depth = rng.randint(1, MAX_LEVELS)
        below = [rng.choice(("int8", "int4", "model", "table")) for _ in range(depth - 1)]
        names = [*below, rng.choice(("target", "table"))]
        if depth > 1 and rng.random() < 0.4:
            names[0] = "ngram"
        specs = tuple(random_spec(rng, name, last=i == depth - 1) for i, name in enumerate(names))
        assert parse(format_stack(specs)) == specs


def test_defaults_are_left_out() -> None:
    assert format_stack(parse("ngram:2@policy=fixed, int8:8@rule=tokenwise@bonus=1 ,target")) == "ngram:2,int8:8,target"


def test_a_level_reads_as_written() -> None:
    text = "ngram:4@db=cms,int8:8@policy=confidence@theta=0.25@bonus=0,target@rule=block@dtype=int8"
    ngram, int8, target = parse(text)
    assert ngram == LevelSpec("ngram", 4, db="cms")
    assert int8 == LevelSpec("int8", 8, policy="confidence", theta=0.25, bonus=False)
    assert target == LevelSpec("target", rule="block", dtype="int8")


def test_the_grammar_knows_every_rule_of_the_engine() -> None:
    assert set(RULE_NAMES) == set(RULES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty level; write for example"),
        ("ngram:2,,target", "empty level; write for example"),
        ("target,", "empty level; write for example"),
        (",".join(["table"] * (MAX_LEVELS + 1)), f"has {MAX_LEVELS + 1} levels; {MAX_LEVELS} is the most"),
        ("gpt:2,target", "unknown level 'gpt'; levels are ngram"),
        ("Target", "unknown level 'Target'"),
        ("int8:0,target", "use a whole number from 1 to 64"),
        ("int8:65,target", "use a whole number from 1 to 64"),
        ("int8:x,target", "use a whole number from 1 to 64"),
        ("int8:,target", "use a whole number from 1 to 64"),
        ("int8:-1,target", "use a whole number from 1 to 64"),
        ("int8:²,target", "use a whole number from 1 to 64"),
        ("int8:" + "9" * 5000 + ",target", "use a whole number from 1 to 64"),
        ("int8:2@speed=9,target", "cannot read @speed=9; keys are at, policy"),
        ("int8:2@policy,target", "cannot read @policy; keys are"),
        ("int8:2@policy=,target", "cannot read @policy=; keys are"),
        ("int8:2@policy=never,target", "use one of fixed, flush, confidence"),
        ("int8:2@rule=best,target", "use one of greedy, tokenwise, block"),
        ("model:2@dtype=int3,target", "use one of float32"),
        ("target@id=a/b", "its keys are"),
        ("ngram:2@rule=block,target", "its keys are"),
        ("int8:2@theta=2,target", "use a probability from 0 to 1"),
        ("int8:2@theta=nan,target", "use a probability from 0 to 1"),
        ("int8:2@theta=high,target", "use a probability from 0 to 1"),
        ("int8:2@bonus=2,target", "use a whole number from 0 to 1"),
        ("ngram:2@db=x,target", "use the letters c, m and s"),
        ("ngram:2@db=cc,target", "each at most once"),
        ("int8:2@rule=block@rule=greedy,target", "rule is given twice; keep one @rule="),
        ("ngram:2", "the last level is 'ngram'; end the stack with target"),
        ("target:4", "hands nothing up; write target"),
        ("target,target", "target stands below another level"),
        ("int8:2,ngram:2,target", "it can only be the first level"),
    ],
)
def test_what_is_no_stack_is_refused_with_the_cure(text: str, message: str) -> None:
    with pytest.raises(StackError) as caught:
        parse(text)
    assert message in str(caught.value)


def test_garbage_is_refused_or_read_but_never_crashes() -> None:
    rng = random.Random(7)
    pieces = [*LEVEL_NAMES, ":", "@", "=", ",", "2", "bonus", "rule", "theta", "1e9", " ", "block", "é"]
    for _ in range(3000):
        text = "".join(rng.choice(pieces) for _ in range(rng.randint(1, 9)))
        try:
            specs = parse(text)
        except StackError:
            continue
        assert parse(format_stack(specs)) == specs


@pytest.mark.parametrize(
    ("text", "sampling", "expected"),
    [
        ("target", SAMPLED, True),
        ("int8:4,target", SAMPLED, True),
        ("int8:4,target@rule=block", SAMPLED, True),
        ("int8:4,target@rule=greedy", SAMPLED, False),
        ("ngram:2,int8:4@rule=greedy,target", SAMPLED, False),
        ("ngram:2,int8:4@rule=greedy,target", Sampling(0.0), True),
        ("int8:4,target@rule=greedy", Sampling(1.0, top_k=1), True),
    ],
)
def test_lossless_is_said_of_the_stack_and_its_sampling(text: str, sampling: Sampling, expected: bool) -> None:
    assert stack_lossless(parse(text), sampling)[0] is expected


def test_a_lossy_stack_names_its_levels() -> None:
    _, why = stack_lossless(parse("table:2,int8:4@rule=greedy,target@rule=greedy"), SAMPLED)
    assert "level 1 (int8), level 2 (target)" in why
