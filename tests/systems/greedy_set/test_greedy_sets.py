"""Greedy draft sets: the target's law, enumerated; the acceptance is the bound of their way of drawing."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from enumerator import distance, every_path, run_distribution
from lean_stacks import LeanStacks, model_distribution
from toys import toy_stack
from tree_distributions import CLOSE, EXACT, WRONG, off_from

from hsd_core.core.choices import Judge
from hsd_core.core.level import Sampler, StackEntry
from hsd_core.core.rules import tokenwise
from hsd_core.core.tree import Offer, Token, Tree
from hsd_core.levels import growing
from hsd_core.models.best_acceptance import reach
from hsd_core.models.sampling import Sampling
from hsd_core.pipeline import Pipeline
from hsd_core.systems.greedy_set.set_level import SetLevel, SetSampler
from hsd_core.trace.checks import check
from hsd_core.trace.metrics import measure


def with_sets(*given: object, **options: float) -> list[StackEntry]:
    bottom, *others = toy_stack(*given, **options)  # type: ignore[arg-type]
    return [replace(bottom, level=SetLevel(bottom.level)), *others]


off = off_from(with_sets)
MORE = pytest.mark.everything


@pytest.mark.parametrize(
    "text",
    [
        "table:2@tree=3.2,table",
        pytest.param("table:3@tree=2.2.1,table", marks=MORE),
        pytest.param("table:3@grow=4,table", marks=MORE),
        pytest.param("table:2@tree=2.2,table:2,table@rule=block", marks=MORE),
        pytest.param("table:2@tree=3.1@replace=1,table@rule=match", marks=MORE),
    ],
)
@pytest.mark.parametrize("zeros", [0.0, 0.4])
def test_trees_of_greedy_sets_follow_the_targets_distribution(text: str, zeros: float) -> None:
    assert off(text, zeros=zeros) < EXACT
    assert off(text, zeros=zeros, sampling=Sampling(0.7, top_k=2)) < EXACT


@MORE
def test_an_exit_that_shares_the_targets_states_drafts_them_exactly() -> None:
    made = LeanStacks("llama")
    bottom, *others = made.stack("exit:2@at=2@tree=2.2,target")
    stack = [replace(bottom, level=SetLevel(bottom.level)), *others]
    sampling = Sampling(1.0, top_k=3)
    expected = model_distribution(made.target, [1, 0], 2, sampling)
    assert distance(run_distribution(stack, [1, 0], 2, sampling=sampling), expected) < CLOSE


def test_names_that_follow_the_drawn_token_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The likeliest of what is left after the draw: the set then depends on the drawn token."""
    real = growing._offers

    def late(dist, logits, wide, order, *more):
        drawn, *_ = real(dist, logits, 1, order, *more)
        best = [i for i in logits.argsort(descending=True).tolist() if i != drawn[0]]
        return [drawn, *((i, True) for i in best[: wide - 1])]

    monkeypatch.setattr(growing, "_offers", late)
    assert off("table:2@tree=2.1,table") > WRONG


def kept(p: np.ndarray, q: np.ndarray, k: int) -> float:
    """The chance that `tokenwise` keeps a candidate of a greedy set: all draws, all coins."""
    row = torch.tensor(q)
    named = SetSampler(*(None,) * len(Sampler.__slots__)).names(row, k)  # type: ignore[arg-type]
    rest = np.where(np.isin(np.arange(len(q)), named), 0.0, q)
    total = 0.0
    for x in np.flatnonzero(rest).tolist():
        ids = [x, *named]
        offers = (Offer(0, 0), *(Offer(1 + place) for place in range(len(named))))
        tree = Tree([Token(-1, i, 0, "draft", "") for i in ids], row[None], None, (-1,) * len(ids), offers)
        rows = torch.tensor(np.stack([p] * (len(ids) + 1)))
        judged = partial(lambda c, t, r: tokenwise(t, r, Judge(c, 1, 0, 0), True), t=tree, r=rows)
        total += rest[x] / rest.sum() * sum(mass for mass, verdict in every_path(judged) if verdict.path)
    return total


def rows(rng: np.random.Generator, vocab: int, temperature: float) -> tuple[np.ndarray, np.ndarray]:
    """A target's and a draft's row that are alike."""
    logits = rng.normal(size=vocab) * 2.0
    p, q = (np.exp(some / temperature) for some in (logits, logits + rng.normal(size=vocab)))
    return p / p.sum(), q / q.sum()


def test_the_rule_reaches_the_bound_of_greedy_sets() -> None:
    rng = np.random.default_rng(0)
    for _ in range(10):
        p, q = rows(rng, 6, 1.0)
        for k in (2, 3):
            top = tuple(np.argsort(-q)[: k - 1].tolist())
            found, rest = kept(p, q, k), np.where(np.isin(np.arange(6), top), 0.0, q)
            assert found == pytest.approx(p[list(top)].sum() + np.minimum(p, rest / rest.sum()).sum(), abs=1e-12)
            assert found == pytest.approx(reach(p, q, 1, top).best, abs=1e-12)


def test_greedy_sets_are_kept_more_often_than_drawn_tokens_where_rows_are_sharp_and_less_where_they_are_flat() -> None:
    better = {}
    for temperature in (0.6, 4.0):
        rng, better[temperature] = np.random.default_rng(0), 0
        for _ in range(100):
            p, q = rows(rng, 50, temperature)
            drawn = reach(p, q, 2)  # what `tokenwise` keeps of two, and what the best exact rule could
            assert drawn.rule is not None and drawn.rule <= drawn.best
            better[temperature] += reach(p, q, 1, (int(q.argmax()),)).best > drawn.rule
    assert better[0.6] > 60 > 10 > better[4.0]


def test_a_run_keeps_as_often_as_its_bound_and_says_how_it_was_drawn() -> None:
    toy = Pipeline.open("toy")
    stack = "table:3@id=order1@tree=3.2.1@draw=set,table@id=order6"
    events = list(toy.run(stack, "The small level", max_new_tokens=60, temperature=1.0, seed=1))
    assert check(events) == [] and events[0].levels[0].params["draw"] == "set"
    target = measure(events)["levels"][-1]
    assert target["expected"] == pytest.approx(target["bound"])
    greedy = [
        [event.ids for event in toy.run(text, "The small level", max_new_tokens=20) if event.event == "draft"]
        for text in (stack, stack.replace("@draw=set", ""))
    ]
    assert greedy[0] == greedy[1], "greedy runs offer the likeliest either way"
