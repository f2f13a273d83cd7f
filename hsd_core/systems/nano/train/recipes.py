"""The drafts that can be trained: the states they read, their sizes, their training. Data only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

LOSSES = ("kl", "rkl", "tv")  # the names of `evaluation.LOSSES`, without importing torch


@dataclass(frozen=True, slots=True)
class DraftShape:
    """One draft of a recipe.

    at: it reads the target's state after this share of the layers (0: the token embeddings). fed: it also reads the
    target's last state of the position before. layers: its own; 0: heads over what it is fed. mlp_width: of their MLPs;
    None: the target's. joins: it is fed the joined states after these shares of the layers (1: the last); empty: the
    last only. ahead: tokens predicted in one pass. gated: the fed state and the embedding are mixed by a gate
    (Dovetail's DGF) instead of concatenated. window: it attends to this many of its own positions, and to the keys and
    values of the target's last layer (LongSpec); 0: to all of its own, and to no others. states: its layers keep
    running states instead of keys and values (Mamba-2's form; STree). masked: the tokens of one pass see each other,
    known or masked (SpecDiff).
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
    states: bool = False
    masked: bool = False

    def depth(self, layers: int) -> int:
        """The layer whose state it reads in a model of `layers` layers."""
        return _after(self.at, layers)

    def joined(self, layers: int) -> tuple[int, ...]:
        """The layers whose states it is fed, in a model of `layers` layers; empty: the last only."""
        return tuple(_after(share, layers) for share in self.joins)

    def depths(self, layers: int) -> tuple[int, ...]:
        """The layers whose states training needs besides the last; the last layer's keys and values come from the state
        before it."""
        return (self.depth(layers), *self.joined(layers), *(layers - 1,) * bool(self.window))

    def title(self, layers: int) -> str:
        """Its file's name behind the preset."""
        marks = {"-masked": self.masked, "-ahead": self.ahead > 1, "-joined": bool(self.joins), "-gated": self.gated}
        how = next((name for name, so in marks.items() if so), "-fed") if self.layers else ""
        long = "-long" if self.window else "-states" if self.states else ""
        return f"{self.name}{self.depth(layers) or ''}{how if self.fed else long}"

    def named(self) -> dict[str, Any]:
        """Its fields without those at their defaults, so that names of trainings stay the same when fields are
        added."""
        usual = {
            "mlp_width": None,
            "joins": (),
            "ahead": 1,
            "gated": False,
            "window": 0,
            "states": False,
            "masked": False,
        }
        return {key: value for key, value in asdict(self).items() if key not in usual or value != usual[key]}


def _after(share: float, layers: int) -> int:
    return max(1, round(share * layers + 0.25)) if 0 < share < 1 else layers if share else 0


@dataclass(frozen=True, slots=True)
class Hyperparameters:
    """How a draft is trained.

    rows: of the trimmed head. steps, batch: optimizer steps, and output tokens in each. rate: of AdamW, reached after
    `warm` steps, then lowered to a tenth by a half cosine. loss: see `evaluation.LOSSES`; total variation measured
    best. own: the share of states for which a fed draft reads its own in place of the target's. unroll: train over this
    many of its own steps instead (EAGLE-3); None: three if states are joined, else one. prompts: learn over the prompts
    too. check_every: steps between validations and checkpoints. longest: positions of a text that are read.
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
            ValueError: a value that training cannot use.
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
        "more-exits": tuple(DraftShape("exit", at, False, 1) for at in (1 / 16, 1 / 5, 2 / 5, 8 / 15)),
        "nano": (DraftShape("nano", 0.0, True, 1), DraftShape("nano", 0.0, False, 2)),
        "joined": (DraftShape("nano", 0.0, True, 1, joins=(0.07, 0.5, 1.0)),),
        "ahead": (DraftShape("nano", 0.0, True, 1, ahead=4),),
        "masked": (DraftShape("nano", 0.0, True, 1, ahead=4, masked=True),),
        "gated": (DraftShape("nano", 0.0, True, 1, gated=True),),
        "long": (DraftShape("nano", 0.0, False, 1, window=512),),
        "states": (DraftShape("nano", 0.0, False, 2, states=True),),
        "medusa": (DraftShape("medusa", 0.0, True, 0, mlp_width=768, ahead=4),),
    }
)
