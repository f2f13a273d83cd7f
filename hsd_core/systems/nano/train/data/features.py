"""The target's hidden states over the training texts, computed once and kept on disk.

A student reads what it will read when decoding: the state after `at` layers (an exit), the last state of the position
before (a fed nano); and it has to match the distribution of the last norm and head over the last state. States are
float16; `selfgen --states` keeps them while it writes, and missing ones are computed here, so an interrupted pass
resumes. In memory they take 2 * hidden * (1 or 2) bytes a token: 1.2 to 2.3 GB for a million tokens of SmolLM2.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from hsd_core.measure.texts.selfgen import as_half
from hsd_core.models.drafts.copying import Suffixes
from hsd_core.models.drafts.draft_file import fingerprint
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.systems.nano.train.checkpoint import opened
from hsd_core.systems.nano.train.data.texts import Sample

CURE = "delete it, and its states are computed again"
STALE = 3600.0  # seconds after which a partial file has no writer any more


@dataclass(frozen=True, slots=True)
class Features:
    """One text with its states: depth -> (n, hidden) float16. copies: (3, n) int32, for each position the token that
    could be copied, the sort of its match, and its place (see `models.drafts.copying`)."""

    example: Sample
    states: dict[int, Tensor]
    copies: Tensor

    @classmethod
    def of(cls, example: Sample, states: dict[int, Tensor]) -> Features:
        """With the copies that the text offers."""
        suffixes = Suffixes()
        suffixes.follow(example.ids)
        return cls(example, states, torch.tensor([suffixes.tokens, suffixes.sorts, suffixes.places], dtype=torch.int32))


class FeatureStore:
    """The states at some depths, and after the last layer, of all examples: a file per text.

    Args:
        depths: 0, the embeddings, needs no state. folder: may hold states of other texts or targets too.
    """

    def __init__(self, decoder: LeanDecoder, examples: Sequence[Sample], depths: Iterable[int], folder: Path) -> None:
        self._decoder, self._depths = decoder, sorted({*depths, decoder.layers} - {0})
        self._examples = examples
        self._drafts = States(decoder, folder)
        self.paths = [self._drafts.path(example.ids) for example in examples]

    @property
    def digest(self) -> str:
        """Identifies the data and the target."""
        return hashlib.sha256("".join(path.stem for path in self.paths).encode()).hexdigest()[:16]

    def compute(
        self,
        *,
        progress: Callable[[str, float, float], None] = lambda *_: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Compute what is missing; False if it was stopped between two texts.

        Raises:
            ValueError: a file of states is damaged.
        """
        self._drafts.tidy()
        for done, (example, path) in enumerate(zip(self._examples, self.paths, strict=True)):
            progress("hidden states", done, len(self.paths))
            lacking = self._drafts.lacking(path, self._depths)
            if not lacking:
                continue
            if stop():
                return False
            self._drafts.keep(example.ids, self._decoder.states(example.ids, lacking))
        progress("hidden states", len(self.paths), len(self.paths))
        return True

    def load(self, *depths: int) -> list[Features]:
        """Every example with its last states and those after `depths` layers, except 0."""
        wanted = {*depths, self._decoder.layers} - {0}
        found = []
        for example, path in zip(self._examples, self.paths, strict=True):
            with opened(path, CURE) as file:
                found.append(Features.of(example, {at: file.get_tensor(str(at)) for at in wanted}))
        return found


class States:
    """A folder of hidden states, a file per text, named by a digest of the target, its dtype and the text's ids.

    So stale states are never read, and adding a text does not affect the others. A text's last token predicts nothing
    and may have no state.
    """

    def __init__(self, decoder: LeanDecoder, folder: Path) -> None:
        self._target, self._folder = (fingerprint(decoder), decoder.dtype), folder

    def path(self, ids: Sequence[int]) -> Path:
        """The file of a text's states."""
        digest = hashlib.sha256(repr((*self._target, tuple(ids))).encode()).hexdigest()
        return self._folder / f"{digest[:24]}.safetensors"

    def lacking(self, path: Path, depths: Iterable[int]) -> list[int]:
        """The depths of these for which the file has no states."""
        if not path.exists():
            return [*depths]
        with opened(path, CURE) as file:
            held = {*file.keys()}
        return [depth for depth in depths if str(depth) not in held]

    def keep(self, ids: Sequence[int], found: dict[int, Tensor]) -> None:
        """Add a text's states, depth -> (n, hidden), to its file, atomically."""
        path = self.path(ids)
        path.parent.mkdir(parents=True, exist_ok=True)
        tensors = {str(depth): as_half(state).contiguous() for depth, state in found.items()}
        if path.exists():
            with opened(path, CURE) as file:
                tensors |= {name: file.get_tensor(name) for name in file.keys() if name not in tensors}  # noqa: SIM118
        partial = path.with_suffix(f".{os.getpid()}.partial")
        save_file(tensors, partial)
        os.replace(partial, path)

    def tidy(self) -> None:
        """Remove partial files of writers that were killed."""
        for partial in self._folder.glob("*.partial"):
            with suppress(FileNotFoundError):  # another run may tidy too
                if time.time() - partial.stat().st_mtime > STALE:
                    partial.unlink()
