"""Tiny models with random weights, one of each family, as transformers' `save_pretrained` writes them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

TEXTS = (
    "The small level drafts a few tokens and the large level reads them all in one pass.",
    "A draft that is accepted costs one pass for many tokens; a draft that is rejected costs a little more than none.",
    "Levels above levels: each one checks what the one below it wrote, and hands up what it would have written.",
)
VOCABULARY = 320
_SIZES = {"vocab_size": VOCABULARY, "max_position_embeddings": 256}
_LLAMA = {
    **_SIZES,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
}
_SCALED = {
    "rope_type": "llama3",
    "rope_theta": 10_000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
# name: class of the config, what it is told
LAYERED: Mapping[str, tuple[str, dict[str, Any]]] = MappingProxyType(
    {
        "llama-scaled": ("LlamaConfig", {**_LLAMA, "rope_parameters": _SCALED}),
        "llama-tied": ("LlamaConfig", {**_LLAMA, "num_key_value_heads": 4, "tie_word_embeddings": True}),
        "qwen2": ("Qwen2Config", {**_LLAMA, "tie_word_embeddings": True}),
        "qwen3": ("Qwen3Config", _LLAMA),
        "mistral": ("MistralConfig", {**_LLAMA, "sliding_window": None}),
    }
)
WHOLE: Mapping[str, tuple[str, dict[str, Any]]] = MappingProxyType(
    {
        "gpt2": ("GPT2Config", {"vocab_size": VOCABULARY, "n_positions": 256, "n_embd": 64, "n_layer": 4, "n_head": 4}),
        "gpt-neox": ("GPTNeoXConfig", {**_SIZES, "hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4}),
    }
)
_SMALL = {**_SIZES, "hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4}
_EXPERTS = {"num_experts_per_tok": 2, "moe_intermediate_size": 48, "decoder_sparse_step": 1}
# Of these the table of families has a row each (tests/family_table.py).
MORE: Mapping[str, tuple[str, dict[str, Any]]] = MappingProxyType(
    {
        "llama-2": ("LlamaConfig", {**_LLAMA, "num_key_value_heads": 4}),
        "codellama": ("LlamaConfig", {**_LLAMA, "num_key_value_heads": 4, "rope_theta": 1e6}),
        "smollm3": ("SmolLM3Config", {**_LLAMA, "pad_token_id": 0}),
        "olmo2": ("Olmo2Config", {**_SMALL, "intermediate_size": 96}),
        "phi": ("PhiConfig", {**_SMALL, "intermediate_size": 96}),
        "phi3": ("Phi3Config", {**_SMALL, "intermediate_size": 96, "pad_token_id": 0}),
        "gemma": ("GemmaConfig", _LLAMA),
        "granite": ("GraniteConfig", _LLAMA),
        "opt": ("OPTConfig", {**_SMALL, "ffn_dim": 96, "word_embed_proj_dim": 64}),
        "bloom": ("BloomConfig", {"vocab_size": VOCABULARY, "hidden_size": 64, "n_layer": 4, "n_head": 4}),
        "qwen3-moe": ("Qwen3MoeConfig", {**_LLAMA, **_EXPERTS, "num_experts": 4}),
        "mixtral": ("MixtralConfig", {**_LLAMA, "num_local_experts": 4, "sliding_window": None}),
        "stablelm": ("StableLmConfig", {**_SMALL, "intermediate_size": 96, "num_key_value_heads": 4}),
        "starcoder2": ("Starcoder2Config", {**_SMALL, "intermediate_size": 96, "sliding_window": None}),
        "cohere": ("CohereConfig", {**_SMALL, "intermediate_size": 96, "pad_token_id": 0}),
        "mamba": ("MambaConfig", {"vocab_size": VOCABULARY, "hidden_size": 64, "num_hidden_layers": 4}),
        "rwkv": ("RwkvConfig", {"vocab_size": VOCABULARY, "hidden_size": 64, "num_hidden_layers": 4}),
    }
)
_LONG = {**_LLAMA, "max_position_embeddings": 512, "sliding_window": 16}
_TURNS = {**_LONG, "layer_types": ["sliding_attention", "full_attention"] * 2}
_GEMMA = {**_TURNS, "tie_word_embeddings": False}  # tied, a tiny random one would repeat its last token
_GEMMA3N = {"hidden_size_per_layer_input": 16, "vocab_size_per_layer_input": VOCABULARY, "num_kv_shared_layers": 2}
_PHI = {"intermediate_size": 96, "pad_token_id": 0, "max_position_embeddings": 512, "sliding_window": 16}
# Some or all layers attend to a window of 16 positions.
WINDOWED: Mapping[str, tuple[str, dict[str, Any]]] = MappingProxyType(
    {
        "gemma2": ("Gemma2Config", _GEMMA),
        "gemma3": ("Gemma3TextConfig", _GEMMA),
        "gemma3n": ("Gemma3nTextConfig", {**_GEMMA, **_GEMMA3N, "laurel_rank": 8, "intermediate_size": [96] * 4}),
        "gemma4": ("Gemma4TextConfig", {**_GEMMA, **_GEMMA3N, "global_head_dim": 16}),
        "gpt-oss": ("GptOssConfig", {**_TURNS, "num_local_experts": 4, "num_experts_per_tok": 2}),
        "olmo3": ("Olmo3Config", _TURNS),
        "llama4": ("Llama4TextConfig", {**_LONG, "attention_chunk_size": 16, "intermediate_size_mlp": 96}),
        "mistral-sliding": ("MistralConfig", _LONG),
        "ministral": ("MinistralConfig", _TURNS),
        "qwen2-sliding": ("Qwen2Config", {**_LONG, "use_sliding_window": True, "max_window_layers": 2}),
        "phi3-sliding": ("Phi3Config", {**_SMALL, **_PHI}),
    }
)
_STATED = {**_SMALL, "max_position_embeddings": 512, "intermediate_size": 96, "num_key_value_heads": 2}
_LINEAR = ["linear_attention", "full_attention"] * 2
# Some layers keep a running state in place of keys and values.
HYBRIDS: Mapping[str, tuple[str, dict[str, Any]]] = MappingProxyType(
    {
        "qwen3.5": (
            "Qwen3_5TextConfig",
            {
                **_STATED,
                "head_dim": 16,
                "layer_types": _LINEAR,
                "linear_key_head_dim": 16,
                "linear_value_head_dim": 16,
                "linear_num_key_heads": 2,
                "linear_num_value_heads": 4,
            },
        ),
        "granite-hybrid": (
            "GraniteMoeHybridConfig",
            {
                **_STATED,
                "layer_types": _LINEAR,
                "shared_intermediate_size": 96,
                "num_local_experts": 0,
                "mamba_n_heads": 4,
                "mamba_d_state": 16,
            },
        ),
        "lfm2": ("Lfm2Config", {**_STATED, "layer_types": ["conv", "full_attention"] * 2}),
        "nemotron-h": (
            "NemotronHConfig",
            {
                **_STATED,
                "head_dim": 16,
                "layer_types": ["linear_attention", "mlp", "full_attention", "linear_attention"],
                "ssm_state_size": 16,
                "mamba_num_heads": 4,
                "mamba_head_dim": 32,
                "n_groups": 2,
            },
        ),
    }
)
CONFIGS = MappingProxyType({**LAYERED, **WHOLE, **MORE, **WINDOWED, **HYBRIDS})  # rows of the table of families


def save(folder: Path, family: str, *, seed: int = 0, layers: int | None = None) -> Path:
    """A model of a family and its tokenizer, written by transformers."""
    config, told = CONFIGS[family]
    depth = {"n_layer" if "n_layer" in told else "num_hidden_layers": layers} if layers else {}
    torch.manual_seed(seed)
    made = getattr(transformers, config)(**{**told, **depth}, bos_token_id=1, eos_token_id=2)
    model = transformers.AutoModelForCausalLM.from_config(made)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.normal_(0, 0.25)  # as sharp as a trained model: its two best tokens lie apart
    model.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


def tokenizer() -> transformers.PreTrainedTokenizerFast:
    """A byte-level tokenizer, learnt from `TEXTS`; the same each time."""
    fast = Tokenizer(models.BPE())
    fast.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    fast.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special = ["<pad>", "<s>", "</s>"]
    learns = trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=special, initial_alphabet=alphabet)
    fast.train_from_iterator(TEXTS, learns)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=fast, bos_token="<s>", eos_token="</s>", pad_token="<pad>"
    )
