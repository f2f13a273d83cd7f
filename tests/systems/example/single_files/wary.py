"""A rule: a tree and the verifier's rows p in (row t + 1 behind token t), a `Verdict` out; a `Judge` chooses."""

from hsd_core.grammar.strategies import RuleKind


def wary(tree, p, judge, bonus):  # keeps half of what it could: min(p, q) / 2 of every token; chains only
    import torch

    from hsd_core.core.rules import Verdict
    from hsd_core.models.sampling import one_hot

    n, coins = len(tree), []
    q = one_hot(torch.tensor(tree.ids), p) if tree.rows is None else tree.rows
    halves = [torch.minimum(p[t], q[t]) / 2 for t in range(n)]
    alphas = tuple(float(halves[t][x] / q[t][x]) for t, x in enumerate(tree.ids))
    for t in range(n):
        kept, coin = judge.accept(alphas[t], t)
        coins.append(coin)
        if not kept:
            left = (p[t] - halves[t]) / (1 - halves[t].sum())
            return Verdict(tuple(range(t)), judge.draw(left, t), alphas, (*coins, *[None] * (n - t - 1)), left)
    return Verdict(tuple(range(n)), judge.draw(p[n], n) if bonus or not n else None, alphas, tuple(coins))


RULES = (
    RuleKind(
        name="wary",
        order=50,
        words="wary · keep half of what it could",
        function=f"{__name__}:wary",
        lossless=True,
        trees=False,
    ),
)
