"""Levels on two devices, over a GPU that is none: tensors meet where they may, and the output is the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import notes_of
import pytest
import torch
from cases import first_always
from lean_stacks import LeanStacks, RandomDraft
from msgspec import structs
from tiny import tiny
from toys import output_of

import hsd_core
from hsd_core.cli.terminal import totals_lines
from hsd_core.core import events as trace
from hsd_core.core.notes import noted
from hsd_core.levels.notes import Moved
from hsd_core.measure.calibrate import isolated_costs
from hsd_core.measure.calibrate.acceptance import count
from hsd_core.measure.calibrate.reading import read
from hsd_core.measure.intervals import Tally
from hsd_core.measure.texts.written_texts import WrittenText
from hsd_core.models import load_decoder
from hsd_core.models.one_pass import Pass
from hsd_core.models.sampling import Sampling
from hsd_core.stacks.builder import pick_device
from hsd_core.systems.exits.depths import read_depths
from hsd_core.trace import checks as identities
from hsd_core.trace import metrics
from tests.pretend_gpu import PretendGpu, pretend_gpu

STACKS = [
    "target",
    "ngram:3,target",
    "model:2,target@rule=block",
    "ngram:2,int8:4,target",
    "int8:3,target@bonus=0@rule=block",
    "exit:2@at=1,exit:4@at=2,target",
    "exit:3@at=2@id=fed@policy=adaptive,target",
    "exit:2@at=2@id=fed8@dtype=int8,int8:3,target",
    "exit:3@at=2@policy=margin@theta=0.5,target",
    "exit:3@at=3@policy=del,target",
    "nano:2,target@rule=block",
    "nano:2@id=fed,target",
    "nano:2@id=fed,int8:3,target",
    "ngram:3@miss=fed,target",
    "exit:3@at=2@tree=2.2.1@id=fed,target",
    "exit:2@at=2@tree=3.1@id=at2,int8:3,target",
    "nano:2@tree=2.2,target",
    "model:2@tree=2.1,target@bonus=0",
    "self:3,target",
    "self:2@parallel=3@calibrate=0@tree=2.1,target",
    "self:2@dtype=int8,target",
    "view:3@budget=8@chunk=2,target",
    "view:2@keep=stream@budget=4@sink=1@tree=2.1,target",
]
SAMPLINGS = {"greedy": Sampling(0.0), "sampled": Sampling(0.9, top_k=20, top_p=0.95)}
PROMPT = [3, 1, 4, 1, 5]


@pytest.fixture
def gpu() -> Iterator[PretendGpu]:
    with pretend_gpu() as mode:
        yield mode


def made(device: str, dtype: str = "float32") -> LeanStacks:
    stacks = LeanStacks(device=device, dtype=dtype)
    stacks.drafts = {
        "nano": RandomDraft(stacks.target),
        "fed": RandomDraft(stacks.target, fed=True),
        "fed8": RandomDraft(stacks.int8, fed=True),  # beside the model that it reads
        "at2": RandomDraft(stacks.target),
    }
    return stacks


def written(stacks: LeanStacks, text: str, sampling: Sampling) -> tuple[list[Any], list[int]]:
    events = list(hsd_core.run(stacks.stack(text), PROMPT, sampling, seed=5, max_new_tokens=16))
    return events, list(output_of(events))


@pytest.mark.covering("text", "sampling", kinds=True)
@pytest.mark.parametrize("text", STACKS)
@pytest.mark.parametrize("sampling", SAMPLINGS.values(), ids=SAMPLINGS)
def test_a_stack_writes_on_a_gpu_what_it_writes_on_the_cpu(text: str, sampling: Sampling) -> None:
    _, usual = written(made("cpu"), text, sampling)
    with pretend_gpu():
        events, output = written(made("cuda"), text, sampling)
    assert output == usual
    assert identities.check(events) == []
    assert events[0].levels[-1].device == "cuda"


@first_always("text", ["exit:2@at=1,exit:4@at=2,target", "nano:2@tree=2.2,target", *STACKS])
def test_so_it_does_in_bfloat16(gpu: PretendGpu, text: str) -> None:
    events, output = written(made("cuda", "bfloat16"), text, SAMPLINGS["sampled"])
    assert len(output) == 16
    assert identities.check(events) == []
    assert events[0].levels[-1].dtype == "bfloat16"


def test_a_table_that_was_left_on_the_cpu_is_caught(gpu: PretendGpu) -> None:
    stacks = made("cuda")
    stacks.drafts["nano"]._absent = torch.zeros(61, dtype=torch.bool)
    with pytest.raises(RuntimeError, match="same device"):
        written(stacks, "nano:2,target", SAMPLINGS["greedy"])


def test_texts_written_side_by_side_and_depths_are_read_there_too(gpu: PretendGpu) -> None:
    decoder = tiny(device="cuda")
    cache = decoder.new_cache(40, texts=2)
    for b, text in enumerate(([1, 2, 3], [4, 5])):
        decoder.forward(Pass(text, 0, 1), cache.text(b))
    assert decoder.forward(Pass([6, 7], slots=(3, 2)), cache).device.type == "cuda"
    usual = tiny()
    text = list(range(2, 20))
    there, here = read_depths(decoder, text, 4), read_depths(usual, text, 4)
    assert torch.allclose(there.p, here.p, atol=1e-5) and torch.equal(there.top, here.top)


def test_calibration_reads_counts_and_times_there(gpu: PretendGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("TURNS", 2), ("WARM_UP", 1), ("FEWEST", 1), ("ROWS", (1, 3)), ("EDGE_ROWS", (2,))):
        monkeypatch.setattr(isolated_costs, name, value)
    text, no_ends = WrittenText((3, 9, 27), (7, 8, 50, 11, 2)), frozenset[int]()
    tallies = []
    for device in ("cuda", "cpu"):
        entries = made(device).stack("ngram:2,nano:2@id=fed,exit:2@at=2,int8:3,target")
        tally = Tally(1)
        count(tally, 0, read(entries, text, 1.0, no_ends))
        tallies.append(tally)
        if device == "cuda":
            found = isolated_costs.time_levels(entries, [text], 1.0, progress=lambda *_: None, stop=lambda: False)
            assert set(found.verify) == {1, 2, 3, 4}
    there, here = tallies
    assert there.ratio(("pair", 1, 4)) == pytest.approx(here.ratio(("pair", 1, 4)), abs=1e-4)


PLACED = {  # stack: whether its levels are on the GPU
    "model:3,target": (True, False),  # Dovetail's
    "int8:3,target": (False, True),
    "model:2,int8:3,target": (True, False, False),
}


@pytest.mark.covering("text", kinds=True)
@pytest.mark.parametrize("text", PLACED)
def test_what_crosses_between_devices_is_written_beside_what_it_was_for(gpu: PretendGpu, text: str) -> None:
    stack = [
        made("cuda" if there else "cpu").stack(text)[i] for i, there in enumerate(PLACED[text])
    ]  # fmt: skip
    found = {}
    for name, sampling in SAMPLINGS.items():
        before = gpu.fetched_bytes
        events = list(hsd_core.run(stack, PROMPT, sampling, 3, max_new_tokens=12, heads=0))
        assert identities.check(events) == []
        work = [e for e in events if isinstance(e, (trace.Draft, trace.Verify))]
        there = [e for e in work if PLACED[text][e.level] and e.work.rows]
        assert all(notes_of.moved(e) and notes_of.moved(e).bytes for e in there) and there
        assert all(not notes_of.moved(e) for e in work if not PLACED[text][e.level])
        sum_of = sum(notes_of.moved(e).bytes for e in work if notes_of.moved(e))
        assert sum_of >= gpu.fetched_bytes - before > 0, "whatever was fetched was counted, and what was sent"
        figures = metrics.measure(events)
        assert figures["moved_bytes"] == sum_of and figures["moved_ms"] > 0
        assert any("between devices" in line for line in totals_lines(events, colour=False))
        found[name] = sum_of / figures["committed"]
    vocabulary = 4 * stack[-1].level.vocab_size
    assert found["sampled"] - found["greedy"] > vocabulary / 4, "rows cross where they decide"


def test_nothing_crosses_on_one_device_and_a_trace_that_says_so_is_wrong() -> None:
    events = list(hsd_core.run(made("cpu").stack("model:2,target"), PROMPT, Sampling(0.9), 3, max_new_tokens=6))
    assert all(not notes_of.moved(e) for e in events if isinstance(e, (trace.Draft, trace.Verify)))
    assert "moved_bytes" not in metrics.measure(events)
    at = next(i for i, e in enumerate(events) if isinstance(e, trace.Draft))
    events[at] = structs.replace(events[at], notes=noted(Moved(8, 1)))
    assert "all levels are on the CPU" in " ".join(identities.check(events))


def test_the_gpu_is_taken_where_there_is_one(gpu: PretendGpu) -> None:
    assert pick_device(None) == "cuda"
    assert pick_device("cpu") == "cpu"


def test_a_device_has_one_name_and_is_here(gpu: PretendGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    assert pick_device("cuda:0") == pick_device("cuda") == "cuda"
    for name in ("cuda:1", "cuda:128"):
        with pytest.raises(ValueError, match=f"device '{name}' is not here; use cuda$"):
            pick_device(name)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert pick_device("cuda:1") == "cuda:1"
    with pytest.raises(ValueError, match="'cuda:2' is not here; use cuda:0 to cuda:1"):
        pick_device("cuda:2")


@pytest.mark.parametrize(
    ("name", "cure"),
    [
        ("cuda:x", "use cpu, cuda or cuda:N"),
        ("tpu", "use cpu, cuda or cuda:N"),
        ("xpu", "use cpu or cuda"),
        ("cpu:0", "the CPU is one device; use cpu"),
        ("cpu:3", "the CPU is one device; use cpu"),
    ],
)
def test_a_device_is_refused_alike_wherever_it_is_named(name: str, cure: str, tmp_path: Path) -> None:
    said = []
    for refuse in (lambda: pick_device(name), lambda: load_decoder(tmp_path, device=name)):
        with pytest.raises(ValueError, match=cure) as refused:
            refuse()
        said.append(str(refused.value))
    assert said[0] == said[1]


def test_what_is_on_a_gpu_is_not_read_as_the_cpu_s(gpu: PretendGpu) -> None:
    there = torch.arange(3, device="cuda")
    with pytest.raises(TypeError, match="numpy"):
        there.numpy()
    with pytest.raises(RuntimeError, match="same device"):
        there + torch.ones(3)
    with pytest.raises(RuntimeError, match="indexed"):
        torch.ones(3)[there]
    assert there[torch.tensor([0, 2])].tolist() == [0, 2], "indices may lie on the CPU"
    assert (there + 1).cpu().device.type == "cpu"
    assert gpu.waits == {"cpu": 1, "tolist": 1, "index": 1}
