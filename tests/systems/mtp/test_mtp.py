"""Heads for multi-token prediction: each form of names gives the rows of the paper's forward, and texts are the
target's."""

from __future__ import annotations

import random
from pathlib import Path

import families
import pytest
import torch
from enumerator import SAMPLED, distance, run_distribution
from lean_stacks import LeanStacks, from_scratch, model_distribution
from mtp_checkpoints import FORMS, Paper, head_weights, with_heads
from tiny import tiny

from hsd_core.core.level import score_ids
from hsd_core.grammar.stack_text import StackError
from hsd_core.levels.draft_level import DraftLevel
from hsd_core.levels.draft_run import DraftRun
from hsd_core.levels.memory import of_run
from hsd_core.levels.trunk import Trunk
from hsd_core.models.context import Context
from hsd_core.models.drafts.draft_file import DraftError
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.models.one_pass import Branches
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.targets import target_preset
from hsd_core.systems.mtp.lean_mtp import LeanMtp
from hsd_core.systems.mtp.opened_heads import open_heads

VOCAB, IDS = 61, [5, 50, 3, 17, 44, 44, 8, 60, 2, 30]
TARGET = tiny(vocab=VOCAB, layers=3)


def opened(folder: Path, form: str, over: LeanDecoder = TARGET) -> tuple[LeanMtp, Paper]:
    weights = head_weights(form, width=32, layers=over.layers, bias=form == "mimo")
    head = open_heads(with_heads(folder, weights), "some", over)
    assert head is not None
    vocab = range(over.vocab_size)
    return head, Paper(weights, form, over.layers, over.embed(vocab), over.head_rows(vocab))


def of_paper(paper: Paper, ids: list[int], features: int) -> torch.Tensor:
    states = from_scratch(TARGET, ids[:features], TARGET.layers)
    paper.w["last"] = TARGET.last_norm
    return paper.rows(ids, torch.nn.functional.rms_norm(states, (32,), TARGET.last_norm, 1e-6))


def run_of(draft: LeanMtp) -> tuple[DraftRun, Trunk]:
    trunk = Trunk(TARGET, 64, 16)
    trunk.mark(TARGET.layers)
    return DraftRun(TARGET, draft, [trunk], 80, "mtp"), trunk


def near(logits: torch.Tensor, rows: torch.Tensor) -> bool:
    return torch.allclose(logits.log_softmax(-1).exp(), rows.exp(), atol=1e-4)


@pytest.mark.parametrize("features", [1, 4, 9])
@pytest.mark.parametrize("form", FORMS)
def test_rows_are_the_papers_for_each_form_of_names(tmp_path: Path, form: str, features: int) -> None:
    head, paper = opened(tmp_path, form)
    run, trunk = run_of(head)
    trunk.run(IDS, TARGET.layers, features)
    assert near(score_ids(run, IDS, 9)[0], of_paper(paper, IDS, features))


def test_accepts_rejects_and_trees_leave_the_rows_of_a_fresh_computation(tmp_path: Path) -> None:
    head, paper = opened(tmp_path, "deepseek")
    rng, (run, trunk) = random.Random(4), run_of(head)
    context = [rng.randrange(VOCAB) for _ in range(2)]
    for _ in range(5):
        trunk.run(context, TARGET.layers, len(context) - 1)
        logits, _ = run.grow(Context(context), [], Branches(len(context), ()), 0)
        assert near(logits, of_paper(paper, context, len(context) - 1)[-1:])
        nodes, parents = [rng.randrange(VOCAB) for _ in range(4)], (-1, -1, 0, 1)
        run.grow(Context(context), nodes[:2], Branches(len(context), parents[:2]), 2)
        logits, _ = run.grow(Context(context), nodes, Branches(len(context), parents), 2)
        for row, path in ((0, (0, 2)), (1, (1, 3))):
            line = [*context, *(nodes[node] for node in path)]
            assert near(logits[row : row + 1], of_paper(paper, line, len(context) - 1)[-1:])
        path = rng.choice([(), (0,), (1,), (1, 3)])
        run.keep(len(context), path)
        context += [*(nodes[node] for node in path), rng.randrange(VOCAB)]


@pytest.fixture(scope="module")
def stacks(tmp_path_factory: pytest.TempPathFactory) -> LeanStacks:
    made = LeanStacks(layers=4, vocab=3, seed=5)
    head, _ = opened(tmp_path_factory.mktemp("mtp"), "deepseek", made.target)
    made.drafts = {"mtp": DraftLevel(made.target, head, name="mtp", label="MTP")}
    return made


@pytest.mark.covering("text")
@pytest.mark.parametrize(
    "text",
    [
        "mtp:2@policy=confidence@theta=0.5,target@rule=block@bonus=0",
        "mtp:1,int8:2,target",
        "mtp:1,exit:2@at=2,target@rule=block",
        "ngram:1,mtp:2,target",
        "mtp:2@tree=2.1@replace=1,target",
        "mtp:2@grow=3,target",
    ],
)
def test_whole_runs_follow_the_targets_distribution(stacks: LeanStacks, text: str) -> None:
    found = run_distribution(stacks.stack(text), [1, 0], 2, sampling=SAMPLED)
    assert distance(found, model_distribution(stacks.target, [1, 0], 2)) < 1e-5


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model as Xiaomi publishes MiMo-7B: Qwen 2's layers, and one head."""
    folder = families.save(tmp_path_factory.mktemp("mtp") / "target", "qwen2")
    weights = head_weights("mimo", width=64, layers=4, size=16, bias=True)
    return with_heads(folder, weights, model_type="mimo", architectures=["MiMoForCausalLM"])


@pytest.mark.parametrize(
    "stack", ["mtp:3,target", "mtp:2@tree=2.2,int8:3,target", "mtp@grow=4,exit:2@at=3@id=lens,target"]
)
def test_greedy_text_is_the_targets(model: Path, stack: str) -> None:
    pipeline = Pipeline.open(target_preset(str(model)), stack=stack)
    runs = ([*pipeline.run(one, "Levels above", max_new_tokens=12, temperature=0.0)] for one in ("target", stack))
    ids = [[token.id for event in run if event.event == "commit" for token in event.tokens] for run in runs]
    assert ids[0] == ids[1]


def test_its_head_is_the_targets_and_its_other_weights_are_counted(model: Path) -> None:
    lean = Pipeline.open(target_preset(str(model)), stack="target", kind="lean").entries("mtp,target")
    assert (
        of_run(lean, 64).weights - of_run(lean[1:], 64).weights
        == 4
        * sum(
            weight.numel()
            for weight in head_weights("mimo", width=64, layers=4, size=16, bias=True).values()
            if weight.dim() > 1
        )
        + 4 * 128
    )


def test_a_checkpoint_without_heads_or_with_a_part_of_one_says_so(tmp_path: Path) -> None:
    folder = families.save(tmp_path / "plain", "qwen3", layers=1)
    pipeline = Pipeline.open(target_preset(str(folder)), stack="target")
    with pytest.raises(StackError, match=r"no head for multi-token prediction \(num_nextn_predict_layers"):
        pipeline.entries("mtp,target")
    weights = head_weights("deepseek", width=32, layers=3)
    del weights["model.layers.3.hnorm.weight"]
    with pytest.raises(DraftError, match=r"lacks the weight 'layers.3.hnorm.weight'"):
        open_heads(with_heads(tmp_path, weights), "some", TARGET)
