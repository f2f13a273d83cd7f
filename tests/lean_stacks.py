"""Stacks of small random lean models: what the tests of shared trunks, exits and nano levels run on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from tiny import tiny
from toys import LookupLevel, lookup

from hsd_core.decoders.lean import LeanDecoder
from hsd_core.hierarchy import Seat
from hsd_core.levels.exits import ExitLevel
from hsd_core.levels.model import ModelLevel
from hsd_core.levels.nano import NanoLevel
from hsd_core.stacks import LevelSpec, parse


class LeanStacks:
    """Builds stacks over one random model. `drafts`: trained read-outs by the `id` of a level; int8 is the same model."""

    def __init__(self, kind: str = "llama", drafts: Mapping[str, Any] | None = None, **sizes: Any) -> None:
        self.target = tiny(kind, **sizes)
        self.int8 = tiny(kind, **{**sizes, "dtype": "int8"})
        self.model = tiny(kind, **{**sizes, "seed": sizes.get("seed", 0) + 1})
        self.drafts = drafts or {}

    def stack(self, text: str) -> list[Seat]:
        return [Seat(self._level(spec), spec, spec.block) for spec in parse(text)]  # type: ignore[arg-type]

    def _level(self, spec: LevelSpec) -> object:
        if spec.name == "ngram":
            return LookupLevel(lookup(self.target.vocab_size, 5), self.target.vocab_size)
        decoder = self._decoder(spec)
        if spec.name == "exit":
            assert spec.at is not None
            return ExitLevel(decoder, spec.at, self.drafts.get(spec.id or ""))
        if spec.name == "nano":
            return NanoLevel(self.target, self.drafts[spec.id or "nano"])
        return ModelLevel(decoder, name=spec.name, kind=spec.name, label=spec.name)

    def _decoder(self, spec: LevelSpec) -> LeanDecoder:
        if "int8" in (spec.name, spec.dtype):
            return self.int8
        return self.model if spec.name == "model" else self.target


def from_scratch(decoder: LeanDecoder, ids: list[int], depth: int) -> torch.Tensor:
    """(n, hidden) states after `depth` layers of one pass over all ids."""
    with torch.inference_mode():
        return decoder.forward_layers(decoder.embed(ids), decoder.new_cache(len(ids)), 0, 0, depth)
