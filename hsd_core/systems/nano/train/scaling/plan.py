"""Which trainings a sweep has: of nested shares of the tokens, then of other sizes at one share. Data and sums only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hsd_core.systems.nano.train.data.batches import outputs
from hsd_core.systems.nano.train.data.features import Features
from hsd_core.systems.nano.train.recipes import DraftShape, Hyperparameters

SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)  # of the output tokens
SIZES_AT = 1 / 4  # the share at which other sizes are trained
LAYERS, ROWS = (1, 2), (2048, 8192, 32768)  # own layers; rows of the trimmed head
WARM = 4  # of a training's steps at most one in so many warms up


@dataclass(frozen=True, slots=True)
class Training:
    """One of a sweep. share: of all output tokens. rows: of the trimmed head, at most."""

    share: float
    layers: int
    rows: int

    @property
    def name(self) -> str:
        """For people, in one line."""
        part = "all tokens" if self.share == 1.0 else f"1/{round(1 / self.share)} of the tokens"
        return f"{part}, {self.layers} own layer(s), {self.rows} rows"


def planned(draft: DraftShape, hyper: Hyperparameters) -> list[Training]:
    """The draft as it is at every share, and at one of them with one thing changed at a time; smaller shares first."""
    own = [Training(share, draft.layers, hyper.rows) for share in SHARES]
    base = replace(own[0], share=SIZES_AT)
    sizes = [replace(base, layers=n) for n in LAYERS] + [replace(base, rows=n) for n in ROWS]
    return sorted([*own, *(one for one in sizes if one != base)], key=lambda one: one.share)


def nested(texts: Sequence[Features], share: float) -> list[Features]:
    """The first texts that hold this share of all output tokens: a smaller share lies within every larger one."""
    wanted, found = share * sum(map(outputs, texts)), list[Features]()
    held = 0
    for text in texts:
        if held >= wanted:
            break
        found.append(text)
        held += outputs(text)
    return found


def fitted_to(hyper: Hyperparameters, texts: Sequence[Features], training: Training, epochs: int) -> Hyperparameters:
    """The same hyperparameters for these texts: as many steps as read every text `epochs` times (see `batches.order`),
    of which few warm up."""
    size = max(1, round(hyper.batch / (sum(map(outputs, texts)) / len(texts))))
    steps = epochs * math.ceil(len(texts) / size)
    return replace(hyper, steps=steps, warm=min(hyper.warm, max(1, steps // WARM)), rows=training.rows)
