"""`plan`: the answer as JSON and as a table, and what bad input costs."""

from __future__ import annotations

import json

import pytest

from hsd_core.cli import main

PROFILE = {
    "levels": [
        {"name": "m0", "cost_ms": {"1": 0.5, "8": 0.6}},
        {"name": "m1", "cost_ms": {"1": 3, "8": 4}},
        {"name": "target", "cost_ms": {"1": 20, "8": 24}},
    ],
    "acceptance": [[1, 0.8, 0.7], [0, 1, 0.9], [0, 0, 1]],
    "max_block": 16,
}


@pytest.fixture
def profile(tmp_path):
    def write(given=PROFILE):
        path = tmp_path / "profile.json"
        path.write_text(json.dumps(given), encoding="utf-8")
        return str(path)

    return write


def _answer(capsys, *arguments):
    assert main(["plan", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_json_names_levels_blocks_latency_and_speedup(profile, capsys):
    answer = _answer(capsys, "--profile", profile())
    assert set(answer) == {"levels", "blocks", "latency_ms_per_token", "speedup", "alternatives"}
    assert answer["levels"] == ["m0", "m1", "target"] and answer["blocks"] == [4, 8]
    assert answer["latency_ms_per_token"] * answer["speedup"] == pytest.approx(20)
    assert answer["alternatives"]
    for other in answer["alternatives"]:
        assert set(other) == set(answer) - {"alternatives"}
        assert len(other["blocks"]) == len(other["levels"]) - 1
        assert other["latency_ms_per_token"] >= answer["latency_ms_per_token"]


def test_levels_with_specs_make_a_stack(profile, capsys):
    specs = ("ngram", "int8", "target")
    levels = [{**level, "spec": spec} for level, spec in zip(PROFILE["levels"], specs, strict=True)]
    answer = _answer(capsys, "--profile", profile({**PROFILE, "levels": levels}))
    assert answer["stack"] == "ngram:4,int8:8,target"


def test_levels_and_block_lengths_can_be_bounded(profile, capsys):
    assert _answer(capsys, "--profile", profile(), "--levels", "2")["levels"] == ["m1", "target"]
    assert _answer(capsys, "--profile", profile(), "--levels", "1")["blocks"] == []
    assert max(_answer(capsys, "--profile", profile(), "--max-block", "3")["blocks"]) <= 3


def test_the_table_tells_the_plan_and_where_its_time_goes(profile, capsys):
    assert main(["plan", "--profile", profile()]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("best plan: m0:4,m1:8,target\n") and not err
    assert "3.24 x plain" in out and "best by number of levels" in out and "runners-up" in out
    shares = [line.split()[-1] for line in out.splitlines() if line.endswith("%")]
    assert len(shares) == 3 and sum(float(share.rstrip("%")) for share in shares) == pytest.approx(100, abs=0.2)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"acceptance": [[1, 0.8], [0, 1]]}, "acceptance is 2 x 2"),
        ({"acceptance": [[1, 1.8, 0.7], [0, 1, 0.9], [0, 0, 1]]}, "from 0 to 1"),
        ({"version": 9}, "version is 9"),
        ({"edge_cost_ms": {"m0->m7": {"1": 3}}}, "m0->m7"),
    ],
)
def test_a_bad_profile_is_one_line_and_code_2(profile, capsys, change, why):
    assert main(["plan", "--profile", profile({**PROFILE, **change})]) == 2
    out, err = capsys.readouterr()
    assert not out and err.startswith("error: ") and err.count("\n") == 1 and why in err


def test_a_missing_file_and_a_bad_bound_are_code_2(profile, capsys):
    assert main(["plan", "--profile", "nowhere.json"]) == 2
    assert "nowhere.json" in capsys.readouterr().err
    for bound in (["--levels", "0"], ["--max-block", "0"]):
        assert main(["plan", "--profile", profile(), *bound]) == 2
        assert capsys.readouterr().err.count("\n") == 1
