from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch
from enumerator import Scripted, every_path
from torch import Tensor
from toys import drawn

from hsd_core.core.choices import Judge, SeededChoices
from hsd_core.core.rules import Rule, Verdict, block, greedy, match, rows_of, tokenwise
from hsd_core.core.tree import Token, Tree
from hsd_core.grammar import rules
from hsd_core.models.sampling import OneHot, one_hot

VOCAB, LENGTH = 3, 3


def rows(seed: int, n: int, zeros: float = 0.0) -> Tensor:
    rng = random.Random(seed)
    weights = [[rng.random() ** 3 * (rng.random() >= zeros) + 1e-9 for _ in range(VOCAB)] for _ in range(n)]
    table = torch.tensor(weights, dtype=torch.float64)
    return table / table.sum(-1, keepdim=True)


def row(*chances: float) -> Tensor:
    return torch.tensor([chances], dtype=torch.float64)


def verdicts(rule: Rule, draft: list[int], q: Tensor, p: Tensor, bonus: bool = True) -> list[tuple[float, Verdict]]:
    return list(every_path(lambda choices: rule(drawn(draft, q), p, choices, bonus)))


class Coins:
    """A judge with coins as listed; every draw gives the likeliest token."""

    def __init__(self, *coins: float) -> None:
        self._coins = iter(coins)
        self.drawn: list[Tensor] = []

    def draw(self, row: Tensor, depth: int) -> int:
        self.drawn.append(row)
        return int(row.argmax())

    def accept(self, alpha: float, depth: int, number: int = 0) -> tuple[bool, float | None]:
        coin = next(self._coins)
        return coin < alpha, coin


def test_a_token_is_accepted_with_the_ratio_of_its_chances() -> None:
    q, p = row(0.5, 0.3, 0.2), torch.cat((row(0.2, 0.6, 0.2), row(1.0, 0.0, 0.0)))
    assert tokenwise(drawn([0], q), p, Coins(0.39), True).accepted == 1
    assert tokenwise(drawn([0], q), p, Coins(0.41), True).accepted == 0
    assert tokenwise(drawn([0], q), p, Coins(0.41), True).alphas == pytest.approx((0.4,))
    assert tokenwise(drawn([1], q), p, Coins(0.99), True).alphas == (1.0,)


@pytest.mark.parametrize("rule", [tokenwise, block])
def test_reject_is_corrected_from_the_residual(rule: Rule) -> None:
    q, p = row(0.6, 0.3, 0.1), torch.cat((row(0.2, 0.4, 0.4), row(1.0, 0.0, 0.0)))
    coins = Coins(0.99)
    verdict = rule(drawn([0], q), p, coins, True)
    assert (verdict.accepted, verdict.token) == (0, 2)
    assert verdict.residual is not None
    assert torch.allclose(verdict.residual, row(0.0, 0.25, 0.75)[0])
    assert coins.drawn[0] is verdict.residual


def test_judging_ends_at_the_first_reject() -> None:
    q = torch.cat([row(0.5, 0.5, 0.0)] * 3)
    p = torch.cat([row(0.25, 0.25, 0.5)] * 4)
    verdict = tokenwise(drawn([0, 1, 0], q), p, Coins(0.1, 0.9), True)
    assert verdict.accepted == 1
    assert verdict.coins == (0.1, 0.9, None)
    assert len(verdict.alphas) == 3


def test_block_scans_from_the_end_and_weighs_its_residual() -> None:
    q = torch.cat([row(0.5, 0.5, 0.0)] * 2)
    p = torch.cat((row(0.25, 0.45, 0.3), row(0.1, 0.3, 0.6), row(1.0, 0.0, 0.0)))
    # w_1 = 0.25 / 0.5 = 0.5, w_2 = 0.5 * 0.1 / 0.5 = 0.1; S_1 = 0.5 * 0.6 = 0.3, h_1 = 0.3 / (0.3 + 0.5)
    verdict = block(drawn([0, 0], q), p, Coins(0.5, 0.3), True)
    assert verdict.alphas == pytest.approx((0.375, 0.1))
    assert verdict.coins == (0.3, 0.5)
    assert verdict.accepted == 1
    assert verdict.residual is not None
    assert torch.allclose(verdict.residual, row(0.0, 0.0, 1.0)[0])


@pytest.mark.parametrize("rule", list(rules()))
@pytest.mark.parametrize("bonus", [True, False])
def test_an_empty_draft_always_gives_one_token(rule: str, bonus: bool) -> None:
    for _, verdict in verdicts(rules()[rule].bind({}), [], torch.empty(0, VOCAB), rows(1, 1), bonus):
        assert (verdict.accepted, verdict.alphas, verdict.coins) == (0, (), ())
        assert verdict.token is not None
        assert verdict.residual is None


@pytest.mark.parametrize("rule", list(rules()))
def test_all_accepted_without_a_bonus_adds_nothing_and_needs_no_row_for_it(rule: str) -> None:
    p = torch.eye(VOCAB, dtype=torch.float64)[:2]
    verdict = rules()[rule].bind({})(drawn([0, 1], p), p, Coins(0.5, 0.5), False)
    assert (verdict.accepted, verdict.token, verdict.residual) == (2, None, None)


@pytest.mark.parametrize("rule", [tokenwise, block])
def test_equal_distributions_accept_everything(rule: Rule) -> None:
    p = rows(5, LENGTH + 1)
    for draft in itertools.product(range(VOCAB), repeat=LENGTH):
        for _, verdict in verdicts(rule, list(draft), p[:LENGTH], p):
            assert verdict.accepted == LENGTH
            assert verdict.alphas == (1.0,) * LENGTH


def test_greedy_keeps_the_prefix_of_argmaxes_and_throws_no_coin() -> None:
    p = torch.cat((row(0.1, 0.8, 0.1), row(0.6, 0.2, 0.2), row(0.2, 0.2, 0.6)))
    verdict = greedy(drawn([1, 2], torch.zeros(2, VOCAB)), p, Coins(), True)
    assert (verdict.accepted, verdict.token, verdict.alphas, verdict.coins) == (1, 0, (1.0, 0.0), (None, None))
    assert greedy(drawn([1, 0], torch.zeros(2, VOCAB)), p, Coins(), True).token == 2


@pytest.mark.parametrize("rule", [tokenwise, block])
def test_a_lookup_token_is_accepted_with_its_chance_under_p(rule: Rule) -> None:
    q, p = row(0.0, 1.0, 0.0), torch.cat((row(0.5, 0.3, 0.2), row(1.0, 0.0, 0.0)))
    kept = sum(mass for mass, verdict in verdicts(rule, [1], q, p) if verdict.accepted)
    assert kept == pytest.approx(0.3)
    lost = [verdict for _, verdict in verdicts(rule, [1], q, p) if not verdict.accepted]
    assert lost
    assert all(v.residual is not None and float(v.residual[1]) == 0.0 for v in lost)


@pytest.mark.parametrize("rule", [tokenwise, block])
def test_a_token_impossible_under_p_is_never_accepted(rule: Rule) -> None:
    q, p = row(0.5, 0.5, 0.0), torch.cat((row(0.0, 0.5, 0.5), row(1.0, 0.0, 0.0)))
    assert all(verdict.accepted == 0 for _, verdict in verdicts(rule, [0], q, p))


@pytest.mark.parametrize("rule", [tokenwise, block])
def test_float32_rows_that_differ_by_rounding_leave_a_distribution_to_draw_from(rule: Rule) -> None:
    p = rows(9, 2).float()
    q = p[:1] * (1 + 1e-7)  # alpha just below 1, and no mass in p - q
    verdict = rule(drawn([0], q), p, Coins(1.0), True)
    assert verdict.accepted == 0
    assert verdict.residual is not None
    assert float(verdict.residual.sum()) == pytest.approx(1.0)


def cases() -> Iterator[tuple[Tensor, Tensor]]:
    for seed in range(12):
        yield rows(seed, LENGTH, zeros=0.2 * (seed % 2)), rows(100 + seed, LENGTH + 1, zeros=0.2 * (seed % 3))


def capped_zhou(draft: tuple[int, ...], q: Tensor, p: Tensor) -> list[float]:
    """P(tau = t | draft), t = 0 .. n, of the capped rule of Zhou et al. (arXiv 2601.05724), from its own formulas.

    r_t is the ratio of joint chances, r*_t = r_t / max(1, r_1, .., r_{t-1}). The whole block is kept with
    min(1, r*_n); otherwise, from the end, a cut at t with D*(p, q | x_1..t) / D*(q, p | x_1..t), the branch
    divergences of the joint distributions with p scaled by the capped ratio.
    """
    n = len(draft)
    ratios, highest, capped = [1.0], 1.0, [1.0]
    for t, token in enumerate(draft):
        ratios.append(ratios[-1] * float(p[t, token] / q[t, token]))
        capped.append(min(1.0, ratios[-1] / highest))
        highest = max(highest, ratios[-1])
    chances = [0.0] * (n + 1)
    chances[n] = capped[n]
    left = 1.0 - capped[n]
    for t in range(n - 1, -1, -1):
        more = sum(max(float(capped[t] * p[t, x] - q[t, x]), 0.0) for x in range(VOCAB))
        less = sum(max(float(q[t, x] - capped[t] * p[t, x]), 0.0) for x in range(VOCAB))
        stop = 1.0 if t == 0 or less <= more else more / less
        chances[t] = left * stop
        left -= chances[t]
    return chances


def test_block_is_the_capped_rule_of_zhou() -> None:
    for q, p in cases():
        for draft in itertools.product(range(VOCAB), repeat=LENGTH):
            found = [0.0] * (LENGTH + 1)
            for mass, verdict in verdicts(block, list(draft), q, p, bonus=False):
                found[verdict.accepted] += mass
            assert found == pytest.approx(capped_zhou(draft, q, p), abs=1e-9)


def chance(dist: Tensor, tokens: tuple[int, ...]) -> float:
    return float(torch.prod(torch.stack([dist[t, token] for t, token in enumerate(tokens)])))


def expected_accepted(rule: Rule, q: Tensor, p: Tensor) -> float:
    return sum(
        chance(q, draft) * mass * verdict.accepted
        for draft in itertools.product(range(VOCAB), repeat=LENGTH)
        for mass, verdict in verdicts(rule, list(draft), q, p, bonus=False)
    )


def test_block_keeps_a_prefix_as_often_as_its_running_weight_says() -> None:
    # Sun et al. 2024: P(tau >= t and x_1..t) = q(x_1..t) w_t.
    for q, p in cases():
        kept: dict[tuple[int, ...], float] = {}
        for draft in itertools.product(range(VOCAB), repeat=LENGTH):
            for mass, verdict in verdicts(block, list(draft), q, p, bonus=False):
                for t in range(1, verdict.accepted + 1):
                    kept[draft[:t]] = kept.get(draft[:t], 0.0) + chance(q, draft) * mass
        for t in range(1, LENGTH + 1):
            for prefix in itertools.product(range(VOCAB), repeat=t):
                weight = 1.0
                for s, token in enumerate(prefix):
                    weight = min(1.0, weight * float(p[s, token] / q[s, token]))
                assert kept.get(prefix, 0.0) == pytest.approx(chance(q, prefix) * weight, abs=1e-9)


def test_block_accepts_at_least_as_much_as_tokenwise() -> None:
    gains = [expected_accepted(block, q, p) - expected_accepted(tokenwise, q, p) for q, p in cases()]
    assert min(gains) > -1e-12
    assert max(gains) > 0.01


@pytest.mark.parametrize("rule", ["tokenwise", "block"])
def test_alphas_are_probabilities(rule: str) -> None:
    for q, p in cases():
        for draft in itertools.product(range(VOCAB), repeat=LENGTH):
            for alpha in rules()[rule].bind({})(drawn(list(draft), q), p, Scripted(), True).alphas:
                assert 0.0 <= alpha <= 1.0


def test_distributions_of_one_token_are_judged_as_their_rows_are() -> None:
    """Greedy runs hand rules the tokens alone."""
    rng, judge, vocab = random.Random(4), Judge(SeededChoices(0), 1, 0, 0), 4
    for n, bonus in itertools.product(range(6), (True, False)):
        for _ in range(60):
            ids = [rng.randrange(vocab) for _ in range(n)]
            parents = tuple(rng.randrange(-1, node) for node in range(n))
            chain = Tree([Token(t, id_, 0, "draft", "") for t, id_ in enumerate(ids)])
            siblings = len({*zip(parents, ids, strict=True)}) == n  # two alike behind one fork are one node
            for tree in (chain, replace(chain, parents=parents)) if siblings else (chain,):
                best = [rng.randrange(vocab) for _ in rows_of(tree, bonus)]
                dense = one_hot(torch.tensor(best), torch.zeros(1, vocab))
                quick = tokenwise(tree, OneHot(best, dense), judge, bonus)
                slow = tokenwise(tree, dense, judge, bonus)
                assert replace(quick, residual=None) == replace(slow, residual=None)
                assert (quick.residual is None) == (slow.residual is None)
                if isinstance(quick.residual, OneHot):
                    assert torch.equal(quick.residual.dense()[0], slow.residual)


def test_match_draws_every_place_of_its_own() -> None:
    class Places(Coins):
        def draw(self, row: Tensor, depth: int) -> int:
            places.append(depth)
            return super().draw(row, depth)

    places: list[int] = []
    p = one_hot(torch.tensor([1, 2, 0]), row(0.0, 0.0, 0.0))
    assert match(drawn([1, 2], p[:2]), p, Places(), True).path == (0, 1)
    assert places == [0, 1, 2]
