"""Sizes of the weights and caches of levels over a target, from its files before anything is loaded."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from hsd_core.grammar import key_of, kinds
from hsd_core.grammar.key import Whole
from hsd_core.grammar.keys import AT
from hsd_core.grammar.kind import LAST
from hsd_core.grammar.preset import Preset
from hsd_core.models.compiled import BYTES
from hsd_core.models.decoder_protocol import QUANTISED, DecoderError
from hsd_core.models.lean.shape import LeanShape
from hsd_core.models.loading import BITS, LANGUAGE, read_config
from hsd_core.models.machine import size
from hsd_core.models.weights import local_config, local_folder

HEAD = ("lm_head", "embed_out")
EMBEDDING = ("embed_tokens", "embed_in", "wte")
TOKENS = 1000
_SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}  # bytes, by the names that safetensors has for dtypes


@dataclass(frozen=True, slots=True)
class WeightCounts:
    """Numbers of weights of a model: in all its layers, in its head, in its embeddings.

    Attributes:
        cache: keys and values of one position in all layers, 0 if unknown.
        tied: whether head and embeddings are the same. whole: whether transformers runs the model and keeps only one
            of two tied matrices.
        stored: bytes per number of the embeddings in their file; our decoders keep that dtype.
    """

    layers: int
    head: int
    embedding: int
    cache: int = 0
    tied: bool = False
    whole: bool = False
    stored: int = 4

    def bytes(self, each: float) -> int:
        """Bytes that a pass reads, with `each` bytes per weight."""
        return round(each * (self.layers + self.head))


def weight_counts(folder: Path) -> WeightCounts:
    """The counts of the safetensors files in a folder. Only headers are read, and read again after a change.

    Raises:
        DecoderError: the folder has no config.json, or a file cannot be read.
    """
    files = sorted(folder.glob("*.safetensors"))
    return _counted(folder, tuple((path, path.stat().st_mtime_ns) for path in files))


@lru_cache(maxsize=64)
def _counted(folder: Path, files: tuple[tuple[Path, int], ...]) -> WeightCounts:
    from safetensors import SafetensorError, safe_open

    counts: dict[str, int] = {}
    stored = 4
    for path, _ in files:
        try:
            with safe_open(path, framework="numpy") as file:
                slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118
                counts |= {name: math.prod(part.get_shape()) for name, part in slices.items()}
                named = (part for name, part in slices.items() if any(one in name for one in EMBEDDING))
                stored = next((_SIZES.get(part.get_dtype(), 4) for part in named), stored)
        except SafetensorError as error:
            raise DecoderError(f"{path} is damaged ({error}); download it again") from error
    embedding, head = (
        sum(n for name, n in counts.items() if any(part in name for part in parts)) for parts in (EMBEDDING, HEAD)
    )
    layers = sum(counts.values()) - embedding - head
    try:
        cache = LeanShape.from_config(read_config(folder)).cache_bytes(1, 1)
    except DecoderError:
        return WeightCounts(layers, head or embedding, embedding, tied=not head, whole=True, stored=stored)
    if any(name.startswith(LANGUAGE) for name in counts):  # the lean decoder leaves the encoder of images out
        layers -= sum(n for name, n in counts.items() if not name.startswith(LANGUAGE))
    return WeightCounts(layers, head or embedding, embedding, cache, tied=not head, stored=stored)


def counts_from_config(folder: Path, stored: int) -> WeightCounts:
    """Approximate counts of a model from its config.json and the size of its weights in bytes.

    Raises:
        DecoderError: the config cannot be read.
    """
    config = read_config(folder)
    each = 4 if "32" in str(config.get("dtype") or config.get("torch_dtype") or "float32") else 2
    embedding = int(config.get("vocab_size") or 0) * int(config.get("hidden_size") or 0)
    tied = bool(config.get("tie_word_embeddings"))
    layers = max(0, stored // each - (1 if tied else 2) * embedding)
    return WeightCounts(layers, embedding, embedding, tied=tied, stored=each)


def weight_bytes(own: WeightCounts, dtype: str) -> int:
    """Bytes of a model's weights in a CPU's memory with this dtype. Our decoders keep the head in its kernel's layout
    and the embeddings as well, tied or not; in half precision the head is float32."""
    if dtype in QUANTISED:
        return round(BYTES[dtype] * own.layers + BYTES["int8"] * own.head) + own.stored * own.embedding
    each = BITS[dtype] // 8
    if own.whole:
        return each * (own.layers + own.embedding + (0 if own.tied else own.head))
    return each * own.layers + 4 * own.head + own.stored * own.embedding


def _known(preset: Preset, stored: int) -> WeightCounts | None:
    folder, config = local_folder(preset.target), stored and local_config(preset.target)
    try:
        return weight_counts(folder) if folder else counts_from_config(config, stored) if config else None
    except DecoderError:
        return None


def too_large(preset: Preset, dtype: str, memory_gb: float, stored: int = 0) -> str:
    """Why a preset's target does not fit a machine's memory, and what does; "" if it fits or its size is unknown.

    Args:
        stored: bytes of the weights if they are not on the disk but their size is known, else 0.
    """
    own = _known(preset, stored)
    if own is None or weight_bytes(own, dtype) <= memory_gb * 1e9:
        return ""
    smaller = [] if preset.whole else [one for one in QUANTISED if weight_bytes(own, one) <= memory_gb * 1e9]
    cure = f"take --dtype {smaller[0]} ({size(weight_bytes(own, smaller[0]))})" if smaller else "take a smaller model"
    return (
        f"its weights take {size(weight_bytes(own, dtype))} of memory in {dtype}, and this machine has "
        f"{memory_gb:.0f} GB; {cure}"
    )


def memory_by_kind(preset: Preset, stored: int = 0) -> Mapping[str, str]:
    """The memory of a preset's levels in words, by kind; empty if unknown. `stored`: see `too_large`."""
    own = _known(preset, stored)
    if own is None:
        return {}
    sizes: dict[str, str] = {}
    for kind in kinds().values():
        reads, source = kind.shares.reads, kind.shares.own and kind.shares.own.default(preset)
        if kind.placement.stands == LAST and reads is not None:
            sizes[kind.name] = f"weights {size(weight_bytes(own, 'float32'))} in float32{_cache(own)}"
        elif reads is not None and reads.weights:
            sizes[kind.name] = f"weights {size(weight_bytes(own, reads.weights))}{_cache(own)}"
        elif reads is not None and reads.depth == AT.name and isinstance(key_of(kind.name, AT.name), Whole):
            sizes |= {kind.name: _reads(own, preset.layers)} if preset.layers and kind.written is None else {}
        elif folder := source and local_folder(source):
            small = weight_counts(folder)
            sizes[kind.name] = f"weights {size(weight_bytes(small, 'float32'))} in float32{_cache(small)}"
    return sizes


def _cache(own: WeightCounts) -> str:
    return f", keys and values {size(4 * own.cache * TOKENS)} per {TOKENS:,} tokens" if own.cache else ""


def _reads(own: WeightCounts, layers: int) -> str:
    """The share of a pass's bytes that an exit after a quarter of the target's layers reads, in words."""
    quarter = max(1, layers // 4)
    share = 4 * (own.layers * quarter / layers + own.head) / own.bytes(4.0)
    return f"at layer {quarter} of {layers} it reads {share:.0%} of a pass of the target"
