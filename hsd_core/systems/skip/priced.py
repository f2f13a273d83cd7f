"""What leaving out sublayers is worth: the exact recursion over a draft that costs what its weights do, and agrees as
it was read to.

It is priced for the best: the draft's pass costs no more than its share of the target's, and every token of a draft is
taken to agree as the first one does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hsd_core.measure import tables
from hsd_core.theory import Profile, ProfileLevel
from hsd_core.theory.profiles.costs import Costs
from hsd_core.theory.search.planner import best_block_lengths


def worth(target: ProfileLevel, agree: float, left: float) -> tuple[float, int]:
    """The speed-up over plain decoding of such a draft at its best block length, and that length."""
    costs = Costs(target.cost.rows, tuple(ms * left for ms in target.cost.ms))
    matrix = ((1.0, min(agree, 1.0)), (1.0, 1.0))
    profile = Profile((ProfileLevel("draft", costs), ProfileLevel("target", target.cost)), matrix)
    speed_up, blocks = best_block_lengths(profile, (0, 1))
    return speed_up, blocks[0]


def priced(target: ProfileLevel, path: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The steps of a path, each with what it would be worth."""
    found = []
    for step in path:
        speed_up, block = worth(target, float(step["agree"]), float(step["left"]))
        found.append({**step, "speed_up": round(speed_up, 4), "block": block})
    return found


def answer(path: Sequence[Mapping[str, Any]]) -> str:
    """What a priced path says, in a sentence."""
    best = max(path, key=lambda step: float(step["speed_up"]))
    count = 1 + list(path).index(best)
    gain = f"{best['speed_up']:.2f} times plain decoding"
    what = f"the best set of this path leaves out {count} sublayers and would reach {gain} at most"
    return f"Skip nothing: {what}." if best["speed_up"] <= 1.0 else f"Skip {count}: {what}."


def table(path: Sequence[Mapping[str, Any]]) -> str:
    """A row a step."""
    head = ("left out", "sublayer", "agreement", "weights read", "at best", "block")
    body = [
        (n, f"{s['kind']} {s['layer']}", f"{s['agree']:.3f}", f"{s['left']:.3f}", f"{s['speed_up']:.2f}", s["block"])
        for n, s in enumerate(path, 1)
    ]
    return tables.markdown(head, body)
