"""Tree rows that equal a chain's bit for bit, for a target that rounds the inputs of its products.

In a tree a node's ancestors are not adjacent in the cache, so its attention sums them in another order than plain
decoding does. In float32 that changes a row's last bits. A copy in 8 or 4 bits then rounds its inputs, which may change
logits by some hundredths and sometimes the argmax. The first nodes in order (a chain, perhaps with probes or other
branches after it) are summed as in a chain; other nodes are computed again as a chain.
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
    """The state of such a target in one run. greedy: only rows along its argmaxes decide, so a pass over a tree is
    followed by a second one if they leave the tree's first nodes; otherwise each branch is computed separately.
    """

    def __init__(self, run: Scorer, *, greedy: bool) -> None:
        self._run, self._greedy = run, greedy
        self._line: tuple[int, ...] = ()  # nodes of the last scored tree that the cache holds as a chain
        self._filled = 0  # slots that the tree filled

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
        if self._line:  # the cache holds a part of the path as a chain
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
    """The path of argmaxes from the context on, by (n + 1, V) logits."""
    best, nodes = likeliest(logits).tolist(), dict[tuple[int, int], int]()
    for node, fork in enumerate(zip(tree.lineage, tree.ids, strict=True)):
        nodes.setdefault(fork, node)
    path, at = list[int](), nodes.get((-1, best[0]))
    while at is not None:
        path.append(at)
        at = nodes.get((at, best[at + 1]))
    return tuple(path)
