"""What two lanes on one core each cost each other: measured, kept in a profile, said in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hsd_core.cli import main
from hsd_core.cli.lab.calibrate import contention_lines
from hsd_core.lab import contention
from hsd_core.pipeline import Pipeline
from hsd_core.theory import ProfileError, profile_from, read_profile, write_profile
from hsd_core.theory.profiles.cores import needed_gain, one_core_each

LEVELS = [
    {"name": "ngram", "cost_ms": 0.1, "spec": "ngram", "hit_rate": 0.5},
    {"name": "low", "cost_ms": 1.0, "spec": "table@id=order1"},
    {"name": "top", "cost_ms": 9.0, "spec": "table@id=order6"},
]
GIVEN: dict[str, Any] = {"levels": LEVELS, "acceptance": [[1, 0.5, 0.4], [0, 1, 0.8], [0, 0, 1]]}
MEASURED = {
    "threads": {"1": {"low": {"1": 1.8}, "top": {"5": 12.0}}, "2": {"low": {"1": 1.0}, "top": {"5": 10.0}}},
    "contention": {"low->top": [1.1, 1.5]},
}


def test_a_profile_with_and_without_it_reads_back_as_it_was_written(tmp_path: Path) -> None:
    for given in (GIVEN, {**GIVEN, **MEASURED}):
        profile = profile_from(given)
        write_profile(profile, tmp_path / "profile.json")
        assert read_profile(tmp_path / "profile.json") == profile
    assert "threads" not in profile_from(GIVEN).as_dict() and profile.as_dict()["contention"] == {
        "low->top": [1.1, 1.5]
    }


def test_overlapping_pays_above_both_factors_of_the_bottleneck() -> None:
    profile = profile_from({**GIVEN, **MEASURED})
    low, top = one_core_each(profile, 1, 2) or pytest.fail("nothing was measured")
    assert (low.sigma, low.kappa, top.sigma, top.kappa) == pytest.approx((1.8, 1.1, 1.2, 1.5))
    assert needed_gain(profile, 1, 2) == pytest.approx((1.98, 1.8))
    assert needed_gain(profile, 0, 2) is None and needed_gain(profile_from(GIVEN), 1, 2) is None
    said = "\n".join(contention_lines(profile))
    assert "cannot be" not in said
    doubtful = profile_from({**GIVEN, **MEASURED, "contention": {"low->top": [0.7, 1.5]}})
    assert "something else was at work" in "".join(contention_lines(doubtful))
    assert "low beside top" in said and "exceeds 1.98 (low the bottleneck) or 1.80 (top)" in said


def test_it_stays_with_its_levels() -> None:
    kept = profile_from({**GIVEN, **MEASURED}).only((1, 2))
    assert needed_gain(kept, 0, 1) == pytest.approx((1.98, 1.8))
    assert kept.only((1,)).contention == {} and kept.only((1,)).threads[1].keys() == {0}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"contention": {"low->top": [1.1, -2]}}, "two positive numbers"),
        ({"contention": {"low->top": [1.1]}}, "contention"),
        ({"contention": {"top->low": [1.1, 1.2]}}, "must stand below"),
        ({"contention": {"low": [1.1, 1.2]}}, "drafter->verifier"),
        ({"threads": {"many": {"low": 1.0}}}, "a number of threads"),
        ({"threads": {"0": {"low": 1.0}}}, "1 or more threads"),
        ({"threads": {"1": {"nobody": 1.0}}}, "names 'nobody'; levels are ngram, low, top"),
        ({"threads": {"1": {"low": {"1": -1}}}}, "threads 1 of 'low'"),
    ],
)
def test_nonsense_is_refused_in_words(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ProfileError, match=said):
        profile_from({**GIVEN, **wrong})


def test_two_lanes_are_timed_alone_and_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contention, "model_threads", lambda: 2)
    monkeypatch.setattr(contention, "two_cores", lambda: (0, 1))
    found = contention.measure_contention(Pipeline.open("toy"), profile_from(GIVEN), seconds=0.01)
    assert found.threads.keys() == {1, 2} and found.contention.keys() == {(1, 2)}
    assert needed_gain(found, 1, 2) is not None and found.levels == profile_from(GIVEN).levels
    assert profile_from(found.as_dict()) == found


def test_what_cannot_be_measured_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contention, "two_cores", lambda: None)
    with pytest.raises(ValueError, match="two lanes need two cores"):
        contention.measure_contention(Pipeline.open("toy"), profile_from(GIVEN))
    for name in ("cached_profile", "quick_profile"):
        monkeypatch.setattr(f"hsd_core.theory.profiles.kept.{name}", lambda *_: None)
    asked = ["calibrate", "--preset", "toy", "--contention"]
    assert main([*asked, "--out", str(tmp_path / "none.json")]) == 2
    assert "measure one first" in capsys.readouterr().err
    assert main([*asked, "--quick"]) == 2
    assert "leave --quick or --contention out" in capsys.readouterr().err
