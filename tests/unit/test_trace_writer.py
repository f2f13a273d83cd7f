from __future__ import annotations

import notes_of
import pytest
import torch
from toys import output_of, toy_stack

import hsd_core
from hsd_core.core import events as trace
from hsd_core.core.tree import Token, Tree, joined
from hsd_core.models.sampling import Sampling, to_probs

SAMPLED = Sampling(1.0)
HOT = Sampling(1.0, top_p=0.9)
TEXT = "table:3,table:4@policy=flush,table@rule=block"


def run(text: str = TEXT, *, vocab: int = 6, sampling: Sampling = HOT, **options: int) -> list:
    return list(hsd_core.run(toy_stack(text, vocab, seed=4), [0], sampling, 3, max_new_tokens=30, **options))


def checks_of(events: list) -> list[tuple[trace.Verify, trace.Check]]:
    return [(event, check) for event in events if event.event == "verify" for check in event.checks]


def test_serials_number_every_token_once_in_order_of_birth() -> None:
    born: list[int] = []
    for event in run():
        born += event.serials if event.event == "draft" else ()
        born += [event.serial] if event.event in ("correct", "bonus") else ()
    assert born == list(range(len(born)))


def test_a_token_keeps_its_serial_id_and_maker_on_the_way_up() -> None:
    events = run()
    ids, makers = {}, {}
    for event in events:
        if event.event == "draft":
            ids.update(zip(event.serials, event.ids, strict=True))
            makers.update(dict.fromkeys(event.serials, (event.level, "draft")))
        elif event.event in ("correct", "bonus"):
            ids[event.serial], makers[event.serial] = event.id, (event.level, event.event)
    assert all(ids[check.serial] == check.id for _, check in checks_of(events))
    for event in events:
        for token in event.tokens if event.event == "commit" else ():
            assert (ids[token.serial], makers[token.serial]) == (token.id, (token.level, token.how))


def test_passed_lists_the_levels_that_accepted_a_token() -> None:
    events = run()
    passed: dict[int, list[int]] = {}
    for event, check in checks_of(events):
        if check.outcome == "accepted":
            passed.setdefault(check.serial, []).append(event.level)
    committed = [token for event in events if event.event == "commit" for token in event.tokens]
    assert [list(token.passed) for token in committed] == [passed.get(token.serial, []) for token in committed]
    assert {token.passed for token in committed} >= {(1, 2), (2,), ()}


def test_a_check_explains_its_outcome() -> None:
    for text in ("table:4,table", "ngram:3,table"):
        seen = set()
        for _, check in checks_of(run(text)):
            seen.add(check.outcome)
            ratio = check.p / check.q
            if check.outcome != "unjudged":
                assert check.alpha == pytest.approx(min(1.0, ratio), rel=1e-4)
            if check.coin is not None:
                assert (check.coin < check.alpha) == (check.outcome == "accepted")
            assert (check.residual is not None) == (check.outcome == "rejected")
            if check.residual is not None:
                assert check.id not in check.residual.ids, "a rejected token has no mass in the residual of tokenwise"
        assert seen == {"accepted", "rejected", "unjudged"}


def test_rows_are_raw_and_their_heads_and_tails_make_one() -> None:
    stack = toy_stack("table:4,table", 6, seed=4)
    events = list(hsd_core.run(stack, [0], Sampling(0.0), 3, max_new_tokens=20, heads=2))
    output: list[int] = []
    for event in events:
        if event.event == "verify":
            before = [0, *output]
            for check in event.checks:
                judged = check.outcome != "unjudged"
                assert judged == (check.p_row is not None), "rows that decided nothing are not looked at"
                for row, entry in ((check.q_row, stack[0]), *[(check.p_row, stack[1])] * judged):
                    dist = entry.level.table(tuple(before))  # type: ignore[attr-defined]
                    assert row is not None
                    assert list(row.probs) == pytest.approx(dist.topk(2).values.tolist(), rel=1e-5)
                    assert sum(row.probs) + row.tail == pytest.approx(1.0, abs=1e-5)
                before.append(check.id)
        if event.event == "commit":
            output += [token.id for token in event.tokens]
    assert tuple(output) == output_of(events)


def test_a_lookup_drafters_row_is_one_hot_and_without_confidence() -> None:
    events = run("ngram:3,table")
    assert all(check.q == 1.0 for _, check in checks_of(events))
    assert all(check.q_row == trace.Row((check.id,), (1.0,), 0.0) for _, check in checks_of(events))
    assert {sure for event in events if event.event == "draft" for sure in notes_of.confidence(event)} == {None}


def test_without_heads_no_row_is_written() -> None:
    for _, check in checks_of(run(heads=0)):
        assert (check.p_row, check.q_row, check.residual) == (None, None, None)


@pytest.mark.parametrize("text", [TEXT, "table:4,table@bonus=0", "ngram:3,table", "table:3@tree=2.2.1,table:2,table"])
@pytest.mark.parametrize("sampling", [SAMPLED, Sampling(0.7, top_k=3), Sampling(0.0)])
def test_the_chance_of_a_correction_or_a_bonus_is_that_under_its_own_row(text: str, sampling: Sampling) -> None:
    """The chance on its card: under the distribution behind the kept tokens, not behind the first of them."""
    stack = toy_stack(text, 6, seed=4)
    events = list(hsd_core.run(stack, [0], sampling, 3, max_new_tokens=60))
    output, behind, committed = output_of(events), 0, 0
    for event in events:
        if event.event in ("correct", "bonus"):
            if event.level == len(stack) - 1:
                dist = stack[-1].level.table((0, *output[: event.at]))  # type: ignore[attr-defined]
                chance = to_probs(dist.log()[None], sampling)[0, event.id]
                assert event.p == pytest.approx(float(chance), rel=1e-4), f"at {event.at}"
                behind += event.at > committed
            if sampling == SAMPLED and event.id in event.p_row.ids:
                assert event.p == pytest.approx(event.p_row.probs[event.p_row.ids.index(event.id)], rel=1e-4)
        elif event.event == "commit":
            committed = event.at + len(event.tokens)
    assert behind > 3, "nothing was kept before one of them"


def test_numbers_are_written_with_six_digits() -> None:
    for _, check in checks_of(run(sampling=SAMPLED)):
        for number in (check.alpha, check.p, check.q, *(check.p_row.probs if check.p_row else ())):
            assert number == float(f"{number:.6g}")


def test_joined_chains_keep_their_order_and_their_rows() -> None:
    def block(serial: int, *, greedy: bool = False) -> Tree:
        rows = torch.full((1, 3), float(serial))
        return Tree([Token(serial, 0, 0, "draft", "")], None if greedy else rows, rows)

    whole = joined([block(1), block(2)])
    assert [token.serial for token in whole.tokens] == [1, 2]
    assert whole.rows[:, 0].tolist() == [1.0, 2.0]
    assert joined([block(1, greedy=True), block(2, greedy=True)]).rows is None
    with pytest.raises(AssertionError, match="all have rows, or none"):
        joined([block(1), block(2, greedy=True)])


@pytest.mark.parametrize("text", ["table:3,table", "table:2,table:4@policy=flush,table"])
def test_greedy_tokens_go_up_without_rows_and_are_written_down_with_them(text: str) -> None:
    events = run(text, sampling=Sampling())
    drafts = [event for event in events if event.event == "draft"]
    assert all(sure is not None and 0.0 < sure < 1.0 for draft in drafts for sure in notes_of.confidence(draft))
    for _, check in checks_of(events):
        assert (check.p, check.q) == (check.alpha, 1.0), "its row has all its mass on it"
        for row in (check.q_row, *[check.p_row] * (check.outcome != "unjudged")):
            assert len(row.ids) > 1, "raw rows, at temperature 1"
        assert check.id == check.q_row.ids[0]
        if check.residual is not None:
            assert check.residual == trace.Row((check.p_row.ids[0],), (1.0,), 0.0)
    assert {check.outcome for _, check in checks_of(events)} >= {"accepted", "rejected"}


def test_where_every_candidate_of_a_place_is_rejected_the_last_one_has_what_the_correction_is_drawn_from() -> None:
    seen = 0
    for event, _ in ((e, e.checks) for e in run("table:1@tree=3,table") if e.event == "verify"):
        rejected = [check.residual for check in event.checks if check.outcome == "rejected"]
        if len(rejected) > 1 and len(rejected) == len(event.checks):
            seen += 1
            assert rejected[-1] is not None and not any(rejected[:-1])
    assert seen
