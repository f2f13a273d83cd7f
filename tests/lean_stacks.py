"""Stacks of small random lean models: what the tests of shared trunks, exits and nano levels run on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from enumerator import SAMPLED, Distribution
from tiny import tiny
from toys import LookupLevel, lookup

from hsd_core.core.level import StackEntry
from hsd_core.grammar.key import depths_of
from hsd_core.grammar.keys import AT, DTYPE, FUSE, GUESS, ID, THETA, VOCAB
from hsd_core.grammar.stack_text import LevelSpec, parse
from hsd_core.levels.fused import FusedLevel, OrderedLevel
from hsd_core.levels.model_level import ModelLevel
from hsd_core.levels.readout import Lens, TrimmedHead
from hsd_core.levels.self_draft import SelfLevel, SkipLevel
from hsd_core.models import QUANTISED
from hsd_core.models.cache import Positions
from hsd_core.models.drafts.copying import Gate, copier, mark_of
from hsd_core.models.drafts.head import DraftCache
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.models.lean.sublayers import ATTENTION, MLP, Sublayers
from hsd_core.models.one_pass import Pass
from hsd_core.models.sampling import Sampling, to_probs
from hsd_core.models.suffixes import Copied
from hsd_core.systems.easyspec.declaration import CALIBRATE, PARALLEL
from hsd_core.systems.exits.chosen_exit import ChoosingLevel
from hsd_core.systems.exits.climb import ClimbLevel
from hsd_core.systems.exits.exit_level import ExitLevel
from hsd_core.systems.masked.declaration import FILL, PASSES, RECENT
from hsd_core.systems.masked.lattice import Trigrams
from hsd_core.systems.masked.masked_level import SEARCHED, Filling, MaskedLevel
from hsd_core.systems.medusa.medusa_level import MedusaLevel
from hsd_core.systems.nano.declaration import MISS
from hsd_core.systems.nano.nano_level import NanoLevel
from hsd_core.systems.ngram.databases import Databases
from hsd_core.systems.ngram.ngram_level import NgramLevel
from hsd_core.systems.ngram.suffix_db import Limits, Suffixes
from hsd_core.systems.skip.declaration import SET
from hsd_core.systems.views.declaration import BUDGET, CHUNK, KEEP, SINK
from hsd_core.systems.views.selection import Chunks, Stream
from hsd_core.systems.views.view_level import ViewLevel


class LeanStacks:
    """Builds stacks over one random model and its copies.

    drafts: trained read-outs by the `id` of a level, or a level by its kind. make: how the models run, `tiny` or
    `tiny_compiled`.
    """

    memory = 0.9

    def __init__(
        self,
        kind: str = "llama",
        drafts: Mapping[str, Any] | None = None,
        *,
        make: Callable[..., Any] = tiny,
        **sizes: Any,
    ) -> None:
        self.target = make(kind, **sizes)
        on_cpu = {"device": "cpu"} | ({"graphs": None} if "graphs" in sizes else {})
        self.int8 = make(kind, **{**sizes, "dtype": "int8", **on_cpu})  # its kernel is the CPU's
        self.int4 = make(kind, **{**sizes, "dtype": "int4", **on_cpu, "inner": 64})  # sizes of its kernel's
        self.model = make(kind, **{**sizes, "seed": sizes.get("seed", 0) + 1})
        self.drafts = drafts or {}

    def stack(self, text: str) -> list[StackEntry]:
        specs = parse(text)
        levels: list[Any] = [self._level(spec, specs[-1]) for spec in specs]
        if specs[0][FUSE]:
            lookups = NgramLevel(lambda: Databases("c"), self.target.vocab_size, guess=specs[0][FUSE])
            levels[0] = FusedLevel(levels[0], lookups)
        return [StackEntry(level, spec, spec.block) for level, spec in zip(levels, specs, strict=True)]

    def _lookups(self, spec: LevelSpec) -> NgramLevel:
        if spec.name == "suffix":
            return NgramLevel(lambda: Suffixes(Limits()), self.target.vocab_size, name="suffix", kind="suffix", guess=0)
        return NgramLevel(lambda: Databases("c"), self.target.vocab_size, guess=spec[GUESS])

    def _level(self, spec: LevelSpec, target: LevelSpec) -> object:
        if miss := spec.get(MISS):
            return OrderedLevel(self._lookups(spec), NanoLevel(self.target, self.drafts[miss]), miss)
        if spec.name == "ngram":
            return LookupLevel(lookup(self.target.vocab_size, 5), self.target.vocab_size)
        if spec.name == "suffix":
            return self._lookups(spec)
        if spec.name in self.drafts and spec.name != "nano":
            return self.drafts[spec.name]
        decoder = self._decoder(spec, target)
        if spec.name == "exit":
            depth = spec[AT]
            if spec.policy == "del":  # every lens up to this depth, and a draft with layers of its own if there is one
                known = {at: self.drafts.get(f"at{at}", Lens(decoder)) for at in range(1, depth + 1)}
                return ChoosingLevel(decoder, known, memory=self.memory)
            trimmed = TrimmedHead(decoder, range(spec[VOCAB])) if spec[VOCAB] else None
            return ExitLevel(decoder, depth, self.drafts.get(spec.get(ID) or "") or trimmed)
        if spec.name == "climb":
            known = {at: self.drafts.get(f"at{at}", Lens(decoder)) for at in depths_of(spec[AT])}
            return ClimbLevel(decoder, known, spec[THETA])
        if spec.name == "self":
            return SelfLevel(decoder, spec[PARALLEL], calibrated=bool(spec[CALIBRATE]))
        if spec.name == "skip":  # @set=none, or a.0-m.1: attention 0 and MLP 1
            named = spec.get(SET) or "none"
            parts = [] if named == "none" else [part.split(".") for part in named.split("-")]
            short = {"a": ATTENTION, "m": MLP}
            return SkipLevel(decoder, Sublayers.of((short[kind], int(at)) for kind, at in parts))
        if spec.name == "view":
            chunks, budget = spec[KEEP] == "chunks", spec[BUDGET]
            return ViewLevel(decoder, Chunks(budget, spec[CHUNK]) if chunks else Stream(budget, spec[SINK]))
        if spec.name == "medusa":
            return MedusaLevel(self.target, self.drafts["heads"])
        if spec.name == "nano":
            return NanoLevel(self.target, self.drafts[spec.get(ID) or "nano"])
        if spec.name == "masked":
            text = Trigrams(torch.arange(40).numpy() ** 2 % self.target.vocab_size, self.target.vocab_size)
            how = Filling(spec[FILL], spec[PASSES], bool(spec[RECENT]), text=text if spec[FILL] == SEARCHED else None)
            return MaskedLevel(self.target, self.drafts["cells"], how, block=spec.block or 1)
        says = range(count) if (count := spec.get(VOCAB)) else None
        feeds = spec.name != "model"
        if not feeds and spec[PARALLEL] > 1:
            return SelfLevel(decoder, spec[PARALLEL], kind=spec.name, of=spec.name)
        return ModelLevel(decoder, name=spec.name, kind=spec.name, label=spec.name, feeds=feeds, head_ids=says)

    def _decoder(self, spec: LevelSpec, target: LevelSpec) -> LeanDecoder:
        if spec.name == "model":
            return self.model
        dtype = spec.name if spec.name in QUANTISED else spec.get(DTYPE) or target.get(DTYPE)
        return {"int8": self.int8, "int4": self.int4}.get(dtype or "", self.target)


def from_scratch(decoder: LeanDecoder, ids: list[int], depth: int) -> torch.Tensor:
    """(n, hidden) states after `depth` layers of one pass over all ids."""
    with torch.inference_mode():
        return decoder.forward_layers(Pass(ids), decoder.new_cache(len(ids)), 0, depth)


def model_distribution(
    decoder: LeanDecoder, prompt: list[int], tokens: int, sampling: Sampling = SAMPLED
) -> Distribution:
    """The distribution of `tokens` tokens, by the chain rule over full passes without a cache to share."""
    found: Distribution = {(): 1.0}
    for _ in range(tokens):
        longer: Distribution = {}
        for output, mass in found.items():
            ids = [*prompt, *output]
            row = to_probs(decoder.forward(Pass(ids, 0, 1), decoder.new_cache(len(ids))), sampling)[0].tolist()
            longer |= {(*output, token): mass * chance for token, chance in enumerate(row) if chance > 0.0}
        found = longer
    return found


class RandomDraft:
    """A random read-out with layers of its own that copies, as a trained draft; the ids in `absent` are only copied."""

    def __init__(
        self,
        target: LeanDecoder,
        *,
        fed: bool = False,
        layers: int = 1,
        seed: int = 0,
        absent: Sequence[int] = (5, 40),
        copies: bool = True,
        joined: tuple[int, ...] = (),
        ahead: int = 1,
    ) -> None:
        self.name, self.at, self.fed, self.layers, self.hidden = "random", 0, fed, layers, target.shape.hidden
        self.joined, self.ahead, self.window, chance = joined, ahead, 0, torch.Generator().manual_seed(50 + seed)
        self.unknown = torch.randn(ahead - 1, self.hidden, generator=chance) if ahead > 1 else None
        dtype = "bfloat16" if target.dtype == "bfloat16" else "float32"
        where = {"device": target.device, "graphs": getattr(target, "stack", None) and target.stack.graphs}
        self._body = tiny(vocab=target.vocab_size, layers=layers, seed=100 + seed, dtype=dtype, **where)
        self._mix = torch.randn(2 * self.hidden, self.hidden, generator=torch.Generator().manual_seed(seed)) * 0.2
        self._absent = torch.zeros(target.vocab_size, dtype=torch.bool)
        self._absent[list(absent)] = True
        self._mix = self._mix.to(target.device, getattr(torch, dtype))
        self._absent = self._absent.to(target.device)
        gate = Gate.fresh(self.hidden)
        self._gate = Gate(*(part.to(target.device) for part in gate._replace(bias=gate.bias - (0 if copies else 99))))

    def new_cache(self, capacity: int) -> Any:
        layers = self._body.new_cache(capacity)
        self._body.prepare(layers, [self.layers])
        return DraftCache(layers, copier(*[self._gate] * self.ahead))

    def join(self, states: torch.Tensor) -> torch.Tensor:
        return sum(part * (i + 1) for i, part in enumerate(states.chunk(len(self.joined), -1)))

    def forward(
        self,
        given: Pass,
        x: torch.Tensor,
        cache: Any,
        line: Sequence[int],
        fed: torch.Tensor | None = None,
        begun: int | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        further = given.wanted - 1 if begun is not None else 0
        assert given.end == len(line) + further and len(given.ids) == len(x), "the inputs end where the line does"
        assert (fed is not None) == self.fed
        if fed is not None:
            # one row at a time: a product of n rows may differ from n products in the last bits
            x = torch.cat([torch.cat((a, b))[None] @ self._mix for a, b in zip(x, fed, strict=True)])
        own = self._body.forward_layers(given, cache.layers, 0, self.layers, x)
        last = own[len(own) - given.wanted :]
        logits = self._body.head(last).masked_fill(self._absent, float("-inf"))
        return cache.copier.mix(line, logits, last, given.sees, begun), own

    def copied(self, cache: Any, token: int, row: int = -1) -> Copied | None:
        return cache.copier.copied(token, row)

    def mark(self, cache: Any) -> Any:
        return mark_of(cache.copier)


class RandomHeads:
    """Random heads over the last state, each for a token further on, that copy; ids in `absent` are only copied."""

    def __init__(self, target: LeanDecoder, *, ahead: int = 3, absent: Sequence[int] = (5, 40)) -> None:
        self.name, self.layers, self.hidden, self.ahead, self.vocab_size = "heads", 0, 32, ahead, target.vocab_size
        chance, self._absent = torch.Generator().manual_seed(9), list(absent)
        self._heads = torch.randn(ahead, target.vocab_size, 32, generator=chance) * 0.3

    def new_cache(self, capacity: int) -> Any:
        return DraftCache(Positions(), copier(*[Gate.fresh(self.hidden)] * self.ahead))

    def predict(self, state: torch.Tensor, cache: Any, line: Sequence[int], begun: int) -> torch.Tensor:
        logits = self._heads[begun:] @ state[0]
        logits[:, self._absent] = float("-inf")
        states = state.expand(len(logits), -1)
        return cache.copier.mix(line, logits, states, None, begun)

    def copied(self, cache: Any, token: int, row: int = -1) -> Copied | None:
        return cache.copier.copied(token, row)

    def weight_bytes(self) -> int:
        return 0


def drafted_stacks(vocab: int = 3, kind: str = "llama") -> LeanStacks:
    """Four layers whose distribution is not flat and changes from layer to layer, with a draft of its own and a fed
    one."""
    made = LeanStacks(kind, layers=4, vocab=vocab, seed=5 if vocab == 3 else 2)
    absent = (1,) if vocab == 3 else (5,) if vocab > 5 else ()
    made.drafts = {
        "own": RandomDraft(made.target, absent=absent),
        "fed": RandomDraft(made.target, fed=True, seed=1, absent=absent),
        "joined": RandomDraft(made.target, fed=True, seed=2, absent=absent, joined=(1, 2, 4)),
        "ahead": RandomDraft(made.target, fed=True, seed=3, absent=absent, ahead=3),
        "heads": RandomHeads(made.target, absent=absent),
    }
    return made
