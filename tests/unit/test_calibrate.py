"""Calibration: what is counted on texts is what real runs do."""

from __future__ import annotations

import itertools
import json

import pytest
import torch
from lean_stacks import LeanStacks, RandomDraft
from toys import LookupLevel, lookup, output_of, table

from hsd_core.core.driver import Stopped
from hsd_core.core.events import Draft, Footer, Header, Verify, Work
from hsd_core.core.level import StackEntry, score_ids
from hsd_core.grammar.stack_text import LevelSpec, StackError
from hsd_core.levels.shared import SharedState
from hsd_core.measure.calibrate import isolated_costs
from hsd_core.measure.calibrate.acceptance import BLOCK, count, walk
from hsd_core.measure.calibrate.candidates import candidates, default_levels
from hsd_core.measure.calibrate.profiling import Effort, calibrate
from hsd_core.measure.calibrate.reading import STRIDE, Reading, read
from hsd_core.measure.calibrate.run_costs import Observed, split_engine_time
from hsd_core.measure.intervals import Tally, mean_interval, median_interval
from hsd_core.measure.texts.written_texts import WrittenText, write
from hsd_core.models.sampling import Sampling
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.prepared import run
from hsd_core.stacks.presets import PRESETS
from hsd_core.systems.table.table_level import TableLevel

V, PROMPT = 5, (1, 2, 0)
NONE = frozenset()


def plain_text(entries, temperature, seed, tokens=30):
    """What the target of a stack writes alone."""
    bare = [StackEntry(entries[-1].level, LevelSpec("target"), None)]
    return output_of(list(run(bare, PROMPT, Sampling(temperature), seed, max_new_tokens=tokens)))


def near(seed, other, share=0.6):
    """A table that is `share` of one random table and the rest of another."""
    one, two = table(V, seed), table(V, other)
    return TableLevel(lambda prefix: share * one(prefix) + (1 - share) * two(prefix), V)


def near_stack(*blocks):
    """Table levels that come nearer to the target from below."""
    levels = [near(1, 2 + i, share) for i, share in enumerate((0.6, 0.85))][: len(blocks)]
    entries = [StackEntry(level, LevelSpec("table", block=t), t) for level, t in zip(levels, blocks, strict=True)]
    return [*entries, StackEntry(TableLevel(table(V, 1), V), LevelSpec("table"), None)]


def random_distributions(n, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(n, V, generator=generator, dtype=torch.float64).pow(3).softmax(-1)


def test_a_pair_accepts_with_the_mass_that_both_distributions_share():
    p, q = torch.tensor([[0.5, 0.5, 0.0]]), torch.tensor([[0.2, 0.3, 0.5]])
    tally = Tally(1)
    count(tally, 0, Reading(torch.tensor([0]), {0: q, 1: p}))
    assert tally.ratio(("pair", 0, 1)) == pytest.approx(0.5)


def test_a_lookup_is_a_drafter_with_all_mass_on_its_guess():
    dists = {1: random_distributions(3, 1), 2: random_distributions(3, 2)}
    reading = Reading(torch.tensor([4, 0, 2]), dists, guesses={0: [(4, 1), (), (3,)]})
    tally = Tally(1)
    count(tally, 0, reading)
    # a round begins at the first token; a token that is accepted (4 is, then 1 is not) or replaced is followed by the
    # next: token 1 of the text is judged as the second of the first guess, so the next round begins behind it
    assert tally.ratio(("pair", 0, 2)) == pytest.approx((dists[2][0, 4] + dists[2][1, 1] + dists[2][2, 3]).item() / 3)
    assert tally.ratio(("hit", 0)) == pytest.approx(1.0)
    assert tally.ratio(("reach", 0, 2)) == pytest.approx(0.5)


@pytest.mark.parametrize("block", [1, 2, 4])
def test_greedy_rounds_begin_where_the_engine_begins_them(block):
    entries = near_stack(block)
    tokens = 60
    text = WrittenText(PROMPT, plain_text(entries, 0.0, 0, tokens))
    dists = read(entries, text, 0.0, NONE).dists
    right = torch.minimum(dists[0], dists[1]).sum(1).numpy()
    begins = walk([right[s : s + block] for s in range(tokens)])
    events = list(run(entries, PROMPT, Sampling(), 0, max_new_tokens=tokens))
    real = {e.at for e in events if isinstance(e, Verify)}
    sure = tokens - block - 1  # nearer to the end the engine drafts less
    assert {s for s in range(sure) if begins[s]} == {at for at in real if at < sure}
    assert set(begins.tolist()) <= {0.0, 1.0} and len(real) > 15


@pytest.mark.parametrize("temperature", [0.0, pytest.param(1.0, marks=pytest.mark.everything)])
def test_lookups_fare_as_they_do_in_real_runs(temperature):
    entries = near_stack(BLOCK)
    entries[0] = StackEntry(LookupLevel(lookup(V, 3), V), LevelSpec("ngram", block=BLOCK), BLOCK)
    runs = 150 if temperature else 1
    tokens = 24 if temperature else 150
    tally, judged = Tally(runs), []
    drafts = []
    for seed in range(runs):
        text = WrittenText(PROMPT, plain_text(entries, temperature, seed, tokens))
        count(tally, seed, read(entries, text, temperature, NONE))
        for event in run(entries, PROMPT, Sampling(temperature), 1000 + seed, max_new_tokens=tokens):
            if isinstance(event, Draft):
                drafts.append(len(event.ids))
            if isinstance(event, Verify):
                judged += [check.outcome == "accepted" for check in event.checks if check.outcome != "unjudged"]
    assert tally.ratio(("hit", 0)) == pytest.approx(sum(n > 0 for n in drafts) / len(drafts), abs=0.04)
    assert tally.ratio(("pair", 0, 1)) == pytest.approx(sum(judged) / len(judged), abs=0.04)


def test_rows_of_a_fed_drafter_are_those_of_a_draft_from_there():
    target = LeanStacks(layers=3)
    target.drafts = {"nano": RandomDraft(target.target, fed=True)}
    entries = target.stack("nano:3,target")
    prompt, output = (3, 9, 27, 20), (7, 8, 50, 11, 2, 33, 6)
    reading = read(entries, WrittenText(prompt, output), 1.0, NONE)
    context = [*prompt, *output]
    for start, rows in enumerate(reading.dists[0].split(STRIDE)):
        shared = SharedState(len(context))
        above, nano = (entry.level.open(len(context), shared) for entry in reversed(entries))
        at = len(prompt) + start * STRIDE
        score_ids(above, context[: at - 1], 1)  # all that the target has processed when the draft begins
        for m, row in enumerate(rows):
            logits, _ = score_ids(nano, context[: at + m], 1)
            assert torch.allclose(logits.softmax(-1)[0], row, atol=1e-5)
    assert reading.dists[0].shape == reading.dists[1].shape == (len(output), 61)


def test_exits_and_their_target_are_read_as_if_each_were_alone():
    stacks = LeanStacks(layers=4)
    text = WrittenText((3, 9, 27), (7, 8, 50, 11))
    together = read(stacks.stack("exit:2@at=1,exit:2@at=3,target"), text, 1.0, NONE).dists
    for i, alone in enumerate(("exit:2@at=1,target", "exit:2@at=3,target", "target")):
        dist = read(stacks.stack(alone), text, 1.0, NONE).dists[0]
        assert torch.allclose(together[i], dist, atol=1e-5)


def test_the_bootstrap_encloses_a_ratio_and_is_narrow_where_texts_agree():
    tally = Tally(20)
    for text in range(20):
        tally.add(("even",), text, 3.0, 4.0)
        tally.add(("odd",), text, text % 2 * 4.0, 4.0)
    assert tally.interval(("even",)) == pytest.approx((0.75, 0.75))
    low, high = tally.interval(("odd",))
    assert low < 0.4 and high > 0.6
    assert tally.ratio(("nothing",)) is None and tally.interval(("nothing",)) is None


@pytest.mark.parametrize(("n", "rank"), [(3, 1), (6, 1), (11, 2), (15, 4), (25, 8)])
def test_the_interval_of_a_median_is_that_of_the_sign_test(n, rank):
    middle, low, high = median_interval([float(x) for x in range(1, n + 1)])
    assert (middle, low, high) == ((n + 1) / 2, rank, n + 1 - rank)


def test_the_interval_of_a_mean_is_as_wide_as_chance():
    middle, low, high = mean_interval([1.0, 3.0] * 50)
    assert (middle, high - middle, middle - low) == pytest.approx((2.0, 0.196, 0.196))


def test_time_outside_levels_is_what_drafts_and_verifications_leave():
    drafts = [Draft(r, 0, 0, (), Work(), 10_000_000 * r, 10_000_000 * r + 2_000_000) for r in (0, 1)]
    header = next(e for e in run(near_stack(1), PROMPT, Sampling(1.0), 0, max_new_tokens=1) if isinstance(e, Header))
    seen = Observed()
    seen.add([header, *drafts, Footer("length", 2, 4, 0, 20_000_000, ())], (0, 1))
    assert seen.stacks == pytest.approx([16.0, 2.0, 0.0])


@pytest.mark.parametrize(
    ("measured", "parts"),
    [
        ((5.0, 4.0, 2.0), (1.0, 1.0)),  # a round with 4 verifications, one with 1
        ((6.0, 4.0, 0.5), (0.0, 1.5)),  # no part is negative
        ((1.0, 4.0, 2.0), (2.0, 0.0)),
        ((3.0, 1.0, 2.0), (2.0, 0.0)),  # nothing to tell them apart by
    ],
)
def test_the_engines_time_goes_with_rounds_and_with_verifications(measured, parts):
    found = split_engine_time(*measured)
    assert (found.round_ms, found.verify_ms) == pytest.approx(parts)


@pytest.fixture
def quick(monkeypatch):
    """Few turns and rows: what is measured matters to nobody here."""
    for name, value in (("TURNS", 3), ("WARM_UP", 1), ("FEWEST", 1), ("ROWS", (1, 3)), ("EDGE_ROWS", (2,))):
        monkeypatch.setattr(isolated_costs, name, value)


@pytest.mark.usefixtures("quick")
def test_every_level_gets_costs_and_levels_that_share_layers_get_those_of_their_pair():
    stacks = LeanStacks(layers=4)
    stacks.drafts = {"nano": RandomDraft(stacks.target, fed=True)}
    entries = stacks.stack("ngram:2,nano:2,exit:2@at=2,int8:3,target")
    turns = []
    found = isolated_costs.time_levels(
        entries,
        [WrittenText((3, 9), (7, 8, 50, 11))],
        0.0,
        progress=lambda *done: turns.append(done),
        stop=lambda: False,
    )
    assert set(found.verify) == {1, 2, 3, 4} and set(found.draft) == {1, 2, 3}
    assert all(costs.rows == (1, 3) for costs in found.verify.values())
    assert set(found.edges) == {(2, 4)} and found.edges[2, 4].rows == (2,)
    assert turns == [(1, 3), (2, 3), (3, 3)] and found.turns == 2


@pytest.fixture
def prompts(tmp_path):
    path = tmp_path / "prompts.jsonl"
    lines = [{"prompt": "The small level ", "category": "a"}, {"prompt": "The tower ", "category": "b"}]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


@pytest.mark.usefixtures("quick")
def test_the_toy_is_calibrated_at_every_temperature(prompts):
    told = []
    pipeline = Pipeline.open("toy")
    greedy, sampled = calibrate(
        pipeline,
        temperatures=(0.0, 0.8),
        prompts=prompts,
        effort=Effort(tokens=16, runs_s=0.0, loads=(2,)),
        progress=lambda *step: told.append(step),
    )
    assert (greedy.temperature, sampled.temperature) == (0.0, 0.8)
    assert greedy.names == ("table@id=order1", "table@id=order3", "table@id=order6")
    for profile in (greedy, sampled):
        assert 0.0 < profile.acceptance[0][2] < profile.acceptance[1][2] <= 1.0  # a longer look back is a better one
        assert set(profile.by_width) == {(0, 1), (0, 2), (1, 2)}
        for (j, i), shares in profile.by_width.items():
            assert shares[0] < shares[-1] and list(shares) == sorted(shares)
            low, high = profile.interval[j][i]
            assert low <= profile.acceptance[j][i] <= high
        assert all({*level.joint} == {1, 2} for level in profile.levels)
        assert set(profile.sure) == set(profile.by_width)
        for (j, i), policies in profile.sure.items():
            assert {"confidence", "margin"} <= set(policies)
            for rows in policies.values():
                shares = [share for _, share, _ in rows]
                assert shares == sorted(shares, reverse=True), "fewer tokens are that sure"
                assert all(share * kept <= profile.acceptance[j][i] + 1e-4 for _, share, kept in rows)
    assert greedy.acceptance != sampled.acceptance
    assert {stage for stage, _, _ in told} >= {"texts", "acceptances", "costs", "runs", "joint passes"}
    assert greedy.about["runs"] > 0 and greedy.about["prompts"] == "prompts.jsonl" and greedy.about["texts"] == 2
    for known in (greedy, sampled):  # plain decoding of the same prompts says which texts end by themselves
        assert known.lengths is not None and (known.lengths.limit, known.lengths.texts) == (16, 2)
    plain = [
        next(e for e in pipeline.run("table@id=order6", prompt, max_new_tokens=16) if isinstance(e, Footer))
        for prompt in ("The small level ", "The tower ")
    ]
    assert greedy.lengths.ended == tuple(sorted(e.committed for e in plain if e.reason == "eos"))


@pytest.mark.usefixtures("quick")
def test_a_calibration_stops_when_asked(prompts):
    asked = itertools.count()
    with pytest.raises(Stopped):
        calibrate(
            Pipeline.open("toy"), prompts=prompts, effort=Effort(tokens=8, runs_s=0.0), stop=lambda: next(asked) > 3
        )


def test_texts_are_the_targets_own_and_end_before_they_repeat_themselves():
    pipeline = Pipeline.open("toy")
    from hsd_core.measure.bench import Prompt

    def made(n, temperature=0.0):
        prompts = [Prompt("The small level ", "a")]
        return write(
            pipeline, "table@id=order6", prompts, n, temperature, progress=lambda *_: None, stop=lambda: False
        )[0]

    events = list(pipeline.run("table@id=order6", "The small level ", max_new_tokens=20))
    assert made(20).output == output_of(events)
    assert made(20, 1.0).output != made(20).output
    assert made(20, 1.0) == made(20, 1.0)


def test_levels_that_cannot_be_had_are_left_out_with_the_reason():
    found, left_out = default_levels(PRESETS["smollm2"], "float32")
    assert found[-1] == "target" and {"ngram", "int8", "int4"} <= set(found)
    assert "no smaller model" in left_out["model"]
    assert "--levels self,target" in left_out["self"] and "however long" in left_out["medusa"]
    assert "--levels climb,target" in left_out["climb"] and "skip" in left_out
    assert not {"self", "medusa", "climb", "skip"} & set(found)
    found, left_out = default_levels(PRESETS["qwen-coder"], "int8")
    assert found == ["ngram", "ngram@guess=7", "lookahead", "int4", "model", "target"]
    assert left_out["int8"] == "the target is int8 itself" and "lookahead" not in left_out
    assert default_levels(PRESETS["qwen-coder"], "int4")[1]["int4"] == "the target is int4 itself"
    assert "no nano" in left_out["nano"] and "no exit" in left_out["exit"]


def test_a_level_that_fails_to_be_built_is_left_out_and_the_others_stay(monkeypatch):
    pipeline = Pipeline.open("toy")
    real = pipeline.entries

    def entries(stack):
        if stack.startswith("table@id=order1,"):
            raise StackError("no such table today")
        return real(stack)

    monkeypatch.setattr(pipeline, "entries", entries)
    found = candidates(pipeline)
    assert found.names == ("table@id=order3", "table@id=order6")
    assert found.left_out == {"table@id=order1": "no such table today"}


@pytest.mark.parametrize(
    ("levels", "cure"),
    [
        ("table@id=order6", "no level below"),
        ("table@id=order1,table@id=order1,table@id=order6", "each level once"),
        ("ngram@miss=nano,target", "calibrate ngram and nano"),
        ("exit@at=4@policy=del,target", "calibrate exit@at=N"),
    ],
)
def test_levels_that_make_no_profile_are_refused_at_once(levels, cure):
    with pytest.raises(StackError, match=cure):
        candidates(Pipeline.open("toy"), levels)


def test_block_lengths_and_rules_do_not_name_a_level():
    found = candidates(Pipeline.open("toy"), "table:3@id=order1,table@id=order6@rule=block")
    assert found.names == ("table@id=order1", "table@id=order6")


def test_a_drafted_token_is_timed_as_its_share_of_a_draft(monkeypatch: pytest.MonkeyPatch) -> None:
    now = itertools.count(0, 8_000_000)  # ns: each look at the clock is 8 ms later
    monkeypatch.setattr(isolated_costs.time, "perf_counter_ns", lambda: next(now))
    level = TableLevel(table(4, 1), 4, name="table", label="table")
    entries = [StackEntry(level, LevelSpec("table"), None)]
    rest = isolated_costs._IdleLevels(entries, [], [WrittenText([1, 2, 3], [0, 1, 2, 3] * 10)], Sampling(), 8)
    drafting = rest._drafting(rest._at_rest([0])[0], fed=False)
    assert drafting() == 8.0 / isolated_costs.DRAFTED
