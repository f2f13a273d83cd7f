from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

import notes_of
import pytest
from ledger import audit
from toys import LookupLevel, output_of, random_stack, table, toy_stack

import hsd_core
from hsd_core.core import events as trace
from hsd_core.core.level import StackEntry
from hsd_core.grammar.stack_text import LevelSpec
from hsd_core.models.sampling import Sampling, one_hot
from hsd_core.systems.table.table_level import TableLevel

SAMPLED = Sampling(1.0)
GREEDY = Sampling(0.0)


def of_kind(events: Sequence[trace.Event], kind: str) -> list:
    return [event for event in events if event.event == kind]


def counting_level(vocab: int = 8) -> TableLevel:
    """A target that counts: after token k comes k + 1."""
    import torch

    like = torch.zeros(1, vocab, dtype=torch.float64)
    return TableLevel(lambda prefix: one_hot(torch.tensor([(prefix[-1] + 1) % vocab]), like)[0], vocab, name="target")


def test_a_scripted_drafter_gives_the_exact_pattern_of_accepts() -> None:
    script = {1: [1, 2, 0, 4], 4: [4, 5], 7: [0]}
    drafter = LookupLevel(lambda prefix: script.get(len(prefix), []), 8)
    stack = [StackEntry(drafter, LevelSpec("ngram", 4), 4), StackEntry(counting_level(), LevelSpec("target"), None)]
    events = list(hsd_core.run(stack, [0], GREEDY, 0, max_new_tokens=8))
    outcomes = [[check.outcome[0].upper() for check in event.checks] for event in of_kind(events, "verify")]
    assert outcomes == [["A", "A", "R", "U"], ["A", "A"], ["R"], []]
    judged = [outcome == "A" for round_ in outcomes for outcome in round_ if outcome != "U"]
    assert judged == [True, True, False, True, True, False]
    assert output_of(events) == (1, 2, 3, 4, 5, 6, 7, 0)
    made = [(token.level, token.how, token.passed) for event in of_kind(events, "commit") for token in event.tokens]
    kept, corrected, bonus = (0, "draft", (1,)), (1, "correct", ()), (1, "bonus", ())
    assert made == [kept, kept, corrected, kept, kept, bonus, corrected, bonus]


@pytest.mark.parametrize("sampling", [GREEDY, SAMPLED, Sampling(0.8, top_k=3), Sampling(1.2, top_p=0.7)])
@pytest.mark.parametrize("rule", ["tokenwise", "block"])
def test_self_draft_accepts_everything(sampling: Sampling, rule: str) -> None:
    stack = toy_stack(f"table:3,table:4@rule={rule},table@rule={rule}", 5)
    same = TableLevel(table(5, 77), 5)
    stack = [StackEntry(same, entry.spec, entry.block) for entry in stack]
    events = list(hsd_core.run(stack, [0], sampling, 1, max_new_tokens=40))
    assert not of_kind(events, "correct")
    checks = [check for event in of_kind(events, "verify") for check in event.checks]
    assert len(checks) > 30
    assert all((check.outcome, check.alpha) == ("accepted", 1.0) for check in checks)


def test_the_paper_s_lengths_fill_up_in_order() -> None:
    # T_0 = 3, T_1 = 6 without bonus and with equal levels: two drafts of three make one block of six.
    stack = toy_stack("table:3@bonus=0,table:6@bonus=0,table@bonus=0", 4)
    stack = [StackEntry(TableLevel(table(4, 5), 4), entry.spec, entry.block) for entry in stack]
    events = list(hsd_core.run(stack, [0], SAMPLED, 1, max_new_tokens=12))
    calls = [
        (e.level, len(e.checks)) if e.event == "verify" else (0, len(e.ids))
        for e in events
        if e.event in ("draft", "verify")
    ]
    assert calls == [(0, 3), (1, 3), (0, 3), (1, 3), (2, 6)] * 2


def test_overshoot_is_handed_up() -> None:
    # T_1 = 1 below T_0 = 3: the block of level 1 is all of one verification, bonus included.
    stack = toy_stack("table:3,table:1,table", 4)
    stack = [StackEntry(TableLevel(table(4, 5), 4), entry.spec, entry.block) for entry in stack]
    events = list(hsd_core.run(stack, [0], SAMPLED, 1, max_new_tokens=15))
    assert [len(e.checks) for e in of_kind(events, "verify") if e.level == 2] == [4, 4, 4]


def test_flush_hands_up_at_the_first_correction() -> None:
    stack = toy_stack("table:2,table:50@policy=flush,table", 6, seed=4, sharpness=2.5)
    events = list(hsd_core.run(stack, [0], SAMPLED, 1, max_new_tokens=60))
    work = [event for event in events if event.event in ("draft", "verify", "correct")]
    followers = [after for before, after in pairwise(work) if before.event == "correct" and before.level == 1]
    assert len(followers) > 3
    assert {(event.event, event.level) for event in followers} == {("verify", 2)}


def test_confidence_keeps_the_doubtful_token_and_stops_behind_it() -> None:
    stack = toy_stack("table:9@policy=confidence@theta=0.5,table", 4, seed=4)
    events = list(hsd_core.run(stack, [0], SAMPLED, 1, max_new_tokens=80))
    drafts = [e for e in of_kind(events, "draft") if e.at < 60]
    assert {len(e.ids) for e in drafts} > {1, 2}
    for event in drafts:
        assert all(sure >= 0.5 for sure in notes_of.confidence(event)[:-1])
        assert notes_of.confidence(event)[-1] < 0.5 or len(event.ids) == 9


@pytest.mark.parametrize("sampling", [SAMPLED, GREEDY, Sampling(0.5)])
def test_margin_keeps_the_token_in_doubt_and_stops_behind_it(sampling: Sampling) -> None:
    level = table(4, 400)
    stack = toy_stack("table:9@policy=margin@theta=0.5,table", 4, seed=4)
    events = list(hsd_core.run(stack, [0], sampling, 1, max_new_tokens=80))
    text, lengths = output_of(events), set[int]()
    for event in (e for e in of_kind(events, "draft") if e.at < 60):
        behind = [(0, *text[: event.at], *event.ids[:n]) for n in range(len(event.ids))]
        apart = [float(first - second) for first, second in (level(p).log().topk(2).values for p in behind)]
        assert all(gap >= 0.5 for gap in apart[:-1])
        assert apart[-1] < 0.5 or len(event.ids) == 9
        lengths.add(len(event.ids))
    assert len(lengths) > 2


def test_confidence_looks_at_the_raw_row_also_when_greedy() -> None:
    stack = toy_stack("table:9@policy=confidence@theta=0.5,table", 4, seed=4)
    events = list(hsd_core.run(stack, [0], GREEDY, 1, max_new_tokens=40))
    assert any(len(e.ids) < 9 and notes_of.confidence(e)[-1] < 0.5 for e in of_kind(events, "draft"))


def test_without_a_draft_a_verifier_still_draws_a_token_also_without_a_bonus() -> None:
    silent = LookupLevel(lambda prefix: [], 3)
    for bonus in (True, False):
        stack = [
            StackEntry(silent, LevelSpec("ngram", 4), 4),
            StackEntry(TableLevel(table(3, 1), 3), LevelSpec("table", 2, {"bonus": bonus}), 2),
            StackEntry(TableLevel(table(3, 2), 3), LevelSpec("table", values={"bonus": bonus}), None),
        ]
        events = list(hsd_core.run(stack, [0], SAMPLED, 0, max_new_tokens=7))
        assert len(output_of(events)) == 7


def test_a_token_passes_every_level_between_its_maker_and_the_target() -> None:
    stack = toy_stack("table:2,table:3,table:4,table", 3, seed=6)
    events = list(hsd_core.run(stack, [0], SAMPLED, 2, max_new_tokens=60))
    made = {(token.level, token.passed) for event in of_kind(events, "commit") for token in event.tokens}
    assert made == {(i, tuple(range(i + 1, 4))) for i in range(4)}


def fuzzed(seed: int) -> tuple[list[StackEntry], dict, frozenset[int], str]:
    rng = random.Random(seed)
    text = random_stack(rng, longest=6, rules=("tokenwise", "block", "greedy"))
    vocab = rng.choice((2, 3, 8, 30))
    stack = toy_stack(text, vocab, seed, zeros=rng.choice((0.0, 0.3)), sharpness=rng.choice((0.5, 3.0)))
    if rng.random() < 0.3:
        for entry in stack[1:]:  # levels that mostly agree: long accepted runs
            if isinstance(entry.level, TableLevel):
                entry.level.table = stack[-1].level.table  # type: ignore[attr-defined]
    ends = frozenset({rng.randrange(vocab)}) if rng.random() < 0.3 else frozenset()
    options = {
        "prompt_ids": [rng.randrange(vocab) for _ in range(rng.randint(1, 4))],
        "sampling": rng.choice((SAMPLED, GREEDY, Sampling(0.7, top_k=2), Sampling(1.5, top_p=0.8))),
        "seed": seed,
        "max_new_tokens": rng.choice((1, 2, 7, 30, 60)),
        "heads": rng.choice((0, 0, 2)),
        "ends": ends,
    }
    return stack, options, ends, text


@pytest.mark.parametrize("least", [2_000, pytest.param(10_000, marks=pytest.mark.everything)])
def test_fuzzed_steps_keep_caches_and_tape_in_step(least: int) -> None:
    steps, seed, reasons = 0, 0, set()
    while steps < least:
        stack, options, ends, text = fuzzed(seed)
        try:
            events = list(hsd_core.run(stack, **options))
            cacheless = frozenset(i for i, entry in enumerate(stack) if not entry.level.has_cache)
            ledger = audit(events, cacheless=cacheless, ends=ends)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, stack {text}: {error}") from error
        assert ledger.done
        reasons.add(events[-1].reason)  # type: ignore[union-attr]
        steps, seed = steps + ledger.steps, seed + 1
    assert reasons == {"length", "eos"}


def test_the_same_seed_gives_the_same_run() -> None:
    for seed in range(10):
        stack, options, _, _ = fuzzed(seed)
        assert output_of(list(hsd_core.run(stack, **options))) == output_of(list(hsd_core.run(stack, **options)))


def test_details_do_not_change_the_choices() -> None:
    stack = toy_stack("table:3,table:3,table", 5)
    outputs = {output_of(list(hsd_core.run(stack, [0], SAMPLED, 9, max_new_tokens=30, heads=h))) for h in (0, 1, 8)}
    assert len(outputs) == 1
