"""A draft in another vocabulary: the output's distribution is the target's, by text and by shared tokens; that of
engines that carry a probability over, or rank before they draw, is not."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from math import prod
from typing import Any

import notes_of
import pytest
import torch
from enumerator import SAMPLED, OnceEach, distance, merged_distribution, run_distribution, target_distribution
from test_schedules_are_exact import quick_below
from timed import on_clock
from toys import changed, output_of
from words_of import LETTERS, PAIRED, Words, crossed

import hsd_core
from hsd_core.core.level import DraftOrder, Proposal, Sampler
from hsd_core.grammar.stack_text import parse, stack_lossless
from hsd_core.models.context import Context
from hsd_core.models.sampling import Sampling
from hsd_core.systems.cross import cross_level
from hsd_core.systems.cross.cross_level import CrossRun
from hsd_core.systems.cross.warping import carried
from hsd_core.trace.checks import check

EXACT, WRONG = 1e-12, 1e-3
LONG = (b"a", b"b", b"c")  # c is no text of the target's
BOTH = [(LETTERS, PAIRED), (PAIRED, LETTERS)]
ABOVE = ("table", "table@rule=block", "table:2,table", "table:2@policy=flush,table@bonus=0")


def off(stack: list, tokens: int = 3, *, whole: bool = False, **options: object) -> float:
    found = (run_distribution if whole else merged_distribution)(stack, [0, 1], tokens, **options)
    shared = {key: value for key, value in options.items() if key in ("sampling", "ends")}
    return distance(found, target_distribution(stack, [0, 1], tokens, **shared))


@pytest.mark.covering
@pytest.mark.parametrize("map_", ["text", "shared"])
@pytest.mark.parametrize("above", ABOVE)
@pytest.mark.parametrize(("own", "target"), BOTH)
def test_output_follows_the_targets_distribution(
    own: Sequence[bytes], target: Sequence[bytes], above: str, map_: str
) -> None:
    assert off(crossed(f"cross:3@map={map_},{above}", Words(own), Words(target))) < EXACT


@pytest.mark.covering
@pytest.mark.parametrize("map_", ["text", "shared"])
@pytest.mark.parametrize(("own", "target"), BOTH)
@pytest.mark.parametrize("sampling", [SAMPLED, Sampling(0.7, top_k=2), Sampling(1.0, top_p=0.8), Sampling(0.0)])
def test_whole_runs_with_ends_do_too(
    own: Sequence[bytes], target: Sequence[bytes], map_: str, sampling: Sampling
) -> None:
    words, ends = Words(target, end=True), frozenset({len(target)})
    stack = crossed(f"cross:2@map={map_},table", Words(own, end=True), words, 3)
    assert off(stack, whole=True, sampling=sampling, ends=ends) < EXACT


@pytest.mark.parametrize("policy", ["confidence@theta=0.5", "adaptive"])
@pytest.mark.parametrize("map_", ["text", "shared"])
def test_drafts_that_end_early_do_too(policy: str, map_: str) -> None:
    assert off(crossed(f"cross:3@policy={policy}@map={map_},table", Words(LETTERS), Words(PAIRED), 1)) < EXACT


@pytest.mark.parametrize("map_", ["text", "shared"])
def test_a_vocabulary_that_lacks_letters_does_too(map_: str) -> None:
    assert off(crossed(f"cross:3@map={map_},table", Words((b"a", b"ba")), Words((b"a", b"b", b"aba")), 2)) < EXACT


@pytest.mark.parametrize("joins", [prod, pytest.param(max, marks=pytest.mark.everything)])
@pytest.mark.parametrize(("own", "target"), BOTH)
def test_probabilities_carried_over_by_warping_are_not_exact_and_names_are(
    own: Sequence[bytes], target: Sequence[bytes], joins: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cross_level, "carried", partial(carried, joins=joins))

    def told(text: str, words: Sequence[bytes] = target) -> tuple[float, bool]:
        return off(crossed(text, Words(own), Words(words), 4), whole=True), bool(stack_lossless(parse(text), SAMPLED))

    distance, exact = told("cross:3@map=warped,table")
    assert distance > WRONG and not exact
    assert "level 1 (table) judges spelled tokens" in stack_lossless(parse("cross:3@map=warped,table"), SAMPLED).reason
    for text, words in (
        ("cross:3,table", target),
        ("cross:3@map=warped,table@rule=match", target),  # reads no row of the draft
        ("cross:3@map=warped,table:2@rule=match,table", target),
    ):
        distance, exact = told(text, words)
        assert distance < EXACT and exact
    distance, _ = told("cross:3@map=warped,table", own)
    assert distance < EXACT if own is LETTERS else distance > WRONG, "one vocabulary, of which ab has two spellings"


def test_rows_that_are_not_cut_to_the_shared_tokens_before_the_draw_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    stack = crossed("cross:2@map=shared,table", Words(PAIRED), Words(LETTERS), 4)
    assert off(stack, whole=True) < EXACT
    real = CrossRun._draw

    def draw(self: CrossRun, context: Context, order: DraftOrder) -> Proposal:
        made = real(self, context, order)
        assert made.drawn.rows is not None
        return changed(made, rows=made.drawn.rows * 0.5)  # as the uncut row has it: the rest of its mass lies elsewhere

    monkeypatch.setattr(CrossRun, "_draw", draw)
    assert off(stack, whole=True) > WRONG


@pytest.mark.parametrize("map_", ["text", "shared"])
@pytest.mark.parametrize(("own", "target"), BOTH)
def test_traces_add_up_and_a_greedy_text_is_the_targets(
    own: Sequence[bytes], target: Sequence[bytes], map_: str
) -> None:
    kept = 0
    for seed in range(6):
        ends = frozenset({len(target)})
        stack = crossed(f"cross:4@map={map_},table", Words(own, end=True), Words(target, end=True), seed, sharpness=2.0)
        for sampling in (Sampling(0.0), Sampling(1.0)):
            events = list(hsd_core.run(stack, [0, 1], sampling, seed, max_new_tokens=24, ends=ends))
            assert check(events) == []
            kept += sum(c.outcome == "accepted" for e in events if e.event == "verify" for c in e.checks)
            if sampling.greedy:
                plain = list(hsd_core.run(stack[-1:], [0, 1], sampling, seed, max_new_tokens=24, ends=ends))
                assert output_of(events) == output_of(plain)
            for draft in (e for e in events if e.event == "draft" and e.ids):
                words = Words(target, end=True)
                assert sum(notes_of.own(draft)) >= sum(len(words.piece(id_)) for id_ in draft.ids)
    assert kept > 8


@pytest.mark.covering
@pytest.mark.parametrize("map_", ["text", "shared"])
@pytest.mark.parametrize("above", ["table@with=ahead", "table@with=pearl", "table:1@with=ahead,table@with=ahead"])
@pytest.mark.parametrize(("own", "target"), [(LONG, PAIRED), *BOTH])
def test_levels_that_work_at_the_same_time_do_too(
    own: Sequence[bytes], target: Sequence[bytes], above: str, map_: str
) -> None:
    stack, clock = on_clock(
        crossed(f"cross:1@map={map_}@policy=adaptive,{above}", Words(own), Words(target), 3), quick_below
    )
    assert off(stack, 2, whole=True, clock=clock) < EXACT


@pytest.mark.parametrize(("block", "above"), [(2, "table@with=ahead"), (1, "table@with=pearl@ahead=2")])
def test_an_empty_draft_is_not_made_again_behind_the_same_text(block: int, above: str) -> None:
    """A draft of c is no token of the target's. Its choices have been made: they have keys, each of them once."""
    stack, clock = on_clock(
        crossed(f"cross:{block}@policy=adaptive,{above}", Words(LONG), Words(PAIRED), 3), quick_below
    )
    assert off(stack, 2, whole=True, clock=clock) < EXACT
    empty = 0
    for seed in range(12):
        events = list(
            hsd_core.run(stack, [0, 1], SAMPLED, seed, max_new_tokens=24, clock=clock, choices=OnceEach(seed))
        )
        assert check(events) == []
        empty += sum(e.event == "draft" and not e.ids for e in events)
    assert empty > 40


def test_what_a_level_has_read_falls_back_by_bytes_and_never_by_its_own_counts() -> None:
    """The target keeps one token, `ab`, of what the draft wrote as two, and goes on otherwise."""
    stack = crossed("cross:4,table", Words(LETTERS), Words(PAIRED), 5)
    run = next(iter([stack[0].level.open(64, _shared(64))]))
    order = DraftOrder(4, Sampler(_probs, lambda row, depth, number: [0, 1, 0, 0][number]), lambda *a: False)
    first = run.propose(Context([0]), order)
    assert first.ids == (2, 0, 0) and notes_of.own(first) == (1, 1, 1, 1)
    assert run._own == [0, 0, 1, 0, 0]
    assert run.cached == 3, "of the three all but the last are read to their ends"
    run.keep(1, (0,))
    run._follow(Context([0, 2, 1]))  # one of three was kept, which are two of its own; then comes b
    assert run._own == [0, 0, 1, 1] and run._inner.cached == 3
    assert all(a <= b for a, b in pairwise(run._own_ends)) and run._own_ends[-1] == len(run._text)


def _shared(capacity: int) -> object:
    from hsd_core.levels.shared import SharedState

    return SharedState(capacity)


def _probs(logits: torch.Tensor) -> torch.Tensor:
    return logits.exp()
