"""How often an offer is accepted, from rows: a tree down along a text, by rule tokenwise, and one of several tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

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


def fork_chances(q: Tensor, p: Tensor, most: int, *, seed: int) -> Iterator[Floats]:
    """(n,) probability that one of k tokens is accepted, for k = 1, ..., `most`.

    Recursive rejection (SpecInfer, arXiv 2305.09781; MCSD, arXiv 2401.06706) of tokens that are drawn from q without
    replacement, judged in their order.

    The first token's chance is exact, sum_x min(p, q). The others' are those behind the tokens that were drawn here, so
    their mean takes many rows.

    Args:
        q, p: (n, V) rows of the drafter and of its judge.
    """
    source = torch.Generator(device="cpu").manual_seed(seed)
    q, p = q.float(), p.float()
    # The order of draws without replacement is that of exponential waits with q as the rates.
    waits = torch.empty(q.shape).exponential_(generator=source).to(q.device)
    drawn = (q / waits).topk(min(most, q.shape[1])).indices
    refused = torch.ones(len(q), device=q.device)
    for k in range(drawn.shape[1]):
        token = drawn[:, k : k + 1]
        kept = 1.0 - refused * (1.0 - torch.minimum(p, q).sum(1).clamp_max(1.0))
        yield kept.double().cpu().numpy()
        own, judge = q.gather(1, token), p.gather(1, token)
        alpha = (judge / own.clamp_min(torch.finfo(q.dtype).tiny)).clamp_max(1.0) * (own > 0.0)
        refused = refused * (1.0 - alpha).squeeze(1)
        p = _whole((p - q).clamp_min(0.0), p)
        q = _whole(q.scatter(1, token, 0.0), q)


def _whole(mass: Tensor, instead: Tensor) -> Tensor:
    """Rows that sum to 1; where nothing is left, the ones before: that place is decided, or has no more to offer."""
    total = mass.sum(1, keepdim=True)
    return torch.where(total > 0.0, mass / total.clamp_min(torch.finfo(mass.dtype).tiny), instead)
