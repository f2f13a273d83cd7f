"""What a draft copies: the newest continuation of the longest repeated suffix, mixed in by a gate that is trained."""

from __future__ import annotations

import random

import pytest
import torch
from torch import Tensor

from hsd_core.models.drafts.copying import LONGEST, SORTS, Copier, Gate, Suffixes, mixed


def straightforward(context: list[int], t: int) -> tuple[int, int]:
    """The guess behind position t and its sort, by comparing every place with every suffix."""
    for length in range(min(LONGEST, t + 1), 0, -1):
        key = context[t + 1 - length : t + 1]
        places = [p for p in range(length, t + 1) if context[p - length : p] == key]
        if places:
            guess = context[places[-1]]
            if len(places) == 1:
                return guess, 3 * length - 2
            return guess, 3 * length - (1 if context[places[-2]] == guess else 0)
    return 0, 0


def test_the_newest_continuation_of_the_longest_suffix_is_copied() -> None:
    suffixes = Suffixes()
    suffixes.follow([1, 2, 9, 3, 2, 9, 4, 2, 9])
    assert suffixes.tokens[-1] == 4 and suffixes.sorts[-1] == 3 * 2  # (2, 9), lastly followed by another
    suffixes.follow([5, 6, 5, 6, 5])
    assert suffixes.tokens == [0, 0, 6, 5, 6]
    assert suffixes.sorts == [0, 0, 1, 3 * 2 - 2, 3 * 3 - 2]


def test_a_tape_that_shrinks_and_grows_differently_leaves_nothing_behind() -> None:
    rng, suffixes, context = random.Random(0), Suffixes(), [3]
    for step in range(300):
        del context[rng.randint(1, len(context)) :]
        context += [rng.randrange(4) for _ in range(rng.randint(1, 60 if step % 50 == 0 else 5))]
        if rng.random() < 0.3:
            context[rng.randrange(len(context))] = rng.randrange(4)  # no run does this: nothing depends on who cut
        suffixes.follow(context)
        assert list(zip(suffixes.tokens, suffixes.sorts, strict=True)) == [
            straightforward(context, t) for t in range(len(context))
        ]
    assert max(suffixes.sorts) < SORTS


def made(n: int, seed: int = 0) -> tuple[Tensor, Tensor, Gate]:
    rng = torch.Generator().manual_seed(seed)
    gate = Gate(*(torch.randn(part.shape, generator=rng) for part in Gate.fresh(16)))
    logits = torch.randn(n, 30, generator=rng)
    logits[:, 20:] = -torch.inf  # what a trimmed head cannot say
    return logits, torch.randn(n, 16, generator=rng), gate


def test_the_distribution_is_the_mixture_that_the_gate_names() -> None:
    logits, states, gate = made(3)
    columns, sorts = torch.tensor([7, 25, 4]), torch.tensor([2, 9, 0])
    q, dist = logits.double().softmax(-1), mixed(logits, states, columns, sorts, gate)[0].double().exp()
    assert torch.allclose(dist.sum(-1), torch.ones(3, dtype=torch.float64), atol=1e-6)
    for i, (column, sort) in enumerate([(7, 2), (25, 9)]):
        unit = states[i] / states[i].square().mean().sqrt()
        own = q[i, column].log().clamp_min(-12)
        lean = gate.bias[sort] + unit @ gate.state / 4 + gate.scale[0] * q[i].max().log() + gate.scale[1] * own
        share = torch.sigmoid(lean)
        wanted = (1 - share) * q[i]
        wanted[column] += share
        assert torch.allclose(dist[i], wanted, atol=1e-6)
    assert torch.allclose(dist[2], q[2], atol=1e-6), "nothing to copy, nothing changes"
    assert bool((dist[0, 20:] == 0).all()) and dist[1, 25] > 0


def test_a_row_does_not_depend_on_what_is_computed_beside_it() -> None:
    logits, states, gate = made(6, seed=1)
    columns, sorts = torch.tensor([1, 2, 3, 22, 5, 6]), torch.tensor([0, 1, 5, 8, 0, 24])
    together = mixed(logits, states, columns, sorts, gate)[0]
    for i in range(6):
        row = slice(i, i + 1)
        assert torch.equal(mixed(logits[row], states[row], columns[row], sorts[row], gate)[0][0], together[i])


@pytest.mark.parametrize("sort", [0, 4])
def test_gradients_are_finite_where_the_head_lacks_the_token(sort: int) -> None:
    logits, states, gate = made(2, seed=2)
    logits = logits.clamp_min(-1e4).requires_grad_()
    parts = Gate(*(part.requires_grad_() for part in gate))
    dist, _ = mixed(logits, states, torch.tensor([25, 25]), torch.tensor([sort, sort]), parts)
    dist.exp()[:, :5].sum().backward()
    assert logits.grad is not None and bool(logits.grad.isfinite().all())
    assert all(part.grad is None or bool(part.grad.isfinite().all()) for part in parts)


def test_a_copier_says_what_its_last_row_copied_and_how_much_of_it_is_the_copys() -> None:
    logits, states, gate = made(2, seed=3)
    copier, context = Copier(gate), [4, 7, 9, 4, 7]
    dist = copier.mix(context, logits, states)
    told = copier.copied(9)
    assert told is not None and (told.at, told.alike) == (2, 2)
    own = logits[1].log_softmax(-1)[9].exp()
    share = (dist[1, 9].exp() - own) / (1 - own)  # distribution = (1 - share) own + share
    assert told.share == pytest.approx(float(share / dist[1, 9].exp()), abs=1e-5)
    assert copier.copied(7) is None, "drawn, but not what stood there"
    copier.mix([1, 2], logits, states)
    assert copier.copied(9) is None and copier.copied(0) is None, "nothing stands there twice"


def test_columns_of_a_trimmed_head_alone_give_the_distribution_over_all_tokens() -> None:
    random_ = torch.Generator().manual_seed(0)
    ids = torch.tensor([1, 2, 4, 7, 8, 11])
    places = [ids.tolist().index(token) if token in ids else len(ids) for token in range(13)]
    gate = Gate.fresh(5)
    tape = [3, 1, 9, 9, 3, 1, 9, 2, 0, 2, 0]  # copies tokens that the head knows and tokens that it does not
    logits, states = torch.randn(len(tape), 6, generator=random_), torch.randn(len(tape), 5, generator=random_)
    whole = torch.full((len(tape), 13), float("-inf"))
    whole[:, ids] = logits
    one, other = Copier(gate), Copier(gate)
    expected = one.mix(tape, whole, states)
    drawn = torch.nn.functional.rms_norm(states, (5,)) @ gate.state / 5**0.5
    got = other.mix_trimmed(tape, logits.log_softmax(-1).numpy(), drawn.tolist(), places, ids, 13).values
    assert torch.equal(got.isinf(), expected.isinf())
    assert torch.allclose(got.exp(), expected.exp(), atol=1e-6)
    for token in range(13):
        a, b = one.copied(token), other.copied(token)
        assert (a is None) == (b is None)
        assert a is None or b is None or (a.at, a.alike, pytest.approx(a.share)) == (b.at, b.alike, b.share)
