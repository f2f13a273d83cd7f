"""A nano draft as a model of transformers, so that its assisted generation drafts with the same layers.

The in-projection of the normalised embeddings is worked out for every token once and stands as the embedding table;
the trimmed head is a head of all columns, those that the draft lacks at -1e9. What a nano copies from the text stays
behind: transformers has no such part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import Tensor

if TYPE_CHECKING:
    from hsd_core.models.drafts.head import DraftHead
    from hsd_core.models.lean.decoder import LeanDecoder

NEVER = -1e9  # a logit


@torch.inference_mode()
def nano_as_llama(nano: DraftHead, decoder: LeanDecoder) -> Any:
    """A `LlamaForCausalLM` in float32 on the CPU with a nano's weights, dense.

    Args:
        nano: reads the embeddings alone. decoder: its target, for embeddings and head rows.
    """
    from transformers import LlamaConfig, LlamaForCausalLM

    tensors, shape = load_file(nano.about.path), decoder.shape

    def dense(name: str) -> Tensor:
        return tensors[name].float() * tensors[f"{name}.scale"].float()[:, None]

    model: Any = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=shape.vocab_size,
            hidden_size=shape.hidden,
            intermediate_size=tensors["layers.0.down"].shape[1],
            num_hidden_layers=nano.layers,
            num_attention_heads=shape.heads,
            num_key_value_heads=shape.kv_heads,
            head_dim=shape.head_size,
            rms_norm_eps=shape.norm_eps,
            max_position_embeddings=shape.max_positions,
            rope_parameters={"rope_theta": shape.rope_theta, **shape.rope},
            tie_word_embeddings=False,
        )
    )
    model.lm_head = torch.nn.Linear(shape.hidden, shape.vocab_size)
    embedded = decoder.embed(range(shape.vocab_size)).float()
    ids, sizes = tensors["ids"].long(), [n * shape.head_size for n in (shape.heads, shape.kv_heads, shape.kv_heads)]
    head, bias = torch.zeros(shape.vocab_size, shape.hidden), torch.full((shape.vocab_size,), NEVER)
    head[ids], bias[ids] = decoder.head_rows(ids), 0.0
    weights = {
        "model.embed_tokens.weight": F.linear(F.rms_norm(embedded, (shape.hidden,), eps=shape.norm_eps), dense("read")),
        "model.norm.weight": tensors["norm"],
        "lm_head.weight": head,
        "lm_head.bias": bias,
    }
    for i in range(nano.layers):
        at, own = f"model.layers.{i}", f"layers.{i}"
        q, k, v = torch.split(dense(f"{own}.qkv"), sizes)
        gate, up = dense(f"{own}.gate_up").chunk(2)
        weights |= {
            f"{at}.self_attn.q_proj.weight": q,
            f"{at}.self_attn.k_proj.weight": k,
            f"{at}.self_attn.v_proj.weight": v,
            f"{at}.self_attn.o_proj.weight": dense(f"{own}.out"),
            f"{at}.mlp.gate_proj.weight": gate,
            f"{at}.mlp.up_proj.weight": up,
            f"{at}.mlp.down_proj.weight": dense(f"{own}.down"),
            f"{at}.input_layernorm.weight": tensors[f"{own}.attention_norm"],
            f"{at}.post_attention_layernorm.weight": tensors[f"{own}.mlp_norm"],
        }
    model.load_state_dict(weights)
    return model.requires_grad_(False).eval()
