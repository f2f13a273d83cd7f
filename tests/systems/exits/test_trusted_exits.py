"""FREE: early tokens that nobody judges. Their law is known, and enumerated: the exit's row where that is sure, the
target's elsewhere. At either end of its scale it is plain decoding."""

from __future__ import annotations

from typing import Any

import pytest
from enumerator import SAMPLED, Distribution, distance, merged_distribution, target_distribution
from lean_stacks import LeanStacks
from toys import output_of, table, toy_stack

import hsd_core
from hsd_core.core.level import StackEntry
from hsd_core.grammar.stack_text import parse
from hsd_core.models.sampling import Sampling
from hsd_core.systems.exits.climb import ClimbRun
from hsd_core.systems.exits.trusting import GRID, MovingThreshold, crossing
from hsd_core.systems.table.table_level import TableLevel, TableRun
from hsd_core.trace.checks import check

EXACT, VOCAB, SEED = 1e-12, 3, 7
HEAD = 900 + SEED


class TableHead(TableRun):
    """A head that reads every position."""

    remembers = True

    def __init__(self) -> None:
        super().__init__(table(VOCAB, HEAD), "head")
        self.source = self._source

    def reach(self, context: Any) -> Any:
        if self.cached == len(context):
            self.keep(len(context) - 1, ())
        return self.score(context)


class Exits(TableLevel):
    can_verify = False

    def __init__(self, theta: float) -> None:
        super().__init__(table(VOCAB, 0), VOCAB, name="climb")
        self.theta = theta

    def open(self, capacity: int, shared: object) -> Any:
        return ClimbRun([TableHead()], self.theta, gap=True)  # type: ignore[list-item]


def stack(theta: float, block: int = 2, rule: str = "@rule=trust") -> list[StackEntry]:
    bottom, *above = toy_stack(f"table:{block},table{rule}", VOCAB, SEED)
    return [StackEntry(Exits(theta), bottom.spec, bottom.block), *above]  # type: ignore[arg-type]


def gap(prefix: tuple[int, ...]) -> float:
    first, second, *_ = sorted(table(VOCAB, HEAD)(prefix).tolist(), reverse=True)
    return float(first - second)


def known_law(theta: float, block: int, tokens: int, bound: float | None = None) -> Distribution:
    """FREE's law: sure tokens are the exit's, at most `block` in a row; then one is the target's. bound: the first
    token that the target finds more surprising is replaced by one of its own, and the later ones fall away."""
    exit_, target = table(VOCAB, HEAD), table(VOCAB, 100 * SEED + 1)
    found = Distribution()

    def said(output: tuple[int, ...], mass: float, drafted: tuple[int, ...] = ()) -> None:
        left = tokens - len(output)
        if not left:
            found[output] = found.get(output, 0.0) + mass
            return
        line = (0, *output, *drafted)
        if len(drafted) < min(block, left - 1) and gap(line) > theta:
            for token, chance in enumerate(exit_(line).tolist()):
                said(output, mass * chance, (*drafted, token))
            return
        kept = output
        for token in drafted:
            if bound is not None and -float(target((0, *kept))[token].log()) > bound:
                break
            kept += (token,)
        for token, chance in enumerate(target((0, *kept)).tolist()):
            said((*kept, token), mass * chance)

    said((), 1.0)
    return found


@pytest.mark.parametrize(("theta", "bound"), [(0.3, None), (0.3, 1.0)])
def test_the_text_follows_the_law_that_is_known(theta: float, bound: float | None) -> None:
    rule = "@rule=trust" + ("" if bound is None else f"@rollback={bound}")
    found = merged_distribution(stack(theta, rule=rule), [0], 4)
    assert distance(found, known_law(theta, 2, 4, bound)) < EXACT
    assert distance(found, target_distribution(stack(theta), [0], 4)) > 0.01, "and that is not the target's"


@pytest.mark.parametrize(("theta", "rule"), [(1.0, "@rule=trust"), (0.0, "@rule=trust@rollback=0"), (0.3, "")])
def test_it_is_exact_at_either_end_and_under_an_exact_rule(theta: float, rule: str) -> None:
    found = merged_distribution(stack(theta, rule=rule), [0], 3)
    assert distance(found, target_distribution(stack(theta), [0], 3)) < EXACT


def test_the_label_says_what_is_lost() -> None:
    def exact(text: str, sampling: Sampling) -> bool:
        return bool(hsd_core.stack_lossless(parse(text), sampling))

    trusted = "climb:4@at=2@by=gap@theta=0.5,target@rule=trust"
    assert not exact(trusted, SAMPLED) and not exact(trusted, Sampling(0.0))
    for sampling in (SAMPLED, Sampling(0.0)):
        assert exact(f"{trusted}@rollback=0", sampling) and exact(trusted.replace("@rule=trust", ""), sampling)


@pytest.mark.parametrize("moves", ["", "@moves=1"])
def test_over_one_trunk_deferred_layers_are_run_once_and_nothing_is_rejected(moves: str) -> None:
    made, prompt = LeanStacks(layers=6), [5, 50, 3, 17]

    def ran(text: str) -> list[Any]:
        return list(hsd_core.run(made.stack(text), prompt, Sampling(0.0), 3, max_new_tokens=40))

    trusted = ran(f"climb:6@at=2@by=gap@theta=0.02{moves},target@rule=trust")
    assert check(trusted) == []
    verifies = [e for e in trusted if e.event == "verify"]
    assert any(len(e.checks) > 1 for e in verifies)
    for e in verifies:
        assert {c.outcome for c in e.checks} <= {"accepted"}
        rows = [sum(s.rows for s in e.work.ran if s.lo <= layer < s.hi) for layer in range(6)]
        assert rows[5] == e.work.rows == len(e.checks) + 1 and rows[0] <= 1, "the layers above the exit, together"
    plain = output_of(ran("target"))
    assert output_of(trusted) != plain
    for end in ("climb:6@at=2@by=gap@theta=1,target@rule=trust", "climb:6@at=2@by=gap,target@rule=trust@rollback=0"):
        assert output_of(ran(end)) == plain


def test_the_threshold_is_where_agreement_becomes_likely() -> None:
    low, high = [0.2, 0.3, 0.35, 0.4, 0.5], [0.7, 0.8, 0.85, 0.9, 0.95]
    assert 0.5 < (found := crossing(high, low) or 0.0) < 0.8 and found in GRID
    assert crossing(low, high) == GRID[0], "sure and wrong: the paper's rule asks for no more"
    assert crossing(high, []) is None and crossing([0.5, 0.5], low) is None, "nothing to fit"
    moving = MovingThreshold(0.9)
    moving.saw(high, [True] * 5)
    assert moving.theta == 0.9
    moving.saw(low, [False] * 5)
    assert moving.theta == found
