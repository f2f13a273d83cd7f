"""What the weights and caches of levels over a target take, read off its files before anything is loaded."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hsd_core.levels.declared.preset import Preset
from hsd_core.models.machine import size
from hsd_core.models.weights import here

HEAD = ("lm_head", "embed_out")
EMBEDDING = ("embed_tokens", "embed_in", "wte")
TOKENS = 1000


@dataclass(frozen=True, slots=True)
class Numbers:
    """How many weights a model has: in its layers together, in its head, in its embeddings; cache: keys and values of
    one position, over all layers, 0 where nobody knows."""

    layers: int
    head: int
    embedding: int
    cache: int

    def bytes(self, each: float) -> int:
        """That a pass reads, where a weight takes so many bytes."""
        return round(each * (self.layers + self.head))


def numbers_of(folder: Path) -> Numbers:
    """Of the safetensors files in a folder; only their headers are read.

    Raises:
        DecoderError: there are none, or they cannot be read.
    """
    from safetensors import safe_open

    from hsd_core.models.decoder_protocol import DecoderError
    from hsd_core.models.lean.shape import LeanShape
    from hsd_core.models.loading import read_config

    counts: dict[str, int] = {}
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, framework="numpy") as file:
            names = file.keys()
            counts |= {name: math.prod(file.get_slice(name).get_shape()) for name in names}
    embedding, head = (
        sum(n for name, n in counts.items() if any(part in name for part in parts)) for parts in (EMBEDDING, HEAD)
    )
    layers = sum(counts.values()) - embedding - head
    try:
        cache = LeanShape.from_config(read_config(folder)).cache_bytes(1, 1)
    except DecoderError:
        cache = 0
    return Numbers(layers, head or embedding, embedding, cache)


def memory_of(preset: Preset) -> Mapping[str, str]:
    """What a preset's levels take, by their kind's name, in words; nothing for what is not here yet."""
    folder = here(preset.target)
    if folder is None:
        return {}
    from hsd_core.models.compiled.products import BYTES

    own = numbers_of(folder)
    cache = f", keys and values {size(4 * own.cache * TOKENS)} per {TOKENS:,} tokens" if own.cache else ""
    whole = own.bytes(4.0)
    said = {"target": f"weights {size(whole + 4 * own.embedding)} in float32{cache}"}
    for dtype in ("int8", "int4"):
        read = round(BYTES[dtype] * own.layers + BYTES["int8"] * own.head)
        said[dtype] = f"weights {size(read + 4 * own.embedding)}{cache}"
    if preset.layers:
        quarter = max(1, preset.layers // 4)
        reads = own.layers * quarter / preset.layers + own.head
        said["exit"] = f"at layer {quarter} of {preset.layers} it reads {4 * reads / whole:.0%} of a pass of the target"
    draft = preset.draft and here(preset.draft)
    if draft:
        small = numbers_of(draft)
        own_cache = f", keys and values {size(4 * small.cache * TOKENS)} per {TOKENS:,} tokens" if small.cache else ""
        said["model"] = f"weights {size(small.bytes(4.0) + 4 * small.embedding)} in float32{own_cache}"
    return said
