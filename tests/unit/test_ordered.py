"""Lookups, and on a miss a nano: who drafts, what is caught up on, and that greedy output stays the target's."""

from __future__ import annotations

from itertools import pairwise

import notes_of
import pytest
from lean_stacks import LeanStacks, RandomDraft

import hsd_core
from hsd_core.core.events import Draft, Event
from hsd_core.models.sampling import Sampling
from hsd_core.trace.checks import check
from hsd_core.trace.metrics import committed_ids

PROMPT = [5, 6, 7, 8, 5, 6, 7, 9, 5, 6]


def made() -> LeanStacks:
    stacks = LeanStacks(layers=3, vocab=61, seed=2)
    stacks.drafts = {"fed": RandomDraft(stacks.target, fed=True), "own": RandomDraft(stacks.target)}
    return stacks


def events(text: str, **options: float) -> list[Event]:
    stack = made().stack(text)
    return list(hsd_core.run(stack, PROMPT, Sampling(**options), 1, max_new_tokens=40))  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["ngram:3@miss=fed,target", "ngram:1@miss=fed,target"])
def test_the_nano_drafts_exactly_where_the_databases_are_silent(text: str) -> None:
    run = events(text, temperature=0.9)
    drafts = [e for e in run if isinstance(e, Draft)]
    assert {source for e in drafts for source in e.sources} == {"c", "nano"}
    assert all(len(set(e.sources)) <= 1 for e in drafts), "one of both drafts a block"
    assert all((e.work.rows == 0) == (set(e.sources) == {"c"}) for e in drafts if e.ids)
    misses = sum(map(notes_of.silent, drafts))
    assert misses == sum(set(e.sources) == {"nano"} for e in drafts) > 0
    assert all(notes_of.silent(e) == 1 and not notes_of.keys(e) for e in drafts if set(e.sources) == {"nano"})
    for e in drafts:
        assert e.work.forwards == 1 + (len(e.ids) if set(e.sources) == {"nano"} else 0), "a lookup is a forward"


def test_what_was_looked_up_is_caught_up_on_when_the_nano_is_asked() -> None:
    drafts = [e for e in events("ngram:3@miss=own,target", temperature=0.9) if isinstance(e, Draft) and e.ids]
    asked = [e for before, e in pairwise(drafts) if before.sources[0] == "c" != e.sources[0]]
    assert asked and all(e.work.catch_up > 0 for e in asked)


@pytest.mark.parametrize(
    "text",
    [
        "ngram:3@miss=fed,target",
        "ngram:2@miss=own,int8:4@policy=flush,target",
        "ngram:3@guess=4@miss=fed,target",
        "ngram:3@guess=4@miss=own,int8:4@bonus=0,target@bonus=0",
        "suffix:4@grow=6@miss=own,int8:4,target",
    ],
)
def test_greedy_output_is_plain_decoding(text: str) -> None:
    run = events(text)
    assert committed_ids(run) == committed_ids(events("target"))
    assert check(run) == []
