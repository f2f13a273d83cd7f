"""Exits and nano drafts in the grammar, in the builder and in the catalogue."""

from __future__ import annotations

import pytest

from hsd_core.grammar import kind_of
from hsd_core.grammar.stack_text import StackError, format_stack, parse
from hsd_core.stacks.presets import PRESETS, catalogue


@pytest.mark.parametrize(
    "text",
    [
        "exit:2@at=4,exit:4@at=8,target",
        "ngram:2,exit:4@at=8@rule=top@k=2,target",
        "exit:2@at=8@dtype=int8,int8:4,target",
        "exit:2@at=8@dtype=int8,exit:4@at=4,target",
        "exit:2@at=4@id=lens,target@dtype=int8",
        "nano:3@id=own,exit:4@at=8,target",
    ],
)
def test_exits_are_written_as_they_are_read(text: str) -> None:
    assert format_stack(parse(text)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("exit:2,target", "exit needs the number of layers that it runs; write for example exit:2@at=4"),
        ("exit:2@at=0,target", "use a whole number from 1"),
        ("exit:2@at=8,exit:2@at=4,target", "exit at 4 stands above an exit at 8 over the same weights"),
        ("exit:2@at=4,exit:2@at=4,target", "exits rise in depth up the stack"),
        ("exit:2@at=8@dtype=int8,exit:2@at=4@dtype=int8,target", "exit at 4 stands above an exit at 8"),
        ("exit:2@at=8@dtype=int8,exit:2@at=4,target@dtype=int8", "exit at 4 stands above an exit at 8"),
        ("int8:2,exit:4@at=4@dtype=int8,target", "stands above the whole model over the same weights"),
        ("int4:2,exit:4@at=4@dtype=int4,target", "stands above the whole model over the same weights"),
        ("nano:2@at=4,target", "means nothing here"),
        ("target,exit:2@at=4", "end the stack with target"),
    ],
)
def test_exits_that_cannot_share_are_refused_with_the_cure(text: str, message: str) -> None:
    with pytest.raises(StackError) as caught:
        parse(text)
    assert message in str(caught.value)


def test_the_catalogue_offers_exits_at_every_depth_but_the_last() -> None:
    for preset in catalogue():
        levels = {level["name"]: level for level in preset["levels"]}
        if PRESETS[preset["name"]].toy:
            assert "exit" not in levels
            continue
        layers = PRESETS[preset["name"]].layers
        entry, depth = levels["exit"], levels["exit"]["depth"]
        assert (entry["kind"], entry["letter"], entry["usable"]) == ("exit", "E", True)
        assert (depth["min"], depth["max"]) == (1, layers - 1)
        assert entry["params"] == {"at": depth["default"]}
        assert 1 <= depth["default"] < layers
        assert set(depth["trained"]) <= set(range(1, layers))
        assert levels["nano"]["letter"] == "D"
        assert levels["nano"]["usable"] == bool(levels["nano"]["drafts"])
        assert levels["nano"]["usable"] or levels["nano"]["reason"]


def test_every_example_is_a_stack() -> None:
    for preset in PRESETS.values():
        for example in preset.stacks:
            assert format_stack(parse(example.stack)) == example.stack
            assert all(kind_of(spec).suits(preset) for spec in parse(example.stack))
