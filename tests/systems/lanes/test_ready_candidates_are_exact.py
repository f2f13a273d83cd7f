"""Schedulers that keep several candidates ready (duo, card), and rule match: the engine's own distribution equals the
target's under every timing; engines with mistakes that these invite fail the same test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from enumerator import Scripted, distance, merged_distribution, run_distribution, target_distribution
from test_schedules_are_exact import EXACT, WRONG, by_last, by_value, off_by, quick_below, slow_below
from timed import timed_stack
from toys import output_of, toy_stack, tree_stack

import hsd_core
from hsd_core.core import rules
from hsd_core.core.rules import Verdict, rows_of
from hsd_core.core.tree import NOTHING, Tree
from hsd_core.grammar.stack_text import parse, stack_lossless
from hsd_core.models.sampling import Sampling, likeliest, to_probs
from hsd_core.stacks.prepared import chosen_driver
from hsd_core.systems.lanes import card_driver
from hsd_core.systems.lanes import lock_step as fans
from hsd_core.systems.lanes.card_driver import PersistentTree

GREEDY, SAMPLED = Sampling(0.0), Sampling(1.0)
CASES = [
    # stack, vocabulary, tokens, durations
    ("table:2,table@with=duo", 2, 3, by_last),
    ("table:2,table@with=duo", 3, 2, slow_below),
    ("table:2,table@with=duo@width=2", 3, 3, quick_below),
    ("table:3@policy=confidence,table@with=duo", 2, 3, by_value),
    ("table:2,table@with=duo@rule=match", 3, 4, by_last),
    ("table:2@policy=adaptive@theta=0.7,table@with=duo@rule=match", 3, 4, by_value),
    ("table:1,table@with=card", 3, 4, by_value),
    ("table:2,table@with=card@width=2", 3, 4, by_last),
    ("table:2,table@with=card@width=2@ahead=3", 3, 4, slow_below),
    ("table:2,table@with=card@width=2@rule=match", 4, 4, quick_below),
    ("table:1,table@with=card@width=3@rule=match@ahead=2", 4, 4, by_value),
    ("table:3@policy=confidence,table@with=card@width=2@rule=match", 3, 5, by_last),
]


@pytest.mark.covering("text", "duration")
@pytest.mark.parametrize(("text", "vocab", "tokens", "duration"), CASES)
def test_schedules_are_exact(text: str, vocab: int, tokens: int, duration: Callable[..., int]) -> None:
    assert off_by(text, vocab, tokens, duration) < EXACT


@pytest.mark.parametrize("text", ["table:2,table@with=duo", "table:2,table@with=card@width=2@rule=match"])
def test_schedules_are_exact_where_the_text_ends(text: str) -> None:
    assert off_by(text, 2, 4, by_value, ends=frozenset({1})) < EXACT


@pytest.mark.parametrize(
    "text",
    [
        "table:3,table@rule=match",
        "ngram:3,table@rule=match",
        "table:2,table:2@rule=match@policy=flush,table@rule=block",
        "table:1,table:1@rule=match,table:1,table@rule=match@bonus=0",
        "table:2@policy=confidence,table:2@rule=match@bonus=0,table@rule=match",
        "table:2,table:2@rule=greedy,table@rule=match",  # over a level that is not exact
        "ngram:2,table:2@rule=top@k=2,table@rule=match",
    ],
)
@pytest.mark.covering
@pytest.mark.parametrize("sampling", [SAMPLED, Sampling(0.6, top_k=2), GREEDY], ids=["sampled", "cut", "greedy"])
def test_match_is_exact(text: str, sampling: Sampling) -> None:
    assert stack_lossless(parse(text), sampling)
    stack = toy_stack(text, 2, seed=5)
    found = merged_distribution(stack, [0], 4, sampling=sampling)
    assert distance(found, target_distribution(stack, [0], 4, sampling)) < EXACT


@pytest.mark.parametrize("how", ["drawn", "repeats", "named", "mixed"])
def test_match_is_exact_over_trees_however_they_were_drafted(how: str) -> None:
    stack = tree_stack("table:2,table@rule=match", (2, 1), how, 3, seed=3)
    assert distance(merged_distribution(stack, [0], 3), target_distribution(stack, [0], 3)) < EXACT


def match_each(tree: Tree, p: Any, judge: Any, bonus: bool) -> Verdict:
    """One token of the target's for each sequence; what equals its own is kept."""
    places, path, fork, unsaid = rows_of(tree, bonus), list[int](), -1, (None,) * len(tree.offers)
    while at := tree.forks.get(fork):
        for o in at:
            node = tree.offers[o].node
            if judge.draw(p[places[fork]], len(path)) == tree.ids[node]:
                path.append(fork := node)
                break
        else:
            row = p[places[fork]]
            return Verdict(tuple(path), judge.draw(row, len(path)), unsaid, unsaid, row)
    return Verdict(tuple(path), None, unsaid, unsaid)


@pytest.fixture
def anything_goes(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Wrong engines may choose twice for one place."""
    monkeypatch.setattr(Scripted, "_only_once", lambda self, key: None)
    return monkeypatch


@pytest.mark.parametrize("text", ["table:2,table@with=duo@rule=match", "table:1,table@with=card@width=2@rule=match"])
def test_a_draw_for_each_sequence_is_caught(anything_goes: pytest.MonkeyPatch, text: str) -> None:
    anything_goes.setattr(rules, "match", match_each)
    assert off_by(text, 3, 2, by_value) > WRONG


def test_first_tokens_judged_as_if_each_were_drawn_alone_are_caught(anything_goes: pytest.MonkeyPatch) -> None:
    made = fans.with_firsts

    def again(chain: Tree, fan: Tree) -> tuple[Tree, list[int]]:
        tree, firsts = made(chain, fan)
        return (replace(tree, repeats=True) if firsts else tree), firsts

    anything_goes.setattr(fans, "with_firsts", again)
    stack, clock = timed_stack("table:2,table@with=duo", 4, by_value, 2)
    assert distance(run_distribution(stack, [0], 2, clock=clock), target_distribution(stack, [0], 2)) > WRONG


def test_likeliest_tokens_judged_as_if_they_were_drawn_are_caught(anything_goes: pytest.MonkeyPatch) -> None:
    def ranked(order: Any) -> Any:
        first = lambda row, *place: int(likeliest(row[None])[0])  # noqa: E731
        return order.drawing(pick=first, to_probs=lambda logits: to_probs(logits, SAMPLED))

    anything_goes.setattr(fans, "naming", ranked)
    anything_goes.setattr(rules, "match", rules.tokenwise)
    assert off_by("table:2,table@with=duo@rule=match", 3, 2, by_value) > WRONG


def without_late(monkeypatch: pytest.MonkeyPatch, driver: Any, lost: Callable[[Any], None]) -> None:
    """What came later than the target's rows is forgotten, and a token of the target's own stands there."""
    together = driver._together

    def impatient(self: Any, verify: Any, draft: Any) -> Any:
        scored, drafted = together(self, verify, draft)
        self.late = bool(drafted and drafted.t1 > scored.t1)
        return scored, drafted

    monkeypatch.setattr(driver, "_together", impatient)
    lost(driver)


def test_a_bonus_for_lack_of_a_draft_is_caught(anything_goes: pytest.MonkeyPatch) -> None:
    def lost(driver: Any) -> None:
        written = driver._written

        def forgotten(self: Any, *given: Any, **more: Any) -> Any:
            tree = yield from written(self, *given, **more)
            if self.late:
                self.runs[0].keep(len(given[0].context), ())
            return NOTHING if self.late else tree

        anything_goes.setattr(driver, "_written", forgotten)

    without_late(anything_goes, fans.DuoDriver, lost)
    assert off_by("table:2,table@with=duo", 2, 3, by_last) > WRONG


def test_dropping_tokens_that_come_late_is_caught(anything_goes: pytest.MonkeyPatch) -> None:
    def lost(driver: Any) -> None:
        rest, settle = fans._chain, driver._settle
        made: list[Any] = []

        def shorter(self: Any, start: int, slots: Any, length: int) -> Any:
            return settle(self, start, () if self.late else slots, length)

        def known(self: Any, *given: Any) -> Any:
            made[:] = [self]
            return ordered(self, *given)

        ordered = driver._ordered
        anything_goes.setattr(driver, "_ordered", known)
        anything_goes.setattr(driver, "_settle", shorter)
        anything_goes.setattr(fans, "_chain", lambda *given: Tree() if made[0].late else rest(*given))

    stack, clock = timed_stack("table:3,table@with=duo", 2, by_last, 2)
    assert distance(run_distribution(stack, [0], 3, clock=clock), target_distribution(stack, [0], 3)) < EXACT
    without_late(anything_goes, fans.DuoDriver, lost)
    assert distance(run_distribution(stack, [0], 3, clock=clock), target_distribution(stack, [0], 3)) > WRONG


def test_slots_of_another_branch_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree that is rooted anew keeps what the drafter read behind that root, not as much of what it read first."""
    root_at = PersistentTree.root_at
    monkeypatch.setattr(
        PersistentTree, "root_at", lambda self, path, *, behind: [*range(len(root_at(self, path, behind=behind)))]
    )
    stack, clock = timed_stack("table:2,table@with=card", 6, by_value, 2)
    events = hsd_core.run(stack, [0], GREEDY, 0, max_new_tokens=60, clock=clock)
    with pytest.raises(AssertionError, match="is not a prefix of"):
        list(events)


@pytest.mark.covering
@pytest.mark.parametrize("rule", ["tokenwise", "match"])
@pytest.mark.parametrize("schedule", ["duo", "duo@width=3", "card", "card@width=2@ahead=9"])
def test_greedy_text_is_the_targets_own(schedule: str, rule: str) -> None:
    for block in (1, 3):
        for seed in range(2):
            stack, clock = timed_stack(f"table:{block},table@rule={rule}@with={schedule}", 5, by_value, seed)
            found = output_of(list(hsd_core.run(stack, [0, 1], GREEDY, 0, max_new_tokens=30, clock=clock)))
            assert found == next(iter(target_distribution(stack, [0, 1], 30, GREEDY)))


def test_a_tree_that_was_moved_says_what_a_new_one_would(monkeypatch: pytest.MonkeyPatch) -> None:
    """The drafter's rows behind what it kept are those of a drafter that reads path and tree anew."""
    grow, compared = PersistentTree.grow, [0]

    def both(self: PersistentTree, run: Any, context: Any, order: Any, *given: Any) -> Any:
        moved = bool(self.roots)
        proposal, new = grow(self, run, context, order, *given)
        for node, offer in zip(new, proposal.forks.offered or (), strict=True):
            assert proposal.drawn.logits is not None and offer.row is not None
            line = (*context, *(x.id for x in node.path()[:-1]))
            assert torch.allclose(proposal.drawn.logits.values[offer.row], run._table(line).log())
            compared[0] += moved
        return proposal, new

    monkeypatch.setattr(PersistentTree, "grow", both)
    stack, clock = timed_stack("table:2,table@with=card@width=3", 5, by_value, 2)
    list(hsd_core.run(stack, [0], SAMPLED, 0, max_new_tokens=40, clock=clock))
    assert compared[0] > 50


def test_late_candidates_may_be_forgotten_where_they_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The target's own token stands at every place, whatever the tree had for it: E3 asks nothing of `card`."""
    judged, turns = card_driver.comb_of, [0]

    def shorter(roots: Any, path: Any) -> Any:
        turns[0] += 1
        return judged(roots, path[:-1] if turns[0] % 2 else path)

    def renewed(*given: Any) -> Any:
        turns[0] = 0
        return chosen_driver(stack)(*given)

    monkeypatch.setattr(card_driver, "comb_of", shorter)
    stack, clock = timed_stack("table:2,table@with=card@width=2", 3, by_last, 7)
    found = run_distribution(stack, [0], 4, clock=clock, driver=renewed)
    assert distance(found, target_distribution(stack, [0], 4)) < EXACT
