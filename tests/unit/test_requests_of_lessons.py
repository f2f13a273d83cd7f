"""What the lesson on many requests at once is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.tabs.learn.many_requests import many_requests
from hsd_core.theory import Costs, Profile, ProfileLevel, write_profile


def test_passes_of_the_target_by_load_and_a_prediction_where_nothing_was_measured(tmp_path: Path) -> None:
    joint = {1: Costs((1, 4), (10.0, 11.0)), 8: Costs((1, 4), (40.0, 80.0))}
    draft = ProfileLevel("draft", Costs.constant(1.0), spec="nano", joint={n: Costs.constant(1.0) for n in joint})
    target = ProfileLevel("target", Costs((1, 4), (10.0, 11.0)), spec="target", joint=joint)
    about = {"machine": "two cores", "preset": "none"}  # no benchmark is of it
    profile = Profile((draft, target), ((1.0, 0.7), (0.0, 1.0)), max_block=4, about=about)
    assert many_requests(tmp_path) == {}
    write_profile(profile, tmp_path / "smollm2-cpu.json")
    found = many_requests(tmp_path)
    assert (found["loads"], found["rows"], found["pass_ms"]) == ([1, 8], [1, 4], [[10.0, 11.0], [40.0, 80.0]])
    assert found["about"]["machine"] == "two cores" and not found["measured"]
    alone, crowd = found["gains"]
    assert alone["speed_up"] > 1 > 0 and alone["speed_up"] > crowd["speed_up"]
    assert crowd["interval"] == [crowd["speed_up"]] * 2
    here, h100, phone = found["machines"]
    assert (here["rows"], here["twice"]) == ([*(2**i for i in range(11))], 4)  # 10 ms at 1 row, 40 at 8, 80 at 32
    assert here["times"][3] == pytest.approx(4.0) and not here["computed"]
    assert h100["computed"] and h100["twice"] > 500 and phone["computed"] and phone["twice"] < here["twice"] * 4
    write_profile(replace(profile, levels=(draft, replace(target, joint={}))), tmp_path / "smollm2-cpu.json")
    assert many_requests(tmp_path) == {}
