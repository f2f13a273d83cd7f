"""Levels that stand on the target's own work, and those that end their own drafts: what is read and counted of them is
what they do in runs."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from lean_stacks import LeanStacks
from toys import output_of

from hsd_core.cli import main
from hsd_core.grammar.stack_text import parse
from hsd_core.measure.bench import Prompt
from hsd_core.measure.calibrate import isolated_costs, measured_in_runs
from hsd_core.measure.calibrate.acceptance import count
from hsd_core.measure.calibrate.candidates import Candidates, is_run_only
from hsd_core.measure.calibrate.isolated_costs import time_levels
from hsd_core.measure.calibrate.measured_in_runs import count_in_runs, ran
from hsd_core.measure.calibrate.reading import LONGEST, STRIDE, drafted_rows, read, side_by_side
from hsd_core.measure.calibrate.run_costs import Observed, in_runs
from hsd_core.measure.intervals import Tally
from hsd_core.measure.texts.written_texts import PIECES, WrittenText, write
from hsd_core.models.sampling import Sampling
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.prepared import run
from hsd_core.theory import Costs, read_profile

PROMPT = tuple(range(2, 42))
NONE: frozenset[int] = frozenset()
FUZZY = ["skip@set=a.1", "self@parallel=2", "view@budget=16@chunk=4", "view@keep=stream@budget=12@sink=4"]


@pytest.fixture(scope="module")
def stacks() -> LeanStacks:
    return LeanStacks(layers=4)


@pytest.fixture(scope="module")
def text(stacks: LeanStacks) -> WrittenText:
    events = run(stacks.stack("target"), PROMPT, Sampling(), 0, max_new_tokens=23, ends=NONE)
    return WrittenText(PROMPT, tuple(output_of(list(events))))


@pytest.mark.parametrize("spec", FUZZY)
def test_rows_read_beside_the_target_are_those_that_runs_draft_from(
    spec: str, stacks: LeanStacks, text: WrittenText, monkeypatch: pytest.MonkeyPatch
) -> None:
    (level, target), n = [entry.level for entry in stacks.stack(f"{spec},target")], len(text.output)
    (rows,) = drafted_rows([level], target, text.prompt, text.output)
    assert rows.shape == (n, stacks.target.vocab_size)
    # With T = 1 and no bonus a round begins at every token, and its first token is drafted behind the true past.
    monkeypatch.setattr(measured_in_runs, "LONGEST", 1)
    stack = stacks.stack(f"{spec},target@bonus=0")
    _, offers = ran(stack, PROMPT, 0.0, 0, ends=NONE, tokens=n, stop=lambda: False)
    first = {start: one.tree.ids[0] for start, one in offers.items()}
    begins = range(0, n, STRIDE)
    assert [first[at] for at in begins if at in first] == [int(rows[at].argmax()) for at in begins if at in first]
    assert len([at for at in begins if at in first]) > 2


@pytest.mark.parametrize("spec", ["skip@set=none", "self@parallel=1", "view@budget=64"])
def test_with_nothing_left_out_they_are_the_targets_own(spec: str, stacks: LeanStacks, text: WrittenText) -> None:
    reading = read(stacks.stack(f"ngram,{spec},int8,target"), text, 1.0, NONE)
    assert set(reading.dists) == {1, 2, 3} and set(reading.guesses) == {0}
    assert reading.dists[1] == pytest.approx(reading.dists[3], abs=2e-5)
    assert not torch.allclose(reading.dists[1], reading.dists[2], atol=2e-5), "the copy is another model"


def test_views_share_a_target_and_what_writes_into_its_slots_has_one_of_its_own(stacks: LeanStacks) -> None:
    levels = [entry.level for entry in stacks.stack("skip@set=a.1,view@budget=16,view@budget=24,target")]
    assert [*side_by_side(levels)] == [[1, 2], [0]]
    assert not [*side_by_side([entry.level for entry in stacks.stack("int8,target")])]


def found(stacks: LeanStacks, spec: str) -> Candidates:
    (target,) = stacks.stack("target")
    return Candidates((target,), ("target", spec), {}, (stacks.stack(f"{spec},target")[0],), (1, 0))


def test_drafts_that_end_by_themselves_are_counted_as_runs_make_them(
    stacks: LeanStacks, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = "climb@at=1-2@theta=0.45"
    assert is_run_only(parse(f"{spec},target")[0]) and not is_run_only(parse("skip@set=none,target")[0])
    offers, output = {}, ()
    tally = Tally(1)
    monkeypatch.setattr(measured_in_runs, "FEWEST", 1)
    count_in_runs(
        found(stacks, spec),
        [WrittenText(PROMPT, (0,))],
        0.0,
        tally,
        ends=NONE,
        tokens=40,
        seconds=0.0,
        progress=lambda *_: None,
        stop=lambda: False,
    )
    output, offers = ran(stacks.stack(f"{spec},target"), PROMPT, 0.0, 0, ends=NONE, tokens=40, stop=lambda: False)
    deep = Counter(len(one.tree) for one in offers.values())
    assert set(deep) - {LONGEST}, "some drafts end early"
    rounds = sum(deep.values())
    assert tally.ratio(("hit", 1)) == pytest.approx(1.0 - deep[0] / rounds)
    for n in range(1, LONGEST + 1):
        assert tally.ratio(("forwards", 1, n)) == pytest.approx(
            np.mean([min(n, len(one.tree) + (len(one.tree) < LONGEST)) for one in offers.values()])
        ), "a draft that ends early took the forward that was not sure"
        hits = rounds - deep[0]
        reached = sum(k for m, k in deep.items() if m >= n) / hits if hits else None
        assert tally.ratio(("reach", 1, n)) == (None if reached is None else pytest.approx(reached))
    plain = run(stacks.stack("target"), PROMPT, Sampling(), 0, max_new_tokens=len(output), ends=NONE)
    assert output == tuple(output_of(list(plain)))


def test_what_a_verification_saves_behind_a_climb_is_taken_from_runs(stacks: LeanStacks, text: WrittenText) -> None:
    spec = "climb@at=1-2@theta=0.45"
    own = found(stacks, spec)
    alone = time_levels(
        own.entries,
        [text],
        0.0,
        run_only=own.run_only,
        context=20,
        seconds=0.0,
        progress=lambda *_: None,
        stop=lambda: False,
    )
    assert alone.lighter == ((1, 0),) and not alone.edges and alone.context == 20
    half = Observed()
    for rows in (2, 4):
        half.verify[(1, 0), rows] += [alone.verify[0](rows) / 2] * 4000
    scaled = in_runs(alone, half)
    assert scaled.edges[1, 0](4) == pytest.approx(alone.verify[0](4) / 2, rel=0.02)
    assert scaled.verify[0] == alone.verify[0], "they say nothing of other verifications"


def test_the_levels_are_timed_beside_a_target(
    stacks: LeanStacks, text: WrittenText, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("TURNS", 3), ("WARM_UP", 1), ("FEWEST", 1), ("ROWS", (1, 3)), ("EDGE_ROWS", (2,))):
        monkeypatch.setattr(isolated_costs, name, value)
    entries = stacks.stack("skip@set=a.1,view@budget=16@chunk=4,int8,target")
    timings = time_levels(entries, [text], 0.0, context=30, progress=lambda *_: None, stop=lambda: False)
    assert set(timings.verify) == {0, 1, 2, 3} and set(timings.draft) == {0, 1, 2}
    assert all(ms > 0 for ms in timings.draft.values())


def test_pairs_are_those_of_the_rows(stacks: LeanStacks, text: WrittenText) -> None:
    reading, tally = read(stacks.stack("ngram,view@budget=16@chunk=4,target"), text, 0.8, NONE), Tally(1)
    count(tally, 0, reading)
    overlap = torch.minimum(reading.dists[1], reading.dists[2]).sum(1).mean()
    assert tally.ratio(("pair", 1, 2)) == pytest.approx(float(overlap), rel=1e-5)
    assert tally.ratio(("pair", 0, 1)) is None or 0.0 <= tally.ratio(("pair", 0, 1)) <= 1.0


def test_a_block_of_such_a_draft_costs_what_its_forwards_do() -> None:
    from hsd_core.theory import ProfileLevel

    level = ProfileLevel("climb", Costs((1, 2, 3), (4.0, 7.0, 9.0)), hit_rate=0.8, reach=(1.0, 0.6))
    assert [level.block_ms(n) for n in (1, 2, 3)] == [4.0, 7.0, 9.0]
    lookup = dataclasses.replace(level, cost=Costs.constant(0.2))
    assert [lookup.block_ms(n) for n in (1, 8)] == [0.2, 0.2]


def never() -> bool:
    return False


def test_a_length_cuts_texts_into_pieces_as_they_stand() -> None:
    pipeline, text = Pipeline.open("toy"), "The small level of the tower " * 12
    ids = pipeline.encode(text, raw=True)
    assert len(ids) > 24 * 3 and PIECES == 4
    given = {"temperature": 0.0, "length": 24, "progress": lambda *_: None, "stop": never}
    found = write(pipeline, "table@id=order6", [Prompt(text), Prompt("too short")], 6, **given)  # type: ignore[arg-type]
    assert [list(one.prompt) for one in found] == [ids[at : at + 24] for at in (0, 24, 48, 72)]
    plain = pipeline.entries("table@id=order6")
    wanted = list(run(plain, found[1].prompt, Sampling(), 0, max_new_tokens=6, ends=pipeline.ends))
    assert found[1].output == output_of(wanted)[: len(found[1].output)]
    with pytest.raises(ValueError, match=rf"--length 4000: the longest text has {len(ids)} tokens; .*--prompts"):
        write(pipeline, "table@id=order6", [Prompt(text)], 6, **{**given, "length": 4000})  # type: ignore[arg-type]


def test_a_profile_behind_texts_of_a_length_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("TURNS", 3), ("WARM_UP", 1), ("FEWEST", 1), ("ROWS", (1, 3)), ("EDGE_ROWS", (2,))):
        monkeypatch.setattr(isolated_costs, name, value)
    prompts, out = tmp_path / "long.jsonl", tmp_path / "profile.json"
    prompts.write_text("\n".join(json.dumps({"prompt": f"The {which} level of the tower " * 12}) for which in "ab"))
    levels = "table@id=order1,table@id=order3,table@id=order6"
    asked = f"--preset toy --levels {levels} --prompts {prompts} --texts 1 --tokens 8 --length 40"
    assert main(["calibrate", *asked.split(), "--out", str(out)]) == 0
    profile = read_profile(out)
    assert (profile.about["length"], profile.about["context"]) == (40, 40) and profile.about["runs"] == 0
    assert profile.about["texts"] == 4, "pieces of the one prompt that was asked for"
    assert profile.round_ms == 0.0, "passes alone: nothing of the engine's own time was seen"
    assert main(["calibrate", "--quick", "--length", "40"]) == 2
