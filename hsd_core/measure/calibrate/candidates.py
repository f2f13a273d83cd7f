"""The levels of a preset that are calibrated, and why the others are left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hsd_core.grammar import fan_of, kind_of, kinds
from hsd_core.grammar.keys import AT, GROW, GUESS, TREE
from hsd_core.grammar.spec import grows_by_itself
from hsd_core.grammar.stack_text import MAX_LEVELS, LevelSpec, StackError, format_stack, parse
from hsd_core.theory.latency.plans import measured_as

if TYPE_CHECKING:
    from hsd_core.core.level import StackEntry
    from hsd_core.grammar.preset import Preset
    from hsd_core.pipeline import Pipeline

GUESSES = 7  # sequences that Hierarchy Drafting offers at once


@dataclass(frozen=True, slots=True)
class Candidates:
    """Built levels.

    Attributes:
        entries: levels with a row behind every token of a text, and lookups of one sequence: cheapest first, the target
            last.
        run_only: levels that are measured only in runs, each in stacks of its own over the target.
        names: the specs of `entries`, then of `run_only`; a level's number is its index here.
        left_out: the others, with reasons.
        order: the numbers in the order in which the levels were requested, the target's last.
    """

    entries: tuple[StackEntry, ...]
    names: tuple[str, ...]
    left_out: dict[str, str]
    run_only: tuple[StackEntry, ...]
    order: tuple[int, ...]

    @property
    def target(self) -> int:
        return len(self.entries) - 1

    @property
    def stack(self) -> str:
        """The levels of `entries`."""
        return ",".join(self.names[: len(self.entries)])


def default_levels(preset: Preset, dtype: str) -> tuple[list[str], dict[str, str]]:
    """The specs of all levels that a preset offers, cheapest first, and those that it cannot offer, with reasons.

    No weights are read: a listed level may still fail to be built.
    """
    from hsd_core.stacks.presets import catalogue_entry

    entry = catalogue_entry(preset)
    if preset.toy:
        return [f"table@id={level['params']['id']}" for level in entry["levels"]], {}
    found, left_out = [], {}
    for level in entry["levels"]:
        name, reason = level["name"], level["reason"]
        reads = kinds()[name].shares.reads
        if "depth" in level:
            depths = level["depth"]["trained"] or _depths(preset, name)
            found += [f"{name}@{AT.name}={at}" for at in depths]
            reason = "" if depths else f"no {name} was trained for this preset's target"
        elif reads and reads.weights == dtype:
            reason = f"the target is {dtype} itself"
        elif not reason and kinds()[name].planning.named:
            reason = f"it is measured where it is named: --levels {name},target"
        elif not reason and (why := kinds()[name].planning.unplanned(LevelSpec(name))):
            reason = why.instead
        elif not reason:
            named = f"@id={level['params']['id']}" if level["params"].get("id") else ""
            found += [f"{name}{named}", *([f"{name}@guess={GUESSES}"] if LevelSpec(name).get(GUESS) == 1 else [])]
        if reason:
            left_out[name] = reason
    return found, left_out


def candidates(pipeline: Pipeline, levels: str | None = None) -> Candidates:
    """Build the requested levels (by default all that the preset offers), one by one over the target.

    Args:
        levels: in the grammar of stacks, without T: "ngram,int8,target". Levels that are measured only in runs may be
            among the others, which must be a stack.
    Raises:
        StackError: `levels` is not a stack, the target cannot be built, or only the target is left.
    """
    wanted, left_out = default_levels(pipeline.preset, pipeline.dtype) if levels is None else (asked(levels), {})
    if twice := [name for name in wanted if wanted.count(name) > 1]:
        raise StackError(f"{twice[0]} is given twice; a profile has each level once")
    *below, target = wanted
    run_only = [name for name in below if is_run_only(parse(f"{name},{target}")[0])]
    built: dict[str, StackEntry] = {}
    pipeline.entries(target)
    for name in below:
        try:
            built[name] = pipeline.entries(f"{name},{target}")[0]
        except (StackError, OSError, ValueError, RuntimeError) as error:
            left_out[name] = " ".join(str(error).split())
    run_only = [name for name in run_only if name in built]
    usable = [name for name in built if name not in run_only]
    for name in usable[: max(0, len(usable) + 1 - MAX_LEVELS)]:
        left_out[name] = f"a profile has at most {MAX_LEVELS} levels; name those you want with --levels"
        usable.remove(name)
    if not (usable or run_only):
        why = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        raise StackError(f"preset {pipeline.preset.name} has no level below the target to calibrate ({why})")
    names = (*usable, target, *run_only)
    order = tuple(names.index(name) for name in wanted if name in names)
    alone = tuple(pipeline.entries(",".join((*usable, target))))
    return Candidates(alone, names, left_out, tuple(built[name] for name in run_only), order)


def is_run_only(spec: LevelSpec) -> bool:
    """Whether a level can be measured only in runs: it offers several candidates, has a lookahead window, or ends its
    drafts itself."""
    kind = kind_of(spec)
    rides = any(spec.get(key) for key in kind.keys if key.rides)
    return rides or fan_of(spec) is not None or not (kind.placement.verifies or kind.lookup.beside)


def asked(levels: str) -> list[str]:
    """The specs of requested levels; those that are not `run_only` must be a stack."""
    *below, target = levels.split(",")
    specs = [parse(f"{level},{target}")[0] for level in below] + [*parse(target)]
    parse(",".join(format_stack([spec]) for spec in specs if not is_run_only(spec)))
    return [_plain(spec) for spec in specs]


def _plain(spec: LevelSpec) -> str:
    """A level's spec without T, rule and policy. Two levels in one are refused."""
    if why := kind_of(spec).planning.unplanned(spec):
        raise StackError(why.instead)
    if (grown := spec.get(GROW)) and not grows_by_itself(spec):
        raise StackError(
            f"a plan holds no tree that is shaped again in every round; calibrate {spec.name} without @grow={grown}"
        )
    if tree := spec.get(TREE):
        raise StackError(f"a plan prices trees of a level's own drafts; calibrate {spec.name} without @tree={tree}")
    return format_stack([measured_as(spec, bottom=True)])


def _depths(preset: Preset, name: str) -> list[int]:
    """Depths of exits in the preset's stacks, for checkpoints that are trained for exits and need no draft."""
    stacks = [preset.default_stack, *(example.stack for example in preset.stacks)]
    return sorted({spec[AT] for stack in stacks for spec in parse(stack) if spec.name == name})
