"""Seeded runs as users get them, thousands of short ones, against the exact distribution (chi-square, fixed seeds)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import torch
from enumerator import SAMPLED, Distribution, target_distribution
from toys import output_of, toy_stack

import hsd_core
from hsd_core.core import rules
from hsd_core.core.level import StackEntry
from hsd_core.grammar.stack_text import parse
from hsd_core.levels.model_level import ModelLevel
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.models.lean.shape import LeanShape
from hsd_core.models.one_pass import Pass
from hsd_core.models.sampling import Sampling, to_probs

UNLIKELY = 1e-4  # of some 15 tests with fixed seeds; a wrong rule gives 1e-20 and less
RUNS = 600
VOCAB = 16


def p_value(counts: Counter[tuple[int, ...]], expected: Distribution, runs: int) -> float:
    """Chi-square of observed outputs; outputs expected fewer than 5 times are one class."""
    assert counts.keys() <= expected.keys(), "an output that the target cannot give"
    rare = [output for output, mass in expected.items() if mass * runs < 5.0]
    cells = [(counts[output], mass * runs) for output, mass in expected.items() if mass * runs >= 5.0]
    if rare:
        cells.append((sum(counts[o] for o in rare), max(1e-9, sum(expected[o] for o in rare) * runs)))
    chi2 = sum((seen - due) ** 2 / due for seen, due in cells)
    half = torch.tensor([(len(cells) - 1) / 2, chi2 / 2], dtype=torch.float64)
    return float(torch.special.gammaincc(half[0], half[1]))


def sample(stack: list[StackEntry], tokens: int, runs: int, sampling: Sampling = SAMPLED) -> Counter[tuple[int, ...]]:
    return Counter(
        output_of(list(hsd_core.run(stack, [0], sampling, seed, max_new_tokens=tokens, heads=0)))
        for seed in range(runs)
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("table:2,table", marks=pytest.mark.everything),
        pytest.param("table:3,table@rule=block", marks=pytest.mark.everything),
        "ngram:3,table",
        "table:2,table:2@rule=block@policy=flush,table",
        "table:1,table:2@bonus=0,table:3@policy=confidence,table@rule=block",
    ],
)
def test_counts_agree_with_the_exact_distribution(text: str) -> None:
    stack = toy_stack(text, 3, seed=21)
    assert p_value(sample(stack, 3, RUNS), target_distribution(stack, [0], 3), RUNS) > UNLIKELY


def test_the_chi_square_catches_a_wrong_residual(monkeypatch: pytest.MonkeyPatch) -> None:
    stack = toy_stack("table:2,table", 3, seed=21)
    monkeypatch.setattr(rules, "_residual", lambda p, q, fallback=None: p)
    assert p_value(sample(stack, 3, RUNS), target_distribution(stack, [0], 3), RUNS) < 1e-6


def tiny_decoder(seed: int, *, max_positions: int = 64) -> LeanDecoder:
    """Two Llama layers of random weights, large enough that the distributions are not flat."""
    config = {
        "model_type": "llama",
        "vocab_size": VOCAB,
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "max_position_embeddings": max_positions,
        "tie_word_embeddings": True,
    }
    sizes = {"model.embed_tokens.weight": (VOCAB, 16), "model.norm.weight": (16,)}
    for at in ("model.layers.0", "model.layers.1"):
        sizes |= {f"{at}.{norm}.weight": (16,) for norm in ("input_layernorm", "post_attention_layernorm")}
        sizes |= {f"{at}.self_attn.{part}_proj.weight": (16, 16) for part in "qo"}
        sizes |= {f"{at}.self_attn.{part}_proj.weight": (8, 16) for part in "kv"}
        sizes |= {f"{at}.mlp.{part}_proj.weight": (32, 16) for part in ("gate", "up")}
        sizes[f"{at}.mlp.down_proj.weight"] = (16, 32)
    noise = torch.Generator().manual_seed(seed)
    weights = {name: 0.5 * torch.randn(size, generator=noise) for name, size in sizes.items()}
    weights["model.norm.weight"] = torch.ones(16)
    return LeanDecoder(LeanShape.from_config(config), weights.__getitem__, set(weights))


def model_stack(text: str, **options: Any) -> list[StackEntry]:
    entries = []
    for i, spec in enumerate(parse(text)):
        decoder = tiny_decoder(40 + i, **options)
        entries.append(StackEntry(ModelLevel(decoder, name=spec.name, kind="model", label="tiny"), spec, spec.block))
    return entries


def model_distribution(stack: list[StackEntry], sampling: Sampling) -> Distribution:
    """The distribution of two tokens after [0], from full forwards without any cache to share."""
    decoder: Any = stack[-1].level.decoder  # type: ignore[attr-defined]

    def row(ids: list[int]) -> list[float]:
        return to_probs(decoder.forward(Pass(ids, 0, 1), decoder.new_cache(8)), sampling)[0].tolist()

    first = row([0])
    return {(a, b): first[a] * p for a in range(VOCAB) if first[a] > 0 for b, p in enumerate(row([0, a])) if p > 0}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("target", marks=pytest.mark.everything),
        pytest.param("model:2,target@rule=block@bonus=0", marks=pytest.mark.everything),
        pytest.param("model:1,model:2@rule=block,target", marks=pytest.mark.everything),
        "model:2@bonus=0,model:2@bonus=0@policy=flush,target@rule=block@bonus=0",
    ],
)
def test_tiny_models_agree_with_their_exact_distribution(text: str) -> None:
    stack, sampling = model_stack(text), Sampling(1.2, top_k=5)
    counts = sample(stack, 2, 150, sampling)
    assert len(counts) > 10
    assert p_value(counts, model_distribution(stack, sampling), 150) > UNLIKELY


@pytest.mark.parametrize(
    "text",
    ["model:3,target", "model:2,model:4@policy=flush,target@rule=block", "model:2,model:3@bonus=0,target@bonus=0"],
)
def test_greedy_stacks_of_models_repeat_plain_decoding(text: str) -> None:
    for prompt in ([1], [2, 3, 4, 5], list(range(12))):
        runs = [
            output_of(list(hsd_core.run(stack, prompt, Sampling(), 0, max_new_tokens=24)))
            for stack in (model_stack(text), [model_stack(text)[-1]])
        ]
        stacked, plain = runs
        assert stacked == plain
        assert len(plain) == 24


@pytest.mark.parametrize("text", ["target", "model:3,target", "model:3@bonus=0,model:4@bonus=0,target@bonus=0"])
def test_a_model_stack_fills_its_context_to_the_last_position(text: str) -> None:
    stack = model_stack(text, max_positions=20)
    events = list(hsd_core.run(stack, [1, 2, 3], SAMPLED, 0, max_new_tokens=100))
    assert events[-1].reason == "context"  # type: ignore[union-attr]
    assert len(output_of(events)) == 17
