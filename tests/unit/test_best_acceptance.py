"""The best acceptance that any exact rule could reach: against the linear programme, closed cases and the rule."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from enumerator import every_path
from msgspec.structs import replace
from toys import toy_stack, tree_stack

import hsd_core
from hsd_core.cli.terminal import totals_lines
from hsd_core.core.choices import Judge
from hsd_core.core.events import Bound, Verify
from hsd_core.core.rules import tokenwise
from hsd_core.core.tree import Offer, Token, Tree
from hsd_core.models import best_acceptance
from hsd_core.models.best_acceptance import Distribution, reach
from hsd_core.models.sampling import Sampling
from hsd_core.trace.checks import check
from hsd_core.trace.metrics import measure

NAMED: tuple[tuple[int, ...], ...] = ((), (0,), (3, 1))
SAMPLED = Sampling(1.0)


def dists(seed: int, vocab: int = 5, zeros: float = 0.0) -> tuple[Distribution, Distribution]:
    rng = np.random.default_rng(seed)
    p, q = rng.exponential(size=(2, vocab)) ** 3
    q[1:] *= rng.random(vocab - 1) >= zeros
    return p / p.sum(), q / q.sum()


def draws(q: Distribution, k: int, repeats: bool) -> Iterator[tuple[tuple[int, ...], float]]:
    """All that k draws may give, in order, each with its chance; fewer where nothing is left."""
    if not k or not q.any():
        yield (), 1.0
        return
    q = q / q.sum()
    for x in np.flatnonzero(q).tolist():
        rest = q if repeats else np.where(np.arange(len(q)) == x, 0.0, q)
        for others, chance in draws(rest, k - 1, repeats):
            yield (x, *others), float(q[x]) * chance


def programme(p: Distribution, q: Distribution, k: int, named: tuple[int, ...], repeats: bool) -> float:
    """The most mass that can flow from sets of candidates, as likely as they are, into tokens of p that lie in them."""
    sets: dict[frozenset[int], float] = {}
    without = q.copy()
    without[list(named)] = 0.0
    for found, chance in draws(without, k, repeats):
        which = frozenset(found) | set(named)
        sets[which] = sets.get(which, 0.0) + chance
    room: dict[object, dict[object, float]] = {"in": {}, "out": {}}
    for which, chance in sets.items():
        room["in"][which] = chance
        room[which] = {"in": 0.0, **dict.fromkeys(which, 2.0)}
    for y, chance in enumerate(p.tolist()):
        room[y] = {"out": chance, **{which: 0.0 for which in sets if y in which}}
        room["out"][y] = 0.0
    flow = 0.0
    while True:  # the shortest way that has room left (Edmonds and Karp)
        came: dict[object, object] = {"in": None}
        queue = deque(["in"])
        while queue and "out" not in came:
            here = queue.popleft()
            for there, left in room[here].items():
                if left > 1e-15 and there not in came:
                    came[there] = here
                    queue.append(there)  # type: ignore[arg-type]
        if "out" not in came:
            return flow
        way, there = [], "out"
        while came[there] is not None:
            way.append((came[there], there))
            there = came[there]  # type: ignore[assignment]
        least = min(room[a][b] for a, b in way)
        flow += least
        for a, b in way:
            room[a][b] -= least
            room[b][a] = room[b].get(a, 0.0) + least


@pytest.mark.parametrize("repeats", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_the_bound_is_the_value_of_the_linear_programme(k: int, repeats: bool) -> None:
    for seed in range(12):
        p, q = dists(seed, zeros=0.3 * (seed % 2))
        for named in NAMED:
            best = programme(p, q, k, named, repeats)
            assert reach(p, q, k, named, repeats=repeats).best == pytest.approx(best, abs=1e-10), (seed, named)


def test_one_candidate_is_kept_with_one_minus_the_total_variation() -> None:
    p, q = dists(1)
    found = 1 - np.abs(p - q).sum() / 2
    assert reach(p, q, 1) == (pytest.approx(found), pytest.approx(found))


def test_named_candidates_are_kept_with_their_probability() -> None:
    p, q = dists(2)
    assert reach(p, None, 0, (4, 2)) == (pytest.approx(p[4] + p[2]), pytest.approx(p[4] + p[2]))
    rest = np.where(np.arange(5) == 2, 0.0, q)
    both = p[2] + np.minimum(p, rest / rest.sum()).sum()  # one drawn beside it: the rule reaches the bound
    assert reach(p, q, 1, (2,)) == (pytest.approx(both), pytest.approx(both))


def kept_by_the_rule(p: Distribution, q: Distribution, k: int, named: tuple[int, ...], repeats: bool) -> float:
    """The chance that the engine's rule keeps a candidate: all draws, all coins."""
    without = q.copy()
    without[list(named)] = 0.0
    total, rows = 0.0, torch.tensor(np.stack([q]))
    for found, chance in draws(without, k, repeats):
        ids = [*dict.fromkeys(found), *named]
        offers = [Offer(ids.index(x), 0) for x in found] + [Offer(ids.index(x)) for x in named]
        tokens = [Token(-1, x, 0, "draft", "") for x in ids]
        tree = Tree(tokens, rows, None, (-1,) * len(ids), tuple(offers), repeats)
        p_rows = torch.tensor(np.stack([p] * (len(ids) + 1)))
        for mass, verdict in every_path(lambda c, t=tree, r=p_rows: tokenwise(t, r, Judge(c, 1, 0, 0), True)):  # type: ignore[misc]
            total += chance * mass * bool(verdict.path)
    return total


@pytest.mark.parametrize(("k", "repeats"), [(1, False), (2, False), (2, True), (3, True)])
def test_what_the_rule_reaches_is_what_the_engines_rule_keeps(k: int, repeats: bool) -> None:
    for seed in range(6):
        p, q = dists(seed, zeros=0.3 * (seed % 2))
        for named in NAMED:
            rule, best = reach(p, q, k, named, repeats=repeats)
            assert rule == pytest.approx(kept_by_the_rule(p, q, k, named, repeats), abs=1e-12)
            assert rule is not None and rule <= best


def test_three_drawn_have_a_bound_above_the_rule_and_no_figure_of_the_rule() -> None:
    p, q = dists(3)
    rule, best = reach(p, q, 3)
    assert rule is None and kept_by_the_rule(p, q, 3, (), False) < best
    assert reach(p, q, 9).best == 1.0  # all there are


@pytest.mark.parametrize("q", [[1 - 1e-9, 6e-10, 4e-10, 0], [1.0, 0, 0, 0], [0.5, 0.5, 0, 0]])
def test_peaked_distributions(q: list[float]) -> None:
    p = np.array([0.1, 0.2, 0.3, 0.4])
    for k in (1, 2, 3):
        expected = programme(p, np.array(q) / sum(q), k, (), False)
        assert reach(p, np.array(q), k).best == pytest.approx(expected, abs=1e-9)


def test_a_cut_vocabulary_errs_upwards_and_little(monkeypatch: pytest.MonkeyPatch) -> None:
    p, q = dists(4, vocab=200)
    whole = reach(p, q, 3).best
    monkeypatch.setattr(best_acceptance, "HEAD", 80)
    beyond = np.sort(q)[:-80].sum()
    assert beyond > 0 and whole <= reach(p, q, 3).best <= whole + 3 * beyond


def verifications(text: str, shape: tuple[int, ...], seed: int, how: str = "drawn", **options: object) -> list[Verify]:
    stack = tree_stack(text, shape, how, 5, 2) if shape else toy_stack(text, 5, 2)
    options = {"sampling": SAMPLED, "max_new_tokens": 4, **options}
    events = list(hsd_core.run(stack, [0], seed=seed, **options))  # type: ignore[arg-type]
    assert check(events) == []
    return [event for event in events if isinstance(event, Verify)]


@pytest.mark.parametrize(
    ("shape", "how"),
    [
        ((), ""),
        pytest.param((2, 1), "drawn", marks=pytest.mark.everything),
        pytest.param((2,), "mixed", marks=pytest.mark.everything),
    ],
)
def test_runs_keep_as_often_as_their_traces_say(shape: tuple[int, ...], how: str) -> None:
    runs = 500
    first = [verifications("table:2,table", shape, seed, how)[0] for seed in range(runs)]
    (chance,) = {event.bounds[0].rule for event in first}
    kept = sum(any(c.outcome == "accepted" for c in event.checks) for event in first) / runs
    assert chance is not None and abs(kept - chance) < 4 * (chance * (1 - chance) / runs) ** 0.5


def test_every_judged_place_has_a_bound_when_sampling_and_none_costs_anything_otherwise() -> None:
    for event in verifications("table:2,table:3,table", (2, 2), 3, "drawn", max_new_tokens=20):
        judged = {c.serial for c in event.checks if c.outcome != "unjudged"}
        assert {x.first for x in event.bounds} <= judged
        assert len(event.bounds) >= sum(c.outcome == "accepted" for c in event.checks)
    for text, options in (
        ("table:2,table", {"sampling": Sampling()}),
        ("table:2,table", {"heads": 0}),
        ("table:2,table@rule=block", {}),
    ):
        assert not any(event.bounds for event in verifications(text, (), 3, **options))


def test_a_run_says_what_was_accepted_and_what_could_have_been() -> None:
    stack = tree_stack("table:2,table", (2, 2), "drawn", 5, 2)
    events = list(hsd_core.run(stack, [0], SAMPLED, 1, max_new_tokens=40))
    found = [x for event in events if isinstance(event, Verify) for x in event.bounds]
    _, target = measure(events)["levels"]
    assert target["judged"] == len(found)
    assert target["bound"] == pytest.approx(sum(x.best for x in found) / len(found))
    assert target["expected"] < target["bound"]
    said = f"its rule {target['expected']:.2f} in the mean, no exact rule more than {target['bound']:.2f}"
    assert any(said in line for line in totals_lines(events, colour=False))


def test_greedy_runs_reach_what_their_candidates_allow() -> None:
    stack = tree_stack("table:2,table", (2, 2), "named", 5, 2)
    events = list(hsd_core.run(stack, [0], Sampling(), 1, max_new_tokens=40))
    _, target = measure(events)["levels"]
    assert 0 < target["acceptance"] == target["bound"] < 1 and target["expected"] is None
    lossy = tree_stack("table:2,table@rule=top@k=3", (2, 2), "named", 5, 2)
    _, target = measure(list(hsd_core.run(lossy, [0], Sampling(), 1, max_new_tokens=40)))["levels"]
    assert target["bound"] < target["acceptance"]  # a rule that is not exact keeps more


@pytest.mark.parametrize("lie", [Bound(99, 0.1, 0.2), Bound(0, 0.3, 0.2), Bound(0, 0.1, 1.2)])
def test_a_bound_that_cannot_be_is_found(lie: Bound) -> None:
    stack = toy_stack("table:2,table", 5, 2)
    events = list(hsd_core.run(stack, [0], SAMPLED, 1, max_new_tokens=8))
    at = next(i for i, event in enumerate(events) if isinstance(event, Verify) and event.checks)
    events[at] = replace(events[at], bounds=(lie,))
    assert len(check(events)) == 1
