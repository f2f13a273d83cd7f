"""What two lanes on one core each cost each other: `calibrate --contention`.

In turns, each pass is timed alone with all threads (here) and with one (in a lane's process, on its core); then both
lanes loop at the same time. Medians, in about 12 seconds for each drafter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

from hsd_core.engine.lanes.chosen import check_apart
from hsd_core.engine.lanes.real.lane_pair import LanePair
from hsd_core.engine.lanes.real.looped import looped
from hsd_core.levels.declared.keys import WITH
from hsd_core.levels.shared import SharedState, open_place
from hsd_core.models.machine import same_core, two_cores
from hsd_core.models.sampling import Sampling
from hsd_core.models.threads import model_threads
from hsd_core.stacks.grammar import LevelSpec, StackError, format_stack, parse
from hsd_core.theory import Costs, Profile, ProfileError
from hsd_core.theory.profiles.cores import ONE_CORE

if TYPE_CHECKING:
    from hsd_core.pipeline import Pipeline

TURNS, SECONDS = 3, 0.8
BLOCK = 4  # tokens that a drafter hands up
CONTEXT = 150
TEXT = "Two lanes share the memory and the caches of one machine, and each of them has a core of its own. "


def measure_contention(
    pipeline: Pipeline,
    profile: Profile,
    levels: Sequence[str] | None = None,
    *,
    seconds: float = SECONDS,
    progress: Callable[[str, float, float], None] = lambda *_: None,
) -> Profile:
    """The profile with `threads` and `contention` of its drafters under its target.

    Args:
        levels: their names in the profile; None: every level that can work beside the target.
        seconds: of each measurement in each turn.
    Raises:
        ValueError: this machine has one core. ProfileError: none of the levels can work beside the target.
    """
    cores, threads = two_cores(), model_threads()
    if cores is None or threads < 2:
        raise ValueError(
            f"two lanes need two cores, and here {'is one' if cores is None else 'models have one thread'}; "
            "measure on a machine with more"
        )
    wanted = [profile.index(name) for name in levels or profile.names if name != profile.names[-1]]
    target = _spec(profile, profile.target)
    pairs = {i: _spec(profile, i) for i in wanted if levels or _stands_beside(pipeline, profile, i)}
    if not pairs:
        known = ", ".join(profile.names)
        raise ProfileError(f"no level of the profile drafts beside the target on another core; its levels are {known}")
    top = profile.target
    text = pipeline.encode(TEXT * (1 + CONTEXT // 4), raw=True)[:CONTEXT]
    rows = dict.fromkeys(pairs, 1) | {top: BLOCK + 1}
    ms: dict[tuple[int, int], list[float]] = defaultdict(list)  # of each level alone, by (threads, level)
    beside: dict[int, tuple[list[float], list[float]]] = {}  # of a drafter and the target at once, by drafter
    with closing(LanePair(pipeline.made_of)) as pair:
        for done, (i, spec) in enumerate(pairs.items()):
            entries = pipeline.entries(format_stack([replace(spec, block=BLOCK), target]))
            lanes = [(k, text, rows[place]) for k, place in enumerate((i, top))]
            runs = [run for entry in entries for run in open_place([entry.level], SharedState(len(text)))]
            settings = {"sampling": Sampling(), "seed": 0, "ends": frozenset[int](), "heads": 0}
            list(pair.open(entries, len(text), 0, **settings))  # type: ignore[arg-type]
            both: tuple[list[float], list[float]] = ([], [])
            for turn in range(TURNS):
                for lane, place in zip(lanes, (i, top), strict=True):
                    ms[threads, place] += looped(runs[lane[0]], *lane[1:], seconds)
                    ms[1, place] += pair.looped([lane], seconds)[0]
                for kept, found in zip(both, pair.looped(lanes, seconds), strict=True):
                    kept += found
                progress("contention", done + (turn + 1) / TURNS, len(pairs))
            for run in runs:
                run.close()
            beside[i] = both
    alone = {key: median(found) for key, found in ms.items()}
    timed = {n: {i: Costs((rows[i],), (round(alone[n, i], 4),)) for i in rows} for n in (1, threads)}
    kappas = {(i, top): (median(own) / alone[1, i], median(its) / alone[1, top]) for i, (own, its) in beside.items()}
    return replace(
        profile,
        threads={**profile.threads, **{n: {**profile.threads.get(n, {}), **found} for n, found in timed.items()}},
        contention={
            **profile.contention,
            **{pair_: (round(own, 4), round(its, 4)) for pair_, (own, its) in kappas.items()},
        },
        about={**profile.about, ONE_CORE: same_core(*cores)},
    )


def _spec(profile: Profile, i: int) -> LevelSpec:
    """A level of the profile as a stack names it.

    Raises:
        ProfileError: nobody has weights for it.
    """
    level = profile.levels[i]
    if not level.spec:
        raise ProfileError(f"level {level.name!r} has no spec, so that no pass of it can be run; calibrate again")
    return parse(level.spec if i == profile.target else f"{level.spec},target")[0]


def _stands_beside(pipeline: Pipeline, profile: Profile, i: int) -> bool:
    """Whether a level of the profile is a model that may draft for the target on another core."""
    level = profile.levels[i]
    if level.is_lookup or level.beside or not level.spec:
        return False
    try:
        entries = pipeline.entries(f"{_text(level.spec)},{profile.levels[-1].spec or 'target'}@{WITH.name}=pearl")
        check_apart(entries)
    except StackError:
        return False
    return all(entry.level.device == "cpu" for entry in entries)


def _text(spec: str) -> str:
    name, mark, keys = spec.partition("@")
    return f"{name}:{BLOCK}{mark}{keys}"
