"""A draft that is read twice: the rows are the mixture of both readings, and nothing of the second one stays."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from lean_stacks import LeanStacks
from toys import output_of

import hsd_core
from hsd_core.core.tree import named
from hsd_core.grammar.stack_text import parse, plain_target, stack_lossless
from hsd_core.levels.shared import open_levels
from hsd_core.models.context import Context
from hsd_core.models.one_pass import Pass
from hsd_core.models.sampling import Sampling
from hsd_core.systems.reflect.notes import Reread
from hsd_core.systems.reflect.reflected_level import ReflectedLevel
from hsd_core.trace.checks import check

GREEDY = Sampling(0.0)
REQUEST = (4, 3, 4)
CONTEXT, DRAFT = [1, 0, 2], [3, 1, 2]


def level_of(made: LeanStacks, share: float) -> ReflectedLevel:
    return ReflectedLevel(made.stack("target")[0].level, share, REQUEST)  # type: ignore[arg-type]


def alone(made: LeanStacks, ids: list[int]) -> torch.Tensor:
    """(V,) the model's distribution after these ids, from scratch."""
    with torch.inference_mode():
        return made.target.forward(Pass(ids), made.target.new_cache(len(ids)))[0].softmax(-1)


def test_rows_are_the_mixture_of_both_readings_and_the_last_one_is_the_first_readings() -> None:
    made = LeanStacks("llama")
    (run,) = open_levels([level_of(made, 0.3)], 24)
    rows, work = run.score(Context(CONTEXT), named(DRAFT))
    assert run.cached == len(CONTEXT) + len(DRAFT) and len(rows) == 4
    again = [*CONTEXT, *DRAFT, *REQUEST]
    for depth in range(3):
        first, second = alone(made, CONTEXT + DRAFT[:depth]), alone(made, again + DRAFT[:depth])
        assert torch.allclose(rows[depth].softmax(-1), 0.7 * first + 0.3 * second, atol=1e-5)
    assert torch.allclose(rows[3].softmax(-1), alone(made, CONTEXT + DRAFT), atol=1e-5)
    note = Reread.of(work)
    assert note is not None and (note.rows, note.nodes) == (5, (0, 1, 2))
    assert note.second[2] == pytest.approx(float(alone(made, again + DRAFT[:2])[2]), rel=0.01)
    assert work.rows - work.catch_up == 4


def test_of_a_tree_the_first_branch_is_read_twice() -> None:
    made = LeanStacks("llama")
    (run,) = open_levels([level_of(made, 0.3)], 24, 8)
    tree = replace(named([3, 1, 4]), parents=(-1, 0, -1))
    rows, _ = run.score(Context(CONTEXT), tree)
    again = [*CONTEXT, 3, 1, *REQUEST]
    expected = [
        0.7 * alone(made, CONTEXT) + 0.3 * alone(made, again),
        0.7 * alone(made, [*CONTEXT, 3]) + 0.3 * alone(made, [*again, 3]),
        alone(made, [*CONTEXT, 3, 1]),
        alone(made, [*CONTEXT, 4]),
    ]
    assert torch.allclose(rows.softmax(-1), torch.stack(expected), atol=1e-5)
    run.keep(len(CONTEXT), [2])
    assert run.cached == len(CONTEXT) + 1
    after, _ = run.score(Context([*CONTEXT, 4, 1]))
    assert torch.allclose(after[0].softmax(-1), alone(made, [*CONTEXT, 4, 1]), atol=1e-5)


@pytest.mark.parametrize("shape", ["", "@tree=2.1"])
def test_without_a_share_of_its_own_the_second_reading_leaves_the_text_alone(shape: str) -> None:
    made = LeanStacks("llama")
    plain = output_of(list(hsd_core.run(made.stack("target"), [1, 2], GREEDY, 0, max_new_tokens=24)))
    *below, target = made.stack(f"exit:2@at=1{shape},target")

    def text(share: float) -> tuple[int, ...]:
        stack = [*below, replace(target, level=ReflectedLevel(target.level, share, REQUEST))]  # type: ignore[arg-type]
        events = list(hsd_core.run(stack, [1, 2], GREEDY, 0, max_new_tokens=24))
        assert not check(events)
        return output_of(events)

    assert text(0.0) == plain and text(1e-7) == plain
    assert text(1.0) != plain


def test_near_the_end_of_the_context_it_reads_once() -> None:
    made = LeanStacks("llama")
    end = made.target.max_positions
    (run,) = open_levels([level_of(made, 0.3)], end)
    context = [1, 2] * ((end - 4) // 2)
    rows, work = run.score(Context(context), named([3, 1]))
    assert len(rows) == 3 and Reread.of(work) is None


def test_the_stack_says_so_and_is_compared_with_the_plain_target() -> None:
    specs = parse("int8:2,target@reflect=0.3")
    assert "second reading" in stack_lossless(specs, GREEDY).reason and not stack_lossless(specs, GREEDY)
    assert plain_target(specs[-1]) == parse("target")[0]
    assert stack_lossless(parse("int8:2,target@reflect=0"), GREEDY)
