"""Validation: the engine does what the theory counts, and every difference is laid at the right door."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from hsd_core.cli import main, validate
from hsd_core.core.events import Footer, Verify
from hsd_core.core.level import StackEntry
from hsd_core.grammar.stack_text import LevelSpec, parse
from hsd_core.measure.bench import plain_of, read_prompts, read_stacks
from hsd_core.measure.rawfile import read_raw
from hsd_core.measure.texts.written_texts import PROMPTS as CALIBRATION
from hsd_core.measure.validate.counters import attribute, count_run, counters_from
from hsd_core.measure.validate.raw_results import ENDING, MODEL_NAMES, ended, predictions, read_validation
from hsd_core.measure.validate.report import Errors, _part_json, as_json, report, sittings_table
from hsd_core.models.sampling import Sampling
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.prepared import run
from hsd_core.systems.ngram.databases import Databases
from hsd_core.systems.ngram.ngram_level import NgramLevel
from hsd_core.systems.table.table_level import TableLevel
from hsd_core.theory import (
    ENGINE,
    Costs,
    Profile,
    ProfileError,
    ProfileLevel,
    StackPlan,
    expected,
    plan_of,
    read_profile,
)
from hsd_core.theory.latency.recursion import over_texts

V, LIMIT, TEXTS = 4, 40, 80
# A token is two independent choices: levels 0 and 1 differ in the first one, 1 and 2 in the other.
LAWS = tuple(
    torch.outer(torch.tensor(first, dtype=torch.float64), torch.tensor(second, dtype=torch.float64)).flatten()
    for first, second in (((0.85, 0.15), (0.6, 0.4)), ((0.6, 0.4), (0.6, 0.4)), ((0.6, 0.4), (0.45, 0.55)))
)
COSTS = (Costs((1, 9), (1.0, 5.0)), Costs((1, 9), (4.0, 20.0)), Costs((1, 9), (15.0, 60.0)))


def context_free_profile():
    """Distributions that heed no context, so that acceptances are i.i.d., whatever level 1 made of level 0's tokens."""
    a = [[float(torch.minimum(LAWS[j], LAWS[i]).sum()) if j < i else 1.0 for i in range(3)] for j in range(3)]
    levels = tuple(ProfileLevel(f"m{i}", costs) for i, costs in enumerate(COSTS))
    return Profile(levels, tuple(map(tuple, a)))


def books_of(levels, blocks, *, texts=TEXTS, limit=LIMIT, bonus=(True, True, True)):
    """Counters of real runs of a stack of some of the levels, one a text."""
    entries = [
        StackEntry(TableLevel(lambda prefix, i=i: LAWS[i], V), LevelSpec("table", t, {"bonus": bonus[i]}), t)
        for i, t in zip(levels, (*blocks, None), strict=True)
    ]
    return [count_run(run(entries, (0,), Sampling(1.0), seed, max_new_tokens=limit, heads=0)) for seed in range(texts)]


def all_of(counters):
    total = counters_from(counters[0].as_dict())
    for each in counters[1:]:
        total.add(each)
    return total


def priced(counters, levels):
    """ms at the profile's costs for the rows that a run had."""
    return sum(
        k * COSTS[i](n) for i, counter in zip(levels, counters.levels, strict=True) for n, k in counter.rows.items()
    )


def assert_mean(values, expected):
    """Within four standard errors, which may be no more than 3 % of it."""
    values = np.array(values, dtype=np.float64)
    error = values.std(ddof=1) / len(values) ** 0.5
    assert error < 0.03 * expected, (error, expected)
    assert abs(values.mean() - expected) < 4 * error + 1e-9, (values.mean(), expected, error)


@pytest.mark.parametrize(
    ("levels", "blocks", "bonus"),
    [
        pytest.param((0, 2), (3,), (True, True, True), marks=pytest.mark.everything),
        pytest.param((1, 2), (6,), (True, True, True), marks=pytest.mark.everything),
        pytest.param((1, 2), (4,), (True, True, False), marks=pytest.mark.everything),
        pytest.param((0, 1, 2), (2, 5), (True, True, True), marks=pytest.mark.everything),
        ((0, 1, 2), (3, 4), (True, False, True)),
        pytest.param((0, 1, 2), (3, 1), (True, True, True), marks=pytest.mark.everything),
    ],
)
def test_the_engine_makes_the_calls_and_rows_that_the_theory_counts(levels, blocks, bonus):
    profile = context_free_profile()
    plan = StackPlan(levels, blocks, tuple(bonus[i] for i in levels[1:]))
    counters = books_of(levels, blocks, bonus=bonus)
    said = over_texts(profile, plan, [LIMIT], LIMIT)
    assert {each.tokens for each in counters} == {said.tokens} == {LIMIT}
    assert_mean([each.rounds for each in counters], said.rounds)
    for at, calls in enumerate(said.calls):
        assert_mean([each.levels[at].calls for each in counters], calls)
    assert_mean([priced(each, levels) for each in counters], sum(said.ms))


def test_leaving_out_what_a_drafter_catches_up_on_shows():
    profile, plan = context_free_profile(), StackPlan((1, 2), (2,))
    counters = all_of(books_of((1, 2), (2,)))
    with_it, without = (over_texts(profile, plan, [LIMIT], LIMIT, catch_up=c) for c in (True, False))
    # by the round, as what a round of two levels costs hardly varies
    assert priced(counters, (1, 2)) / counters.rounds == pytest.approx(sum(with_it.ms) / with_it.rounds, rel=0.01)
    assert sum(without.ms) / without.rounds < 0.98 * sum(with_it.ms) / with_it.rounds


def test_a_text_ends_with_a_round_that_has_no_more_room():
    levels = tuple(ProfileLevel(f"m{i}", Costs.constant(ms)) for i, ms in enumerate((1.0, 20.0)))
    profile = Profile(levels, ((1.0, 1.0), (0.0, 1.0)), round_ms=0.5)
    said = over_texts(profile, StackPlan((0, 1), (4,)), [13], 13)
    # 5 + 5 tokens, then room for 3: two drafted ones and a bonus
    assert said.rounds == pytest.approx(3.0)
    assert said.calls == pytest.approx((4 + 4 + 2, 3))
    assert said.ms_per_token == pytest.approx((10 * 1.0 + 3 * 20.5) / 13)
    # one that ended by itself there was drafted for in vain
    assert over_texts(profile, StackPlan((0, 1), (4,)), [13], 99).calls == pytest.approx((12, 3))


def test_the_longer_the_text_the_nearer_to_endless_decoding():
    profile, plan = context_free_profile(), StackPlan((0, 1, 2), (2, 6))
    endless = expected(profile, plan).ms_per_token
    off = [over_texts(profile, plan, [n], n, catch_up=False).ms_per_token / endless - 1 for n in (20, 80, 320)]
    assert abs(off[0]) > 2 * abs(off[1]) > 4 * abs(off[2]) > 0


@pytest.mark.parametrize("lengths", [[], [0], [9, 41]])
def test_texts_that_cannot_be_are_refused(lengths):
    with pytest.raises(ProfileError, match="texts of"):
        over_texts(context_free_profile(), StackPlan((2,), ()), lengths, 40)


def test_the_parts_of_an_error_add_up_to_it():
    profile, plan = replace(context_free_profile(), round_ms=0.3), StackPlan((0, 1, 2), (2, 5))
    counters = all_of(books_of(plan.levels, plan.blocks, texts=4))
    said = over_texts(profile, plan, [LIMIT] * 4, LIMIT)
    found = attribute(profile, plan, said, counters)
    assert found.predicted == said.ms_per_token
    assert found.measured == pytest.approx(counters.decode_ms / counters.tokens)
    parts = found.acceptance + found.rows + found.cost + found.engine
    assert found.predicted + parts == pytest.approx(found.measured)


def as_predicted(profile, plan, counters):
    """The same counters, had all taken the time that the theory asks."""
    counters.decode_ms = counters.rounds * profile.round_ms
    for i, counter in zip(plan.levels, counters.levels, strict=True):
        counter.ms = sum(k * COSTS[i](n) for n, k in counter.rows.items())
        counters.decode_ms += counter.ms
    return counters


def test_each_error_is_laid_at_its_own_door():
    profile, plan = replace(context_free_profile(), round_ms=0.3), StackPlan((0, 1, 2), (2, 5))
    counters = as_predicted(profile, plan, all_of(books_of(plan.levels, plan.blocks, texts=20)))

    def parts(said_by):
        said = over_texts(said_by, plan, [LIMIT] * 20, LIMIT)
        found = attribute(said_by, plan, said, counters)
        return {name: getattr(found, name) / found.measured for name in ("acceptance", "rows", "cost", "engine")}

    assert all(abs(part) < 0.05 for part in parts(profile).values())
    hopeful = parts(profile.with_acceptance({(0, 1): 0.95, (1, 2): 0.97}))
    assert hopeful["acceptance"] > 0.1 and abs(hopeful["cost"]) < 1e-9 and abs(hopeful["engine"]) < 1e-9
    slow = replace(profile.levels[1], cost=COSTS[1].scaled(2.0))
    dear = parts(replace(profile, levels=(profile.levels[0], slow, profile.levels[2])))
    assert dear["cost"] < -0.1 and abs(dear["engine"]) < 1e-9
    assert parts(replace(profile, round_ms=3.0))["engine"] < -0.03
    # the costs are told to hold 0.4 ms of the engine's, which is not in the levels' own time
    told = parts(replace(profile, about={ENGINE: 0.4}))
    assert told["cost"] > 0.005 and told["cost"] == pytest.approx(-told["engine"])


def test_books_count_what_the_footer_counts():
    entries = [
        StackEntry(TableLevel(lambda prefix, i=i: LAWS[i], V), LevelSpec("table", block=t), t)
        for i, t in enumerate((2, 5, None))
    ]
    events = list(run(entries, (0,), Sampling(1.0), 3, max_new_tokens=30))
    counters, footer = count_run(events), next(e for e in events if isinstance(e, Footer))
    for counter, total in zip(counters.levels, footer.totals, strict=True):
        assert (counter.calls, sum(n * k for n, k in counter.rows.items())) == (total.forwards, total.rows)
        assert counter.ms == pytest.approx(total.ns / 1e6)
    assert (counters.tokens, counters.rounds) == (30, footer.rounds)
    assert counters.levels[0].catch_up > 0 and counters.levels[2].catch_up == 0
    assert counters_from(json.loads(json.dumps(counters.as_dict()))).levels[1].rows == counters.levels[1].rows


def test_books_leave_out_the_probes_that_ride_beside_a_verification():
    """Their price is in the cost of the pair: the rows that a profile is asked for are the others."""
    spec = parse("lookahead:2@guess=2@window=2@n=3,target")[0]
    ahead = NgramLevel(lambda: Databases("", ahead=True), V, kind="lookahead", guess=2, window=2, n=3)
    entries = [StackEntry(ahead, spec, 2), StackEntry(TableLevel(lambda prefix: LAWS[2], V), LevelSpec("table"), None)]
    events = list(run(entries, (0, 1, 0, 1), Sampling(1.0), 3, max_new_tokens=30))
    probes = sum(event.work.probes for event in events if isinstance(event, Verify))
    footer = next(e for e in events if isinstance(e, Footer))
    assert probes > 30
    counted = count_run(events).levels[1].rows
    assert sum(n * k for n, k in counted.items()) == footer.totals[1].rows - probes


def test_a_stopped_run_has_no_books():
    entries = [StackEntry(TableLevel(lambda prefix: LAWS[2], V), LevelSpec("table"), None)]
    with pytest.raises(ValueError, match="stopped"):
        count_run(run(entries, (0,), Sampling(1.0), 0, max_new_tokens=9, stop=lambda: True))


def test_models_differ_in_what_they_know():
    profile, plan = context_free_profile(), StackPlan((0, 1, 2), (2, 5))
    said = predictions(profile, plan, (LIMIT,), LIMIT)
    assert list(said) == list(MODEL_NAMES)
    assert len(set(said.values())) == len(said)
    assert all(ended(model, profile, plan, (LIMIT,), LIMIT).ms_per_token == said[model] for model in ENDING)


STACKS = ["table@id=order6", "table:2@id=order1,table@id=order6", "table:2@id=order1,table:4@id=order3,table@id=order6"]


@pytest.fixture
def toy(tmp_path):
    """A profile of the toy, made up, and files of stacks and prompts."""
    levels = [
        {"name": name, "spec": f"table@id={name}", "cost_ms": {"1": ms, "8": 2 * ms}}
        for name, ms in (("order1", 0.5), ("order3", 0.6), ("order6", 0.7))
    ]
    acceptance = [[1.0, 0.5, 0.4], [0.0, 1.0, 0.8], [0.0, 0.0, 1.0]]
    profile = {"levels": levels, "acceptance": acceptance, "max_block": 4, "temperature": 0.8}
    (tmp_path / "profile.json").write_text(json.dumps(profile))
    (tmp_path / "stacks.txt").write_text("\n".join(STACKS))
    (tmp_path / "prompts.jsonl").write_text('{"prompt": "The small "}\n{"prompt": "A tower "}\n')
    return tmp_path


def command(folder, *more):
    files = ("profile.json", "stacks.txt", "prompts.jsonl", "raw.jsonl", "found.json")
    names = ("--profile", "--stacks", "--prompts", "--out", "--summary")
    named = [x for pair in zip(names, files, strict=True) for x in pair]
    named = [str(folder / x) if x in files else x for x in named]
    return main(["validate", "--preset", "toy", "--max-new-tokens", "12", *named, *more])


def lines(folder):
    return (folder / "raw.jsonl").read_text().splitlines(keepends=True)


def shown(folder):
    return report(read_validation(*read_raw(folder / "raw.jsonl")))


def test_the_command_lays_predictions_beside_measurements(toy, capsys):
    assert command(toy, "--detail") == 0
    about, _ = read_raw(toy / "raw.jsonl")
    assert set(STACKS) < set(about["stacks"]) and about["picks"]["best"] in about["stacks"]  # and the planner's own
    found = shown(toy)
    assert {row.stack for row in found.rows} == set(about["stacks"])
    for row in found.rows:
        for figure in filter(None, (row.ms, row.speed_up)):
            assert figure.interval[0] <= figure.measured <= figure.interval[1]
        assert row.ms.predicted == about["predicted"][row.stack]["ms"]["rows"]
    out = capsys.readouterr().out
    assert all(f"`{row.stack}`" in out for row in found.rows) and "calls per token" in out
    summary = json.loads((toy / "found.json").read_text())
    assert summary["version"] == 2 and len(summary["stacks"]) == len(found.rows)
    assert [part["number"] for part in summary["sittings"]] == [1]


def test_what_is_predicted_is_written_before_anything_runs(toy, monkeypatch):
    seen = []

    def peek(*given, **more):
        if not seen:
            seen.append(lines(toy))
        return run_as_it_was(*given, **more)

    run_as_it_was = Pipeline.run
    monkeypatch.setattr(Pipeline, "run", peek)
    assert command(toy) == 0
    about = json.loads(seen[0][0])
    assert about["model"] == "rows" and set(about["predicted"]) == set(about["stacks"]) and about["recorded"]
    assert json.loads(lines(toy)[0]) == about


def test_nothing_of_the_runs_that_it_predicts_goes_into_a_prediction(toy):
    """Text lengths are the calibration's; prompts of any length or number change no prediction."""
    profile = json.loads((toy / "profile.json").read_text())
    texts = {"limit": 12, "texts": 4, "ended": [3, 5]}
    (toy / "profile.json").write_text(json.dumps({**profile, "lengths": texts}))
    assert command(toy) == 0
    about, _ = read_raw(toy / "raw.jsonl")
    known = read_profile(toy / "profile.json")
    for stack, said in about["predicted"].items():
        expected_ms = over_texts(known, plan_of(known, stack), (3, 5, 12, 12), 12).ms_per_token
        assert said["ms"]["rows"] == pytest.approx(expected_ms)


def test_every_sitting_is_added_and_reported(toy, capsys):
    assert command(toy, "--sittings", "2") == 0
    first = lines(toy)
    assert command(toy) == 0
    both = lines(toy)
    assert both[1 : len(first)] == first[1:]
    found = shown(toy)
    assert [part.number for part in found.parts] == [1, 2, 3, None]
    assert all(len(row.ms.by_sitting) == 3 and row.runs == 6 for row in found.rows)
    out = capsys.readouterr().out
    assert "3 sittings, all that there were" in out and "| all 3 sittings |" in out
    began = [json.loads(line) for line in both if '"began"' in line]
    assert [each["sitting"] for each in began] == [1, 2, 3] and all(
        each["machine"] and each["command"] for each in began
    )


@pytest.mark.filterwarnings("error")  # a bootstrap's draw may hold none of a sitting's prompts
def test_every_sitting_may_have_prompts_of_its_own_until_there_are_none_left(toy, capsys):
    assert command(toy, "--each", "1", "--sittings", "2") == 0
    about, records = read_raw(toy / "raw.jsonl")
    runs = [(record["sitting"], record["run"]["prompt"]) for record in records if "run" in record]
    assert set(runs) == {(1, 0), (2, 1)} and len(runs) == 2 * len(about["stacks"]) and about["each"] == 1
    assert [part.prompts for part in shown(toy).parts] == [1, 1, 2]
    assert "1 other prompts of `prompts.jsonl` a sitting" in capsys.readouterr().out
    before = lines(toy)
    assert command(toy, "--each", "1") == 2
    assert "sitting 3 needs 1 unused prompts, and all 2 were used" in capsys.readouterr().err
    assert lines(toy)[1:] == before[1:]


def test_the_page_hears_of_earlier_validations_and_rounds_as_the_tables_do(toy):
    old, new = made_up(toy), made_up(toy)
    found = as_json(new, [old])
    (before,) = found["earlier"]
    assert before["sittings"] == 3 and before["said"].endswith("; costs of passes timed alone")
    assert {key: before[key] for key in found["sittings"][-1]} == found["sittings"][-1]
    part = replace(report(new).parts[-1], ms=Errors(0.06846, (0.0, 1.0), 1.0))
    assert f"{part.ms.median:.1%}" == "6.8%" == f"{_part_json(part)['ms']:.1%}"


def test_an_interrupted_sitting_goes_on_where_it_was(toy, capsys):
    assert command(toy) == 0
    text = "".join(lines(toy))
    (toy / "raw.jsonl").write_text(text[:-9])  # broken off in the last prompt
    assert command(toy) == 0
    assert "sitting 1, prompt 2 of 2" in capsys.readouterr().err
    again = "".join(lines(toy))
    runs = len(shown(toy).rows)
    kept = text.splitlines()[1 : 2 + runs]  # what the sitting is, and its first prompt
    assert again.splitlines()[1 : 2 + runs] == kept and len(again.splitlines()) == len(text.splitlines())
    assert [part.number for part in shown(toy).parts] == [1]


@pytest.mark.parametrize(
    ("more", "differs"),
    [
        (("--model", "texts"), "model"),
        (("--limit", "1"), "texts"),
        (("--max-new-tokens", "11"), "max_new_tokens"),
    ],
)
def test_a_sitting_that_predicts_something_else_is_refused(toy, capsys, more, differs):
    assert command(toy) == 0
    before = lines(toy)
    assert command(toy, *more) == 2
    assert f"another {differs}" in capsys.readouterr().err and lines(toy) == before


def made_up(toy):
    """A validation of three sittings over two prompts whose measured times are chosen."""
    assert command(toy) == 0
    about, records = read_raw(toy / "raw.jsonl")
    about["stacks"] = [plain, stack] = STACKS[:2]
    about["predicted"] = {
        name: {**about["predicted"][name], "ms": dict.fromkeys(MODEL_NAMES, ms)}
        for name, ms in ((plain, 10.0), (stack, 5.0))
    }
    began = next(record for record in records if "began" in record)
    one = {name: next(r for r in records if "run" in r and r["run"]["stack"] == name) for name in (plain, stack)}
    made = []
    for sitting, (slow, fast) in enumerate(((10.0, 5.0), (20.0, 10.0), (10.0, 4.0)), 1):
        made.append({**began, "sitting": sitting})
        for prompt in range(2):
            for name, ms in ((plain, slow), (stack, fast)):
                counters = {**one[name]["books"], "tokens": 10, "decode_ms": 10 * ms}
                made.append({"sitting": sitting, "run": {**one[name]["run"], "prompt": prompt}, "books": counters})
    return read_validation(about, made)


def test_errors_of_speed_ups_and_of_milliseconds_by_sitting_and_over_all(toy):
    found = report(made_up(toy))
    first, slow, fast, every = found.parts
    assert (first.pace, slow.pace, fast.pace, every.pace) == pytest.approx((1.0, 2.0, 1.0, 4 / 3))
    assert (first.ms.median, first.speed_ups.median) == (0.0, 0.0)
    # half as fast a machine: every millisecond is off by half, no speed-up is
    assert (slow.ms.median, slow.ms.worst, slow.speed_ups.worst) == pytest.approx((0.5, 0.5, 0.0))
    # twice as fast was predicted, 2.5 times it was
    assert (fast.ms.worst, fast.speed_ups.median) == pytest.approx((0.25, 0.2))
    assert (every.ms.median, every.ms.worst, every.speed_ups.median, every.speed_ups.worst) == pytest.approx(
        (0.125, 0.5, 0.0, 0.2)
    )
    ms, speed_ups = found.pooled  # each stack's runs of all sittings are one figure
    assert ms.worst == pytest.approx(1 - 10 / (40 / 3)) and speed_ups.median == pytest.approx(1 - 2 / (40 / 19))
    assert f"| 6 a stack | | {speed_ups.median:.1%} " in sittings_table(found)
    row = next(row for row in found.rows if row.speed_up)
    assert row.speed_up.by_sitting == pytest.approx((2.0, 2.0, 2.5))
    assert row.speed_up.measured == pytest.approx(40 / 19) and row.ms.measured == pytest.approx(19 / 3)


def test_a_stack_that_the_profile_does_not_cover_is_refused_before_anything_runs(toy, capsys):
    (toy / "stacks.txt").write_text("ngram:2,table@id=order6")
    assert command(toy) == 2
    assert "not in this profile" in capsys.readouterr().err
    assert not (toy / "raw.jsonl").exists()


def test_the_shipped_files_are_fit_for_it():
    assets = Path(__file__).resolve().parents[2] / "assets"
    stacks = read_stacks(assets / "stacks" / "validate-smollm2.txt")
    assert {stack.count(",") + 1 for stack in stacks} == {1, 2, 3} and plain_of(stacks[1]) in stacks
    blind, calibration = read_prompts(validate.PROMPTS), read_prompts(CALIBRATION)
    kinds = [{p.category for p in prompts} for prompts in (blind, calibration)]
    assert (len(blind), len(calibration)) == (36, 57) == tuple(map(len, kinds)), "each prompt is of a kind of its own"
    others = [p for name in ("own", "held-out", "blind") for p in read_prompts(assets / "prompts" / f"{name}.jsonl")]
    lines = (assets / "prompts" / "openings.jsonl").read_text(encoding="utf-8").splitlines()
    seen = {p.category for p in (*calibration, *others)} | {json.loads(line)["kind"] for line in lines}
    assert not kinds[0] & seen and not {p.text for p in blind} & {p.text for p in (*calibration, *others)}
