"""What every decoder offers: next-token logits over a cache whose rollback is a position.

A decoder holds read-only weights and may be shared by any number of runs; a run owns its caches. It knows
token ids and tensors, nothing of text, levels or sampling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

    from hsd_core.models.cache import Cache, KVCache
    from hsd_core.models.lean.shape import LeanShape
    from hsd_core.models.one_pass import Pass


QUANTISED = ("int8", "int4")  # dtypes of the weights alone, with kernels of the CPU; also the names of such copies


class DecoderError(ValueError):
    """A model that cannot be a level; the message gives the reason and, where there is one, the cure."""


class Decoder(Protocol):
    """A causal language model with full attention.

    Attributes:
        vocab_size: columns of the logits (V), after any cut to a shared vocabulary.
        layers: transformer layers.
        max_positions: the longest sequence the model was built for.
        device, dtype: where the weights are ("cpu", "cuda") and how they are kept ("float32", "int8", ...).
    """

    vocab_size: int
    layers: int
    max_positions: int
    device: str
    dtype: str

    def new_cache(self, capacity: int, *, branches: int = 0) -> Cache:
        """A fresh cache for one run, with room for `capacity` positions and so many nodes of a tree behind them.

        Raises:
            DecoderError: the model was not built for that many positions.
        """

    def weight_bytes(self, depth: int | None = None, *, head: bool = True) -> int:
        """Bytes of weights that a pass through the first `depth` layers (and the head) reads; None: that are held."""

    def cache_bytes(self, capacity: int, *, branches: int = 0) -> int:
        """Bytes of what `new_cache` gives, once it is full."""

    def forward(self, given: Pass, cache: Cache) -> torch.Tensor:
        """Feed the inputs of a pass and return the logits behind the last `given.wanted` of them.

        What lies in the slots from `given.start` on is overwritten, so rolling back is calling with a smaller start.

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
        """Layers lo, ..., hi - 1 on a pass's inputs: x (n, hidden), from the embeddings where there are none."""
        ...

    def head(self, x: torch.Tensor) -> torch.Tensor: ...


@runtime_checkable
class Asked(Protocol):
    """A decoder that shows the queries of its layers: `CompiledDecoder`, `LeanDecoder`."""

    def show_queries(self) -> None:
        """To be called before a run that asks; it may lay the layers out anew."""

    def queries(self, token: int, position: int, cache: Cache) -> torch.Tensor:
        """(L, H, d) rotated queries of a token behind the first `position` ones of a cache.

        Keys and values are written into the slot of that position, and the one behind it may be: free ones.
        """
