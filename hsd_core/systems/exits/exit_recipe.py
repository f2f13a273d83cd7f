"""The recipe of a target whose first layers learn to speak (LayerSkip, arXiv 2404.16710, section 4). Imports no torch.

Layer dropout: layer l of L is skipped, for each text by itself, with probability

    p(t, l) = p_max D(l) S(t),   D(l) = 2^(l / (L - 1)) - 1,   S(t) = 2^(t / (T - 1)) - 1   at step t of T

Exit loss: the mean over layers of the cross-entropy through the model's own head, with weights C(t, l) e(l),

    e(l) = e_scale (0 + 1 + ... + l)  for l < L - 1,   e(L - 1) = L - 1 + e_scale (0 + 1 + ... + (L - 2))

and a rotational curriculum: C(t, l) is 1 for the last layer and for those with l = t modulo `rotate`, else 0.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExitRecipe:
    """Sizes of the target, and how it is trained. dropout: p_max; exits: e_scale, 0 for a target whose last layer alone
    learns; rotate: layers between two exits that learn in one step."""

    layers: int = 8
    hidden: int = 128
    heads: int = 4
    steps: int = 1500
    batch: int = 16
    length: int = 128
    rate: float = 2e-3
    dropout: float = 0.1
    exits: float = 0.2
    rotate: int = 4
    seed: int = 0

    def check(self) -> None:
        """
        Raises:
            ValueError: a size that training cannot use.
        """
        for name in ("layers", "hidden", "heads", "steps"):
            if (size := getattr(self, name)) < 1:
                raise ValueError(f"--{name} {size}; use at least 1")
        if self.hidden % (2 * self.heads):
            raise ValueError(
                f"--hidden {self.hidden} is not an even width for each of {self.heads} heads; use 128 and 4"
            )

    def skipped(self, step: int) -> list[float]:
        """p(t, l) of every layer."""
        late = 2 ** (step / max(1, self.steps - 1)) - 1
        return [self.dropout * late * (2 ** (layer / max(1, self.layers - 1)) - 1) for layer in range(self.layers)]

    def weights(self, step: int) -> list[float]:
        """The share of every layer in the loss."""
        last = self.layers - 1
        if not self.exits:
            return [0.0] * last + [1.0]
        scale = [self.exits * sum(range(layer + 1)) for layer in range(last)]
        scale.append(last + self.exits * sum(range(last)))
        on = [layer == last or layer % self.rotate == step % self.rotate for layer in range(self.layers)]
        total = sum(e for e, so in zip(scale, on, strict=True) if so)
        return [e * so / total for e, so in zip(scale, on, strict=True)]
