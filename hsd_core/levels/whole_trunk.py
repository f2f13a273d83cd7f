"""The hidden states of a model that runs whole, for drafters that read them."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from hsd_core.levels.trunk import STATE_BYTES
from hsd_core.models.decoder_protocol import Recording


class WholeTrunk:
    """States that passes recorded at marked depths in one run; nothing is recorded if none is marked.

    It holds a prefix of the context, and has no keys or values: those are in the level's cache.
    """

    resting = False

    def __init__(self, decoder: Recording, capacity: int, branches: int = 0) -> None:
        self.decoder, self.capacity = decoder, min(capacity + branches, decoder.max_positions)
        self.length = 0
        self._states: dict[int, Tensor | None] = {}

    def mark(self, depth: int, *, features_only: bool = False) -> None:
        """See `Trunk.mark`."""
        if not 1 <= depth <= self.decoder.layers:
            raise ValueError(f"depth {depth} is outside 1 to {self.decoder.layers}, the layers of the model")
        self._states.setdefault(depth, None)

    @property
    def depths(self) -> tuple[int, ...]:
        """What a pass has to record."""
        return tuple(self._states)

    def valid(self, depth: int) -> int:
        """See `Trunk.valid`."""
        return self.length

    def hidden(self, depth: int, lo: int, hi: int) -> Tensor:
        """See `Trunk.hidden`; those of the last layer are normalised, as transformers gives them."""
        states = self._states[depth]
        assert states is not None and lo <= hi <= self.length, f"positions {lo} to {hi} of {self.length}"
        return states[lo:hi]

    def put(self, start: int, states: Mapping[int, Tensor]) -> None:
        """The (n, hidden) states of positions from `start` on; what lies behind them is forgotten."""
        for depth, found in states.items():
            kept = self._states[depth]
            if kept is None:
                kept = self._states[depth] = found.new_zeros(self.capacity, found.shape[1])
            kept[start : start + len(found)] = found
            self.length = start + len(found)

    def cut(self, length: int) -> None:
        """See `Cache.cut`."""
        self.length = min(self.length, length)

    @property
    def nbytes(self) -> int:
        """Bytes of the states, and of the level's keys and values."""
        states = len(self._states) * self.capacity * self.decoder.shape.hidden * STATE_BYTES
        return states + self.decoder.cache_bytes(self.capacity)
