"""Validation: the engine does what the theory counts, and every difference is laid at the right door."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from hsd_core.bench import plain_of
from hsd_core.cli import main
from hsd_core.engine import run
from hsd_core.hierarchy import Seat
from hsd_core.levels.table import TableLevel
from hsd_core.sampling import Sampling
from hsd_core.stacks import LevelSpec
from hsd_core.theory import ENGINE, Conditional, Costs, Plan, Profile, ProfileError, ProfileLevel, expected
from hsd_core.theory.finite import over_texts
from hsd_core.trace import Footer
from hsd_core.validation.blame import blame
from hsd_core.validation.books import books_from, keep_books
from hsd_core.validation.models import SAID, Texts, of_kind, predictions
from hsd_core.validation.runs import RunsFile

V, LIMIT, TEXTS = 4, 40, 80
LAWS = (
    torch.tensor([0.55, 0.25, 0.1, 0.1], dtype=torch.float64),
    torch.tensor([0.3, 0.4, 0.2, 0.1], dtype=torch.float64),
    torch.tensor([0.25, 0.3, 0.3, 0.15], dtype=torch.float64),
)
COSTS = (Costs((1, 9), (1.0, 5.0)), Costs((1, 9), (4.0, 20.0)), Costs((1, 9), (15.0, 60.0)))


def context_free_profile():
    """Laws that heed no context, so that acceptances are i.i.d. given how a token came to be; worked out exactly."""

    def share(weight, j, i):
        kept = (LAWS[i] / LAWS[j]).clamp_max(1.0)
        return float((weight * kept).sum() / weight.sum())

    a = [[share(LAWS[j], j, i) if j < i else 1.0 for i in range(3)] for j in range(3)]
    taken, rest = torch.minimum(LAWS[0], LAWS[1]), (LAWS[1] - LAWS[0]).clamp_min(0.0)
    how = Conditional(share(taken, 1, 2), share(rest, 1, 2), a[1][2])
    levels = tuple(ProfileLevel(f"m{i}", costs) for i, costs in enumerate(COSTS))
    return Profile(levels, tuple(map(tuple, a)), conditional={(1, 2): how})


def books_of(levels, blocks, *, texts=TEXTS, limit=LIMIT, bonus=(True, True, True)):
    """Books of real runs of a stack of some of the levels, one a text."""
    seats = [
        Seat(TableLevel(lambda prefix, i=i: LAWS[i], V), LevelSpec("table", block=t, bonus=bonus[i]), t)
        for i, t in zip(levels, (*blocks, None), strict=True)
    ]
    return [keep_books(run(seats, (0,), Sampling(1.0), seed, max_new_tokens=limit, heads=0)) for seed in range(texts)]


def all_of(books):
    total = books_from(books[0].as_dict())
    for each in books[1:]:
        total.add(each)
    return total


def priced(books, levels):
    """ms at the profile's costs for the rows that a run had."""
    return sum(k * COSTS[i](n) for i, book in zip(levels, books.levels, strict=True) for n, k in book.rows.items())


def assert_mean(values, expected):
    """Within four standard errors, which may be no more than 3 % of it."""
    values = np.array(values, dtype=np.float64)
    error = values.std(ddof=1) / len(values) ** 0.5
    assert error < 0.03 * expected, (error, expected)
    assert abs(values.mean() - expected) < 4 * error + 1e-9, (values.mean(), expected, error)


@pytest.mark.parametrize(
    ("levels", "blocks", "bonus"),
    [
        ((0, 2), (3,), (True, True, True)),
        ((1, 2), (6,), (True, True, True)),
        ((1, 2), (4,), (True, True, False)),
        ((0, 1, 2), (2, 5), (True, True, True)),
        ((0, 1, 2), (3, 4), (True, False, True)),
        ((0, 1, 2), (3, 1), (True, True, True)),
    ],
)
def test_the_engine_makes_the_calls_and_rows_that_the_theory_counts(levels, blocks, bonus):
    profile = context_free_profile()
    plan = Plan(levels, blocks, tuple(bonus[i] for i in levels[1:]))
    books = books_of(levels, blocks, bonus=bonus)
    said = over_texts(profile, plan, [LIMIT], LIMIT, model="marked")
    assert {each.tokens for each in books} == {said.tokens} == {LIMIT}
    assert_mean([each.rounds for each in books], said.rounds)
    for at, calls in enumerate(said.calls):
        assert_mean([each.levels[at].calls for each in books], calls)
    assert_mean([priced(each, levels) for each in books], sum(said.ms))


def test_leaving_out_what_a_drafter_catches_up_on_shows():
    profile, plan = context_free_profile(), Plan((1, 2), (2,))
    books = all_of(books_of((1, 2), (2,)))
    with_it, without = (over_texts(profile, plan, [LIMIT], LIMIT, catch_up=c) for c in (True, False))
    # by the round, as what a round of two levels costs hardly varies
    assert priced(books, (1, 2)) / books.rounds == pytest.approx(sum(with_it.ms) / with_it.rounds, rel=0.01)
    assert sum(without.ms) / without.rounds < 0.98 * sum(with_it.ms) / with_it.rounds


def test_a_text_ends_with_a_round_that_has_no_more_room():
    levels = tuple(ProfileLevel(f"m{i}", Costs.constant(ms)) for i, ms in enumerate((1.0, 20.0)))
    profile = Profile(levels, ((1.0, 1.0), (0.0, 1.0)), round_ms=0.5)
    said = over_texts(profile, Plan((0, 1), (4,)), [13], 13)
    # 5 + 5 tokens, then room for 3: two drafted ones and a bonus
    assert said.rounds == pytest.approx(3.0)
    assert said.calls == pytest.approx((4 + 4 + 2, 3))
    assert said.ms_per_token == pytest.approx((10 * 1.0 + 3 * 20.5) / 13)
    # one that ended by itself there was drafted for in vain
    assert over_texts(profile, Plan((0, 1), (4,)), [13], 99).calls == pytest.approx((12, 3))


def test_the_longer_the_text_the_nearer_to_endless_decoding():
    profile, plan = context_free_profile(), Plan((0, 1, 2), (2, 6))
    endless = expected(profile, plan).ms_per_token
    off = [over_texts(profile, plan, [n], n, catch_up=False).ms_per_token / endless - 1 for n in (20, 80, 320)]
    assert abs(off[0]) > 2 * abs(off[1]) > 4 * abs(off[2]) > 0


@pytest.mark.parametrize("lengths", [[], [0], [9, 41]])
def test_texts_that_cannot_be_are_refused(lengths):
    with pytest.raises(ProfileError, match="texts of"):
        over_texts(context_free_profile(), Plan((2,), ()), lengths, 40)


def test_the_parts_of_an_error_add_up_to_it():
    profile, plan = replace(context_free_profile(), round_ms=0.3), Plan((0, 1, 2), (2, 5))
    books = all_of(books_of(plan.levels, plan.blocks, texts=4))
    said = over_texts(profile, plan, [LIMIT] * 4, LIMIT)
    found = blame(profile, plan, said, books)
    assert found.predicted == said.ms_per_token
    assert found.measured == pytest.approx(books.decode_ms / books.tokens)
    parts = found.acceptance + found.rows + found.cost + found.engine
    assert found.predicted + parts == pytest.approx(found.measured)


def as_predicted(profile, plan, books):
    """The same books, had all taken the time that the theory asks."""
    books.decode_ms = books.rounds * profile.round_ms
    for i, book in zip(plan.levels, books.levels, strict=True):
        book.ms = sum(k * COSTS[i](n) for n, k in book.rows.items())
        books.decode_ms += book.ms
    return books


def test_each_error_is_laid_at_its_own_door():
    profile, plan = replace(context_free_profile(), round_ms=0.3), Plan((0, 1, 2), (2, 5))
    books = as_predicted(profile, plan, all_of(books_of(plan.levels, plan.blocks, texts=20)))

    def parts(said_by):
        said = over_texts(said_by, plan, [LIMIT] * 20, LIMIT, model="marked")
        found = blame(said_by, plan, said, books)
        return {name: getattr(found, name) / found.measured for name in ("acceptance", "rows", "cost", "engine")}

    assert all(abs(part) < 0.05 for part in parts(profile).values())
    hopeful = parts(replace(profile.with_acceptance({(0, 1): 0.95, (1, 2): 0.97}), conditional={}))
    assert hopeful["acceptance"] > 0.1 and abs(hopeful["cost"]) < 1e-9 and abs(hopeful["engine"]) < 1e-9
    slow = replace(profile.levels[1], cost=COSTS[1].scaled(2.0))
    dear = parts(replace(profile, levels=(profile.levels[0], slow, profile.levels[2])))
    assert dear["cost"] < -0.1 and abs(dear["engine"]) < 1e-9
    assert parts(replace(profile, round_ms=3.0))["engine"] < -0.03
    # the costs are told to hold 0.4 ms of the engine's, which is not in the levels' own time
    told = parts(replace(profile, about={ENGINE: 0.4}))
    assert told["cost"] > 0.005 and told["cost"] == pytest.approx(-told["engine"])


def test_books_count_what_the_footer_counts():
    seats = [
        Seat(TableLevel(lambda prefix, i=i: LAWS[i], V), LevelSpec("table", block=t), t)
        for i, t in enumerate((2, 5, None))
    ]
    events = list(run(seats, (0,), Sampling(1.0), 3, max_new_tokens=30))
    books, footer = keep_books(events), next(e for e in events if isinstance(e, Footer))
    for book, total in zip(books.levels, footer.totals, strict=True):
        assert (book.calls, sum(n * k for n, k in book.rows.items())) == (total.forwards, total.rows)
        assert book.ms == pytest.approx(total.ns / 1e6)
    assert (books.tokens, books.rounds) == (30, footer.rounds)
    assert books.levels[0].catch_up > 0 and books.levels[2].catch_up == 0
    assert books_from(json.loads(json.dumps(books.as_dict()))).levels[1].rows == books.levels[1].rows


def test_a_stopped_run_has_no_books():
    seats = [Seat(TableLevel(lambda prefix: LAWS[2], V), LevelSpec("table"), None)]
    with pytest.raises(ValueError, match="stopped"):
        keep_books(run(seats, (0,), Sampling(1.0), 0, max_new_tokens=9, stop=lambda: True))


def test_models_differ_in_what_they_know():
    profile, plan, texts = context_free_profile(), Plan((0, 1, 2), (2, 5)), Texts((LIMIT,), ("code",), LIMIT)
    how = Conditional(0.95, 0.4, 0.6, by_kind={"code": 0.9})
    known = replace(profile, conditional={(1, 2): how, (0, 1): Conditional(by_position=(0.2,))})
    said = predictions(known, plan, texts)
    assert list(said) == list(SAID)
    assert len(set(said.values())) == len(said)
    alike = predictions(replace(profile, conditional={}), plan, texts)
    assert alike["rows"] == alike["how"] == alike["place"] == alike["all"] == alike["kinds"]


def test_a_kind_of_prompt_moves_the_odds_of_a_pair_alike():
    half = Profile(
        tuple(ProfileLevel(f"m{i}", Costs.constant(1.0)) for i in range(2)), ((1.0, 0.5), (0.0, 1.0)),
        conditional={(0, 1): Conditional(0.5, 0.2, 1.0, (0.5, 0.8), {"code": 0.75})},
    )  # fmt: skip
    code = of_kind(half, "code")
    assert code.acceptance[0][1] == 0.75
    moved = code.conditional[0, 1]
    # odds of 1 became odds of 3
    assert (moved.accepted, moved.residual, moved.bonus) == pytest.approx((0.75, 3 / 7, 1.0))
    assert moved.by_position == pytest.approx((0.75, 12 / 13))
    assert of_kind(half, "poetry") == half


def test_texts_of_two_kinds_cost_what_each_of_them_costs():
    profile, plan = context_free_profile(), Plan((0, 2), (3,))
    kinds = {"easy": 0.9, "hard": 0.1}
    known = replace(profile, conditional={(0, 2): Conditional(by_kind=kinds)})
    both = predictions(known, plan, Texts((20, 40), ("easy", "hard"), LIMIT))["kinds"]
    parts = [
        over_texts(profile.with_acceptance({(0, 2): a}), plan, [n], LIMIT).ms_per_token * n
        for a, n in zip(kinds.values(), (20, 40), strict=True)
    ]
    assert both == pytest.approx(sum(parts) / 60)


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
    files = ("profile.json", "stacks.txt", "prompts.jsonl", "found.json")
    named = [x for pair in zip(("--profile", "--stacks", "--prompts", "--out"), files, strict=True) for x in pair]
    named = [str(folder / x) if x in files else x for x in named]
    return main(["validate", "--preset", "toy", "--max-new-tokens", "12", *named, *more])


def test_the_command_lays_predictions_beside_measurements(toy, capsys):
    assert command(toy, "--detail") == 0
    found = json.loads((toy / "found.json").read_text())
    rows = {row["stack"]: row for row in found["stacks"]}
    assert set(STACKS) < set(rows)  # and the planner's own
    for row in rows.values():
        assert row["interval"][0] <= row["measured_ms"] <= row["interval"][1]
        assert set(row["models"]) == set(SAID) and row["predicted_ms"] == row["models"]["all"]
    summary = found["summary"]
    assert summary["best"]["measured_ms"] == min(row["measured_ms"] for row in rows.values())
    assert summary["picks"]["iid"]["over_best"] >= 0
    out = capsys.readouterr().out
    assert all(f"`{stack}`" in out for stack in rows) and "calls per token" in out


def test_an_interrupted_validation_goes_on_where_it_was(toy, capsys):
    assert command(toy, "--limit", "2") == 0
    first = json.loads((toy / "found.json").read_text())
    runs = toy / "found.json.runs"
    lines = runs.read_text().splitlines(keepends=True)
    runs.write_text("".join(lines)[:-9])  # broken off in the last prompt
    assert command(toy, "--limit", "2") == 0
    second = json.loads((toy / "found.json").read_text())
    assert "prompt 2 of 2" in capsys.readouterr().err
    assert second["about"] == first["about"]
    assert runs.read_text().startswith("".join(lines[:2])) and len(runs.read_text().splitlines()) == 3
    assert second["stacks"][0]["prompts"] == 2


def test_runs_of_something_else_are_not_taken_for_ones_own(tmp_path):
    RunsFile(tmp_path / "runs", {"preset": "toy", "stacks": ["target"]})
    assert RunsFile(tmp_path / "runs", {"stacks": ["target"], "preset": "toy"}).runs == []
    with pytest.raises(ValueError, match="another validation"):
        RunsFile(tmp_path / "runs", {"preset": "toy", "stacks": ["ngram:2,target"]})


def test_a_stack_that_the_profile_does_not_cover_is_refused_before_anything_runs(toy, capsys):
    (toy / "stacks.txt").write_text("ngram:2,table@id=order6")
    assert command(toy) == 2
    assert "not in this profile" in capsys.readouterr().err
    assert not (toy / "found.json.runs").exists()


def test_the_shipped_files_are_fit_for_it():
    from pathlib import Path

    from hsd_core.bench import read_prompts, read_stacks

    assets = Path(__file__).resolve().parents[2] / "assets"
    stacks = read_stacks(assets / "stacks" / "validate-smollm2.txt")
    depths = {stack.count(",") + 1 for stack in stacks}
    assert len(stacks) >= 14 and depths == {1, 2, 3, 4} and plain_of(stacks[1]) in stacks
    held_out = read_prompts(assets / "prompts" / "held-out.jsonl")
    own = read_prompts(assets / "prompts" / "own.jsonl")
    assert sorted(p.category for p in held_out) == sorted(p.category for p in own)
    assert not {p.text for p in held_out} & {p.text for p in own}
