"""What there is to train: which states a draft reads, how large it is, how long it is trained. Data only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

LOSSES = ("kl", "rkl", "tv")  # the names of `losses.LOSSES`, here so that torch is not needed


@dataclass(frozen=True, slots=True)
class DraftShape:
    """One draft of a recipe.

    at: it reads the target's state after this share of its layers (0: the token embeddings). fed: it also reads the
    target's last state of the position before. layers: of its own. mlp_width: of their MLPs, None: as the target's.
    """

    name: str
    at: float
    fed: bool
    layers: int
    mlp_width: int | None = None

    def depth(self, layers: int) -> int:
        """The layer it reads in a model of `layers`."""
        return max(1, round(self.at * layers + 0.25)) if self.at else 0


@dataclass(frozen=True, slots=True)
class Hyperparameters:
    """How a draft is trained.

    rows: of the trimmed head. steps, batch: optimizer steps, and output tokens in each. rate: of AdamW, reached after
    `warm` steps and lowered to a tenth by a half cosine. loss: see `losses`; total variation measured best. own: how
    often a fed draft reads its own state in place of the target's. prompts: learn over the prompts too. check_every:
    steps between two validations and checkpoints. longest: positions of a text that are read.
    """

    rows: int = 8192
    steps: int = 2600
    batch: int = 512
    rate: float = 8e-4
    warm: int = 40
    decay: float = 0.01
    loss: str = "tv"
    own: float = 0.3
    prompts: bool = False
    seed: int = 0
    check_every: int = 200
    longest: int = 1152

    def check(self) -> None:
        """
        Raises:
            ValueError: a number with which nothing could be trained.
        """
        for name in ("rows", "steps", "batch", "check_every", "longest"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; use at least 1")
        if self.loss not in LOSSES:
            raise ValueError(f"loss is {self.loss!r}; use one of {', '.join(LOSSES)}")
        if not 0 < self.rate < 1:
            raise ValueError(f"rate is {self.rate}; use a learning rate between 0 and 1, such as 0.0008")


RECIPES: Mapping[str, tuple[DraftShape, ...]] = MappingProxyType(
    {
        "exits": tuple(DraftShape("exit", at, fed, 1) for fed in (True, False) for at in (1 / 8, 1 / 4)),
        "nano": (DraftShape("nano", 0.0, True, 1), DraftShape("nano", 0.0, False, 2)),
    }
)
