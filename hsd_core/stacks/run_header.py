"""The header of a run: what was asked for, and each level as the run uses it."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from msgspec import UNSET

from hsd_core.core import events as trace
from hsd_core.core.entry import StackEntry
from hsd_core.core.level import Level
from hsd_core.core.run import RunSettings
from hsd_core.grammar import fan_of, lanes_of, scheduler_of, theta_of
from hsd_core.grammar.keys import GROW, REPLACE, TREE, WIDTH
from hsd_core.grammar.stack_text import format_stack, stack_lossless
from hsd_core.levels.memory import pass_bytes
from hsd_core.levels.shared import shares
from hsd_core.models import QUANTISED
from hsd_core.models.sampling import Sampling


def run_header(
    stack: Sequence[StackEntry], prompt_ids: Sequence[int], settings: RunSettings, about: Mapping[str, Any]
) -> trace.Header:
    """The header of a run with these settings; `about` has further fields of it."""
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
            lane=lanes[i] if lanes[-2:-1] > (0,) else UNSET,
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
    """Whether rows of a target that rounds its inputs were found to change with the rows beside them. In float32 their
    last bits alone can."""
    return target.about.dtype in QUANTISED and not getattr(getattr(target, "decoder", None), "independent", True)


def _launched(level: Level) -> dict[str, object]:
    """Why a level's passes are launched kernel by kernel on a GPU, where they should be replayed."""
    reason = getattr(getattr(level, "decoder", None), "eager", None)
    return {"eager": reason} if reason else {}


def _grown(stack: Sequence[StackEntry], index: int, sampling: Sampling) -> dict[str, object]:
    """The tree that a bottom level drafts, and whether siblings are drawn with replacement; or how many candidates it
    keeps ready for a place."""
    spec, target = stack[index].spec, stack[-1].spec
    if index == 0 and scheduler_of(target).nodes:
        return {"ready": target[WIDTH]}
    if index or not (spec.widths or spec.get(GROW)) or not fan_of(spec):
        return {}
    shape = {"grow": spec[GROW]} if spec.get(GROW) else {"tree": spec[TREE]}
    return {**shape, **({"replace": True} if spec[REPLACE] and not sampling.greedy else {})}


def _outgrown(stack: Sequence[StackEntry], index: int, length: int) -> dict[str, object]:
    """The context of a level below the target, where a text of this length outgrows it."""
    most = stack[index].level.max_positions
    return {"context": most} if most is not None and most < length and index < len(stack) - 1 else {}
