"""Claims about kinds of level side by side: no two look alike, and each has a price or says why not."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from hsd_core.grammar import kinds
from hsd_core.grammar.stack_text import StackError
from hsd_core.measure.calibrate.candidates import asked

SAME = {"del": "exit", "int4": "int8", "table": "model"}  # kinds that are another one's


def test_no_two_kinds_look_alike_even_without_colours() -> None:
    looks = [one.look for name, one in kinds().items() if name not in SAME]
    assert set(SAME) <= set(kinds())
    assert max(Counter((look.colour, look.underline, look.letter) for look in looks).values()) == 1
    assert max(Counter((look.underline, look.letter) for look in looks).values()) == 1, "forced colours, and readers"
    drafters = {name: kinds()[name].look for name in ("nano", "eagle3", "medusa", "dflash", "mtp", "ngram", "suffix")}
    assert len({(look.colour, look.underline) for look in drafters.values()}) == len(drafters)


@pytest.mark.parametrize(
    ("level", "why"),
    [
        ("eagle3@id=DRAFTER", ""),
        ("mtp", ""),
        ("suffix", ""),
        ("suffix@grow=16", ""),
        ("dflash@id=DRAFTER", "costs the same however long it is; calibrate a draft that goes token by token"),
        ("suffix@earlier=runs", "calibrate suffix without @earlier="),
        ("exit@at=4@grow=10", "calibrate exit without @grow=10"),
    ],
)
def test_a_drafter_is_calibrated_for_plans_or_says_what_is_instead(level: str, why: str) -> None:
    if not why:
        assert asked(f"{level},target") == [level, "target"]
    else:
        with pytest.raises(StackError, match=re.escape(why)):
            asked(f"{level},target")
