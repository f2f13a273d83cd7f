from __future__ import annotations

import random
from typing import Any

import golden
import pytest

from hsd_core.grammar import kinds, policies, rules
from hsd_core.grammar.keys import MAX_BLOCK
from hsd_core.grammar.stack_text import (
    MAX_LEVELS,
    LevelSpec,
    StackError,
    bare,
    faults,
    format_stack,
    level_names,
    parse,
    stack_lossless,
)
from hsd_core.models.sampling import Sampling

SAMPLED = Sampling(1.0)


def random_spec(rng: random.Random, name: str, last: bool) -> LevelSpec:
    def maybe(*values: object) -> object:
        return rng.choice((None, *values))

    values: dict[str, Any] = {
        "policy": rng.choice(list(policies())),
        "theta": maybe(0.0, 1.0, 0.6, rng.random(), 1e-9),
        "rule": rng.choice(list(rules())),
        "bonus": rng.random() < 0.5,
        "db": maybe("c", "ms", "smc"),
        "dtype": maybe("float32", "bfloat16", "int8", "int4"),
        "device": maybe("cpu", "cuda:1"),
        "id": maybe("owner/model-1.7B", "./folder", "a=b"),
    }
    heeded = {key.name: values[key.name] for key in kinds()[name].keys if values.get(key.name) is not None}
    return LevelSpec(name, None if last or rng.random() < 0.3 else rng.randint(1, MAX_BLOCK), heeded)


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


@pytest.mark.parametrize("case", golden.CASES, ids=lambda case: case["text"] or "nothing")
def test_a_golden_case_is_read_or_refused_as_ever(case: dict[str, Any]) -> None:
    golden.check(case)


@pytest.mark.parametrize("text", [case["text"] for case in golden.CASES], ids=lambda text: text or "nothing")
def test_what_a_stack_is_refused_with_is_among_its_faults(text: str) -> None:
    reasons = {fault.reason for fault in faults(text)}
    assert bool(reasons) == bool(refused(text)) and refused(text) <= reasons


def refused(text: str) -> set[str]:
    try:
        parse(text)
    except StackError as error:
        return {str(error)}
    return set()


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("exit:2@at=4,exit:4@at=8,target", []),
        ("exit:2@at=8,exit:4@at=4,target", [1]),
        ("int8:4,exit:4@at=4@dtype=int8,target", [1]),
        ("exit:2@at=8@dtype=int8,exit:4@at=4,target@dtype=int8", [1]),
        ("exit:2@at=8@dtype=int8,exit:4@at=4,target", []),
        ("exit:2@at=4@policy=del,exit:4@at=8,target", [0]),
        ("exit:2,int8:2,exit:2,target", [0, 2]),
        ("int8:2,ngram:2,target,ngram", [1, 2, 3]),
        ("ngram:2@guess=3,target@rule=block", [1]),
        ("ngram:2@back=1,int8:99,target", [0, 1]),
        (",target", [0]),
    ],
)
def test_each_level_that_cannot_work_is_named_once(text: str, levels: list[int]) -> None:
    assert [fault.level for fault in faults(text)] == levels


def test_a_block_length_of_thousands_of_figures_is_refused() -> None:
    with pytest.raises(StackError, match="use a whole number from 1 to 64"):
        parse("int8:" + "9" * 5000 + ",target")


def test_what_a_level_is_does_not_hang_on_where_it_stands() -> None:
    one, other, target = parse("exit:4@at=8@rule=top@k=2@policy=flush@theta=0.3@bonus=0@id=lens,int8:3,target")
    assert bare(one) == LevelSpec("exit", values={"at": 8, "id": "lens"})
    assert (bare(other), bare(target)) == (LevelSpec("int8"), LevelSpec("target"))
    assert bare(parse("exit:4@at=8@policy=del,target")[0]) == LevelSpec("exit", values={"at": 8, "policy": "del"})


@pytest.mark.parametrize("block", [1, 3])
def test_a_tree_is_as_deep_as_its_block_is_long(block: int) -> None:
    with pytest.raises(StackError, match=rf"table:{block} is {block} deep and @tree=2\.1 is 2"):
        parse(f"table:{block}@tree=2.1,table")
    assert parse("table:2@tree=2.1,table")[0].widths == parse("table@tree=2.1,table")[0].widths == (2, 1)


def test_garbage_is_refused_or_read_but_never_crashes() -> None:
    rng = random.Random(7)
    pieces = [*level_names(), ":", "@", "=", ",", "2", "bonus", "rule", "theta", "1e9", " ", "block", "é"]
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
