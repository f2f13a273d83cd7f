"""Scaling laws of acceptance: which trainings a sweep has, what it counts, the line over tokens, what it is worth."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from test_training import FED, NANO, PLAN, Bench, data, states, target  # noqa: F401

from hsd_core import pipeline
from hsd_core.cli import main
from hsd_core.measure.rawfile import read_raw
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.models.one_pass import Pass
from hsd_core.systems.nano.train.data.batches import collate, order, outputs
from hsd_core.systems.nano.train.data.features import Features
from hsd_core.systems.nano.train.evaluation import prepare
from hsd_core.systems.nano.train.recipes import DraftShape
from hsd_core.systems.nano.train.scaling.law import FARTHEST, Line, Readings, Walk, law, walk
from hsd_core.systems.nano.train.scaling.sweep import Training, fitted_to, greedy, judged, nested, planned
from hsd_core.systems.nano.train.scaling.sweep_study import LOADS, TABLES, study
from hsd_core.systems.nano.train.students.student import Batch, Student
from hsd_core.theory.profiles.costs import Costs
from hsd_core.theory.profiles.profile_store import shipped_profiles
from hsd_core.theory.profiles.under_load import under_load, with_joint
from hsd_core.theory.search.planner import best_block_lengths


def student_of(target: LeanDecoder, draft: DraftShape, rows: int = 40) -> Student:  # noqa: F811
    torch.manual_seed(5)
    student = Student(target, draft, range(rows))
    with torch.no_grad():
        student.read.copy_(torch.randn_like(student.read) * 0.1)
    return student


def test_a_sweep_has_shares_of_the_draft_as_it_is_and_one_other_size_at_a_time() -> None:
    found = planned(FED, replace(PLAN, rows=8192))
    own = [one.share for one in found if (one.layers, one.rows) == (1, 8192)]
    assert own == [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0]
    others = [one for one in found if (one.layers, one.rows) != (1, 8192)]
    assert others == [Training(1 / 4, 2, 8192), Training(1 / 4, 1, 2048), Training(1 / 4, 1, 32768)]
    assert [one.share for one in found] == sorted(one.share for one in found), "a sweep that is cut short has a line"
    assert len(set(planned(replace(FED, layers=2), PLAN))) == 5 + 1 + 3


def test_a_smaller_share_lies_within_a_larger_one_and_every_text_is_read_as_often_as_asked(
    target: LeanDecoder,  # noqa: F811
    data: Path,  # noqa: F811
) -> None:
    texts = states(target, data, data.parent, set())
    whole = sum(map(outputs, texts))
    before: list[object] = []
    for share in (1 / 16, 1 / 4, 1.0):
        part = nested(texts, share)
        assert part[: len(before)] == before and len(part) > len(before)
        held = sum(map(outputs, part))
        assert share * whole <= held < share * whole + max(map(outputs, texts))
        plan = fitted_to(PLAN, part, Training(share, 1, 40), epochs=2)
        assert plan.warm <= max(1, plan.steps // 4)
        seen = [id(f) for _, group in zip(range(plan.steps), order(part, plan.batch, 0), strict=False) for f in group]
        assert sorted(seen) == sorted([id(f) for f in part] * 2)
        before = list(part)


def test_rounds_begin_where_the_last_one_failed() -> None:
    all_, none = [[True] * 6] * 2, [[False] * 6] * 2
    assert walk(all_) == Walk(accepted=4, rejected=0, passes=2)
    assert walk(none) == Walk(accepted=0, rejected=6, passes=6)
    first, second = [True, True, False, True, True, True], [False, False, False, False, True, True]
    # 0 accepted, 1 rejected at its second place and put right; 2 rejected; 3 and 4 accepted, 5 is the target's own
    assert walk([first, second]) == Walk(accepted=3, rejected=2, passes=3)


@pytest.mark.parametrize("draft", [FED, NANO], ids=lambda d: d.name)
def test_what_is_counted_is_what_a_run_along_the_text_would_do(
    draft: DraftShape,
    target: LeanDecoder,  # noqa: F811
    data: Path,  # noqa: F811
) -> None:
    student = student_of(target, draft)
    texts = states(target, data, data.parent, set())[:3]
    found = judged(student, target, texts)
    for text, row, bare in zip(texts, found["gate"], found["own"], strict=True):
        n, agreed, overlap, accepted, rejected, passes = row
        assert n == outputs(text) == bare[0] and 0.0 <= overlap <= n
        assert accepted + passes >= n and rejected <= passes
        batch = collate([text], target, draft, device="cpu")
        with torch.no_grad():
            g = next(student.drafted(batch, 1))[batch.wanted[:, batch.first :]]
            own = student.logits(g, student.copies(batch))
        assert agreed == int((student.says(own, batch) == prepare(batch, target).best).sum())
    assert found["gate"] != found["own"], "copies change what is drafted"


def test_without_copies_a_token_that_the_head_lacks_is_never_right(
    target: LeanDecoder,  # noqa: F811
    data: Path,  # noqa: F811
) -> None:
    texts = states(target, data, data.parent, set())[:6]
    student = student_of(target, FED, rows=1)
    wanted = [t for f in texts for t in prepare(_batch(target, f), target).best.tolist()]
    counted = sum(row[1] for row in judged(student, target, texts)["own"])
    assert counted <= wanted.count(int(student.ids[0]))


def _batch(target: LeanDecoder, text: Features) -> Batch:  # noqa: F811
    return collate([text], target, FED, device="cpu")


def test_a_line_is_found_again_and_its_largest_point_has_no_say_in_it() -> None:
    tokens = [1000, 2000, 4000, 8000, 16000]
    straight = np.array([0.2, 0.23, 0.26, 0.29, 0.32])
    drawn = np.tile(straight[:, None], (1, 50)) + np.linspace(-0.01, 0.01, 50)
    found = law(tokens, straight, drawn)
    assert found.slope.value == pytest.approx(0.03) and found.slope.interval == pytest.approx((0.03, 0.03))
    assert found.predicted.value == pytest.approx(0.32) and found.off.value == pytest.approx(0.0)
    assert found.residuals == pytest.approx((0.0,) * 4)
    bent = straight.copy()
    bent[-1] = 0.3
    other = law(tokens, bent, drawn)
    assert other.slope == found.slope and other.predicted == found.predicted
    assert other.off.value == pytest.approx(-0.02)
    assert other.reaches(32000).value == pytest.approx(float(Line.through(tokens, bent).at(32000)))
    assert other.reaches(32000).value < found.reaches(32000).value


def test_a_line_is_never_extended_beyond_four_times_its_tokens() -> None:
    tokens, values = [10, 20, 40, 80], np.array([0.1, 0.2, 0.3, 0.4])
    found = law(tokens, values, np.tile(values[:, None], (1, 9)))
    assert found.reaches(FARTHEST * 80).value == pytest.approx(0.6)
    with pytest.raises(ValueError, match="more than 4 times the 80"):
        found.reaches(321)
    with pytest.raises(ValueError, match="cannot be checked"):
        law(tokens[:3], values[:3], values[:3, None])


def test_all_trainings_are_judged_by_the_same_texts_in_a_resample() -> None:
    """Two texts of very different difficulty: the interval of a level is wide, that of the slope is not."""
    rows = [[[100, 90 + k, 90.0, 45 + k, 5, 55], [100, 10 + k, 10.0, 5 + k, 80, 95]] for k in range(4)]
    trainings = [{"judged": {"held_out": {"gate": each, "own": each}}} for each in rows]
    readings = Readings(trainings, "held_out")
    first = readings.reading(0, "gate", "agreement")
    assert first.value == pytest.approx(0.5) and first.interval[1] - first.interval[0] > 0.5
    found = readings.law(range(4), [10, 20, 40, 80], "gate", "agreement")
    assert found.slope.interval == pytest.approx((0.01, 0.01))
    assert readings.reading(0, "own", "tokens_per_pass").value == pytest.approx(200 / 150)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the target of `Bench` wrote greedily, one prompt in three drawn instead."""
    decoder, random, lines = Bench().lean_target("target"), torch.Generator().manual_seed(1), list[str]()
    for i in range(60):
        ids = torch.randint(3, 61, (5,), generator=random).tolist()
        prompt = list(ids)
        for _ in range(12):
            logits = decoder.forward(Pass(ids, 0, 1), decoder.new_cache(64))[0]
            ids.append(int((logits + (i % 3 == 0) * 9 * torch.randn(61, generator=random)).argmax()))
        lines.append(json.dumps({"prompt_ids": prompt, "output_ids": ids[5:], "loop_from": 12}))
    path = tmp_path_factory.mktemp("data") / "written.jsonl"
    path.write_text("\n".join(lines))
    return path


def test_texts_that_were_drawn_do_not_judge(written: Path, tmp_path: Path) -> None:
    decoder = Bench().lean_target("target")
    texts = states(decoder, written, tmp_path, set())
    found = greedy(decoder, texts)
    assert len(texts) == 60 and len(found) == 40
    assert all(text.example.start == text.example.prompt for text in found)
    drawn = [text for text in texts if text.example not in [one.example for one in found]]
    with pytest.raises(ValueError, match="none of 20 texts that judge was written greedily"):
        greedy(decoder, drawn)


@pytest.fixture
def command(written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(pipeline, "Pipeline", Bench)
    options = {"recipe": "nano", "data": written, "out": tmp_path / "sweep.jsonl", "work": tmp_path / "work"}
    own = ["--sweep", "--only", "nano-fed", "--judge", str(written), "--batch", "40", "--rows", "40", "--epochs", "2"]
    return ["train", *own, *(f"--{k}={v}" for k, v in options.items())]


def test_a_sweep_that_was_stopped_goes_on_and_writes_a_line_a_training(
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = iter([False] * 40 + [True])
    monkeypatch.setattr("hsd_core.systems.nano.command._interrupt", lambda: lambda: next(asked, True))
    assert main(command) == 130
    assert "the same command goes on from here" in capsys.readouterr().err
    about, begun = read_raw(tmp_path / "sweep.jsonl")
    assert about["kind"] == "sweep" and about["draft"]["name"] == "nano" and about["epochs"] == 2
    monkeypatch.setattr("hsd_core.systems.nano.command._interrupt", lambda: lambda: False)
    assert main(command) == 0
    out, err = capsys.readouterr()
    assert out == f"{tmp_path / 'sweep.jsonl'}\n" and "min left of all" in err
    _, records = read_raw(tmp_path / "sweep.jsonl")
    assert records[: len(begun)] == begun and len(begun) < len(records)
    sizes = [(r["share"], r["layers"], r["asked_rows"]) for r in records]
    assert sizes == [(one.share, one.layers, one.rows) for one in planned(FED, replace(PLAN, rows=40))]
    tokens = [r["tokens"] for r in records]
    assert tokens == sorted(tokens) and tokens[-1] == about["tokens"]
    assert about["judges"] == ["held_out", "other"]
    for texts in about["judges"]:
        assert len({len(r["judged"][texts][gate]) for r in records for gate in ("gate", "own")}) == 1
    assert not [*(tmp_path / "work").rglob("checkpoint*")], "a finished training keeps none"
    assert main(command) == 0, "nothing is left to do"
    assert read_raw(tmp_path / "sweep.jsonl")[1] == records


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--steps", "3"], "leave --steps out"),
        (["--only", "exit4"], "--sweep trains one draft; name it by --only"),
        (["--batch", "41"], "holds results with another hyperparameters"),
    ],
)
def test_a_sweep_refuses_what_it_sets_itself_or_began_otherwise(
    options: list[str],
    said: str,
    command: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("hsd_core.systems.nano.command._interrupt", lambda: lambda: True)
    assert main(command) == 130
    capsys.readouterr()
    assert main([*command, *options]) == 2
    assert said in capsys.readouterr().err


def test_what_only_a_sweep_reads_is_refused_without_one(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([each for each in command if each != "--sweep"]) == 2
    assert "--judge is for --sweep alone" in capsys.readouterr().err


@pytest.fixture(scope="module")
def swept() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A sweep as its file holds it, with made-up counts."""
    about = {
        "draft": {"name": "nano", "at": 0.0, "fed": True, "layers": 1, "depth": 0},
        "epochs": 1,
        "hyperparameters": {"rows": 8192, "seed": 0, "batch": 256},
        "judges": ["held_out", "other"],
    }
    records = []
    for k, one in enumerate(planned(FED, replace(PLAN, rows=8192))):
        right = round(4 * np.log2(16 * one.share)) + k % 2
        rows = [[100, 40 + right, 40.0, 30 + right, 60 - right, 70 - right], [50, 20, 20.0, 10, 30, 40]]
        size = {"share": one.share, "layers": one.layers, "asked_rows": one.rows, "rows": one.rows}
        took = {"seconds": 9.0, "core_seconds": 1000.0 * one.share, "steps": 5, "texts": 3, "seed": 0}
        weights = {"weights": 4_000_000 * one.layers, "weight_share": 0.06}
        judged_ = {texts: {"gate": rows, "own": rows} for texts in about["judges"]}
        records.append(
            {"what": "training", **size, **took, **weights, "tokens": int(160000 * one.share), "judged": judged_}
        )
    return about, records


def test_an_hour_of_training_is_priced_by_the_recursion_and_goes_no_further_than_the_line(swept: Any) -> None:
    about, records = swept
    profile = next(one for one in shipped_profiles() if "nano" in one.names and one.temperature == 0)
    found = study(about, records, profile)
    told = found["hour"]
    assert told["per_hour"] == 576_000 and told["tokens"] == 4 * 160_000 and told["texts"] == "other"
    assert told["hours"] == pytest.approx(3 * 160_000 / 576_000, abs=1e-3)
    law_ = found["laws"]["other"]["gate"]["acceptance"]
    assert told["acceptance"] == {"now": law_["measured"], "then": law_["ahead"][-1][1:]}
    alone = told["stacks"][0]
    assert alone["stack"] == "nano,target"
    pair = (profile.index("nano"), profile.target)
    for when in ("now", "then"):
        rate = told["acceptance"][when][0]
        gain, _ = best_block_lengths(profile.with_acceptance({pair: rate}), pair)
        assert alone["tokens_per_s"][when][0] == pytest.approx(gain * alone["plain"], rel=1e-3)
    quick = [{**one, "core_seconds": one["core_seconds"] * 1e3} for one in records]
    assert study(about, quick, profile)["hour"]["hours"] == pytest.approx(1.0)
    assert study(about, records, None)["hour"]["stacks"] == [] == study(about, records, None)["loads"]
    loads = found["loads"]
    assert [one["load"] for one in loads] == [*LOADS] and [one["measured"] for one in loads] == [True] + [False] * 5
    for one in loads:
        shared = under_load(profile, one["load"])
        for tokens, gain, block in one["gains"]:
            rate = next(
                t["judged"]["other"]["gate"]["acceptance"][0] for t in found["trainings"] if t["tokens"] == tokens
            )
            best = best_block_lengths(shared.with_acceptance({pair: rate}), pair)
            assert (gain, block) == (pytest.approx(best[0], abs=1e-4), best[1][0])
    joint = {"target": {load: Costs((1, 64), (14.0, 14.0)) for load in (1, 2)}}
    assert [one["measured"] for one in study(about, records, profile, with_joint(profile, joint))["loads"]][:3] == [
        True,
        True,
        False,
    ]


def test_too_few_trainings_are_shown_without_a_line(swept: Any) -> None:
    about, records = swept
    found = study(about, records[:3], None)
    assert len(found["trainings"]) == 3 and found["laws"] == {} and found["hour"] is None
    for name in TABLES:
        assert TABLES[name](found).startswith("| ")


def test_tables_hold_every_training_line_and_size(swept: Any) -> None:
    about, records = swept
    found = study(about, records, None)
    rows = {name: table(found).splitlines()[2:] for name, table in TABLES.items()}
    assert len(rows["trainings"]) == len(records) * 4 and len(rows["lines"]) == 4 * 4
    assert len(rows["sizes"]) == 4, "the draft as it is, and three others at one share"
    law_ = found["laws"]["held_out"]["own"]["acceptance"]
    assert any(
        f"{law_['slope'][0]:+.3f} (" in row and f"| {law_['predicted'][0]:.3f} (" in row for row in rows["lines"]
    )
