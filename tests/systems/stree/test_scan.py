"""A tree over a running state (STree): its rows are those of each path by the recursion, and going back leaves no
trace."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch
from lean_stacks import from_scratch
from tiny import tiny, tiny_compiled

from hsd_core.grammar.registry import draft_forms
from hsd_core.levels.draft_run import DraftRun
from hsd_core.models.context import Context
from hsd_core.models.drafts.draft_file import DraftError, DraftInfo, fingerprint, read_draft, write_draft
from hsd_core.models.drafts.head import DraftHead
from hsd_core.models.one_pass import Branches, Pass, path_to
from hsd_core.systems.nano.train.data.batches import collate
from hsd_core.systems.nano.train.data.features import Features
from hsd_core.systems.nano.train.data.texts import Sample
from hsd_core.systems.nano.train.recipes import DraftShape
from hsd_core.systems.nano.train.students.student import Student
from hsd_core.systems.nano.train.students.student_file import student_of, take_weights, tensors_of
from hsd_core.systems.stree import scan, study
from hsd_core.systems.stree.scan import HELD, StateCache
from tests.state_drafts import States, state_student, with_states

CLOSE, VOCAB = 1e-10, 7
MODEL = States(VOCAB)
RNG = random.Random(1)
TEXT = [RNG.randrange(VOCAB) for _ in range(3 * HELD)]
PARENTS = (-1, -1, 0, 1, 1, 3, 5, 2, -1, 6)
NODES = tuple(range(VOCAB)) + (0, 3, 5)


def read(cache: StateCache, ids: list[int], wanted: int = 1, sees: Branches | None = None) -> torch.Tensor:
    new = ids[cache.length :]
    return MODEL.forward(Pass(new, cache.length, wanted, sees), MODEL.embed(new), cache)[0]


def after(text: list[int]) -> StateCache:
    cache = MODEL.new_cache(0)
    if text:
        read(cache, text)
    return cache


@pytest.mark.parametrize("length", [1, 5, len(TEXT)])
def test_a_trees_rows_are_those_of_each_path(length: int) -> None:
    text = TEXT[:length]
    rows = read(after(text[:-1]), [*text, *NODES], len(NODES) + 1, Branches(length, PARENTS))
    for node, row in enumerate(rows, -1):
        path = [NODES[at] for at in path_to(node, PARENTS)]
        assert torch.allclose(row, MODEL.row([*text, *path]), atol=CLOSE), node


@pytest.mark.parametrize("wrong", ["convolution", "decay"])
def test_a_tree_that_is_read_as_a_line_is_caught(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the convolution read the tokens before a node, and not its ancestors; or every node saw those before it."""
    real = scan.ancestors

    def lined(parents: list[int], new: int) -> tuple[torch.Tensor, torch.Tensor]:
        (sees, taps), line = real(parents, new), real(list(range(-1, len(parents) - 1)), new)
        return (sees, line[1]) if wrong == "convolution" else (line[0], taps)

    monkeypatch.setattr(scan, "ancestors", lined)
    rows = read(after(TEXT[:4]), [*TEXT[:5], *NODES], len(NODES) + 1, Branches(5, PARENTS))
    path = [NODES[at] for at in path_to(4, PARENTS)]
    assert not torch.allclose(rows[5], MODEL.row([*TEXT[:5], *path]), atol=1e-3)


def test_a_state_that_is_replayed_is_the_one_of_a_copy_and_of_reading_again() -> None:
    text, path = TEXT[:20], [1, 3, 5, 6]
    cache = after(text)
    copy = cache.mark()
    read(cache, [*text, *NODES], 1, Branches(20, PARENTS))
    cache.keep(20, path)
    line = [*text, *(NODES[node] for node in path), 2]
    replayed = read(cache, line)
    cache.restore(copy)
    assert cache.length == 20
    assert torch.allclose(read(cache, line), replayed, atol=CLOSE)
    assert torch.allclose(MODEL.row(line), replayed[0], atol=CLOSE)


def test_rows_depend_on_the_line_alone_whatever_was_read_and_taken_back() -> None:
    rng, cache, line = random.Random(3), MODEL.new_cache(0), list[int]()
    begun_anew = 0
    for _ in range(120):
        line += [rng.randrange(VOCAB) for _ in range(rng.choice((1, 3, 9, 90 * (rng.random() < 0.1))))]
        if cache.length == len(line):
            line.append(0)
        base = len(line)
        read(cache, [*line, *NODES], rng.randint(1, len(NODES)), Branches(base, PARENTS))
        node = rng.randrange(-1, len(NODES))
        cache.keep(base, path := path_to(node, PARENTS))
        line += [NODES[at] for at in path]
        if rng.random() < 0.4:
            cut, base = max(0, cache.length - rng.choice((1, 4, 20, HELD))), cache.base
            cache.cut(cut)
            assert cache.length == (cut if cut >= base else 0)
            begun_anew += cut < base
            line = line[:cut]
    assert 0 < begun_anew < 10
    line = [*line, 1, 2]
    assert torch.allclose(read(cache, line)[0], MODEL.row(line), atol=1e-8)
    cache.cut(1)
    assert cache.length == 0 and torch.allclose(read(cache, line)[0], MODEL.row(line), atol=1e-8)


def test_its_memory_does_not_grow_with_the_text() -> None:
    sizes, cache = set(), MODEL.new_cache(0)
    for end in range(1, len(TEXT) + 1):
        read(cache, TEXT[:end])
        sizes.add(cache.nbytes)
    position = cache.inputs[0].raw[:1].nbytes * 2
    assert max(sizes) < min(sizes) + 2 * MODEL.layers * (2 * HELD + 1) * position
    assert cache.base, "the first ones are read into the state"


TARGET = tiny(layers=3)
STUDENT = state_student(TARGET, absent=(5, 40))
IDS = torch.randint(0, 61, (150,), generator=torch.Generator().manual_seed(3)).tolist()


def run_of(target=TARGET, draft=None) -> DraftRun:
    return DraftRun(target, draft or with_states(TARGET, STUDENT), (), 200, "nano")


@torch.inference_mode()
def test_its_rows_are_those_that_it_was_trained_on() -> None:
    """The kernel's int8 rounds its results."""
    states = {3: from_scratch(TARGET, IDS, 3)}
    batch = collate([Features.of(Sample(tuple(IDS), 1, "any"), states)], TARGET, STUDENT.shape, device="cpu")
    trained = STUDENT.logits(next(STUDENT.drafted(batch, 1))[0], STUDENT.copies(batch)).exp()[:, :-1]
    run, worst = run_of(), 0.0
    for end in (1, 9, 30, 149):
        row = run.score(Context(IDS[:end]))[0][0].exp()[STUDENT.ids]
        worst = max(worst, 0.5 * float((row - trained[end - 1]).abs().sum()))
    assert worst < 0.02


@torch.inference_mode()
def test_a_compiled_targets_draft_gives_the_same_rows() -> None:
    compiled, plain = tiny_compiled(layers=2), tiny(layers=2, head_dim=16)
    student = state_student(plain)
    rows = [run_of(target, with_states(target, student)).score(Context(IDS[:32]))[0] for target in (plain, compiled)]
    assert torch.allclose(rows[0].exp(), rows[1].exp(), atol=1e-4)


def test_its_file_is_opened_trained_further_and_refused_with_what_no_such_draft_has(tmp_path) -> None:
    about = {"preset": "p", "at": 0, "fed": 0, "layers": 2, "rows": 59, "hidden": 32, "target": "t", "states": 1}
    path = tmp_path / "a.safetensors"
    write_draft(path, tensors_of(STUDENT), {**about, "fingerprint": fingerprint(TARGET)})
    draft = read_draft(path, TARGET, draft_forms())
    assert draft.states and draft.about.title == "nano, 2 layers, with running states"
    again = student_of(path, TARGET)
    assert all(torch.equal(one, other) for one, other in zip(again.parameters(), STUDENT.parameters(), strict=True))
    with pytest.raises(DraftError, match="no system here opens one"):
        read_draft(path, TARGET)
    write_draft(path, tensors_of(STUDENT), {**about, "fed": 1, "fingerprint": fingerprint(TARGET)})
    with pytest.raises(DraftError, match="running states, and has more that none has"):
        read_draft(path, TARGET, draft_forms())


def test_it_begins_from_a_draft_with_keys_and_values(tmp_path) -> None:
    plain = Student(TARGET, DraftShape("nano", 0.0, False, 2), STUDENT.ids.tolist())
    about = {"preset": "p", "at": 0, "fed": 0, "layers": 2, "rows": 59, "hidden": 32, "target": "t"}
    path = tmp_path / "a.safetensors"
    write_draft(path, tensors_of(plain), {**about, "fingerprint": fingerprint(TARGET)})
    begun = state_student(TARGET, absent=(5, 40))
    take_weights(begun, path)
    assert torch.allclose(begun.layers[1].qkv, plain.layers[1].qkv, atol=0.02)
    write_draft(path, tensors_of(STUDENT), {**about, "states": 1, "fingerprint": fingerprint(TARGET)})
    with pytest.raises(DraftError, match="another kind of draft"):
        take_weights(plain, path)


def test_what_a_draft_keeps_is_flat_for_states_and_grows_for_keys() -> None:
    plain = Student(TARGET, DraftShape("nano", 0.0, False, 2), STUDENT.ids.tolist())
    about = DraftInfo("k", "tiny", 0, False, 2, 59, 32, "tiny", fingerprint(TARGET), Path(), None, {})
    drafts = {"keys": DraftHead(about, tensors_of(plain), TARGET), "states": with_states(TARGET, STUDENT)}
    found = [*study.read(TARGET, drafts, IDS, (80, 140))]
    held = {(r["draft"], r["length"]): r["bytes"] for r in found}
    assert held["keys", 140] - held["keys", 80] == 60 * 2 * TARGET.shape.of_draft(2).cache_bytes(1, 4) // 2
    assert held["states", 140] < 1.1 * held["states", 80]
    assert "| one more token of | after 80 | after 140 |" in study.by_length(found)
