"""The target's hidden states over the training texts, computed once and kept on disk.

A student sees what it will see when decoding: the state after `at` layers (an exit), the last state of the position
before (a fed nano), and the law it has to match, which is the last norm and head over the last state. States are
float16 in shards of `SHARD` texts; a shard is written whole or not at all, so an interrupted pass resumes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from hsd_core.decoders.lean import LeanDecoder
from hsd_core.training.data import Example

SHARD = 64
FLOAT16_MOST = 65504.0


@dataclass(frozen=True, slots=True)
class Features:
    """One text with its states: depth -> (n, hidden) float16."""

    example: Example
    states: dict[int, Tensor]


def shard_path(folder: Path, number: int) -> Path:
    return folder / f"shard-{number:04d}.safetensors"


def compute(
    decoder: LeanDecoder,
    examples: Sequence[Example],
    depths: Iterable[int],
    folder: Path,
    *,
    shards: Iterable[int] | None = None,
    progress: Callable[[str, float, float], None] = lambda *_: None,
) -> None:
    """Write the states after each of `depths` layers for every text; shards that are there are left alone.

    Args:
        shards: only these (to share the work between processes).
    """
    folder.mkdir(parents=True, exist_ok=True)
    wanted = sorted({*depths, decoder.layers} - {0})
    numbers = list(range(-(-len(examples) // SHARD))) if shards is None else list(shards)
    for done, number in enumerate(numbers):
        progress("hidden states", done, len(numbers))
        path = shard_path(folder, number)
        if path.exists():
            continue
        tensors: dict[str, Tensor] = {}
        for i, example in enumerate(examples[number * SHARD : (number + 1) * SHARD]):
            tensors[f"{i}.ids"] = torch.tensor(example.ids, dtype=torch.int32)
            for depth, state in _states(decoder, example.ids, wanted).items():
                tensors[f"{i}.{depth}"] = state
        partial = path.with_suffix(f".{os.getpid()}.partial")
        save_file(tensors, partial)
        os.replace(partial, path)
    progress("hidden states", len(numbers), len(numbers))


@torch.inference_mode()
def _states(decoder: LeanDecoder, ids: Sequence[int], depths: Sequence[int]) -> dict[int, Tensor]:
    cache = decoder.new_cache(len(ids))
    x, lo = decoder.embed(list(ids)), 0
    states = {}
    for depth in depths:
        x = decoder.forward_layers(x, cache, 0, lo, depth)
        states[depth] = x.float().clamp(-FLOAT16_MOST, FLOAT16_MOST).half().cpu()
        lo = depth
    return states


def load(folder: Path, examples: Sequence[Example], depths: Iterable[int]) -> list[Features]:
    """The states of every text whose shard is there, only the depths asked for (0, the embeddings, needs no file).

    Raises:
        ValueError: a shard belongs to other texts.
    """
    wanted = sorted(set(depths) - {0})
    found = []
    for number in range(-(-len(examples) // SHARD)):
        path = shard_path(folder, number)
        if not path.exists():
            continue
        tensors = load_file(path)
        for i, example in enumerate(examples[number * SHARD : (number + 1) * SHARD]):
            if tensors[f"{i}.ids"].tolist() != list(example.ids):
                raise ValueError(f"{path} was computed for other texts; delete {folder} and start again")
            found.append(Features(example, {depth: tensors[f"{i}.{depth}"].clone() for depth in wanted}))
    return found
