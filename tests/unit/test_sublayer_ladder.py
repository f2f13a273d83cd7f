"""The map of sublayers on a card: the shipped ladder is whole, its sets are its path, others are left out."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from app.kit.static import ASSETS
from app.tabs.atlas.systems import Systems
from hsd_core.models.drafts.known_drafts import FOLDER
from hsd_core.systems.skip.page import drawn
from hsd_core.systems.skip.sublayer_sets import shipped_sets

NAME = "smollm2-sublayers"
RAW = json.loads((FOLDER / f"{NAME}.json").read_text(encoding="utf-8"))


def test_the_shipped_ladder_has_every_sublayer_once() -> None:
    found = drawn(FOLDER, NAME)
    assert found is not None
    every = {(kind, layer) for kind in ("attention", "mlp") for layer in range(found["layers"])}
    assert {(one["kind"], one["layer"]) for one in found["alone"]} == every and len(found["alone"]) == len(every)
    steps = [(one["kind"], one["layer"]) for one in found["path"]]
    assert len(set(steps)) == len(steps) and set(steps) <= every
    assert [one["left"] for one in found["path"]] == sorted((one["left"] for one in found["path"]), reverse=True)
    assert found["answer"].startswith("Skip nothing: ") == all(one["speed_up"] <= 1.0 for one in found["path"])


def test_its_sets_are_the_first_steps_of_its_path() -> None:
    sets = shipped_sets("smollm2")
    assert [one.name for one in sets] == ["smollm2-skip4", "smollm2-skip8", "smollm2-skip12"]
    for one in sets:
        first = {(step["kind"], step["layer"]) for step in RAW["path"][: one.count]}
        assert first == {*(("attention", i) for i in one.attention), *(("mlp", i) for i in one.mlp)}
        assert (one.fingerprint, one.layers) == (RAW["fingerprint"], RAW["layers"])
        assert one.measured["agree"] == RAW["path"][one.count - 1]["agree"]


def test_a_card_names_it() -> None:
    cards = Systems(ASSETS / "systems").found
    assert cards["draft-and-verify"].draws == {"skip": NAME}
    assert [name for name, one in cards.items() if one.draws] == ["draft-and-verify"]


@pytest.mark.parametrize(
    "change", [{"alone": [{"kind": "norm", "layer": 0, "agree": 1.0}]}, {"places": 0}, {"path": 3}, {"layers": -1}]
)
def test_what_is_no_ladder_is_left_out_and_the_log_says_why(
    tmp_path: Path, change: dict, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "mine.json").write_text(json.dumps(RAW), encoding="utf-8")
    assert drawn(tmp_path, "mine") is not None
    (tmp_path / "mine.json").write_text(json.dumps({**RAW, **change}), encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        assert drawn(tmp_path, "mine") is None and drawn(tmp_path, "absent") is None
    assert "mine.json" in caplog.text and next(iter(change)) in caplog.text and "absent.json" in caplog.text
