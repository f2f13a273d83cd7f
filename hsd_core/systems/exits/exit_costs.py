"""The cost of a pass through the first layers, at every depth, fitted to passes that were timed at a few depths.

    T(L, n) = base(n) + L layer(n)       ms of n rows through L layers, without a head
    head(n)                              ms of the model's last norm and head on n rows

A drafting exit at L takes T(L, 1) + head(1) per token. When a verifier at L judges n - 1 tokens of an exit at l, their
first l layers are already computed, except for the last token (a drafter does not read its own last token): it takes
base(n) + l layer(1) + (L - l) layer(n) + head(n).

HiSpec's figure 5 (arXiv 2510.01336) sweeps the draft exit and the intermediate exit. Here every stack of one or two
exits has its own best block lengths by the exact recursion; the paper's baselines did not.

When would two exits pay? `maps` computes it by the exact recursion from a measured profile's costs and the acceptances
of measured runs. There a pass through L
of N layers is priced at (1 - s) + s L / N of a full pass, where s is the layers' share of it; the rest is the head and
overhead. `fitted_share` estimates s from the profile's exits.

Two maps, each with the best block lengths of every stack:

    plain   speed-up of two exits over plain decoding, by s and by the share of the upper exit's tokens that the last
            layer accepts; the other acceptances change along, each losing the same share of its misses
    one     speed-up of two exits over the best stack of one exit, by the acceptances of the last layer and of the upper
            exit; the last layer accepts the draft exit's tokens with their product, which favours two exits
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, product
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from hsd_core.measure.timed import cost_of, in_turns, ms_of
from hsd_core.theory import Profile, ProfileLevel
from hsd_core.theory.profiles.costs import Array, Costs
from hsd_core.theory.search.planner import best_block_lengths

if TYPE_CHECKING:
    from hsd_core.levels.trunk import Layered

ROWS = (1, 2, 3, 4, 6, 8, 12, 16)
REPEATS, WARM_UP = 15, 2
CHUNK = 64  # positions of a prefill pass
Records = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class ExitCosts:
    """`base`, `layer`, `head`: ms by the number of rows, in the order of `rows`."""

    layers: int
    rows: tuple[int, ...]
    base: Array
    layer: Array
    head: Array

    def drafts(self, at: int) -> Costs:
        """Of an exit's own passes: drafting, or reading tokens that no level below has run."""
        return self._costs(self.base + at * self.layer + self.head)

    def verifies(self, at: int, below: int) -> Costs:
        """Of a verification by the first `at` layers, of tokens that an exit at `below` drafted."""
        return self._costs(self.base + below * self.layer[0] + (at - below) * self.layer + self.head)

    def _costs(self, ms: Array) -> Costs:
        return Costs(self.rows, tuple(map(float, ms)))


def time_passes(
    decoder: Layered, text: Sequence[int], depths: Sequence[int], rows: Sequence[int] = ROWS, repeats: int = REPEATS
) -> list[dict[str, Any]]:
    """Median times of passes at the end of `text`, with depths and rows in turn, so that a slow minute hits all alike.

    Args:
        depths: at which passes end; the last is the model's. text: ids; its last max(rows) are the timed inputs.
    """
    import torch

    from hsd_core.models.one_pass import Pass

    cells = [*product((0, *sorted(depths)), rows)]  # 0: the head
    context = len(text) - max(rows)
    with torch.inference_mode():
        cache = decoder.new_cache(len(text) + 1)
        for start in range(0, context, CHUNK):
            part = text[start : min(start + CHUNK, context)]
            last = decoder.forward_layers(Pass(part, start, 0), cache, 0, decoder.layers)[-1]
        states, mark = last.repeat(max(rows), 1), cache.mark()

        def one(at: int, n: int) -> float:
            given = Pass(text[context : context + n], context, n)
            ms = ms_of(decoder.forward_layers, given, cache, 0, at) if at else ms_of(decoder.head, states[:n])
            cache.restore(mark)
            return ms

        found = in_turns({cell: partial(one, *cell) for cell in cells}, repeats, WARM_UP)
    return [cost_of(taken, 5, at=at, rows=n) for (at, n), taken in found.items()]


def fitted(records: Records) -> tuple[ExitCosts, float]:
    """The costs at every depth, and the median deviation of the fit from a timed pass (as a share of that pass)."""
    timed = {(r["at"], r["rows"]): float(r["ms"]) for r in records if r["what"] == "cost"}
    depths, rows = sorted({at for at, _ in timed} - {0}), sorted({n for _, n in timed})
    head = np.array([timed[0, n] for n in rows])
    lines = [np.polyfit(depths, [timed[at, n] for at in depths], 1) for n in rows]
    layer, base = np.maximum(1e-6, np.array(lines).T)
    costs = ExitCosts(depths[-1], tuple(rows), base, layer, head)
    off = [abs(base[k] + at * layer[k] - timed[at, n]) / timed[at, n] for k, n in enumerate(rows) for at in depths]
    return costs, median(off)


Agrees = Callable[[int, int], float]  # two depths -> the share of the shallower one's tokens that the deeper one keeps


def exit_profile(costs: ExitCosts, depths: tuple[int, ...], agrees: Agrees) -> Profile:
    """Exits at these depths, shallowest first, under the target, as levels of a profile."""
    all_ = (*depths, costs.layers)
    levels = tuple(ProfileLevel(f"exit {at}" if at < costs.layers else "target", costs.drafts(at)) for at in all_)
    pairs = [(j, i) for j, i in product(range(len(all_)), repeat=2) if j < i]
    matrix = [[1.0] * len(all_) for _ in all_]
    for j, i in pairs:
        matrix[j][i] = agrees(all_[j], all_[i])
    edges = {(j, i): costs.verifies(all_[i], all_[j]) for j, i in pairs}
    return Profile(levels, tuple(map(tuple, matrix)), edge_cost=edges)


def sweep(costs: ExitCosts, agrees: Agrees) -> Iterator[dict[str, Any]]:
    """Every stack of one exit, and of a draft exit under a deeper one."""
    for draft in range(1, costs.layers):
        yield _stack(exit_profile(costs, (draft,), agrees), (0, 1), draft, None)
        for above in range(draft + 1, costs.layers):
            yield _stack(exit_profile(costs, (draft, above), agrees), (0, 1, 2), draft, above)


def _stack(profile: Profile, levels: tuple[int, ...], draft: int, above: int | None) -> dict[str, Any]:
    speed_up, blocks = best_block_lengths(profile, levels)
    return {"what": "stack", "draft": draft, "above": above, "blocks": list(blocks), "speed_up": round(speed_up, 4)}


PRICED_ROWS = (1, 2, 3, 4, 5, 6, 8, 12, 16)
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
        whole = np.array([self.target(1 if ideal else n) for n in PRICED_ROWS])

        def costs(at: int, done: int = 0) -> Costs:
            ms = whole * ((1.0 - s) + s * (at - done) / self.layers) + whole[0] * s * done / self.layers
            return Costs(PRICED_ROWS, tuple(map(float, ms)))

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
