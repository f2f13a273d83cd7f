"""Drafts whose heads say a part of the vocabulary, and the output still follows the target's distribution.

Whole runs over a random model of three tokens are enumerated, as in `test_shared_stacks_are_exact`.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from enumerator import SAMPLED, distance, run_distribution
from lean_stacks import LeanStacks, drafted_stacks, model_distribution
from tiny import tiny_compiled
from toys import output_of

import hsd_core
from hsd_core.core.events import Draft
from hsd_core.levels.readout import TrimmedHead, first_ids
from hsd_core.models.one_pass import Pass
from hsd_core.models.sampling import Sampling
from hsd_core.trace import checks as identities

STACKS = [
    "exit:2@at=2@vocab=2,target",
    "exit:2@at=1@vocab=1,exit:2@at=2@vocab=2,target",
    "exit:2@at=2@vocab=2@policy=confidence@theta=0.5,target@rule=block",
    "exit:2@at=1@vocab=2@tree=2.1,target",
    "model:2@vocab=2,target",
    "int8:2@vocab=2,target",
]


@pytest.mark.covering("text", kinds=True)
@pytest.mark.parametrize("text", STACKS)
def test_the_output_follows_the_targets_distribution(text: str) -> None:
    made, prompt, tokens = drafted_stacks(3), [1, 0], 2 if text.count(",") > 1 or "tree" in text else 3
    found = run_distribution(made.stack(text), prompt, tokens)
    assert distance(found, model_distribution(made.target, prompt, tokens, SAMPLED)) < 1e-5


@pytest.mark.parametrize("text", ["exit:3@at=2@vocab=20,target", "model:3@vocab=20,exit:3@at=3@vocab=40,target"])
def test_greedy_texts_are_plain_decoding_s_and_drafts_keep_to_their_part(text: str) -> None:
    stacks, texts = LeanStacks(), []
    for written in ("target", text):
        events = list(hsd_core.run(stacks.stack(written), [3, 1, 4], Sampling(0.0), seed=1, max_new_tokens=24))
        assert identities.check(events) == []
        texts.append(list(output_of(events)))
    assert texts[0] == texts[1]
    drafted = [id_ for event in events if isinstance(event, Draft) for id_ in event.ids]
    assert drafted and max(drafted) < 20
    assert events[0].levels[0].params["vocab"] == 20


@pytest.mark.parametrize("make", [None, tiny_compiled], ids=["lean", "compiled"])
def test_what_it_says_is_what_the_whole_head_says(make: Any) -> None:
    decoder = LeanStacks(**({"make": make} if make else {})).target
    ids = first_ids(7, {60, 50}, never={3})
    assert ids == [0, 1, 2, 4, 5, 6, 50, 60]
    head = TrimmedHead(decoder, ids)
    x = torch.randn(5, decoder.shape.hidden, generator=torch.Generator().manual_seed(0))
    logits, _ = head.forward(Pass([1] * 5, wanted=3), x, head.new_cache(9), ())
    whole = decoder.head(x)[-3:]
    assert torch.allclose(logits[:, ids], whole[:, ids], atol=1e-4)
    assert torch.isinf(logits).sum() == 3 * (61 - len(ids))
    assert head.weight_bytes() < decoder.weight_bytes(1) - decoder.weight_bytes(1, head=False)
