"""What a trace says of lookups in n-gram databases is true, enough to follow them, and checked in a stranger's file."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import notes_of
import numpy as np
import pytest
from lean_stacks import LeanStacks, RandomDraft
from msgspec.structs import replace

import hsd_core
from hsd_core.core.events import Commit, Draft, Event, Header, Report
from hsd_core.core.level import StackEntry
from hsd_core.core.notes import noted
from hsd_core.grammar.stack_text import LevelSpec
from hsd_core.levels.notes import Copies, Lookups
from hsd_core.models.sampling import Sampling
from hsd_core.systems.ngram.build import count_ngrams
from hsd_core.systems.ngram.context_db import ContextDatabase
from hsd_core.systems.ngram.databases import Databases, LookupLimits
from hsd_core.systems.ngram.ngram_level import NgramLevel
from hsd_core.systems.ngram.notes import Filed
from hsd_core.systems.ngram.text_db import TextDatabase
from hsd_core.trace.checks import check

VOCAB = 13
PROMPT = [5, 6, 7, 8, 5, 6, 9, 5, 6, 7, 5, 6, 9, 11, 5, 6]
REACH = {"c": LookupLimits(2, 3), "m": LookupLimits(1, 2), "s": LookupLimits(2, 3)}


def recorded(above: str = "int8:4,target", guess: int = 1, temperature: float = 0.0) -> list[Event]:
    stacks = LeanStacks(layers=4, vocab=VOCAB)
    plain = hsd_core.run(stacks.stack("target"), PROMPT, Sampling(0.0), 3, max_new_tokens=30)
    wrote = [token.id for event in plain if isinstance(event, Commit) for token in event.tokens]
    model_db = count_ngrams([([0], wrote[:9])], VOCAB, min_outputs=1)
    some = np.random.default_rng(0).integers(0, VOCAB, 90)
    text_db = TextDatabase(np.asarray([*some, VOCAB]), None, {"vocab_size": VOCAB})
    lookups = NgramLevel(
        lambda: Databases("cms", model_db, text_db, reach=REACH, max_continuations=2), VOCAB, guess=guess
    )
    stack = [StackEntry(lookups, LevelSpec("ngram", block=6), 6), *stacks.stack(above)]
    return list(hsd_core.run(stack, PROMPT, Sampling(temperature), 3, max_new_tokens=120))


def drafts_of(events: list[Event]) -> list[Draft]:
    return [event for event in events if isinstance(event, Draft)]


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("guess", [1, 4])
def test_every_token_has_a_key_as_long_as_its_database_looks_up(guess: int, temperature: float) -> None:
    events = recorded(guess=guess, temperature=temperature)
    assert check(events) == []
    seen = {
        (source, key)
        for event in drafts_of(events)
        for source, key in zip(event.sources, notes_of.keys(event), strict=True)
    }
    assert temperature == 0 or {source for source, _ in seen} == set("cms")
    assert all(REACH[source].min_key <= key <= REACH[source].max_key for source, key in seen)


def test_one_lookup_in_the_context_is_a_run_of_tokens_under_one_key() -> None:
    several = 0
    for event in drafts_of(recorded(temperature=1.0)):
        told = list(zip(event.sources, notes_of.keys(event), notes_of.copied(event), strict=True))
        for (_, key_before, before), (_, key, copied) in pairwise(told):
            if before and copied and copied.alike > key:  # not the first of its lookup
                assert (copied.at, copied.alike, key) == (before.at + 1, before.alike + 1, key_before)
                several += 1
        assert all(c is None or c.alike - key < 4 for _, key, c in told), "HD: four tokens a lookup"
    assert several > 10


@pytest.mark.parametrize("guess", [1, 4])
def test_lookups_without_an_answer_are_those_that_the_databases_count(
    guess: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Databases] = []
    begin = Databases.__init__
    monkeypatch.setattr(Databases, "__init__", lambda self, *a, **k: made.append(self) or begin(self, *a, **k))
    events = recorded(guess=guess, temperature=1.0)
    silent = sum(notes_of.silent(event) for event in drafts_of(events))
    assert silent == made[-1].misses > 0
    if guess == 1:
        assert all(notes_of.silent(event) == (len(event.ids) < 6) for event in drafts_of(events)[:-3]), (
            "a chain ends at a miss"
        )


def test_what_the_context_holds_follows_from_the_text_and_the_header() -> None:
    events = recorded(temperature=1.0)
    header = events[0]
    assert isinstance(header, Header)
    told = header.levels[0].params
    reach = told["reach"]["c"]
    kept = ContextDatabase(
        min_key=reach["min_key"],
        max_key=reach["max_key"],
        continuation=told["continuation"],
        max_continuations=told["max_continuations"],
    )
    kept.insert(header.prompt_ids)
    inserts = evictions = 0
    for event in events:
        if isinstance(event, Commit):
            kept.insert([token.id for token in event.tokens])
        elif isinstance(event, Report) and (filed := Filed.of(event)):  # the prompt is counted with the first round
            inserts, evictions = inserts + filed.inserts, evictions + filed.evictions
            assert (inserts, evictions) == (kept.inserts, kept.evictions)
    assert evictions > 0


def altered(change: Any) -> list[str]:
    events = recorded()
    at = next(i for i, e in enumerate(events) if isinstance(e, Draft) and e.sources[:1] == ("c",) and len(e.ids) > 1)
    found = change(Lookups.of(events[at]), Copies.of(events[at]))
    events[at] = replace(events[at], notes={**events[at].notes, **noted(found)})  # type: ignore[type-var,union-attr]
    return check(events)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x, _: replace(x, keys=(0, *x.keys[1:])), "a key of 0 tokens after"),
        (lambda x, _: replace(x, keys=(-3, *x.keys[1:])), "a key of -3 tokens after"),
        (lambda x, _: replace(x, keys=(2**62, *x.keys[1:])), f"a key of {2**62} tokens after"),
        (lambda x, y: replace(x, keys=(y.copied[0].alike + 1, *x.keys[1:])), "are alike"),
        (lambda x, _: replace(x, silent=-1), "-1 lookups without an answer"),
    ],
)
def test_a_lookup_that_cannot_have_been_is_found(change: Any, message: str) -> None:
    assert any(message in fault for fault in altered(change))


def test_a_lookup_of_one_token_is_an_answer_and_the_model_behind_it_is_not_asked() -> None:
    stacks = LeanStacks(layers=4, vocab=VOCAB)
    stacks.drafts["own"] = RandomDraft(stacks.target, absent=(5,))
    stack = stacks.stack("ngram:1@miss=own,target")
    drafts = drafts_of(list(hsd_core.run(stack, PROMPT, Sampling(0.0), 3, max_new_tokens=40)))
    found = [draft for draft in drafts if draft.sources == ("c",)]
    assert found and not any(draft.work.rows for draft in found)
    assert len(found) < len(drafts), "on a miss the model drafts"
