"""Toy levels and stacks: tables over tiny vocabularies, in float64, that need no weights.

A stack is written in the product's own grammar (`table:2,table@rule=block`). Every `table` or `target` gets a table of
its own; `ngram` gets a drafter that proposes fixed tokens with one-hot rows, as a lookup drafter does.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from hsd_core.levels.entry import StackEntry
from hsd_core.levels.protocol import DraftOrder, Proposal, Work
from hsd_core.levels.table import Table, TableLevel
from hsd_core.stacks import parse


def table(vocab_size: int, seed: int, *, sharpness: float = 1.3, zeros: float = 0.0) -> Table:
    """A random law for every prefix (a function of the whole prefix). zeros: the chance that a token is impossible."""
    known: dict[tuple[int, ...], Tensor] = {}

    def row(prefix: tuple[int, ...]) -> Tensor:
        if prefix not in known:
            rng = random.Random(f"{seed}:{prefix}")
            weights = [2.718 ** rng.gauss(0.0, sharpness) * (rng.random() >= zeros) for _ in range(vocab_size)]
            if not any(weights):
                weights[rng.randrange(vocab_size)] = 1.0
            known[prefix] = torch.tensor(weights, dtype=torch.float64) / sum(weights)
        return known[prefix]

    return row


class LookupLevel:
    """Proposes `lookup(prefix)`: fixed tokens, one-hot rows, no logits, no cache, like an n-gram drafter."""

    name = kind = label = "ngram"
    can_draft, can_verify, has_cache = True, False, False
    max_positions = layers = weights = None
    device, dtype = "cpu", "float64"

    def __init__(self, lookup: Callable[[tuple[int, ...]], Sequence[int]], vocab_size: int) -> None:
        self.lookup, self.vocab_size = lookup, vocab_size
        self.params: dict[str, object] = {}

    def open(self, capacity: int, commons: object) -> LookupRun:
        return LookupRun(self)


class LookupRun:
    cached = 0

    def __init__(self, level: LookupLevel) -> None:
        self._level = level

    def propose(self, tape: list[int], order: DraftOrder) -> Proposal:
        ids: list[int] = []
        for token in self._level.lookup(tuple(tape)):
            if len(ids) == order.limit or order.stops(len(ids), None):
                break
            ids.append(token)
            if token in order.ends:
                break
        rows = torch.zeros(len(ids), order.vocab_size, dtype=torch.float64)
        for t, token in enumerate(ids):
            rows[t, token] = 1.0
        return Proposal(tuple(ids), rows, ("lookup",) * len(ids), None, Work(0, 0, 0))

    def score(self, tape: Sequence[int], rows: int) -> tuple[Tensor, Work]:
        raise AssertionError("a lookup drafter was asked to verify")

    def commit(self, ids: Sequence[int]) -> None:
        """Nothing to do."""

    def rollback(self, length: int) -> None:
        raise AssertionError("a drafter without a cache was rolled back")

    def close(self) -> None:
        """Nothing to do."""


def lookup(vocab_size: int, seed: int, longest: int = 4) -> Callable[[tuple[int, ...]], Sequence[int]]:
    """A fixed proposal of 0 to `longest` tokens for every prefix."""

    def propose(prefix: tuple[int, ...]) -> Sequence[int]:
        rng = random.Random(f"lookup {seed}:{prefix}")
        return [rng.randrange(vocab_size) for _ in range(rng.randrange(longest + 1))]

    return propose


def toy_stack(text: str, vocab_size: int, seed: int = 0, **options: float) -> list[StackEntry]:
    """Seats for a stack as written, level i over `table(vocab_size, 100 * seed + i, **options)`."""
    seats = []
    for i, spec in enumerate(parse(text)):
        if spec.name == "ngram":
            level: object = LookupLevel(lookup(vocab_size, 100 * seed), vocab_size)
        else:
            level = TableLevel(table(vocab_size, 100 * seed + i, **options), vocab_size, name=spec.name)
        seats.append(StackEntry(level, spec, spec.block))  # type: ignore[arg-type]
    return seats


def random_stack(rng: random.Random, *, deepest: int = 4, longest: int = 3, rules: Sequence[str] = ()) -> str:
    """The text of a random stack of 1 to `deepest` levels with block lengths 1 to `longest`."""
    depth = rng.randint(1, deepest)
    parts = []
    for i in range(depth):
        last = i == depth - 1
        part = "table" if last or i > 0 or rng.random() < 0.7 else "ngram"
        if not last:
            part += f":{rng.randint(1, longest)}@policy={rng.choice(('fixed', 'flush', 'confidence', 'adaptive'))}"
        if i > 0:
            part += f"@rule={rng.choice(rules or ('tokenwise', 'block'))}"
        parts.append(part + (rng.choice(("", "@bonus=0")) if part.startswith("table") else ""))
    return ",".join(parts)


def output_of(events: Sequence[object]) -> tuple[int, ...]:
    """The committed ids of a run."""
    return tuple(token.id for event in events if event.event == "commit" for token in event.tokens)  # type: ignore[attr-defined]
