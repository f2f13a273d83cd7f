"""The target's hidden states over the training texts, computed once and kept on disk.

A student sees what it will see when decoding: the state after `at` layers (an exit), the last state of the position
before (a fed nano), and the law it has to match, which is the last norm and head over the last state. States are
float16 in shards of `SHARD` texts. A shard's name is a digest of its texts, the target, its dtype and the depths, so
nothing stale is ever read; it is written whole or not at all, so an interrupted pass resumes. In memory they take
2 * hidden * (2 or 3) bytes a token: 2.3 to 3.5 GB for a million tokens of SmolLM2.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from hsd_core.decoders.lean import CHUNK, LeanDecoder
from hsd_core.drafts.file import fingerprint
from hsd_core.training.data import Example

SHARD = 64
FLOAT16_MOST = 65504.0


@dataclass(frozen=True, slots=True)
class Features:
    """One text with its states: depth -> (n, hidden) float16."""

    example: Example
    states: dict[int, Tensor]


class Store:
    """The states after some depths, and after the last layer, of all examples.

    Args:
        depths: 0, the embeddings, needs no state. folder: shards of other data or targets may lie in it too.
    """

    def __init__(self, decoder: LeanDecoder, examples: Sequence[Example], depths: Iterable[int], folder: Path) -> None:
        self._decoder, self._depths = decoder, sorted({*depths, decoder.layers} - {0})
        self._parts = [examples[lo : lo + SHARD] for lo in range(0, len(examples), SHARD)]
        self.paths = [folder / f"{self._digest(part)}.safetensors" for part in self._parts]

    @property
    def digest(self) -> str:
        """Names the data and the target."""
        return hashlib.sha256("".join(path.stem for path in self.paths).encode()).hexdigest()[:16]

    def compute(
        self,
        *,
        progress: Callable[[str, float, float], None] = lambda *_: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Compute what is missing; False if it was stopped between two shards."""
        for done, (part, path) in enumerate(zip(self._parts, self.paths, strict=True)):
            progress("hidden states", done, len(self.paths))
            if path.exists():
                continue
            if stop():
                return False
            path.parent.mkdir(parents=True, exist_ok=True)
            tensors: dict[str, Tensor] = {}
            for i, example in enumerate(part):
                for depth, state in states(self._decoder, example.ids, self._depths).items():
                    tensors[f"{i}.{depth}"] = _half(state)
            partial = path.with_suffix(f".{os.getpid()}.partial")
            save_file(tensors, partial)
            os.replace(partial, path)
        progress("hidden states", len(self.paths), len(self.paths))
        return True

    def load(self, depth: int) -> list[Features]:
        """Every example with its last states and, if it is not 0, those after `depth` layers."""
        wanted = {depth, self._decoder.layers} - {0}
        found = []
        for part, path in zip(self._parts, self.paths, strict=True):
            tensors = load_file(path)
            for i, example in enumerate(part):
                found.append(Features(example, {at: tensors[f"{i}.{at}"].clone() for at in wanted}))
        return found

    def _digest(self, part: Sequence[Example]) -> str:
        named = (fingerprint(self._decoder), self._decoder.dtype, self._depths, [e.ids for e in part])
        return hashlib.sha256(repr(named).encode()).hexdigest()[:24]


@torch.inference_mode()
def states(decoder: LeanDecoder, ids: Sequence[int], depths: Sequence[int]) -> dict[int, Tensor]:
    """depth -> (n, hidden) states of one text, for rising depths."""
    cache = decoder.new_cache(len(ids))
    found: dict[int, list[Tensor]] = {depth: [] for depth in depths}
    for start in range(0, len(ids), CHUNK):
        x, lo = decoder.embed(list(ids[start : start + CHUNK])), 0
        for depth in depths:
            x, lo = decoder.forward_layers(x, cache, start, lo, depth), depth
            found[depth].append(x)
    return {depth: torch.cat(parts) for depth, parts in found.items()}


def _half(state: Tensor) -> Tensor:
    # the first position's states are far larger than any other's, and may not become infinite
    return state.float().clamp(-FLOAT16_MOST, FLOAT16_MOST).half().cpu()
