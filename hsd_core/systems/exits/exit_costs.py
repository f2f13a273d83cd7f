"""The cost of a pass through the first layers, at every depth, fitted to passes that were timed at a few depths.

    T(L, n) = base(n) + L layer(n)       ms of n rows through L layers, without a head
    head(n)                              ms of the model's last norm and head on n rows

A drafting exit at L takes T(L, 1) + head(1) per token. When a verifier at L judges n - 1 tokens of an exit at l, their
first l layers are already computed, except for the last token (a drafter does not read its own last token): it takes
base(n) + l layer(1) + (L - l) layer(n) + head(n).

HiSpec's figure 5 (arXiv 2510.01336) sweeps the draft exit and the intermediate exit. Here every stack of one or two
exits has its own best block lengths by the exact recursion; the paper's baselines did not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
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
