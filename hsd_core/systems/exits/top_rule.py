"""HiSpec's rule: a token is kept if it is among the verifier's k likeliest."""

from __future__ import annotations

from torch import Tensor

from hsd_core.core.choices import Judge
from hsd_core.core.rules import Verdict, followed
from hsd_core.core.tree import Tree


def top(tree: Tree, p: Tensor, judge: Judge, bonus: bool, *, k: int = 1, scores: Tensor | None = None) -> Verdict:
    """Keep the longest path of tokens among the verifier's k likeliest; then a token of its own distribution.

    HiSpec's TopPredictions (arXiv 2510.01336, algorithm 1). With k = 1 at temperature 0 this is `greedy`; otherwise the
    emitted tokens do not follow the rows that go up. Arguments as in `tokenwise`.

    Args:
        scores: rows as p that rank tokens. For k > 1 the logits: at temperature 0, p has one token only.
    """
    ranks = p if scores is None else scores
    best = ranks.topk(min(k, ranks.shape[-1]), dim=-1).indices.tolist()
    path, alphas, fork, places = followed(tree, bonus, lambda place, token: token in best[place])
    rejected = fork in tree.forks
    token = judge.draw(p[places[fork]], len(path)) if rejected or bonus or not len(tree) else None
    return Verdict(tuple(path), token, alphas, (None,) * len(alphas), p[places[fork]] if rejected else None)
