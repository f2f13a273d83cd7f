"""A lookahead window in the passes of the level above: the engine's distribution is the target's, its greedy text
plain."""

from __future__ import annotations

from collections import Counter

import pytest
from enumerator import SAMPLED, distance, run_distribution, target_distribution
from plans_kit import Chosen, by_outcomes, plans
from test_sampled_runs import UNLIKELY, p_value
from toys import output_of, toy_stack

import hsd_core
from hsd_core.core import rules
from hsd_core.core.events import Draft, Event, Verify
from hsd_core.core.level import DraftOrder, Proposal, StackEntry, Verified
from hsd_core.core.tree import Probes, Tree
from hsd_core.grammar.stack_text import parse
from hsd_core.models.sampling import Sampling
from hsd_core.systems.ngram.databases import Databases, LookupLimits
from hsd_core.systems.ngram.ngram_level import NgramLevel, NgramRun
from hsd_core.trace.checks import check

PROMPT = [0, 1, 2, 0, 2, 1, 0, 0, 1, 1, 0, 2, 2, 0]
EXACT, WRONG = 1e-12, 1e-3
# what stands above, and of how many tokens the distribution is enumerated
ABOVE = {
    "table": 4,
    "table@bonus=0": 4,
    "table:2,table": 3,
    "table:2@bonus=0,table": 3,
    "table:1@policy=flush,table@rule=block": 3,
    "table:1,table:1,table": 4,
}
# until the window's first n-grams come few tokens are left there: the pool begins with some
KNOWN = [(first, second, third) for first in (0, 1) for second in (0, 1) for third in (0, 1)]
GREEDY = ("table@rule=greedy", "table@rule=top@k=1", "table:2@rule=top@k=2,table", "table:2@rule=greedy,table")


def looking_ahead(
    above: str, *, guess: int = 3, window: int = 2, n: int = 3, db: str = "", vocab: int = 3, known: bool = False
) -> list[StackEntry]:
    """A real window over tables."""
    spec = parse(f"lookahead:2@guess={guess}@window={window}@n={n},target")[0]

    def databases() -> Databases:
        made = Databases(db, reach={"c": LookupLimits(1, 3)}, max_continuations=guess, ahead=True)
        made.file(KNOWN if known else ())
        return made

    level = NgramLevel(
        databases,
        vocab,
        kind="lookahead",
        guess=guess,
        window=window,
        n=n,
    )
    return [StackEntry(level, spec, 2), *toy_stack(above, vocab, seed=7)]  # type: ignore[list-item]


def ran(stack: list[StackEntry], tokens: int = 24, sampling: Sampling = SAMPLED, seed: int = 1) -> list[Event]:
    events = list(hsd_core.run(stack, PROMPT, sampling, seed, max_new_tokens=tokens))
    assert check(events) == []
    return events


def offered(events: list[Event]) -> int:
    """How many tokens the window named."""
    return sum(e.sources.count("w") for e in events if isinstance(e, Draft))


@pytest.mark.covering
@pytest.mark.parametrize(("guess", "window", "db"), [(1, 1, ""), (3, 2, ""), (3, 2, "c")])
@pytest.mark.parametrize("above", ABOVE)
def test_a_window_leaves_the_targets_distribution(above: str, guess: int, window: int, db: str) -> None:
    vocab, tokens = 2 if above.count(",") == 2 else 3, ABOVE[above]
    stack = looking_ahead(above, guess=guess, window=window, db=db, vocab=vocab, known="," in above)
    prompt = [token % vocab for token in PROMPT]
    runs = [list(hsd_core.run(stack, prompt, SAMPLED, seed, max_new_tokens=tokens)) for seed in range(30)]
    assert db or any(map(offered, runs)), "the pool named nothing"
    assert distance(run_distribution(stack, prompt, tokens), target_distribution(stack, prompt, tokens)) < EXACT


@pytest.mark.parametrize("above", ["table", "table:2,table", "table:2@bonus=0,table"])
def test_levels_that_come_and_go_above_and_below_a_window_leave_the_targets_distribution(above: str) -> None:
    """Rounds with another verifier right above it, and rounds without it: its columns are not fed by those."""
    stack, tokens = looking_ahead(above, db="c", vocab=2, known=True), 4
    prompt = [token % 2 for token in PROMPT]
    chosen = Chosen(by_outcomes(plans(len(stack), bottom_only=[0])))
    found = run_distribution(stack, prompt, tokens, replan=chosen)
    assert distance(found, target_distribution(stack, prompt, tokens)) < EXACT
    assert len(chosen.seen) > 1, "the plan never changed"
    for seed in range(20):
        events = list(hsd_core.run(stack, prompt, SAMPLED, seed, max_new_tokens=30, replan=chosen))
        assert check(events) == []
        assert any(e.work.probes for e in events if isinstance(e, Verify))


@pytest.mark.everything
def test_a_window_that_fills_within_a_round_leaves_the_targets_distribution() -> None:
    """All that is offered came out of the window, of verifications that the target has not seen."""
    stack, prompt = looking_ahead("table:3,table", vocab=2), [0, 1, 1, 0, 1, 0]
    runs = [list(hsd_core.run(stack, prompt, SAMPLED, seed, max_new_tokens=5)) for seed in range(30)]
    assert any(e.at > 1 for events in runs for e in events if isinstance(e, Draft) and "w" in e.sources and e.round < 1)
    assert distance(run_distribution(stack, prompt, 5), target_distribution(stack, prompt, 5)) < EXACT


@pytest.mark.parametrize("above", ["table", "table@bonus=0", "table:2,table"])
def test_what_the_window_names_may_end_the_text(above: str) -> None:
    stack, ends, tokens = looking_ahead(above, known=True), frozenset({2}), ABOVE[above]
    assert (
        distance(
            run_distribution(stack, PROMPT, tokens, ends=ends), target_distribution(stack, PROMPT, tokens, ends=ends)
        )
        < EXACT
    )
    for seed in range(40):
        assert check(list(hsd_core.run(stack, PROMPT, SAMPLED, seed, max_new_tokens=12, ends=ends))) == []


@pytest.mark.parametrize("sampling", [Sampling(0.7, top_k=2), Sampling(1.0, top_p=0.8)])
def test_other_samplings_too(sampling: Sampling) -> None:
    stack = looking_ahead("table:2,table", known=True)
    found = run_distribution(stack, PROMPT, 3, sampling=sampling)
    assert distance(found, target_distribution(stack, PROMPT, 3, sampling=sampling)) < EXACT


@pytest.mark.covering
@pytest.mark.parametrize("window", [1, 4])
@pytest.mark.parametrize("above", [*ABOVE, *GREEDY])
def test_greedy_runs_of_every_rule_are_plain_decoding(above: str, window: int) -> None:
    stack = looking_ahead(above, window=window, n=4)
    events = ran(stack, 60, Sampling())
    assert offered(events) > 0
    assert output_of(events) == output_of(ran(stack[-1:], 60, Sampling()))


@pytest.mark.parametrize("above", ["table@bonus=0", "table:2@bonus=0,table"])
def test_a_probe_does_not_stay_where_a_kept_leaf_belongs(above: str) -> None:
    """Without a bonus a leaf is not processed, and of a chain of two one probe takes its slot."""
    stack = looking_ahead(above, guess=1, window=1, known=True)
    kept = 0
    for seed in range(20):
        events = ran(stack, 40, seed=seed)  # the tables refuse a context that their cache disagrees with
        below = [e for e in events if isinstance(e, Verify) and e.below == 0]
        kept += sum([c.outcome for c in e.checks] == ["accepted"] * 2 for e in below if e.work.probes == 1)
    assert kept > 5


@pytest.mark.parametrize("above", ["table:2,table", pytest.param("table", marks=pytest.mark.everything)])
def test_seeded_runs_agree_with_the_exact_distribution(above: str) -> None:
    stack, runs, tokens = looking_ahead(above, known=True), 600, ABOVE[above]
    outputs = (list(hsd_core.run(stack, PROMPT, SAMPLED, s, max_new_tokens=tokens, heads=0)) for s in range(runs))
    assert p_value(Counter(map(output_of, outputs)), target_distribution(stack, PROMPT, tokens), runs) > UNLIKELY


def off(above: str = "table:2,table") -> float:
    stack = looking_ahead(above, known="," in above)
    return distance(run_distribution(stack, PROMPT, ABOVE[above]), target_distribution(stack, PROMPT, ABOVE[above]))


def test_a_correction_that_forgets_the_rejected_siblings_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "_without", lambda row, token: row)
    assert off("table") > WRONG


def test_a_fresh_draw_in_place_of_the_kept_prefix_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the release of Hierarchy Drafting does while its window fills."""
    real = rules.tokenwise

    def afresh(tree: Tree, p: object, judge: object, bonus: bool) -> rules.Verdict:
        verdict = real(tree, p, judge, bonus)  # type: ignore[arg-type]
        if verdict.residual is None:
            return verdict
        token = judge.draw(p[0], 9)  # type: ignore[attr-defined, index]
        return rules.Verdict((), token, verdict.alphas, verdict.coins, p[0])  # type: ignore[index]

    monkeypatch.setattr(rules, "tokenwise", afresh)
    assert off() > WRONG


def test_rows_of_probes_taken_for_rows_of_the_tree_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Tree.with_probes

    def before(self: Tree, probes: Probes) -> Tree:
        both = real(self, probes)
        return real(Tree(both.tokens[len(self) :], parents=probes.parents), Probes(tuple(self.ids), self.lineage))

    monkeypatch.setattr(Tree, "with_probes", before)
    assert off("table") > WRONG


def test_the_probes_are_the_verifiers_own_likeliest_tokens_whatever_is_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    stack, seen = looking_ahead("table:2,table", window=3, n=4), 0
    propose, observe = NgramRun.propose, NgramRun.observe
    asked: list[tuple[list[int], Probes]] = []

    def noted(self: NgramRun, context: list[int], order: DraftOrder) -> Proposal:
        found = propose(self, context, order)
        asked.append((list(context), found.probes))
        return found

    def compared(self: NgramRun, outcome: object) -> object:
        nonlocal seen
        if isinstance(outcome, Verified) and outcome.probed:
            context, probes = asked[-1]
            assert outcome.start == len(context)
            paths: list[list[int]] = []
            for id_, parent in zip(probes.ids, probes.parents, strict=True):
                paths.append([*(paths[parent] if parent >= 0 else []), id_])
            own = [int(stack[1].level.table((*context, *path)).argmax()) for path in paths]  # type: ignore[attr-defined]
            assert list(outcome.probed) == own
            seen += len(own)
        return observe(self, outcome)  # type: ignore[arg-type]

    monkeypatch.setattr(NgramRun, "propose", noted)
    monkeypatch.setattr(NgramRun, "observe", compared)
    ran(stack)
    assert seen > 100
