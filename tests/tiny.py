"""Small random models, made in memory."""

from __future__ import annotations

from contextlib import nullcontext

import torch

from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.models.lean.shape import LeanShape


def tiny(kind: str = "llama", *, dtype: str = "float32", device: str = "cpu", graphs=None, **more) -> LeanDecoder:
    """A random model; see `made`."""
    shape, weights = made(kind, **more)
    return LeanDecoder(shape, weights.__getitem__, set(weights), dtype=dtype, device=device, graphs=graphs)


def tiny_compiled(
    kind: str = "llama",
    *,
    dtype: str = "float32",
    device: str = "cpu",
    head_dim: int = 16,
    progress=lambda done, total: None,
    **more,
):
    """The same by onnxruntime; heads as its kernel takes them."""
    from hsd_core.models.compiled.decoder import CompiledDecoder

    shape, weights = made(kind, head_dim=head_dim, **more)
    return CompiledDecoder(
        shape, lambda: nullcontext((weights.__getitem__, set(weights))), dtype=dtype, progress=progress
    )


def made(
    kind: str = "llama", *, vocab: int = 61, layers: int = 4, seed: int = 0, inner: int = 48, **more
) -> tuple[LeanShape, dict[str, torch.Tensor]]:
    """A random model of a kind ("llama", "qwen2", "qwen3", "mistral", "gemma3_text"); `more` goes into its config."""
    gemma = kind == "gemma3_text"  # every second layer has a window of three positions
    own = {"head_dim": 8, "sliding_window": 3, "sliding_window_pattern": 2} if gemma else {}
    config = {
        "model_type": kind,
        "vocab_size": vocab,
        "hidden_size": 32,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 192,
        "tie_word_embeddings": not gemma,  # its embeddings are so large that a tied head would repeat the input
        **own,
        **more,
    }
    shape, random = LeanShape.from_config(config), torch.Generator().manual_seed(seed)
    hidden, size = shape.hidden, shape.head_size
    widths = {
        "self_attn.q_proj": (shape.heads * size, hidden),
        "self_attn.k_proj": (shape.kv_heads * size, hidden),
        "self_attn.v_proj": (shape.kv_heads * size, hidden),
        "self_attn.o_proj": (hidden, shape.heads * size),
        "mlp.gate_proj": (inner, hidden),
        "mlp.up_proj": (inner, hidden),
        "mlp.down_proj": (hidden, inner),
    }
    norms = ["input_layernorm", "post_attention_layernorm"]
    norms += ["pre_feedforward_layernorm", "post_feedforward_layernorm"] if gemma else []
    middle = 1 - shape.norm_offset
    weights = {"model.embed_tokens.weight": torch.randn(vocab, hidden, generator=random) * 0.5}
    if not shape.tied:
        weights["lm_head.weight"] = torch.randn(vocab, hidden, generator=random) * 0.5
    for i in range(layers):
        at = f"model.layers.{i}"
        for name, shape_of in widths.items():
            weights[f"{at}.{name}.weight"] = torch.randn(shape_of, generator=random) * 0.25
            if kind == "qwen2" and name[-6] in "qkv" and "self_attn" in name:
                weights[f"{at}.{name}.bias"] = torch.randn(shape_of[0], generator=random) * 0.2
        for name in norms:
            weights[f"{at}.{name}.weight"] = middle + torch.randn(hidden, generator=random) * 0.2
        if kind == "qwen3" or gemma:
            for name in ("self_attn.q_norm", "self_attn.k_norm"):
                weights[f"{at}.{name}.weight"] = middle + torch.randn(size, generator=random) * 0.2
    weights["model.norm.weight"] = middle + torch.randn(hidden, generator=random) * 0.2
    return shape, weights
