from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from hsd_core.levels.kinds import kinds, policies, rules
from hsd_core.levels.kinds.spec import MAX_BLOCK
from hsd_core.models.sampling import Sampling
from hsd_core.stacks.grammar import (
    MAX_LEVELS,
    LevelSpec,
    StackError,
    bare,
    format_stack,
    level_names,
    parse,
    stack_lossless,
)

SAMPLED = Sampling(1.0)
CASES = json.loads((Path(__file__).parents[1] / "grammar.json").read_text(encoding="utf-8"))


def random_spec(rng: random.Random, name: str, last: bool) -> LevelSpec:
    def maybe(*values: object) -> object:
        return rng.choice((None, *values))

    values: dict[str, object] = {
        "policy": rng.choice(list(policies())),
        "theta": maybe(0.0, 1.0, 0.6, rng.random(), 1e-9),
        "rule": rng.choice(list(rules())),
        "bonus": rng.random() < 0.5,
        "db": maybe("c", "ms", "smc"),
        "dtype": maybe("float32", "bfloat16", "int8", "int4"),
        "device": maybe("cpu", "cuda:1"),
        "id": maybe("owner/model-1.7B", "./folder", "a=b"),
    }
    heeded = {key.name: values[key.name] for key in kinds()[name].keys if key.name in values}
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


def spec_of(values: dict[str, Any]) -> LevelSpec:
    fields = {name: value for name, value in values.items() if name in LevelSpec.__slots__}
    return LevelSpec(**fields, own=tuple(sorted((k, v) for k, v in values.items() if k not in fields)))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["text"] or "nothing")
def test_a_golden_case_is_read_or_refused_as_ever(case: dict[str, Any]) -> None:
    """The cases that tests/app/js/grammar.test.mjs reads too."""
    if "error" in case:
        with pytest.raises(StackError) as caught:
            parse(case["text"])
        assert str(caught.value) == case["error"]
        return
    assert parse(case["text"]) == tuple(map(spec_of, case["levels"]))
    assert format_stack(parse(case["text"])) == case["written"]


def test_a_block_length_of_thousands_of_figures_is_refused() -> None:
    with pytest.raises(StackError, match="use a whole number from 1 to 64"):
        parse("int8:" + "9" * 5000 + ",target")


def test_what_a_level_is_does_not_hang_on_where_it_stands() -> None:
    one, other, target = parse("exit:4@at=8@rule=top@k=2@policy=flush@theta=0.3@bonus=0@id=lens,int8:3,target")
    assert bare(one) == LevelSpec("exit", at=8, id="lens")
    assert (bare(other), bare(target)) == (LevelSpec("int8"), LevelSpec("target"))
    assert bare(parse("exit:4@at=8@policy=del,target")[0]) == LevelSpec("exit", at=8, policy="del")


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
