"""The best stack of one exit and of two under a target, priced by the exact recursion.

HiSpec's figure 5 (arXiv 2510.01336) sweeps the draft exit and the intermediate exit. Each stack has its own best block
lengths here, a stack of one exit as one of two, of those tried, which the paper's baselines had not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

from hsd_core.systems.exits.exit_costs import ExitCosts
from hsd_core.theory import Profile, ProfileLevel
from hsd_core.theory.search.planner import best_block_lengths

Agrees = Callable[[int, int], float]  # of two depths: the share of the shallower one's tokens that the deeper one keeps


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
