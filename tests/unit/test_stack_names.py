"""Names of stacks: the table that the page's script is held to as well, and that names tell stacks apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import golden
import pytest
from laid_beside import laid_beside

from hsd_core.grammar import policies, rules
from hsd_core.grammar.stack_names import level_names, stack_name, stack_names
from hsd_core.grammar.stack_text import format_stack, parse
from hsd_core.stacks.presets import PRESETS

ROOT = Path(__file__).parents[2]
TABLES: list[dict[str, Any]] = json.loads((ROOT / "tests" / "stack_names.json").read_text(encoding="utf-8"))
FILES = sorted((ROOT / "assets" / "stacks").glob("*.txt"))


@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{table['about']}: {next(iter(table['names']))}")
def test_stacks_that_stand_together_are_called_as_in_the_table(table: dict[str, Any]) -> None:
    assert stack_names(table["names"]) == table["names"]


def stacks_of(path: Path) -> list[str]:
    lines = (line.split("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line and line != "default" and not line.startswith("1=")]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_two_stacks_of_a_file_have_one_name(path: Path) -> None:
    stacks = stacks_of(path)
    names = stack_names(stacks)
    assert len(set(names.values())) == len(set(stacks)) > 1
    assert not set(names) & set(names.values()), "each of them has a name"


@pytest.mark.parametrize("name", PRESETS)
def test_no_two_stacks_of_a_preset_have_one_name(name: str) -> None:
    stacks = {example.stack for example in PRESETS[name].stacks}
    assert len(set(stack_names(stacks).values())) == len(stacks)


def test_all_stacks_that_the_grammar_reads_are_told_apart() -> None:
    stacks = {format_stack(parse(case["text"])) for case in golden.CASES if "levels" in case}
    found: dict[str, list[str]] = {}
    for text, name in stack_names(stacks).items():
        found.setdefault(name, []).append(text)
    same = [texts for texts in found.values() if len(texts) > 1]
    # What makes no difference to a level is no part of its name: thresholds of no policy, a T that is the usual one.
    assert all(len({told(text) for text in texts}) == 1 for texts in same), same


def told(text: str) -> str:
    kept = (spec.having(theta=None) if spec.policy == "fixed" else spec for spec in parse(text))
    usual = {"ngram": 2, "int8": 6, "model": 4, "nano": 3, "exit": 2, "lookahead": 4, "table": 4}
    return ",".join(f"{spec.name}:{spec.block or usual.get(spec.name)}{sorted(spec.values.items())}" for spec in kept)


@pytest.mark.parametrize(
    ("stack", "names"),
    [
        ("nano:2,int4:8,target", ["small draft", "4-bit copy", "the model"]),
        ("ngram:4@guess=7,exit:4@at=8,target@dtype=int8", ["lookups", "exit at layer 8", "the 8-bit model"]),
        ("int8:4,int8:8,target@id=owner/tiny", ["8-bit copy 1", "8-bit copy 2", "tiny"]),
        ("climb:4@at=4-8,target@knn=store", ["sure exit at layer 4-8", "the model"]),
    ],
)
def test_a_level_has_a_name_too(stack: str, names: list[str]) -> None:
    assert level_names(stack) == names


def test_levels_of_what_is_no_stack_are_called_by_their_labels() -> None:
    assert level_names("no stack", ["one", "two"]) == ["one", "two"]


def test_every_policy_and_rule_has_words_for_names() -> None:
    assert all(one.in_names for one in (*policies().values(), *rules().values()))


def test_a_kind_without_words_is_called_by_its_title() -> None:
    with laid_beside():
        assert stack_name("echo:3,target") == "Echo, then the model"
        assert stack_names(["echo:3,target", "echo:3@back=2,target"])["echo:3@back=2,target"] == (
            "Echo (back 2), then the model"
        )
