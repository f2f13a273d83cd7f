"""The rules that are not exact: what they keep beside the exact rule, and that one end of each scale is exact."""

from __future__ import annotations

import pytest
import torch
from enumerator import SAMPLED, distance, every_path, merged_distribution, run_distribution, target_distribution
from toys import drawn, toy_stack

from hsd_core.core.rules import Verdict, greedy, tokenwise
from hsd_core.core.tree import Offer, Token, Tree
from hsd_core.grammar import rules
from hsd_core.grammar.stack_text import parse, stack_lossless
from hsd_core.models.sampling import Logits, OneHot, Sampling

EXACT, WRONG = 1e-12, 1e-3
GREEDY = Sampling(0.0)
COLD = Sampling(0.7, top_k=2)
MORE = pytest.mark.everything
STACKS = (
    "table:2,table@rule={}",
    pytest.param("table:3@tree=2.2.1,table@rule={}", marks=MORE),
    "table:2@tree=2.1,table:2,table@rule={}",
    pytest.param("ngram:3,table:2@rule={},table@rule={}", marks=MORE),
)
Q = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]], dtype=torch.float64)
P = torch.tensor([[0.45, 0.35, 0.2], [0.7, 0.2, 0.1], [0.0, 1.0, 0.0]], dtype=torch.float64)


def off(text: str, sampling: Sampling, tokens: int = 3, seed: int = 1) -> float:
    """How far the text's distribution is from the target's."""
    stack = toy_stack(text, 3, seed)
    find = run_distribution if sampling.greedy else merged_distribution
    return distance(find(stack, [0], tokens, sampling=sampling), target_distribution(stack, [0], tokens, sampling))


def verdicts(rule: str, tree: Tree, p: torch.Tensor, bonus: bool = True, **keys: float) -> list[tuple[float, Verdict]]:
    return list(every_path(lambda choices: rules()[rule].bind(keys)(tree, p, choices, bonus)))


@pytest.mark.parametrize("text", STACKS)
@pytest.mark.parametrize("rule", ["kl@tau=0", "cascade@cost=-1", "longest@first=1"])
def test_at_one_end_of_its_scale_a_rule_is_tokenwise(text: str, rule: str) -> None:
    written = text.replace("{}", rule)
    assert stack_lossless(parse(written), SAMPLED)
    for sampling in (SAMPLED, COLD, GREEDY):
        assert off(written, sampling) < EXACT


@pytest.mark.parametrize("rule", ["kl@tau=1", "cascade@cost=0.5", "longest", "typical"])
def test_everywhere_else_the_text_is_another_one_and_the_stack_says_so(rule: str) -> None:
    written = f"table:2@tree=2.1,table@rule={rule}"
    exact = stack_lossless(parse(written), SAMPLED)
    assert not exact and rule.split("@")[0] in exact.reason
    assert max(off(written, SAMPLED, seed=seed) for seed in range(2)) > WRONG
    colder = max(off(written, GREEDY, tokens=6, seed=seed) for seed in range(4))
    assert (colder < EXACT) if rule == "typical" else (colder > WRONG)
    assert bool(stack_lossless(parse(written), GREEDY)) == (rule == "typical")


def test_a_spared_token_is_one_that_was_kept_although_its_coin_is_not_below_its_alpha() -> None:
    loose = verdicts("kl", drawn([0, 2], Q), P, tau=0.1)  # KL(q || p): 0.006 nats, then 1.4
    assert all(v.alphas == pytest.approx((0.9, 0.125)) for _, v in loose)
    assert {(len(v.path), v.coins) for _, v in loose} == {(1, (0.5, 0.5)), (2, (0.5, 0.5))}
    assert {len(v.path) for _, v in every_path(lambda c: tokenwise(drawn([0, 2], Q), P, c, True))} == {0, 1, 2}
    second = sum(mass for mass, v in loose if len(v.path) == 2)
    assert second == pytest.approx(0.125), "where it spares nothing the coin decides"


def test_kl_reads_both_distributions_before_the_sampling_transform() -> None:
    """A greedy draft's row, and a greedy target's, have one token: their logits say how near they are."""
    like = torch.tensor([[0.5, 0.4, 0.1], [0.2, 0.2, 0.6]], dtype=torch.float64)
    tree = Tree([Token(-1, 0, 0, "draft", "")], None, Logits(like[:1].log()))
    other = torch.tensor([[0.4, 0.5, 0.1], [0.2, 0.2, 0.6]], dtype=torch.float64)
    rule = rules()["kl"].bind({"tau": 0.05})
    hot = OneHot([1, 2], other)
    ((_, near),) = every_path(lambda choices: rule(tree, hot, choices, True, scores=other.log()))
    assert near.path == (0,) and near.alphas == (0.0,) and near.coins == (None,)
    far = torch.tensor([[0.1, 0.8, 0.1], [0.2, 0.2, 0.6]], dtype=torch.float64)
    ((_, left),) = every_path(lambda choices: rule(tree, hot, choices, True, scores=far.log()))
    assert (left.path, left.token) == ((), 1)


def test_a_named_token_is_as_far_as_its_probability_says_and_no_cascade_leaves_it_to_a_lookup() -> None:
    tree = Tree([Token(-1, 1, 0, "draft", "")])
    assert {v.path for _, v in verdicts("kl", tree, P, tau=1.1)} == {(0,)}  # -log 0.35 = 1.05
    assert {v.path for _, v in verdicts("kl", tree, P, tau=1.0)} == {(0,), ()}
    assert {v.path for _, v in verdicts("cascade", tree, P, cost=1.0)} == {(0,), ()}


def test_a_cascade_leaves_a_place_to_the_draft_that_is_as_sure() -> None:
    tree = drawn([0, 2], Q)  # max q - max p: 0.05, 0.1; their distances: 0.05, 0.7
    assert {len(v.path) for _, v in verdicts("cascade", tree, P, cost=0.0)} == {2}
    assert {len(v.path) for _, v in verdicts("cascade", tree, P, cost=-0.2)} == {1, 2}
    assert {len(v.path) for _, v in verdicts("cascade", tree, P, cost=-1.0)} == {0, 1, 2}


def test_typical_tokens_are_those_above_a_threshold_that_falls_with_entropy() -> None:
    flat, sharp = torch.full((8,), 0.125, dtype=torch.float64), torch.tensor([0.93, *[0.01] * 7], dtype=torch.float64)
    tree = Tree([Token(-1, 3, 0, "draft", "")])
    p = torch.stack([flat, sharp])
    assert {v.accepted for _, v in verdicts("typical", tree, p)} == {1}  # sqrt(0.09) / 8 = 0.0375
    assert {v.accepted for _, v in verdicts("typical", tree, torch.stack([sharp, flat]))} == {0}
    rejected = verdicts("typical", tree, torch.stack([sharp, flat]))
    assert sum(mass for mass, v in rejected if v.token == 0) == pytest.approx(0.93), "what follows is drawn from p"
    hot = OneHot([3, 0], p)
    assert rules()["typical"].bind({})(tree, hot, None, True) == greedy(tree, hot, None, True)  # type: ignore[arg-type]


def comb() -> Tree:
    """Two first words, each continued by one."""
    nodes = [Token(-1, id_, 0, "draft", "") for id_ in (0, 1, 2, 2)]
    return Tree(nodes, None, None, (-1, -1, 0, 1), tuple(Offer(node) for node in range(4)))


def test_of_a_comb_the_longest_tooth_wins_and_its_first_word_is_never_judged() -> None:
    p = torch.eye(3, dtype=torch.float64)[[0, 1, 2, 0, 0]]  # behind node 0 comes 1, behind node 1 comes 2
    ((_, won),) = verdicts("longest", comb(), p, first=2)
    assert (won.path, won.token, won.residual) == ((1, 3), 0, None)
    assert won.alphas == (1.0, 0.0, None, 1.0), "the target's own first word counts as refused"
    ((_, exact),) = verdicts("longest", comb(), p, first=1)
    assert (exact.path, exact.token) == ((0,), 1)


def test_without_a_first_word_among_the_likeliest_the_whole_comb_is_judged() -> None:
    p = torch.tensor([[0.1, 0.2, 0.7]] * 5, dtype=torch.float64)
    some = [tokenwise, rules()["longest"].bind({"first": 1}), rules()["longest"].bind({"first": 2})]
    tree = Tree([Token(-1, 0, 0, "draft", "")])
    laws = [{(v.path, v.token): m for m, v in every_path(lambda c, r=r: r(tree, p, c, True))} for r in some]
    assert laws[0] == laws[1] == laws[2]
