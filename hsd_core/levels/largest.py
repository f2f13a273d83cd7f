"""How much room a run needs beside its text, known before it begins: the largest that any of its rounds may ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from operator import mul

from hsd_core.core.entry import StackEntry
from hsd_core.grammar import scheduler_of
from hsd_core.grammar.keys import FUSE, GROW


def largest(stack: Sequence[StackEntry], longest: int | None) -> list[StackEntry]:
    """The stack as the largest of its rounds runs it.

    Args:
        longest: the largest T of a plan, where plans change between rounds: the written T count for nothing there.
            None: all levels run as they are written.
    """
    if longest is None:
        return list(stack)
    return [*(replace(entry, block=longest) for entry in stack[:-1]), *stack[-1:]]


def most_nodes(stack: Sequence[StackEntry]) -> int:
    """The most nodes that stand behind the context at once: of the bottom level's tree, and probes beside it, or what
    the target's schedule keeps ready; 0 for one that drafts chains and has no probes."""
    drafter, target = stack[0], stack[-1].spec
    depth = drafter.block or 0
    if ready := scheduler_of(target).most_nodes(target.values, depth):
        return ready
    sequences, probes = drafter.level.about.sequences, drafter.level.about.probes
    if sequences > 1 or probes:
        return sequences * depth + probes
    widths, looked_up = drafter.spec.widths, drafter.spec[FUSE] * depth
    if grown := drafter.spec.get(GROW):
        return looked_up + grown
    if not looked_up and max(widths, default=1) == 1:
        return 0
    deeper = (1,) * (depth - len(widths))  # behind the tree that is written a deeper draft goes on as lines
    nodes: int = sum(accumulate((*widths, *deeper), mul))
    return looked_up + nodes
