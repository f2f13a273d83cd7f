"""The drafts that are shipped: small, carded, better than an untrained read-out, and exact in every stack."""

from __future__ import annotations

from collections import Counter

import pytest
from lean_stacks import model_distribution
from test_sampled_runs import UNLIKELY, p_value
from toys import output_of

import hsd_core
from hsd_core.core.events import Draft, Report
from hsd_core.models.drafts.draft_file import list_drafts
from hsd_core.models.drafts.known_drafts import FOLDER, shipped
from hsd_core.models.sampling import Sampling
from hsd_core.trace.checks import check
from hsd_core.trace.metrics import committed_ids

PROMPT = "A shop sells 4 pens at 3 euros each. How much do they cost? Show the steps."
STACKS = [
    "nano:3,target",
    "nano:2@id=smollm2-nano,int8:4,target",
    "nano:3@policy=adaptive@theta=0.3,int8:6,target@rule=block",
    "nano:2,exit:4@at=8,target",
    "exit:2@at=4,exit:4@at=8@id=smollm2-exit8,target",
    "exit:2@at=4,exit:4@at=8,target",
    "exit:4@at=8@policy=del,target",
    "exit:2@at=8@dtype=int8,int8:6,target",
    "exit:2@at=8@dtype=int4,int4:6,target",
    "exit:3@at=8@tree=2.2.1,target",
    "exit:2@at=8@tree=2.1@id=smollm2-exit8,int8:4,target",
    "nano:3@tree=2.2.1,target",
    "nano:4@grow=10,target",
    "nano:3@id=smollm2-nano-joined,int8:6,target",
    "nano:4@id=smollm2-nano-ahead,target",
    "masked:4@fill=surest@passes=2,target",
    "masked:4@fill=searched@recent=1,int8:6,target",
    "nano:3@id=smollm2-nano-long,target",
    "ngram:2,nano:3@id=smollm2-nano-long,int8:6,target",
    "nano:3@tree=2.1.1@id=smollm2-nano-long,target",
    "nano:3@tree=3.2.1@id=smollm2-nano-states,target",
    "ngram:2,nano:3@id=smollm2-nano-states,int8:6,target",
    "medusa:3@tree=4.2.1,target",
    "medusa:2,nano:4,target",
    "exit:4@at=8@grow=8@id=smollm2-exit8,int8:4,target",
    "exit:2@at=8@tree=3.1@replace=1,target",
    "exit:3@at=8@tree=2.2.1@fuse=4,target",
    "nano:3@fuse=3,int8:6,target",
    "ngram:3@policy=confidence@theta=0.4@miss=nano,int8:6,target",
    "ngram:3@policy=confidence@theta=0.4@miss=nano,int4:9,target",
    "ngram:2@miss=smollm2-nano,target@bonus=0",
    "nano:3,target@dtype=int8",
]


def test_every_draft_is_small_and_has_a_card() -> None:
    drafts = list_drafts(FOLDER)
    assert {draft.name for draft in drafts} >= {"smollm2-exit4", "smollm2-exit8", "smollm2-nano", "smollm2-nano-fed"}
    for draft in drafts:
        assert draft.path.stat().st_size < 10_000_000
        assert draft.card is not None
        assert "python -m hsd_core train" in draft.card.read_text(encoding="utf-8")


def test_the_shallowest_come_first_and_fed_ones_before_others() -> None:
    assert [draft.name.removeprefix("smollm2-") for draft in shipped("smollm2")] == [
        "nano-fed",
        "nano-joined",
        "medusa",
        "nano-ahead",
        "nano",
        "nano-long",
        "nano-states",
        "exit4",
        "exit8-fed",
        "exit8",
    ]


@pytest.mark.weights
@pytest.mark.covering("stack", kinds=True)
@pytest.mark.parametrize(
    "stack", [pytest.param(stack, marks=[pytest.mark.everything] * ("int4" in stack)) for stack in STACKS]
)
def test_stacks_of_drafts_repeat_plain_decoding(smollm2, smollm2_plain, stack: str) -> None:
    events = list(smollm2.run(stack, PROMPT, max_new_tokens=16, heads=2))
    assert check(events) == []
    plain = smollm2_plain(PROMPT, 16, stack.split(",")[-1].split("@bonus")[0])
    assert committed_ids(events) == committed_ids(plain)


@pytest.mark.weights
def test_del_drafts_with_an_exit_that_was_trained(smollm2) -> None:
    events = list(smollm2.run("exit:4@at=8@policy=del,target", PROMPT, max_new_tokens=12, heads=0))
    used = {span.hi for e in events if isinstance(e, Draft) for span in e.work.ran}
    assert used
    assert used <= {4, 8}


@pytest.mark.everything
@pytest.mark.weights
def test_a_trained_read_out_knows_more_than_the_lens_at_its_depth(smollm2) -> None:
    events = list(smollm2.run("target", PROMPT, max_new_tokens=24, heads=0, depths=True))
    (depths,) = [e.notes["depths"] for e in events if isinstance(e, Report)]
    written = committed_ids(events)

    def agreed(row: int) -> int:
        return sum(a == b for a, b in zip(depths.top[row], written, strict=True))

    for name, at in (("smollm2-exit4", 4), ("smollm2-exit8", 8)):
        assert agreed(depths.readouts.index(name)) > 2 * agreed(at - 1)
    assert agreed(depths.readouts.index("smollm2-nano-fed")) > 2 * agreed(7)


@pytest.mark.weights
@pytest.mark.parametrize(
    "stack",
    [
        pytest.param("exit:3@at=8@tree=2.2.1,target", marks=pytest.mark.everything),
        pytest.param("exit:3@at=8@tree=2.2.1@replace=1,target", marks=pytest.mark.everything),
        pytest.param("nano:3@grow=5,target", marks=pytest.mark.everything),
        pytest.param("exit:3@at=8@tree=2.1.1@fuse=3,target", marks=pytest.mark.everything),
    ],
)
def test_sampled_trees_follow_the_targets_distribution(smollm2, stack: str) -> None:
    # A correction drawn from p, not from what is left of it, gives less than 4e-7 in the first three stacks;
    # the fused one does not show it, and did not in 200 runs. Whole enumerations are in `test_drafted_trees_are_exact`.
    sampling, runs = Sampling(1.0, top_k=3), 100
    ids = smollm2.encode("one two three one two four one two three one two", raw=True)  # lookups find something
    dist = model_distribution(smollm2.entries("target")[0].level.decoder, ids, 3, sampling)
    entries = smollm2.entries(stack)
    outputs = (output_of(list(hsd_core.run(entries, ids, sampling, s, max_new_tokens=3, heads=0))) for s in range(runs))
    assert p_value(Counter(outputs), dist, runs) > UNLIKELY
    events = list(hsd_core.run(entries, ids, sampling, 0, max_new_tokens=3))
    assert check(events) == []
    assert any(
        e.event == "draft" and len({"c", "exit", "nano"} & set(e.sources)) == 1 + ("fuse" in stack) for e in events
    )
