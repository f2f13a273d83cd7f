"""Labels for a judge without people, after AutoJudge (arXiv 2504.20039), and the training of its head.

Along a text that the target wrote, at every token where a draft would have written another one, that one is put in and
the target goes on. AutoJudge calls it unimportant if the answer of the whole text stays the same; texts without an
answer have none, so here a token is *good* if the target comes back to its own text soon after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import torch
from torch import Tensor

from hsd_core.core.level import StackEntry
from hsd_core.measure.teacher_forced import first_choices, last_states, pair_rows
from hsd_core.models.decoder_protocol import Layered
from hsd_core.models.one_pass import Branches, Pass
from hsd_core.models.sampling import likeliest

WITHIN, RUN = 8, 4  # tokens until it must be back, and equal ones that count as back
NEWTON = 25  # steps, far more than it takes


@dataclass(frozen=True, slots=True)
class Swap:
    """A drafted token that differs: the ids up to it, what the target wrote from its place on, and its text."""

    ids: tuple[int, ...]
    own: tuple[int, ...]
    text: int


@dataclass(frozen=True, slots=True)
class Labels:
    """states: (n, hidden) the target's last states after reading each swapped token. good: (n,) bool. texts: (n,)."""

    states: Tensor
    good: Tensor
    texts: Tensor


def swaps(entries: Sequence[StackEntry], texts: Iterable[tuple[Sequence[int], Sequence[int]]]) -> Iterator[Swap]:
    """The tokens of a draft that differ from the target's own, along texts of (prompt, greedy output)."""
    for number, (prompt, output) in enumerate(texts):
        drafted = likeliest(pair_rows(entries, prompt, output)[0]).tolist()
        for at, (token, own) in enumerate(zip(drafted, output, strict=True)):
            if token != own:
                yield Swap((*prompt, *output[:at], token), tuple(output[at:]), number)


def comes_back(after: Sequence[int], own: Sequence[int], within: int = WITHIN, run: int = RUN) -> bool:
    """Whether a continuation after a swapped token meets the text from the swapped place on: `run` equal tokens in a
    row, beginning at most `within` tokens later in both; or all that is left, if both end."""
    for j in range(min(within, len(after))):
        for k in range(min(within + 1, len(own))):
            mine, theirs = [*after[j : j + run]], [*own[k : k + run]]
            if mine == theirs and (len(mine) == run or len(after) - j == len(own) - k):
                return True
    return False


@torch.inference_mode()
def labelled(
    decoder: Layered, some: Sequence[Swap], *, ends: frozenset[int], step: Callable[[], None] = lambda: None
) -> Labels:
    """Let the target go on after every swap. Those of a text are branches of a tree along it, a token a pass."""
    states: list[Tensor] = []
    good: list[bool] = []
    for _, of_text in groupby(some, lambda one: one.text):
        mine = list(of_text)
        shared, base = mine[-1].ids[:-1], len(mine[0].ids) - 1
        most = min(WITHIN + RUN, decoder.max_positions - len(shared))
        cache = decoder.new_cache(len(shared), branches=most * len(mine))
        last_states(decoder, shared, cache)
        parents = list(range(-1, len(shared) - base - 1))
        above = [len(one.ids) - 2 - base for one in mine]
        ids, after = [one.ids[-1] for one in mine], list[list[int]]()
        for _ in range(most):
            start = base + len(parents)
            parents += above
            above = list(range(start - base, len(parents)))
            given = Pass(ids, start, len(ids), Branches(base, tuple(parents)))
            read = decoder.forward_layers(given, cache, 0, decoder.layers)
            states += [] if after else [read.float().cpu()]
            ids = first_choices(decoder, read).tolist()
            after.append(ids)
        for one, written in zip(mine, zip(*after, strict=True), strict=True):
            end = next((i for i, token in enumerate(written, 1) if token in ends), most)
            good.append(comes_back(written[:end], one.own))
            step()
    return Labels(torch.cat(states), torch.tensor(good), torch.tensor([one.text for one in some]))


def fitted(states: Tensor, good: Tensor, ridge: float) -> tuple[Tensor, float]:
    """A logistic regression on standardised states: the weights (hidden,) and the bias for states as they are.

    ridge: of the mean loss, on the squared weights.
    """
    x, y = states.double(), good.double()
    mean, scale = x.mean(0), x.std(0).clamp_min(1e-6)
    x = torch.cat(((x - mean) / scale, x.new_ones(len(x), 1)), 1)
    w, penalty = x.new_zeros(x.shape[1]), x.new_full((x.shape[1],), 2.0 * ridge)
    penalty[-1] = 1e-9  # the bias is free
    for _ in range(NEWTON):
        p = torch.sigmoid(x @ w)
        gradient = x.T @ (p - y) / len(x) + penalty * w
        curvature = (x.T * (p * (1.0 - p))) @ x / len(x) + penalty.diag()
        w = w - torch.linalg.solve(curvature, gradient)
    weights = w[:-1] / scale
    return weights, float(w[-1] - weights @ mean)


def ranked_right(scores: Tensor, good: Tensor) -> float:
    """How often a good token has a higher score than one that is not, ties half (the area under the ROC curve)."""
    yes, no = scores[good], scores[~good]
    if not len(yes) or not len(no):
        return float("nan")
    apart = yes[:, None] - no[None]
    return float((apart > 0).double().mean() + 0.5 * (apart == 0).double().mean())
