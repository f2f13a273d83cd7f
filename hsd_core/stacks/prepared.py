"""A stack made ready for runs: checked, with what opens its levels, drives them and writes their header."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from hsd_core.core import run as engine
from hsd_core.core.driver import Drives
from hsd_core.core.entry import StackEntry
from hsd_core.core.events import Event, Header
from hsd_core.core.level import LevelRun, scorer
from hsd_core.core.run import RunSettings, Watcher
from hsd_core.grammar import lanes_of
from hsd_core.grammar.stack_text import StackError, check_order
from hsd_core.levels.chain_rows import ChainRows
from hsd_core.levels.largest import largest, most_nodes
from hsd_core.levels.shared import open_levels
from hsd_core.models import QUANTISED
from hsd_core.models.sampling import Sampling
from hsd_core.stacks.chosen_driver import check_apart, chosen_driver, overlap_of
from hsd_core.stacks.run_header import run_header


@dataclass(frozen=True)
class PreparedStack:
    """A `core.run.Stack`.

    about: further fields of the header (preset, machine, recorded, versions, title, profile). driver: has the levels do
    what the hierarchy asks for; by default as the target's scheduler says.

    Raises:
        StackError: the stack cannot work.
    """

    entries: Sequence[StackEntry]
    about: Mapping[str, Any] = field(default_factory=dict)
    driver: Drives | None = None

    def __post_init__(self) -> None:
        _check(self.entries)

    @property
    def drives(self) -> Drives:
        return self.driver or chosen_driver(self.entries)

    def header(self, prompt_ids: Sequence[int], settings: RunSettings) -> Header:
        """See `core.run.Stack`."""
        overlap = overlap_of(self.entries, simulated=bool(self.about.get("simulated")))
        if overlap != "none" and settings.replan is not None:
            raise StackError("plans change between rounds, and @with= lets rounds overlap; leave @with= or auto out")
        replan = {} if settings.replan is None else {"replan": settings.replan.settings()}
        return run_header(self.entries, prompt_ids, settings, {**self.about, **replan, "overlap": overlap})

    def open(self, capacity: int, settings: RunSettings) -> Iterator[LevelRun]:
        """See `core.run.Stack`."""
        nodes = most_nodes(largest(self.entries, None if settings.replan is None else settings.replan.longest))
        levels, lanes = [entry.level for entry in self.entries], lanes_of([entry.spec for entry in self.entries])
        target = levels[-1].about
        rounded = target.dtype in QUANTISED and target.device == "cpu"
        for i, opened in enumerate(open_levels(levels, capacity, nodes, lanes=lanes)):
            yield opened if i or not rounded else ChainRows(scorer(opened), greedy=settings.sampling.greedy)


def run(
    entries: Sequence[StackEntry], prompt_ids: Sequence[int], sampling: Sampling, seed: int, **options: Any
) -> Iterator[Event]:
    """`core.run` of a stack, cheapest level first.

    Args:
        options: by their names, fields of `RunSettings`, `Watcher` and `PreparedStack`.
    Raises:
        StackError, ValueError: see `core.run`. TypeError: no option has this name.
    """
    stack, watcher = ({one.name for one in fields(what)} & options.keys() for what in (PreparedStack, Watcher))
    prepared = PreparedStack(entries, **{name: options.pop(name) for name in stack})
    watched = Watcher(**{name: options.pop(name) for name in watcher})
    return engine.run(prepared, prompt_ids, RunSettings(sampling=sampling, seed=seed, **options), watched)


def _check(stack: Sequence[StackEntry]) -> None:
    if not stack:
        raise StackError("the stack is empty; it needs at least a target")
    check_order([entry.spec for entry in stack])
    sizes = {entry.level.vocab_size for entry in stack if entry.level.has_cache}
    if len(sizes) > 1:
        raise StackError(f"levels disagree on the vocabulary ({sorted(sizes)} tokens); use levels of one family")
    for i, entry in enumerate(stack):
        if i > 0 and not entry.level.can_verify:
            raise StackError(f"level {i} ({entry.level.name}) cannot verify; it can only be the first level")
        if i < len(stack) - 1 and (entry.block is None or entry.block < 1):
            raise StackError(f"level {i} ({entry.level.name}) has no block length; write {entry.level.name}:T")
    check_apart(stack)
