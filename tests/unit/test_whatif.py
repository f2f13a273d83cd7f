"""What-if runs: the real engine over made-up levels does what the theory says of them, and says that it is made up."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from hsd_core.cli import main
from hsd_core.cli.generate import reopened
from hsd_core.cli.terminal import totals_lines
from hsd_core.core import events as trace
from hsd_core.core.events import Event
from hsd_core.measure.whatif import whatif_names, whatif_profile
from hsd_core.measure.whatif.simulated_levels import Words
from hsd_core.measure.whatif.simulation import MOST_TOKENS, bounded, plan_named, play
from hsd_core.theory import Costs, Profile, ProfileError, ProfileLevel, StackPlan, best_plans, expected
from hsd_core.trace import file as tracefile
from hsd_core.trace import metrics
from hsd_core.trace.checks import check

HERD = whatif_profile("llama3")
RISING = Costs((1, 9), (2.0, 4.0))


def profile(**changes: object) -> Profile:
    """Three levels whose direct acceptance is not a product of the neighbours'; the middle one is more expensive."""
    levels = (
        ProfileLevel("a", Costs.constant(0.3)),
        ProfileLevel("b", RISING),
        ProfileLevel("c", Costs.constant(20.0)),
    )
    given: dict[str, object] = {
        "levels": levels,
        "acceptance": ((1.0, 0.7, 0.62), (0.0, 1.0, 0.85), (0.0, 0.0, 1.0)),
    }
    return Profile(**{**given, **changes})  # type: ignore[arg-type]


def lookup(**more: object) -> Profile:
    found = ProfileLevel("table", Costs.constant(0.05), hit_rate=0.55, reach=(1.0, 0.8, 0.5, 0.2), **more)  # type: ignore[arg-type]
    return profile(levels=(found, *profile().levels[1:]))


CASES = {
    "two levels": (profile(), StackPlan((0, 2), (5,))),
    "three levels": (profile(), StackPlan((0, 1, 2), (3, 6))),
    "three levels, flat blocks": (profile(), StackPlan((0, 1, 2), (4, 1))),
    "four levels": (HERD, StackPlan((0, 1, 2, 3), (3, 6, 10))),
    "a lookup": (lookup(), StackPlan((0, 2), (4,))),
    "a lookup at the bottom of three": (lookup(), StackPlan((0, 1, 2), (4, 5))),
    "several sequences of a lookup": (lookup(beside=(2.5, 1.5)), StackPlan((0, 1, 2), (4, 5))),
    "several sequences of a drafter": (
        profile(
            levels=(ProfileLevel("a", Costs.constant(9.0), draft_ms=0.4, beside=(3.0, 1.2)), *profile().levels[1:])
        ),
        StackPlan((0, 1, 2), (3, 6)),
    ),
    "without bonus": (profile(), StackPlan((0, 1, 2), (3, 4), bonus=(False, True))),
    "without bonus at the top": (profile(), StackPlan((0, 1, 2), (3, 4), bonus=(True, False))),
    "a draft cost of its own": (
        profile(levels=(ProfileLevel("a", Costs.constant(9.0), draft_ms=0.4), *profile().levels[1:])),
        StackPlan((0, 1, 2), (3, 6)),
    ),
    "an edge with its own cost": (profile(edge_cost={(1, 2): Costs.constant(12.0)}), StackPlan((0, 1, 2), (3, 6))),
    "the engine's own time": (profile(round_ms=3.0), StackPlan((0, 2), (5,))),
}


def rounds_of(events: list[Event]) -> tuple[list[float], list[int]]:
    """ms and tokens of every round that the end of the text cannot have cut short."""
    header = events[0]
    assert isinstance(header, trace.Header)
    before = max(e.t1 for e in events if isinstance(e, trace.Prefill))
    ms, tokens = [], []
    for event in events:
        if isinstance(event, trace.Commit):
            if event.at < header.max_new_tokens - 80:
                ms.append((event.t - before) / 1e6)
                tokens.append(len(event.tokens))
            before = event.t
    return ms, tokens


def test_of_several_tokens_side_by_side_the_others_are_never_what_the_verifier_says() -> None:
    beside = ProfileLevel("a", Costs.constant(0.3), beside=(8.0,))
    never = profile(levels=(beside, *profile().levels[1:]), acceptance=((1, 0, 0), (0, 1, 0.85), (0, 0, 1)))
    events = whole(never, StackPlan((0, 2), (3,)), max_new_tokens=400)
    assert {len(event.tokens) for event in events if isinstance(event, trace.Commit)} == {1}
    assert {len(e.ids) for e in events if isinstance(e, trace.Draft) and e.at < 300} == {24}
    assert check(events) == []


def whole(given: Profile, plan: StackPlan, **options: int) -> list[Event]:
    return list(play(given, plan, **options))  # type: ignore[arg-type]


ALWAYS = ("four levels", "an edge with its own cost", "without bonus")


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=[pytest.mark.everything] * (case not in ALWAYS)) for case in CASES]
)
def test_the_engine_takes_the_time_that_the_recursion_expects(case: str) -> None:
    given, plan = CASES[case]
    ms, tokens = rounds_of(list(play(given, plan, seed=3, max_new_tokens=1500, plain=False)))
    found = sum(ms) / sum(tokens)
    mean = sum(tokens) / len(tokens)
    spread = math.sqrt(sum((m - found * n) ** 2 for m, n in zip(ms, tokens, strict=True)) / (len(ms) - 1))
    error = spread / (math.sqrt(len(ms)) * mean)
    foretold = expected(given, plan)
    assert abs(found - foretold.ms_per_token) < 4 * error, (found, foretold.ms_per_token, error)
    assert error < 0.05 * foretold.ms_per_token  # else the line above says little


def test_each_pair_that_meets_agrees_as_often_as_the_profile_says() -> None:
    """The lowest level agrees with the target directly at 0.62, which is not 0.7 x 0.85."""
    for plan in (StackPlan((0, 2), (4,)), StackPlan((0, 1, 2), (4, 6)), StackPlan((1, 2), (4,))):
        events = whole(profile(), plan, max_new_tokens=600, seed=1)
        for place, level in enumerate(metrics.measure(events)["levels"][1:], 1):
            a, n = profile().accepts(plan.levels[place - 1], plan.levels[place]), level["judged"]
            assert abs(level["acceptance"] - a) < 4 * math.sqrt(a * (1 - a) / n), (plan, place)


@pytest.mark.parametrize("case", CASES)
def test_every_trace_satisfies_the_identities(case: str) -> None:
    assert check(whole(*CASES[case], max_new_tokens=60)) == []


def test_every_stack_writes_the_passage() -> None:
    words = Words()
    for given, plan in CASES.values():
        events = whole(given, plan, max_new_tokens=50)
        assert metrics.committed_ids(events) == list(words.passage[:50])


def test_the_text_begins_again_where_it_ends() -> None:
    words = Words()
    length = len(words.passage) + 3
    ids = metrics.committed_ids(whole(profile(), StackPlan((0, 2), (8,)), max_new_tokens=length))
    assert ids == [*words.passage, *words.passage[:3]]


def test_the_same_seed_gives_the_same_trace_and_another_one_another() -> None:
    plan = StackPlan((0, 1, 2), (3, 6))
    one, again, other = (tracefile.dumps(whole(profile(), plan, seed=s, max_new_tokens=40)) for s in (5, 5, 6))
    assert one == again
    assert one != other


def test_time_is_the_profiles_and_nothing_elses() -> None:
    events = whole(profile(), StackPlan((2,), ()), max_new_tokens=20)
    footer = next(e for e in events if isinstance(e, trace.Footer))
    assert footer.decode_ns == 20 * 20_000_000


def test_plain_decoding_is_simulated_beside_it_and_agrees() -> None:
    events = whole(HERD, StackPlan((0, 3), (4,)), max_new_tokens=40)
    beside = events[-1]
    assert isinstance(beside, trace.Baseline)
    assert (beside.equal, beside.diverges, len(beside.token_ns)) == (40, False, 40)
    assert beside.token_ns[-1] == pytest.approx(40 * 405.9e6)


def test_the_trace_says_that_it_is_simulated() -> None:
    events = whole(HERD, StackPlan((0, 3), (4,)), max_new_tokens=20)
    header = tracefile.read(tracefile.dumps(events).encode())[0]
    assert isinstance(header, trace.Header)
    assert "no model ran" in header.simulated
    assert "2407.21783" in header.simulated
    assert header.machine == "simulated"
    assert {level.device for level in header.levels} == {"simulated"}
    assert next(totals_lines(events, colour=False)).startswith("SIMULATED: no model ran")
    assert not any("measured" in line for line in totals_lines(events, colour=False))


def test_a_real_trace_says_nothing_of_the_kind() -> None:
    from hsd_core.pipeline import Pipeline

    pipeline = Pipeline.open("toy")
    events = list(pipeline.run(pipeline.default_stack, "The tower", max_new_tokens=4))
    header = events[0]
    assert isinstance(header, trace.Header)
    assert header.simulated == ""
    assert not any("simulated" in line.lower() for line in totals_lines(events, colour=False))


def test_a_plan_of_real_levels_names_their_preset_and_their_stack() -> None:
    levels = (ProfileLevel("quick", Costs.constant(1.0), "table@id=order1"), ProfileLevel("sure", RISING, "target"))
    given = Profile(levels, ((1.0, 0.6), (0.0, 1.0)), about={"preset": "toy"})
    header = whole(given, StackPlan((0, 1), (3,)), max_new_tokens=4)[0]
    assert isinstance(header, trace.Header)
    assert (header.preset, header.stack) == ("toy", "table:3@id=order1,target")
    assert header.simulated
    other = whole(HERD, StackPlan((0, 3), (3,)), max_new_tokens=4)[0]
    assert isinstance(other, trace.Header)
    assert (other.preset, other.stack) == (None, "model:3@id=Llama-1B,target@id=Llama-405B")


def test_a_simulated_trace_is_not_run_again() -> None:
    events = whole(HERD, StackPlan((0, 3), (4,)), max_new_tokens=4)
    with pytest.raises(ValueError, match="no model ran"):
        reopened(events)


def test_a_plan_that_takes_too_many_calls_is_cut_short_or_refused() -> None:
    hopeless = profile(acceptance=((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))
    assert bounded(hopeless, StackPlan((0, 1, 2), (32, 32)), 10_000, 20_000) == 18
    with pytest.raises(ProfileError, match="shorter blocks"):
        bounded(hopeless, StackPlan((0, 1, 2), (64, 64)), 10_000, 20_000)
    with pytest.raises(ProfileError, match=str(MOST_TOKENS)):
        bounded(HERD, StackPlan((0, 3), (4,)), MOST_TOKENS + 1)
    with pytest.raises(ProfileError, match="lower the costs"):
        bounded(
            profile(levels=(*profile().levels[:2], ProfileLevel("c", Costs.constant(1e12)))), StackPlan((2,), ()), 10
        )


@pytest.mark.parametrize("name", whatif_names())
def test_bundled_profiles_name_their_source_and_say_what_is_assumed(name: str) -> None:
    about = whatif_profile(name).about
    assert about["simulated"] is True
    assert str(about["title"]).startswith("what if: ")
    assert "arXiv" in about["source"] or "model card" in about["source"]
    assert "assumed" in about["note"]


def test_costs_of_the_herd_are_its_published_sizes() -> None:
    """Weights counted from the shapes: layers, width, feed-forward width, key-value width, whether the head is tied."""
    shapes = (
        (16, 2048, 8192, 512, True),
        (32, 4096, 14336, 1024, False),
        (80, 8192, 28672, 1024, False),
        (126, 16384, 53248, 1024, False),
    )
    for level, (layers, width, wide, keys, tied) in zip(HERD.levels, shapes, strict=True):
        table = 128_256 * width
        weights = table * (1 if tied else 2) + layers * (2 * width * width + 2 * width * keys + 3 * width * wide)
        assert level.cost(1) == pytest.approx(weights / 1e9, rel=0.005)
        assert level.cost(32) == level.cost(1)


def test_a_class_sees_four_levels_win_and_two() -> None:
    assert len(best_plans(HERD).best.plan.levels) == 4
    assert len(best_plans(whatif_profile("hispec")).best.plan.levels) == 2


def test_plans_are_named_by_their_levels_or_their_stack() -> None:
    assert plan_named(HERD, "Llama 1B:4, Llama 70B:8, Llama 405B") == StackPlan((0, 2, 3), (4, 8))
    levels = (
        ProfileLevel("quick", Costs.constant(1.0), spec="int8"),
        ProfileLevel("sure", Costs.constant(2.0), "target"),
    )
    known = Profile(levels, ((1.0, 0.9), (0.0, 1.0)))
    assert plan_named(known, "int8:3,target") == plan_named(known, "quick:3,sure") == StackPlan((0, 1), (3,))
    with pytest.raises(ProfileError, match="unknown level 'Llama 2B'"):
        plan_named(HERD, "Llama 2B:4,Llama 405B")
    with pytest.raises(ProfileError, match="hands nothing up"):
        plan_named(HERD, "Llama 1B:4,Llama 405B:4")
    with pytest.raises(ProfileError, match="no block length"):
        plan_named(HERD, "Llama 1B,Llama 405B")


def test_the_command_writes_a_trace_and_says_what_was_expected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "run.jsonl.gz")
    code = main(["whatif", "--stack", "Llama 1B:4,Llama 405B", "--max-new-tokens", "24", "--trace", path])
    said = capsys.readouterr().out
    assert code == 0
    assert "SIMULATED" in said
    assert "expected by the theory: 165.7 ms per token" in said
    assert check(tracefile.read(path)) == []
    assert main(["trace", path]) == 0
    assert capsys.readouterr().out.startswith("simulated: no model wrote this text")
