"""Verification rules: how a verifier decides which drafted tokens to keep.

Notation follows Leviathan et al. 2023 (arXiv 2211.17192): q is the drafter's law, p the verifier's. A rule
sees rows, never models, and leaves every random choice to the `Choices` it is given. With one-hot rows
(greedy decoding, lookup drafters) all formulas hold unchanged.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import torch
from torch import Tensor

from hsd_core.choices import Choices


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a rule decided about n drafted tokens.

    accepted: length of the kept prefix. token: what follows it; None if all were kept and no bonus was wanted.
    alphas: (n,) acceptance probabilities. coins: (n,) uniform numbers thrown, None where none was.
    residual: (V,) the law of the correction; None when nothing was rejected.
    """

    accepted: int
    token: int | None
    alphas: tuple[float, ...]
    coins: tuple[float | None, ...]
    residual: Tensor | None = None


Rule = Callable[..., Verdict]  # the arguments of `tokenwise`, perhaps more by name


def greedy(draft: list[int], q: Tensor, p: Tensor, choices: Choices, bonus: bool) -> Verdict:
    """Keep the longest prefix of the verifier's own argmaxes; then its argmax.

    Exact for a greedy target. At a temperature above 0 it makes the stack lossy.
    Arguments as in `tokenwise`.
    """
    n = len(draft)
    best = p.argmax(-1).tolist()
    accepted = next((t for t in range(n) if draft[t] != best[t]), n)
    alphas = tuple(float(draft[t] == best[t]) for t in range(n))
    token = best[accepted] if accepted < n or bonus or n == 0 else None
    residual = _one_hot_like(p[accepted], best[accepted]) if accepted < n else None
    return Verdict(accepted, token, alphas, (None,) * n, residual)


def tokenwise(draft: list[int], q: Tensor, p: Tensor, choices: Choices, bonus: bool) -> Verdict:
    """Accept x_t with probability min(1, p/q); correct the first reject from norm(max(p - q, 0)).

    Leviathan et al. 2023, algorithm 1; Chen et al. 2023.

    Args:
        draft: n token ids, x_t drawn from q[t]. q: (n, V) drafter rows.
        p: (n + 1, V) verifier rows, (n, V) suffice without a bonus (n > 0).
        bonus: draw one more token from p[n] when all are accepted. With n = 0 a token is always drawn.
    """
    n = len(draft)
    alphas = _ratios(draft, q, p)
    coins: list[float | None] = [None] * n
    for t in range(n):
        kept, coins[t] = choices.accept(alphas[t])
        if not kept:
            residual = _residual(p[t], q[t])
            return Verdict(t, choices.draw(residual), tuple(alphas), tuple(coins), residual)
    token = choices.draw(p[n]) if bonus or n == 0 else None
    return Verdict(n, token, tuple(alphas), tuple(coins))


def block(draft: list[int], q: Tensor, p: Tensor, choices: Choices, bonus: bool) -> Verdict:
    """Accept the longest prefix that the joint law allows (block verification; arguments as in `tokenwise`).

    Sun et al. 2024 (arXiv 2403.10444), algorithm 2. The capped rule of Zhou et al. 2026 (arXiv 2601.05724,
    there called "HSD") gives the same law.

        w_0 = 1,  w_t = min(1, w_{t-1} p_t(x_t) / q_t(x_t))
        h_n = w_n,  h_t = S_t / (S_t + 1 - w_t),  S_t = sum_x max(w_t p_{t+1}(x) - q_{t+1}(x), 0)

    Scan t = n, n-1, ..., 1 and keep the first t whose coin falls below h_t. The correction comes from
    norm(max(w p - q, 0)) with the weight w at the cut.
    """
    n = len(draft)
    weights = [1.0]
    for ratio in _ratios(draft, q, p, capped=False):
        weights.append(min(1.0, weights[-1] * ratio))
    alphas = [_block_acceptance(t, n, weights[t], q, p) for t in range(1, n + 1)]
    coins: list[float | None] = [None] * n
    accepted = 0
    for t in range(n, 0, -1):
        kept, coins[t - 1] = choices.accept(alphas[t - 1])
        if kept:
            accepted = t
            break
    if accepted < n:
        residual = _residual(weights[accepted] * p[accepted], q[accepted], fallback=p[accepted])
        return Verdict(accepted, choices.draw(residual), tuple(alphas), tuple(coins), residual)
    token = choices.draw(p[n]) if bonus or n == 0 else None
    return Verdict(n, token, tuple(alphas), tuple(coins))


def top(
    draft: list[int], q: Tensor, p: Tensor, choices: Choices, bonus: bool, *, k: int = 1, scores: Tensor | None = None
) -> Verdict:
    """Keep the longest prefix of tokens among the verifier's k likeliest; then a token of its own law.

    HiSpec's TopPredictions (arXiv 2510.01336, algorithm 1). With k = 1 and at temperature 0 this is `greedy`; otherwise
    what it emits does not follow the rows that go up. Arguments as in `tokenwise`.

    Args:
        scores: rows as p by which tokens rank. For k > 1 the logits: at temperature 0, p knows the likeliest alone.
    """
    n = len(draft)
    ranks = p if scores is None else scores
    best = ranks[:n].topk(min(k, ranks.shape[-1]), dim=-1).indices.tolist()
    alphas = tuple(float(draft[t] in best[t]) for t in range(n))
    accepted = next((t for t in range(n) if not alphas[t]), n)
    token = choices.draw(p[accepted]) if accepted < n or bonus or n == 0 else None
    return Verdict(accepted, token, alphas, (None,) * n, p[accepted] if accepted < n else None)


RULES: Mapping[str, Rule] = MappingProxyType({"greedy": greedy, "tokenwise": tokenwise, "block": block, "top": top})


def _ratios(draft: list[int], q: Tensor, p: Tensor, capped: bool = True) -> list[float]:
    """p_t(x_t) / q_t(x_t), at most 1 if capped. A token that q could not draw counts as accepted by any p > 0."""
    if not draft:
        return []
    ids = torch.tensor(draft, device=p.device).unsqueeze(1)
    chances = torch.cat((p[: len(draft)].gather(1, ids), q.to(p.device).gather(1, ids)), 1).tolist()
    ratios = [a / b if b > 0.0 else (sys.float_info.max if a > 0.0 else 0.0) for a, b in chances]
    return [min(1.0, r) for r in ratios] if capped else ratios


def _residual(p: Tensor, q: Tensor, fallback: Tensor | None = None) -> Tensor:
    """norm(max(p - q, 0)); p itself where rounding left no mass (then p equals q, and p is the right law)."""
    positive = (p - q.to(p.device)).clamp_min(0.0)
    mass = positive.sum()
    if float(mass) > 0.0:
        return positive / mass
    return p if fallback is None else fallback


def _block_acceptance(t: int, n: int, weight: float, q: Tensor, p: Tensor) -> float:
    """h_t of `block`: the chance to stop at prefix t, given that no longer prefix was kept."""
    if t == n:
        return weight
    spare = float((weight * p[t] - q[t].to(p.device)).clamp_min(0.0).sum())
    kept = spare + (1.0 - weight)
    # weight 1 and no spare mass: p_{t+1} equals q_{t+1}, and a longer prefix is always kept.
    return spare / kept if kept > 0.0 else 1.0


def _one_hot_like(row: Tensor, token: int) -> Tensor:
    hot = torch.zeros_like(row)
    hot[token] = 1.0
    return hot
