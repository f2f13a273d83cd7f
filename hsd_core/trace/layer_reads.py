"""Weight reads: how often a run streamed the model's layers through the processor, round by round.

At a few rows a pass, decoding costs what reading the weights costs, whatever the rows. A trace says which layers each
pass ran (`ran`); here they are added up. What an early exit saves is then plain: after g tokens drafted behind layer d
of L, a verification that wants a bonus token runs the first d layers on the last drafted token too, so it reads all L;
without a bonus it goes on from d and reads L - d.

Only the model's own layers are counted. A trained draft's few layers and its trimmed head are not: its read-out counts
as one head.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hsd_core.trace import Commit, Draft, Event, Verify


@dataclass(frozen=True, slots=True)
class Reads:
    """One round. `layers`: layers read, each as often as it was; `heads`: read-outs; `passes`: both in full passes."""

    round: int
    layers: int
    heads: int
    committed: int
    passes: float


def layers_read(event: Draft | Verify) -> int:
    """How many layers one call read."""
    return sum(span.hi - span.lo for span in event.ran)


def weight_reads(events: Iterable[Event], layers: int, head_layers: float) -> tuple[Reads, ...]:
    """What a run read in each round, the prefill left out.

    Levels that tell no layers (lookups, nano drafts, models outside our own decoder) count nothing here.

    Args:
        layers: of the model. head_layers: what its head costs, in layers (Llama-2-7B 0.65, Llama-3-8B 2.4).
    """
    rounds: dict[int, list[int]] = {}
    for event in events:
        if isinstance(event, (Draft, Verify)):
            count = rounds.setdefault(event.round, [0, 0, 0])
            count[0] += layers_read(event)
            if event.ran:
                count[1] += event.forwards if isinstance(event, Draft) else 1
        elif isinstance(event, Commit):
            rounds.setdefault(event.round, [0, 0, 0])[2] += len(event.tokens)
    whole = layers + head_layers
    return tuple(Reads(r, n, heads, kept, (n + heads * head_layers) / whole) for r, (n, heads, kept) in rounds.items())
