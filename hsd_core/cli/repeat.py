"""Run a trace again by what its header says, and compare.

A run is a function of its header: weights, stack, prompt, sampling, seed and, where plans changed, the profile and the
replanner's settings. Times differ; ids and plans must not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hsd_core.core import events as trace
from hsd_core.core.events import Event
from hsd_core.models.sampling import Sampling
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.presets import PRESETS
from hsd_core.stacks.targets import preset_chosen
from hsd_core.trace import metrics
from hsd_core.trace.comparison import alike


@dataclass(frozen=True, slots=True)
class Repeat:
    """How many leading ids and plan changes agree, of how many. True in a condition when all do.

    `recorded`, `here`: the machines. Another processor may add up the products of a row in another order, so that
    logits differ in their last bits: enough for a coin near an acceptance, or for a near tie, to fall the other way.
    """

    ids: int
    ids_of: int
    plans: int
    plans_of: int
    recorded: str = ""
    here: str = ""

    def __bool__(self) -> bool:
        return self.ids == self.ids_of and self.plans == self.plans_of

    def __str__(self) -> str:
        plans = f"; {self.plans} of {self.plans_of} plans" if self.plans_of else ""
        said = f"{'the same' if self else 'not the same'}: {self.ids} of {self.ids_of} ids{plans}"
        if self or self.recorded == self.here:
            return said
        return (
            f"{said}; it was recorded on {self.recorded}, this is {self.here}: there sums of float products may differ "
            "in their last bits, and a sampled token with them"
        )


def opened(
    events: Sequence[Event],
    *,
    target: str | None = None,
    draft: str | None = None,
    device: str | None = None,
    dtype: str | None = None,
    progress: Callable[[str, float, float], None] | None = None,
) -> Pipeline:
    """The preset of a trace, opened as the run had it unless another device or dtype is named.

    Args:
        target, draft: the weights of a run over a target that is no preset's; a trace does not say where they lie.
    Raises:
        ValueError: the header names no preset of ours and no target is given, or the run was simulated.
    """
    header = metrics.header_of(events)
    if header.simulated:
        raise ValueError("the trace is simulated: no model ran, so none can run again; see the command whatif")
    if not target and header.preset not in PRESETS:
        raise ValueError(
            f"the trace is of {header.preset!r}, which is not a preset here (those are {', '.join(PRESETS)}); "
            "name its weights: --target FOLDER-OR-ID, and --draft where a model drafted"
        )
    preset, last = preset_chosen(header.preset or "", target=target, draft=draft, stack=header.stack), header.levels[-1]
    return Pipeline.open(
        preset,
        stack=header.stack,
        device=device or (None if preset.toy else last.device),
        dtype=dtype or (None if preset.toy else last.dtype),
        progress=progress,
    )


def repeat(pipeline: Pipeline, events: Sequence[Event]) -> Repeat:
    """Run a trace's header again and compare. An interrupted trace is compared as far as it goes.

    Raises:
        ValueError: the header's stack or profile cannot be used.
    """
    from hsd_core.stacks.prepared import run
    from hsd_core.theory import profile_from
    from hsd_core.theory.replan import Pace, ProfileReplanner

    header = metrics.header_of(events)
    entries = pipeline.entries(header.stack)
    by = None
    if header.replan is not None:
        specs = [entry.spec for entry in entries]
        by = ProfileReplanner(profile_from(header.profile), specs, pace=Pace(**header.replan))
    events_of = run(
        entries,
        header.prompt_ids,
        Sampling(**header.sampling),
        header.seed,
        max_new_tokens=header.max_new_tokens,
        ends=pipeline.ends,
        heads=0,
        replan=by,
    )
    again = list(events_of)
    ids, same_ids = metrics.committed_ids(events), metrics.committed_ids(again)
    rounds = max((e.round for e in events if isinstance(e, trace.Commit)), default=-1)
    plans, same_plans = _plans(events, rounds), _plans(again, rounds)
    # A run that was not cut short must also end where it ended.
    of = max(len(ids), len(same_ids)) if metrics.finished(events) else len(ids)
    return Repeat(
        alike(ids, same_ids),
        of,
        alike(plans, same_plans),
        max(len(plans), len(same_plans)),
        _where(header.machine, header.versions),
        _where(pipeline.about["machine"], pipeline.about["versions"]),
    )


def _where(machine: str, versions: Mapping[str, str]) -> str:
    return f"{machine or 'a machine without a name'} with torch {versions.get('torch', 'of an unknown version')}"


def _plans(events: Sequence[Event], last: int) -> list[tuple[Any, ...]]:
    """The plans of rounds up to `last`, without their times."""
    return [
        (e.round, e.stack, e.levels, e.blocks, e.predicted_ms, e.left_ms, e.why, e.acceptance)
        for e in events
        if isinstance(e, trace.Plan) and e.round <= last
    ]
