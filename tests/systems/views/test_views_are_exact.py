"""A view of the target's cache drafts and verifies by rows of its own, and the output still follows the target's
distribution: in whole runs of a random model, and of a toy in float64 that sees what it had at the last commit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from enumerator import distance, run_distribution, target_distribution
from lean_stacks import drafted_stacks, model_distribution
from ledger import audit
from msgspec.structs import replace as changed
from tiny import tiny_compiled
from toys import output_of, table, toy_stack

import hsd_core
from hsd_core.core import events as trace
from hsd_core.core.level import CommittedIds, Work
from hsd_core.core.notes import noted
from hsd_core.core.tree import NOTHING, Tree
from hsd_core.models.context import Context
from hsd_core.models.sampling import Sampling
from hsd_core.systems.table.table_level import TableLevel
from hsd_core.systems.views.notes import Chosen, Held
from hsd_core.systems.views.view_level import ViewRun
from hsd_core.trace.checks import check

PROMPT = [1, 0, 2, 2, 1, 0, 0, 2, 1, 1, 0, 2, 0]
LONG = [(7 * i + 3 * (i // 5)) % 61 for i in range(60)]
EXACT, WRONG = 1e-5, 1e-4  # the model computes in float32
SEEN = "@budget=8@chunk=2"
WHOLE = [
    # stack, tokens, vocabulary
    (f"view:2{SEEN},target", 3, 3),
    ("view:2@keep=stream@budget=6@sink=2,target@rule=block", 3, 3),
    (f"view:2{SEEN}@dtype=int8,target@bonus=0", 3, 2),
    (f"ngram:1,view:2{SEEN},target", 3, 2),
    (f"nano:1@id=own,view:2{SEEN}@policy=flush,target@rule=block", 3, 2),
    (f"nano:1@id=fed,view:2{SEEN},target", 3, 2),
    (f"exit:1@at=2,view:2{SEEN}@rule=block,target", 3, 2),
    ("view:1@keep=stream@budget=4@sink=1,view:2@budget=8@chunk=2,target", 3, 2),
    (f"view:1{SEEN},int8:2,target", 3, 2),
    (f"view:2@tree=2.1{SEEN},target", 3, 2),
    (f"view:1@tree=2{SEEN},int4:1,target@dtype=int8", 3, 2),
]


def off_by(text: str, tokens: int = 3, vocab: int = 3) -> float:
    made, prompt = drafted_stacks(vocab), [id_ % vocab for id_ in PROMPT]
    target = made.int8 if text.endswith("target@dtype=int8") else made.target
    return distance(run_distribution(made.stack(text), prompt, tokens), model_distribution(target, prompt, tokens))


@pytest.mark.covering("text", kinds=True)
@pytest.mark.parametrize(("text", "tokens", "vocab"), WHOLE)
def test_whole_runs_follow_the_targets_distribution(text: str, tokens: int, vocab: int) -> None:
    assert off_by(text, tokens, vocab) < EXACT


def test_a_choice_by_a_token_that_stands_later_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    real = ViewRun._score

    def peeking(self: ViewRun, ids: Sequence[int], rows: int, *more: Any) -> Any:
        """As if slots were chosen again by the last of the tokens that are judged."""
        view = self._opened()
        if view.upto:
            asked = self._trunk.decoder.queries(ids[-1], view.upto, view.base)
            view.chosen = self._select.choose(view.base.keys[:, 0, :, : view.upto], asked)
            view._copy(range(view.fill), view.chosen.at)
        return real(self, ids, rows, *more)

    text = "nano:2@id=own,view:2@budget=6@chunk=2,target"
    monkeypatch.setattr(ViewRun, "_score", peeking)
    assert off_by(text, vocab=2) > WRONG


class Remembering(TableLevel):
    """A table whose rows hang on how long the text was at the last commit, as a view's do; in float64."""

    peeks = False  # whether they hang on the last token that is judged instead

    def open(self, capacity: int, shared: Any) -> Any:
        level, run = self, super().open(capacity, shared)
        seen = [0]
        score = run.score

        def scored(context: Context, tree: Tree = NOTHING) -> tuple[torch.Tensor, Work]:
            frozen = len(tree.ids) and tree.ids[-1] if level.peeks else seen[0]
            rows, work = score(context, tree)
            return rows + torch.cos(torch.arange(rows.shape[1]) * (1.0 + frozen)).to(rows), work

        def observed(outcome: object) -> None:
            if isinstance(outcome, CommittedIds):
                seen[0] += len(outcome.ids)

        run.score, run.observe = scored, observed
        return run


def three_floors(peeks: bool = False) -> tuple[float, list[Any]]:
    entries = toy_stack("table:1,table:2@policy=flush,target", 3)
    middle = Remembering(table(3, 40), 3, name="table", label="a view")
    middle.peeks = peeks
    entries[1] = replace(entries[1], level=middle)
    found = run_distribution(entries, [0], 3)
    return distance(found, target_distribution(entries, [0], 3)), entries


def test_three_floors_are_exact_to_the_last_bits_of_float64() -> None:
    assert three_floors()[0] < 1e-12
    assert three_floors(peeks=True)[0] > WRONG, "rows that hang on what stands later are caught"


STACKS = [
    "view:4@budget=16@chunk=4,target",
    "view:4@keep=stream@budget=12@sink=4,target",
    "view:4@budget=24@chunk=8@dtype=int8,target",
    "ngram:2,view:3@budget=16@chunk=4,target",
    "nano:2@id=fed,view:3@budget=16@chunk=4@policy=flush,int8:4,target",
    "view:3@keep=stream@budget=8@sink=2,view:4@budget=24@chunk=4,target",
    "exit:2@at=2,view:3@budget=16@chunk=4,target",
    "view:3@tree=2.1.1@budget=16@chunk=4,target",
]


def a_run(text: str, temperature: float = 0.0, tokens: int = 24, prompt: list[int] = LONG) -> list[trace.Event]:
    return list(hsd_core.run(drafted_stacks(61).stack(text), prompt, Sampling(temperature), 3, max_new_tokens=tokens))


@pytest.mark.covering("text", kinds=True)
@pytest.mark.parametrize("text", STACKS)
def test_greedy_text_is_plain_decodings_and_the_trace_holds(text: str) -> None:
    events = a_run(text)
    assert output_of(events) == output_of(a_run("target"))
    for found in (events, a_run(text, 1.0)):
        assert check(found) == []
        if "@tree=" not in text:
            assert audit(found, cacheless=frozenset({0} if text.startswith("ngram") else ()), ends=frozenset()).done


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_budget_as_long_as_the_text_rejects_nothing(temperature: float) -> None:
    events = a_run("view:4@budget=90,target", temperature)
    judged = [c.outcome for e in events if isinstance(e, trace.Verify) for c in e.checks]
    assert len(judged) > 10 and set(judged) == {"accepted"}


def test_the_trace_says_once_what_a_view_holds() -> None:
    events = a_run("view:4@budget=16@chunk=4,target")
    (report,) = [e for e in events if isinstance(e, trace.Report)]
    view = Chosen.of(report)
    assert view and (report.level, view.upto, view.slots, view.heads) == (0, 59, 16, 8)
    assert sum((span.hi - span.lo) * span.heads for span in view.held) == 8 * (3 * 4 + 3)
    assert view.held[0] == Held(0, 4, 8), "the first chunk is held by all"
    assert view.held[-1] == Held(56, 59, 8), "and so is the end of the prompt that fills no chunk"
    lies = [
        *(changed(view, upto=50), changed(view, slots=8), changed(view, held=(Held(0, 4, 9),))),
        changed(view, held=view.held[::-1]),
    ]
    for wrong in (*(changed(report, notes=noted(lie)) for lie in lies), changed(report, level=1)):
        assert len(check([wrong if e is report else e for e in events])) == 1
    header = events[0]
    assert isinstance(header, trace.Header)
    assert header.levels[0].params == {"keep": "chunks", "budget": 16, "chunk": 4}


def test_a_view_of_a_short_prompt_is_chosen_from_what_there_is() -> None:
    for prompt in ([5], [5, 9]):
        events = a_run("view:4@budget=8@chunk=2,target", prompt=prompt)
        assert output_of(events) == output_of(a_run("target", prompt=prompt)) and check(events) == []


def test_onnxruntimes_runs_are_the_same() -> None:
    from lean_stacks import LeanStacks

    found = []
    for text in ("ngram:2,view:3@budget=16@chunk=4,target", "target"):
        stack = LeanStacks(make=tiny_compiled, layers=4, seed=2).stack(text)
        found.append(output_of(list(hsd_core.run(stack, LONG, Sampling(0.0), 3, max_new_tokens=20))))
    assert found[0] == found[1]


def test_a_view_elsewhere_than_its_base_is_refused() -> None:
    with pytest.raises(hsd_core.StackError, match="reads the target's cache, which @with=pearl runs elsewhere"):
        a_run("view:4@budget=16,target@with=pearl")
