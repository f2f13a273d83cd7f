"""Every random choice of a run goes through one `Choices` object.

The engine draws tokens and throws coins nowhere else, so a test may put an enumerator in its place and
obtain the exact law of the engine itself, not of a twin of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from torch import Tensor


class Choices(Protocol):
    def draw(self, row: Tensor) -> int:
        """A token id from a (V,) row that sums to 1."""
        ...

    def accept(self, alpha: float) -> tuple[bool, float | None]:
        """True with probability alpha, and the coin that decided it (None where nothing was left to chance)."""
        ...


class SeededChoices:
    """Uniform numbers from one generator on the CPU: the same seed gives the same run on the same kernels."""

    def __init__(self, seed: int) -> None:
        import torch

        self._generator = torch.Generator().manual_seed(seed)

    def _uniform(self) -> float:
        import torch

        return float(torch.rand((), generator=self._generator, dtype=torch.float64))

    def draw(self, row: Tensor) -> int:
        import torch

        peak, best = row.max(-1)
        if float(peak) >= 1.0:  # a one-hot row: no coin, so greedy runs consume no randomness
            return int(best)
        total = row.double().cumsum(-1)
        # Inverse CDF in float64; side="right" never picks a token of probability zero.
        at = total[-1:] * self._uniform()
        token = int(torch.searchsorted(total, at, right=True))
        if token >= row.shape[-1]:  # u * total rounded up to total: the last token with any mass
            token = int(row.nonzero()[-1])
        return token

    def accept(self, alpha: float) -> tuple[bool, float | None]:
        if alpha >= 1.0 or alpha <= 0.0:
            return alpha >= 1.0, None
        coin = self._uniform()
        return coin < alpha, coin
