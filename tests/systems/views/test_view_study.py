"""What views are worth: measured along a text, and the length from which they pay."""

from __future__ import annotations

import pytest
import torch
from tiny import tiny, tiny_compiled

from hsd_core.models.one_pass import Pass
from hsd_core.systems.views import study, view_measurements
from hsd_core.systems.views.selection import Stream
from hsd_core.systems.views.view import View
from hsd_core.theory.search.prices_by_length import LinearCosts, view_gain, view_pays_from

TEXT = [(7 * i + 3 * (i // 5)) % 61 for i in range(190)]


@pytest.mark.parametrize("make", [tiny, tiny_compiled])
def test_agreement_is_that_of_a_view_which_follows_its_base(make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_measurements, "REPEATS", 1)
    decoder = make(layers=3)
    found = [*view_measurements.read(decoder, {"float32": decoder}, [("prose", TEXT)], [40, 60], [24, 50])]
    agreed = {(r["keep"], r["budget"], r["length"]): r for r in found if r["what"] == "agreement"}
    assert agreed.keys() == {(k, b, n) for k in ("chunks", "stream") for b, n in ((24, 40), (24, 60), (50, 60))}
    base, same = decoder.new_cache(191), 0
    with torch.inference_mode():
        whole = decoder.forward(Pass(TEXT, 0, 190), base)[60:188].argmax(-1)
        view = View(base, Stream(50), decoder.new_cache(70))
        for at in range(60, 188, 8):
            view.follow(at)
            x = decoder.forward_layers(view.given(TEXT[at : at + 8], 0), view.cache, 0, 3)
            same += int((decoder.head(x).argmax(-1) == whole[at - 60 : at - 52]).sum())
    assert agreed["stream", 50, 60]["agree"] == pytest.approx(same / 128, abs=0.02)
    assert 0 < same < 128, "it errs, or nothing is tested"
    timed = {(r["level"], r["budget"], r["length"], r["rows"]) for r in found if r["what"] == "cost"}
    assert {("target", 0, n, rows) for n in (40, 60) for rows in view_measurements.ROWS} < timed
    assert ("view", 50, 60, 1) in timed and ("view", 50, 40, 1) not in timed, "a budget beyond the text is no view"
    assert "| prose | float32 | stream | 50 |  |" in study.agreements(found).replace("| | 0", "|  | 0")
    assert study.costs(found).count("\n") == 1 + len({(r["level"], r["budget"], r["rows"]) for r in timed_of(found)})


def timed_of(records: list[dict[str, object]]) -> list[dict[str, object]]:
    return [r for r in records if r["what"] == "cost"]


# a pass of n tokens of context takes 10 + n / 100 ms, and 2 ms more for each further row
TARGET = LinearCosts.fitted(
    {(rows, n): 10 + 2 * (rows - 1) + n / 100 for rows in (1, 2, 4) for n in (1000, 3000, 4000)}
)


def test_costs_are_lines_in_the_length_between_and_beyond_the_measured_rows() -> None:
    for rows, length in ((1, 0), (2, 2000), (3, 8000), (9, 500)):
        assert TARGET.ms(rows, length) == pytest.approx(10 + 2 * (rows - 1) + length / 100)
    with pytest.raises(ValueError, match="passes of 1 rows were timed at 1 lengths"):
        LinearCosts.fitted({(1, 1000): 20.0})


def test_the_gain_is_tokens_over_time_with_the_best_draft() -> None:
    gain, block = view_gain(TARGET, 10.0, 0.9, 9000)
    by_hand = {t: (1 - 0.9 ** (t + 1)) / 0.1 * 100 / (10 * t + 100 + 2 * t) for t in range(1, 13)}
    assert (gain, block) == (pytest.approx(max(by_hand.values())), max(by_hand, key=by_hand.__getitem__))


@pytest.mark.parametrize("a", [0.5, 0.8, 0.95])
def test_a_view_pays_from_the_length_at_which_its_gain_passes_one(a: float) -> None:
    first = view_pays_from(TARGET, 10.0, a)
    assert first is not None
    assert view_gain(TARGET, 10.0, a, first)[0] > 1.0 >= view_gain(TARGET, 10.0, a, first - 1)[0]
    assert view_pays_from(TARGET, 10.0, a) > view_pays_from(TARGET, 5.0, a), "a cheaper view pays earlier"


def test_where_a_view_never_pays_that_is_said() -> None:
    flat = LinearCosts.fitted({(rows, n): 10.0 + rows for rows in (1, 4) for n in (1000, 2000)})
    assert view_pays_from(flat, 10.0, 0.8) is None and view_pays_from(flat, 1.0, 0.8) <= 1
    records = [
        {"what": "cost", "level": "target", "dtype": "", "budget": 0, "length": n, "rows": rows, "ms": 10.0 + rows}
        for n in (1000, 2000)
        for rows in (1, 2, 4, 8)
    ]
    records += [
        {"what": "cost", "level": "view", "dtype": d, "budget": 128, "length": 2000, "rows": 1, "ms": ms}
        for d, ms in (("float32", 10.0), ("int8", 1.0))
    ]
    records += [
        {
            "what": "agreement",
            "text": "prose",
            "dtype": d,
            "keep": "stream",
            "budget": 128,
            "length": 2000,
            "agree": 0.8,
        }
        for d in ("float32", "int8")
    ]
    table = study.gains(records)
    assert "| float32 | stream | 128 | 0.800 |" in table and "never" in table and "always" in table
