"""The command `passes`: kernels go to the right part, limits are worked out by hand, a run's stamps add up."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
import torch
from lean_stacks import LeanStacks, RandomDraft
from tiny import made, tiny, tiny_compiled

from hsd_core.cli import main
from hsd_core.cli.passes import fitting
from hsd_core.cli.passes import measured as limits_of
from hsd_core.core.level import StackEntry
from hsd_core.grammar.stack_text import LevelSpec
from hsd_core.levels.model_level import ModelLevel
from hsd_core.measure.passes import level_passes
from hsd_core.measure.passes.level_passes import (
    PROFILED,
    REPEATS,
    PassWork,
    Timed,
    head_of,
    lookup,
    part_of,
    pass_record,
    split_by_part,
    time_passes,
    work_of,
)
from hsd_core.measure.passes.round_times import Stamped, measure_rounds
from hsd_core.measure.rawfile import read_raw
from hsd_core.measure.results import view, views
from hsd_core.models.compiled.node_profile import Node, NodeProfile, runs_of
from hsd_core.models.one_pass import Pass
from hsd_core.systems.ngram.databases import Databases
from hsd_core.systems.ngram.ngram_level import NgramLevel

V, HIDDEN, INNER, LAYERS = 61, 32, 64, 4
# of a layer of `tiny` with 4 heads of 16 numbers, 2 of them shared: q, k, v and out, gate and up, down
LAYER = HIDDEN * (64 + 2 * 32) + 64 * HIDDEN + 3 * HIDDEN * INNER
TEXT = [n % V for n in range(40)]


def entry(decoder) -> StackEntry:
    return StackEntry(ModelLevel(decoder, name="target", kind="target", label="t"), LevelSpec("target"), None)


@pytest.mark.parametrize(
    ("op", "made_", "part", "products"),
    [
        ("MatMul", (1, 3, 48), "products", 3 * 48 * 32),
        ("MatMulNBits", (1, 3, V), "head", 3 * V * 32),
        ("GroupQueryAttention", (1, 3, 64), "attention", 0),
        ("SkipSimplifiedLayerNormalization", (1, 3, 32), "kernels", 0),
        ("QuickGelu", (1, 3, V), "kernels", 0),  # as wide as the logits, but no product
    ],
)
def test_a_kernel_belongs_to_a_part(op, made_, part, products) -> None:
    assert part_of(Node(op, 5, (*made_[:-1], 32), made_), V) == (part, products)


def nodes(**ms: float) -> list[Node]:
    """Kernels that take so long: `products` of 7 multiply-adds, `head` of 3, and others by their names."""
    sizes = {"products": ((1, 7), (1, 1)), "head": ((1, 1), (1, 3))}
    names = {"products": "MatMul", "head": "MatMul", "attention": "GroupQueryAttention", "kernels": "Add"}
    return [Node(names[part], round(took * 1e6), *sizes.get(part, ((), ()))) for part, took in ms.items()]


def test_parts_and_what_is_left_make_up_the_pass() -> None:
    parts, products = split_by_part(6.0, [nodes(products=ms, head=1, kernels=0) for ms in (2, 9, 3)], head=3)
    assert parts == {"products": 3.0, "attention": 0.0, "head": 1.0, "kernels": 0.0, "around": 2.0}
    assert products == 10


def test_kernels_that_a_profiler_slows_down_are_scaled_to_the_pass() -> None:
    parts, _ = split_by_part(2.0, [nodes(products=3, attention=1)], head=3)
    assert parts == {"products": 1.5, "attention": 0.5, "head": 0.0, "kernels": 0.0, "around": 0.0}


def test_the_least_time_is_the_longer_of_reading_and_multiplying() -> None:
    limits = {"bytes_per_ms": 10.0, "floats_per_ms": 4.0}
    kernels = {"float32_many_per_ms": 2.0, "int8_many_per_ms": 8.0, "int8_few_per_ms": 1.0}
    for rates, work, products, ms, binds in (
        (limits, PassWork(100, 0, "float32"), 16, 10.0, "reading"),
        (limits, PassWork(10, 4, "float32"), 12, 4.0, "products"),
        (limits, PassWork(10, 4, "int8"), 12, 4.0, "products"),  # nobody measured its kernel
        (limits | kernels, PassWork(10, 4, "float32"), 12, 8.0, "products"),
        (limits | kernels, PassWork(10, 4, "int8"), 16, 4.0, "products"),  # what is attended to are floats
    ):
        found = work.least(rates, products)
        assert (found["ms"], found["binds"]) == (ms, binds)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the machine reaches matters to nobody here."""
    for name, value in (("READ_BYTES", 2**16), ("M", 64), ("K", 64), ("N", 64), ("SIDE", 256), ("TRIES", 2)):
        monkeypatch.setattr(level_passes, name, value)


@pytest.mark.usefixtures("quick")
def test_what_multiplies_is_what_the_machine_is_measured_by(monkeypatch: pytest.MonkeyPatch) -> None:
    """Torch's product of 8-bit numbers is a loop of scalars on some processors: no pass runs it."""
    monkeypatch.setattr(torch, "_int_mm", None)
    found = limits_of("cpu")
    pytest.importorskip("onnxruntime")
    level = entry(tiny_compiled(dtype="int8", inner=INNER)).level
    least = work_of(level, 40, 3).least(found, 10**9)
    attended = work_of(level, 40, 3).attended / found["float32_many_per_ms"]
    assert least["multiply_ms"] == pytest.approx(10**9 / found["int8_many_per_ms"] + attended)


def test_lengths_leave_room_for_the_rows_behind_them() -> None:
    assert fitting([512, 128, 8192], (1, 8), 8192) == [128, 512, 8184]
    assert fitting([30, 60], (1,), None) == [30, 60]
    with pytest.raises(ValueError, match="9000 tokens and 8 rows are more than the context of 8192"):
        fitting([128, 9000], (1, 8), 8192)
    with pytest.raises(ValueError, match="4 tokens and 16 rows are more than the context of 16"):
        fitting([4], (16,), 16)


def test_the_nodes_of_a_profile_go_to_the_run_that_they_lie_in() -> None:
    def node(ts: int, op: str) -> dict:
        args = {"op_name": op, "input_type_shape": [{"float": [1, 2, 3]}], "output_type_shape": []}
        return {"name": f"{op}_kernel_time", "ts": ts, "dur": 4, "args": args}

    runs = [{"name": "model_run", "ts": ts, "dur": 20} for ts in (10, 40)]
    early = {"name": "session_initialization", "ts": 0, "dur": 9}
    found = runs_of([node(41, "C"), early, *runs, node(11, "A"), node(15, "B")])
    assert [[x.op for x in nodes] for nodes in found] == [["A", "B"], ["C"]]
    assert (found[0][0].ns, found[0][0].given, found[0][0].made) == (4000, (1, 2, 3), ())


@pytest.mark.parametrize("dtype", ["float32", "int8", "int4"])
def test_a_compiled_pass_is_profiled_whole_and_by_the_rows_that_were_asked_for(tmp_path, dtype) -> None:
    pytest.importorskip("onnxruntime")
    from contextlib import nullcontext

    from hsd_core.models.compiled.decoder import CompiledDecoder

    profile = NodeProfile(tmp_path)
    shape, weights = made(head_dim=16, inner=INNER)
    opened = nullcontext((weights.__getitem__, set(weights)))
    decoder = CompiledDecoder(shape, lambda: opened, dtype=dtype, profile=profile)
    decoder.forward_layers(Pass([1]), decoder.new_cache(1), 0, 1)  # cuts: a pass is runs of two sessions
    found = time_passes([entry(tiny())], [entry(decoder)], profile, TEXT, [8, 20], (1, 3))
    assert set(found) == {(0, length, n) for length in (8, 20) for n in (1, 3)}
    for (_, _, n), timed in found.items():
        assert (len(timed.ms), len(timed.profiled_ms), len(timed.nodes)) == (REPEATS, PROFILED, PROFILED)
        for kernels in timed.nodes:
            told = [part_of(node, V) for node in kernels]
            head, layers = (sum(products for own, products in told if own == part) for part in ("head", "products"))
            # 4 bits keep the rest of their offsets, and 8 bits may turn their inputs, as small products of their own
            rows = max(n, decoder.least_rows)
            whole = rows * LAYERS * LAYER
            assert head == rows * V * HIDDEN
            assert layers > whole if dtype == "int4" else layers >= whole if dtype == "int8" else layers == whole
            assert [part for part, _ in told].count("attention") == LAYERS
            assert all(node.ns >= 0 for node in kernels)


def test_every_level_has_a_time_for_every_cell(tmp_path) -> None:
    stacks = LeanStacks(drafts={"nano": RandomDraft(tiny(), fed=True)})
    entries = stacks.stack("ngram:2,nano:2,exit:2@at=2,int4:3,target")
    found = time_passes(entries, entries, NodeProfile(tmp_path), TEXT, [4, 30], (1, 2, 5))
    assert set(found) == {(i, length, n) for i in (1, 2, 3, 4) for length in (4, 30) for n in (1, 2, 5)}
    assert all(min(timed.ms) > 0 for timed in found.values())


@pytest.mark.parametrize("make", [tiny, tiny_compiled], ids=["lean", "compiled"])
def test_what_a_pass_reads_is_what_its_weights_weigh(make) -> None:
    if make is tiny_compiled:
        pytest.importorskip("onnxruntime")
    decoder = make(inner=INNER, head_dim=16)
    norms = (2 * LAYERS + 1) * HIDDEN if make is tiny_compiled else 0
    weights = 4 * (LAYERS * LAYER + V * HIDDEN + norms)
    level = entry(decoder).level
    work = work_of(level, 40, 3)
    assert work.bytes_read == weights + decoder.cache_bytes(43)
    assert work.attended == 2 * LAYERS * 4 * 16 * 3 * 43 and work.kind == "float32"
    assert decoder.weight_bytes() == weights + 4 * V * HIDDEN  # the embedding is held, and one row of it read
    kept = decoder.new_cache(43)
    assert decoder.cache_bytes(43) == kept.keys.nbytes + kept.values.nbytes


def test_copies_read_less_than_what_they_are_copies_of() -> None:
    read = [tiny(dtype=dtype, inner=INNER).weight_bytes(LAYERS, head=False) for dtype in ("float32", "int8", "int4")]
    assert read[0] > 3 * read[1] > 4 * read[2]


def test_a_level_without_weights_has_no_parts() -> None:
    from hsd_core.systems.table.toy import toy_level

    level = toy_level("order1")
    assert head_of(level) is None


class Bytes:
    def piece(self, id_: int) -> bytes:
        return bytes([id_])

    def is_special(self, id_: int) -> bool:
        return False


@pytest.mark.parametrize(
    "text", ["target", "int4:3,target", "ngram:2,int4:3,target", "nano:2,target", "exit:3@at=2@policy=del,target"]
)
def test_a_round_is_taken_apart_without_a_rest(text) -> None:
    stacks = LeanStacks(drafts={"nano": RandomDraft(tiny())})
    entries, began = stacks.stack(text), time.perf_counter()
    found = measure_rounds(entries, [TEXT[:6], TEXT[:9]], Bytes(), tokens=12)
    wall = 1e3 * (time.perf_counter() - began)
    assert found["tokens"] == 24 and found["rounds"] > 0
    assert found["calls"][-1] == 1.0, "the target has one pass a round"
    assert all(calls > 0 for calls in found["calls"]) and all(ms > 0 for ms in found["passes"])
    parts = [found[name] for name in ("drawing", "engine", "trace", "stream")]
    assert min(*parts, found["bare_ms"]) > 0
    assert sum(parts) + sum(found["passes"]) == pytest.approx(found["ms"])
    assert found["rounds"] * (found["ms"] + found["bare_ms"]) < wall, "nothing is counted twice"


def test_a_pass_within_a_pass_is_a_part_of_it() -> None:
    stamped = Stamped([])
    stamped.ns, stamped.calls = [0, 0], [0, 0]
    score = stamped.around(1, lambda: time.sleep(0))
    stamped.around(0, lambda: (score(), score()))()
    assert stamped.calls == [1, 0] and stamped.ns[0] > 0 == stamped.ns[1]
    score()
    assert stamped.calls == [1, 1]


@pytest.mark.parametrize(("text", "calls"), [("nano:3,target", 3), ("exit:3@at=2@policy=del,target", 1)])
def test_passes_of_a_draft_are_told_apart_where_they_can_be(text, calls) -> None:
    stacks = LeanStacks(drafts={"nano": RandomDraft(tiny())})
    found = measure_rounds(stacks.stack(text), [TEXT[:6]], Bytes(), tokens=4)
    assert found["calls"][0] <= calls and (calls == 1 or found["calls"][0] > 1)


def test_a_lookup_is_timed_behind_a_text_that_it_has_seen() -> None:
    level = NgramLevel(lambda: Databases("c"), V)
    found = lookup(level, TEXT * 3)
    assert found["ms"] > 0 < found["filed_ms"]


@pytest.mark.usefixtures("quick")
def test_the_command_says_and_keeps_what_it_measured(tmp_path, capsys) -> None:
    out = tmp_path / "p.jsonl"
    command = ["passes", "--preset", "toy", "--rows", "1,3", "--limit", "1", "--max-new-tokens", "8"]
    assert main([*command, "--levels", "table@id=order1,table@id=order6", "--context", "20", "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "| `table@id=order1` | 20 | 3 |" in shown and "GB/s" in shown and "outside passes" in shown
    about, records = read_raw(out)
    assert {"machine", "versions", "recorded", "command", "limits", "threads"} <= about.keys()
    passes = [record for record in records if record["what"] == "pass"]
    assert [(r["level"], r["context"], r["rows"]) for r in passes] == [
        (f"table@id={order}", 20, n) for order in ("order1", "order6") for n in (1, 3)
    ]
    assert all(r["ms"] > 0 and r["parts"] is None and r["least"] is None for r in passes)  # a table has no weights
    assert main([*command, "--lengths", "30,12", "--out", str(out)]) == 0
    assert views(out) == ("passes", "rows", "lookups", "rounds")
    rounds = view(out, "rounds")
    assert "| 12 |" in rounds and "| 30 |" in rounds and "by `python -m hsd_core passes" in rounds


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--rows", "0"], "--rows is '0'; give whole numbers from 1 on"),
        (["--lengths", "a,b"], "--lengths is 'a,b'"),
        (["--lengths", "8", "--context", "9"], "give one of them"),
        (["--out", "no-such-folder/x.json"], "no-such-folder is not a folder"),
        (["--context", "0"], "use at least 1"),
        (["--levels", "target"], "its levels are table@id="),
    ],
)
def test_bad_input_is_met_before_anything_is_measured(more, said, capsys) -> None:
    assert main(["passes", "--preset", "toy", *more]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("nodes", [[[]], [[Node("Add", 1000, (1, 5), (1, 5))]]])
def test_a_draft_that_torch_runs_over_a_compiled_decoder_tells_no_parts(nodes: list[list[Node]]) -> None:
    level = SimpleNamespace(decoder=SimpleNamespace(profile=object()), vocab_size=5)
    found = pass_record(level, 8, 1, Timed([2.0, 3.0, 4.0], [3.0], nodes), {})
    assert found == {"ms": 3.0, "parts": None, "profiled_ms": None, "least": None}
