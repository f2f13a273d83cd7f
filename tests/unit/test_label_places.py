"""Names beside dots: none covers another one or a dot, whatever lies where."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest

from app.kit.static import ASSETS
from app.tabs.planner.answer import answer, planned
from app.tabs.planner.figures.surface import PLACES, label_places
from app.tabs.planner.profiles.plan_request import Look, parse

SIZE = 13
PLOT = (1000.0, 400.0)
Box = tuple[float, float, float, float]


def box(dot: tuple[float, float], name: str, place: str) -> Box:
    """Where plotly puts a name of this length."""
    row, side = place.split()
    wide, high = 0.55 * SIZE * len(name), 1.1 * SIZE
    away = (SIZE + wide) / 2 if row == "middle" else wide / 2
    x = dot[0] + {"left": -away, "center": 0, "right": away}[side]
    y = dot[1] + {"top": -1, "middle": 0, "bottom": 1}[row] * (SIZE + high) / 2
    return x - wide / 2, y - high / 2, x + wide / 2, y + high / 2


def overlap(a: Box, b: Box) -> bool:
    return min(a[2], b[2]) - max(a[0], b[0]) > 1 and min(a[3], b[3]) - max(a[1], b[1]) > 1


@pytest.mark.parametrize(
    "dots",
    [
        [(200.0, 200.0), (205.0, 206.0)],
        [(990.0, 50.0), (985.0, 56.0)],
        [(200.0, 240.0), (206.0, 247.0), (270.0, 234.0), (225.0, 268.0)],
        [(3.0, 3.0), (997.0, 397.0)],
    ],
)
def test_no_name_covers_another_one(dots: list[tuple[float, float]]) -> None:
    names = ["ngram@guess=7", "ngram@guess=3", "ngram@guess=7@window=7", "int8"][: len(dots)]
    places = label_places(dots, names, size=SIZE, dot=SIZE, plot=PLOT)
    boxes = [box(*one) for one in zip(dots, names, places, strict=True)]
    assert not [pair for pair in combinations(boxes, 2) if overlap(*pair)]
    assert all(b[0] >= -2 and b[2] <= PLOT[0] + 2 for b in boxes), "and none leaves the plot"


def test_a_dot_that_is_alone_has_its_name_to_its_right() -> None:
    assert label_places([(100.0, 100.0)], ["int8"], size=SIZE, dot=SIZE, plot=PLOT) == [PLACES[0]] == ["middle right"]


@pytest.mark.parametrize("width", [390, 1440, 1920])
def test_the_levels_of_the_shipped_profile_are_named_apart(width: int) -> None:
    profile = json.loads(Path(ASSETS / "profiles" / "smollm2-cpu-avx512.json").read_text(encoding="utf-8"))
    look = Look(figures=frozenset({"surface"}), width=width)
    dots = answer(planned(parse({"profile": profile})), look)["figures"]["surface"]["figure"]["data"][-1]
    assert len(dots["textposition"]) == len(dots["text"]) > 8
    assert {"middle right"} < set(dots["textposition"]) <= set(PLACES)
