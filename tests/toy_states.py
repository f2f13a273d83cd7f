"""A model of one layer in float64 whose states are a running sum, and kNN-LM stacks over it: for whole enumerations.

Its state behind a text is tanh(A s + E[id]) of the state s before; so it needs no attention, and a tree is a tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import torch
from enumerator import Distribution
from torch import Tensor
from toys import LookupLevel, lookup, table

from hsd_core.core.level import StackEntry
from hsd_core.grammar.stack_text import parse
from hsd_core.models.cache import Positions
from hsd_core.models.one_pass import Pass
from hsd_core.systems.store.declaration import mixing_of
from hsd_core.systems.store.mixture import keys_of
from hsd_core.systems.store.neighbours import Store
from hsd_core.systems.store.store_level import CachedLevel, StoreLevel
from hsd_core.systems.table.table_level import TableLevel

HIDDEN = 5


class SumCache(Positions):
    """The states of a text and of a tree behind it."""

    def __init__(self, capacity: int) -> None:
        super().__init__()
        self.states = torch.zeros(capacity + 1, HIDDEN, dtype=torch.float64)  # slot 0: before any token

    def move(self, base: int, nodes: Sequence[int], lo: int = 0, hi: int | None = None) -> None:
        self.states[base + 1 : base + 1 + len(nodes)] = self.states[[base + 1 + node for node in nodes]]


class SumDecoder:
    """A `Layered` of one layer; see the top of the file."""

    layers, max_positions, device, dtype = 1, 64, "cpu", "float64"

    def __init__(self, vocab: int, seed: int = 0) -> None:
        chance = torch.Generator().manual_seed(seed)

        def numbers(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=chance, dtype=torch.float64)

        self.vocab_size, self.shape = vocab, SimpleNamespace(hidden=HIDDEN, norm_eps=1e-6, heads=1)
        self._turn, self._embedding, self._head = (
            numbers(HIDDEN, HIDDEN),
            numbers(vocab, HIDDEN),
            numbers(vocab, HIDDEN),
        )
        self.last_norm = 1.0 + 0.3 * numbers(HIDDEN)

    def new_cache(self, capacity: int, *, branches: int = 0) -> SumCache:
        return SumCache(capacity + branches)

    def forward_layers(self, given: Pass, cache: Any, lo: int, hi: int, x: Tensor | None = None) -> Tensor:
        for slot, id_ in enumerate(given.ids, given.start):
            before = slot - 1
            if given.sees is not None and slot >= given.sees.base:
                parent = given.sees.parents[slot - given.sees.base]
                before = given.sees.base + parent  # -1: the end of the context
            cache.states[slot + 1] = torch.tanh(self._turn @ cache.states[before + 1] + self._embedding[id_])
        cache.length = given.end
        return cache.states[given.start + 1 : given.end + 1].clone()

    def forward(self, given: Pass, cache: Any) -> Tensor:
        return self.head(self.forward_layers(given, cache, 0, 1)[-given.wanted :])

    def embed(self, ids: Sequence[int]) -> Tensor:
        return self._embedding[list(ids)]

    def head(self, x: Tensor) -> Tensor:
        return x @ self._head.T

    def weight_bytes(self, depth: int | None = None, *, head: bool = True) -> int:
        return self._head.nbytes

    def cache_bytes(self, capacity: int, *, branches: int = 0) -> int:
        return 8 * HIDDEN * (capacity + branches)


class StoreStacks:
    """kNN-LM stacks over one such model; `model` is a table of its own."""

    def __init__(self, vocab: int = 3, text: int = 300, seed: int = 0) -> None:
        self.decoder = SumDecoder(vocab, seed)
        ids = torch.randint(vocab, (text,), generator=torch.Generator().manual_seed(seed + 1)).tolist()
        self.store = Store(keys_of(self.decoder, ids[:-1]), torch.tensor(ids[1:]))

    def stack(self, text: str) -> list[StackEntry]:
        specs, entries = parse(text), []
        vocab, mixing = self.decoder.vocab_size, mixing_of(specs[-1])
        for spec in specs:
            level: Any
            if spec.name == "ngram":
                level = LookupLevel(lookup(vocab, 3), vocab)
            elif spec.name == "model":
                level = TableLevel(table(vocab, 9), vocab, name="model")
            else:
                kind: Any = CachedLevel if spec.name == "cached" else StoreLevel
                level = kind(self.decoder, self.store, mixing, kind=spec.name, label=spec.name)
            entries.append(StackEntry(level, spec, spec.block))
        return entries

    def row(self, ids: Sequence[int], near: int, mix: float, heat: float) -> list[float]:
        """kNN-LM's distribution behind a text, place by place and without the product's code."""
        decoder = self.decoder
        state = decoder.forward_layers(Pass(list(ids)), decoder.new_cache(len(ids)), 0, 1)[-1]
        own = decoder.head(state[None])[0].softmax(-1).tolist()
        key = decoder.last_norm * state / (state.square().mean() + decoder.shape.norm_eps).sqrt()
        key = key / key.norm()
        found = sorted((float((key - k).square().sum()), int(v)) for k, v in zip(*self.places(), strict=True))[:near]
        weights = [float(torch.tensor(-d / heat, dtype=torch.float64).exp()) for d, _ in found]
        there = [sum(w for w, (_, v) in zip(weights, found, strict=True) if v == y) for y in range(len(own))]
        return [mix * s / sum(weights) + (1 - mix) * p for s, p in zip(there, own, strict=True)]

    def places(self) -> tuple[Tensor, Tensor]:
        return self.store.keys, self.store.values

    def distribution(self, text: str, prompt: list[int], tokens: int) -> Distribution:
        """Of the target of a stack, by the chain rule."""
        mixing = mixing_of(parse(text)[-1])
        found: Distribution = {(): 1.0}
        for _ in range(tokens):
            longer: Distribution = {}
            for output, mass in found.items():
                row = self.row([*prompt, *output], mixing.near, mixing.mix, mixing.heat)
                longer |= {(*output, token): mass * chance for token, chance in enumerate(row) if chance > 0.0}
            found = longer
        return found
