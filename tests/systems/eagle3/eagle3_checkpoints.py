"""Random EAGLE-3 drafters as each of their writers publishes them, and a forward pass of them written from the paper.

Names: n tokens, R rows of the head, V the target's vocabulary.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

WRITERS = ("safeailab", "specforge", "speculators", "speculators-qwen3", "eagle-3.1")


def written(
    folder: Path,
    writer: str,
    *,
    vocab: int,
    width: int,
    ids: Sequence[int],
    depths: Sequence[int],
    seed: int = 0,
    layers: int = 1,
    **more: Any,
) -> Path:
    """A drafter for a target of this vocabulary and width, over some of its ids; `more` goes into its config."""
    random, own = torch.Generator().manual_seed(seed), writer.startswith("speculators")
    qwen, hidden, size, inner = writer.endswith("qwen3"), 32 if own else width, 8, 40

    def normal(*sizes: int) -> Tensor:
        return torch.randn(*sizes, generator=random) * 0.3

    def norm(size: int) -> Tensor:
        return 1 + torch.randn(size, generator=random) * 0.2

    weights = {"fc.weight": normal(hidden, len(depths) * width), "norm.weight": norm(hidden)}
    weights["lm_head.weight"] = normal(len(ids), hidden) * 4
    for i in range(layers):
        at = f"layers.{i}." if own or i else "midlayer."
        reads = hidden if i else 2 * hidden
        for part, heads in (("q", 4), ("k", 2), ("v", 2)):
            weights[f"{at}self_attn.{part}_proj.weight"] = normal(heads * size, reads)
        if qwen:
            weights |= {f"{at}self_attn.{part}_norm.weight": norm(size) for part in "qk"}
        weights[f"{at}self_attn.o_proj.weight"] = normal(hidden, 4 * size)
        weights |= {f"{at}mlp.{part}_proj.weight": normal(inner, hidden) for part in ("gate", "up")}
        weights[f"{at}mlp.down_proj.weight"] = normal(hidden, inner)
        for name in ("input_layernorm", "post_attention_layernorm", *["hidden_norm"] * (not i)):
            weights[f"{at}{name}.weight"] = norm(hidden)
    weights["d2t"] = torch.tensor([id_ - row for row, id_ in enumerate(ids)])
    weights["t2d"] = torch.zeros(vocab, dtype=torch.bool).index_fill(0, torch.tensor(ids), True)
    sizes = {
        "hidden_size": hidden,
        "intermediate_size": inner,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": size,
        "num_hidden_layers": layers,
        "vocab_size": vocab,
        "model_type": "qwen3" if qwen else "llama",
        "rope_theta": 500.0,
        "max_position_embeddings": 16,
    }
    config = {"architectures": ["LlamaForCausalLM"], **sizes, "draft_vocab_size": len(ids), "rms_norm_eps": 1e-5}
    if writer in ("specforge", "eagle-3.1"):
        config |= {"architectures": ["LlamaForCausalLMEagle3"], "tie_word_embeddings": True}
        config["eagle_config"] = {"eagle_aux_hidden_state_layer_ids": [at - 1 for at in depths]}
    if writer == "eagle-3.1":
        config |= {"fc_norm": True, "norm_output": True}
        weights |= {f"fc_norm.{i}.weight": norm(width) for i in range(len(depths))}
    if own:
        weights |= {"embed_tokens.weight": normal(vocab, hidden) * 2, "input_norm.weight": norm(len(depths) * width)}
        config = {
            "speculators_model_type": "eagle3",
            "architectures": ["Eagle3Speculator"],
            "transformer_layer_config": sizes,
            "speculators_config": {"algorithm": "eagle3", "verifier": {"name_or_path": "some/target"}},
            "draft_vocab_size": len(ids),
            "eagle_aux_hidden_state_layer_ids": [*depths],
            "norm_before_residual": True,
            "norm_before_fc": True,
        }
    folder.mkdir(exist_ok=True)
    save_file({name: tensor.contiguous() for name, tensor in weights.items()}, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config | more), encoding="utf-8")
    return folder


class Paper:
    """The drafter's forward from EAGLE-3, section 3.1: everything again for every row, without a cache."""

    def __init__(self, weights: dict[str, Tensor], writer: str, vocab: int, embedding: Tensor) -> None:
        self.w, self.vocab = weights, vocab
        self.embedding = weights.get("embed_tokens.weight", embedding)
        self.speculators, self.drift_free = writer.startswith("speculators"), writer == "eagle-3.1"
        self.layers = sum(name.endswith("q_proj.weight") for name in weights)
        self.eps = 1e-6 if self.speculators else 1e-5
        self.ids = weights["d2t"] + torch.arange(len(weights["d2t"]))

    def norm(self, x: Tensor, name: str) -> Tensor:
        return x / (x.pow(2).mean(-1, keepdim=True) + self.eps).sqrt() * self.w[f"{name}.weight"]

    def joined(self, states: Sequence[Tensor]) -> Tensor:
        """g: the states of three layers, (n, width) each, as one (n, hidden)."""
        if self.drift_free:
            states = [self.norm(state, f"fc_norm.{i}") for i, state in enumerate(states)]
        both = torch.cat([*states], -1)
        return (self.norm(both, "input_norm") if self.speculators else both) @ self.w["fc.weight"].T

    def rows(self, ids: Sequence[int], g: Tensor) -> Tensor:
        """(n - 1, V) log-probabilities of what follows ids[1], ids[2], ...

        g: (f, hidden) of the first f positions; later ones are the drafter's own states.
        """
        found = []
        for n in range(1, len(ids)):
            x, normal = self._first(ids[1 : n + 1], g[:n])
            for i in range(self.layers):
                at = f"layers.{i}." if self.speculators or i else "midlayer."
                x = x + self._attention(at, self.norm(x, f"{at}input_layernorm") if i else normal)
                y = self.norm(x, f"{at}post_attention_layernorm")
                gate, up, down = (self.w[f"{at}mlp.{part}_proj.weight"] for part in ("gate", "up", "down"))
                x = x + (torch.nn.functional.silu(y @ gate.T) * (y @ up.T)) @ down.T
            read = self.norm(x[-1], "norm")
            if len(g) <= n:
                g = torch.cat((g, (read if self.drift_free else x[-1])[None]))
            row = torch.full((self.vocab,), float("-inf"))
            row[self.ids] = self.w["lm_head.weight"] @ read
            found.append(row.log_softmax(-1))
        return torch.stack(found)

    def _first(self, ids: Sequence[int], g: Tensor) -> tuple[Tensor, Tensor]:
        at = "layers.0." if self.speculators else "midlayer."
        tokens = self.norm(self.embedding[list(ids)].float(), f"{at}input_layernorm")
        normal = self.norm(g, f"{at}hidden_norm")
        return (normal if self.speculators else g), torch.cat((tokens, normal), -1)

    def _attention(self, at: str, read: Tensor) -> Tensor:
        n, size = len(read), 8
        q, k, v = ((read @ self.w[f"{at}self_attn.{part}_proj.weight"].T).view(n, -1, size) for part in "qkv")
        if f"{at}self_attn.q_norm.weight" in self.w:
            q, k = self.norm(q, f"{at}self_attn.q_norm"), self.norm(k, f"{at}self_attn.k_norm")
        q, k = self._turned(q), self._turned(k)
        k, v = k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)
        scores = torch.einsum("qhd,khd->hqk", q, k) / math.sqrt(size)
        scores = scores.masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1), float("-inf"))
        mixed = torch.einsum("hqk,khd->qhd", scores.softmax(-1), v).reshape(n, -1)
        return mixed @ self.w[f"{at}self_attn.o_proj.weight"].T

    @staticmethod
    def _turned(x: Tensor) -> Tensor:
        """Rotary positions, from any first one: only differences count."""
        n, _, size = x.shape
        angles = torch.outer(torch.arange(n) + 5.0, 500.0 ** (-torch.arange(0, size, 2) / size))[:, None]
        a, b = x.chunk(2, -1)
        return torch.cat((a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()), -1)
