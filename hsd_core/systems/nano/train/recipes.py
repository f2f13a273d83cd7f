"""What there is to train: which states a draft reads, how large it is, how long it is trained. Data only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

LOSSES = ("kl", "rkl", "tv")  # the names of `losses.LOSSES`, here so that torch is not needed


@dataclass(frozen=True, slots=True)
class DraftShape:
    """One draft of a recipe.

    at: it reads the target's state after this share of its layers (0: the token embeddings). fed: it also reads the
    target's last state of the position before. layers: of its own; 0: heads alone, over what it is fed. mlp_width: of
    their MLPs, None: as the target's. joins: what it is fed is made of the states after these shares of the layers (1:
    the last), none: of the last alone. ahead: how many tokens it says in one pass. gated: what it is fed and the
    embedding are weighed by a gate (Dovetail's DGF), not read side by side. window: it attends to so many positions of
    its own, and to the keys and values of the target's last layer (LongSpec); 0: to all of its own, and to no others.
    """

    name: str
    at: float
    fed: bool
    layers: int
    mlp_width: int | None = None
    joins: tuple[float, ...] = ()
    ahead: int = 1
    gated: bool = False
    window: int = 0

    def depth(self, layers: int) -> int:
        """The layer it reads in a model of `layers`."""
        return _after(self.at, layers)

    def joined(self, layers: int) -> tuple[int, ...]:
        """The layers whose states it is fed, in a model of `layers`; none where that is the last alone."""
        return tuple(_after(share, layers) for share in self.joins)

    def depths(self, layers: int) -> tuple[int, ...]:
        """The layers whose states it is trained on, beside the last: the last layer's keys and values are made of those
        before it."""
        return (self.depth(layers), *self.joined(layers), *(layers - 1,) * bool(self.window))

    def title(self, layers: int) -> str:
        """What its file is called beside the preset."""
        told = {"-ahead": self.ahead > 1, "-joined": bool(self.joins), "-gated": self.gated}
        how = next((name for name, so in told.items() if so), "-fed") if self.layers else ""
        long = "-long" if self.window else ""
        return f"{self.name}{self.depth(layers) or ''}{how if self.fed else long}"

    def named(self) -> dict[str, Any]:
        """Its fields but for those that do not say anything: what trainings and results are named by stays the same
        when more can be asked for."""
        usual = {"mlp_width": None, "joins": (), "ahead": 1, "gated": False, "window": 0}
        return {key: value for key, value in asdict(self).items() if key not in usual or value != usual[key]}


def _after(share: float, layers: int) -> int:
    return max(1, round(share * layers + 0.25)) if 0 < share < 1 else layers if share else 0


@dataclass(frozen=True, slots=True)
class Hyperparameters:
    """How a draft is trained.

    rows: of the trimmed head. steps, batch: optimizer steps, and output tokens in each. rate: of AdamW, reached after
    `warm` steps and lowered to a tenth by a half cosine. loss: see `losses`; total variation measured best. own: how
    often a fed draft reads its own state in place of the target's. unroll: of how many of its own steps it learns
    instead (EAGLE-3), three without it where states are joined. prompts: learn over the prompts too. check_every: steps
    between two validations and checkpoints. longest: positions of a text that are read.
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
    unroll: int | None = None

    def named(self) -> dict[str, Any]:
        """See `DraftShape.named`."""
        return {key: value for key, value in asdict(self).items() if value is not None}

    def check(self) -> None:
        """
        Raises:
            ValueError: a number with which nothing could be trained.
        """
        for name in ("rows", "steps", "batch", "check_every", "longest", "unroll"):
            if (count := getattr(self, name)) is not None and count < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; use at least 1")
        if self.loss not in LOSSES:
            raise ValueError(f"loss is {self.loss!r}; use one of {', '.join(LOSSES)}")
        if not 0 < self.rate < 1:
            raise ValueError(f"rate is {self.rate}; use a learning rate between 0 and 1, such as 0.0008")


RECIPES: Mapping[str, tuple[DraftShape, ...]] = MappingProxyType(
    {
        "exits": tuple(DraftShape("exit", at, fed, 1) for fed in (True, False) for at in (1 / 8, 1 / 4)),
        "nano": (DraftShape("nano", 0.0, True, 1), DraftShape("nano", 0.0, False, 2)),
        "joined": (DraftShape("nano", 0.0, True, 1, joins=(0.07, 0.5, 1.0)),),
        "ahead": (DraftShape("nano", 0.0, True, 1, ahead=4),),
        "gated": (DraftShape("nano", 0.0, True, 1, gated=True),),
        "long": (DraftShape("nano", 0.0, False, 1, window=512),),
        "medusa": (DraftShape("medusa", 0.0, True, 0, mlp_width=768, ahead=4),),
    }
)
