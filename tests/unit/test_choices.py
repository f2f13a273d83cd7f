from __future__ import annotations

import pytest
import torch

from hsd_core.core.choices import ChoiceKey, EpochsByCorrections, SeededChoices


def key(position: int = 0, **parts: object) -> ChoiceKey:
    return ChoiceKey("coin", 1, position, 0)._replace(**parts)


def test_the_same_seed_gives_the_same_choices() -> None:
    row = torch.tensor([0.2, 0.3, 0.5])
    one, two, other = SeededChoices(3), SeededChoices(3), SeededChoices(4)
    first = [one.draw(row, key(i)) for i in range(50)]
    assert first == [two.draw(row, key(i)) for i in range(50)]
    assert first != [other.draw(row, key(i)) for i in range(50)]


def test_a_choice_follows_from_its_key_and_not_from_the_order() -> None:
    one, two = SeededChoices(3), SeededChoices(3)
    coins = [one.accept(0.5, key(i)) for i in range(20)]
    torch.manual_seed(99)
    assert [two.accept(0.5, key(i)) for i in reversed(range(20))] == coins[::-1]


def test_every_part_of_a_key_gives_another_coin() -> None:
    choices = SeededChoices(3)
    keys = [key(), key(role="own"), key(role="draft"), key(level=0), key(1), key(epoch=1), key(number=1)]
    assert len({choices.accept(0.5, each)[1] for each in keys}) == len(keys)
    assert SeededChoices(4).accept(0.5, key()) != choices.accept(0.5, key())


def test_coins_of_neighbouring_keys_are_uniform_and_do_not_hang_together() -> None:
    coins = torch.tensor([SeededChoices(seed).accept(0.5, key(i))[1] for seed in range(40) for i in range(100)])
    counts = torch.histc(coins, 10, 0.0, 1.0)
    assert float(((counts - 400) ** 2 / 400).sum()) < 27.9, "chi-square with 9 degrees of freedom, 0.1 %"
    assert abs(float(torch.corrcoef(torch.stack((coins[:-1], coins[1:])))[0, 1])) < 0.05


def test_certainty_throws_no_coin() -> None:
    choices = SeededChoices(1)
    assert choices.draw(torch.tensor([0.0, 1.0, 0.0]), key()) == 1
    assert choices.accept(1.0, key()) == (True, None)
    assert choices.accept(0.0, key()) == (False, None)


def test_the_coin_decides() -> None:
    choices = SeededChoices(5)
    for i in range(200):
        kept, coin = choices.accept(0.3, key(i))
        assert coin is not None
        assert 0.0 <= coin < 1.0
        assert kept == (coin < 0.3)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_impossible_tokens_are_never_drawn(dtype: torch.dtype) -> None:
    choices = SeededChoices(2)
    row = torch.tensor([0.0, 0.5, 0.0, 0.0, 0.5, 0.0], dtype=dtype)
    assert {choices.draw(row, key(i)) for i in range(300)} == {1, 4}


@pytest.mark.parametrize("uniform", [0.0, 1.0 - 2**-53])
def test_the_ends_of_the_coin_stay_inside_the_support(uniform: float, monkeypatch: pytest.MonkeyPatch) -> None:
    choices = SeededChoices(0)
    monkeypatch.setattr(choices, "_uniform", lambda key: uniform)
    row = torch.tensor([0.0, 0.3, 0.3, 0.4, 0.0], dtype=torch.float32)
    assert choices.draw(row, key()) == (1 if uniform == 0.0 else 3)


def test_draws_follow_the_row() -> None:
    choices, row = SeededChoices(8), torch.tensor([0.1, 0.2, 0.7], dtype=torch.float64)
    counts = torch.zeros(3, dtype=torch.float64)
    for i in range(3000):
        counts[choices.draw(row, key(i))] += 1
    chi2 = float(((counts - 3000 * row) ** 2 / (3000 * row)).sum())
    assert chi2 < 18.4  # 2 degrees of freedom, p = 1e-4


def test_the_epochs_of_a_line_follow_from_the_corrections_that_stand_in_it() -> None:
    straight, round_about = EpochsByCorrections(), EpochsByCorrections()
    for epochs, cuts in ((straight, [(2, 3)]), (round_about, [(1, 3), (1, 5), (2, 3)])):  # (level, behind)
        for level, at in cuts:
            epochs.cut(level, at)
    for level in range(3):
        assert [straight.of(level, at) for at in range(8)] == [round_about.of(level, at) for at in range(8)]
    assert straight.of(0, 3) == 0 != straight.of(0, 4)


def test_a_correction_begins_an_epoch_for_the_levels_below_and_none_for_those_above() -> None:
    line = EpochsByCorrections()
    line.cut(1, 3)
    assert line.of(0, 4) != line.of(0, 3) == 0
    assert line.of(2, 4) == 0
