"""A stack and plain decoding under the same load: the figures of the batches, their file, and what the page draws."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lean_stacks import LeanStacks

import hsd_core
from hsd_core.cli import main
from hsd_core.core.events import Commit, Draft, Event, Prefill, Verify
from hsd_core.grammar.stack_text import grammar
from hsd_core.levels.notes import Batch as Note
from hsd_core.measure.load import load_run
from hsd_core.measure.race import load_race as races
from hsd_core.models.sampling import Sampling
from hsd_core.trace.checks import check

ROOT = Path(__file__).parents[2]
STACK = "int8:2,target"
PROMPTS = ["1 0", "2 3 4", "5"]
IN_NODE = """
import { readFileSync } from "node:fs";
const { learn } = await import(`${process.env.JS}/shared/levels/kinds.js`);
learn(JSON.parse(process.env.HSD_GRAMMAR));
const { Batches } = await import(`${process.env.JS}/tabs/race/batches.js`);
const batches = new Batches();
const lines = readFileSync(process.argv[1], "utf-8").trim().split("\\n").map((line) => JSON.parse(line));
for (const line of lines) batches.take([line]);
const drawn = (side) => side.requests.map(({ cells }) => cells.reduce((sum, { rows }) => sum + rows, 0));
console.log(JSON.stringify(batches.sides.map((side) => ({
  rate: side.rateAt(Infinity), late: side.tokensBy(0.8 * side.end), passes: side.counted(), rows: drawn(side),
  apart: side.requests.every(({ cells }) => cells.every((cell, i) => !i || cell.t0 >= cells[i - 1].t1)),
}))));
"""


@pytest.fixture(scope="module")
def repeat() -> races.Repeat:
    made = LeanStacks()

    def runner(stack: str, prompt: str, **timed: Any) -> Iterator[Event]:
        ids = [int(part) for part in prompt.split()]
        return hsd_core.run(made.stack(stack), ids, Sampling(0.0), 0, max_new_tokens=6, heads=0, **timed)

    *events, found = races.load_race(runner, STACK, PROMPTS, repeats=1)
    assert isinstance(found, races.Repeat) and found.events == events
    return found


def runs(repeat: races.Repeat, side: int) -> list[list[Event]]:
    return [[e.of for e in repeat.events if (e.side, e.request) == (side, i)] for i in range(len(PROMPTS))]


@pytest.mark.parametrize("side", [0, 1])
def test_figures_of_a_batch_are_those_of_its_traces_and_notes(repeat: races.Repeat, side: int) -> None:
    batch, events = repeat.batches[side], [event for run in runs(repeat, side) for event in run]
    assert not any(check(run) for run in runs(repeat, side))
    began = max(e.t1 for e in events if isinstance(e, Prefill))
    commits = [[(e.t, len(e.tokens)) for e in run if isinstance(e, Commit)] for run in runs(repeat, side)]
    first = min(range(len(commits)), key=lambda i: commits[i][-1][0])
    last = [e for e in runs(repeat, side)[first] if isinstance(e, Verify) and e.level == side][-1]
    note = Note.of(last)
    assert note is not None
    first_end = max(next(t for t, _ in commits[i] if t > last.t0) for i in note.runs)  # all that this pass verified
    together = sum(tokens for own in commits for t, tokens in own if t <= first_end)
    assert batch.rate == pytest.approx(together * 1e9 / (first_end - began)) and 0 < together <= sum(batch.tokens)
    passed = [event for event in events if isinstance(event, (Draft, Verify))]
    joint = Counter((event.level, note) for event in passed if (note := Note.of(event)))
    for level, (passes, ms, rows, requests) in enumerate(batch.passes):
        # a draft of several passes may have met others in some of them alone
        own = [(note, seen / len(note.runs)) for (at, note), seen in joint.items() if at == level]
        assert passes == pytest.approx(sum(share * note.passes for note, share in own), abs=0.5)
        assert ms == pytest.approx(sum(share * note.ns for note, share in own) / 1e6, abs=1e-3)
        assert rows == pytest.approx(sum(share * sum(note.rows) for note, share in own), abs=0.5)
        assert requests == pytest.approx(sum(share * note.passes * len(note.runs) for note, share in own), abs=0.5)
        assert requests > passes > 0, "requests shared passes"
    assert batch.equal == len(PROMPTS)


def head(*repeats: races.Repeat) -> races.Load:
    stacks = races.sides(STACK)
    return races.Load(1, "toy", len(PROMPTS), stacks, 6, races.openings(PROMPTS), tuple(one.batches for one in repeats))


def test_the_page_draws_these_passes_and_counts_these_figures(repeat: races.Repeat, tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: install Node.js 20 or newer to test the page's model")
    races.write(tmp_path / "3.jsonl", head(repeat), repeat.events)
    env = {**os.environ, "HSD_GRAMMAR": json.dumps(grammar()), "JS": str(ROOT / "assets/js")}
    command = [node, "--input-type=module", "--eval", IN_NODE, str(tmp_path / "3.jsonl")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=env, check=False)
    assert not done.returncode, done.stderr
    for side, found in enumerate(json.loads(done.stdout)):
        batch = repeat.batches[side]
        assert found["rate"] == pytest.approx(batch.rate) and found["apart"]
        assert found["passes"] == [pytest.approx(own, abs=0.5) for own in batch.passes]
        passed = [e.of for e in repeat.events if e.side == side and isinstance(e.of, (Draft, Verify))]
        assert sum(found["rows"]) == sum(event.work.rows for event in passed)
        assert 0 < found["late"] < sum(batch.tokens)


def test_a_file_is_read_as_it_was_written(repeat: races.Repeat, tmp_path: Path) -> None:
    races.write(tmp_path / "a.jsonl.gz", head(repeat, repeat), repeat.events)
    assert races.read(tmp_path / "a.jsonl.gz") == (head(repeat, repeat), repeat.events)
    (tmp_path / "a.jsonl").write_bytes(b'{"event":"race"}\n')
    with pytest.raises(ValueError, match="event"):
        races.read(tmp_path / "a.jsonl")


def test_a_stopped_repeat_is_no_repeat() -> None:
    made = LeanStacks()

    def runner(stack: str, prompt: str, *, clock: Any, stop: Any) -> Iterator[Event]:
        ended = iter([False] * 12)
        ends = lambda: stop() or next(ended, True)  # noqa: E731
        return hsd_core.run(made.stack(stack), [1, 0], Sampling(0.0), 0, max_new_tokens=40, clock=clock, stop=ends)

    assert not any(isinstance(one, races.Repeat) for one in races.load_race(runner, STACK, PROMPTS, repeats=1))


def test_prompts_are_short_and_of_every_kind() -> None:
    found = races.load_prompts(32)
    assert len(set(found)) == 32 and max(map(len, found)) <= races.SHORT
    assert found[:4] == races.load_prompts(4) and len(races.load_prompts(50)) == 50
    assert all(len(opening) <= 80 and "\n" not in opening for opening in races.openings(found))


def test_the_command_writes_a_race_under_load(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["race", "--preset", "toy", "table:3@id=order1,table@id=order6", "--load", "2", "--max-new-tokens", "4"]
    assert main([*command, "--repeats", "3", "--out", str(tmp_path / "2.jsonl.gz")]) == 0
    assert "repeat 3 of 3: " in capsys.readouterr().err
    found, events = races.read(tmp_path / "2.jsonl.gz")
    assert (found.load, len(found.repeats), found.stacks[0]) == (2, 3, "table@id=order6")
    assert found.machine and found.recorded and {event.side for event in events} == {0, 1}
    for wrong, why in (([command[3], command[3]], "takes one stack"), (["table@id=order6"], "is plain decoding")):
        assert main(["race", "--preset", "toy", *wrong, "--load", "2"]) == 2
        assert why in capsys.readouterr().err
    assert main(["race", "--preset", "toy", command[3], "table@id=order6"]) == 2
    assert "needs --prompt, or --load" in capsys.readouterr().err


def test_shipped_races_add_up() -> None:
    for path in sorted((ROOT / "assets/races/load").glob("*.jsonl.gz")):
        found, events = races.read(path)
        sides = [[list[Event]() for _ in range(found.load)] for _ in found.stacks]
        for event in events:
            sides[event.side][event.request].append(event.of)
        again = [load_run(found.load, found.shown, found.stacks[s], sides[s], sides[0]) for s in (0, 1)]
        assert again == [*found.repeats[found.shown]] and found.machine and found.recorded, path.name
        assert not any(check(run) for side in sides for run in side[:4]), path.name
