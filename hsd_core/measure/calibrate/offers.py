"""How often an offered tree is accepted, down along a text: by rule tokenwise, from rows. A chain is its plain case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from hsd_core.core.rules import drawn_from
from hsd_core.core.tree import Offer, Tree

Floats = npt.NDArray[np.float64]
Judged = dict[int, tuple[Floats, Floats]]


def judge(dists: Mapping[int, Tensor], ids: Sequence[int], start: int, tree: Tree) -> Judged:
    """By judge, at each fork that a text passes: the chance that it accepts an offer, and the weight of the text's own
    token as the one that it accepts, at most 1 and 0 where it is not offered.

    Args:
        distributions: (n, V) rows of the judges; the last one's wrote the text. ids: the text's n tokens. start: the
        one that the tree stands for first.
    """
    forks, fork = list[list[Offer]](), -1
    for token in ids[start:]:
        if not (at := tree.forks.get(fork)):
            # Where the kept sequence ends and others go on, the offer is deeper, and nothing of it is accepted there.
            forks += [[]] if fork >= 0 and len(forks) < tree.longest else []
            break
        forks.append([tree.offers[o] for o in at])
        fork = next((offer.node for offer in forks[-1] if tree.ids[offer.node] == token), -2)
    text = np.array(ids[start : start + len(forks)])
    accepted = {i: _accepted(rows[start : start + len(forks)], text, tree, forks) for i, rows in dists.items()}
    wrote = accepted[max(dists)][1]
    return {
        i: (chance, np.minimum(np.divide(own, wrote, out=np.zeros_like(own), where=wrote > 0.0), 1.0))
        for i, (chance, own) in accepted.items()
    }


def _accepted(
    rows: Tensor, text: npt.NDArray[np.int64], tree: Tree, forks: Sequence[Sequence[Offer]]
) -> tuple[Floats, Floats]:
    """At each fork P(an offer is accepted) and P(the text's own token is), given what was drawn there.

    Named tokens differ, so together they are accepted with their sum. One that is drawn is judged before them: it takes
    sum_x min(p, q) in the mean and alpha as it was drawn, and leaves the named ones their share of the rest.
    """
    depth = np.repeat(np.arange(len(forks)), [len(fork) for fork in forks])
    ids = [tree.ids[offer.node] for fork in forks for offer in fork]
    chances = rows[depth, ids].double().cpu().numpy() if ids else np.zeros(0)
    found, own = np.zeros(len(forks)), np.zeros(len(forks))
    np.add.at(found, depth, chances)
    np.add.at(own, depth, chances * (np.array(ids) == text[depth]))
    for m, fork in enumerate(forks if tree.rows is not None else ()):
        if (q := drawn_from(tree, [*fork])) is None:
            continue
        (token,) = (tree.ids[offer.node] for offer in fork if offer.row is not None)
        p, q = rows[m], q.to(rows)
        both, chance, mine = float(torch.minimum(p, q).sum()), float(p[token]), float(q[token])
        alpha = min(1.0, chance / mine) if mine > 0.0 else float(chance > 0.0)
        found[m] = min(1.0, found[m] - chance + both)
        if text[m] == token:
            own[m] = alpha
        else:
            own[m] *= (1.0 - alpha) / (1.0 - both) if both < 1.0 else 0.0
    return found, own


def sizes(tree: Tree) -> Counter[int]:
    """How many tokens a tree has at each depth, the first being 1."""
    depths: list[int] = []
    for parent in tree.lineage:
        depths.append(depths[parent] + 1 if parent >= 0 else 1)
    return Counter(depths)
