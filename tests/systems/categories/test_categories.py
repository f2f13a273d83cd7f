"""Kinds of text: a profile's costs with acceptances counted on each, and the block lengths that are best then."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hsd_core.measure.bench.summary import with_categories
from hsd_core.systems.categories import question
from hsd_core.systems.categories.best_lengths import best_lengths, rows_of
from hsd_core.theory import Profile, ProfileError
from hsd_core.theory.profiles.profile import CATEGORIES
from hsd_core.theory.profiles.profile_json import profile_from, read_profile, write_profile
from hsd_core.theory.profiles.profile_store import FOLDER

STACK = "ngram:3,int8:6,target"


@pytest.fixture(scope="module")
def profile() -> Profile:
    return read_profile(FOLDER / "smollm2-cpu-avx512.json")


def row(category: str, *acceptance: float, **more: Any) -> dict[str, Any]:
    counted = {"category": category, "prompts": 4, "acceptance": [None, *acceptance], "hits": None}
    return {"stack": STACK, "plain": "target", **counted, **more}


def test_what_is_easy_to_guess_takes_longer_blocks(profile: Profile) -> None:
    found = best_lengths(profile, rows_of([row("translation", 0.95, 0.99), row("roleplay", 0.4, 0.85)]))
    assert found is not None
    easy, hard = found["rows"]

    def lengths(stack: str) -> list[int]:
        return [int(part.split(":")[1]) for part in stack.split(",")[:-1]]

    assert all(a > b for a, b in zip(lengths(easy["stack"]), lengths(hard["stack"]), strict=True))
    assert easy["speed_up"] > found["speed_up"] > hard["speed_up"]
    assert easy["speed_up"] >= easy["usual"] and hard["speed_up"] > hard["usual"], "nothing beats the best of its kind"


def test_a_lookup_that_finds_less_gains_less(profile: Profile) -> None:
    rows = [row("stem", 0.7, 0.97, hits=0.1), row("extraction", 0.7, 0.97, hits=0.9)]
    found = best_lengths(profile, rows_of(rows))
    assert found is not None
    rare, often = found["rows"]
    assert rare["speed_up"] < often["speed_up"] and (rare["hits"], often["hits"]) == (0.1, 0.9)


def test_a_profile_keeps_what_a_benchmark_counted_and_says_on_what(profile: Profile, tmp_path: Path) -> None:
    rows = [row("coding", 0.9, 0.99), row("coding", 0.0, stack="target", acceptance=[None])]
    write_profile(with_categories(profile, rows, "4 prompts of mine.jsonl"), tmp_path / "profile.json")
    own = read_profile(tmp_path / "profile.json")
    assert [one["stack"] for one in own.about[CATEGORIES]] == [STACK], "plain decoding accepts nothing"
    answer = question.answer(own)
    assert answer["counted"] == "4 prompts of mine.jsonl" and [one["category"] for one in answer["rows"]] == ["coding"]


def test_counts_come_with_the_program_and_where_there_are_none_the_cure_is_said(profile: Profile) -> None:
    told = question.answer(profile)
    assert "Spec-Bench" in told["counted"]
    assert {"translation", "coding", "rag"} <= {one["category"] for one in told["rows"]}
    assert "translation" in "\n".join(question.lines(told))
    for about in ({"preset": "toy"}, {"preset": "../smollm2-cpu"}, {"preset": None}):
        with pytest.raises(ProfileError, match="bench --prompts FILE"):
            question.answer(replace(profile, about=about))


@pytest.mark.parametrize(
    "given",
    ["text", [{"stack": STACK}], [row("coding", 1.5)], [row("", 0.5)], [row("x", 0.5)] * 401, [row("x", *[0.5] * 20)]],
)
def test_counts_that_are_none_are_refused(profile: Profile, given: Any) -> None:
    form = {**profile.as_dict(), "about": {**profile.about, CATEGORIES: given}}
    with pytest.raises(ProfileError, match=r"about\.categories"):
        question.answer(profile_from(form))
