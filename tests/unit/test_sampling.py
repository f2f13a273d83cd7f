from __future__ import annotations

import math

import pytest
import torch

from hsd_core.measure.bench import sampled
from hsd_core.models.sampling import (
    COLDEST,
    OneHot,
    Sampling,
    dense,
    entries,
    finite,
    is_greedy,
    largest,
    likeliest,
    margins,
    one_hot,
    read_rows,
    shortlists,
    softmax,
    to_probs,
)

LOGITS = torch.tensor([[2.0, 1.0, 0.0, -1.0], [0.0, 3.0, 3.0, -2.0]], dtype=torch.float64)


def test_temperature_divides_the_logits() -> None:
    assert torch.allclose(to_probs(LOGITS, Sampling(2.0)), (LOGITS / 2).softmax(-1))


@pytest.mark.parametrize("sampling", [Sampling(0.0), Sampling(1.0, top_k=1), Sampling(0.0, top_k=3, top_p=0.5)])
def test_greedy_is_the_one_hot_case(sampling: Sampling) -> None:
    assert sampling.greedy
    assert to_probs(LOGITS, sampling).tolist() == [[1, 0, 0, 0], [0, 1, 0, 0]]


@pytest.mark.parametrize(
    ("said", "greedy"),
    [  # tests/js/greedy.test.mjs has the same cases
        ({}, True),
        ({"temperature": 0.0, "top_k": 0}, True),
        ({"temperature": 0, "top_k": 5}, True),
        ({"temperature": 0.8, "top_k": 1}, True),
        ({"temperature": 0.8, "top_k": 0}, False),
        ({"temperature": 0.8, "top_k": 2}, False),
    ],
)
def test_one_function_says_what_is_greedy(said: dict[str, float], greedy: bool) -> None:
    assert is_greedy(said) is greedy
    assert Sampling(**said).greedy is greedy  # type: ignore[arg-type]
    assert Sampling(**said).heat == (0.0 if greedy else 0.8)  # type: ignore[arg-type]
    assert sampled({**said, "kind": "bench"}) is not greedy


def test_top_k_keeps_exactly_k_tokens_also_at_a_tie() -> None:
    rows = to_probs(torch.zeros(1, 6), Sampling(1.0, top_k=2))
    assert int((rows > 0).sum()) == 2
    assert float(rows.sum()) == pytest.approx(1.0)


def test_top_k_beyond_the_vocabulary_changes_nothing() -> None:
    assert torch.equal(to_probs(LOGITS, Sampling(1.0, top_k=9)), LOGITS.softmax(-1))


def test_top_p_keeps_the_smallest_set_that_reaches_it() -> None:
    logits = torch.tensor([[0.5, 0.3, 0.15, 0.05]], dtype=torch.float64).log()
    assert to_probs(logits, Sampling(1.0, top_p=0.5))[0].tolist() == pytest.approx([1, 0, 0, 0])
    assert to_probs(logits, Sampling(1.0, top_p=0.7))[0].tolist() == pytest.approx([0.625, 0.375, 0, 0])
    assert to_probs(logits, Sampling(1.0, top_p=1e-9))[0].tolist() == pytest.approx([1, 0, 0, 0])


@pytest.mark.parametrize("width", [61, 4096, 5000])
@pytest.mark.parametrize("scale", [0.0, 0.5, 3.0, 9.0])
def test_a_nucleus_is_what_a_whole_sort_finds(width: int, scale: float) -> None:
    rng = torch.Generator().manual_seed(width)
    logits = scale * torch.randn(5, width, generator=rng)
    logits[:, ::7] = logits[:, 3:4]  # ties, some of them at the edge
    logits[0], logits[1, 1:] = 0.0, -50.0  # all alike; one alone
    probs = logits.softmax(-1)
    values, ids = probs.sort(dim=-1, descending=True, stable=True)
    for top_p in (1e-9, 0.5, 0.9, 0.999):
        kept = values.masked_fill(values.cumsum(-1) - values >= top_p, 0.0)
        expected = torch.zeros_like(probs).scatter_(-1, ids, kept / kept.sum(-1, keepdim=True))
        found = to_probs(logits, Sampling(1.0, top_p=top_p))
        assert torch.equal(found > 0, expected > 0)
        assert (found - expected).abs().max() < 1e-6


def test_top_k_comes_before_top_p() -> None:
    logits = torch.tensor([[0.4, 0.3, 0.2, 0.1]], dtype=torch.float64).log()
    # of the two kept, the first has 4/7 of the mass
    assert to_probs(logits, Sampling(1.0, top_k=2, top_p=0.55))[0].tolist() == pytest.approx([1, 0, 0, 0])


def test_half_precision_is_raised_and_float64_stays() -> None:
    assert to_probs(LOGITS.bfloat16(), Sampling(1.0)).dtype == torch.float32
    assert to_probs(LOGITS, Sampling(0.7, 3, 0.9)).dtype == torch.float64
    assert softmax(LOGITS.half()).dtype == torch.float32


@pytest.mark.parametrize("sampling", [Sampling(), Sampling(0.7), Sampling(1.3, top_k=3), Sampling(0.9, top_p=0.8)])
def test_a_row_depends_on_its_own_logits_only(sampling: Sampling) -> None:
    together = to_probs(LOGITS, sampling)
    assert torch.equal(together[1:], to_probs(LOGITS[1:], sampling))


def test_one_hot_rows_take_dtype_and_width_from_like() -> None:
    rows = one_hot(torch.tensor([2, 0]), LOGITS)
    assert rows.dtype == torch.float64
    assert rows.tolist() == [[0, 0, 1, 0], [1, 0, 0, 0]]


def test_the_coldest_temperature_gives_a_distribution_not_nan() -> None:
    assert to_probs(30 * LOGITS[:1].float(), Sampling(COLDEST))[0].tolist() == [1, 0, 0, 0]


def test_greedy_distributions_know_their_tokens_and_are_the_rows_that_they_stand_for() -> None:
    logits, dists = read_rows(LOGITS, Sampling())
    rows = to_probs(LOGITS, Sampling())
    assert logits.values is LOGITS and isinstance(dists, OneHot)
    assert torch.equal(dense(dists), rows) and dense(dists).dtype == rows.dtype
    assert torch.equal(dense(dists[1:]), rows[1:]) and torch.equal(dense(dists[[1, 0]]), rows[[1, 0]])
    places = [0, 0, 1, 1], [0, 1, 1, 2]
    assert entries(dists, *places) == entries(rows, *places) == [1.0, 0.0, 1.0, 0.0]


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_where_the_largest_entries_stand_tells_of_logits_that_are_not_finite(wrong: float) -> None:
    logits = LOGITS.float().clone()
    assert finite(logits) and finite(logits, likeliest(logits).tolist())
    logits[1, 2 if wrong > -math.inf or math.isnan(wrong) else slice(None)] = wrong
    assert not finite(logits) and not finite(logits, likeliest(logits).tolist())


@pytest.mark.parametrize(
    ("values", "cure"),
    [
        ({"temperature": -0.1}, "use 0 (greedy)"),
        ({"temperature": 1e-40}, "or 0.001 to 10"),
        ({"temperature": 10.1}, "use 0 (greedy)"),
        ({"temperature": math.nan}, "use 0 (greedy)"),
        ({"top_k": -1}, "use 0 to switch it off"),
        ({"top_p": 0.0}, "up to 1"),
        ({"top_p": 1.5}, "up to 1"),
        ({"top_p": math.nan}, "up to 1"),
    ],
)
def test_values_out_of_range_are_refused_with_the_cure(values: dict[str, float], cure: str) -> None:
    with pytest.raises(ValueError, match=r"out of range|negative") as caught:
        Sampling(**values)  # type: ignore[arg-type]
    assert cure in str(caught.value)


def test_as_dict_reads_back() -> None:
    sampling = Sampling(0.7, 40, 0.9)
    assert Sampling(**sampling.as_dict()) == sampling


def test_the_quick_ways_to_the_largest_entries_give_what_ranking_everything_gives() -> None:
    made = torch.Generator().manual_seed(3)
    for width in (5, 384, 128 * 40, 128 * 40 + 1):
        rows = torch.randn(4, width, generator=made)
        rows[1, :3] = float("-inf")
        values, ids = largest(rows, 8)
        assert torch.equal(values, rows.topk(min(8, width)).values)
        assert torch.equal(rows.gather(1, ids), values) and all(len(set(row)) == len(row) for row in ids.tolist())
        assert torch.equal(likeliest(rows), rows.argmax(-1))
        two = rows.bfloat16().topk(2).values.float()  # halves are apart as they are, not rounded once more
        assert torch.equal(margins(rows.bfloat16()), two[:, 0] - two[:, 1])
    assert likeliest(torch.tensor([[1.0, 2.0, 2.0]])).tolist() == [1]


def test_a_shortlist_has_the_likeliest_tokens_falling_and_none_without_a_chance() -> None:
    made = torch.Generator().manual_seed(3)
    for width in (5, 384, 128 * 40 + 1):
        rows = torch.randn(4, width, generator=made).softmax(-1)
        values, ids = (part.tolist() for part in rows.topk(min(8, width)))
        whole = [[*zip(*row, strict=True)] for row in zip(ids, values, strict=True)]
        assert shortlists(rows, 8) == whole
    dists = torch.tensor([[0.0, 1.0, 0.0], [0.25, 0.5, 0.25], [0.0, 0.0, 0.0]])
    assert shortlists(dists, 2) == [[(1, 1.0)], [(1, 0.5), (0, 0.25)], []]
