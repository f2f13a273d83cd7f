"""The benchmark's figures, worked out by hand: speed-ups, who was slower where, acceptance over all that was judged."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest

from hsd_core.grammar.stack_text import StackError
from hsd_core.measure.bench import Measurement, completed, drafts_table, from_record, sampled, summary, table
from hsd_core.measure.bench.prompts import stacks_of_lines
from hsd_core.measure.bench.summary import as_stacks, results

STACK, PLAIN, OTHER = "ngram:2,target", "target", "ngram:2,target@dtype=int8"
S = 10**9


def run(prompt: int, stack: str, tokens: int, seconds: float, **more: object) -> Measurement:
    base = Measurement(prompt, "code", stack, tokens, int(seconds * S), 0, tokens, (0, 0), (0, 0), tokens, False, None)
    return replace(base, **more)  # type: ignore[arg-type]


RUNS = [
    run(0, PLAIN, 40, 4.0),
    run(0, STACK, 40, 1.0, judged=(0, 10), accepted=(0, 9), target_forwards=10),
    run(1, PLAIN, 10, 1.0),
    run(1, STACK, 10, 2.0, judged=(0, 30), accepted=(0, 3), target_forwards=15),
    run(2, PLAIN, 10, 1.0),
    run(2, STACK, 10, 2.0, judged=(0, 0), accepted=(0, 0), target_forwards=5),
]


def row(runs: list[Measurement], stack: str = STACK) -> dict:
    return next(row for row in summary(runs) if row["stack"] == stack)


def test_a_speed_up_is_how_much_faster_than_plain_decoding_the_stack_is() -> None:
    found = row(RUNS)
    assert found["tokens_per_s"] == pytest.approx(60 / 5)
    assert found["speed_up"] == pytest.approx((60 / 5) / (60 / 6))  # of the totals, not a mean of ratios
    low, high = found["interval"]
    assert 0.5 <= low < found["speed_up"] < high <= 4.0
    assert row(RUNS, PLAIN)["speed_up"] == 1.0


def test_slower_on_counts_the_prompts_on_which_plain_decoding_was_faster() -> None:
    assert row(RUNS)["slower_on"] == 2
    assert row([*RUNS[:2], run(1, PLAIN, 10, 3.0), *RUNS[3:]])["slower_on"] == 1
    assert row(RUNS, PLAIN)["slower_on"] == 0


def test_acceptance_is_pooled_over_all_judged_tokens() -> None:
    assert row(RUNS)["acceptance"] == [None, pytest.approx(12 / 40)]  # the mean of 0.9 and 0.1 would be 0.5
    assert row(RUNS)["tokens_per_target_forward"] == pytest.approx(60 / 30)


def test_what_has_no_plain_run_beside_it_is_counted_nowhere() -> None:
    extra = run(3, STACK, 1000, 1.0, judged=(0, 1000), accepted=(0, 1000))
    assert row([*RUNS, extra]) == row(RUNS)


def test_every_stack_is_held_against_plain_decoding_of_its_own_target() -> None:
    runs = [*RUNS, run(0, "target@dtype=int8", 40, 8.0), run(0, OTHER, 40, 4.0)]
    assert row(runs, OTHER)["plain"] == "target@dtype=int8"
    assert row(runs, OTHER)["speed_up"] == pytest.approx(2.0)


def test_equal_is_what_the_project_calls_equal() -> None:
    def shown(**more: object) -> str:
        runs = [*RUNS[:3], replace(RUNS[3], **more), *RUNS[4:]]  # type: ignore[arg-type]
        line = next(line for line in table(summary(runs)).splitlines() if f"`{STACK}`" in line)
        return line.split(" | ")[-1].removesuffix(" |")

    assert shown() == "3/3"
    assert shown(diverges=True, margin=4e-4) == "3/3 (1 up to a tie of 0.0004)"
    assert shown(diverges=True, margin=0.2) == "2/3"
    assert shown(diverges=True, margin=None) == "2/3"  # nobody knows how near it was


def test_the_fastest_stack_stands_first() -> None:
    assert [row["stack"] for row in summary(RUNS)] == [STACK, PLAIN]


def test_drawn_texts_are_not_held_against_each_other() -> None:
    assert sampled({"temperature": 0.7, "top_k": 0})
    assert not sampled({"temperature": 0.7, "top_k": 1}) and not sampled({})
    unlike = [replace(each, equal=3, diverges=True) for each in RUNS]
    assert {row["equal"] for row in summary(unlike, drawn=True)} == {None}
    assert [line.split(" | ")[-1] for line in table(summary(unlike, drawn=True)).splitlines()[2:]] == ["- |"] * 2


def test_a_stack_that_is_not_exact_stands_beside_its_price() -> None:
    read = [
        run(0, PLAIN, 40, 4.0, spared=0.0, surprise=0.5),
        run(0, STACK, 40, 1.0, spared=6.0, surprise=1.0),
        run(1, PLAIN, 10, 1.0, spared=0.0, surprise=1.0),
        run(1, STACK, 10, 2.0, spared=4.0, surprise=2.0),
    ]
    assert row(read)["price"] == {"spared": 10 / 50, "surprise": pytest.approx(1.2), "plain": pytest.approx(0.6)}
    assert row(read, PLAIN)["price"] is None and row(RUNS)["price"] is None
    assert "| 20.0% | 1.20 / 0.60 |" in table(summary(read[:4]))
    assert "| 0 | = |" in table(summary(read[:4])) and "nats" not in table(summary(RUNS))


def test_drafting_is_shown_by_its_time_for_a_pass_and_its_share_of_the_text() -> None:
    timed = [replace(each, busy_ns=(3 * 10**6, 10**9)) for each in RUNS]
    found = row(timed)
    assert found["draft_ms"] == pytest.approx(3 * 3 / 30) and found["drafted"] == pytest.approx(12 / 60)
    assert "| 0.30 | 20.0% |" in drafts_table([found])
    assert "| - | 20.0% |" in drafts_table([row(RUNS)])  # a file of an earlier version kept no times


def test_a_measurement_is_read_as_it_was_written() -> None:
    assert [from_record(json.loads(json.dumps(asdict(each)))) for each in RUNS] == RUNS
    with pytest.raises(ValueError, match="not a measurement of this version"):
        from_record({"prompt": 0})


def test_a_prompt_that_an_interrupted_sweep_did_not_finish_is_left_out() -> None:
    assert completed(RUNS[:5], [PLAIN, STACK]) == RUNS[:4]
    assert completed(RUNS[:1], [PLAIN, STACK]) == []


@pytest.mark.parametrize("asked", [["default", STACK], [STACK, "default"]])
def test_a_stack_that_two_lines_asked_for_is_reported_once_as_the_default(asked: list[str]) -> None:
    about = {
        "stacks": [PLAIN, STACK],
        "asked": dict.fromkeys(asked, STACK),
        **{
            "prompts": "own",
            "max_new_tokens": 40,
            "temperature": 0.0,
            "threads": 2,
            "recorded": "today",
            "command": "bench",
        },
    }
    found = results(about, [asdict(each) for each in RUNS])
    assert [(row["asked"], row["stack"]) for row in found["stacks"]] == [("default", STACK), (PLAIN, PLAIN)]


def test_a_stack_on_a_named_clock_is_a_row_of_its_own_and_no_part_of_the_claim() -> None:
    asked = stacks_of_lines(["ngram:2,target@with=pearl", STACK], "", "here", True)
    reckoned, real = (f"{STACK}@with=pearl ({clock})" for clock in ("reckoned", "real"))
    assert list(asked.values()) == [reckoned, STACK]
    assert as_stacks(asked) == f"{STACK}@with=pearl\n{STACK}\n"
    asked[real] = real  # as results of earlier versions have it
    clocked = [run(i, name, 40, 0.5) for name in (reckoned, real) for i in range(3)]
    found = results({"stacks": [PLAIN, *asked.values()], "asked": asked}, map(asdict, [*RUNS, *clocked]))
    assert {one["stack"] for one in found["stacks"]} == {PLAIN, STACK, reckoned, real}
    assert [one["stack"] for one in found["claim"]["best"]] == [STACK]
    assert {one["plain"] for one in found["stacks"]} == {PLAIN}
    assert "(real)" in table(summary([*RUNS, *clocked])) and "(reckoned)" in table(summary([*RUNS, *clocked]))


def test_without_a_clock_reckoned_times_stand_beside_no_measured_ones() -> None:
    with pytest.raises(StackError, match="give the command bench --reckoned"):
        stacks_of_lines(["ngram:2,target@with=pearl"], "", "here")
