"""Re-planning: estimates from outcomes, hysteresis, and runs that can be repeated."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from cases import first_always
from lean_stacks import LeanStacks, RandomDraft
from ledger import audit
from plans_kit import Chosen, by_outcomes, plans
from profiles import random_profile
from toys import output_of, toy_stack

import hsd_core
from hsd_core.cli import main, terminal
from hsd_core.cli.generate import repeat
from hsd_core.core import events as trace
from hsd_core.core import run as engine
from hsd_core.core.clock import EngineClock
from hsd_core.core.run_plans import Checked, Drafted, Round, RunPlan
from hsd_core.grammar.stack_text import parse
from hsd_core.models.sampling import Sampling
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.presets import PRESETS
from hsd_core.theory import (
    Answer,
    Costs,
    Profile,
    ProfileError,
    ProfileLevel,
    Ranked,
    StackPlan,
    best_plans,
    expected,
    profile_from,
    replan,
    write_profile,
)
from hsd_core.theory.plan_reasons import origin_words
from hsd_core.theory.profiles.profile_store import shipped_profile
from hsd_core.theory.replan import Estimates, Pace, ProfileReplanner, candidates
from hsd_core.theory.search import by_load
from hsd_core.trace import checks as identities
from hsd_core.trace import file as tracefile
from hsd_core.trace import metrics

GREEDY = Sampling(0.0)
STACK = "table:2@id=order1,table:4@id=order3,table@id=order6"
SPECS = parse(STACK)


def profile(*rows: float, names: Sequence[str] = ("order1", "order3", "order6"), ms: Sequence[float] = ()) -> Profile:
    """Acceptances 0->1, 0->2, 1->2, ... of toy levels that cost 1, 4, 16 ms."""
    n, values = len(names), list(rows)
    matrix = [[1.0 if i == j else values.pop(0) if j > i else 0.0 for j in range(n)] for i in range(n)]
    costs = ms or [4.0**i for i in range(n)]
    levels = tuple(
        ProfileLevel(name, Costs((1,), (c,)), spec=f"table@id={name}") for name, c in zip(names, costs, strict=True)
    )
    return Profile(levels, tuple(map(tuple, matrix)), max_block=8)


GOOD = profile(0.9, 0.85, 0.92)


def outcomes(index: int, *what: Checked | Drafted) -> Round:
    return Round(index, (0,), what)


def feed(by: ProfileReplanner, rounds: int, tokens: int = 0, *accepted: int) -> list[tuple[int, RunPlan]]:
    """(round, plan) of each change in `rounds` rounds, where every verifier of the plan judges a block of `tokens`
    tokens for each of `accepted`, and keeps so many."""
    plan, changes = by.first(), []
    for n in range(rounds):
        pairs = list(zip(plan.levels, plan.levels[1:], strict=False))
        what = [Checked(level, below, tokens, kept) for below, level in pairs for kept in accepted]
        changed = by.after(outcomes(n, *what))
        if changed is not None:
            plan = changed
            changes.append((n, plan))
    return changes


def test_an_estimate_counts_outcomes_half_after_a_half_life() -> None:
    estimates = Estimates(profile(0.5, 0.5, 0.5), half_life=4.0)
    estimates.take(outcomes(0, Checked(1, 0, 4, 4)))
    assert estimates.acceptance[(0, 1)] == pytest.approx(0.75)
    estimates.take(outcomes(1, Checked(1, 0, 9, 0)))
    assert estimates.acceptance[(0, 1)] == pytest.approx(0.75 * 0.5**0.25), "what lies behind a reject is not judged"


def test_only_observed_pairs_move() -> None:
    estimates = Estimates(GOOD, half_life=8.0)
    estimates.take(outcomes(0, Drafted(0, 2), Checked(1, 0, 2, 0), Checked(2, 1, 3, 1)))
    assert estimates.acceptance[(0, 2)] == GOOD.acceptance[0][2]
    assert estimates.acceptance[(0, 1)] < GOOD.acceptance[0][1]
    assert estimates.acceptance[(1, 2)] < GOOD.acceptance[1][2]
    assert set(estimates.seen) == {(0, 1), (1, 2)}


def test_lookups_move_the_hit_rate() -> None:
    lookup = ProfileLevel("ngram", Costs((1,), (0.1,)), spec="ngram", hit_rate=0.5)
    target = ProfileLevel("target", Costs((1,), (10.0,)), spec="target")
    both = Profile((lookup, target), ((1.0, 0.5), (0.0, 1.0)))
    estimates = Estimates(both, half_life=1.0)
    estimates.take(outcomes(0, Drafted(0, 0)))
    assert estimates.hit == 0.25
    estimates.take(outcomes(1, Drafted(0, 3)))
    assert estimates.now().levels[0].hit_rate == 0.625
    estimates.take(outcomes(2, Drafted(1, 5)))
    assert estimates.hit == 0.625, "of a plan without the lookups another level drafts"


def test_the_run_begins_with_the_profiles_best_plan_and_stays_while_outcomes_agree() -> None:
    by = ProfileReplanner(GOOD, SPECS)
    first = by.first()
    assert len(first.levels) > 1 and first.levels[-1] == 2 and "the profile's best plan" in first.why
    assert feed(by, 60, 6, 5, 6) == []  # 11 of 12 kept, and the profile says about that much


def test_rejections_make_levels_leave() -> None:
    changes = feed(ProfileReplanner(profile(0.9, 0.85, 0.92, ms=(4.0, 6.0, 16.0)), SPECS), 400, 2, 0)
    assert changes, "nothing was ever accepted, and the plan stayed"
    assert changes[-1][1].levels == (2,), "plain decoding is best where nothing is accepted"
    for _, plan in changes:
        assert plan.left_ms is not None and plan.predicted_ms < plan.left_ms
        assert "leaves" in plan.why or "T of" in plan.why or "joins" in plan.why


def test_a_moved_estimate_asks_before_the_period_is_over() -> None:
    changes = feed(ProfileReplanner(GOOD, SPECS, pace=Pace(every=1000, moved=0.2)), 100, 2, 0)
    assert 4 <= changes[0][0] < 100
    assert feed(ProfileReplanner(GOOD, SPECS, pace=Pace(every=1000, moved=2.0)), 100, 2, 0) == []


@pytest.mark.parametrize(("ms", "changes"), [(3.98, 0), (3.0, 1)])
def test_a_small_gain_changes_nothing(ms: float, changes: int) -> None:
    """The run starts with order3; the planner then says that order1, a little or much cheaper, is better."""
    close = profile(0.9, 0.80, 0.80, ms=(ms, 4.0, 16.0))
    asked = []

    def ask(now: Profile) -> Answer:
        asked.append(now)
        plan = StackPlan((1, 2) if len(asked) < 2 else (0, 2), (4,))  # `first` is the first to ask
        best = Ranked(plan, expected(now, plan))
        return Answer(best, (), (), best, best)

    assert len(feed(ProfileReplanner(close, SPECS, pace=Pace(every=5, moved=1e-3), ask=ask), 20, 5, 4)) == changes
    assert len(asked) > 2


def test_nothing_is_asked_while_nothing_moves() -> None:
    asked = []

    def ask(now: Profile) -> Answer:
        asked.append(now)
        return best_plans(now)

    feed(ProfileReplanner(GOOD, SPECS, ask=ask), 200)
    assert len(asked) == 1
    feed(ProfileReplanner(GOOD, SPECS, ask=ask), 200, 4, 3)
    assert len(asked) > 3


def test_exploring_takes_one_round_and_returns() -> None:
    by = ProfileReplanner(GOOD, SPECS, pace=Pace(every=1000, explore=8))
    first = by.first()
    changes = feed(by, 60, 10, 9)
    assert [n for n, _ in changes] == [7, 8, 47, 48], "what was seen lately is not explored again"
    assert (changes[1][1].levels, changes[1][1].blocks) == (first.levels, first.blocks)
    assert "one round" in changes[0][1].why and "back" in changes[1][1].why
    assert changes[0][1].predicted_ms <= 1.25 * changes[0][1].left_ms


def test_with_the_shipped_profile_exploring_tries_other_sets_of_levels() -> None:
    preset = PRESETS["smollm2"]
    auto = next(one.stack for one in preset.stacks if one.replan)
    by = ProfileReplanner(shipped_profile("smollm2"), parse(auto), pace=Pace(explore=4))
    first = by.first()
    others = {plan.levels for _, plan in feed(by, 40, 3, 2, 2)} - {first.levels}
    assert others, "only T was ever changed"


def test_each_set_of_levels_is_offered_with_its_best_plan() -> None:
    for seed in range(2):
        some = random_profile(np.random.default_rng(seed), 4, steep=True)
        asked = replan._ask(some)
        ranked = [asked.best, *asked.alternatives]
        sets = {each.plan.levels: each for each in reversed(ranked)}
        assert len(sets) == 8, "of three levels below the target"
        for levels, each in sets.items():
            blocks = itertools.product(range(1, some.max_block + 1), repeat=len(levels) - 1)
            least = min(expected(some, StackPlan(levels, block)).ms_per_token for block in blocks)
            near = each.prediction.ms_per_token <= 1.25 * asked.best.prediction.ms_per_token
            assert each.prediction.ms_per_token <= least * (1.005 if near else 1.05)


def test_verifiers_that_agree_judge_a_drafter_alike() -> None:
    for agree, moves in ((0.97, True), (0.9, False)):
        estimates = Estimates(profile(0.6, 0.6, agree), half_life=8.0)
        estimates.take(outcomes(0, Checked(1, 0, 6, 6)))
        assert (estimates.acceptance[0, 2] == estimates.acceptance[0, 1]) is moves
        assert set(estimates.seen) == {(0, 1)}, "which is not an observation of the other pair"


def test_without_exploring_an_unseen_level_stays_unseen() -> None:
    by = ProfileReplanner(GOOD, SPECS)
    assert feed(by, 100, 10, 9) == []


def test_a_level_that_the_profile_lacks_is_named_with_the_cure() -> None:
    with pytest.raises(ProfileError, match=r"lacks ngram; its levels are .*calibrate --levels ngram,"):
        candidates(GOOD, parse("ngram:2,table@id=order6"))
    for text, why in (
        ("exit:4@at=8@policy=del,target", "chooses among exits"),
        ("ngram:2@miss=nano,target", "two drafters"),
    ):
        with pytest.raises(ProfileError, match=f"a plan cannot hold .*{why}"):
            candidates(GOOD, parse(text))
    for text, cure in (
        ("ngram:2@guess=7,target", "calibrate --levels ngram@guess=7,target"),
        ("nano:2@fuse=3,target", "calibrate --levels nano@fuse=3,target"),
    ):
        with pytest.raises(ProfileError, match=cure):
            candidates(GOOD, parse(text))
    with pytest.raises(
        ProfileError, match=r"tree=2\.1@id=order1: a run's tree is fixed when it begins; plan it without @tree="
    ):
        candidates(GOOD, parse("table:2@id=order1@tree=2.1,table@id=order6"))
    with pytest.raises(ProfileError, match=r"grow=6@id=order1: .*plan it without @grow="):
        candidates(GOOD, parse("table:2@grow=6@id=order1,table@id=order6"))
    with pytest.raises(ProfileError, match="another order"):
        candidates(GOOD, parse("table:2@id=order3,table:2@id=order1,table@id=order6"))


def several(accepted: float) -> Profile:
    """Lookups that offer three sequences side by side, and the toy's upper levels."""
    lookups = ProfileLevel("ngram@guess=3", Costs((1,), (2.0,)), "ngram@guess=3", 0.7, beside=(2.0, 1.5))
    known = profile(accepted, accepted, 0.92)
    return dataclasses.replace(known, levels=(lookups, *known.levels[1:]))


def test_lookups_that_offer_several_sequences_leave_the_plan_where_none_of_them_is_kept() -> None:
    stack = parse("ngram:2@guess=3,table:4@id=order3,table@id=order6")
    by = ProfileReplanner(several(0.8), stack, pace=Pace(half_life=8.0))
    first = by.first()
    assert first.levels[0] == 0
    assert first.predicted_ms == expected(by.profile, StackPlan(first.levels, first.blocks)).ms_per_token
    later = [by.after(outcomes(i, Drafted(0, 2), Checked(1, 0, 2, 0), Checked(2, 0, 2, 0))) for i in range(80)]
    changed = [plan for plan in later if plan is not None]
    assert changed and 0 not in changed[-1].levels and "ngram@guess=3 leaves" in "".join(plan.why for plan in changed)


def test_a_rule_that_judges_one_sequence_is_refused_wherever_several_might_come_to_it() -> None:
    with pytest.raises(
        ProfileError, match=r"rule block judges one candidate, and ngram@guess=3 .*leave @rule=block out"
    ):
        candidates(several(0.8), parse("ngram:2@guess=3,table:4@id=order3,table@id=order6@rule=block"))


def test_candidates_are_the_stacks_levels_with_the_acceptance_of_their_rule() -> None:
    block = ((1.0, 0.95, 0.91), (0.0, 1.0, 0.96), (0.0, 0.0, 1.0))
    known = Profile(GOOD.levels, GOOD.acceptance, by_rule={"block": block})
    cut = candidates(known, parse("table:9@id=order1@policy=flush,table@id=order6@rule=block"))
    assert cut.names == ("order1", "order6")
    assert cut.acceptance[0][1] == 0.91 and not cut.by_rule
    assert candidates(known, parse(STACK)).acceptance[0][2] == GOOD.acceptance[0][2]


def test_verifiers_without_a_bonus_are_priced_so() -> None:
    with_, without = (
        ProfileReplanner(GOOD, parse(f"table:2@id=order1,table@id=order6{b}")).first() for b in ("", "@bonus=0")
    )
    assert without.predicted_ms > with_.predicted_ms


@pytest.mark.parametrize(
    ("plan", "wrong"),
    [
        (RunPlan((0, 1), (2,)), "must end with the target"),
        (RunPlan((), ()), "must end with the target"),
        (RunPlan((1, 0, 2), (1, 1)), "must rise"),
        (RunPlan((1, 1, 2), (1, 1)), "must rise"),
        (RunPlan((0, 2), ()), "each but the target needs one"),
        (RunPlan((0, 2), (0,)), "each but the target needs one"),
        (RunPlan((-1, 2), (1,)), "must end with"),
        (RunPlan((0, 2), (5,)), "has room for 4 at the most"),
    ],
)
def test_a_course_that_is_none_is_refused(plan: RunPlan, wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        list(
            hsd_core.run(
                toy_stack("table:1,table:1,table", 3), [0], GREEDY, 0, max_new_tokens=3, replan=Chosen(lambda _: plan)
            )
        )


def test_a_lookup_cannot_be_put_above_another_level() -> None:
    with pytest.raises(ValueError, match="cannot verify"):
        RunPlan((0, 1, 2), (1, 1)).check([True, False, True], 1)


@pytest.mark.covering
@pytest.mark.parametrize("joining", [1, 4, 50])
@pytest.mark.parametrize(
    "text", ["table:2,table:3,table", "ngram:3,table:2@policy=flush,table:4@rule=block,table@rule=block"]
)
def test_every_event_agrees_with_a_second_bookkeeping(text: str, joining: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "JOINING_ROWS", joining)
    lookup = frozenset([0]) if text.startswith("ngram") else frozenset()
    by = Chosen(by_outcomes(plans(text.count(",") + 1, 3, list(lookup))))
    for seed in range(6):
        events = list(hsd_core.run(toy_stack(text, 3, seed), [0, 1], Sampling(1.0), seed, max_new_tokens=60, replan=by))
        assert identities.check(events) == []
        assert audit(events, cacheless=lookup, ends=frozenset()).done
        assert len({e.levels for e in events if e.event == "plan"}) > 1


LEAN = [
    "exit:2@at=1,exit:3@at=3@rule=block,target",
    "ngram:2,nano:2@id=fed,exit:2@at=2@id=own,int8:3,target",
    "ngram:2@miss=fed,int8:2,target",
    "exit:3@at=3@policy=del,target",
]


@pytest.mark.covering("text", kinds=True)
@pytest.mark.parametrize("text", LEAN)
def test_greedy_runs_of_shared_levels_that_join_late_give_the_targets_own_ids(text: str) -> None:
    made = LeanStacks(layers=4, vocab=48)
    made.drafts = {"own": RandomDraft(made.target, layers=1), "fed": RandomDraft(made.target, fed=True, seed=1)}
    plain = output_of(list(hsd_core.run(made.stack("target"), [3, 1, 4], GREEDY, 0, max_new_tokens=50)))
    cacheless = frozenset([0]) if text.startswith("ngram:2,") else frozenset()
    by = Chosen(by_outcomes(plans(text.count(",") + 1, 3, [0] if text.startswith("ngram") else [])))
    events = list(hsd_core.run(made.stack(text), [3, 1, 4], GREEDY, 0, max_new_tokens=50, replan=by))
    assert output_of(events) == plain
    assert identities.check(events) == []
    if "miss" not in text:
        assert audit(events, cacheless=cacheless, ends=frozenset()).done
    assert len(by.seen) > 1


def test_a_level_that_joins_late_is_prefilled_with_all_that_it_missed() -> None:
    late = Chosen(lambda past: RunPlan((2,), ()) if len(past) < 20 else RunPlan((0, 1, 2), (2, 2)))
    events = list(
        hsd_core.run(toy_stack("table:2,table:2,table", 3), [0, 1], GREEDY, 0, max_new_tokens=40, replan=late)
    )
    prefills = [e for e in events if e.event == "prefill"]
    assert [(e.level, e.round, e.tokens) for e in prefills] == [(2, None, 2), (1, 20, 21), (0, 20, 21)]
    footer = next(e for e in events if e.event == "footer")
    assert footer.totals[0].rows == sum(e.work.rows for e in events if e.event == "draft")
    first = next(e.t for e in events if e.event == "commit")
    assert metrics.measure(events)["ttft_ms"] == first / 1e6


def test_a_prefill_in_the_middle_is_time_of_decoding() -> None:
    late = Chosen(lambda past: RunPlan((1,), ()) if len(past) < 10 else RunPlan((0, 1), (2,)))
    events = list(hsd_core.run(toy_stack("table:2,table", 3), [0, 1], GREEDY, 0, max_new_tokens=30, replan=late))
    start = next(e.t1 for e in events if e.event == "prefill")
    end = [e.t for e in events if e.event == "commit"][-1]
    assert metrics.measure(events)["decode_ms"] == pytest.approx((end - start) / 1e6)
    assert metrics.token_times(events)[-1] == end - start


def test_levels_that_rest_fall_behind_and_are_not_run() -> None:
    by = Chosen(lambda past: RunPlan((0, 2), (2,)))
    events = list(hsd_core.run(toy_stack("table:2,table:2,table", 3), [0], GREEDY, 0, max_new_tokens=12, replan=by))
    assert {e.level for e in events if e.event in ("draft", "verify", "prefill")} == {0, 2}
    assert {e.below for e in events if e.event == "verify"} <= {0}
    last = [e for e in events if e.event == "kv"][-1].levels[1]
    assert (last.cached, last.catch_up) == (0, 13)


def test_a_damaged_plan_is_found() -> None:
    by = Chosen(lambda past: RunPlan((0, 2), (2,)) if len(past) % 2 else RunPlan((1, 2), (2,)))
    events = list(hsd_core.run(toy_stack("table:2,table:2,table", 3), [0], GREEDY, 0, max_new_tokens=12, replan=by))
    assert identities.check(events) == []
    plans = [i for i, e in enumerate(events) if e.event == "plan"]
    assert identities.check([e for i, e in enumerate(events) if i != plans[1]])
    late = [*events[: plans[1]], *events[plans[1] + 1 :]]
    first = next(i for i, e in enumerate(late) if e.event == "draft" and e.round == 1)
    assert any(
        "within round" in fault
        for fault in identities.check([*late[: first + 1], events[plans[1]], *late[first + 1 :]])
    )


TOY = profile(0.75, 0.7, 0.9, ms=(1.0, 3.0, 12.0))


def generated(pipeline: Pipeline, **options: Any) -> list[trace.Event]:
    return list(pipeline.run(STACK, "The tower of levels ", max_new_tokens=150, replan=True, profile=TOY, **options))


@first_always("temperature", [0.0, 1.0])
def test_a_replanned_run_can_be_repeated_from_its_trace(temperature: float, tmp_path: Any) -> None:
    pipeline = Pipeline.open("toy")
    events = generated(pipeline, temperature=temperature, seed=3, heads=0)
    plans = [e for e in events if e.event == "plan"]
    assert len(plans) > 1, "no plan changed: the test says nothing"
    assert all(e.acceptance and e.why and e.predicted_ms for e in plans)
    tracefile.write(path := tmp_path / "run.jsonl", events)
    back = tracefile.read(path)
    assert identities.check(back) == []
    same = repeat(pipeline, back)
    assert same and (same.plans_of, same.ids_of) == (len(plans), len(output_of(events)))
    other = [trace.Header(**{**_fields(back[0]), "profile": profile(0.2, 0.2, 0.2).as_dict()}), *back[1:]]
    assert not repeat(pipeline, other), "another profile, the same plans"
    assert repeat(pipeline, back[: len(back) // 2]), "a run that was interrupted"


@pytest.mark.parametrize(("field", "value"), [("machine", "Other CPU, 8 cores"), ("versions", {"torch": "1.0"})])
def test_a_run_that_differs_elsewhere_names_where_it_was_recorded(field: str, value: Any) -> None:
    pipeline = Pipeline.open("toy")
    events = list(pipeline.run(STACK, "The tower", max_new_tokens=30, temperature=1.0, seed=3))

    def recorded(**more: Any) -> str:
        return str(repeat(pipeline, [trace.Header(**{**_fields(events[0]), **more}), *events[1:]]))

    assert recorded(**{field: value}).startswith("the same: 30 of 30 ids"), "where it was recorded decides nothing"
    said = recorded(**{field: value, "seed": 4})
    name = value if field == "machine" else "torch 1.0"
    assert (said.startswith("not the same: ") and f"recorded on {name}" in said) or "with torch 1.0, this is" in said
    assert pipeline.about["machine"] in said and "last bits" in said
    assert "recorded on" not in recorded(seed=4), "on the same machine there is nothing to excuse it"


def _fields(header: Any) -> dict[str, Any]:
    return {name: getattr(header, name) for name in header.__struct_fields__}


def test_the_header_has_what_a_replanned_run_depends_on() -> None:
    header = next(iter(generated(Pipeline.open("toy"))))
    assert header.replan == dataclasses.asdict(Pace())
    assert profile_from(header.profile).acceptance == TOY.acceptance
    assert "plans change between rounds only" in header.lossless_reason
    json.dumps(header.profile)


def test_the_header_says_where_the_profile_was_measured(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"machine": "Abacus, 1 core", "recorded": "2020-02-02", "prompts": "own.jsonl"}
    there = dataclasses.replace(TOY, about=told)
    pipeline = Pipeline.open("toy")
    origins = {}
    monkeypatch.setattr(pipeline, "profile", lambda temperature=0.0: there)
    for source, options in (("measured", {}), ("given", {"profile": there})):
        for replanned in (True, False):
            run = list(pipeline.run(STACK, "The", max_new_tokens=4, replan=replanned, **options))
            tracefile.write(path := tmp_path / "run.jsonl", run)
            header = tracefile.read(path)[0]
            assert header.profile["about"] == {"source": source, "machine": "Abacus, 1 core", "recorded": "2020-02-02"}
            if replanned:
                assert profile_from(header.profile).acceptance == TOY.acceptance
                origins[source] = [line for line in terminal.totals_lines(run, colour=False) if line.startswith("auto")]
    monkeypatch.setattr(pipeline, "profile", lambda temperature=0.0: None)
    monkeypatch.setattr(pipeline, "_needed_profile", lambda temperature: there)
    run = list(pipeline.run(STACK, "The", max_new_tokens=4, replan=True))
    (line,) = (line for line in terminal.totals_lines(run, colour=False) if line.startswith("auto"))
    assert "shipped with the program, measured on Abacus, 1 core, 2020-02-02: not on the machine of this run" in line
    assert line.endswith("python -m hsd_core calibrate --preset toy measures it")
    assert origins["measured"] == ["auto: profile measured on the machine of this run on 2020-02-02"]
    assert "profile given, measured on Abacus" in origins["given"][0]


def test_an_old_trace_says_that_its_profiles_origin_is_not_recorded() -> None:
    for old in (None, {}, {"about": None}, {"about": {"source": ["x"]}}, {"about": {"source": "elsewhere"}}):
        assert origin_words(old, "here", "toy") == "where the profile was measured is not recorded"
    given = {"about": {"source": "given", "machine": "Abacus"}}
    assert "python -m hsd_core calibrate --target FOLDER measures" in origin_words(given, "here", "mine")


def test_the_output_is_the_stacks_own_at_temperature_0() -> None:
    pipeline = Pipeline.open("toy")
    fixed = list(pipeline.run(STACK, "The tower of levels ", max_new_tokens=150))
    events = generated(pipeline)
    assert output_of(events) == output_of(fixed)
    assert not any(e.event == "plan" for e in fixed) and fixed[0].replan is None
    lines = [line for line in terminal.totals_lines(events, colour=False) if line.startswith("from round")]
    assert len(lines) == sum(e.event == "plan" for e in events), "the terminal names every plan"


def test_in_a_batch_it_plans_over_joint_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    joint = profile(0.1, 0.2, 0.3, ms=(1.0, 3.0, 12.0))
    monkeypatch.setattr(by_load, "with_joint_passes", lambda known: (joint, known))
    for more, known in (({}, TOY), ({"clock": EngineClock()}, joint)):
        header = next(Pipeline.open("toy").run(STACK, "The", max_new_tokens=4, replan=True, profile=TOY, **more))
        assert profile_from(header.profile).acceptance == known.acceptance  # type: ignore[union-attr]


def test_without_a_profile_the_cure_is_named(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pipeline, "profile", lambda self, temperature=0.0: None)
    pipeline = Pipeline.open("toy")
    with pytest.raises(ProfileError, match="python -m hsd_core calibrate --preset toy"):
        pipeline.run(STACK, "The", replan=True, temperature=0.7)


def test_where_one_token_alone_is_kept_the_greedy_profile_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []
    monkeypatch.setattr(Pipeline, "profile", lambda self, temperature=0.0: asked.append(temperature))
    monkeypatch.setattr(Pipeline, "_needed_profile", lambda self, temperature: asked.append(temperature) or TOY)
    pipeline = Pipeline.open("toy")
    pipeline.run(STACK, "The", replan=True, temperature=0.7, top_k=1)
    pipeline.run(STACK, "The", replan=True, temperature=0.7, top_k=2)
    assert asked == [0.0, 0.0, 0.7, 0.7]


def test_the_command_plans_again_looks_around_and_repeats(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    file, run = tmp_path / "profile.json", tmp_path / "run.jsonl.gz"
    write_profile(TOY, file)
    basic = ["generate", "--preset", "toy", "--stack", STACK, "--prompt", "The tower", "--max-new-tokens", "60"]
    assert main([*basic, "--replan", "--explore", "2", "--profile", str(file), "--trace", str(run)]) == 0
    told = capsys.readouterr().err
    assert "from round 1: " in told and "(table:" in told and "the profile's best plan" in told and "explor" in told
    assert main(["generate", "--repeat", str(run)]) == 0
    assert capsys.readouterr().out.startswith("the same: 60 of 60 ids; ")
    assert main([*basic, "--profile", str(file)]) == 2
    assert "add --replan" in capsys.readouterr().err
    assert main([*basic, "--explore", "4"]) == 2
    assert "add --replan" in capsys.readouterr().err
