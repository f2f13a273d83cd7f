"""The exact law of the engine: every branch of every random choice, with its probability, in float64.

`Scripted` stands in for the engine's `Choices`: it follows a script and, behind its end, takes the first branch that
has mass. `every_path` replays a function under one script after the other until all branches were taken.

`run_law` replays whole runs. Its number of paths grows as the product over all tokens and coins, so `merged_law` joins
paths on the way: what `Hierarchy.pull` and `verify` hand up in one context is enumerated once (by the real methods) and
is one choice among blocks from then on. Rows are functions of the prefix, so blocks with equal ids are one, if they
leave the stop policies in one state: policies remember.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from copy import copy
from typing import Any, ClassVar, TypeVar
from unittest.mock import patch

import torch
from torch import Tensor
from toys import output_of

import hsd_core
from hsd_core import engine
from hsd_core.clock import EngineClock
from hsd_core.hierarchy import Hierarchy
from hsd_core.levels.entry import StackEntry
from hsd_core.levels.commons import open_levels
from hsd_core.sampling import Sampling, law
from hsd_core.scribe import Block, Scribe

T = TypeVar("T")
Law = dict[tuple[int, ...], float]
SAMPLED = Sampling(temperature=1.0)


class Scripted:
    """`Choices` that follow a script of branch numbers; `mass` is the probability of the path so far."""

    def __init__(self) -> None:
        self.script: list[list[int]] = []  # [branch taken, branches there are]
        self.rewind()

    def rewind(self) -> None:
        self._at, self.mass = 0, 1.0

    def advance(self) -> bool:
        """To the next script, depth first; False when all branches were taken."""
        while self.script and self.script[-1][0] + 1 == self.script[-1][1]:
            self.script.pop()
        if self.script:
            self.script[-1][0] += 1
        return bool(self.script)

    def pick(self, masses: Sequence[float]) -> int:
        if self._at == len(self.script):
            self.script.append([0, len(masses)])
        branch, there_are = self.script[self._at]
        assert there_are == len(masses), "the run took another way under the same script: hidden randomness"
        self._at += 1
        self.mass *= masses[branch]
        return branch

    def draw(self, row: Tensor) -> int:
        chances = row.tolist()
        slack = 1e-9 if row.dtype == torch.float64 else 1e-5
        assert abs(sum(chances) - 1.0) < slack, f"a row that sums to {sum(chances)}"
        support = [token for token, chance in enumerate(chances) if chance > 0.0]
        return support[self.pick([chances[token] for token in support])]

    def accept(self, alpha: float) -> tuple[bool, float | None]:
        assert 0.0 <= alpha <= 1.0 + 1e-12, f"alpha {alpha} is no probability"
        if alpha <= 0.0 or alpha >= 1.0:
            return alpha >= 1.0, None
        return self.pick([alpha, 1.0 - alpha]) == 0, 0.5


def every_path(act: Callable[[Scripted], T]) -> Iterator[tuple[float, T]]:
    """(probability, result) of `act` for every path through its choices."""
    choices = Scripted()
    while True:
        choices.rewind()
        result = act(choices)
        yield choices.mass, result
        if not choices.advance():
            return


def run_law(stack: Sequence[StackEntry], prompt: Sequence[int], max_new: int, **options: Any) -> Law:
    """The law of the committed ids: whole runs of the engine, every path."""
    options = {"sampling": SAMPLED, "heads": 0, "max_new_tokens": max_new, **options}
    found: Law = {}
    for mass, output in every_path(
        lambda choices: output_of(list(hsd_core.run(stack, prompt, seed=0, choices=choices, **options)))
    ):
        found[output] = found.get(output, 0.0) + mass
    return found


def merged_law(stack: Sequence[StackEntry], prompt: Sequence[int], max_new: int, **options: Any) -> Law:
    """As `run_law`, joining paths inside the hierarchy; the engine's own loop runs over the joined blocks."""

    class OneMemo(Merged):
        memo: ClassVar[dict[Any, Any]] = {}

    with patch.object(engine, "Hierarchy", OneMemo):
        return run_law(stack, prompt, max_new, **options)


class Untouchable:
    """In place of the policies of the levels above: what a level hands up does not depend on them."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"a level read {name} of the policy of a level above it")


class Merged(Hierarchy):
    """A hierarchy in which what a level hands up is one choice among blocks, each enumerated from the real methods."""

    memo: ClassVar[dict[Any, Any]]

    def pull(self, i: int, room: int) -> Generator[Any, None, Block]:
        yield from ()
        return self._one_of("pull", i, room)[0]

    def verify(self, i: int, room: int) -> Generator[Any, None, tuple[Block, bool]]:
        yield from ()
        return self._one_of("verify", i, room)

    def _one_of(self, what: str, i: int, room: int) -> tuple[Block, bool]:
        own = self.policies[: i + 1]  # no level asks a policy above its own: see `Untouchable`
        key = (what, i, room, tuple(self.tape), repr(own), self.course.levels, self.course.blocks)
        if key not in self.memo:
            self.memo[key] = self._enumerate(what, i, room)
        masses, blocks = self.memo[key]
        block, corrected, policies = blocks[self.choices.pick(masses)]  # type: ignore[attr-defined]
        self.tape.extend(block.ids)
        self.policies[: i + 1] = [copy(policy) for policy in policies]
        return block, corrected

    def _enumerate(self, what: str, i: int, room: int) -> tuple[list[float], list[tuple[Block, bool, list[Any]]]]:
        base = list(self.tape)

        def once(choices: Scripted) -> tuple[Block, bool, list[Any]]:
            tape = list(base)
            runs = [*open_levels([seat.level for seat in self.seats], len(tape) + room + 1)][::-1]
            scribe = Scribe(EngineClock(), len(self.seats), len(base), 0)
            inner = type(self)(
                self.seats, runs, tape, sampling=self.sampling, choices=choices, ends=self.ends, scribe=scribe,
                stop=self._stop,
            )  # fmt: skip
            inner.follow(self.course)
            own = [copy(policy) for policy in self.policies[: i + 1]]
            inner.policies = [*own, *(Untouchable() for _ in self.policies[i + 1 :])]
            result = _drain(getattr(Hierarchy, what)(inner, i, room))
            block, corrected = result if isinstance(result, tuple) else (result, False)
            assert tape == base + block.ids, f"{what}({i}) left {tape} on the tape, not {base} + {block.ids}"
            assert 0 < len(block) <= room or (i == 0 and not len(block)), f"{what}({i}, {room}) gave {len(block)}"
            assert len(block.rows) == len(block), "a token went up without its row"
            return block, corrected, inner.policies[: i + 1]

        masses: dict[tuple[tuple[int, ...], bool, str], float] = {}
        blocks: dict[tuple[tuple[int, ...], bool, str], tuple[Block, bool, list[Any]]] = {}
        for mass, (block, corrected, policies) in every_path(once):
            name = (tuple(block.ids), corrected, repr(policies))
            masses[name] = masses.get(name, 0.0) + mass
            known, *_ = blocks.setdefault(name, (block, corrected, policies))
            assert torch.allclose(known.rows.double(), block.rows.double(), atol=1e-12), "rows depend on the path"
        return list(masses.values()), list(blocks.values())


def _drain(steps: Generator[Any, None, T]) -> T:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


def target_law(
    stack: Sequence[StackEntry], prompt: Sequence[int], max_new: int, sampling: Sampling = SAMPLED,
    ends: frozenset[int] = frozenset(),
) -> Law:  # fmt: skip
    """The target's own law, by the chain rule: what every lossless stack must give."""
    level: Any = stack[-1].level
    found: Law = {}

    def extend(output: tuple[int, ...], mass: float) -> None:
        if len(output) == max_new or (output and output[-1] in ends):
            found[output] = mass
            return
        row = level.table((*prompt, *output))
        if sampling != SAMPLED:
            row = law(row.log().unsqueeze(0), sampling)[0]
        for token, chance in enumerate(row.tolist()):
            if chance > 0.0:
                extend((*output, token), mass * chance)

    extend((), 1.0)
    return found


def distance(one: Law, other: Law) -> float:
    """Total variation."""
    return 0.5 * sum(abs(one.get(output, 0.0) - other.get(output, 0.0)) for output in one.keys() | other.keys())
