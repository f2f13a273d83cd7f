"""The levels of a preset that are worth a place in its profile, and why the others have none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hsd_core.levels.kinds import setting, unpriced
from hsd_core.models.protocol import QUANTISED
from hsd_core.stacks.grammar import MAX_LEVELS, LevelSpec, StackError, bare, format_stack, parse

if TYPE_CHECKING:
    from hsd_core.levels.entry import StackEntry
    from hsd_core.pipeline import Pipeline
    from hsd_core.stacks.presets import Preset


@dataclass(frozen=True, slots=True)
class Candidates:
    """Built levels, cheapest first, the target last; `names` are their specs, `left_out` the reasons of the others."""

    entries: tuple[StackEntry, ...]
    names: tuple[str, ...]
    left_out: dict[str, str]

    @property
    def stack(self) -> str:
        return ",".join(self.names)


def default_levels(preset: Preset, dtype: str) -> tuple[list[str], dict[str, str]]:
    """The specs of all levels that a preset offers, cheapest first, and those that it cannot, with the reason.

    No weights are touched: what is listed may still fail to be built.
    """
    from hsd_core.stacks.catalogue import catalogue

    entry = next(e for e in catalogue() if e["name"] == preset.name)
    if preset.toy:
        return [f"table@id={level['params']['id']}" for level in entry["levels"]], {}
    found, left_out = [], {}
    for level in entry["levels"]:
        name, reason = level["name"], level["reason"]
        if name == "exit":
            depths = level["depth"]["trained"] or _depths(preset)
            found += [f"exit@at={at}" for at in depths]
            reason = "" if depths else "no exit was trained for this preset's target"
        elif name in QUANTISED and dtype == name:
            reason = f"the target is {name} itself"
        elif not reason and unpriced(LevelSpec(name)):
            reason = "several sequences go through one pass above it, which has no price in a profile"
        elif not reason:
            found.append(name)
        if reason:
            left_out[name] = reason
    return found, left_out


def candidates(pipeline: Pipeline, levels: str | None = None) -> Candidates:
    """Build the levels that are asked for (all that the preset offers), one by one over the target.

    Args:
        levels: in the grammar of stacks, without T: "ngram,int8,target".
    Raises:
        StackError: `levels` is no stack, the target cannot be built, or nothing but the target is left.
    """
    if levels is None:
        wanted, left_out = default_levels(pipeline.preset, pipeline.dtype)
    else:
        wanted, left_out = [_plain(spec) for spec in parse(levels)], {}
    if twice := [name for name in wanted if wanted.count(name) > 1]:
        raise StackError(f"{twice[0]} is given twice; a profile has each level once")
    *below, target = wanted
    usable = []
    pipeline.entries(target)
    for name in below:
        try:
            pipeline.entries(f"{name},{target}")
            usable.append(name)
        except (StackError, OSError, ValueError, RuntimeError) as error:
            left_out[name] = " ".join(str(error).split())
    for name in usable[: max(0, len(usable) + 1 - MAX_LEVELS)]:
        left_out[name] = f"a profile has at most {MAX_LEVELS} levels; name those you want with --levels"
        usable.remove(name)
    if not usable:
        why = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        raise StackError(f"preset {pipeline.preset.name} has no level below the target to calibrate ({why})")
    names = (*usable, target)
    return Candidates(tuple(pipeline.entries(",".join(names))), names, left_out)


def _plain(spec: LevelSpec) -> str:
    """A level's spec without what belongs to a stack entry: T, rule, policy. Two levels in one are refused."""
    if spec.miss is not None:
        raise StackError("a lookup with @miss= is two drafters in one; calibrate ngram and nano, each by itself")
    if spec.policy == "del":
        raise StackError("policy del chooses among exits; calibrate exit@at=N, each by itself")
    if found := unpriced(spec):
        name = found[0].name
        usual = unpriced(LevelSpec(spec.name))
        cure = f"leave {spec.name} out" if usual else f"calibrate {spec.name} without @{name}={setting(spec, name)}"
        raise StackError(f"a profile holds what one sequence costs; {cure}")
    return format_stack([bare(spec)])


def _depths(preset: Preset) -> list[int]:
    """Depths of exits in the preset's own stacks: checkpoints that are trained for exits read them without a draft."""
    stacks = [preset.default_stack, *(example.stack for example in preset.stacks)]
    return sorted({spec.at for stack in stacks for spec in parse(stack) if spec.name == "exit" and spec.at})
