"""Public EAGLE-3 drafters: each writer's format gives the rows of the paper's forward."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import families
import pytest
import torch
import transformers
from eagle3_checkpoints import WRITERS, Paper, written
from lean_stacks import from_scratch
from safetensors.torch import load_file
from tiny import tiny

from hsd_core.core.level import score_ids
from hsd_core.core.tree import named
from hsd_core.grammar.stack_text import StackError
from hsd_core.levels.draft_run import DraftRun
from hsd_core.levels.memory import of_run
from hsd_core.levels.shared import SharedState
from hsd_core.levels.trunk import Trunk
from hsd_core.models import machine
from hsd_core.models.context import Context
from hsd_core.models.drafts.draft_file import DraftError
from hsd_core.models.one_pass import Branches
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.targets import target_preset
from hsd_core.systems.eagle3.eagle3_config import Eagle3Config, Eagle3Error
from hsd_core.systems.eagle3.eagle3_draft import Eagle3Draft, open_eagle3

VOCAB, DEPTHS, IDS = 61, (2, 3, 4), [5, 50, 3, 17, 44, 44, 8, 60, 2, 30]
KNOWN = [0, 2, 3, 5, 8, 13, 17, 30, 44, 45, 50, 60]
TARGET = tiny(vocab=VOCAB, layers=7)
WHOLE = "gpt-oss", "gemma4", "phi3"


def opened(folder: Path, writer: str, **more: Any) -> Eagle3Draft:
    written(folder, writer, vocab=VOCAB, width=32, ids=KNOWN, depths=DEPTHS, **more)
    return open_eagle3(folder, "some", TARGET)


def of_paper(folder: Path, writer: str, ids: list[int], features: int) -> torch.Tensor:
    """The paper's rows, with the target's states at the first positions."""
    paper = Paper(load_file(folder / "model.safetensors"), writer, VOCAB, TARGET.embed(range(VOCAB)))
    states = paper.joined([from_scratch(TARGET, ids[:features], depth) for depth in DEPTHS])
    return paper.rows(ids, states)


def run_of(draft: Eagle3Draft) -> tuple[DraftRun, Trunk]:
    trunk = Trunk(TARGET, 64, 16)
    for depth in (*draft.joined, TARGET.layers):
        trunk.mark(depth)
    return DraftRun(draft, draft, [trunk], 80, "eagle3"), trunk


def near(logits: torch.Tensor, rows: torch.Tensor) -> bool:
    return torch.allclose(logits.log_softmax(-1).exp(), rows.exp(), atol=1e-4)


@pytest.mark.parametrize("features", [1, 4, 9])
@pytest.mark.parametrize("writer", WRITERS)
def test_rows_are_the_papers_for_each_writers_format(tmp_path: Path, writer: str, features: int) -> None:
    run, trunk = run_of(opened(tmp_path, writer))
    trunk.run(IDS, TARGET.layers, features)
    logits, _ = score_ids(run, IDS, 9)
    assert near(logits, of_paper(tmp_path, writer, IDS, features))
    assert (logits.isfinite().nonzero()[:, 1].unique()).tolist() == KNOWN, "no mass outside of d2t"


def test_further_layers_read_the_state_alone(tmp_path: Path) -> None:
    run, trunk = run_of(opened(tmp_path, "speculators", layers=2))
    trunk.run(IDS, TARGET.layers, 6)
    assert near(score_ids(run, IDS, 9)[0], of_paper(tmp_path, "speculators", IDS, 6))


def test_accepts_rejects_and_trees_leave_the_rows_of_a_fresh_computation(tmp_path: Path) -> None:
    rng, (run, trunk) = random.Random(4), run_of(opened(tmp_path, "specforge"))
    context = [rng.randrange(VOCAB) for _ in range(2)]
    for _ in range(5):
        trunk.run(context, TARGET.layers, len(context) - 1)
        logits, _ = run.grow(Context(context), [], Branches(len(context), ()), 0)
        assert near(logits, of_paper(tmp_path, "specforge", context, len(context) - 1)[-1:])
        nodes, parents = [rng.randrange(VOCAB) for _ in range(4)], (-1, -1, 0, 1)
        run.grow(Context(context), nodes[:2], Branches(len(context), parents[:2]), 2)
        logits, _ = run.grow(Context(context), nodes, Branches(len(context), parents), 2)
        for row, path in ((0, (0, 2)), (1, (1, 3))):
            line = [*context, *(nodes[node] for node in path)]
            assert near(logits[row : row + 1], of_paper(tmp_path, "specforge", line, len(context) - 1)[-1:])
        path = rng.choice([(), (0,), (1,), (1, 3)])
        run.keep(len(context), path)
        context += [*(nodes[node] for node in path), rng.randrange(VOCAB)]


def test_the_first_token_alone_has_a_row_and_is_no_input_of_later_ones(tmp_path: Path) -> None:
    run, trunk = run_of(opened(tmp_path, "safeailab"))
    logits, _ = score_ids(run, IDS[:1], 1)
    assert logits.isfinite().sum() == len(KNOWN) and run.cached == 1
    trunk.run(IDS, TARGET.layers, 3)
    assert near(score_ids(run, IDS[:4], 1)[0], of_paper(tmp_path, "safeailab", IDS[:4], 3)[-1:])


def test_a_head_that_is_left_out_is_the_targets(tmp_path: Path) -> None:
    draft = opened(tmp_path, "specforge")
    weights = load_file(tmp_path / "model.safetensors")
    from safetensors.torch import save_file

    save_file({name: t for name, t in weights.items() if name != "lm_head.weight"}, tmp_path / "model.safetensors")
    other = open_eagle3(tmp_path, "some", TARGET)
    assert torch.equal(other._head.dense(), TARGET.head_rows(draft.ids))


def test_the_layers_that_a_config_names() -> None:
    names = {"architectures": ["LlamaForCausalLMEagle3"], "hidden_size": 8}
    assert Eagle3Config.of(names).depths_of(36) == (2, 18, 33)
    nested = {"eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 17, 32]}}
    assert Eagle3Config.of({**names, **nested}).depths_of(36) == (2, 18, 33)
    assert Eagle3Config.of({**names, "eagle_aux_hidden_state_layer_ids": [2, 18, 33]}).depths_of(36) == (2, 18, 33)
    told = {"speculators_model_type": "eagle3", "transformer_layer_config": {"num_hidden_layers": 1}}
    assert Eagle3Config.of(told).layers["num_attention_heads"] == 32, "what speculators leaves out has a default"
    for config, why in (
        ({"architectures": ["LlamaForCausalLM"]}, "not of an EAGLE-3 drafter"),
        ({**names, "parallel_drafting": True}, "P-EAGLE"),
        ({**names, "eagle_config": {"use_aux_hidden_state": False}}, "EAGLE-1"),
    ):
        with pytest.raises(Eagle3Error, match=why):
            Eagle3Config.of(config)
    with pytest.raises(Eagle3Error, match="after layers 2, 1, -1, and this target has 2 layers"):
        Eagle3Config.of(names).depths_of(2)


@pytest.mark.parametrize(
    ("sizes", "more", "why"),
    [
        ({"width": 64}, {}, "for some/target: 3 states of a width of 64, and this target has 32; name one"),
        ({"vocab": 70}, {}, "for some/target: a vocabulary of 70, and this target has 61"),
        ({}, {"eagle_aux_hidden_state_layer_ids": [2, 3, 9]}, "after layers 2, 3, 9, and this target has 7 layers"),
        ({}, {"transformer_layer_config": {"model_type": "gpt2"}}, "model type 'gpt2'"),
        ({"ids": [1, 1]}, {}, "d2t names ids"),
    ],
)
def test_a_drafter_of_another_target_says_whose_it_is(
    tmp_path: Path, sizes: dict[str, Any], more: dict[str, Any], why: str
) -> None:
    written(tmp_path, "speculators", **{"vocab": VOCAB, "width": 32, "ids": KNOWN, "depths": DEPTHS, **sizes}, **more)
    with pytest.raises(DraftError, match=why):
        open_eagle3(tmp_path, "some", TARGET)


def test_damaged_files_and_pickles_are_refused_with_a_cure(tmp_path: Path) -> None:
    opened(tmp_path, "safeailab")
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "head_dim": 16}))
    with pytest.raises(DraftError, match=r"has sizes \(32, 64\), and its config says \(64, 64\)"):
        open_eagle3(tmp_path, "some", TARGET)
    (tmp_path / "model.safetensors").rename(tmp_path / "pytorch_model.bin")
    with pytest.raises(DraftError, match="pickles, which are not opened; download it, write its weights as safe"):
        open_eagle3(tmp_path, "some", TARGET)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A target, and a drafter of it."""
    folder = tmp_path_factory.mktemp("eagle3")
    target = families.save(folder / "target", "qwen3", layers=6)
    some = range(0, families.VOCABULARY, 2)
    drafter = {"vocab": families.VOCABULARY, "width": 64, "ids": [*some], "depths": (2, 3, 5)}
    return target, written(folder / "drafter", "speculators", **drafter)


@pytest.mark.parametrize("shape", ["", "@tree=2.2.1", "@grow=6"])
@pytest.mark.parametrize("above", ["target", "int8:3,target", "exit:2@at=3@id=lens,target"])
def test_greedy_text_is_the_targets(model: tuple[Path, Path], shape: str, above: str) -> None:
    target, drafter = model
    stack = f"eagle3:3{shape}@id={drafter},{above}"
    pipeline = Pipeline.open(target_preset(str(target)), stack=stack)
    both = "target", stack
    plain, events = ([*pipeline.run(one, "Levels above", max_new_tokens=12, temperature=0.0)] for one in both)
    ids = [[token.id for event in run if event.event == "commit" for token in event.tokens] for run in (plain, events)]
    assert ids[0] == ids[1]
    assert events[0].levels[0].weights == {"source": "drafter", "kind": "folder", "licence": "", "note": ""}
    assert events[0].levels[0].params["of"] == "some/target"


@pytest.mark.parametrize("shape", [pytest.param("", marks=pytest.mark.everything), "@tree=2.2.1"])
@pytest.mark.parametrize(
    "family", [pytest.param(name, marks=[pytest.mark.everything] * (name != "gpt-oss")) for name in WHOLE]
)
def test_a_target_that_runs_whole_gives_its_states(tmp_path: Path, family: str, shape: str) -> None:
    target, some = families.save(tmp_path / "target", family), range(0, families.VOCABULARY, 2)
    sizes = {"vocab": families.VOCABULARY, "width": 64, "ids": [*some], "depths": (1, 2, 3)}
    stack = f"eagle3:3{shape}@id={written(tmp_path / 'drafter', 'speculators', **sizes)},target"
    pipeline = Pipeline.open(target_preset(str(target)), stack=stack)
    drafter, whole = pipeline.entries(stack)
    shared = SharedState(64, 8)
    verifier, run = whole.level.open(64, shared), drafter.level.open(64, shared)
    verifier.score(Context(IDS[:6]))
    model = transformers.AutoModelForCausalLM.from_pretrained(target).eval()
    with torch.no_grad():
        states = model(torch.tensor([IDS[:6]]), output_hidden_states=True).hidden_states
        embedding = model.get_input_embeddings()(torch.arange(families.VOCABULARY))
    paper = Paper(load_file(tmp_path / "drafter" / "model.safetensors"), "speculators", families.VOCABULARY, embedding)
    expected = paper.rows(IDS, paper.joined([states[depth][0] for depth in (1, 2, 3)]))
    assert near(score_ids(run, IDS, 9)[0], expected)
    tree = named([7, 9, 11, 13, 15])
    verifier.score(Context(IDS), replace(tree, parents=(-1, -1, 0, 1, 3)))
    verifier.keep(len(IDS), (1, 3))
    features, line = shared.features()[0], [*IDS, 9, 13]
    with torch.no_grad():
        fresh = model(torch.tensor([line]), output_hidden_states=True).hidden_states[2][0]
    assert torch.allclose(features.hidden(2, 0, len(line)), fresh, atol=1e-4), "of the branch that was kept"
    both = ([*pipeline.run(one, "Levels above", max_new_tokens=12, temperature=0.0)] for one in ("target", stack))
    ids = [[token.id for event in run if event.event == "commit" for token in event.tokens] for run in both]
    assert ids[0] == ids[1]


def test_a_model_with_several_states_of_a_token_says_so(tmp_path: Path) -> None:
    target, sizes = families.save(tmp_path / "target", "gemma3n"), {"vocab": families.VOCABULARY, "width": 64}
    drafter = written(tmp_path / "drafter", "specforge", ids=[1, 2, 3], depths=(1, 2, 3), **sizes)
    pipeline = Pipeline.open(target_preset(str(target)), stack="target")
    with pytest.raises(StackError, match="gives no state of each token after each layer"):
        pipeline.entries(f"eagle3:3@id={drafter},target")


def test_the_weights_of_a_drafter_are_told_and_refused_where_they_do_not_fit(
    model: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    target, drafter = model
    pipeline = Pipeline.open(target_preset(str(target)), stack="target")
    entries = pipeline.entries(f"eagle3:3@id={drafter},target")
    held = sum(t.numel() for name, t in load_file(drafter / "model.safetensors").items() if len(t.shape) == 2)
    assert of_run(entries, 64).weights - of_run(entries[1:], 64).weights == pytest.approx(4 * held, rel=0.2)
    monkeypatch.setattr(machine, "free_bytes", lambda device: 1000)
    with pytest.raises(machine.TooLarge, match=r"drafter some takes .* leave it out"):
        open_eagle3(drafter, "some", entries[1].level.decoder)


def test_a_level_without_a_drafter_says_how_to_name_one(model: tuple[Path, Path]) -> None:
    pipeline = Pipeline.open(target_preset(str(model[0])), stack="target")
    with pytest.raises(StackError, match="name a drafter that was trained for this target: eagle3@id=HUB-OR-FOLDER"):
        pipeline.entries("eagle3:3,target")
    with pytest.raises(StackError, match="not of an EAGLE-3 drafter"):
        pipeline.entries(f"eagle3:3@id={model[0]},target")
