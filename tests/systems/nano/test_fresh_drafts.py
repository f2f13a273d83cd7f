"""What a drafter drafts follows from the text alone, not from how the run came there: what was rejected, rested or
moved within a cache leaves nothing behind."""

from __future__ import annotations

from typing import Any

import notes_of
import pytest
from lean_stacks import LeanStacks, drafted_stacks
from plans_kit import Chosen
from toys import output_of

import hsd_core
from hsd_core.core.events import Draft, Event
from hsd_core.core.run_plans import Round, RunPlan
from hsd_core.models.sampling import Sampling

GREEDY, PROMPT, TOKENS = Sampling(0.0), [5, 6, 7, 8, 5, 6, 9, 5], 16


def run(made: LeanStacks, text: str, prompt: list[int], tokens: int = TOKENS, **options: Any) -> list[Event]:
    return list(hsd_core.run(made.stack(text), prompt, GREEDY, 0, max_new_tokens=tokens, **options))


def first_drafts(events: list[Event]) -> list[Draft]:
    """Of every round the draft behind the committed text."""
    return list({e.round: e for e in reversed(events) if isinstance(e, Draft)}.values())[::-1]


@pytest.mark.covering("text")
@pytest.mark.parametrize(
    "text",
    [
        "nano:3@id=own,target",
        "nano:3@id=fed,target",
        "nano:3@tree=2.2.1@id=own,target",
        "nano:4@tree=1.1.2.1@id=own,target@rule=top@k=7",  # which keeps much, and branches that lie anywhere
        "exit:4@at=2@tree=1.1.2.1@id=own,target@rule=top@k=7@bonus=0",
        "nano:4@tree=1.1.2.1@id=fed,target@rule=top@k=7",
        "nano:3@tree=2.2.1@id=fed,target",
        "nano:3@tree=3.2.2@id=own,int8:4,target@bonus=0",
        "exit:3@at=2@tree=2.2.1@id=own,target",
        "exit:3@at=2@tree=2.2.1@id=fed,target",
        "exit:3@at=2@tree=3.2.1,target@bonus=0",
        "model:3@tree=2.2.1,target",
        "int4:3@tree=2.2.1,exit:4@at=3@id=own,target",
        "self:3,target",
        "self:3@calibrate=0,target",
        "self:3@dtype=int8,target",
        "self:3@tree=2.2.1,target",
        "self:3@tree=2.2.1@calibrate=0,target@rule=top@k=7",
    ],
)
def test_a_run_that_begins_here_drafts_the_same(text: str) -> None:
    made = drafted_stacks(13)
    events = run(made, text, PROMPT)
    output, drafts = output_of(events), first_drafts(events)
    assert len(drafts) > 3
    for draft in drafts:
        fresh = first_drafts(run(made, text, [*PROMPT, *output[: draft.at]], TOKENS - draft.at))[0]
        assert (draft.ids, draft.parents) == (fresh.ids, fresh.parents), f"behind {draft.at} tokens"
        assert notes_of.confidence(draft) == pytest.approx(notes_of.confidence(fresh), rel=1e-3)


@pytest.mark.parametrize("text", ["nano:3@id=fed,{}target", "nano:3@tree=2.1.1@id=fed,{}target"])
@pytest.mark.parametrize("resting", ["int8:3,", "int4:3,"])
def test_a_fed_draft_reads_the_target_while_the_copy_between_them_rests(text: str, resting: str) -> None:
    """`auto` leaves the copy out: the drafts are those of the stack that is written without it."""
    made = drafted_stacks(13)
    without = run(made, text.format(""), PROMPT)

    def choose(past: Any) -> RunPlan:
        return RunPlan((0, 2), (3,))

    found = run(made, text.format(resting), PROMPT, replan=Chosen(choose))
    assert [(e.at, e.ids) for e in found if isinstance(e, Draft)] == [
        (e.at, e.ids) for e in without if isinstance(e, Draft)
    ]


def test_a_fed_draft_reads_the_copy_again_when_it_is_back() -> None:
    made, text = drafted_stacks(13), "nano:3@id=fed,int8:3,target"

    def choose(past: list[Round]) -> RunPlan:
        return RunPlan((0, 2), (3,)) if len(past) < 4 else RunPlan((0, 1, 2), (3, 3))

    events = run(made, text, PROMPT, replan=Chosen(choose))
    output = output_of(events)
    back = next(draft for draft in first_drafts(events) if draft.round == 4)
    fresh = first_drafts(run(made, text, [*PROMPT, *output[: back.at]], TOKENS - back.at))[0]
    assert back.ids == fresh.ids
