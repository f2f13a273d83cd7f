"""Jacobi decoding (Santilli et al. 2023, arXiv 2305.10427): guesses that the level above rewrites in each pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hsd_core.grammar.key import StackError
from hsd_core.grammar.keys import WINDOW
from hsd_core.grammar.kind import ORANGE, Kind, KindText, Look, Lookup, Origin, Placement, Planning, Site, Unplanned

if TYPE_CHECKING:
    from hsd_core.core.level import Level
    from hsd_core.grammar.preset import Preset
    from hsd_core.grammar.spec import LevelSpec


def offer(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    return [kind.entry("Jacobi decoding")]


def build(spec: LevelSpec, site: Site) -> Level:
    from hsd_core.systems.jacobi.jacobi_level import JacobiLevel

    if not spec[WINDOW]:
        raise StackError(f"{spec.name}: without a block of guesses nothing is drafted; leave @window=0 out")
    return JacobiLevel(site.tokenizer.vocab_size, spec[WINDOW])


KINDS = (
    Kind(
        name="jacobi",
        order=13,
        look=Look("J", ORANGE, "double"),
        text=KindText(
            title="Jacobi guesses",
            about="A block of guesses that each pass of the level above rewrites, until nothing changes.",
            help="No model, no store, no training. @window= is the length of the block; its first T tokens are "
            "the draft. It pays where extra rows of a pass are free and words far apart do not depend on each other.",
        ),
        keys=(WINDOW.usually(6, "tokens in the block of guesses; each pass of the level above rewrites all of them"),),
        placement=Placement(block=3, verifies=False, cheap=True, needs=frozenset({"weights"})),
        lookup=Lookup(origins=(Origin("w", "guessed by the last pass of the level above"),)),
        planning=Planning(
            unplanned=lambda spec: Unplanned(
                "Jacobi guesses, whose acceptance changes with every pass",
                "a guess is better the more often it was rewritten; calibrate lookahead, which keeps its guesses",
            )
        ),
        offer=offer,
        build=build,
    ),
)
