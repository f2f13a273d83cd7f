"""A stack ready for runs: checked, with its driver, and able to open its levels and to write a run's header."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any

import torch

from hsd_core.core import events as trace
from hsd_core.core import run as engine
from hsd_core.core.driver import MakeDriver, Sequential
from hsd_core.core.events import Event, Header
from hsd_core.core.level import Level, LevelRun, StackEntry, scorer
from hsd_core.core.run import RunSettings, Watcher
from hsd_core.grammar import driver_named, fan_of, lanes_of, scheduler_of, theta_of
from hsd_core.grammar.keys import GROW, REPLACE, TREE, WIDTH, WITH
from hsd_core.grammar.stack_text import StackError, check_order, format_stack, stack_lossless
from hsd_core.levels.chain_rows import ChainRows
from hsd_core.levels.memory import largest_round, most_nodes, pass_bytes
from hsd_core.levels.shared import Written, open_levels, shares
from hsd_core.models import QUANTISED
from hsd_core.models.sampling import Sampling

PIPELINE = "pipeline"  # the driver of stacks with more than two lanes


def chosen_driver(stack: Sequence[StackEntry]) -> MakeDriver:
    """The driver for the stack's schedulers; without any, levels run one after another."""
    spec, lanes_below = stack[-1].spec, set(lanes_of([entry.spec for entry in stack[:-1]]))
    kind = scheduler_of(spec)
    if len(lanes_below) > 1:
        drives: MakeDriver = driver_named(PIPELINE)
        return drives
    scheduler = kind.bind(spec.values)
    if scheduler is None:
        return Sequential
    return partial(driver_named(kind.driver), scheduler=scheduler)


def check_apart(stack: Sequence[StackEntry]) -> None:
    """Levels on different lanes may not share states or caches.

    Raises:
        StackError: a level needs what a level on another lane computes.
    """
    specs = [entry.spec for entry in stack]
    lanes = lanes_of(specs)
    for i, level in enumerate(entry.level for entry in stack[: lanes.index(lanes[-1])]):
        above = [other.level for other, lane in zip(stack[i + 1 :], lanes[i + 1 :], strict=True) if lane == lanes[i]]
        schedule = next(spec[WITH] for spec in specs[i + 1 :] if scheduler_of(spec).make)
        if level.about.fed and not any(getattr(other, "feeds", False) for other in above):
            why, cure = "reads the target's last states", "name a draft that is not fed, such as nano@id=smollm2-nano"
        elif getattr(getattr(level, "drafter", level), "views", False):
            why, cure = "reads the target's cache", "leave the level out"
        elif level.about.sequences > 1 or level.about.probes:
            why, cure = "offers more than one candidate", "let it draft one"
        else:
            continue
        raise StackError(
            f"level {i} ({level.name}) {why}, which @with={schedule} runs elsewhere; {cure}, or leave @with= out"
        )


def run_header(
    stack: Sequence[StackEntry], prompt_ids: Sequence[int], settings: RunSettings, about: Mapping[str, Any]
) -> trace.Header:
    """The header of a run with these settings; `about` has more of its fields."""
    specs, sampling, max_new = [entry.spec for entry in stack], settings.sampling, settings.max_new_tokens
    lossless, why = stack_lossless(specs, sampling)
    if lossless and len(stack) > 1 and _rows_hang_together(stack[-1].level):
        lossless, why = False, "on this processor the target's rows depend on how many of them are computed together"
    lanes = lanes_of(specs)
    trunks = shares([entry.level for entry in stack], lanes=lanes)
    levels = tuple(
        trace.LevelInfo(
            index=i,
            name=entry.spec.name,
            kind=entry.level.about.kind,
            label=entry.level.about.label,
            block=entry.block,
            policy=entry.spec.policy if i < len(stack) - 1 else None,
            theta=theta_of(entry.spec),
            rule=entry.spec.rule if i > 0 else None,
            bonus=entry.spec.bonus,
            device=entry.level.about.device,
            dtype=entry.level.about.dtype,
            layers=entry.level.about.layers,
            weights=entry.level.about.weights,
            params={
                **entry.level.about.params,
                **_launched(entry.level),
                **_grown(stack, i, sampling),
                **_outgrown(stack, i, len(prompt_ids) + max_new),
            },
            shares=trunks[i],
            reads=pass_bytes(entry.level),
            lane=lanes[i],
        )
        for i, entry in enumerate(stack)
    )
    if about.get("replan") is not None and lossless:
        why = f"{why}; plans change between rounds only, by what is past"
    versions = {"python": platform.python_version(), "torch": torch.__version__}
    about = {**about, "versions": {**versions, **about.get("versions", {})}}
    return trace.Header(
        format=trace.FORMAT,
        schema=trace.SCHEMA,
        stack=format_stack(specs),
        levels=levels,
        sampling=sampling.as_dict(),
        seed=settings.seed,
        prompt_ids=tuple(prompt_ids),
        max_new_tokens=max_new,
        lossless=lossless,
        lossless_reason=why,
        **about,
    )


def _rows_hang_together(target: Level) -> bool:
    """Whether a quantised target's rows were found to depend on the other rows of a pass. In float32 only their last
    bits can."""
    return target.about.dtype in QUANTISED and not getattr(getattr(target, "decoder", None), "independent", True)


def _launched(level: Level) -> dict[str, object]:
    """Why a level's passes on a GPU are launched kernel by kernel instead of replayed as a graph."""
    reason = getattr(getattr(level, "decoder", None), "eager", None)
    return {"eager": reason} if reason else {}


def _grown(stack: Sequence[StackEntry], index: int, sampling: Sampling) -> dict[str, object]:
    """The tree that a bottom level drafts and whether siblings are drawn with replacement, or how many candidates it
    keeps ready for each position."""
    spec, target = stack[index].spec, stack[-1].spec
    if index == 0 and scheduler_of(target).nodes:
        return {"ready": target[WIDTH]}
    if index or not (spec.widths or spec.get(GROW)) or not fan_of(spec):
        return {}
    shape = {"grow": spec[GROW]} if spec.get(GROW) else {"tree": spec[TREE]}
    return {**shape, **({"replace": True} if spec[REPLACE] and not sampling.greedy else {})}


def _outgrown(stack: Sequence[StackEntry], index: int, length: int) -> dict[str, object]:
    """The context length of a level below the target, if a text of this length exceeds it."""
    most = stack[index].level.max_positions
    return {"context": most} if most is not None and most < length and index < len(stack) - 1 else {}


@dataclass(frozen=True)
class PreparedStack:
    """A `core.run.Stack`.

    about: more fields of the header (preset, machine, recorded, versions, title, profile). driver: makes what carries
    out the hierarchy's requests; by default chosen by the stack's schedulers. earlier: see `SharedState`.

    Raises:
        StackError: the stack cannot work.
    """

    entries: Sequence[StackEntry]
    about: Mapping[str, Any] = field(default_factory=dict)
    driver: MakeDriver | None = None
    earlier: Sequence[Written] | None = None

    def __post_init__(self) -> None:
        _check(self.entries)

    @property
    def drives(self) -> MakeDriver:
        return self.driver or chosen_driver(self.entries)

    def header(self, prompt_ids: Sequence[int], settings: RunSettings) -> Header:
        """See `core.run.Stack`."""
        apart = lanes_of([entry.spec for entry in self.entries])[-1] > 0
        if apart and settings.replan is not None:
            raise StackError("plans change between rounds, and @with= lets rounds overlap; leave @with= or auto out")
        replan = {} if settings.replan is None else {"replan": settings.replan.settings()}
        about = {**self.about, **replan, "reckoned": apart and not self.about.get("simulated")}
        return run_header(self.entries, prompt_ids, settings, about)

    def open(self, capacity: int, settings: RunSettings) -> Iterator[LevelRun]:
        """See `core.run.Stack`."""
        nodes = most_nodes(largest_round(self.entries, None if settings.replan is None else settings.replan.longest))
        levels, lanes = [entry.level for entry in self.entries], lanes_of([entry.spec for entry in self.entries])
        target = levels[-1].about
        rounded = target.dtype in QUANTISED and target.device == "cpu"
        for i, opened in enumerate(open_levels(levels, capacity, nodes, lanes=lanes, earlier=self.earlier)):
            yield opened if i or not rounded else ChainRows(scorer(opened), greedy=settings.sampling.greedy)


def run(
    entries: Sequence[StackEntry], prompt_ids: Sequence[int], sampling: Sampling, seed: int, **options: Any
) -> Iterator[Event]:
    """`core.run` with a stack, cheapest level first.

    Args:
        options: fields of `RunSettings`, `Watcher` and `PreparedStack` by name.
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
