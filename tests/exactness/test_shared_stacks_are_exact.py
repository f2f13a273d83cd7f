"""Exits and nano drafts share a model's states with their verifiers, and the output still follows the target's
distribution.

Whole runs over a random model of three tokens are enumerated, with their caches, rollbacks and features from the first
round to the last. The model computes in float32, so distributions agree to some 1e-7.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from enumerator import SAMPLED, distance, merged_distribution, run_distribution
from lean_stacks import drafted_stacks, model_distribution

import hsd_core
from hsd_core.levels.draft_run import DraftRun
from hsd_core.levels.trunk import Section
from hsd_core.models.one_pass import Pass
from hsd_core.models.sampling import Sampling, to_probs

EXACT = 1e-5
WRONG = 1e-3
LAYERS = 4


def off_by(text: str, tokens: int = 3, vocab: int = 3, joined: bool = False, **options: Any) -> float:
    made, prompt = drafted_stacks(vocab), [1, 0]
    sampling = options.get("sampling", SAMPLED)
    found = (merged_distribution if joined else run_distribution)(made.stack(text), prompt, tokens, **options)
    target = made.int8 if text.endswith("target@dtype=int8") else made.target
    return distance(found, model_distribution(target, prompt, tokens, sampling))


WHOLE = [
    # stack, tokens, vocabulary
    ("exit:2@at=2,target", 3, 3),
    ("exit:2@at=1@policy=confidence@theta=0.5,target@rule=block", 3, 3),
    ("exit:2@at=2@bonus=0,target@bonus=0@rule=block", 3, 2),
    ("exit:2@at=2@id=own,target", 3, 2),
    ("exit:2@at=2@id=fed,target", 3, 2),
    ("exit:1@at=1@id=fed,exit:2@at=2@id=fed@rule=block@policy=flush,target@bonus=0", 3, 2),
    ("exit:2@at=1@id=fed@dtype=int8,int8:2,target", 3, 2),
    ("nano:1@id=fed,exit:2@at=2@id=fed,target@rule=block", 3, 2),
    ("exit:1@at=1,exit:2@at=2,target", 3, 2),
    ("exit:2@at=1,exit:2@at=3@rule=block@policy=flush,target@rule=block", 3, 2),
    ("exit:1@at=1@bonus=0,exit:2@at=2@bonus=0@policy=confidence,target@bonus=0", 3, 2),
    ("ngram:2,exit:2@at=2,target@rule=block", 3, 2),
    ("exit:1@at=2@dtype=int8,int8:2,target", 3, 2),
    ("nano:2@id=own,target", 3, 2),
    ("nano:2@id=fed,target", 3, 3),
    ("nano:2@id=fed,target@rule=block@bonus=0", 3, 3),
    ("nano:1@id=fed,exit:2@at=2,target", 3, 2),
    ("nano:1@id=fed,exit:2@at=2@policy=flush@rule=block,target@rule=block", 3, 2),
    ("nano:1@id=fed,int8:2@policy=confidence,target", 3, 2),
    ("nano:1@id=fed,int8:3@policy=margin@theta=0.3,target", 3, 2),
    ("ngram:2,nano:2@id=fed@rule=block,target", 3, 2),
    ("nano:1@id=fed,exit:1@at=1,exit:2@at=2@rule=block,target", 2, 2),
    ("ngram:2@miss=fed,target", 4, 2),
    ("ngram:1@miss=own@policy=confidence@theta=0.5,target@rule=block", 4, 2),
    ("ngram:1@miss=fed,int8:2,target@rule=block", 3, 2),
    ("exit:2@at=1,target@dtype=int8", 3, 2),
    ("nano:1@id=fed,int4:2,target@rule=block", 3, 2),
    ("exit:1@at=2@dtype=int4,int4:2@policy=flush,target", 3, 2),
    ("int8:1,int4:2,target", 3, 2),
    ("self:2,target", 3, 3),
    ("self:2@calibrate=0,target@rule=block", 3, 2),
    ("self:2@parallel=1,target@bonus=0", 3, 2),
    ("self:2@dtype=int8,target", 3, 3),
    ("self:1@dtype=int8,int8:2@policy=flush,target", 3, 2),
    ("ngram:1,self:2@policy=confidence@theta=0.5,target@rule=block", 3, 2),
    ("exit:1@at=2,self:2,target", 3, 2),
    ("nano:1@id=fed,self:2,target", 3, 2),
    ("self:2@tree=2.1,target", 3, 3),
    ("self:2@tree=2.1@calibrate=0,target", 3, 2),
    ("self:2@tree=2.1@dtype=int8,int4:2,target", 2, 3),
]
JOINED = [
    ("exit:2@at=1,exit:3@at=2@policy=flush,exit:3@at=3@rule=block,target@rule=block", 4, 2),
    ("nano:2@id=fed,exit:2@at=2,exit:3@at=3@bonus=0,target@bonus=0", 4, 2),
    ("ngram:2,nano:2@id=own,exit:3@at=2@policy=confidence,target@rule=block", 4, 2),
]


@pytest.mark.covering("text")
@pytest.mark.parametrize(("text", "tokens", "vocab"), WHOLE)
def test_whole_runs_follow_the_targets_distribution(text: str, tokens: int, vocab: int) -> None:
    assert off_by(text, tokens, vocab) < EXACT


@pytest.mark.parametrize(("text", "tokens", "vocab"), JOINED)
def test_deep_stacks_follow_the_targets_distribution(text: str, tokens: int, vocab: int) -> None:
    assert off_by(text, tokens, vocab, joined=True) < EXACT


def test_exits_sampled_from_a_cut_distribution_follow_the_targets() -> None:
    assert off_by("exit:2@at=2,target@rule=block", sampling=Sampling(0.7, top_p=0.8)) < EXACT


def test_the_distributions_of_exit_and_target_differ() -> None:
    made = drafted_stacks()
    with torch.inference_mode():
        x = made.target.forward_layers(Pass([1, 0]), made.target.new_cache(2), 0, 2)
        early = to_probs(made.target.head(x[-1:]), SAMPLED)[0]
    true = model_distribution(made.target, [1, 0], 1)
    assert sum(abs(float(p) - true.get((i,), 0.0)) for i, p in enumerate(early)) > 0.1


def test_states_left_over_from_rejected_tokens_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Section.cut

    def forgetful(self: Section, length: int) -> None:
        if self.hi == LAYERS:
            real(self, length)

    monkeypatch.setattr(Section, "cut", forgetful)
    with pytest.raises(ValueError, match="tokens are new"):
        off_by("exit:2@at=2,target")


def test_a_nano_row_that_knows_its_own_token_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    # As if the feature of a drafted token were read to judge that token: row t depends on x_t.
    real = DraftRun._score

    def peeking(self: DraftRun, ids: list[int], rows: int) -> Any:
        logits, work = real(self, ids, rows)
        shifted = torch.tensor([float(token) for token in [*ids[len(ids) - rows + 1 :], 0]])[:, None]
        return logits + 3.0 * shifted * torch.arange(logits.shape[1]), work

    text = "exit:1@at=1,nano:2@id=fed,target"
    assert off_by(text, vocab=2) < EXACT
    monkeypatch.setattr(DraftRun, "_score", peeking)
    assert off_by(text) > WRONG


def test_greedy_exits_give_the_targets_own_choice() -> None:
    made = drafted_stacks(3)
    for text in ("exit:2@at=1,exit:3@at=2@rule=top@k=2,target", "exit:2@at=2,target@rule=top", "nano:3@id=fed,target"):
        found = run_distribution(made.stack(text), [2], 6, sampling=Sampling(0.0))
        assert found.keys() == model_distribution(made.target, [2], 6, Sampling(0.0)).keys()


def test_plain_decoding_is_among_them() -> None:
    assert hsd_core.stack_lossless(hsd_core.parse("target"), SAMPLED)
    assert off_by("target") < EXACT
