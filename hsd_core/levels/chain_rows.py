"""A tree's rows as a chain has them, bit for bit: for a target that rounds the inputs of its products.

In a tree a node's ancestors lie apart in the cache, so its attention adds them up in another order than plain decoding
does. In float32 that changes a row's last bits. A copy in 8 or 4 bits rounds its inputs behind that: what falls on the
other side of a step changes logits by some hundredths, and now and then a first choice. The first nodes in their order
(a chain beside which probes or other branches lie) are added up as ever; others are read again as a chain.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from hsd_core.core.level import Outcome, Scorer, Work, score_by_branches, score_ids
from hsd_core.core.notes import Note
from hsd_core.core.tree import NOTHING, Tree, named
from hsd_core.models.context import Context
from hsd_core.models.one_pass import in_order
from hsd_core.models.sampling import likeliest


class ChainRows:
    """The state of such a target in one run. greedy: only rows along its first choices decide, so the pass over a tree
    is followed by another where they leave its first nodes; otherwise each branch is read by itself.
    """

    def __init__(self, run: Scorer, *, greedy: bool) -> None:
        self._run, self._greedy = run, greedy
        self._line: tuple[int, ...] = ()  # nodes of the tree scored last that stand in the cache as a chain instead
        self._filled = 0  # slots that the tree took

    @property
    def cached(self) -> int:
        return self._filled if self._line else self._run.cached

    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        if tree.is_chain:
            return self._run.score(context, tree)
        if not self._greedy:
            return score_by_branches(partial(score_ids, self._run), _Cut(self._run), context, tree)
        return self._along_choices(context, tree)

    @torch.inference_mode()
    def _along_choices(self, context: Context, tree: Tree) -> tuple[Tensor, Work]:
        logits, work = self._run.score(context, tree)
        filled, line = self._run.cached, tuple[int, ...]()
        while not in_order(path := _chosen(logits, tree)) and path != line[: len(path)]:
            self._run.keep(len(context) - 1, ())
            again, more = self._run.score(context, named([tree.ids[node] for node in path]))
            logits[[0, *(node + 1 for node in path)]] = again
            work = Work(1, work.rows + more.rows, work.catch_up + more.rows, work.ran + more.ran)
            line = path
        self._line, self._filled = line, filled
        return logits, work

    def keep(self, start: int, path: Sequence[int]) -> None:
        if self._line:  # what it has of the path stands in its order
            same = next((i for i, pair in enumerate(zip(path, self._line, strict=False)) if len({*pair}) > 1), None)
            path, self._line = range(min(len(path), len(self._line)) if same is None else same), ()
        self._run.keep(start, path)

    def observe(self, outcome: Outcome) -> Note | None:
        return self._run.observe(outcome)

    def close(self) -> None:
        self._run.close()


class _Cut(NamedTuple):
    run: Scorer

    def cut(self, length: int) -> None:
        self.run.keep(length, ())


def _chosen(logits: Tensor, tree: Tree) -> tuple[int, ...]:
    """The nodes that are first choices from the context on, by (n + 1, V) logits."""
    said, nodes = likeliest(logits).tolist(), dict[tuple[int, int], int]()
    for node, fork in enumerate(zip(tree.lineage, tree.ids, strict=True)):
        nodes.setdefault(fork, node)
    path, at = list[int](), nodes.get((-1, said[0]))
    while at is not None:
        path.append(at)
        at = nodes.get((at, said[at + 1]))
    return tuple(path)
