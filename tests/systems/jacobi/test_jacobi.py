"""Jacobi guesses: the law is the target's, greedy text is plain decoding's, and n tokens take at most n passes."""

from __future__ import annotations

import pytest
import torch
from enumerator import SAMPLED, distance, run_distribution, target_distribution
from lean_stacks import LeanStacks
from toys import output_of, toy_stack

import hsd_core
from hsd_core.core.events import Draft, Event, Verify
from hsd_core.core.level import StackEntry
from hsd_core.grammar.stack_text import LevelSpec
from hsd_core.models.sampling import Sampling
from hsd_core.systems.jacobi.jacobi_level import JacobiLevel
from hsd_core.systems.table.table_level import TableLevel
from hsd_core.trace.checks import check

PROMPT = [5, 6, 7, 8, 5, 6, 9, 5, 6, 7, 5, 6]


def guessing(above: list[StackEntry], block: int, window: int) -> list[StackEntry]:
    level = JacobiLevel(above[-1].level.vocab_size, window)
    return [StackEntry(level, LevelSpec("jacobi", block=block), block), *above]


def ran(stack: list[StackEntry], sampling: Sampling, tokens: int, prompt: list[int] = PROMPT) -> list[Event]:
    events = list(hsd_core.run(stack, prompt, sampling, 3, max_new_tokens=tokens))
    assert check(events) == []
    return events


@pytest.mark.parametrize(
    "above",
    [
        "table",
        "table:2,table",
        *(pytest.param(text, marks=pytest.mark.everything) for text in ("table@bonus=0", "table@rule=block")),
    ],
)
def test_guesses_leave_the_targets_distribution(above: str) -> None:
    vocab, tokens = (2, 3) if "," in above else (3, 4)
    stack, prompt = guessing(toy_stack(above, vocab, seed=7), 2, 3), [1, 0]
    assert distance(run_distribution(stack, prompt, tokens), target_distribution(stack, prompt, tokens)) < 1e-12
    ends = frozenset({1})
    found = run_distribution(stack, prompt, tokens, ends=ends)
    assert distance(found, target_distribution(stack, prompt, tokens, ends=ends)) < 1e-12


@pytest.mark.parametrize("above", ["target", "int8:4,target"])
def test_through_a_model_the_greedy_text_is_plain_decodings(above: str) -> None:
    stacks = LeanStacks(layers=2, vocab=13)
    events = ran(guessing(stacks.stack(above), 3, 5), Sampling(), 40)
    assert output_of(events) == output_of(ran(stacks.stack("target"), Sampling(), 40))
    assert any(e.work.probes == 5 for e in events if isinstance(e, Verify))
    assert {source for e in events if isinstance(e, Draft) for source in e.sources} == {"w"}


def by_place(vocab: int) -> TableLevel:
    """A target whose next token depends on its place alone."""

    def row(prefix: tuple[int, ...]) -> torch.Tensor:
        return torch.eye(vocab, dtype=torch.float64)[len(prefix) % vocab]

    return TableLevel(row, vocab)


def test_where_words_do_not_depend_on_each_other_the_second_pass_keeps_the_block() -> None:
    stack = guessing([StackEntry(by_place(7), LevelSpec("table"), None)], 4, 8)
    events = ran(stack, Sampling(), 22, [3, 3])
    kept = [sum(c.outcome == "accepted" for c in e.checks) for e in events if isinstance(e, Verify)]
    assert kept[0] == 0 and kept[1:4] == [4, 4, 4], "the first pass has the prompt's tokens as guesses"


def test_n_tokens_take_at_most_n_passes_and_a_guess_behind_a_right_one_is_right() -> None:
    """Jacobi's theorem: as nothing before it is wrong, each pass settles at least one more token."""
    (target,) = toy_stack("table", 5, seed=11)
    events = ran(guessing([target], 6, 6), Sampling(), 30, [1, 2])
    passes = sum(isinstance(e, Verify) for e in events)
    assert passes <= 30
    assert output_of(events) == output_of(ran([target], Sampling(), 30, [1, 2]))


def test_guesses_stop_before_the_last_position_of_the_model() -> None:
    stacks = LeanStacks(layers=2, vocab=13)
    room = stacks.target.max_positions
    prompt = (PROMPT * room)[: room - 12]
    events = ran(guessing(stacks.stack("target"), 3, 5), SAMPLED, 99, prompt)
    assert events[-1].reason == "context"  # type: ignore[attr-defined]
    probes = [e.work.probes for e in events if isinstance(e, Verify)]
    assert probes[0] == 5 and probes[-1] == 0
