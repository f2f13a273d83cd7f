"""A draft with a window: what it remembers is as large for any text, its rows are those of training, and nothing of it
hangs on how it got there."""

from __future__ import annotations

import random

import pytest
import torch
from lean_stacks import from_scratch
from tiny import tiny, tiny_compiled

from hsd_core.grammar.registry import draft_forms
from hsd_core.levels.trunk import Trunk
from hsd_core.models.context import Context
from hsd_core.models.drafts.draft_file import DraftError, fingerprint, read_draft, write_draft
from hsd_core.models.lean.positions import SINK
from hsd_core.models.one_pass import Branches
from hsd_core.systems.longspec.windowed import ROOM, WindowedKeys, WindowedRun
from hsd_core.systems.nano.study import by_length, lengths_table
from hsd_core.systems.nano.train.data.batches import collate
from hsd_core.systems.nano.train.data.features import Features
from hsd_core.systems.nano.train.data.texts import Sample
from hsd_core.systems.nano.train.students.student_file import tensors_of
from tests.windowed_drafts import windowed, windowed_student

WINDOW, LAYERS, LONG = 12, 3, 150
TARGET = tiny(layers=LAYERS)
STUDENT = windowed_student(TARGET, window=WINDOW, absent=(5, 40))
DRAFT = windowed(TARGET, STUDENT)
IDS = torch.randint(0, 61, (LONG,), generator=torch.Generator().manual_seed(3)).tolist()
CLOSE = 1e-4


def run_of(verified: list[int], nodes: int = 0, target=TARGET, draft=DRAFT) -> tuple[WindowedRun, Trunk]:
    """A run whose target has read so much."""
    trunk = Trunk(target, 180, nodes)
    trunk.mark(target.layers)
    trunk.run(verified, target.layers, len(verified))
    return WindowedRun(draft, [trunk], nodes, "nano"), trunk


def keys_of(run: WindowedRun) -> WindowedKeys:
    return run._cache.layers  # type: ignore[attr-defined]


def close(a: torch.Tensor, b: torch.Tensor) -> bool:
    return bool(torch.allclose(a.exp(), b.exp(), atol=CLOSE))


@torch.inference_mode()
def test_its_rows_are_those_that_it_was_trained_on() -> None:
    """Of the third token of a draft, far behind the window too; the kernel's int8 rounds its results."""
    ids = IDS[:60]
    states = {depth: from_scratch(TARGET, ids, depth) for depth in (LAYERS - 1, LAYERS)}
    batch = collate([Features.of(Sample(tuple(ids), 1, "any"), states)], TARGET, STUDENT.shape, device="cpu")
    copies = STUDENT.copies(batch)
    trained = [STUDENT.logits(g[0], copies).exp()[:, :-1] for g in STUDENT.drafted(batch, 3)]
    found = []
    for end in (9, 30, 59):
        run, _ = run_of(ids[: end - 3])
        row = run.score(Context(ids[:end]))[0][0].exp()[STUDENT.ids]
        found.append([0.5 * float((row - rows[end - 1]).abs().sum()) for rows in trained])
    first, second, third = map(max, zip(*found, strict=True))
    assert third < 0.02 < min(first, second), f"by the token of a draft that they are of: {found}"


@torch.inference_mode()
def test_its_memory_is_its_window_and_what_is_drafted_however_long_the_text() -> None:
    sizes = set()
    for length in (20, 60, LONG):
        run, _ = run_of(IDS[: length - 1])
        for end in range(2, length + 1):
            run.score(Context(IDS[:end]))
            keys = keys_of(run)
            assert SINK + end - keys.first <= WINDOW + ROOM or end < WINDOW, "what it holds"
        sizes.add((keys.slots, keys.nbytes))
    ((slots, _),) = sizes
    assert slots == WINDOW + ROOM, "the window and what is drafted behind it"


@torch.inference_mode()
def test_a_wide_tree_has_room_and_no_more() -> None:
    run, _ = run_of(IDS[:20], nodes=100)
    assert keys_of(run).slots == WINDOW + 101


@torch.inference_mode()
def test_rows_hang_on_the_line_alone_whatever_was_read_and_taken_back() -> None:
    rng, verified = random.Random(4), IDS[:40]
    run, _ = run_of(verified)
    for _ in range(60):
        if run.cached and rng.random() < 0.4:
            run.keep(rng.randrange(run.cached), ())
        end = rng.randint(max(41, run.cached + 1), max(41, run.cached + 1) + rng.choice((1, 5, 60)))
        line = [*verified, *(rng.randrange(61) for _ in range(end - 40))]
        run.keep(40, ())
        wanted = rng.randint(1, min(4, end - max(40, run.cached)))
        rows = run._score(line, wanted)[0]
        fresh = run_of(verified)[0]._score(line, wanted)[0]
        assert close(rows, fresh)


@torch.inference_mode()
def test_a_trees_rows_are_those_of_its_branches_and_a_kept_path_goes_on() -> None:
    verified, context = IDS[:50], Context(IDS[:51])
    parents, nodes = (-1, -1, 0, 1, 3), [7, 9, 11, 13, 15]
    run, _ = run_of(verified, nodes=5)
    run.score(context)
    rows, _ = run.grow(context, nodes, Branches(51, parents), 5)
    for node, path in ((2, [0, 2]), (4, [1, 3, 4])):
        alone, _ = run_of(verified)
        (row,) = alone._score([*context, *(nodes[n] for n in path)], 1)[0][None]
        assert close(rows[node], row[0])
    run.keep(51, [1, 3, 4])
    line = [*context, 9, 13, 15, 3]
    assert close(run._score(line, 1)[0], run_of(verified)[0]._score(line, 1)[0])


@torch.inference_mode()
def test_it_reads_a_compiled_targets_last_layer_as_well() -> None:
    compiled, plain = tiny_compiled(layers=2), tiny(layers=2, head_dim=16)
    student = windowed_student(plain, window=WINDOW)
    rows = []
    for target in (plain, compiled):
        run, _ = run_of(IDS[:30], target=target, draft=windowed(target, student))
        rows.append(run.score(Context(IDS[:32]))[0])
    assert close(*rows)


@torch.inference_mode()
def test_what_the_target_has_verified_changes_its_rows() -> None:
    one, other = (run_of(IDS[:count])[0].score(Context(IDS[:40]))[0] for count in (20, 38))
    assert not torch.allclose(one.exp(), other.exp(), atol=1e-3)


def test_a_window_with_what_no_such_draft_has_is_refused(tmp_path) -> None:
    about = {"preset": "p", "at": 0, "fed": 1, "layers": 1, "rows": 61, "hidden": 32, "target": "t", "window": 12}
    write_draft(tmp_path / "a.safetensors", tensors_of(STUDENT), {**about, "fingerprint": fingerprint(TARGET)})
    with pytest.raises(DraftError, match="no system here opens one"):
        read_draft(tmp_path / "a.safetensors", TARGET)
    with pytest.raises(DraftError, match=r"window of 12.* and has more that none has"):
        read_draft(tmp_path / "a.safetensors", TARGET, draft_forms())


def test_drafts_are_read_at_several_lengths_of_a_text(tmp_path) -> None:
    """Far behind its window too, and only over texts that are so long."""
    about = {"preset": "p", "at": 0, "fed": 0, "layers": 1, "rows": len(STUDENT.ids), "hidden": 32, "target": "t"}
    path = tmp_path / "long.safetensors"
    write_draft(path, tensors_of(STUDENT), {**about, "window": WINDOW, "fingerprint": fingerprint(TARGET)})
    found = by_length(TARGET, [path], [IDS, IDS[:40]], [20, LONG])
    first, far = (found[length].ratio(("long", 0, "overlap")) for length in (20, LONG))
    assert first is not None and far is not None and first != far and 0 < far < 1
    assert "at 150" in lengths_table(found, [path])
    with pytest.raises(ValueError, match="the longest text has 150 tokens"):
        by_length(TARGET, [path], [IDS], [LONG + 1])
