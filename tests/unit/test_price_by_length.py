"""What the tower is told of a stack with a view: its price at a length, ms of passes at each, from where it pays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from profiles import behind

from app.kit.static import ASSETS
from app.tabs.planner.price import Priced, Prices, parse
from app.tabs.planner.profiles.length_tables import length_tables, stretches
from app.tabs.planner.profiles.plan_request import PlannerError
from hsd_core.theory import write_profile
from hsd_core.theory.profiles.by_length import shipped_by_length
from hsd_core.theory.profiles.profile import LONG_TEXTS
from hsd_core.theory.search.prices_by_length import PricesByLength, best_by_view

VIEW = "ngram:2,view:4@budget=256,target"
ALONE = "view:4@budget=256,target"
LENGTHS = (1000, 2000, 4000)


@pytest.fixture(autouse=True)
def _nothing_was_measured_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HSD_CACHE", str(tmp_path / "no-profiles"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Shipped profiles: invented ones by length, and no other."""
    own = tmp_path / "profiles" / "by-length"
    own.mkdir(parents=True)
    for length in LENGTHS:
        write_profile(behind(length), own / f"smollm2-cpu-{length}.json")
    return own.parent


def priced(folder: Path, *stacks: str, **more: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = Prices(folder).answer(Priced("smollm2", stacks, "cpu", **more))["prices"]
    return found


@pytest.mark.parametrize(("asked", "length"), [(None, 1000), (3000, 3000), (9000, 9000)])
def test_a_stack_with_a_view_is_priced_at_the_length_asked_for(folder: Path, asked: int | None, length: int) -> None:
    (price,) = priced(folder, VIEW, length=asked)
    found = shipped_by_length("smollm2", folder=folder / "by-length")
    assert found is not None
    known = PricesByLength(found).price(VIEW, length)
    assert (price["ms"], price["speedup"], price["tokens"]) == (
        known.ms_per_token,
        known.speedup,
        known.tokens_per_round,
    )
    assert price["length"] == length and price["extrapolated"] == (length == 9000)
    assert price["about"]["machine"] == "a test" and price["about"]["source"] == "shipped"


def test_each_measured_length_has_its_milliseconds_and_the_first_that_pays_is_said(folder: Path) -> None:
    (price,) = priced(folder, ALONE)
    assert [row["length"] for row in price["by_length"]] == [*LENGTHS]
    for row in price["by_length"]:
        assert row["ms"] == {"view": 12.0, "target": 10.0 + 0.01 * row["length"]}
        assert row["speedup"] == priced(folder, ALONE, length=row["length"])[0]["speedup"]
    first = price["pays_from"]
    assert LENGTHS[0] < first < LENGTHS[-1]
    before, at = (priced(folder, ALONE, length=n)[0]["speedup"] for n in (first - 1, first))
    assert before <= 1 < at


def test_other_stacks_are_priced_as_before_beside_it(folder: Path) -> None:
    answer = Prices(ASSETS / "profiles").answer(Priced("smollm2", ("ngram:3,int8:6,target",), "cpu", length=5000))
    assert "length" not in answer["prices"][0] and answer["prices"][0]["speedup"] > 0
    view, other = priced(folder, VIEW, "int8:2,target")
    assert "ms" in view and "there is no profile of smollm2" in other["reason"]


def test_what_a_view_is_worth_is_told_at_one_length_for_the_stack_without_it_too(folder: Path) -> None:
    question = {"length": 4000, "by_length": True}
    view, without, unknown = priced(folder, VIEW, "ngram:2,target", "exit:4@at=4,target", **question)
    assert view["length"] == without["length"] == 4000 and view["speedup"] > without["speedup"]
    found = shipped_by_length("smollm2", folder=folder / "by-length")
    assert found is not None and without["speedup"] == PricesByLength(found).price("ngram:2,target", 4000).speedup
    assert "exit:4@at=4 is not in this profile" in unknown["reason"]
    asked = {"preset": "smollm2", "stacks": ["target"]}
    assert parse({**asked, "by_length": True}).by_length and not parse(asked).by_length


@pytest.mark.parametrize(
    ("stack", "more", "said"),
    [
        ("view:4@budget=512,target", {}, "calibrate --preset smollm2 --levels view@budget=512,target --length 1000"),
        (VIEW, {"temperature": 0.8}, "set the temperature to 0"),
        ("view:20@budget=256,target", {}, "blocks of up to 16"),
    ],
)
def test_what_cannot_be_priced_says_why(folder: Path, stack: str, more: dict[str, Any], said: str) -> None:
    (price,) = priced(folder, stack, **more)
    assert said in price["reason"] and price["reason"].startswith(price["brief"])


def test_without_such_profiles_the_refusal_names_the_command(tmp_path: Path) -> None:
    (price,) = priced(tmp_path, VIEW)
    command = "calibrate --preset smollm2 --levels ngram,view@budget=256,target --length 4096 --prompts assets/prompts/"
    assert command in price["reason"] and "--out assets/profiles/by-length/smollm2-cpu-4096.json" in price["reason"]
    assert (ASSETS.parent / LONG_TEXTS).is_file()
    assert "length of the text" in price["brief"]


@pytest.mark.parametrize("length", [0, -1, 1.5, True, "many", 10_000_000])
def test_a_length_that_is_none_is_refused(length: Any) -> None:
    with pytest.raises(PlannerError, match="length: enter the tokens"):
        parse({"preset": "smollm2", "stacks": [VIEW], "length": length})


def test_a_length_comes_with_the_question() -> None:
    assert parse({"preset": "smollm2", "stacks": [VIEW], "length": 3163}).length == 3163
    assert parse({"preset": "smollm2", "stacks": [VIEW]}).length is None


def test_the_planners_table_has_the_measured_passes_and_the_prices_of_two_stacks_by_length(folder: Path) -> None:
    (table,) = length_tables(folder / "by-length")["tables"]
    assert (table["preset"], table["device"], table["about"]["machine"]) == ("smollm2", "cpu", "a test")
    assert [level["name"] for level in table["levels"]] == ["target", "int8", "view"]
    assert [row["ms"] for row in table["rows"]] == [[10 + 0.01 * n, 5 + 0.01 * n, 12.0] for n in LENGTHS]
    view, other = table["lines"]
    assert view["view"] and not other["view"]
    best = [[row["best"][place] for row in table["rows"]] for place in (0, 1)]
    assert all("view:" in one["stack"] for one in best[0]) and not any("view:" in one["stack"] for one in best[1])
    found = shipped_by_length("smollm2", folder=folder / "by-length")
    assert found is not None
    over = PricesByLength(found)

    def gain(place: int, length: int) -> float:
        return max(over.price(one["stack"], length).speedup for one in best[place])

    for line, place in ((view, 0), (other, 1)):
        assert {n for n, _ in line["points"]} >= {*LENGTHS}
        assert all(found == gain(place, n) for n, found in line["points"])
        for n, profile, one in zip(LENGTHS, found.profiles, best[place], strict=True):
            exact = best_by_view(profile)[place]
            assert exact is not None and one["speedup"] == pytest.approx(exact.prediction.speedup)
            assert dict(line["points"])[n] == one["speedup"] == over.price(one["stack"], n).speedup
    grid = [n for n, _ in view["points"]]
    ahead = [n for n in grid if gain(0, n) > gain(1, n)]
    assert ahead == [n for n in grid if any(low <= n <= high for low, high in table["ahead"])], "as the lines are drawn"
    assert table["ahead"][-1] == [table["overtakes"], LENGTHS[-1]]
    first = table["overtakes"]
    assert gain(0, first - 1) <= gain(1, first - 1) and gain(0, first) > gain(1, first)


def test_where_a_view_is_ahead_is_told_to_the_token_of_every_stretch() -> None:
    """Ahead at short texts, behind in between, and ahead again: each stretch has its ends, as the picture has."""

    def gain(n: int) -> float:
        return 1.1 if n <= 357 or n >= 453 else 0.9

    assert stretches(gain, [100, 200, 300, 400, 500, 600]) == [[100, 357], [453, 600]]
    assert stretches(gain, [400, 420]) == [] and stretches(gain, [100, 200]) == [[100, 200]]
    assert stretches(gain, [400, 500, 600]) == [[453, 600]]


def test_profiles_that_do_not_belong_together_have_their_reason_in_the_place_of_a_table(folder: Path) -> None:
    write_profile(behind(8000).only((1, 2, 3)), folder / "by-length" / "smollm2-cpu-8000.json")
    (table,) = length_tables(folder / "by-length")["tables"]
    assert "other levels" in table["error"] and "rows" not in table
    (price,) = priced(folder, VIEW)
    assert "other levels" in price["reason"]
    assert length_tables(folder / "none")["tables"] == []
