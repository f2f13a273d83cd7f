"""Drafts whose heads say a part of the vocabulary, and the output still follows the target's distribution.

Whole runs over a random model of three tokens are enumerated, as in `test_shared_stacks_are_exact`.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from enumerator import SAMPLED, distance, run_distribution
from lean_stacks import LeanStacks, drafted_stacks, model_distribution
from tiny import tiny_compiled
from toys import output_of

import hsd_core
from hsd_core.core.events import Draft
from hsd_core.grammar.key import StackError
from hsd_core.grammar.stack_text import level_of
from hsd_core.levels.head_ids import head_ids, most_frequent
from hsd_core.levels.readout import TrimmedHead
from hsd_core.models.one_pass import Pass
from hsd_core.models.sampling import Sampling
from hsd_core.systems.ngram.build import count_ngrams
from hsd_core.systems.ngram.text_db import TextDatabase
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
    ids = most_frequent(np.zeros(61), 7, {60, 50}, never={3})
    assert ids == [0, 1, 2, 4, 5, 6, 50, 60]
    head = TrimmedHead(decoder, ids)
    x = torch.randn(5, decoder.shape.hidden, generator=torch.Generator().manual_seed(0))
    logits, _ = head.forward(Pass([1] * 5, wanted=3), x, head.new_cache(9), ())
    whole = decoder.head(x)[-3:]
    assert torch.allclose(logits[:, ids], whole[:, ids], atol=1e-4)
    assert torch.isinf(logits).sum() == 3 * (61 - len(ids))
    assert head.weight_bytes() < decoder.weight_bytes(1) - decoder.weight_bytes(1, head=False)


def test_the_most_frequent_ids_are_kept_of_the_text_that_is_named_else_of_what_the_target_wrote(tmp_path: Path) -> None:
    vocab, made = 9, {"vocab_size": 9, "tokenizer": {"digest": "own", "name": "toy"}}
    text = TextDatabase(np.asarray([7, 7, 7, 5, 5, vocab, 2, vocab, vocab]), None, made)
    text.save(tmp_path / "text.npz")
    wrote = count_ngrams([([0], [3, 8, 4]), ([1], [4, 8, 6]), ([2], [4, 8, 6])], vocab, min_outputs=1)
    wrote.header |= made
    wrote.save(tmp_path / "wrote.npz")
    preset, tokenizer = SimpleNamespace(model_db=None), SimpleNamespace(vocab_size=vocab, digest="own")
    site: Any = SimpleNamespace(preset=preset, tokenizer=tokenizer, ends={1}, file=lambda name: tmp_path / name)

    def kept(text: str, never: frozenset[int] = frozenset()) -> list[int] | None:
        return head_ids(level_of(text), site, never)

    assert kept("int8:2") is None
    assert kept("int8:2@vocab=2") == [0, 1], "nothing was counted: the first ids"
    assert kept("int8:2@vocab=2@text=text.npz") == [1, 5, 7]
    assert kept("int8:2@vocab=4@text=text.npz", frozenset({5})) == [0, 1, 2, 7], "ids that do not occur: the first"
    assert kept("int8:2@vocab=2@text=wrote.npz") == [1, 4, 8], "each in three texts, 6 in two, 3 in one"
    preset.model_db = tmp_path / "wrote.npz"
    assert kept("int8:2@vocab=1") == [1, 4] and kept("int8:2@vocab=1@text=text.npz") == [1, 7]
    tokenizer.digest = "another"
    with pytest.raises(StackError, match=r"int8: .*wrote\.npz: made with another tokenizer"):
        kept("int8:2@vocab=2")
