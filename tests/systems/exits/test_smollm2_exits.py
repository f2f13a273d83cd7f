"""Early exits of the embedded model: the bits of plain decoding, whoever ran the first layers."""

from __future__ import annotations

import json

import pytest

from hsd_core.grammar.stack_text import StackError
from hsd_core.models.drafts.known_drafts import FOLDER
from hsd_core.models.lean.int4_groups import GROUP
from hsd_core.models.lean.linear import Int4
from hsd_core.trace.checks import check
from hsd_core.trace.metrics import committed_ids

pytestmark = pytest.mark.weights
PROMPT = "Write a Python function that adds two numbers."


@pytest.mark.covering("stack", kinds=True)
@pytest.mark.parametrize(
    "stack",
    [
        "exit:2@at=4,exit:4@at=8,target",
        "exit:2@at=24@id=lens,exit:4@at=28@id=lens@policy=flush,target@bonus=0",
        "exit:3@at=27@dtype=int8@id=lens,int8:4,target@rule=block",
        "ngram:2,exit:4@at=26@id=lens,target",
        "exit:4@at=26@id=lens,target@dtype=int8",
        "exit:4@at=29@id=lens@policy=del,target",
        "climb:4@at=4-8@theta=0.6,target",
        "skip:4@set=smollm2-skip4,target",
        "skip:8@policy=adaptive@set=smollm2-skip12,target@bonus=0",
        "climb:4@at=22-26-29@theta=0.4@id=lens,target@bonus=0",
    ],
)
def test_exits_repeat_plain_decoding(smollm2, smollm2_plain, stack: str) -> None:
    target = "target@dtype=int8" if stack.endswith("int8") else "target"
    events = list(smollm2.run(stack, PROMPT, max_new_tokens=16, heads=2))
    assert check(events) == []
    assert committed_ids(events) == committed_ids(smollm2_plain(PROMPT, 16, target))


def test_an_exit_behind_the_last_layer_is_refused(smollm2) -> None:
    with pytest.raises(StackError, match="the target has 30 layers; use @at=1 to @at=29"):
        smollm2.entries("exit:2@at=30,target")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("climb:2@at=4-30,target", "the target has 30 layers"),
        (
            "climb:2@at=4-9,target",
            "no draft reads layer 9 of this target, they were trained at 4, 8; write climb@at=4-9",
        ),
        ("climb:2@at=4-8@id=smollm2-exit8,target", "every exit has its own; leave @id= out"),
        ("climb:2@at=4-8@vocab=9000,target", "has a trimmed head of its own"),
    ],
)
def test_a_climb_through_exits_that_are_not_there_is_refused(smollm2, text: str, why: str) -> None:
    with pytest.raises(StackError, match=why):
        smollm2.entries(text)


def test_with_no_sublayer_left_out_the_target_agrees_with_itself(smollm2) -> None:
    events = list(smollm2.run("skip:4@set=none,target", PROMPT, max_new_tokens=12, heads=0))
    assert {c.outcome for e in events if e.event == "verify" for c in e.checks} == {"accepted"}


def test_a_set_of_other_weights_is_refused_with_the_command_for_one(smollm2, tmp_path) -> None:
    path = tmp_path / "other.json"
    shipped = (FOLDER / "smollm2-skip4.json").read_text("utf-8")
    path.write_text(json.dumps({**json.loads(shipped), "fingerprint": "0" * 16, "target": "another"}), "utf-8")
    with pytest.raises(StackError, match=r"searched for another, not for this target; .* python -m hsd_core sets"):
        smollm2.entries(f"skip:4@set={path},target")
    with pytest.raises(StackError, match=r"no set 'absent' for preset smollm2; there are smollm2-skip4, .*none"):
        smollm2.entries("skip:4@set=absent,target")


def test_an_exit_takes_the_dtype_of_its_target(smollm2) -> None:
    for text, dtype in (("exit:2@at=4,target", "float32"), ("exit:2@at=4,target@dtype=int8", "int8")):
        early, target = smollm2.entries(text)
        assert early.level.about.dtype == target.level.about.dtype == dtype
        assert early.level.decoder is target.level.decoder
    early, int8, target = smollm2.entries("exit:2@at=4@dtype=int8,int8:4,target")
    assert early.level.decoder is int8.level.decoder is not target.level.decoder


def test_a_read_out_that_was_not_trained_says_so(smollm2) -> None:
    assert smollm2.entries("exit:2@at=5@id=lens,target")[0].level.about.label == "exit at layer 5, untrained read-out"


@pytest.mark.parametrize(("text", "message"), [("exit:2@at=4@id=none-such,target", "exit at 4: no draft 'none-such'")])
def test_an_unknown_draft_is_refused_with_those_there_are(smollm2, text: str, message: str) -> None:
    with pytest.raises(StackError, match=message):
        smollm2.entries(text)


def test_the_copy_in_four_bits_keeps_the_steps_of_the_file(smollm2) -> None:
    target = smollm2.lean_target()
    for i in (14,):
        for name, weight in target.layer_tensors(i).items():
            if weight.dim() < 2:
                continue
            groups = weight.view(len(weight), -1, GROUP)
            step = (groups.amax(-1) - groups.amin(-1)) / 15
            off = (Int4(weight).dense() - weight).abs().view_as(groups).amax(-1) / step.clamp_min(1e-9)
            # rounding to 16 steps again would be off by up to half of one
            assert off.quantile(0.99) < 0.1, f"layer {i}, {name}"
