"""Stacks by load: which levels run, with which block lengths, by the number of requests at once.

    1=ngram:3,int8:6,target;4=ngram:5,target;16=target

From 4 requests at once on the second stack runs, from 16 on the third (vLLM's `num_speculative_tokens_per_batch_size`
has block lengths by batch size). A table is written by hand, or by the command `plan --load`. A run opens the levels of
all its stacks, and between two rounds it looks how many requests run. That is no function of tokens that are not
committed, so the next round follows the target's distribution as under any plan. A level that rests reads nothing, and
reads what it missed when it joins again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from hsd_core.core.events import Header
from hsd_core.core.run_plans import Replanner, Round, RunPlan
from hsd_core.grammar import kind_of
from hsd_core.grammar.stack_text import LevelSpec, StackError, format_stack, level_of, parse
from hsd_core.theory.plan_reasons import requests
from hsd_core.theory.profiles.profile_json import profile_from
from hsd_core.theory.replan import BY_LOAD, REST, Pace, ProfileReplanner

_ROW = re.compile(r"(\d+)=(.*)", re.DOTALL)


@dataclass(frozen=True)
class StackTable:
    """rows: the number of requests from which on a stack runs -> the stack; rising, the first is 1."""

    rows: Mapping[int, str]

    def __post_init__(self) -> None:
        for stack in self.rows.values():
            for spec in parse(stack)[:-1]:
                if spec.block is None:
                    raise StackError(
                        f"a table by load: {spec.name} has no block length in {stack}; write {spec.name}:4"
                    )
        _ = self.plans

    @classmethod
    def read(cls, text: str) -> StackTable | None:
        """The table of a text; None for any other text, such as a stack's.

        Raises:
            StackError: a stack cannot be read, or the rows are no table; the message says why.
        """
        if not _ROW.match(text.strip()):
            return None
        found: dict[int, str] = {}
        for part in text.split(";"):
            row = _ROW.fullmatch(part.strip())
            if row is None:
                raise StackError(f"a table by load: {part!r} is no row; write for example 4=ngram:5,target")
            load, stack = int(row[1]), format_stack(parse(row[2]))
            if load <= max(found, default=0):
                raise StackError(
                    f"a table by load: {load} follows {max(found, default=0)}; write rising numbers from 1"
                )
            found[load] = stack
        if 1 not in found:
            raise StackError(f"a table by load begins with {min(found)}; say what one request runs, such as 1=target")
        return cls(found)

    @classmethod
    def of(cls, stacks: Mapping[int, str]) -> StackTable:
        """The table of these stacks by rising load; the first is for fewer requests too.

        Raises:
            StackError: see `read`.
        """
        found: dict[int, str] = {}
        for load, stack in stacks.items():
            if stack not in list(found.values())[-1:]:
                found[load if found else 1] = stack
        return cls(found)

    def __str__(self) -> str:
        return ";".join(f"{load}={stack}" for load, stack in self.rows.items())

    def row(self, load: int) -> int:
        """The row that is for so many requests at once."""
        return max(row for row in self.rows if row <= load)

    @cached_property
    def stack(self) -> str:
        """The levels of all stacks as one, each with its longest block."""
        longest: dict[str, int | None] = {}
        for name, block in (level for own in self._levels.values() for level in own):
            longest[name] = block and max(block, longest.get(name) or 0)
        specs = [replace(level_of(name), block=longest[name]) for name in self._names]
        return format_stack(parse(format_stack(specs)))

    @cached_property
    def plans(self) -> Mapping[int, RunPlan]:
        """The plan of each row, over the levels of `stack`.

        Raises:
            StackError: the stacks have no common order, or not one target.
        """
        place = {name: i for i, name in enumerate(self._names)}
        found = {}
        for load, own in self._levels.items():
            levels = tuple(place[name] for name, _ in own)
            if list(levels) != sorted({*levels}) or levels[-1] != len(place) - 1:
                raise StackError(
                    f"a table by load: {self.rows[load]} has its levels in another order than the stacks before it, or "
                    "another target; write the same levels in one order, over one target"
                )
            found[load] = RunPlan(levels, tuple(block for _, block in own if block is not None))
        return found

    @cached_property
    def _levels(self) -> Mapping[int, list[tuple[str, int | None]]]:
        """Row -> its levels without T, and their T."""
        return {
            load: [(format_stack([replace(spec, block=None)]), spec.block) for spec in parse(stack)]
            for load, stack in self.rows.items()
        }

    @cached_property
    def _names(self) -> list[str]:
        """The levels of all rows without T, each before the one that it stands below, and first if it only drafts."""
        found: list[str] = []
        for own in self._levels.values():
            at = len(found)
            for name, _ in reversed(own):
                if name in found:
                    at = found.index(name)
                else:
                    found.insert(at if kind_of(level_of(name)).placement.verifies else 0, name)
        return found


def whole(text: str) -> str:
    """The stack of all levels of a table; any other text as it is.

    Raises:
        StackError: see `StackTable.read`.
    """
    table = StackTable.read(text)
    return text if table is None else table.stack


def replanner_of(header: Header, specs: Sequence[LevelSpec], load: Callable[[], int] = lambda: 1) -> Replanner:
    """The replanner of a run that was planned again, from its header. specs: its stack.

    Raises:
        ProfileError, StackError: its profile or table cannot be used.
    """
    settings = dict(header.replan or {})
    table = StackTable.read(str(settings.get(BY_LOAD, "")))
    if table is not None:
        return LoadReplanner(table, load)
    return ProfileReplanner(profile_from(header.profile), specs, pace=Pace(**settings), load=load)


class LoadReplanner:
    """A `Replanner` that follows a table.

    A plan whose levels all run is followed at once. One with levels that rested is followed `REST` rounds after the
    last change at the earliest, as those levels read what they missed.

    Args:
        load: how many requests run now.
    """

    def __init__(self, table: StackTable, load: Callable[[], int]) -> None:
        self._table, self._load = table, load
        self._row, self._rounds = 1, 0  # the row that is followed, and for how many rounds

    @property
    def longest(self) -> int:
        return max((block for plan in self._table.plans.values() for block in plan.blocks), default=1)

    def settings(self) -> dict[str, Any]:
        return {BY_LOAD: str(self._table)}

    def first(self) -> RunPlan:
        """The plan for the requests that run when this one begins."""
        load = self._load()
        return self._follow(self._table.row(load), load)

    def after(self, past: Round) -> RunPlan | None:
        """The plan of another row, if the number of requests now is in another one."""
        self._rounds += 1
        load, plans = self._load(), self._table.plans
        row = self._table.row(load)
        joins = {*plans[row].levels} - {*plans[self._row].levels}
        if row == self._row or (joins and self._rounds < REST):
            return None
        return self._follow(row, load)

    def _follow(self, row: int, load: int) -> RunPlan:
        self._row, self._rounds = row, 0
        return replace(self._table.plans[row], why=f"{requests(load)}, the plan from {row} on", load=load)
