"""Profiles by the length of the text: between them and beyond, what stacks cost there, and from where one pays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from profiles import behind

from hsd_core.cli import main
from hsd_core.models.machine import AVX512
from hsd_core.theory import Costs, Profile, ProfileError, plan_of, write_profile
from hsd_core.theory.profiles.by_length import ProfilesByLength, shipped_by_length
from hsd_core.theory.search.prices_by_length import (
    FURTHER,
    PricesByLength,
    best_by_view,
    depends_on_length,
    pays_from,
    views_of,
)

VIEW = "view:4@budget=256,target"


def two(**more: float) -> ProfilesByLength:
    return ProfilesByLength((behind(1000), behind(3000, **more)))


def by_hand(length: float, agree: float, block: int = 4, view: float = 12.0) -> float:
    """Speed-up of a view that drafts for the target, where the target takes 10 + length / 100 and 1 a row more."""
    tokens = sum(agree**k for k in range(block + 1))
    whole = 10 + 0.01 * length
    return tokens * whole / (block * view + whole + block)


@pytest.mark.parametrize("length", [1000, 1500, 2000, 3000])
def test_between_two_lengths_costs_and_acceptances_lie_on_lines(length: int) -> None:
    found = PricesByLength(two(agree=0.6))
    agree = 0.8 - 0.2 * (length - 1000) / 2000
    assert found.price(VIEW, length).speedup == pytest.approx(by_hand(length, agree))
    assert found.measured.measured(length) and found.measured.at(length).about["length"] == length


@pytest.mark.parametrize(("length", "agree"), [(400, 0.8), (9000, 0.6)])
def test_beyond_the_ends_costs_go_on_and_acceptances_stay(length: int, agree: float) -> None:
    found = PricesByLength(two(agree=0.6))
    assert found.price(VIEW, length).speedup == pytest.approx(by_hand(length, agree))
    assert not found.measured.measured(length)


def test_at_a_measured_length_the_profile_is_the_measured_one() -> None:
    found = two()
    assert [found.at(n) for n in found.lengths] == list(found.profiles)


def test_costs_never_fall_as_the_text_grows_nor_to_nothing_as_it_shrinks() -> None:
    falls = ProfilesByLength((behind(1000, target=0.05), behind(2000, target=0.01)))
    assert falls.at(1500).plain_ms == pytest.approx(45.0)
    assert falls.at(8000).plain_ms == falls.at(2000).plain_ms and falls.at(10).plain_ms == falls.at(1000).plain_ms
    steep = ProfilesByLength((behind(1000), behind(2000, target=0.5)))
    assert 0 < steep.at(1).plain_ms < 1


def test_row_counts_of_either_and_what_else_a_profile_holds_are_between() -> None:
    def told(profile: Profile, rows: int, part: float) -> Profile:
        lookup, *others, target = profile.levels
        cost = Costs((1, rows), (20.0, 20.0 + rows))
        levels = (replace(lookup, hit_rate=part, reach=(1.0, part)), *others, replace(target, cost=cost))
        pairs = {(1, 3): Costs.constant(8.0 + part)}
        return replace(profile, levels=levels, edge_cost=pairs, round_ms=part, by_width={(1, 3): (part, part)})

    found = ProfilesByLength((told(behind(100), 5, 0.2), told(behind(200), 9, 0.4)))
    middle = found.at(150)
    assert middle.levels[-1].cost.rows == (1, 5, 9)
    assert middle.levels[-1].cost(5) == pytest.approx((25.0 + 20.0 + 9.0 * 4 / 8) / 2)
    assert (middle.levels[0].hit_rate, middle.round_ms) == (pytest.approx(0.3), pytest.approx(0.3))
    assert middle.levels[0].reach == (1.0, pytest.approx(0.3)) and middle.by_width[1, 3] == pytest.approx((0.3, 0.3))
    assert middle.verify_cost(1, 3)(4) == pytest.approx(8.3)


@pytest.mark.parametrize(
    ("profiles", "said"),
    [
        ((), "calibrate --length"),
        ((behind(200), behind(100)), "rising"),
        ((behind(200), behind(200)), "each length once"),
        ((replace(behind(200), about={}),), "tokens of text"),
        ((behind(200), replace(behind(400), temperature=0.8)), "same --levels and temperature"),
        ((behind(200), behind(400).only((1, 2, 3))), "view@budget=256,int8,target, not ngram,view@budget=256"),
    ],
)
def test_profiles_that_do_not_belong_together_are_refused(profiles: tuple[Profile, ...], said: str) -> None:
    with pytest.raises(ProfileError, match=said):
        ProfilesByLength(profiles)


def test_no_text_has_no_tokens() -> None:
    with pytest.raises(ProfileError, match="1 or more"):
        two().at(0)


def test_the_first_length_at_which_a_stack_pays_is_found_by_bisection() -> None:
    found = PricesByLength(two())
    first = found.pays_from(VIEW)
    pays = [length for length in range(1000, 3001) if by_hand(length, 0.8) > 1]
    assert first == pays[0] and by_hand(first, 0.8) > 1 >= by_hand(first - 1, 0.8)
    assert found.pays_from("ngram:2,target") == 1000  # at the shortest already


def test_a_stack_that_pays_beyond_the_measured_lengths_alone_says_from_where_and_one_that_never_does() -> None:
    low = PricesByLength(ProfilesByLength((behind(100, agree=0.75), behind(200, agree=0.75))))
    assert low.pays_from("view:2@budget=256,target") is None  # up to FURTHER times the longest
    at = next(n for n in range(200, 200 * FURTHER + 1) if by_hand(n, 0.9, 2) > 1)
    high = PricesByLength(ProfilesByLength((behind(100, agree=0.9), behind(200, agree=0.9))))
    assert high.pays_from("view:2@budget=256,target") == at > 200


def test_a_gain_that_is_lost_again_does_not_pay_from_there_on() -> None:
    assert pays_from(lambda n: 2.0 if n >= 250 else 0.5, (100, 200, 300, 400)) == 250
    assert pays_from(lambda n: 2.0 if n < 150 or n >= 350 else 0.5, (100, 200, 300, 400)) == 350
    assert pays_from(lambda n: 2.0 if n < 150 else 0.5, (100, 200)) is None
    assert pays_from(lambda n: 2.0 if n < 150 or n > 700 else 0.5, (100, 200)) == 701


def test_only_a_stack_with_a_view_depends_on_the_length() -> None:
    assert depends_on_length(VIEW) and depends_on_length(f"ngram:4,{VIEW}")
    assert not depends_on_length("ngram:4,int8:4,target") and not depends_on_length("no stack")
    assert views_of(behind(100)) == (1,)


def test_the_best_with_a_view_and_without_are_the_best_of_all_their_plans() -> None:
    profile = behind(5000)
    with_view, without = best_by_view(profile)
    assert with_view is not None and without is not None
    assert 1 in with_view.plan.levels and 1 not in without.plan.levels
    over = PricesByLength(ProfilesByLength((profile,)))
    for block in range(1, 17):
        assert over.price(f"view:{block}@budget=256,target", 5000).speedup <= with_view.prediction.speedup + 1e-12
        assert over.price(f"ngram:{block},target", 5000).speedup <= without.prediction.speedup + 1e-12
    assert best_by_view(profile.only((0, 3)))[0] is None and best_by_view(profile.only((1, 3)))[1] is None


def test_those_of_the_machine_most_like_this_one_are_read_and_one_that_is_damaged_is_as_good_as_none(
    tmp_path: Path,
) -> None:
    here, far = f"some CPU, {AVX512}", f"another CPU, {AVX512}"
    for length in (4096, 1024):
        write_profile(behind(length, machine=far), tmp_path / f"smollm2-cpu-avx512-{length}.json")
        write_profile(behind(length), tmp_path / f"smollm2-cpu-{length}.json")
    write_profile(replace(behind(9), temperature=0.8), tmp_path / "smollm2-cpu-9.json")
    (tmp_path / "smollm2-cpu-avx512-7500.json").write_text("{")
    found = shipped_by_length("smollm2", folder=tmp_path, machine=here)
    assert found is not None and found.lengths == (1024, 4096)
    assert {one.about["machine"] for one in found.profiles} == {far}
    assert shipped_by_length("smollm2", "cuda", folder=tmp_path, machine=here) is None
    assert shipped_by_length("qwen", folder=tmp_path, machine=here) is None


def test_the_shipped_ones_can_be_priced() -> None:
    found = shipped_by_length("smollm2", machine="")
    if found is None:
        pytest.skip("no profile by length is shipped")
    with_view, _ = best_by_view(found.profiles[-1])
    assert with_view is not None and set(with_view.plan.levels) & set(views_of(found.profiles[-1]))


def test_a_view_that_a_profile_by_length_lacks_names_the_command_with_its_length() -> None:
    with pytest.raises(
        ProfileError,
        match=r"--levels view@budget=512,target --length 300 --prompts assets/prompts/long/texts.jsonl --out FILE",
    ):
        plan_of(behind(300), "view:4@budget=512,target")


def test_the_plan_command_takes_a_profile_of_one_length(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_profile(behind(5000), file := tmp_path / "profile.json")
    assert main(["plan", "--profile", str(file)]) == 0
    assert "view" in capsys.readouterr().out
