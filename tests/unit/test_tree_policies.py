"""Where a policy ends a drafted tree, and what it learns from one: recomputed from the tables and from the trace."""

from __future__ import annotations

from typing import Any

import notes_of
import pytest
from toys import output_of, toy_stack

import hsd_core
from hsd_core.core.events import Draft, Event, Verify
from hsd_core.models.one_pass import path_to
from hsd_core.models.sampling import Sampling
from hsd_core.systems.skip.declaration import Adaptive

SAMPLED = Sampling(1.0)
TOKENS = 80


def run(text: str, sampling: Sampling = SAMPLED) -> tuple[list[Event], Any]:
    """The events, and the distribution of the level that drafts, by prefix."""
    stack = toy_stack(text, 4, seed=4)
    level: Any = stack[0].level
    return list(hsd_core.run(stack, [0], sampling, 1, max_new_tokens=TOKENS)), level.table


def depths(draft: Draft) -> list[int]:
    return [len(path_to(node, draft.parents)) for node in range(len(draft.ids))]


@pytest.mark.parametrize("sampling", [SAMPLED, Sampling(0.0)])
@pytest.mark.parametrize("policy", ["confidence@theta=0.55", "margin@theta=0.6"])
def test_a_tree_goes_on_as_long_as_one_of_its_branches_is_sure(policy: str, sampling: Sampling) -> None:
    events, dist = run(f"table:4@tree=2.2.1.1@policy={policy},table", sampling)
    text, theta, split = output_of(events), float(policy.partition("theta=")[2]), 0

    def sure(prefix: tuple[int, ...]) -> float:
        first, second = dist(prefix).topk(2).values
        return float(first if policy.startswith("confidence") else (first / second).log())

    for draft in (e for e in events if isinstance(e, Draft) and e.at < TOKENS - 5 and e.is_tree):
        at, deepest = depths(draft), max(depths(draft))
        paths = [tuple(draft.ids[n] for n in path_to(node, draft.parents)) for node in range(len(draft.ids))]
        for depth in range(1, deepest + 1):  # the rows that the tokens of this depth come from
            behind = {path[:-1] for path, reached in zip(paths, at, strict=True) if reached == depth}
            here = [sure((0, *text[: draft.at], *path)) for path in behind]
            split += min(here) < theta <= max(here)
            if depth < deepest:
                assert max(here) >= theta, f"it went on behind depth {depth}, where no branch was sure"
            elif depth < 4:
                assert max(here) < theta, f"it ended at depth {depth}, where a branch was sure"
    assert split > 3, "no branch was less sure than another one"


@pytest.mark.parametrize("tree", ["2.1.1", "3.2.1"])
def test_adaptive_learns_from_a_tree_as_from_its_longest_line(tree: str) -> None:
    """Where a whole line was kept nothing more could have been, however many tokens stood beside it."""
    events, _ = run(f"table:3@tree={tree}@policy=adaptive@theta=0.4,table")
    policy, drafted, shown, learnt = Adaptive(0.4), 0, 0, 0
    for event in events:
        if isinstance(event, Draft):
            assert notes_of.theta(event) == pytest.approx(policy.theta, abs=1e-6)
            shown, drafted = shown + 1, max(depths(event)) if event.is_tree else len(event.ids)
        elif isinstance(event, Verify) and event.checks:
            kept = [c.outcome for c in event.checks].count("accepted")
            learnt += kept == drafted < len(event.checks)
            policy.on_verified(drafted, kept, 3)
    assert shown > 10 and learnt > 3
