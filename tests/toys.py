"""Toy levels and stacks: tables over tiny vocabularies, in float64, that need no weights.

A stack is written in the product's own grammar (`table:2,table@rule=block`). Every `table` or `target` gets a table of
its own; `ngram` gets a drafter that names fixed tokens, as a lookup drafter does.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from hsd_core.core.level import DraftOrder, DrawnFrom, Forks, LevelAbout, Proposal, StackEntry, Work
from hsd_core.core.tree import Offer, Tree, named
from hsd_core.grammar.stack_text import parse
from hsd_core.systems.table.table_level import Table, TableLevel


def table(vocab_size: int, seed: int, *, sharpness: float = 1.3, zeros: float = 0.0) -> Table:
    """A random distribution for every prefix (a function of the whole prefix). zeros: the chance that a token is
    impossible."""
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
    """Proposes `lookup(prefix)`: fixed tokens, named and not drawn, no cache, like an n-gram drafter."""

    name = "ngram"
    can_verify = has_cache = False
    max_positions = None

    def __init__(self, lookup: Callable[[tuple[int, ...]], Sequence[int]], vocab_size: int) -> None:
        self.lookup, self.vocab_size = lookup, vocab_size
        self.about = LevelAbout(kind="ngram", label="ngram")

    def open(self, capacity: int, shared: object) -> LookupRun:
        return LookupRun(self)


class LookupRun:
    cached = 0

    def __init__(self, level: LookupLevel) -> None:
        self._level = level

    def propose(self, context: Sequence[int], order: DraftOrder) -> Proposal:
        ids: list[int] = []
        for token in self._level.lookup(tuple(context)):
            if len(ids) == order.limit or order.stops(len(ids), None):
                break
            ids.append(token)
            if token in order.ends:
                break
        return Proposal(tuple(ids), ("lookup",) * len(ids), Work(0, 0, 0))

    def score(self, context: Sequence[int], tree: Tree) -> tuple[Tensor, Work]:
        raise AssertionError("a lookup drafter was asked to verify")

    def keep(self, start: int, path: Sequence[int]) -> None:
        raise AssertionError("a drafter without a cache was rolled back")

    def observe(self, outcome: object) -> None:
        """Nothing to do."""

    def close(self) -> None:
        """Nothing to do."""


def changed(proposal: Proposal, **parts: Any) -> Proposal:
    """The proposal with other parts, also of what it was drawn from and of its forks."""
    nested = {}
    for name in ("drawn", "forks"):
        part = getattr(proposal, name)
        nested[name] = replace(part, **{field: parts.pop(field) for field in part.__slots__ if field in parts})
    return replace(proposal, **nested, **parts)


def drawn(ids: Sequence[int], rows: Tensor) -> Tree:
    """A chain of tokens that were drawn from these rows."""
    return replace(named(ids), rows=rows)


def lookup(vocab_size: int, seed: int, longest: int = 4) -> Callable[[tuple[int, ...]], Sequence[int]]:
    """A fixed proposal of 0 to `longest` tokens for every prefix."""

    def propose(prefix: tuple[int, ...]) -> Sequence[int]:
        rng = random.Random(f"lookup {seed}:{prefix}")
        return [rng.randrange(vocab_size) for _ in range(rng.randrange(longest + 1))]

    return propose


def toy_stack(text: str, vocab_size: int, seed: int = 0, **options: float) -> list[StackEntry]:
    """Seats for a stack as written, level i over `table(vocab_size, 100 * seed + i, **options)`."""
    entries = []
    for i, spec in enumerate(parse(text)):
        if spec.name == "ngram":
            level: object = LookupLevel(lookup(vocab_size, 100 * seed), vocab_size)
        else:
            level = TableLevel(table(vocab_size, 100 * seed + i, **options), vocab_size, name=spec.name)
        entries.append(StackEntry(level, spec, spec.block))  # type: ignore[arg-type]
    return entries


POLICIES = ("fixed", "flush", "confidence", "margin@theta=0.6", "adaptive")


def random_stack(rng: random.Random, *, deepest: int = 4, longest: int = 3, rules: Sequence[str] = ()) -> str:
    """The text of a random stack of 1 to `deepest` levels with block lengths 1 to `longest`."""
    depth = rng.randint(1, deepest)
    parts = []
    for i in range(depth):
        last = i == depth - 1
        part = "table" if last or i > 0 or rng.random() < 0.7 else "ngram"
        if not last:
            part += f":{rng.randint(1, longest)}@policy={rng.choice(POLICIES)}"
        if i > 0:
            part += f"@rule={rng.choice(rules or ('tokenwise', 'block'))}"
        parts.append(part + (rng.choice(("", "@bonus=0")) if part.startswith("table") else ""))
    return ",".join(parts)


def output_of(events: Sequence[object]) -> tuple[int, ...]:
    """The committed ids of a run."""
    return tuple(token.id for event in events if event.event == "commit" for token in event.tokens)  # type: ignore[attr-defined]


class TreeLevel(TableLevel):
    """A table that drafts trees: `shape` children per node of each depth.

    how: "drawn" without replacement, "repeats" with it, "named" the likeliest ones, "mixed" some drawn and, beside
    them, the likeliest one named.
    """

    can_verify = False

    def __init__(self, dist: Table, vocab_size: int, shape: Sequence[int], how: str) -> None:
        super().__init__(dist, vocab_size, name="tree")
        self.shape, self.how = shape, how

    def open(self, capacity: int, shared: object) -> TreeRun:
        return TreeRun(self)


class TreeRun:
    cached = 0  # it asks its table again each time

    def __init__(self, level: TreeLevel) -> None:
        self._level = level

    def propose(self, context: Sequence[int], order: DraftOrder) -> Proposal:
        level = self._level
        depth_most = min(order.limit, len(level.shape))
        ids, parents, rows, offers = [], [], [], list[Offer]()
        forks = [(-1, tuple(context), 0)]
        while forks:
            fork, prefix, depth = forks.pop(0)
            row = order.sampler.to_probs(level.table(prefix).log().unsqueeze(0))[0]
            children: dict[int, int] = {}  # id -> node
            for token, was_drawn in self._children(row, level.shape[depth], order, depth, 100 * (fork + 1)):
                if token not in children:
                    children[token] = len(ids)
                    ids.append(token)
                    parents.append(fork)
                    if token not in order.ends and depth + 1 < depth_most:
                        forks.append((children[token], (*prefix, token), depth + 1))
                offers.append(Offer(children[token], len(rows) if was_drawn else None))
            rows.append(row)
        dists = None if level.how == "named" else torch.stack(rows)
        sources, shape = ("tree",) * len(ids), (tuple(parents), tuple(offers), level.how == "repeats")
        return Proposal(tuple(ids), sources, Work(0, 0, 0), DrawnFrom(dists), Forks(*shape))

    def _children(self, row: Tensor, wide: int, order: DraftOrder, depth: int, number: int) -> list[tuple[int, bool]]:
        """(token, whether it was drawn) in judging order."""
        how, q, found = self._level.how, row.clone(), list[tuple[int, bool]]()
        named = row.topk(min(wide, int((row > 0).sum()))).indices.tolist()
        if how == "named":
            return [(token, False) for token in named]
        if how == "mixed":
            q[named[0]] = 0.0
        for place in range(wide - (how == "mixed")):
            if float(q.sum()) <= 0.0:
                break
            token = order.sampler.pick(q / q.sum(), depth, number + place)
            found.append((token, True))
            if how != "repeats":
                q[token] = 0.0
        return [*found, (named[0], False)] if how == "mixed" else found

    def keep(self, start: int, path: Sequence[int]) -> None:
        raise AssertionError("a drafter without a cache was rolled back")

    def observe(self, outcome: object) -> None:
        """Nothing to do."""

    def close(self) -> None:
        """Nothing to do."""


def tree_stack(
    text: str, shape: Sequence[int], how: str, vocab_size: int, seed: int = 0, **options: float
) -> list[StackEntry]:
    """As `toy_stack`, the bottom level drafting trees."""
    first, *others = toy_stack(text, vocab_size, seed, **options)
    level = TreeLevel(table(vocab_size, 100 * seed, **options), vocab_size, shape, how)
    return [StackEntry(level, replace(first.spec, block=len(shape)), len(shape)), *others]
