"""What a run takes of the memory: known before it begins, and bounded by the length of its text.

    weights   of all levels' models, which are held already, and of the target's store of a text
    kept      keys and values, and the hidden states that levels share
    at work   distributions and logits of tokens that are drafted and judged, attention of one piece of a prompt

Weights of trained drafts are a hundredth of their target's and are left out; so are n-gram databases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from operator import mul
from typing import TYPE_CHECKING, Any

from hsd_core.grammar import scheduler_of
from hsd_core.grammar.keys import FUSE, GROW
from hsd_core.levels.shared import SharedState, Sharing
from hsd_core.models.machine import size

if TYPE_CHECKING:
    from hsd_core.core.level import StackEntry

_ROW = 2 * 4  # bytes of a token's logit and probability, float32


def pass_bytes(level: Any) -> int | None:
    """Bytes of weights that a pass of a level reads, those of its trained draft among them: 0 for a lookup; None where
    it differs from pass to pass."""
    level = getattr(level, "drafter", level)  # of lookups and a draft in one
    if hasattr(level, "readouts") or hasattr(level, "store"):
        return None
    decoder, draft = getattr(level, "decoder", None), draft_of(level)
    if decoder is None:
        return 0
    layers = decoder.layers if level.about.layers is None else level.about.layers
    read: int = decoder.weight_bytes(layers, head=draft is None) if layers else 0
    return read + (0 if draft is None else draft.weight_bytes())


def draft_of(level: Any) -> Any:
    """What a level reads through, if it has weights of its own: a trained draft, or a trimmed head."""
    found = getattr(level, "draft", None) or getattr(level, "readout", None)
    return found if hasattr(found, "weight_bytes") else None


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes; see the top of the file."""

    weights: int
    kept: int
    at_work: int

    def __str__(self) -> str:
        return f"weights {size(self.weights)}, keys and values {size(self.kept)}, rows {size(self.at_work)}"


def of_run(stack: Sequence[StackEntry], capacity: int, *, branches: int = 0, piece: int = 1) -> Memory:
    """Of a run over a context of at most `capacity` tokens and trees of at most `branches` nodes behind it.

    Args:
        piece: positions of a prompt that go through a model at once.
    """
    shared = SharedState(capacity, branches)
    trunks: dict[int, Any] = {}
    models: dict[int, Any] = {}
    stores: dict[int, int] = {}
    kept = attention = rows = below = 0
    for entry in reversed(stack):
        level: Any = entry.level
        decoder = getattr(level, "decoder", None)
        if decoder is not None:
            models[id(decoder)] = decoder
            shape = getattr(decoder, "shape", None)
            attention = max(attention, 4 * (shape.heads + 1) * min(piece, capacity) * capacity if shape else 0)
        if (store := getattr(level, "store", None)) is not None:
            stores[id(store)] = store.nbytes
        trunk = level.enter(shared) if isinstance(level, Sharing) else None
        if trunk is not None:
            trunks[id(trunk)] = trunk
        elif decoder is not None and level.about.layers:  # through transformers, or a view: it has a cache of its own
            room = level.room(capacity) if hasattr(level, "room") else capacity  # of its own tokens, or of its part
            kept += decoder.cache_bytes(room, branches=branches)
        draft = getattr(level, "draft", None) or getattr(level, "readout", None)
        if draft is not None and decoder is not None:
            kept += decoder.cache_bytes(capacity, branches=branches) * draft.layers // decoder.layers
    for entry in stack:  # a level judges what the one below hands up, and hands up T tokens of its own
        block = max(entry.block or 0, branches if not below else 0)
        rows += (below + 1 + block) * (entry.level.vocab_size if entry.level.can_verify else 0)
        below = block
    kept += sum(trunk.nbytes for trunk in trunks.values())
    weights = sum(model.weight_bytes() for model in models.values()) + sum(stores.values())
    return Memory(weights, kept, rows * _ROW + attention)


def largest_round(stack: Sequence[StackEntry], longest: int | None) -> list[StackEntry]:
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
