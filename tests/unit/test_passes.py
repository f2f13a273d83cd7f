"""The command `passes`: kernels go to the right part, limits are worked out by hand, a run's stamps add up."""

from __future__ import annotations

import json
import math
import time

import pytest
from lean_stacks import LeanStacks, RandomDraft
from tiny import made, tiny, tiny_compiled

from hsd_core.cli import main
from hsd_core.levels.entry import StackEntry
from hsd_core.levels.model import ModelLevel
from hsd_core.measure.passes.limits import Limits, least
from hsd_core.measure.passes.measuring import fitting
from hsd_core.measure.passes.parts import PARTS, Kernel, from_torch, kernel, parted
from hsd_core.measure.passes.rounds import Stamps, time_rounds
from hsd_core.measure.passes.stored import context_database, model_database
from hsd_core.measure.passes.timing import PROFILED, REPEATS, heads_of, time_passes, work_of
from hsd_core.measure.results.markdown import view, views
from hsd_core.models.compiled.profile import Profile, runs_of
from hsd_core.stacks.grammar import LevelSpec

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
        ("aten::_weight_int8pack_mm", (3, V), "head", 3 * V * 32),
        ("aten::_scaled_dot_product_flash_attention_for_cpu", (1, 4, 3, 16), "attention", 0),
    ],
)
def test_a_kernel_belongs_to_a_part(op, made_, part, products) -> None:
    assert kernel(op, 5, (*made_[:-1], 32), made_, frozenset({V})) == Kernel(part, 5, products)


def test_parts_and_what_is_left_make_up_the_pass() -> None:
    passes = [[Kernel("products", t * 10**6, 7), Kernel("head", 10**6, 3), Kernel("kernels", 0)] for t in (2, 9, 3)]
    parts, products = parted(6.0, passes)
    assert parts == {"products": 3.0, "attention": 0.0, "head": 1.0, "kernels": 0.0, "around": 2.0}
    assert products == 10


def test_kernels_that_a_profiler_slows_down_are_scaled_to_the_pass() -> None:
    parts, _ = parted(2.0, [[Kernel("products", 3 * 10**6), Kernel("attention", 10**6)]])
    assert parts == {"products": 1.5, "attention": 0.5, "head": 0.0, "kernels": 0.0, "around": 0.0}


def test_the_least_time_is_the_longer_of_reading_and_multiplying() -> None:
    limits = Limits(bytes_per_ms=10.0, floats_per_ms=4.0, integers_per_ms=8.0)
    assert (least(limits, 100, 16, integers=False).ms, least(limits, 100, 16, integers=False).binds) == (
        10.0,
        "reading",
    )
    assert (least(limits, 10, 16, integers=False).ms, least(limits, 10, 16, integers=False).binds) == (4.0, "products")
    assert least(limits, 10, 16, integers=True).ms == 2.0


def test_lengths_leave_room_for_the_rows_behind_them() -> None:
    assert fitting([512, 128, 8192], (1, 8), 8192) == [128, 512, 8184]
    assert fitting([30, 60], (1,), None) == [30, 60]
    with pytest.raises(ValueError, match="9000 tokens is longer than the context of 8192; use at most 8192"):
        fitting([128, 9000], (1,), 8192)
    with pytest.raises(ValueError, match="16 rows leave no room"):
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

    profile = Profile(tmp_path)
    shape, weights = made(head_dim=16, inner=INNER)
    opened = nullcontext((weights.__getitem__, set(weights)))
    decoder = CompiledDecoder(shape, lambda: opened, dtype=dtype, profile=profile)
    decoder.forward_layers(decoder.embed([1]), decoder.new_cache(1), 0, 0, 1)  # cuts: a pass is runs of two sessions
    found = time_passes([entry(tiny())], [entry(decoder)], profile, TEXT, [8, 20], (1, 3))
    assert set(found) == {(0, length, n) for length in (8, 20) for n in (1, 3)}
    for (_, _, n), timed in found.items():
        assert (len(timed.ms), len(timed.profiled_ms), len(timed.kernels)) == (REPEATS, PROFILED, PROFILED)
        for kernels in timed.kernels:
            head = sum(k.products for k in kernels if k.part == "head")
            layers = sum(k.products for k in kernels if k.part == "products")
            # 4 bits keep the rest of their offsets as small products of their own
            assert head == n * V * HIDDEN and (
                layers > n * LAYERS * LAYER if dtype == "int4" else layers == n * LAYERS * LAYER
            )
            assert sum(k.part == "attention" for k in kernels) == LAYERS
            assert all(k.ns >= 0 for k in kernels)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "int4"])
def test_a_pass_of_torch_is_told_apart_by_its_operations(tmp_path, dtype) -> None:
    decoder = tiny(dtype=dtype, inner=INNER, head_dim=16)
    found = time_passes([entry(decoder)], [entry(decoder)], Profile(tmp_path), TEXT, [20], (1, 3))
    for (_, _, n), timed in found.items():
        assert len(timed.kernels) == PROFILED
        for kernels in timed.kernels:
            assert sum(k.products for k in kernels if k.part == "head") == n * V * HIDDEN
            assert sum(k.products for k in kernels if k.part == "products") == n * LAYERS * LAYER
            assert any(k.part == "attention" and k.ns > 0 for k in kernels)


def test_every_level_has_a_time_for_every_cell(tmp_path) -> None:
    stacks = LeanStacks(drafts={"nano": RandomDraft(tiny(), fed=True)})
    entries = stacks.stack("ngram:2,nano:2,exit:2@at=2,int4:3,target")
    found = time_passes(entries, entries, Profile(tmp_path), TEXT, [4, 30], (1, 2, 5))
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
    assert work is not None
    assert work.bytes_read == weights + decoder.cache_bytes(43)
    assert work.attended == 2 * LAYERS * 4 * 16 * 3 * 43 and not work.integers
    assert decoder.weight_bytes() == weights + 4 * V * HIDDEN  # the embedding is held, and one row of it read
    kept = decoder.new_cache(43)
    assert decoder.cache_bytes(43) == kept.keys.nbytes + kept.values.nbytes


def test_copies_read_less_than_what_they_are_copies_of() -> None:
    read = [tiny(dtype=dtype, inner=INNER).weight_bytes(LAYERS, head=False) for dtype in ("float32", "int8", "int4")]
    assert read[0] > 3 * read[1] > 4 * read[2]


def test_a_level_without_weights_has_no_limit() -> None:
    from hsd_core.levels.toy import toy_level

    level = toy_level("order1")
    assert work_of(level, 8, 1) is None and heads_of(level) is None


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
    found = time_rounds(entries, [TEXT[:6], TEXT[:9]], Bytes(), tokens=12)
    wall = 1e3 * (time.perf_counter() - began)
    assert found.tokens == 24 and found.rounds > 0
    assert found.calls[-1] == found.rounds, "the target has one pass a round"
    assert all(calls > 0 for calls in found.calls) and all(ms > 0 for ms in found.passes)
    assert min(found.drawing, found.engine, found.trace, found.stream, found.bare_ms) > 0
    assert found.ms + found.bare_ms < wall, "nothing is counted twice"


def test_stamped_calls_within_one_another_are_one() -> None:
    stamps = Stamps()
    score = stamps.around(lambda: time.sleep(0), whole=True)
    stamps.around(lambda: (score(), score()), whole=False)()
    assert stamps.calls == 2, "a draft whose passes are stamped adds none of its own"
    stamps.around(lambda: None, whole=False)()
    stamps.around(lambda: (score(), score()), whole=True)()
    assert stamps.calls == 4


class Counted(dict):
    asked = 0

    def get(self, key, default=None):
        Counted.asked += 1
        return super().get(key, default)


@pytest.mark.parametrize("stored", [10_000, 1_000_000])
def test_a_lookup_in_the_context_asks_once_a_key_length_however_much_is_stored(stored) -> None:
    databases, text = context_database(stored)
    context = databases._context
    assert context is not None and context.inserts >= stored
    context._index = Counted(context._index)
    Counted.asked = 0
    own = databases.reach["c"]
    for at in range(len(text) - 200, len(text)):
        databases.guess(text[at - 8 : at], 1)
    assert 200 <= Counted.asked <= 200 * (own.max_key - own.min_key + 1)


class Read:
    """A row of keys that counts how often one is read."""

    def __init__(self, keys) -> None:
        self.keys, self.reads = keys, 0

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, at):
        self.reads += 1
        return self.keys[at]


@pytest.mark.parametrize("stored", [10_000, 1_000_000])
def test_a_lookup_in_the_models_database_halves_its_keys(stored) -> None:
    databases, text = model_database(stored)
    tables = databases._static["m"].tables
    assert sum(len(table.keys) for table in tables.values()) >= stored
    for table in tables.values():
        table._keys = Read(table._keys)
    for at in range(100, 300):
        databases.guess(text[at - 8 : at], 1)
    reads = sum(table._keys.reads for table in tables.values())
    most = sum(math.ceil(math.log2(len(table.keys))) + 2 for table in tables.values())
    assert 200 <= reads <= 200 * most


def test_the_command_says_and_keeps_what_it_measured(tmp_path, capsys) -> None:
    out, raw, page = tmp_path / "p.json", tmp_path / "p.jsonl", tmp_path / "p.html"
    command = ["passes", "--preset", "toy", "--rows", "1,3", "--limit", "1", "--max-new-tokens", "8"]
    assert main([*command, "--levels", "table@id=order1,table@id=order6", "--context", "20", "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "| `table@id=order1` | 20 | 3 |" in shown and "GB/s" in shown and "outside passes" in shown
    kept = json.loads(out.read_text(encoding="utf-8"))
    assert {"machine", "versions", "recorded", "command", "limits", "threads"} <= kept["about"].keys()
    passes = [record for record in kept["records"] if record["what"] == "pass"]
    assert [(r["level"], r["context"], r["rows"]) for r in passes] == [
        (f"table@id={order}", 20, n) for order in ("order1", "order6") for n in (1, 3)
    ]
    assert all(r["ms"] > 0 and r["parts"] is None and r["least"] is None for r in passes)  # a table has no weights
    assert main([*command, "--lengths", "30,12", "--out", str(raw), "--html", str(page)]) == 0
    assert page.read_text(encoding="utf-8").count("Plotly.newPlot(") == 3
    assert views(raw) == ("passes", "lookups", "rounds")
    rounds = view(raw, "rounds")
    assert "| 12 |" in rounds and "| 30 |" in rounds and "by `python -m hsd_core passes" in rounds


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--rows", "0"], "--rows is '0'; give whole numbers from 1 on"),
        (["--lengths", "a,b"], "--lengths is 'a,b'"),
        (["--lengths", "8", "--context", "9"], "give one of them"),
        (["--out", "no-such-folder/x.json"], "no-such-folder is no folder"),
        (["--context", "0"], "use at least 1"),
        (["--levels", "target"], "its levels are table@id="),
    ],
)
def test_bad_input_is_met_before_anything_is_measured(more, said, capsys) -> None:
    assert main(["passes", "--preset", "toy", *more]) == 2
    assert said in capsys.readouterr().err


def test_torch_events_without_sizes_are_no_products() -> None:
    class Event:
        key, input_shapes, self_cpu_time_total = "aten::mm", [], 2.0

    assert from_torch([Event()], frozenset({V})) == [Kernel("kernels", 2000)]
    assert set(PARTS) == {"products", "attention", "head", "kernels", "around"}
