"""Layers with running states: random ones in float64, the recursion that they stand for, token by token, and a draft of
such layers in the form of a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.levels.draft_level import DraftLevel
from hsd_core.models.drafts.draft_file import DraftInfo, fingerprint
from hsd_core.models.lean.linear import Plain
from hsd_core.models.one_pass import Pass
from hsd_core.systems.nano.train.recipes import DraftShape
from hsd_core.systems.nano.train.students.student import Student
from hsd_core.systems.nano.train.students.student_file import round_weights, tensors_of
from hsd_core.systems.stree.scan import TAPS, Heads, StateCache, StateLayer, run_layers
from hsd_core.systems.stree.state_draft import StateDraft

SIZES = Heads(heads=4, groups=2, size=3, eps=1e-6)


class States:
    """A model of two such layers with its embeddings and head; its own draft's form, for `DraftRun`."""

    name, at, fed, joined, ahead, window, unknown = "states", 0, False, (), 1, 0, None
    layers, hidden, max_positions, device, dtype = 2, 6, 64, "cpu", "float64"

    def __init__(self, vocab: int, seed: int = 0) -> None:
        chance, self.vocab_size = torch.Generator().manual_seed(seed), vocab

        def numbers(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=chance, dtype=torch.float64) * 0.7

        heads, groups, size, _ = SIZES
        width, wide = (heads + 2 * groups) * size, heads * size
        self.embedding, self._head = numbers(vocab, self.hidden), 2 * numbers(vocab, self.hidden)
        self.stack = [
            StateLayer(
                attention_norm=1 + numbers(self.hidden),
                qkv=Plain(numbers(width, self.hidden)),
                conv=numbers(width, TAPS),
                step=Plain(numbers(heads, self.hidden)),
                step_bias=numbers(heads),
                decay=numbers(heads) - 1,
                skip=numbers(heads),
                state_norm=1 + numbers(wide),
                out=Plain(numbers(self.hidden, wide)),
                mlp_norm=1 + numbers(self.hidden),
                gate_up=Plain(numbers(16, self.hidden)),
                down=Plain(numbers(self.hidden, 8)),
            )
            for _ in range(self.layers)
        ]

    def level(self, name: str = "nano") -> DraftLevel:
        decoder: Any = self
        return DraftLevel(decoder, decoder, name=name, label=name)

    def embed(self, ids: Sequence[int]) -> Tensor:
        return self.embedding[list(ids)]

    def new_cache(self, capacity: int) -> StateCache:
        return StateCache(self.stack, SIZES, self.embedding)

    def forward(self, given: Pass, x: Tensor, cache: Any, *more: Any) -> tuple[Tensor, Tensor]:
        states = run_layers(self.stack, SIZES, given, x, cache)
        return states[len(states) - given.wanted :] @ self._head.T, states

    def copied(self, *asked: Any) -> None:
        return None

    def mark(self, *asked: Any) -> None:
        return None

    def row(self, ids: Sequence[int]) -> Tensor:
        """(V,) logits behind a text, by the recursion: without scans, masks and caches."""
        x = self.embedding[list(ids)]
        for layer in self.stack:
            x = recursion(layer, x)
        return self._head @ x[-1]


def recursion(layer: StateLayer, x: Tensor) -> Tensor:
    """The layer as it is defined, one token after another."""
    heads, groups, size, eps = SIZES
    read = F.rms_norm(x, x.shape[-1:], layer.attention_norm, eps)
    raw, states, found = layer.qkv(read), x.new_zeros(heads, size, size), []
    for t in range(len(x)):
        mixed = sum(layer.conv[:, TAPS - 1 - back] * raw[t - back] for back in range(min(TAPS, t + 1)))
        q, k, v = mixed[: heads * size].view(heads, size), *mixed[heads * size :].view(2, groups, size)
        step, y = F.softplus(layer.step(read[t]) + layer.step_bias), []
        for h in range(heads):
            g = h * groups // heads
            decay = torch.exp(-step[h] * layer.decay[h].exp())
            states[h] = decay * states[h] + step[h] * torch.outer(k[g], v[g])
            y.append(F.rms_norm(q[h] @ states[h] + layer.skip[h] * v[g], (size,), eps=eps))
        found.append(torch.cat(y) * layer.state_norm)
    x = x + layer.out(torch.stack(found))
    gate, up = layer.gate_up(F.rms_norm(x, x.shape[-1:], layer.mlp_norm, eps)).chunk(2, -1)
    return x + layer.down(F.silu(gate) * up)


def state_student(target: Any, *, absent: Sequence[int] = (), seed: int = 0) -> Student:
    """With the rounded weights of its file; the ids in `absent` it can only copy."""
    ids = [i for i in range(target.vocab_size) if i not in absent]
    student = Student(target, DraftShape("nano", 0.0, False, 2, states=True), ids)
    chance = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        student.read.copy_(torch.randn(student.read.shape, generator=chance) * 0.3)
        for layer in student.layers:
            for name in ("conv", "step", "skip", "out"):
                weight = layer.get_parameter(name)
                weight.add_(torch.randn(weight.shape, generator=chance) * 0.3)
    round_weights(student)
    return student


def with_states(target: Any, student: Student | None = None, **more: Any) -> StateDraft:
    """Opened over a target; `more` as above."""
    student = student or state_student(target, **more)
    sizes = len(student.layers), len(student.ids), target.shape.hidden
    about = DraftInfo("s", "tiny", 0, False, *sizes, "tiny", fingerprint(target), Path(), None, {}, states=True)
    return StateDraft(about, tensors_of(student), target)
