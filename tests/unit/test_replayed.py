"""Passes that are recorded once and replayed: the same states and the same texts as launched kernel by kernel.

Recorded over a pretended GPU, operation by operation (`recorded_graphs`); with CUDA graphs where there is a GPU.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import notes_of
import pytest
import torch
from cases import first_always
from lean_stacks import LeanStacks, RandomDraft
from recorded_graphs import RecordedGraphs
from tiny import tiny
from toys import output_of

import hsd_core
from hsd_core.core import events as trace
from hsd_core.core.hierarchy import LevelError
from hsd_core.models.context import Context
from hsd_core.models.drafts.copying import LONGEST, Suffixes
from hsd_core.models.gpu import replayed, split_keys
from hsd_core.models.gpu.device_rows import pick_on_device
from hsd_core.models.gpu.device_text import DeviceText
from hsd_core.models.gpu.graphs import CudaGraphs, Graphs
from hsd_core.models.gpu.pending_context import PendingContext
from hsd_core.models.gpu.transfer import fetched, sent, sent_ids
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.models.one_pass import Branches, Pass
from hsd_core.models.sampling import Sampling, pick
from hsd_core.trace import checks as identities
from tests.pretend_gpu import PretendGpu, pretend_gpu

GREEDY, SAMPLED = Sampling(0.0), Sampling(0.9, top_k=20, top_p=0.95)
SAMPLINGS = pytest.mark.parametrize("sampling", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
STACKS = [
    "target",
    "ngram:3,target",
    "nano:2,target",
    "nano:6@id=fed,target@rule=block",
    "exit:2@at=2,target",
    "exit:2@at=1,exit:4@at=2,target",
    "exit:3@at=2@id=fed@policy=adaptive,target",
    "exit:3@at=2@policy=margin@theta=0.5,target",
    "exit:3@at=3@policy=del,target",
    "model:3,target@bonus=0",
    "ngram:2,nano:2,target",
    "ngram:4@guess=3@miss=fed,exit:2@at=2,target",
    "view:3@budget=6@chunk=2,target",
]
PROMPT = [3, 1, 4, 1, 5, 3, 1, 4]


@pytest.fixture
def gpu() -> Iterator[PretendGpu]:
    with pretend_gpu() as mode:
        yield mode


def made(device: str, graphs: Graphs | None, **sizes: Any) -> LeanStacks:
    stacks = LeanStacks(device=device, graphs=graphs, **sizes)
    stacks.drafts = {"nano": RandomDraft(stacks.target), "fed": RandomDraft(stacks.target, fed=True)}
    return stacks


def written(stacks: LeanStacks, text: str, sampling: Sampling = GREEDY, **more: Any) -> tuple[list[Any], list[int]]:
    events = list(hsd_core.run(stacks.stack(text), PROMPT, sampling, seed=5, **{"max_new_tokens": 16, **more}))
    return events, list(output_of(events))


@pytest.mark.covering("text", "sampling", kinds=True)
@SAMPLINGS
@pytest.mark.parametrize("text", STACKS)
def test_a_stack_writes_the_same_whether_passes_are_replayed_or_not(text: str, sampling: Sampling) -> None:
    _, usual = written(made("cpu", None), text, sampling)
    with pretend_gpu():
        graphs = RecordedGraphs()
        events, output = written(made("cuda", graphs), text, sampling)
    assert output == usual
    assert graphs.replayed > 0
    assert identities.check(events) == []
    assert all("eager" not in level.params for level in events[0].levels)


@pytest.mark.covering("text", "sampling")
@SAMPLINGS
@pytest.mark.parametrize("text", STACKS[:5] + STACKS[-2:])
def test_the_host_waits_once_a_draft_and_once_a_verification(gpu: PretendGpu, text: str, sampling: Sampling) -> None:
    asked, waits, before = 0, 0, None
    for event in hsd_core.run(made("cuda", RecordedGraphs()).stack(text), PROMPT, sampling, seed=5, max_new_tokens=24):
        if isinstance(event, trace.Prefill):
            before = gpu.waits.total()
        looked_up = isinstance(event, trace.Draft) and event.work.rows == 0
        asked += isinstance(event, trace.Verify) or (isinstance(event, trace.Draft) and not looked_up)
    assert before is not None
    waits = gpu.waits.total() - before
    assert waits == asked


@pytest.mark.covering
@SAMPLINGS
@pytest.mark.parametrize("text", ["target", "nano:2,target", "exit:2@at=2,exit:3@at=3,target"])
def test_what_a_rule_does_not_need_stays_on_the_device(gpu: PretendGpu, text: str, sampling: Sampling) -> None:
    vocab, rows = 2048, 0
    stacks, before = made("cuda", RecordedGraphs(), vocab=vocab), 0
    for event in hsd_core.run(stacks.stack(text), PROMPT, sampling, seed=5, max_new_tokens=12):
        if isinstance(event, trace.Prefill):
            before = gpu.fetched_bytes
        rows += event.work.rows if isinstance(event, trace.Draft | trace.Verify) else 0
    a_row = (gpu.fetched_bytes - before) / rows
    assert 100 < a_row < 500 if sampling.greedy else 4 * vocab < a_row < 4 * vocab + 500, "at most one distribution"


def test_graphs_are_recorded_while_a_run_is_opened_and_serve_the_next(gpu: PretendGpu) -> None:
    graphs = RecordedGraphs()
    stacks, recorded = made("cuda", graphs), []
    for _ in range(2):
        for event in hsd_core.run(stacks.stack("nano:2,exit:2@at=2,target"), PROMPT, GREEDY, seed=5, max_new_tokens=9):
            recorded.append((type(event).__name__, graphs.captured))
        del event
        gc.collect()
    opened = len(replayed.ROWS) * len(replayed.seen_of(replayed.LEAST_SLOTS)) * 3  # the nano, below the exit, above it
    assert recorded[0] == ("Header", 0)
    assert {count for _, count in recorded[1:]} == {opened}


# ---- one pass


def both(**sizes: Any) -> tuple[LeanDecoder, LeanDecoder, RecordedGraphs]:
    """A model that launches and one that replays, on the pretended GPU."""
    graphs = RecordedGraphs()
    return tiny(device="cuda", **sizes), tiny(device="cuda", graphs=graphs, **sizes), graphs


def alike(a: torch.Tensor, b: torch.Tensor) -> bool:
    return bool(torch.allclose(a.cpu(), b.cpu(), atol=2e-5))


@pytest.mark.covering
@pytest.mark.parametrize("kind", ["llama", "qwen2", "qwen3"])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 9, 17, 32])
def test_every_bucket_gives_the_states_of_a_pass_of_its_own(gpu: PretendGpu, kind: str, n: int) -> None:
    plain, replaying, graphs = both(kind=kind)
    one, other = plain.new_cache(100), replaying.new_cache(100)
    replaying.prepare(other, [1, 3, 4])
    ids = [(7 * i + 3) % 61 for i in range(100)]
    for model, cache in ((plain, one), (replaying, other)):
        model.forward(Pass(ids[:40]), cache)  # too long for a bucket
    assert graphs.replayed == 0
    for start in (40, 20, 20 + n, 21):  # on, and back behind what other passes left
        x, y, given = None, None, Pass(ids[start : start + n], start)
        for lo, hi in ((0, 1), (1, 3), (3, 4)):
            x = plain.forward_layers(given, one, lo, hi, x)
            y = replaying.forward_layers(given, other, lo, hi, y)
            assert alike(x, y)
        assert alike(one.keys[:, :, :, : start + n], other.keys[:, :, :, : start + n])
    assert graphs.replayed == 4 * 3
    replaying.forward_layers(Pass(ids[:2]), other, 0, 4)
    assert graphs.replayed == 4 * 3, "a range that nobody recorded is launched"


def test_a_pass_attends_to_the_slots_in_use_and_over_a_long_text_in_parts(
    gpu: PretendGpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert replayed.seen_of(256) == (256,)
    assert replayed.seen_of(8192) == (256, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192)
    assert [split_keys.parts_of(seen) for seen in (256, 1024, 1536, 2048, 8192)] == [1, 1, 8, 8, 32]
    monkeypatch.setattr(replayed, "ROWS", (4,))
    monkeypatch.setattr(split_keys, "LONGEST", 64)
    plain, replaying, graphs = both(max_position_embeddings=600)
    one, other = plain.new_cache(560), replaying.new_cache(560)
    replaying.prepare(other, [4])
    assert graphs.captured == len(replayed.seen_of(1024)) == 4
    ids = [(7 * i + 3) % 61 for i in range(560)]
    for start, end in ((0, 240), (240, 243), (243, 254), (254, 257), (257, 500), (500, 504)):
        given = Pass(ids[start:end], start, 1)
        assert alike(plain.forward(given, one), replaying.forward(given, other)), (start, end)
    tree = Branches(504, (-1, -1, 0))
    given = Pass([*ids[503:504], 4, 9, 30], 503, 4, tree)
    one.cut(503), other.cut(503)
    assert alike(plain.forward(given, one), replaying.forward(given, other))
    assert graphs.replayed == 4


def test_a_tree_is_replayed_and_its_path_kept(gpu: PretendGpu) -> None:
    plain, replaying, graphs = both(seed=2)
    one, other = plain.new_cache(64, branches=6), replaying.new_cache(64, branches=6)
    replaying.prepare(other, [4])
    text, nodes = [(5 * i + 2) % 61 for i in range(12)], [4, 9, 9, 30, 7, 1]
    tree = Branches(len(text), (-1, 0, -1, 2, 2, 4))
    for start in (0, 9):  # with and without catching up on the text
        given = Pass([*text, *nodes][start:], start, 7, tree)
        assert alike(plain.forward(given, one), replaying.forward(given, other))
    for cache in (one, other):
        cache.keep(12, (2, 4, 5))
    after = Pass([8], 15, 1)
    assert alike(plain.forward(after, one), replaying.forward(after, other))
    assert graphs.replayed == 3


def test_a_full_cache_has_room_for_the_spare_rows(gpu: PretendGpu) -> None:
    plain, replaying, _ = both()
    one, other = plain.new_cache(192), replaying.new_cache(192)  # all that the model was built for
    replaying.prepare(other, [4])
    ids = [i % 61 for i in range(192)]
    for model, cache in ((plain, one), (replaying, other)):
        model.forward(Pass(ids[:175]), cache)
    last = Pass(ids[175:], 175, 17)  # 17 inputs in a bucket of 32
    assert alike(plain.forward(last, one), replaying.forward(last, other))


def test_what_a_run_left_behind_does_not_reach_the_next_one(gpu: PretendGpu) -> None:
    _, replaying, _ = both()
    cache = replaying.new_cache(50)
    replaying.prepare(cache, [4])
    want = replaying.forward(Pass([1, 2, 3]), cache).clone()
    held = cache.memory
    cache.keys.fill_(float("nan"))
    del cache
    again = replaying.new_cache(50)
    assert again.memory is held
    assert torch.equal(replaying.forward(Pass([1, 2, 3]), again), want)
    beside = replaying.new_cache(50)
    assert beside.memory is not held, "two runs at once have a memory each"


def test_memories_and_graphs_are_few(gpu: PretendGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replayed, "ROWS", (1,))
    _, replaying, _ = both(layers=12)
    held = [replaying.new_cache(50) for _ in range(5)]
    memories = replaying.stack._memories
    del held
    assert memories is not None
    assert len(memories._free) == replayed.MOST_FREE
    cache = replaying.new_cache(50)
    for depth in range(1, 12):
        replaying.prepare(cache, [depth, 12])
        assert len(cache.memory._graphs) <= replayed.MOST_RANGES + 1
        assert {(0, depth), (depth, 12)} <= set(cache.memory._graphs)
    assert replaying.new_cache(3).memory.slots == replayed.LEAST_SLOTS


# ---- where nothing can be recorded


@first_always("at", [7, 0])
def test_a_capture_that_fails_leaves_a_run_that_launches_and_says_why(gpu: PretendGpu, at: int) -> None:
    _, usual = written(made("cpu", None), "exit:2@at=2,target")
    graphs = RecordedGraphs(fails=at)
    stacks = made("cuda", graphs)
    for _ in range(2):
        events, output = written(stacks, "exit:2@at=2,target")
        assert output == usual
    said = "no CUDA graph could be recorded: operation not permitted when stream is capturing"
    assert [said in level.params["eager"] for level in events[0].levels] == [True, True]
    assert graphs.captured == at, "it is not tried again"


def test_a_gpu_that_cannot_record_at_all_is_used_all_the_same(gpu: PretendGpu) -> None:
    """The real `CudaGraphs`, over a GPU that is none."""
    if torch.cuda.is_available() and Path("/proc/driver/nvidia/version").exists():
        pytest.skip("there is a GPU")
    stacks = made("cuda", CudaGraphs("cuda"))
    _, output = written(stacks, "nano:2,target")
    assert output == written(made("cpu", None), "nano:2,target")[1]
    assert stacks.target.eager is not None
    assert stacks.target.eager.startswith("passes are launched kernel by kernel")


# ---- drafts that the host has not seen


def test_a_draft_ends_with_the_end_of_the_text(gpu: PretendGpu) -> None:
    here, there = made("cpu", None), made("cuda", RecordedGraphs())
    _, usual = written(here, "nano:5,target")
    for end in sorted(set(usual))[:2]:
        want, _ = written(here, "nano:5,target", ends=frozenset({end}))
        found, output = written(there, "nano:5,target", ends=frozenset({end}))
        assert output == list(output_of(want))
        assert identities.check(found) == []
        drafted = [[e.ids for e in events if isinstance(e, trace.Draft)] for events in (found, want)]
        assert drafted[0] == drafted[1]


@first_always("sampling", [SAMPLED, GREEDY])
def test_copies_are_recorded_as_on_the_cpu(gpu: PretendGpu, sampling: Sampling) -> None:
    """A long repetitive prompt, so that drafts copy; the trace says from where, of how many tokens and how surely."""
    traces = []
    for device, graphs in (("cpu", None), ("cuda", RecordedGraphs())):
        stacks = made(device, graphs)
        stack = stacks.stack("nano:4,target")
        events = hsd_core.run(stack, PROMPT * 4, sampling, seed=5, max_new_tokens=30)
        traces.append(
            [
                (e.ids, notes_of.copied(e), notes_of.q(e), notes_of.confidence(e))
                for e in events
                if isinstance(e, trace.Draft)
            ]
        )
    assert any(one for _, copied, _, _ in traces[0] for one in copied)
    for here, there in zip(*traces, strict=True):
        assert here[0] == there[0]
        for a, b in zip(here[1], there[1], strict=True):
            assert (a is None) == (b is None)
            if a is not None:
                assert (a.at, a.alike, a.share) == (b.at, b.alike, pytest.approx(b.share, abs=1e-4))
        assert here[2:] == tuple(pytest.approx(part, abs=1e-4) for part in there[2:])


def test_damaged_weights_are_named_although_nobody_waited(gpu: PretendGpu) -> None:
    stacks = made("cuda", RecordedGraphs())
    stacks.drafts["nano"]._mix.fill_(0.0)
    stacks.drafts["nano"]._body.last_norm.fill_(float("nan"))
    with pytest.raises(LevelError, match=r"level 0 \(nano\): its logits are not finite"):
        list(hsd_core.run(stacks.stack("nano:3,target"), [1], GREEDY, seed=5, max_new_tokens=24))


def test_a_device_finds_the_copies_that_the_host_finds(gpu: PretendGpu) -> None:
    random = torch.Generator().manual_seed(3)
    for vocab in (2, 3, 9):
        ids = torch.randint(0, vocab, (70,), generator=random).tolist()
        host, there = Suffixes(), DeviceText(LONGEST, torch.device("cuda"))
        lengths = [*range(1, 70), 40, 41, 5, 60]  # and back
        for n in lengths:
            context = ids[:n] if n != 41 else [*ids[:40], 1 - ids[40] % 2]
            unseen = PendingContext(context[:-2], tuple(torch.full((), id_, device="cuda") for id_ in context[-2:]))
            host.follow(context)
            for given in (unseen, context):
                token, place, sort, alike = (int(one) for one in there.last(given))
                assert (token, place, sort) == (host.tokens[-1], host.places[-1], host.sorts[-1])
                assert alike == (sort + 2) // 3


def test_a_device_draws_what_the_host_draws() -> None:
    random = torch.Generator().manual_seed(1)
    rows = torch.rand(40, 50, generator=random).softmax(-1)
    rows[:20, 30:] = 0.0
    rows[20:] /= rows[20:].sum(-1, keepdim=True)
    hot = torch.zeros(50)
    hot[7] = 1.0
    for row in (*(rows / rows.sum(-1, keepdim=True)), hot):
        for uniform in (0.0, 0.1, 0.77, 0.999999, 1.0 - 2**-53):
            assert int(pick_on_device(row, uniform)) == pick(row, lambda uniform=uniform: uniform)


# ---- between host and device


def test_a_context_that_is_ahead_of_the_host_reads_as_any_other_and_is_cut_without_a_wait(gpu: PretendGpu) -> None:
    seen = Context([3, 1, 4, 1])
    line = PendingContext(seen, ())
    for id_ in (5, 9):
        line = line.then(torch.full((), id_, device="cuda"))
    assert (len(line), line + [] is line) == (6, True)
    slices = [slice(2, None), slice(None, 3), slice(4, 5), slice(5, None), slice(-1, None), slice(1, 5)]
    parts = [line[at] for at in slices]
    on_device = [sent_ids(part, "cuda") for part in parts]
    assert gpu.waits.total() == 0
    whole = [3, 1, 4, 1, 5, 9]
    assert [list(part) for part in parts] == [part.tolist() for part in on_device] == [whole[at] for at in slices]
    assert (list(line), line[4], line[-1], line[::2]) == (whole, 5, 9, whole[::2])
    assert (line.cut(5), line + [2]) == (whole[:5], [*whole, 2])


def test_a_fetch_waits_once_and_a_send_never(gpu: PretendGpu) -> None:
    a, ids = sent([3, 1, 2], "cuda"), sent_ids(PendingContext([5], (torch.full((), 6, device="cuda"),)), "cuda")
    assert gpu.waits.total() == 0
    here = fetched(a, ids, a.float())
    assert [one.tolist() for one in here] == [[3, 1, 2], [5, 6], [3.0, 1.0, 2.0]]
    assert gpu.waits == {"synchronize": 1}
    assert fetched(here[0])[0] is here[0]
    assert gpu.waits == {"synchronize": 1}, "what is on the host is not waited for"


def test_the_pretended_gpu_counts_every_wait_and_copies_late(gpu: PretendGpu) -> None:
    there, mask = torch.arange(4, device="cuda"), torch.ones(4, dtype=torch.bool, device="cuda")
    late = torch.full((4,), 9)
    late.copy_(there, non_blocking=True)
    assert late.tolist() == [0, 0, 0, 0], "it was read too early"
    torch.cuda.current_stream().synchronize()
    assert late.tolist() == [0, 1, 2, 3]
    gpu.waits.clear()
    for wait in (
        lambda: torch.tensor([1], device="cuda"),
        lambda: torch.ones(2).to("cuda"),
        lambda: there[[0, 1]],
        lambda: there[torch.tensor([0, 1])],
        lambda: there[there[0]],
        lambda: there[mask],
        lambda: there.nonzero(),
        lambda: there.to("cpu"),
        lambda: bool(there[0] > 0),
    ):
        before = gpu.waits.total()
        wait()
        assert gpu.waits.total() == before + 1
    before = gpu.waits.total()
    there[1:3].clone(), there[there], torch.zeros(3, device="cuda")
    assert gpu.waits.total() == before


# ---- what the recording of the tests is worth


def test_a_recording_sees_memory_and_nothing_else(gpu: PretendGpu) -> None:
    x, out, weight = (
        torch.ones(2, 2, device="cuda"),
        torch.zeros(2, 2, device="cuda"),
        torch.full((2, 2), 3.0).to("cuda"),
    )
    outside = {"times": 2}

    def run() -> None:
        y = (x @ weight).t()
        for _ in range(outside["times"]):
            y = y + 1
        out.copy_(y)

    replay = RecordedGraphs().capture(run)
    x.fill_(2.0)
    replay()
    assert out.tolist() == [[14.0, 14.0], [14.0, 14.0]]
    outside["times"], x = 5, torch.zeros(2, 2, device="cuda")  # Python's values and other tensors are not seen
    replay()
    assert out.tolist() == [[14.0, 14.0], [14.0, 14.0]]


@pytest.mark.parametrize(
    "wrong", [lambda x: float(x.sum()), lambda x: x + torch.ones(2), lambda x: x[x > 0], lambda x: x.tolist()]
)
def test_a_recording_refuses_what_cuda_refuses(gpu: PretendGpu, wrong: Any) -> None:
    x = torch.ones(2, device="cuda")
    with pytest.raises(RuntimeError):
        RecordedGraphs().capture(lambda: wrong(x))


def test_a_forgotten_copy_gives_other_states(gpu: PretendGpu) -> None:
    plain, replaying, _ = both()
    one, other = plain.new_cache(40), replaying.new_cache(40)
    replaying.prepare(other, [4])
    replaying.forward(Pass([1, 2], 0, 2), other)
    other.memory._x = other.memory._x.clone()  # inputs go elsewhere than the graphs read
    assert not alike(plain.forward(Pass([3, 4], 0, 2), one), replaying.forward(Pass([3, 4], 0, 2), other))


# ---- a real one


@pytest.mark.covering("text", "sampling")
@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
@SAMPLINGS
@pytest.mark.parametrize("text", STACKS)
def test_cuda_graphs_write_what_launches_write(text: str, sampling: Sampling) -> None:
    _, usual = written(made("cuda", None), text, sampling)
    graphs = CudaGraphs("cuda")
    stacks = made("cuda", graphs)
    _, output = written(stacks, text, sampling)
    assert stacks.target.eager is None
    assert output == usual
