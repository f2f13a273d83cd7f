"""What every decoder offers: next-token logits over a cache whose rollback is a position.

A decoder holds read-only weights and may be shared by any number of runs; a run owns its caches. It knows
token ids and tensors, nothing of text, levels or sampling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import torch


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

    def new_cache(self, capacity: int) -> Any:
        """A fresh cache for one run, with room for `capacity` positions."""

    def forward(self, ids: list[int], cache: Any, start: int, rows: int) -> torch.Tensor:
        """Feed `ids` at positions start, start + 1, ... and return the logits after the last `rows` of them.

        Input t sees cache[0:start] and inputs <= t. Positions from `start` on are overwritten, so rolling back
        is calling with a smaller start.

        Returns:
            (rows, V) float32; row i is the law of the token that follows input len(ids) - rows + i.
        Raises:
            DecoderError: the cache is too short for start + len(ids).
        """
