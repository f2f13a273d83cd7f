"""The price of a text that is not its target's own: the reading agrees with the verdicts, wherever there are any."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import pytest

from hsd_core.cli.terminal import totals_lines
from hsd_core.core.events import Baseline, Check, Commit, Event, Report, Verify
from hsd_core.pipeline import Pipeline
from hsd_core.systems.price.notes import Price
from hsd_core.trace import metrics
from hsd_core.trace.checks import check
from hsd_core.trace.conventions import spared

TOP = "table:4@id=order1,table@rule=top@k={}@id=order6"
PROMPT = "The small level drafts"


@lru_cache
def toy() -> Pipeline:
    return Pipeline.open("toy")


def ran(stack: str, **options: object) -> list[Event]:
    events = list(toy().run(stack, PROMPT, max_new_tokens=40, **options))  # type: ignore[arg-type]
    assert check(events) == []
    return events


def price_of(events: Sequence[Event]) -> Price | None:
    return next((note for e in events if isinstance(e, Report) if (note := Price.of(e))), None)


def kept_checks(events: Sequence[Event]) -> list[Check]:
    serials = {token.serial for e in events if isinstance(e, Commit) for token in e.tokens}
    checks = [one for e in events if isinstance(e, Verify) and e.level == 1 for one in e.checks]
    return [one for one in checks if one.outcome == "accepted" and one.serial in serials]


def test_a_greedy_reading_finds_the_tokens_that_the_verdicts_spared() -> None:
    events = ran(TOP.format(3), baseline=True)
    price, ids = price_of(events), metrics.committed_ids(events)
    assert price is not None and len(ids) == len(price.nats)
    other = [at for at, (own, id_) in enumerate(zip(price.choices, ids, strict=True)) if own != id_]
    serials = [token.serial for e in events if isinstance(e, Commit) for token in e.tokens]
    assert {serials[at] for at in other} == {one.serial for one in kept_checks(events) if spared(one)}
    assert price.spared == len(other) > 3
    rows = {one.serial: one.p_row for one in kept_checks(events)}
    for at, serial in enumerate(serials):
        row = rows.get(serial)
        if row and ids[at] in row.ids:  # the raw row at temperature 1
            assert math.exp(-price.nats[at]) == pytest.approx(row.probs[row.ids.index(ids[at])], rel=1e-4)
    assert price.plain is not None and price.plain < sum(price.nats) / len(ids)
    said = "\n".join(totals_lines(events, colour=False))
    assert f"price: {len(other)} of 40 tokens" in said and f"of plain decoding's text {price.plain:.2f}" in said


def test_what_is_exact_has_no_price_and_plain_decoding_costs_nothing() -> None:
    for stack in ("table:4@id=order1,table@id=order6", TOP.format(1)):
        assert price_of(ran(stack)) is None
    events = ran("table@id=order6", price=True)
    price = price_of(events)
    assert price is not None and price.spared == 0
    beside = next(e for e in ran(TOP.format(3), baseline=True) if isinstance(e, Baseline))
    assert [*beside.ids] == metrics.committed_ids(events)


def test_drawn_texts_are_priced_by_coins_or_by_what_an_exact_rule_would_have_kept() -> None:
    events = ran(TOP.format(3), temperature=1.0, seed=1)
    price = price_of(events)
    assert price is not None
    expected = sum(1 - min(1.0, one.p / one.q) for one in kept_checks(events))
    assert price.spared == pytest.approx(expected, rel=1e-4) and expected > 1
    for alpha, coin, p, wanted in (
        (0.25, 0.3, 0.1, True),
        (0.25, 0.2, 0.1, False),
        (1, None, 0, True),
        (1, None, 1, False),
    ):
        assert spared(Check(0, 0, alpha, coin, "accepted", p, 0.5)) == wanted
