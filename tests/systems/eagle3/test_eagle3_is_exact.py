"""The output of stacks with a public EAGLE-3 drafter follows the target's distribution, though its own has zeros
wherever d2t has no id. Whole runs over a model of few tokens are enumerated."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import transformers
from eagle3_checkpoints import written
from enumerator import SAMPLED, distance, run_distribution
from lean_stacks import LeanStacks, model_distribution

from hsd_core.levels.draft_level import DraftLevel
from hsd_core.models.loading import load_decoder
from hsd_core.models.sampling import Sampling
from hsd_core.systems.eagle3.eagle3_draft import open_eagle3

EXACT = 1e-5


@pytest.fixture(scope="module")
def stacks(tmp_path_factory: pytest.TempPathFactory) -> LeanStacks:
    made = LeanStacks(layers=4, vocab=3, seed=5)
    sizes = {"vocab": 3, "width": 32, "ids": [0, 2], "depths": (1, 2, 4)}
    folder = written(tmp_path_factory.mktemp("eagle3") / "drafter", "speculators", **sizes)
    draft = open_eagle3(folder, "some", made.target)
    made.drafts = {"eagle3": DraftLevel(made.target, draft, name="eagle3", label="EAGLE-3", embeds=draft)}
    return made


def off_by(made: LeanStacks, text: str, tokens: int, sampling: Sampling = SAMPLED) -> float:
    found = run_distribution(made.stack(text), [1, 0], tokens, sampling=sampling)
    return distance(found, model_distribution(made.target, [1, 0], tokens, sampling))


@pytest.mark.covering("text")
@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("eagle3:2,target", 3),
        ("eagle3:2@policy=confidence@theta=0.5,target@rule=block@bonus=0", 2),
        ("eagle3:1,int8:2,target", 2),
        ("eagle3:1,exit:2@at=2,target@rule=block", 2),
        ("ngram:1,eagle3:2,target", 2),
        ("eagle3:2@tree=2.1,target", 2),
        ("eagle3:2@tree=2.1@replace=1,int8:2,target", 2),
        ("eagle3:2@grow=3,target", 2),
    ],
)
def test_whole_runs_follow_the_targets_distribution(stacks: LeanStacks, text: str, tokens: int) -> None:
    assert off_by(stacks, text, tokens) < EXACT


def test_over_a_target_that_runs_whole_they_follow_it_too(tmp_path: Path) -> None:
    torch.manual_seed(3)
    sizes = {"vocab_size": 3, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 4}
    config = transformers.GPTNeoXConfig(**sizes, num_attention_heads=4, max_position_embeddings=16)
    config.initializer_range = 0.4
    transformers.GPTNeoXForCausalLM(config).save_pretrained(tmp_path / "target")
    made = LeanStacks(layers=1, vocab=3)
    made.target = decoder = load_decoder(tmp_path / "target", kind="transformers")
    written(tmp_path / "drafter", "speculators", vocab=3, width=32, ids=[0, 2], depths=(1, 2, 4))
    draft = open_eagle3(tmp_path / "drafter", "some", decoder)
    made.drafts = {"eagle3": DraftLevel(decoder, draft, name="eagle3", label="EAGLE-3", embeds=draft)}
    assert off_by(made, "eagle3:1@tree=2,target", 2) < EXACT


def test_runs_from_a_cut_distribution_follow_it(stacks: LeanStacks) -> None:
    assert off_by(stacks, "eagle3:2,target@rule=block", 2, Sampling(0.7, top_p=0.8)) < EXACT
