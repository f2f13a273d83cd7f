"""A kind, a rule and a stop policy declare their keys, and that is all that there is of them anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import golden
import pytest
from laid_beside import laid_beside
from toys import toy_stack

from hsd_core import grammar as declared
from hsd_core.core.events import Draft, Header, Verify
from hsd_core.core.hierarchy import Hierarchy
from hsd_core.grammar import LevelSpec, policy_of, rule_of, theta_of
from hsd_core.grammar.key import Whole
from hsd_core.grammar.keys import AT, BONUS, GUESS, ID, POLICY, THETA, TREE, WINDOW
from hsd_core.grammar.stack_text import StackError, bare, format_stack, grammar, parse, stack_lossless
from hsd_core.models.sampling import Sampling
from hsd_core.pipeline import Pipeline
from hsd_core.trace.checks import check

MORE = Path(__file__).parents[1]
LIT = "table:8@policy=patient{}@id=order3,table@id=order6"


@pytest.fixture
def patient() -> Iterator[None]:
    """`more_choices/patient.py` and `systems/example/echo`, laid beside the package's own."""
    with laid_beside(MORE / "more_choices", names=("patient", "echo")):
        yield


def ran(stack: str, temperature: float = 0.0) -> list[Any]:
    pipeline = Pipeline.open("toy")
    return list(pipeline.run(stack, "The small level", max_new_tokens=40, seed=3, temperature=temperature))


def lengths(stack: str) -> list[int]:
    return [len(event.ids) for event in ran(stack) if isinstance(event, Draft)]


def test_a_value_that_was_not_given_is_the_declared_one() -> None:
    ngram, lookahead, target = parse("ngram,target")[0], parse("lookahead,target")[0], parse("target@rule=top")[0]
    assert (ngram[GUESS], lookahead[GUESS]) == (1, 7)
    assert (ngram[WINDOW], lookahead[WINDOW]) == (0, 7)
    assert target[declared.keys()["k"]] == 1 and rule_of(target).bind({}).keywords == {"k": 1}
    assert (ngram.policy, ngram.rule, ngram.bonus, ngram[BONUS]) == ("fixed", "tokenwise", True, True)
    margin = LevelSpec("int8", values={"policy": "margin"})
    assert margin[THETA] == theta_of(margin) == 0.15
    assert margin.having(policy="confidence")[THETA] == 0.6


def test_a_value_that_nobody_declares_is_none_or_asked_for() -> None:
    level = parse("nano,target")[0]
    assert level.get(ID) is level.get(TREE) is level.get(AT) is None
    with pytest.raises(StackError, match="nano: @at= is missing"):
        level[AT]


def test_a_level_is_the_same_whether_it_says_what_is_declared_or_not() -> None:
    said, unsaid = parse("ngram:4@guess=1@window=0@kept=7@policy=fixed,target@bonus=1"), parse("ngram:4,target")
    assert said == unsaid and hash(said[0]) == hash(unsaid[0])
    one = LevelSpec("ngram", 4, {"guess": 3})
    assert one.having(guess=1) == one.having(guess=None) == unsaid[0] != one
    # What is declared for a policy or a rule is another policy's no longer, so it stays where it was said.
    kept = "int8:4@policy=confidence@theta=0.6,target@rule=top@k=1"
    assert format_stack(parse(kept)) == kept


def test_what_a_kind_says_of_itself_is_read_at_a_glance() -> None:
    kind = declared.kinds()["exit"]
    assert len(fields(kind)) <= 12
    parts = (kind.look, kind.text, kind.placement, kind.shares, kind.planning, kind.lookup)
    assert all(len(part) <= 6 for part in parts)


def test_a_level_of_an_unknown_kind_is_drawn_as_the_kind_that_declares_to_stand_for_it() -> None:
    declares = {kind.look.stand_in: kind for kind in declared.kinds().values()}
    assert declared.drawn_as("of another program") is declares["level"]
    assert declared.drawn_as("of another program", last=True) is declared.stand_in(last=True) is declares["target"]
    assert declared.stand_in(lookup=True) is declares["lookup"]


def test_every_key_is_declared_with_all_that_it_needs() -> None:
    for kind in declared.kinds().values():
        assert len({key.name for key in kind.keys}) == len(kind.keys)
        for key in kind.keys:
            said = declared.keys()[key.name]
            assert key.usual is None or said.parse(said.write(key.usual)) == key.usual
    names = [key.name for key in declared.kinds()["target"].keys]
    assert names[names.index(POLICY.name) + 1] == "theta" and names[names.index("rule") + 1] == "k"


@pytest.mark.usefixtures("patient")
def test_a_policy_with_two_parameters_is_read_and_written() -> None:
    text = LIT.format("@theta=0.3@patience=3")
    assert format_stack(parse(text)) == text
    level = parse(text)[0]
    assert (theta_of(level), level[declared.keys()["patience"]]) == (0.3, 3)
    assert policy_of(level).bind(level.values) == policy_of(level).make(theta=0.3, patience=3)
    usual = parse(LIT.format(""))[0]
    assert policy_of(usual).bind(usual.values) == policy_of(usual).make(theta=0.5, patience=2)
    assert bare(level) == LevelSpec("table", values={"id": "order3"})
    with pytest.raises(StackError, match="table: patience is '10'; use a whole number from 1 to 9"):
        parse(LIT.format("@patience=10"))
    with pytest.raises(StackError, match="lookahead: @patience means nothing here"):
        parse("lookahead@patience=3,target")


@pytest.mark.usefixtures("patient")
def test_a_policy_with_two_parameters_is_built_run_and_recorded() -> None:
    events = ran(LIT.format(""))
    assert check(events) == [] and isinstance(events[0], Header)
    assert (events[0].levels[0].policy, events[0].levels[0].theta) == ("patient", 0.5)
    assert ran(LIT.format("@patience=5"))[0].stack == LIT.format("@patience=5")
    one, two, nine = (lengths(LIT.format(f"@theta=0.9@patience={n}")) for n in (1, 2, 9))
    assert max(one) < 8 and max(nine) == 8
    assert sum(one) / len(one) < sum(two) / len(two) < sum(nine) / len(nine)
    runs = [Hierarchy(toy_stack("table:2@policy=patient,table", 4), **RUN).policies[0] for _ in range(2)]
    assert runs[0] == runs[1] and runs[0] is not runs[1]


RUN: dict[str, Any] = {"sampling": Sampling(0.0), "choices": None, "ends": frozenset()}


@pytest.mark.usefixtures("patient")
def test_the_page_is_given_its_controls_where_they_count() -> None:
    given = {key["name"]: key for key in grammar()["keys"]}
    patience, theta, slack = given["patience"], given["theta"], given["slack"]
    assert (patience["when"], patience["usual"]) == (("policy", ("patient",)), "2")
    assert patience["tip"] == "how many unsure tokens it takes"
    assert theta["usuals"] == {"confidence": "0.6", "margin": "0.15", "adaptive": "0.6", "patient": "0.5"}
    assert theta["tips"]["patient"] == "below which a token is unsure"
    assert slack["when"] == ("rule", ("near",))
    heeded = {kind["name"]: kind["keys"] for kind in grammar()["kinds"]}
    assert heeded["ngram"][:4] == ["policy", "theta", "ask", "patience"]
    order = ["rule", "k", "slack", "with", "ahead", "width", "least", "bonus"]
    assert [key for key in heeded["target"] if key in order] == order


@pytest.mark.usefixtures("patient")
def test_a_rule_with_a_key_is_read_refused_run_and_told_apart_from_the_exact_ones() -> None:
    text = "table:4@id=order1,table@rule=near@slack={}@id=order6"
    assert format_stack(parse(text.format(0.25))) == text.format(0.25)
    refused = "table: @slack belongs to the rule near; write table@rule=near@slack=0.25"
    for other in ("@rule=block", ""):
        with pytest.raises(StackError, match=refused):
            parse(f"table:4,table{other}@slack=0.25")
    with pytest.raises(StackError, match="target: rule near judges one candidate"):
        parse("ngram:4@guess=3,target@rule=near")
    kept = []
    for slack in (1, 0):
        events = ran(text.format(f"{slack}"), temperature=1.5)
        assert check(events) == []
        judged = [one.outcome for event in events if isinstance(event, Verify) for one in event.checks]
        kept.append(judged.count("accepted") / len(judged))
    assert kept[0] < kept[1] == 1.0
    exact, lossy = (stack_lossless(parse(text.format(slack)), Sampling(0.0)) for slack in ("1", "0.25"))
    assert exact and not lossy
    assert lossy.reason == "the target commits what is 0.25 times as likely as its first choice (rule near)"
    assert not stack_lossless(parse(text.format("1")), Sampling(1.0))


@pytest.mark.usefixtures("patient")
def test_no_golden_case_knows_which_kinds_rules_and_policies_there_are() -> None:
    assert "echo" in declared.kinds() and "patient" in declared.policies() and "near" in declared.rules()
    for case in golden.CASES:
        golden.check(case)


def test_one_key_that_means_two_things_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    other = Whole(name="back", low=1, high=5)
    from hsd_core.grammar.registry import _shared

    with pytest.raises(AssertionError, match="@back means something else elsewhere"):
        _shared("some", Whole(name="back", low=1, high=9), other)
    assert _shared("some", other.usually(2), other.usually(3)) == other
    assert _shared("some", other.usually(2), other.usually(2)) == other.usually(2)
