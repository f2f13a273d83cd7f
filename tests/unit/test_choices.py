from __future__ import annotations

import pytest
import torch

from hsd_core.choices import SeededChoices


def test_the_same_seed_gives_the_same_choices() -> None:
    row = torch.tensor([0.2, 0.3, 0.5])
    one, two, other = SeededChoices(3), SeededChoices(3), SeededChoices(4)
    first = [one.draw(row) for _ in range(50)]
    assert first == [two.draw(row) for _ in range(50)]
    assert first != [other.draw(row) for _ in range(50)]


def test_runs_do_not_share_their_generator() -> None:
    one, two = SeededChoices(3), SeededChoices(3)
    torch.manual_seed(99)
    one.accept(0.5)
    assert one.accept(0.5) != two.accept(0.5), "one coin later is another coin"
    assert SeededChoices(3).accept(0.5) == SeededChoices(3).accept(0.5)


def test_a_one_hot_row_throws_no_coin() -> None:
    one, two = SeededChoices(1), SeededChoices(1)
    assert one.draw(torch.tensor([0.0, 1.0, 0.0])) == 1
    assert one.accept(0.5) == two.accept(0.5)


def test_certainty_throws_no_coin() -> None:
    one, two = SeededChoices(1), SeededChoices(1)
    assert one.accept(1.0) == (True, None)
    assert one.accept(0.0) == (False, None)
    assert one.accept(0.5) == two.accept(0.5)


def test_the_coin_decides() -> None:
    choices = SeededChoices(5)
    for _ in range(200):
        kept, coin = choices.accept(0.3)
        assert coin is not None
        assert 0.0 <= coin < 1.0
        assert kept == (coin < 0.3)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_impossible_tokens_are_never_drawn(dtype: torch.dtype) -> None:
    choices = SeededChoices(2)
    row = torch.tensor([0.0, 0.5, 0.0, 0.0, 0.5, 0.0], dtype=dtype)
    assert {choices.draw(row) for _ in range(300)} == {1, 4}


@pytest.mark.parametrize("uniform", [0.0, 1.0 - 2**-53])
def test_the_ends_of_the_coin_stay_inside_the_support(uniform: float, monkeypatch: pytest.MonkeyPatch) -> None:
    choices = SeededChoices(0)
    monkeypatch.setattr(choices, "_uniform", lambda: uniform)
    row = torch.tensor([0.0, 0.3, 0.3, 0.4, 0.0], dtype=torch.float32)
    assert choices.draw(row) == (1 if uniform == 0.0 else 3)


def test_draws_follow_the_row() -> None:
    choices, row = SeededChoices(8), torch.tensor([0.1, 0.2, 0.7], dtype=torch.float64)
    counts = torch.zeros(3, dtype=torch.float64)
    for _ in range(3000):
        counts[choices.draw(row)] += 1
    chi2 = float(((counts - 3000 * row) ** 2 / (3000 * row)).sum())
    assert chi2 < 18.4  # 2 degrees of freedom, p = 1e-4
