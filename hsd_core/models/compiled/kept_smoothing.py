"""A model's smoothing kept in the cache: reading what goes through all layers takes 0.5 to 0.8 s of the 3.2 to 3.6 s in
which SmolLM2's default stack opens (AMD EPYC with AVX-512, two cores).

What is kept is found by a digest of the shape and of samples of the weights. Whatever numbers are found there, the
products stay the same in real numbers: they say how well 8 bits hold them.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from hsd_core.models.compiled.layer import Weights
from hsd_core.models.compiled.smoothing import LayerSmoothing, Smoothing
from hsd_core.models.lean.shape import LeanShape
from hsd_core.models.weights.errors import WeightsError
from hsd_core.models.weights.store import build

VERSION = 1  # of how smoothing is computed; another number is computed anew
SAMPLED = 4096  # bytes of each weight that the digest has
PARTS = ("attention", "values", "mlp", "inner")
WORTH = 2**20  # numbers of the embedding, below which a model is gone through as quickly as a file is opened
NEED_MB = 8.0
FILE = "smoothing.safetensors"
log = logging.getLogger(__name__)


def kept_smoothing(shape: LeanShape, opened: Weights, make: Callable[[], Smoothing]) -> Smoothing:
    """The smoothing of these weights: kept, else made and kept. A cache that cannot be written to keeps nothing."""

    if shape.vocab_size * shape.hidden < WORTH:
        return make()
    made: list[Smoothing] = []

    def written(folder: Path) -> dict[str, object]:
        made.append(make())
        save_file(_flat(made[0]), folder / FILE)
        return {"smoothing": VERSION}

    try:
        folder = build(f"smoothing-{_digest(shape, opened)}", written, need_mb=NEED_MB)
    except WeightsError as error:
        log.warning("smoothing is not kept: %s", error)
        return made[0] if made else make()
    return made[0] if made else _read(shape, load_file(folder / FILE))


def _digest(shape: LeanShape, opened: Weights) -> str:
    tensor, names = opened
    found = hashlib.sha256(f"{VERSION} {shape}".encode())
    for name in sorted(names):
        sample = tensor(name).flatten()
        found.update(f"{name} {sample.shape} {sample.dtype}".encode())
        found.update(sample[: SAMPLED // sample.element_size()].clone().view(torch.uint8).numpy().tobytes())
    return found.hexdigest()[:16]


def _flat(given: Smoothing) -> dict[str, Tensor]:
    layers = {f"{i}.{part}": getattr(layer, part) for i, layer in enumerate(given.layers) for part in PARTS}
    return {name: tensor.contiguous() for name, tensor in {**layers, "head": given.head}.items()}


def _read(shape: LeanShape, tensors: dict[str, Tensor]) -> Smoothing:
    layers = (LayerSmoothing(*(tensors[f"{i}.{part}"] for part in PARTS)) for i in range(shape.layers))
    return Smoothing(tuple(layers), tensors["head"])
