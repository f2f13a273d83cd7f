"""Training drafts: what they learn from, that they learn, and that an interruption changes nothing."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from hsd_core import pipeline
from hsd_core.cli import main
from hsd_core.grammar.registry import draft_forms
from hsd_core.measure.bench.peers import nano_as_llama
from hsd_core.models.drafts.copying import Gate, mixed
from hsd_core.models.drafts.draft_file import DraftError, list_drafts, read_draft
from hsd_core.models.lean import decoder as lean
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.models.one_pass import Pass
from hsd_core.stacks.presets import PRESETS
from hsd_core.systems.nano.study import by_place, places_table
from hsd_core.systems.nano.train import loop, recipes
from hsd_core.systems.nano.train.data import features
from hsd_core.systems.nano.train.data.batches import collate, order
from hsd_core.systems.nano.train.data.features import Features
from hsd_core.systems.nano.train.data.texts import Sample, commonest, read_examples
from hsd_core.systems.nano.train.distil import Distiller
from hsd_core.systems.nano.train.evaluation import LOSSES, evaluate, predicted_speed_up, prepare, total_variation
from hsd_core.systems.nano.train.recipes import DraftShape, Hyperparameters
from hsd_core.systems.nano.train.students.student import Batch, Copies, Student
from hsd_core.systems.nano.train.students.student_file import student_of, take_weights
from tests.pretend_gpu import pretend_gpu
from tests.tiny import tiny, tiny_compiled

EXIT, NANO, FED = (
    DraftShape("exit", 0.25, False, 1),
    DraftShape("nano", 0.0, False, 2),
    DraftShape("nano", 0.0, True, 1),
)
JOINED = replace(FED, joins=(0.25, 0.5, 1.0))
AHEAD = replace(FED, ahead=3)
GATED = replace(FED, gated=True)
MASKED = replace(AHEAD, masked=True)
MEDUSA = DraftShape("medusa", 0.0, True, 0, mlp_width=32, ahead=3)
WIDE = replace(FED, mlp_width=96)  # twice the target's
PLAN = Hyperparameters(rows=40, steps=6, batch=40, warm=2, check_every=2, rate=3e-3, loss="kl")


@pytest.fixture(scope="module")
def target() -> LeanDecoder:
    return tiny(layers=4, vocab=61, seed=3)


@pytest.fixture(scope="module")
def data(target: LeanDecoder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the target wrote greedily after random prompts."""
    random = torch.Generator().manual_seed(1)
    lines = []
    for i in range(60):
        ids = torch.randint(1, 61, (5,), generator=random).tolist()
        prompt = list(ids)
        for _ in range(12):
            logits = target.forward(Pass(ids, 0, 1), target.new_cache(64))[0]
            ids.append(int((logits + torch.randn(61, generator=random)).argmax()))
        lines.append(json.dumps({"prompt_ids": prompt, "output_ids": ids[5:], "kind": "ab"[i % 2]}))
    path = tmp_path_factory.mktemp("data") / "texts.jsonl"
    path.write_text("\n".join(lines))
    return path


def batch_of(x: torch.Tensor, fed: torch.Tensor | None = None) -> Batch:
    """One text, each of whose positions counts, with nothing to copy."""
    none = torch.zeros(x.shape[:2], dtype=torch.long)
    return Batch(x, fed, torch.zeros_like(x), torch.ones(x.shape[:2], dtype=torch.bool), none, none, none, none)


def states(target: LeanDecoder, data: Path, folder: Path, depths: set[int]) -> list[features.Features]:
    store = features.FeatureStore(target, read_examples(data, vocab_size=61, longest=64), depths, folder)
    assert store.compute()
    return store.load(*depths)


def test_a_loop_is_not_learned(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"prompt_ids": [1, 2], "output_ids": [3, 4, 5, 6, 7, 7, 7, 7], "loop_from": 5}))
    assert read_examples(path, vocab_size=9, longest=64) == [Sample((1, 2, 3, 4, 5, 6, 7), 2, "any", 2)]


def test_a_loop_is_not_learned_beside_texts_that_flag_theirs(tmp_path: Path) -> None:
    path = tmp_path / "joined.jsonl"
    lines = [
        {"prompt_ids": [1], "output_ids": [3, 4, 5, 6, *[7] * 12], "loop_from": 5},
        {"prompt_ids": [2], "output_ids": [3, 4, 5, 6, *[7] * 12]},
    ]
    path.write_text("\n".join(json.dumps(line) for line in lines))
    found = {e.ids for e in read_examples(path, vocab_size=9, longest=64)}
    assert found == {(1, 3, 4, 5, 6, 7), (2, 3, 4, 5, 6, 7)}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"prompt_ids": [1], "output_ids": [2, 3, 4, 99]}', "id 99 lies outside the target's 61"),
        ('{"prompt_ids": [1], "output_ids": [99, 3, 4, 5], "loop_from": 0}', "id 99 lies outside the target's 61"),
        ('{"prompt_ids": [1], "output_ids": [2, 3, 4, 5], "loop_from": -1}', "loop_from must lie within output_ids"),
        ('{"prompt_ids": [1]}', "write outputs for the prompts with selfgen"),
        ('{"prompt": "hello"}', "train on a file that selfgen wrote"),
        ('{"prompt_ids": [1], "output_ids": [2]}', "holds no output of 4 tokens or more"),
    ],
)
def test_data_that_cannot_be_trained_on_is_refused_with_the_cure(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(line)
    with pytest.raises(ValueError, match=message):
        read_examples(path, vocab_size=61, longest=64)


def test_the_trimmed_head_keeps_what_is_written_most_and_what_ends_a_text() -> None:
    examples = [Sample((9, 9, 9, 1, 1, 1, 2, 2, 3), 3, "any")]
    assert commonest(examples, 3, frozenset({7})) == [1, 2, 7]


def test_a_prompt_is_never_on_both_sides() -> None:
    one, other = Sample((1, 2, 3, 4), 2, "a"), Sample((1, 2, 9, 9), 2, "a")
    assert one.held_out == other.held_out
    assert {Sample((i, 2, 3), 2, "a").held_out for i in range(100)} == {True, False}


def test_prompts_are_learned_behind_what_all_begin_with_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [{"prompt_ids": [7, 7, i, 5], "output_ids": [1, 2, 3, 4, i % 9]} for i in range(10, 60)]
    path.write_text("\n".join(json.dumps(line) for line in lines))
    plain = read_examples(path, vocab_size=61, longest=64)
    for e, before in zip(read_examples(path, vocab_size=61, longest=64, prompts=True), plain, strict=True):
        assert (e.ids, e.held_out, before.start) == (before.ids, before.held_out, 4)
        assert e.start == (4 if e.held_out else 2)


def test_states_are_those_of_the_target(target: LeanDecoder, data: Path) -> None:
    f = states(target, data, data.parent, {1})[0]
    ids = list(f.example.ids)
    wanted = target.forward_layers(Pass(ids), target.new_cache(64), 0, 1)
    assert torch.allclose(f.states[1].float(), wanted, rtol=1e-2, atol=1e-2)


def test_states_are_computed_once_and_never_read_for_others(target: LeanDecoder, data: Path, tmp_path: Path) -> None:
    examples = read_examples(data, vocab_size=61, longest=64)
    store = features.FeatureStore(target, examples, {1}, tmp_path)
    assert not store.compute(stop=lambda: True)
    assert store.compute()
    assert store.compute(stop=lambda: True), "nothing is left to do"
    assert features.FeatureStore(target, [*examples[3:], *examples[:3]], {1}, tmp_path).compute(stop=lambda: True), (
        "any order"
    )
    assert not features.FeatureStore(target, examples, {1, 2}, tmp_path).compute(stop=lambda: True), (
        "a depth is missing"
    )
    other = features.FeatureStore(tiny(layers=4, vocab=61, seed=4), examples, {1}, tmp_path)
    assert not set(other.paths) & set(store.paths)


def test_a_depth_that_is_asked_for_later_joins_the_others(
    target: LeanDecoder, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples, asked = read_examples(data, vocab_size=61, longest=64)[:3], []
    first = features.FeatureStore(target, examples, {1}, tmp_path)
    assert first.compute()
    before = [load_file(path) for path in first.paths]
    compute = target.states
    monkeypatch.setattr(target, "states", lambda ids, depths: asked.append([*depths]) or compute(ids, depths))
    assert features.FeatureStore(target, examples, {2}, tmp_path).compute()
    assert asked == [[2]] * 3, "the last layer's states are there"
    for path, held in zip(first.paths, before, strict=True):
        after = load_file(path)
        assert after.keys() == {"1", "2", "4"} and all(torch.equal(after[name], held[name]) for name in held)
    assert first.compute(stop=lambda: True), "nothing was lost"


def test_what_a_killed_writer_left_is_removed_and_what_one_writes_now_is_not(
    target: LeanDecoder, data: Path, tmp_path: Path
) -> None:
    left, fresh = tmp_path / "a.1.partial", tmp_path / "b.2.partial"
    for path in (left, fresh):
        path.touch()
    os.utime(left, (0, 0))
    assert features.FeatureStore(target, read_examples(data, vocab_size=61, longest=64)[:1], {1}, tmp_path).compute()
    assert fresh.exists() and not left.exists()


def _damage(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5])


def test_damaged_states_say_so_and_name_the_cure(target: LeanDecoder, data: Path, tmp_path: Path) -> None:
    store = features.FeatureStore(target, read_examples(data, vocab_size=61, longest=64)[:1], {1}, tmp_path)
    assert store.compute()
    _damage(store.paths[0])
    for read in (store.compute, partial(store.load, 1)):
        with pytest.raises(ValueError, match=r"is damaged .*; delete it, and its states are computed again"):
            read()


def test_a_damaged_checkpoint_says_so_and_names_the_cure(target: LeanDecoder, data: Path, tmp_path: Path) -> None:
    found = states(target, data, data.parent, {1})
    train = partial(loop.train, target, EXIT, PLAN, found, list(range(40)), tmp_path / "run")
    train(stop=lambda: True)
    _damage(tmp_path / "run" / "checkpoint.safetensors")
    with pytest.raises(ValueError, match=r"is damaged .*; delete it, and training starts again"):
        train()


def test_a_long_text_is_read_in_pieces(target: LeanDecoder, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = [i % 61 for i in range(50)]
    whole = target.states(ids, [1, 4])
    monkeypatch.setattr(lean, "CHUNK", 7)
    for depth, state in target.states(ids, [1, 4]).items():
        assert torch.allclose(state, whole[depth], atol=1e-4)


def test_a_batch_counts_what_the_target_wrote_and_feeds_the_state_before(target: LeanDecoder, data: Path) -> None:
    found = states(target, data, data.parent, set())[:3]
    batch = collate(found, target, FED, device="cpu")
    assert batch.fed is not None
    for i, f in enumerate(found):
        n = len(f.example.ids)
        assert batch.wanted[i].nonzero().flatten().tolist() == list(range(f.example.start - 1, n - 1))
        assert torch.equal(batch.fed[i, 1 : n - 1], f.states[4][: n - 2].float())
        assert not batch.fed[i, 0].any()


def test_every_text_is_seen_once_an_epoch_in_an_order_of_the_seed(target: LeanDecoder, data: Path) -> None:
    found = states(target, data, data.parent, set())
    first = next(order(found, 30, 0))
    assert [f.example for f in first] == [f.example for f in next(order(found, 30, 0))]
    seen: list[Sample] = []
    for group in order(found, 30, 5):
        seen += [f.example for f in group]
        if len(seen) >= len(found):
            break
    assert sorted(e.ids for e in seen) == sorted(f.example.ids for f in found)


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_is_zero_at_the_target_and_positive_elsewhere(name: str) -> None:
    p, q = torch.randn(5, 7), torch.randn(5, 7)
    assert torch.allclose(LOSSES[name](p, p), torch.zeros(5), atol=1e-6)
    assert bool((LOSSES[name](q, p) > 1e-3).all())


def test_losses_are_named_where_no_torch_is_needed() -> None:
    assert tuple(LOSSES) == recipes.LOSSES


def test_total_variation_is_half_the_distance() -> None:
    p, q = torch.tensor([[0.5, 0.5]]).log(), torch.tensor([[0.9, 0.1]]).log()
    assert total_variation(q, p).item() == pytest.approx(0.4)


def reads(draft: DraftShape) -> set[int]:
    return {draft.depth(4), *draft.joined(4)}


MORE = [pytest.param(draft, marks=pytest.mark.everything) for draft in (NANO, JOINED, AHEAD, GATED, MASKED)]
EVERY = pytest.mark.parametrize("draft", [EXIT, FED, MEDUSA, *MORE], ids=lambda d: d.title(4))


@EVERY
def test_training_brings_a_draft_nearer_to_its_target(
    draft: DraftShape, target: LeanDecoder, data: Path, tmp_path: Path
) -> None:
    found = states(target, data, data.parent, reads(draft))
    hyper = replace(PLAN, steps=60, check_every=30, unroll=2 if draft.joins else None)
    _, curve = loop.train(target, draft, hyper, found, list(range(61)), tmp_path / "run")
    assert curve[-1].loss < 0.9 * curve[0].loss
    assert curve[-1].train_loss < curve[1].train_loss
    assert len(curve[-1].agreement) == (min(loop.DISTANCES, draft.ahead + 9 * (draft.ahead == 1)) if draft.fed else 1)


@pytest.mark.parametrize("layers", [1, 2])
def test_a_step_of_its_own_in_training_is_the_one_that_it_takes_in_a_run(layers: int, target: LeanDecoder) -> None:
    """Behind every position at once, what a draft says that goes on there by itself."""
    student = Student(target, replace(FED, layers=layers), range(40))
    chance = torch.Generator().manual_seed(0)
    torch.nn.init.normal_(student.read, std=0.2, generator=chance)
    x, fed = (torch.randn(1, 9, 32, generator=chance) for _ in range(2))
    with torch.no_grad():
        together = list(student.drafted(batch_of(x, fed), 4))
        for begun in (2, 5):  # true states end there
            true, read = fed[:, : begun + 1], x[:, : begun + 1]
            for by in range(1, 4):
                own = next(student.drafted(batch_of(read, true), 1))[:, -1:]
                assert torch.allclose(own, together[by - 1][:, begun + by - 1 : begun + by], atol=1e-4)
                true, read = torch.cat((true, own), 1), x[:, : begun + by + 1]


def test_what_is_said_in_one_pass_is_said_behind_what_is_known_alone(target: LeanDecoder) -> None:
    """Unknown tokens stand in the places behind it, each reading the last state that is known."""
    for draft in (AHEAD, MEDUSA):
        student = Student(target, draft, range(40))
        chance = torch.Generator().manual_seed(0)
        for part in [student.read] if draft.layers else [head.read for head in student.heads]:
            torch.nn.init.normal_(part, std=0.2, generator=chance)
        x, fed = (torch.randn(1, 9, 32, generator=chance) for _ in range(2))
        with torch.no_grad():
            together = list(student.drafted(batch_of(x, fed), 3))
            known = 4  # positions
            if draft.layers:
                x, fed = (t[:, :known].clone() for t in (x, fed))
                line = torch.cat((x, student.unknown[None]), 1), torch.cat((fed, fed[:, -1:].expand(1, 2, -1)), 1)
                alone = next(student.drafted(batch_of(*line), 1))[:, known - 1 :]
            else:
                unit = F.rms_norm(fed[:, known - 1], (32,), eps=student.eps)
                alone = torch.stack([head(unit) for head in student.heads], 1)
            for by in range(3):
                assert torch.allclose(alone[:, by], together[by][:, known - 1 + by], atol=1e-4)


def test_what_is_copied_ahead_goes_on_where_the_copy_stands(target: LeanDecoder, data: Path) -> None:
    """And begins there again where the text ends, as what repeats itself does."""
    ids = (7, 8, 9, 3, 7, 8, 5, 5)
    f = features.Features.of(Sample(ids, 1, "any"), {4: torch.zeros(8, 32).half()})
    batch = collate([f], target, MEDUSA, device="cpu")
    assert batch.copied(0)[0][0, 5].item() == 9, "behind 7 8"
    for by, token in ((1, 3), (2, 7), (3, 8)):
        if 5 + by < 7:
            assert batch.copied(by)[0][0, 5 + by].item() == token
            assert batch.copied(by)[1][0, 5 + by] == batch.sorts[0, 5]
    f = features.Features.of(Sample((1, 4, 4, 2, 2, 2, 2), 1, "any"), {4: torch.zeros(7, 32).half()})
    batch = collate([f], target, MEDUSA, device="cpu")
    assert [batch.copied(by)[0][0, 2 + by].item() for by in range(4)] == [4, 4, 4, 4], "it knows nothing of the twos"


@pytest.mark.parametrize("draft", [EXIT, FED, MEDUSA], ids=lambda d: d.name)
def test_interrupted_training_ends_where_uninterrupted_does(
    draft: DraftShape, target: LeanDecoder, data: Path, tmp_path: Path
) -> None:
    found = states(target, data, data.parent, {draft.depth(4)})
    ids = list(range(40))
    whole, curve = loop.train(target, draft, PLAN, found, ids, tmp_path / "whole")
    asked = iter([False, False, True])
    loop.train(target, draft, PLAN, found, ids, tmp_path / "cut", stop=lambda: next(asked))
    resumed, again = loop.train(target, draft, PLAN, found, ids, tmp_path / "cut")
    for (name, a), (_, b) in zip(whole.named_parameters(), resumed.named_parameters(), strict=True):
        assert torch.equal(a, b), name
    assert [replace(p, seconds=0.0) for p in again] == [replace(p, seconds=0.0) for p in curve]


def test_on_a_gpu_it_learns_the_same_there(target: LeanDecoder, data: Path, tmp_path: Path) -> None:
    """The placement of it, that is: over a pretended GPU autocast changes nothing."""
    (few := tmp_path / "few.jsonl").write_text("\n".join(data.read_text().splitlines()[:20]))
    curves = []
    for device in ("cpu", "cuda"):
        with pretend_gpu():
            decoder = tiny(layers=4, vocab=61, seed=3, device=device)
            found, ids, asked = states(decoder, few, tmp_path / device, {4}), list(range(40)), iter((False, True))
            loop.train(
                decoder, FED, PLAN, found, ids, tmp_path / f"w-{device}", device=device, stop=partial(next, asked)
            )
            student, curve = loop.train(decoder, FED, PLAN, found, ids, tmp_path / f"w-{device}", device=device)
            assert {p.device.type for p in student.parameters()} == {device}
            curves.append([(point.step, point.loss, point.agreement) for point in curve])
    assert curves[0] == curves[1]


def test_a_killed_run_goes_on_from_its_checkpoint(target: LeanDecoder, data: Path, tmp_path: Path) -> None:
    found = states(target, data, data.parent, {1})
    whole, _ = loop.train(target, EXIT, PLAN, found, list(range(40)), tmp_path / "whole")

    def die(step: int, *_: object) -> None:
        if step == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        loop.train(target, EXIT, PLAN, found, list(range(40)), tmp_path / "cut", on_step=die)
    resumed, curve = loop.train(target, EXIT, PLAN, found, list(range(40)), tmp_path / "cut")
    assert all(torch.equal(a, b) for a, b in zip(whole.parameters(), resumed.parameters(), strict=True))
    assert [p.step for p in curve] == [0, 2, 4, 6]


def test_the_curve_can_be_watched_from_step_0_on(target: LeanDecoder, data: Path, tmp_path: Path) -> None:
    found, steps = states(target, data, data.parent, {1}), []

    def curve() -> list[int]:
        return [json.loads(line)["step"] for line in (tmp_path / "run" / "curve.jsonl").read_text().splitlines()]

    def watch(step: int, *_: object) -> None:
        steps.append(curve() if step else [])

    loop.train(
        target, EXIT, PLAN, found, list(range(40)), tmp_path / "run", on_step=watch, stop=lambda: len(steps) == 3
    )
    assert steps == [[], [0], [0, 2], [0, 2]]
    (tmp_path / "run" / "curve.jsonl").unlink()
    loop.train(target, EXIT, PLAN, found, list(range(40)), tmp_path / "run", on_step=watch, stop=lambda: True)
    assert curve() == [0, 2, 4]


def test_acceptance_is_the_overlap_with_the_targets_whole_distribution(target: LeanDecoder, data: Path) -> None:
    found = states(target, data, data.parent, {1})[:2]
    student = Student(target, EXIT, list(range(10, 50)))
    batch = collate(found, target, EXIT, device="cpu")
    (score,) = evaluate(student, [prepare(batch, target)])
    overlap, agreed, done = 0.0, 0.0, 0
    for i, f in enumerate(found):
        n, start = len(f.example.ids) - 1, f.example.start
        p = target.head(f.states[4][start - 1 : n].float()).softmax(-1)
        (tokens, sorts, _), rows = f.copies[:, start - 1 : n].long(), slice(done, done + n - start + 1)
        g = next(student.drafted(replace(batch), 1))[i, start - 1 - batch.first : n - batch.first]
        seen = F.rms_norm(g, (g.shape[-1],), student.norm, student.eps)
        own = torch.full_like(p, float("-inf"))
        own[:, 10:50] = (seen @ target.head_rows(range(10, 50)).T).detach()
        q = mixed(own, g, tokens, sorts, Gate(*(student.copy[part] for part in Gate._fields)))[0].exp().detach()
        copies = student.copies(batch)
        trimmed = student.logits(g, Copies(copies.columns[rows], copies.sorts[rows], copies.rows[rows])).exp()
        assert torch.allclose(trimmed[:, :40], q[:, 10:50], atol=1e-6), "whatever the columns"
        lacking = (tokens < 10) | (tokens >= 50)
        assert torch.allclose(trimmed[lacking, 40], q[lacking, tokens[lacking]] * (sorts[lacking] > 0), atol=1e-6)
        done += n - start + 1
        overlap += float(torch.minimum(p, q).sum())
        agreed += float((p.argmax(-1) == q.argmax(-1)).sum())
    assert score.accepted == pytest.approx(overlap, rel=1e-3)
    assert score.agreed == agreed


def test_the_predicted_speed_up_is_the_formula() -> None:
    assert predicted_speed_up(0.5, 0.1, longest=1) == (pytest.approx(1.5 / 1.1), 1)
    assert predicted_speed_up(0.0, 0.1)[0] < 1
    assert predicted_speed_up(0.9, 0.01)[1] == 8


@pytest.fixture(
    scope="module",
    params=[WIDE, *(pytest.param(draft, marks=pytest.mark.everything) for draft in (EXIT, NANO, FED))],
    ids=lambda d: d.title(4),
)
def shipped(
    request: pytest.FixtureRequest, target: LeanDecoder, data: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, DraftShape]:
    folder = tmp_path_factory.mktemp("drafts")
    preset = replace(PRESETS["toy"], name="tiny", target=replace(PRESETS["toy"].target, title="Tiny"))
    distiller = Distiller(target, preset, [request.param], data, PLAN, folder / "work", ends=frozenset({2}))
    path = distiller.train(distiller.name(request.param), folder, command="python -m hsd_core train")
    assert path is not None
    return path, request.param


def test_a_whole_recipe_goes_through_one_distiller(target: LeanDecoder, data: Path, tmp_path: Path) -> None:
    preset = replace(PRESETS["toy"], name="tiny")
    exits = [EXIT, DraftShape("exit", 0.5, False, 1)]
    distiller = Distiller(target, preset, exits, data, PLAN, tmp_path / "work", ends=frozenset({2}))
    assert list(distiller.drafts) == ["tiny-exit1", "tiny-exit2"]
    for name in distiller.drafts:
        assert distiller.train(name, tmp_path) == tmp_path / f"{name}.safetensors"


def test_another_plan_is_another_training(target: LeanDecoder, data: Path, tmp_path: Path) -> None:
    preset, weights = replace(PRESETS["toy"], name="tiny"), []
    for hyper in (PLAN, replace(PLAN, loss="tv"), PLAN):
        distiller = Distiller(target, preset, [EXIT], data, hyper, tmp_path / "work", ends=frozenset({2}))
        path = distiller.train("tiny-exit1", tmp_path)
        assert path is not None
        weights.append(load_file(path)["layers.0.down"])
    assert not torch.equal(weights[0], weights[1])
    assert torch.equal(weights[0], weights[2])


def test_a_draft_is_trained_further_from_its_file(
    shipped: tuple[Path, DraftShape], target: LeanDecoder, data: Path, tmp_path: Path
) -> None:
    path, draft = shipped
    found, ids = states(target, data, data.parent, {draft.depth(4)}), read_draft(path, target).ids.tolist()
    hyper = replace(PLAN, steps=40, check_every=20)
    _, curve = loop.train(target, draft, hyper, found, ids, tmp_path / "run", start=path, stop=lambda: True)
    held = Student(target, draft, ids)
    take_weights(held, path)
    eval_batches = [prepare(collate([f], target, draft, device="cpu"), target) for f in found if f.example.held_out]
    assert curve[0].loss == pytest.approx(evaluate(held, eval_batches)[0].mean_loss, rel=1e-4), (
        "it begins where the file is"
    )
    _, curve = loop.train(target, draft, hyper, found, ids, tmp_path / "run", start=path)
    assert curve[-1].train_loss < curve[1].train_loss
    distiller = Distiller(target, PRESETS["toy"], [draft], data, PLAN, tmp_path / "work", ends=frozenset({2}))
    (name,) = distiller.drafts
    earlier = _copied(path, tmp_path / "earlier", name)
    assert distiller.train(name, tmp_path / "out", start=earlier) == tmp_path / "out" / f"{name}.safetensors"
    assert distiller.train(name, tmp_path / "anew") is not None
    further, anew = (load_file(tmp_path / folder / f"{name}.safetensors") for folder in ("out", "anew"))
    assert not torch.equal(further["layers.0.down"], anew["layers.0.down"]), "not the other one's checkpoint"


def _copied(path: Path, folder: Path, name: str) -> Path:
    folder.mkdir()
    (folder / f"{name}.safetensors").write_bytes(path.read_bytes())
    return folder


@pytest.mark.parametrize("shape", [{"layers": 3}, {"mlp_width": 32}])
def test_a_draft_of_another_shape_is_no_start(
    shape: dict[str, int], shipped: tuple[Path, DraftShape], target: LeanDecoder, data: Path, tmp_path: Path
) -> None:
    path, draft = shipped
    other = replace(draft, **shape)
    distiller = Distiller(target, PRESETS["toy"], [other], data, PLAN, tmp_path / "work", ends=frozenset())
    (name,) = distiller.drafts
    earlier = _copied(path, tmp_path / "earlier", name)
    with pytest.raises(DraftError, match="start from one of the same shape"):
        distiller.train(name, tmp_path / "out", start=earlier)
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize("case", ["sizes", "lacks", "damaged"])
def test_a_start_that_cannot_be_read_is_refused(
    case: str, shipped: tuple[Path, DraftShape], target: LeanDecoder, tmp_path: Path
) -> None:
    path, draft = shipped
    held, other = load_file(path), tmp_path / "a.safetensors"
    held["read"] = held["read"][:, :-1]
    if case == "lacks":
        del held["read"]
    with safe_open(path, "pt") as file:
        save_file({k: t.contiguous() for k, t in held.items()}, other, file.metadata())
    if case == "damaged":  # of the right length, or its header would say so
        other.write_bytes(other.read_bytes().replace(b'"shape":[32', b'"shape":[33', 1))
    student = Student(target, draft, [1, 2])
    message = {"sizes": "start from a draft of its own", "lacks": "lacks 'read'; train it again"}
    with pytest.raises(DraftError, match=message.get(case, r"is damaged .*; train it again")):
        take_weights(student, other)


def test_drafts_are_not_written_over_those_they_start_from(
    shipped: tuple[Path, DraftShape], target: LeanDecoder, data: Path, tmp_path: Path
) -> None:
    path, draft = shipped
    distiller = Distiller(target, PRESETS["toy"], [draft], data, PLAN, tmp_path / "work", ends=frozenset({2}))
    (name,) = distiller.drafts
    folder = _copied(path, tmp_path / "drafts", name)
    (tmp_path / "link").symlink_to(folder)
    with pytest.raises(ValueError, match="give another --out"):
        distiller.train(name, tmp_path / "link", start=folder)
    assert (folder / f"{name}.safetensors").read_bytes() == path.read_bytes()


def test_a_finished_draft_is_not_trained_again_and_keeps_no_checkpoint(
    target: LeanDecoder, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    for folder, stops in (("whole", [False] * 6), ("cut", [False, False, True, *[False] * 6])):
        distiller = Distiller(target, PRESETS["toy"], [EXIT], data, PLAN, tmp_path / folder, ends=frozenset({2}))
        (name,) = distiller.drafts
        assert states(target, data, tmp_path / folder / "states", {1})  # so that `stop` is asked by the steps alone
        asked = iter(stops)
        path = distiller.train(name, tmp_path / f"{folder}-out", stop=partial(next, asked))
        if folder == "cut":
            assert path is None and not distiller.finished(name)
            assert (distiller.folder(name) / "checkpoint.safetensors").exists()
            path = distiller.train(name, tmp_path / f"{folder}-out", stop=partial(next, asked))
        assert path is not None and distiller.finished(name)
        made.append(load_file(path))
        left = {each.name for each in distiller.folder(name).iterdir()}
        assert left == {"curve.jsonl", f"{name}.safetensors", f"{name}.md"}
    assert all(torch.equal(made[0][part], tensor) for part, tensor in made[1].items())
    monkeypatch.setattr(loop, "train", lambda *_, **__: pytest.fail("it was trained again"))
    path.unlink()
    for out in (path.parent, tmp_path / "elsewhere"):
        again = distiller.train(name, out)
        assert again == out / path.name and again.read_bytes() == (distiller.folder(name) / again.name).read_bytes()
        assert again.with_suffix(".md").read_text() == path.with_suffix(".md").read_text()
        assert [info.name for info in list_drafts(out)] == [name]


@pytest.mark.parametrize(("held", "message"), [(True, "none is left to learn from"), (False, "none is held out")])
def test_texts_that_are_all_on_one_side_are_refused(
    held: bool, message: str, target: LeanDecoder, data: Path, tmp_path: Path
) -> None:
    lines = data.read_text().splitlines()
    examples = [Sample((*json.loads(line)["prompt_ids"], 1), 5, "any") for line in lines]
    one_side = tmp_path / "one.jsonl"
    one_side.write_text("\n".join(line for line, e in zip(lines, examples, strict=True) if e.held_out == held))
    with pytest.raises(ValueError, match=f"{message}.*; train on more texts"):
        Distiller(target, PRESETS["toy"], [EXIT], one_side, PLAN, tmp_path / "work", ends=frozenset())
    with pytest.raises(ValueError, match="train on more texts"):
        Distiller(target, PRESETS["toy"], [EXIT], data, PLAN, tmp_path / "work", ends=frozenset(), limit=1)
    assert not (tmp_path / "work").exists()


class Bench:
    """A pipeline over a tiny target."""

    ends, preset = frozenset({2}), replace(PRESETS["toy"], name="smollm2")

    @classmethod
    def open(cls, *_: object, **__: object) -> Bench:
        return cls()

    def lean_target(self, spec: str) -> LeanDecoder:
        return tiny(layers=8, vocab=61, seed=3)


@pytest.fixture
def command(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(pipeline, "Pipeline", Bench)
    options = {"recipe": "nano", "data": data, "out": tmp_path / "out", "work": tmp_path / "work", "steps": 2}
    return ["train", "--batch", "40", "--rows", "40", *(f"--{k}={v}" for k, v in options.items())]


def test_the_command_says_where_its_files_lie_and_that_it_is_done(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command) == 0
    out, err = capsys.readouterr()
    names = ["smollm2-nano-fed", "smollm2-nano"]
    assert out.split() == [str(tmp_path / "out" / f"{name}.safetensors") for name in names]
    for name in names:
        (folder,) = (tmp_path / "work").glob(f"{name}-????????????")
        assert err.count(f"{name}: curve and checkpoint in {folder}\n") == 1
    card = (tmp_path / "out" / "smollm2-nano.md").read_text()
    assert "a head of\n40 rows" in card and "- rows (at most) 40, steps 2" in card
    assert main(command) == 0
    again, err = capsys.readouterr()
    assert again == out and err.count("was trained before") == 2 and "step" not in err
    assert main([*command, "--only", "nano", "--mlp-width", "96"]) == 0
    card = (tmp_path / "out" / "smollm2-nano.md").read_text()
    assert "2 transformer layer(s) of its own (MLPs of width 96)" in card and "--mlp-width 96" in card
    assert main([*command, "--mlp-width", "0"]) == 2
    assert "--mlp-width is 0; use at least 1" in capsys.readouterr().err


@pytest.fixture(scope="module")
def begun(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The drafts of the recipe, trained by the command."""
    folder = tmp_path_factory.mktemp("begun")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "Pipeline", Bench)
        options = {"recipe": "nano", "data": data, "out": folder / "out", "work": folder / "work", "steps": 2}
        assert main(["train", "--batch", "40", "--rows", "40", *(f"--{k}={v}" for k, v in options.items())]) == 0
    return folder / "out"


@pytest.mark.parametrize("case", ["a start that lacks one", "a start of another shape", "a file as out", "too large"])
def test_the_command_refuses_what_only_its_last_draft_lacks_before_it_trains(
    case: str,
    command: list[str],
    begun: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(begun, tmp_path / "first")
    fed, last = (tmp_path / "first" / f"smollm2-{name}.safetensors" for name in ("nano-fed", "nano"))
    start, cure = ["--start", str(tmp_path / "first")], "train what it has with --only"
    if case == "a start that lacks one":
        last.unlink()
    elif case == "a start of another shape":
        last.write_bytes(fed.read_bytes())
        cure = "start from one of the same shape"
    elif case == "a file as out":
        (tmp_path / "out").touch()
        cure = "is not a folder; name one, or a place for a new one"
    else:  # the last one has two layers
        sizes = [sum(p.numel() for p in _student(layers).parameters()) for layers in (1, 2)]
        monkeypatch.setattr("hsd_core.systems.nano.train.distil.LARGEST", sum(sizes) // 2)
        cure = "that are shipped"
    monkeypatch.setattr(loop, "train", lambda *_, **__: pytest.fail("a draft was trained"))
    capsys.readouterr()
    assert main([*command, *start]) == 2
    err = capsys.readouterr().err
    assert cure in err and err.count("\n") == 1
    assert not (tmp_path / "work").exists()


def _student(layers: int) -> Student:
    return Student(tiny(layers=8, vocab=61, seed=3), replace(NANO, fed=layers == 1, layers=layers), range(40))


@pytest.mark.parametrize("case", ["limit", "rows", "rate", "longest", "loss", "large", "biases"])
def test_what_cannot_be_trained_is_refused_before_the_work(
    case: str, target: LeanDecoder, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = {
        "limit": "train on at least 1 text",
        "rows": "rows is 0",
        "rate": "use a learning rate",
        "longest": "longest is -3; use at least 1",
        "loss": "use one of kl, rkl, tv",
        "large": "more than the 0 MB that are shipped",
        "biases": "drafts copy layers without biases",
    }[case]
    hyper = {
        "rows": replace(PLAN, rows=0),
        "rate": replace(PLAN, rate=2.0),
        "longest": replace(PLAN, longest=-3),
        "loss": replace(PLAN, loss="l2"),
    }.get(case, PLAN)
    decoder = tiny("qwen2", layers=4, vocab=61) if case == "biases" else target
    if case == "large":
        monkeypatch.setattr("hsd_core.systems.nano.train.distil.LARGEST", 1000)
    with pytest.raises(ValueError, match=message):
        Distiller(
            decoder,
            PRESETS["toy"],
            [EXIT],
            data,
            hyper,
            tmp_path,
            ends=frozenset(),
            limit=0 if case == "limit" else None,
        ).train("toy-exit1", tmp_path)
    assert not list(tmp_path.iterdir())


def test_what_is_shipped_says_what_it_is(shipped: tuple[Path, DraftShape], target: LeanDecoder) -> None:
    path, draft = shipped
    (info,) = list_drafts(path.parent)
    assert (info.at, info.fed, info.layers, info.rows) == (draft.depth(4), draft.fed, draft.layers, 40)
    assert info.mlp_width == draft.mlp_width and ("MLP of width 96" in info.title) == (draft is WIDE)
    assert info.name == "tiny-" + {"exit": "exit1", "nano": "nano"}[draft.name] + ("-fed" if draft.fed else "")
    text = path.with_suffix(".md").read_text()
    assert "| a |" in text and "| b |" in text and "python -m hsd_core train" in text
    assert ("MLPs of width 96" in text) == (draft is WIDE)


def test_a_shipped_draft_computes_what_its_student_did(
    shipped: tuple[Path, DraftShape], target: LeanDecoder, data: Path
) -> None:
    path, draft = shipped
    head = read_draft(path, target)
    student = Student(target, draft, head.ids.tolist())
    held = load_file(path)
    with torch.no_grad():
        for name, parameter in student.named_parameters():
            scale = held.get(f"{name}.scale")
            parameter.copy_(held[name] if scale is None else held[name].float() * scale.float()[:, None])
    f = states(target, data, data.parent, {head.at})[0]
    batch = collate([f], target, draft, device="cpu")
    batch = replace(batch, wanted=torch.ones_like(batch.wanted))
    wanted = student.logits(next(student.drafted(batch, 1))[0], student.copies(batch)).detach()[:, :-1]
    fed = None if batch.fed is None else batch.fed[0]
    ids = list(f.example.ids[:-1])
    logits, own = head.forward(Pass(ids, wanted=len(wanted)), batch.x[0], head.new_cache(64), ids, fed)
    # the int8 kernel multiplies bfloat16 activations
    assert torch.allclose(logits[:, head.ids], wanted, atol=0.06 * float(wanted.abs().max()))
    for t, row in enumerate(logits):
        outside = [i for i in range(61) if i not in {*head.ids.tolist(), *ids[: t + 1]}]
        assert bool((row[outside] == -torch.inf).all())
    cache = head.new_cache(64)
    for t in range(len(wanted)):
        row = slice(t, t + 1)
        given, line = Pass(ids[row], t), ids[: t + 1]
        alone, g = head.forward(given, batch.x[0, row], cache, line, None if fed is None else fed[row])
        assert torch.equal(alone[0], logits[t]) and torch.equal(g[0], own[t])


@pytest.mark.parametrize("width", [32, 96])
def test_a_draft_with_an_mlp_of_its_own_width_runs_wherever_drafts_do(width: int, data: Path, tmp_path: Path) -> None:
    target, compiled = (make(inner=64, head_dim=16, vocab=61) for make in (tiny, tiny_compiled))
    draft = replace(NANO, mlp_width=width)
    distiller = Distiller(target, PRESETS["toy"], [draft], data, PLAN, tmp_path / "work", ends=frozenset())
    path = distiller.train("toy-nano", tmp_path / "out")
    assert path is not None
    assert {load_file(path)[f"layers.{i}.down"].shape for i in range(2)} == {(32, width)}
    ids, rows = [1, 5, 9, 2, 7, 30], []  # nothing stands twice: transformers would not copy it
    for decoder in (target, compiled):
        head = read_draft(path, decoder)
        rows.append(head.forward(Pass(ids, wanted=6), decoder.embed(ids), head.new_cache(12), ids)[0].softmax(-1))
    with torch.inference_mode():
        rows.append(nano_as_llama(read_draft(path, target), target)(torch.tensor([ids])).logits[0].softmax(-1))
    for row in rows[1:]:
        assert (row - rows[0]).abs().max() < 0.02  # the int8 products round activations


@pytest.mark.parametrize("draft", [JOINED, AHEAD, GATED, MEDUSA], ids=lambda d: d.title(4))
def test_what_is_said_ahead_joined_or_gated_is_what_its_student_says_wherever_drafts_run(
    draft: DraftShape, data: Path, tmp_path: Path
) -> None:
    target, compiled = (make(inner=64, head_dim=16, vocab=61) for make in (tiny, tiny_compiled))
    distiller = Distiller(target, PRESETS["toy"], [draft], data, PLAN, tmp_path / "work", ends=frozenset())
    (name,) = distiller.drafts
    path = distiller.train(name, tmp_path / "out")
    assert path is not None and path.with_suffix(".md").is_file()
    (info,) = list_drafts(tmp_path / "out")
    assert (info.joined, info.ahead, info.heads) == (draft.joined(4), draft.ahead, not draft.layers)
    assert info.gated == draft.gated
    student, ids = student_of(path, target), [1, 5, 9, 2, 7, 1, 5, 9]
    assert not draft.gated or student.mix.abs().max() > 1e-3, "the gate has learned"
    whole = target.states(ids, sorted(reads(draft) - {0} | {4}))
    batch = collate([Features.of(Sample((*ids, 3, 4, 6), 1, "any"), _longer(whole))], target, draft, device="cpu")
    begun = len(ids) - 1
    wanted = [
        student.logits(g[:, begun + by - batch.first], at_end(student, batch, by, begun + by)).softmax(-1)[0, :-1]
        for by, g in enumerate(student.drafted(batch, draft.ahead))
    ]
    for decoder in (target, compiled):
        head = read_draft(path, decoder, draft_forms())
        cache = head.new_cache(16)
        if not draft.layers:
            said = head.predict(whole[4][begun - 1 : begun], cache, ids, 0)
        else:
            states = torch.cat([whole[depth] for depth in draft.joined(4) or (4,)], 1)
            fed = head.join(states) if draft.joins else states
            fed = torch.cat((torch.zeros(1, 32), fed[:-1]))
            x = decoder.embed(ids)
            if draft.ahead > 1:
                x, fed = torch.cat((x, head.unknown)), torch.cat((fed, fed[-1:].expand(draft.ahead - 1, -1)))
            given = Pass([*ids, *[0] * (draft.ahead - 1)], wanted=draft.ahead)
            said = head.forward(given, x, cache, ids, fed, 0 if draft.ahead > 1 else None)[0]
        for row, own in zip(said.softmax(-1)[:, head.ids], wanted, strict=True):
            assert (row - own).abs().max() < 0.03  # the int8 products round activations
        copied = [head.copied(cache, ids[2 + by], by) for by in range(draft.ahead)]
        assert copied[0] is None or copied[0].at == 3, "behind 1 5 9"


def test_agreement_by_place_is_that_of_the_exam_over_all_texts(target: LeanDecoder, data: Path, tmp_path: Path) -> None:
    paths = []
    for draft in (FED, MEDUSA, NANO):
        distiller = Distiller(target, PRESETS["toy"], [draft], data, PLAN, tmp_path / "work", ends=frozenset())
        (name,) = distiller.drafts
        path = distiller.train(name, tmp_path / "out")
        assert path is not None
        paths.append(path)
    texts = read_examples(data, vocab_size=61, longest=64)[:8]
    tally = by_place(target, paths, texts, 2)
    for path, draft in zip(paths, (FED, MEDUSA, NANO), strict=True):
        student = student_of(path, target)
        found = [Features.of(text, target.states(text.ids, [4])) for text in texts]
        eval_batches = [prepare(collate([f], target, draft, device="cpu"), target) for f in found]
        for place, score in enumerate(evaluate(student, eval_batches, steps=2)):
            assert tally.ratio((path.stem, place, "agree")) == pytest.approx(score.agreement)
            assert tally.ratio((path.stem, place, "overlap")) == pytest.approx(score.acceptance, abs=1e-5)
    table = places_table(tally, paths, 2).splitlines()
    assert len(table) == 2 + 3 and "3 heads over the target's last state" in table[3]
    assert tally.ratio((paths[2].stem, 1, "agree")) is None, "unfed, alike at all places"


def _longer(states: dict[int, torch.Tensor]) -> dict[int, torch.Tensor]:
    return {depth: torch.cat((state, state[:3])) for depth, state in states.items()}


def at_end(student: Student, batch: Batch, by: int, at: int) -> Copies:
    """What is copied at one position."""
    tokens, sorts = batch.copied(by if student.ahead > 1 else 0)
    token = tokens[0, at : at + 1]
    gate = by if student.ahead > 1 else 0
    return Copies(student.column_of[token], sorts[0, at : at + 1], student.head[:1], gate)


def test_a_student_with_a_wider_mlp_starts_as_the_targets_layer_and_a_narrower_one_keeps_its_largest_neurons(
    target: LeanDecoder,
) -> None:
    x = torch.randn(1, 5, 32, generator=torch.Generator().manual_seed(0))
    found = {}
    for width in (None, 16, 48, 130):
        student = Student(target, replace(NANO, mlp_width=width), range(40))
        with torch.no_grad():
            student.read.copy_(torch.eye(32))
            found[width] = student, next(student.drafted(batch_of(x), 1))
    assert torch.equal(found[48][1], found[None][1])
    assert torch.allclose(found[130][1], found[None][1], atol=1e-5)
    for own, wide, narrow in zip(*(found[width][0].layers for width in (None, 130, 16)), strict=True):
        gate, up = own.gate_up.chunk(2)
        assert len({tuple(row) for row in wide.gate_up.chunk(2)[0].tolist()}) == 130, "no two learn the same"
        size = gate.norm(dim=1) * up.norm(dim=1) * own.down.norm(dim=0)
        kept = [i for i in range(48) if any(torch.equal(gate[i], row) for row in narrow.gate_up.chunk(2)[0])]
        assert len(kept) == 16 and min(size[kept]) >= max(size[i] for i in range(48) if i not in kept)
        assert torch.equal(narrow.down, own.down[:, kept]) and torch.equal(narrow.gate_up.chunk(2)[1], up[kept])


@pytest.mark.parametrize("name", ["copy.bias", "copy.state", "copy.scale"])
def test_a_gate_of_other_sizes_is_refused_when_it_is_opened(
    name: str, shipped: tuple[Path, DraftShape], target: LeanDecoder, tmp_path: Path
) -> None:
    held = load_file(shipped[0])
    held[name] = held[name][:-1]
    with safe_open(shipped[0], "pt") as file:
        save_file(held, tmp_path / "a.safetensors", file.metadata())
    with pytest.raises(DraftError, match="gate of other sizes"):
        read_draft(tmp_path / "a.safetensors", target)


def test_a_draft_of_another_target_is_refused(shipped: tuple[Path, DraftShape]) -> None:
    with pytest.raises(DraftError, match="was trained for Tiny, not for this target"):
        read_draft(shipped[0], tiny(layers=4, vocab=61, seed=4))


def test_what_is_no_draft_is_refused_or_passed_over(tmp_path: Path, target: LeanDecoder) -> None:
    (tmp_path / "a.safetensors").write_bytes(b"no")
    assert list_drafts(tmp_path) == ()
    with pytest.raises(DraftError, match="is not a safetensors file"):
        read_draft(tmp_path / "a.safetensors", target)
