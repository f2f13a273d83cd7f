"""Profiles for tests of the theory: small, random, or from a paper's figures."""

from __future__ import annotations

from typing import Any

import numpy as np

from hsd_core.theory import Costs, Profile, ProfileLevel, StackPlan


def flat(costs: tuple[float, ...], *acceptance: float, max_block: int = 32) -> Profile:
    """Costs that do not depend on the rows. `acceptance`: a01, a02, ..., a12, ... row by row."""
    size, given = len(costs), iter(acceptance)
    matrix = [[next(given) if i < j else float(i == j) for j in range(size)] for i in range(size)]
    levels = tuple(ProfileLevel(f"m{i}", Costs.constant(ms)) for i, ms in enumerate(costs))
    return Profile(levels, tuple(tuple(row) for row in matrix), max_block)


def random_profile(rng: np.random.Generator, size: int, *, steep: bool, max_block: int = 8) -> Profile:
    """`steep`: costs grow x3 to x7 a level and a_ij is the product of its neighbours'; else neither is so."""
    ms, levels = 1.0, []
    for i in range(size):
        levels.append(ProfileLevel(f"m{i}", Costs((1, 9), (ms, ms * float(rng.uniform(1.0, 1.5))))))
        ms *= float(rng.uniform(3, 7)) if steep else float(rng.uniform(1.1, 6))
    near = rng.uniform(0.72, 0.97, size)
    a = [[float(near[i:j].prod() if steep else rng.uniform(0.3, 0.97)) for j in range(size)] for i in range(size)]
    edges = {(0, size - 1): Costs.constant(0.8 * ms)} if size > 2 and rng.random() < 0.2 else {}
    return Profile(tuple(levels), tuple(map(tuple, a)), max_block, edge_cost=edges, round_ms=float(rng.uniform(0, 1)))


def behind(length: int, *, target: float = 0.01, agree: float = 0.8, budget: int = 256, **about: Any) -> Profile:
    """Invented: a lookup, a view, an 8-bit copy and a target behind so many tokens of text. A row more costs 1 ms;
    `target`: ms of a pass for each token of text, beside 10; `agree`: of the view with the target."""
    whole, view, copy = 10.0 + target * length, 12.0, 5.0 + target * length
    levels = (
        ProfileLevel("ngram", Costs.constant(0.1), "ngram", 0.5),
        ProfileLevel("view", Costs((1, 9), (view, view + 8.0)), f"view@budget={budget}"),
        ProfileLevel("int8", Costs((1, 9), (copy, copy + 8.0)), "int8"),
        ProfileLevel("target", Costs((1, 9), (whole, whole + 8.0)), "target"),
    )
    accepts = ((1.0, 0.5, 0.5, 0.5), (0.0, 1.0, agree, agree), (0.0, 0.0, 1.0, 0.9), (0.0, 0.0, 0.0, 1.0))
    told = {"preset": "smollm2", "device": "cpu", "machine": "a test", "recorded": "2026-01-01", "length": length}
    return Profile(levels, accepts, 16, about={**told, **about})


def dear(seed: float) -> dict[str, Any]:
    """A profile, as JSON, whose plans take long to find; another one for another seed."""
    levels, longest = 12, 16
    near = [[min(0.97, 0.6 + 0.4 * (j - 0.5 * i) / levels) for j in range(levels)] for i in range(levels)]
    costs = [{str(rows): 1.6**i * (1 + 0.05 * rows) for rows in range(1, longest)} for i in range(levels)]
    return {
        "levels": [{"name": f"m{i}", "cost_ms": cost} for i, cost in enumerate(costs)],
        "acceptance": near,
        "by_rule": {"block": near},
        "max_block": longest,
        "round_ms": 1.0 + seed,
    }


def random_stack(rng: np.random.Generator) -> tuple[Profile, StackPlan]:
    """2 to 5 levels, a lookup at the bottom now and then, some without a bonus."""
    size = int(rng.integers(2, 6))
    levels = []
    for i in range(size):
        ms = float(rng.uniform(0.3, 2)) * 2.5**i
        hit = float(rng.uniform(0.3, 0.9)) if i == 0 and rng.random() < 0.4 else None
        reach = (1.0, 0.8, 0.5) if hit is not None and rng.random() < 0.5 else ()
        levels.append(ProfileLevel(f"m{i}", Costs((1, 8), (ms, ms * float(rng.uniform(1, 2)))), "", hit, reach))
    profile = Profile(
        tuple(levels),
        tuple(map(tuple, rng.uniform(0.3, 0.98, (size, size)).tolist())),
        edge_cost={(0, 1): Costs.constant(1.0)} if rng.random() < 0.5 else {},
        round_ms=0.3,
    )
    blocks, bonus = rng.integers(1, 9, size - 1), rng.random(size - 1) < 0.7
    return profile, StackPlan(tuple(range(size)), tuple(blocks.tolist()), tuple(bonus.tolist()))
