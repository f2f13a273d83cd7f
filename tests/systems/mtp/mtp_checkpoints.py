"""Random heads for multi-token prediction under each published name, and their forward pass written from the paper
(DeepSeek-V3, arXiv 2412.19437, section 2.2). Names: n tokens, V the vocabulary."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

FORMS = ("deepseek", "mimo", "qwen3-next")
SIZE, EPS, THETA = 8, 1e-6, 10_000.0


def head_weights(
    form: str, *, width: int, layers: int, size: int = SIZE, seed: int = 3, bias: bool = False, heads: int = 1
) -> dict[str, Tensor]:
    """Heads over a model of so many layers, by their published names."""
    random, weights = torch.Generator().manual_seed(seed), dict[str, Tensor]()
    for k in range(heads):
        at, parts = _names(form, layers + k if form == "deepseek" else k)
        for part in parts[:2] + parts[3:]:
            weights[f"{part}.weight"] = 1 + torch.randn(width, generator=random) * 0.2
        weights[f"{parts[2]}.weight"] = torch.randn(width, 2 * width, generator=random) * 0.3
        for name in ("input_layernorm", "post_attention_layernorm"):
            weights[f"{at}.{name}.weight"] = 1 + torch.randn(width, generator=random) * 0.2
        products = {"q": (4 * size, width), "k": (2 * size, width), "v": (2 * size, width), "o": (width, 4 * size)}
        for name, sizes in products.items():
            weights[f"{at}.self_attn.{name}_proj.weight"] = torch.randn(sizes, generator=random) * 0.3
            if bias and name != "o":
                weights[f"{at}.self_attn.{name}_proj.bias"] = torch.randn(sizes[0], generator=random) * 0.2
        for name, sizes in {"gate": (40, width), "up": (40, width), "down": (width, 40)}.items():
            weights[f"{at}.mlp.{name}_proj.weight"] = torch.randn(sizes, generator=random) * 0.3
    return weights


def _names(form: str, k: int) -> tuple[str, list[str]]:
    """A head's layer, and the norms of token and state, the product, the last norm."""
    if form == "qwen3-next":
        return "mtp.layers.0", ["mtp.pre_fc_norm_embedding", "mtp.pre_fc_norm_hidden", "mtp.fc", "mtp.norm"]
    at = f"model.layers.{k}" if form == "deepseek" else f"model.mtp_layers.{k}"
    own = ("enorm", "hnorm", "eh_proj", "shared_head.norm")
    mimo = ("token_layernorm", "hidden_layernorm", "input_proj", "final_layernorm")
    return at, [f"{at}.{name}" for name in (own if form == "deepseek" else mimo)]


def copied_head(folder: Path, form: str, *, layers: int, heads: int = 1) -> dict[str, Tensor]:
    """Heads whose layer is the last one of a model's checkpoint, with other weights: of any shape."""
    known, weights = load_file(folder / "model.safetensors"), dict[str, Tensor]()
    width, last = known["model.norm.weight"].shape[0], f"model.layers.{layers - 1}."
    random = torch.Generator().manual_seed(4)
    for k in range(heads):
        at, parts = _names(form, layers + k if form == "deepseek" else k)
        for name, weight in known.items():
            if name.startswith(last):
                weights[name.replace(last, f"{at}.")] = weight + torch.randn(weight.shape, generator=random) * 0.1
        weights |= {f"{part}.weight": 1 + torch.randn(width, generator=random) * 0.2 for part in parts[:2] + parts[3:]}
        weights[f"{parts[2]}.weight"] = torch.randn(width, 2 * width, generator=random) * 0.3
    return weights


def with_heads(folder: Path, weights: dict[str, Tensor], **more: object) -> Path:
    """Heads put into a model's checkpoint; `more` goes into its config."""
    file, config = folder / "model.safetensors", folder / "config.json"
    save_file({**(load_file(file) if file.is_file() else {}), **weights}, file)
    told = json.loads(config.read_text()) if config.is_file() else {}
    config.write_text(json.dumps({**told, "num_nextn_predict_layers": 1, **more}))
    return folder


class Paper:
    """A head's forward: everything again for every row, without a cache."""

    def __init__(
        self, weights: dict[str, Tensor], form: str, layers: int, embedding: Tensor, head: Tensor, number: int = 0
    ) -> None:
        self.w, self.embedding, self.head, self.form = weights, embedding, head, form
        self.at, self.names = _names(form, number + (layers if form == "deepseek" else 0))

    def norm(self, x: Tensor, name: str) -> Tensor:
        return x / (x.pow(2).mean(-1, keepdim=True) + EPS).sqrt() * self.w[f"{name}.weight"]

    def rows(self, ids: Sequence[int], h: Tensor) -> Tensor:
        """(n - 1, V) log-probabilities of what follows ids[1], ids[2], ...

        h: (f, width) states of the first f positions after the target's last norm; later ones are the head's own.
        """
        found = []
        for n in range(1, len(ids)):
            last = self.states(ids[1 : n + 1], h[:n])[-1]
            if len(h) <= n:
                h = torch.cat((h, last[None]))
            found.append((self.head @ last).log_softmax(-1))
        return torch.stack(found)

    def states(self, tokens: Sequence[int], h: Tensor) -> Tensor:
        """(n, width) states after its last norm, from n tokens and as many states before them."""
        token = self.norm(self.embedding[list(tokens)].float(), self.names[0])
        state = self.norm(h, self.names[1])
        both = (state, token) if self.form == "mimo" else (token, state)
        x = torch.cat(both, -1) @ self.w[f"{self.names[2]}.weight"].T
        x = x + self._attention(self.norm(x, f"{self.at}.input_layernorm"))
        y = self.norm(x, f"{self.at}.post_attention_layernorm")
        gate, up, down = (self.w[f"{self.at}.mlp.{part}_proj.weight"] for part in ("gate", "up", "down"))
        x = x + (torch.nn.functional.silu(y @ gate.T) * (y @ up.T)) @ down.T
        return self.norm(x, self.names[3])

    def _attention(self, read: Tensor) -> Tensor:
        n = len(read)
        q, k, v = (
            (
                read @ self.w[f"{self.at}.self_attn.{part}_proj.weight"].T
                + self.w.get(f"{self.at}.self_attn.{part}_proj.bias", 0)
            ).view(n, -1, SIZE)
            for part in "qkv"
        )
        q, k = _turned(q), _turned(k).repeat_interleave(2, 1)
        scores = torch.einsum("qhd,khd->hqk", q, k) / math.sqrt(SIZE)
        scores = scores.masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1), float("-inf"))
        mixed = torch.einsum("hqk,khd->qhd", scores.softmax(-1), v.repeat_interleave(2, 1)).reshape(n, -1)
        return mixed @ self.w[f"{self.at}.self_attn.o_proj.weight"].T


def _turned(x: Tensor) -> Tensor:
    """Rotary positions, from any first one: only differences count."""
    n, _, size = x.shape
    angles = torch.outer(torch.arange(n) + 5.0, THETA ** (-torch.arange(0, size, 2) / size))[:, None]
    a, b = x.chunk(2, -1)
    return torch.cat((a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()), -1)
