"""The protocol of decoders: next-token logits over a cache with rollback.

A decoder has read-only weights and may be shared by any number of runs; a run owns its caches. It knows token ids and
tensors, but no text, levels or sampling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

    from hsd_core.models.cache import Cache, KVCache
    from hsd_core.models.lean.shape import LeanShape
    from hsd_core.models.one_pass import Pass


QUANTISED = ("int8", "int4")  # dtypes of weights only; also the names of such copies


class DecoderError(ValueError):
    """A model that cannot be a level; the message has the reason and, if there is one, the cure."""


class Decoder(Protocol):
    """A causal language model that attends to all earlier positions, or to those in a window.

    Attributes:
        vocab_size: columns of the logits (V), after any cut to a shared vocabulary.
        layers: transformer layers.
        max_positions: the longest sequence the model was built for.
        device, dtype: of the weights ("cpu", "cuda"; "float32", "int8", ...).
    """

    vocab_size: int
    layers: int
    max_positions: int
    device: str
    dtype: str

    def new_cache(self, capacity: int, *, branches: int = 0) -> Cache:
        """A new cache for one run, for `capacity` positions and a tree of `branches` nodes after them.

        Raises:
            DecoderError: the model was not built for that many positions.
        """

    def weight_bytes(self, depth: int | None = None, *, head: bool = True) -> int:
        """Bytes of weights that a pass through the first `depth` layers (and the head) reads; None: of all weights."""

    def cache_bytes(self, capacity: int, *, branches: int = 0) -> int:
        """Bytes of a full cache of `new_cache`."""

    def forward(self, given: Pass, cache: Cache) -> torch.Tensor:
        """Process the inputs of a pass and return the logits after the last `given.wanted` of them.

        Slots from `given.start` on are overwritten, so a smaller start rolls back.

        Returns:
            (wanted, V) float32.
        Raises:
            DecoderError: the cache is too short, or another decoder's.
        """


@runtime_checkable
class Layered(Decoder, Protocol):
    """A decoder whose layers can be run in ranges: `CompiledDecoder`, `LeanDecoder`."""

    shape: LeanShape

    def new_cache(self, capacity: int, *, branches: int = 0) -> KVCache: ...

    def embed(self, ids: Sequence[int]) -> torch.Tensor: ...

    def forward_layers(
        self, given: Pass, cache: Cache, lo: int, hi: int, x: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Layers lo, ..., hi - 1 on a pass's inputs: x (n, hidden), or None for the embeddings."""
        ...

    def head(self, x: torch.Tensor) -> torch.Tensor: ...


@runtime_checkable
class Fills(Layered, Protocol):
    """A decoder whose upper layers can be left out of a pass: `CompiledDecoder`, `LeanDecoder`."""

    def fill(self, given: Pass, cache: Cache, lo: int, x: torch.Tensor) -> None:
        """Write keys and values of layers lo and above from the states x (n, hidden) after lo layers, as if these were
        the inputs of each of them (CALM, arXiv 2207.07061)."""
        ...


class WholeShape(NamedTuple):
    """Sizes of a model that runs whole; as in `LeanShape`."""

    vocab_size: int
    hidden: int
    heads: int


@runtime_checkable
class Recording(Decoder, Protocol):
    """A decoder that runs whole and can give the states between its layers: `TransformersDecoder`."""

    shape: WholeShape

    def embed(self, ids: Sequence[int]) -> torch.Tensor: ...

    def recorded(
        self, given: Pass, cache: Cache, depths: Sequence[int]
    ) -> tuple[torch.Tensor, dict[int, torch.Tensor]]:
        """`forward`, and depth -> (n, hidden) states after that many layers; after all of them: after the last norm.

        Raises:
            DecoderError: the model does not give them.
        """
        ...


@runtime_checkable
class Asked(Protocol):
    """A decoder that shows the queries of its layers: `CompiledDecoder`, `LeanDecoder`."""

    def show_queries(self) -> None:
        """Called before a run that uses `queries`; it may prepare the layers again."""

    def queries(self, token: int, position: int, cache: Cache) -> torch.Tensor:
        """(L, H, d) rotated queries of a token after the first `position` ones of a cache.

        It overwrites the slot of that position, and perhaps the next one, which must be free.
        """
