"""A tiny model with random weights of every family that transformers builds as a causal language model."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import torch
import transformers
from families import VOCABULARY, tokenizer
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

FAMILIES = tuple(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)
LAYERS = 4
# the part of a key's name that says what it counts, and the most that it may be in a tiny model
_MOST = (
    (r"^vocab_size$|_vocab_size$|vocab_size_", VOCABULARY),
    (r"(num|n)_(hidden_|decoder_|encoder_|text_)?layers?$|^(en|de)coder_layers$|^(first_k_dense_replace)$", LAYERS),
    (r"experts_per_tok|top_?k$|topk|experts_per_token|n_group|kv_heads|key_value_heads|kv_groups", 2),
    (r"experts|heads?$", 4),
    (r"_token_id$", 2),
    (r"rope_head_dim", 16),
)
_WIDEST = 64
_HEADS, _HEAD, _STATES = {"num_key_value_heads": 4}, {"head_dim": 16}, {"mamba_n_heads": 4, "mamba_d_head": 32}
_OF_ITS_OWN: dict[str, dict[str, Any]] = {  # what a family needs said that its defaults leave open, or sizes that fit
    "gptj": {"rotary_dim": 16},
    "codegen": {"rotary_dim": 16},
    "xlnet": {"d_head": 16},
    "ernie4_5_moe": {"moe_k": 2},
    "nemotron": {**_HEAD, "num_key_value_heads": 2},
    "mamba2": {"head_dim": 32},
    "bamba": _STATES,
    "granitemoehybrid": _STATES,
    "falcon_h1": {**_STATES, "mamba_d_ssm": 128},
    **dict.fromkeys(("helium", "ministral", "hunyuan_v1_dense", "hunyuan_v1_moe"), _HEAD),
    **dict.fromkeys(("axk1", "deepseek_v3", "glm4_moe_lite", "minicpm3", "youtu"), _HEADS),
    "deepseek_v2": {**_HEADS, "topk_group": 1, "n_group": 1, "num_experts_per_tok": 2},
}


def config_of(family: str) -> transformers.PretrainedConfig:
    """The family's default config, each of its sizes cut down; layers of every kind that it has."""
    return _cut(type(transformers.AutoConfig.for_model(family)), _OF_ITS_OWN.get(family, {}))


def _cut(kind: type[transformers.PretrainedConfig], own: dict[str, Any]) -> transformers.PretrainedConfig:
    whole = kind()
    layers = getattr(whole, "num_hidden_layers", LAYERS)
    given: dict[str, Any] = {}
    for key, value in vars(whole).items():
        if key.startswith("_") or key in ("transformers_version", "model_type"):
            continue
        if isinstance(value, transformers.PretrainedConfig):
            given[key] = _cut(type(value), {})
        elif isinstance(value, (list, tuple)) and len(value) == layers:
            given[key] = _some(list(value))
        elif isinstance(value, int) and not isinstance(value, bool):
            most = next((most for pattern, most in _MOST if re.search(pattern, key)), _WIDEST)
            if value > most:
                given[key] = most
    return kind(**{**given, **own})


def _some(kinds: list[Any]) -> list[Any]:
    """As many layers as a tiny model has: one of each kind, and the first ones."""
    firsts = sorted({kinds.index(kind) for kind in kinds})[:LAYERS]
    more = [i for i in range(len(kinds)) if i not in firsts]
    return [kinds[i] for i in sorted([*firsts, *more[: LAYERS - len(firsts)]])]


def save(folder: Path, family: str, config: transformers.PretrainedConfig | None = None) -> Path:
    """Write it, with a tokenizer; of a config of its own, where one is given.

    Raises:
        Exception: whatever transformers says of a config that it cannot build.
    """
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(config or config_of(family)).eval()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.normal_(0, 0.25)
    model.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder
