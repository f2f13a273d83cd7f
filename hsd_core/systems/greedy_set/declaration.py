"""`@draw=set`: of several candidates for one place all but one are the likeliest, and one is drawn from the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hsd_core.grammar.key import BOTTOM, Choice
from hsd_core.grammar.keys import GROW, TREE
from hsd_core.grammar.kind import Site, Unplanned
from hsd_core.grammar.registry import Extension

if TYPE_CHECKING:
    from hsd_core.core.level import Level
    from hsd_core.grammar.spec import LevelSpec

DRAW = Choice(
    name="draw",
    place=6,
    counts=BOTTOM,
    of=(TREE.name, GROW.name),
    choices=("set",),
    terms={"set": "the likeliest and one drawn"},
    noted="{}",
)


def build(spec: LevelSpec, site: Site, plain: Callable[[LevelSpec, Site], Level]) -> Level:
    """The level, drafting greedy sets."""
    from hsd_core.systems.greedy_set.set_level import SetLevel

    return SetLevel(plain(spec, site))


EXTENDS = tuple(
    Extension(
        of=kind,
        keys=(DRAW,),
        build=build,
        help="@draw=set offers the likeliest candidates of a tree and one drawn from the others (Optimal MDSD).",
        unplanned=Unplanned(
            "@draw=set, another way to draw a tree",
            f"profiles know trees that are drawn token by token; calibrate {kind} without @draw=",
        ),
    )
    for kind in ("exit", "model", "nano", "table")
)
