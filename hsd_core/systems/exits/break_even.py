"""When would two exits pay? Maps over the layers' share of a pass and over the exits' acceptances.

Computed by the exact recursion from a measured profile's costs and the acceptances of measured runs. A pass through L
of N layers is priced at (1 - s) + s L / N of a full pass, where s is the layers' share of it; the rest is the head and
overhead. `fitted_share` estimates s from the profile's exits.

Two maps, each with the best block lengths of every stack:

    plain   speed-up of two exits over plain decoding, by s and by the share of the upper exit's tokens that the last
            layer accepts; the other acceptances change along, each losing the same share of its misses
    one     speed-up of two exits over the best stack of one exit, by the acceptances of the last layer and of the upper
            exit; the last layer accepts the draft exit's tokens with their product, which favours two exits
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from hsd_core.theory import Profile, ProfileLevel
from hsd_core.theory.profiles.costs import Costs
from hsd_core.theory.search.planner import best_block_lengths

ROWS = (1, 2, 3, 4, 5, 6, 8, 12, 16)
SHARES = tuple(round(0.6 + 0.04 * k, 2) for k in range(11))  # of a pass, the layers'
AGREEMENTS = (*(round(0.4 + 0.04 * k, 2) for k in range(15)), 0.99)
MEASURED, IDEAL = "measured", "ideal"  # costs: those of the profile; layers alone, with further rows for free
PAYS, PAPER = 1.0, 1.28  # HiSpec over single-layer speculation, on average (arXiv 2510.01336)


@dataclass(frozen=True, slots=True)
class Setting:
    """Two exits of a measured target.

    Attributes:
        target: cost of a full pass by rows. depths: of both exits. share: the layers' share of a pass.
        inner: share of the draft exit's tokens that the upper exit accepts. upper: share of the upper exit's tokens
            that the last layer accepts. alone: share of the draft exit's tokens that the last layer accepts.
    """

    target: Costs
    depths: tuple[int, int]
    layers: int
    share: float
    inner: float
    upper: float
    alone: float

    def profile(self, share: float | None = None, *, ideal: bool = False) -> Profile:
        """The exits and the target as levels. ideal: all rows of a pass at the price of one."""
        s = self.share if share is None else share
        whole = np.array([self.target(1 if ideal else n) for n in ROWS])

        def costs(at: int, done: int = 0) -> Costs:
            ms = whole * ((1.0 - s) + s * (at - done) / self.layers) + whole[0] * s * done / self.layers
            return Costs(ROWS, tuple(map(float, ms)))

        all_ = (*self.depths, self.layers)
        named = zip(("draft", "upper", "target"), all_, strict=True)
        levels = tuple(ProfileLevel(name, costs(at)) for name, at in named)
        edges = {(j, i): costs(all_[i], all_[j]) for j, i in ((0, 1), (0, 2), (1, 2))}
        matrix = ((1.0, self.inner, self.alone), (0.0, 1.0, self.upper), (0.0, 0.0, 1.0))
        return Profile(levels, matrix, edge_cost=edges)

    def accepting(self, inner: float, upper: float, alone: float) -> Setting:
        return Setting(self.target, self.depths, self.layers, self.share, inner, upper, alone)

    def moved(self, upper: float) -> Setting:
        """The setting with another acceptance of the upper exit; the others lose the same share of their misses."""
        k = (1.0 - upper) / (1.0 - self.upper)
        return self.accepting(1.0 - k * (1.0 - self.inner), upper, 1.0 - k * (1.0 - self.alone))


def fitted_share(profile: Profile, exits: dict[int, int], layers: int) -> float:
    """The layers' share of a pass, by least squares over one-row passes of the exits. exits: index in the profile ->
    depth."""
    whole = profile.levels[-1].cost(1)
    x = np.array([at / layers - 1.0 for at in exits.values()])
    y = np.array([profile.levels[i].cost(1) / whole - 1.0 for i in exits])
    return float(np.clip((x @ y) / (x @ x), 0.0, 1.0))


def two_over_one(profile: Profile) -> tuple[float, float]:
    """The speed-ups over plain decoding of both exits together, and of the better one alone, in a setting's profile."""
    return best_block_lengths(profile, (0, 1, 2))[0], max(
        best_block_lengths(profile, levels)[0] for levels in ((0, 2), (1, 2))
    )


def maps(today: Setting) -> Iterator[dict[str, Any]]:
    """The rows of both maps; the second map once with measured and once with ideal costs."""
    for share in SHARES:
        z = [best_block_lengths(today.moved(a).profile(share), (0, 1, 2))[0] for a in AGREEMENTS]
        yield _row("plain", MEASURED, share, z)
    for costs in (MEASURED, IDEAL):
        for inner in AGREEMENTS:
            z = []
            for upper in AGREEMENTS:
                there = today.accepting(inner, upper, inner * upper)
                two, one = two_over_one(there.profile(None if costs == MEASURED else 1.0, ideal=costs == IDEAL))
                z.append(two / one)
            yield _row("one", costs, inner, z)


def _row(name: str, costs: str, y: float, z: list[float]) -> dict[str, Any]:
    return {"what": "needed", "map": name, "costs": costs, "y": y, "x": list(AGREEMENTS), "z": [round(v, 4) for v in z]}


def reached(x: list[float], z: list[float], level: float) -> float | None:
    """The x from which on a row of a map stays at `level` or above, interpolated linearly; None if it never does."""
    if z[-1] < level:
        return None
    found = x[0]
    for (a, at_a), (b, at_b) in pairwise(zip(x, z, strict=True)):
        if at_a < level <= at_b:
            found = a + (b - a) * (level - at_a) / (at_b - at_a)
    return found
