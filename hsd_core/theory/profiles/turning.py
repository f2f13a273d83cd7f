"""A profile with other numbers: what a level would cost, or how often it would be accepted."""

from __future__ import annotations

from dataclasses import replace

from hsd_core.theory.profiles.profile import Matrix, Profile, ProfileLevel


def dearer(profile: Profile, index: int, factor: float) -> Profile:
    """A level whose every pass takes so many times as long, as a drafter and as a verifier, over layers of its own or
    shared ones."""

    def times(level: ProfileLevel) -> ProfileLevel:
        draft = None if level.draft_ms is None else level.draft_ms * factor
        return replace(level, cost=level.cost.scaled(factor), draft_ms=draft)

    levels = tuple(times(level) if i == index else level for i, level in enumerate(profile.levels))
    edges = {pair: costs.scaled(factor) if pair[1] == index else costs for pair, costs in profile.edge_cost.items()}
    return replace(profile, levels=levels, edge_cost=edges)


def agreeing(profile: Profile, below: int, level: int, share: float) -> Profile:
    """A level that accepts so many of another's tokens (0 to 1) under every rule. How often it accepts one of several
    side by side is not known then."""

    def moved(rows: Matrix) -> Matrix:
        return tuple(
            tuple(share if (i, j) == (below, level) else a for j, a in enumerate(row)) for i, row in enumerate(rows)
        )

    return replace(
        profile,
        acceptance=moved(profile.acceptance),
        by_rule={rule: moved(rows) for rule, rows in profile.by_rule.items()},
        by_width={pair: shares for pair, shares in profile.by_width.items() if pair != (below, level)},
    )
