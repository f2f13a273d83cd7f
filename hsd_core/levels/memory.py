"""The memory of a run, an upper bound that is known before it begins.

    weights   of all levels' models, which are loaded already, and of the target's store of a text
    kept      keys and values, and the hidden states that levels share
    at_work   distributions and logits of tokens that are drafted and judged, attention of one chunk of a prompt

Weights of public drafters are counted. Those of the drafts in assets are a hundredth of their target's and are not; nor
are n-gram databases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from operator import mul
from typing import TYPE_CHECKING, Any, NamedTuple

from hsd_core.grammar import scheduler_of
from hsd_core.grammar.keys import FUSE, GROW
from hsd_core.levels.shared import SharedState, Sharing
from hsd_core.models.machine import refuse, size

if TYPE_CHECKING:
    from hsd_core.core.level import StackEntry

_ROW = 2 * 4  # bytes of a token's logit and probability, float32


class Beside(NamedTuple):
    """What a level has in memory beside its decoder, as its attribute `store`; its passes differ."""

    nbytes: int


def pass_bytes(level: Any) -> int | None:
    """Bytes of weights that a pass of a level reads, including its trained draft: 0 for a lookup; None if passes
    differ."""
    level = getattr(level, "drafter", level)  # of a level that fuses lookups and a draft
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
    """Bytes; see the module's docstring."""

    weights: int
    kept: int
    at_work: int

    def __str__(self) -> str:
        return f"weights {size(self.weights)}, keys and values {size(self.kept)}, rows {size(self.at_work)}"


def of_run(stack: Sequence[StackEntry], capacity: int, *, branches: int = 0, piece: int = 1) -> Memory:
    """The memory of a run over a context of at most `capacity` tokens and trees of at most `branches` nodes after it.

    Args:
        piece: positions of a prompt in one chunk.
    """
    shared = SharedState(capacity, branches)
    trunks: dict[int, Any] = {}
    models: dict[int, Any] = {}
    stores: dict[int, int] = {}
    drafters: dict[int, int] = {}
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
        elif decoder is not None and level.about.layers:  # through transformers, or a view: it has its own cache
            room = level.room(capacity) if hasattr(level, "room") else capacity  # own tokens, or a part
            kept += decoder.cache_bytes(room, branches=branches)
        draft = getattr(level, "draft", None) or getattr(level, "readout", None)
        drafters[id(draft)] = getattr(draft, "nbytes", 0)
        if draft is not None and decoder is not None:
            kept += decoder.cache_bytes(capacity, branches=branches) * draft.layers // decoder.layers
    for entry in stack:  # a level judges the block from below, and hands up T tokens
        block = max(entry.block or 0, branches if not below else 0)
        rows += (below + 1 + block) * (entry.level.vocab_size if entry.level.can_verify else 0)
        below = block
    kept += sum(trunk.nbytes for trunk in trunks.values())
    weights = sum(model.weight_bytes() for model in models.values()) + sum(stores.values()) + sum(drafters.values())
    return Memory(weights, kept, rows * _ROW + attention)


def largest_round(stack: Sequence[StackEntry], longest: int | None) -> list[StackEntry]:
    """The stack with the T of its largest round.

    Args:
        longest: the largest T of a plan, if plans change between rounds; None: the stack's own T.
    """
    if longest is None:
        return list(stack)
    return [*(replace(entry, block=longest) for entry in stack[:-1]), *stack[-1:]]


def most_nodes(stack: Sequence[StackEntry]) -> int:
    """The most nodes after the context at once: of the bottom level's tree and its probes, or the candidates that the
    target's schedule keeps ready; 0 for chains without probes."""
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
    deeper = (1,) * (depth - len(widths))  # below the given widths every path continues as a line
    nodes: int = sum(accumulate((*widths, *deeper), mul))
    return looked_up + nodes


def of_entries(entries: list[StackEntry], tokens: int, longest: int | None) -> Memory:
    """What a run takes over a text of so many tokens, prompt included, cut to the target's context.

    Args:
        longest: the largest T of a plan, where the run is planned again between rounds.
    """
    from hsd_core.core.run import PREFILL_CHUNK

    room = entries[-1].level.max_positions or tokens
    entries = largest_round(entries, longest)
    return of_run(entries, min(tokens, room), branches=most_nodes(entries), piece=PREFILL_CHUNK)


def refuse_too_large(entries: list[StackEntry], tokens: int, longest: int | None, free: int | None) -> None:
    """
    Raises:
        TooLarge: `free` bytes do not hold such a run; the message has both figures.
    """
    memory = of_entries(entries, tokens, longest)
    what = f"a run over {tokens} tokens ({memory}, of which the weights are loaded)"
    refuse(memory.kept + memory.at_work, free, what, "ask for fewer tokens, or take fewer levels")
