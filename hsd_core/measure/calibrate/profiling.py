"""`calibrate`: a preset's levels, measured on this machine, as profiles for the theory."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hsd_core.core.driver import Stopped
from hsd_core.grammar import fan_of
from hsd_core.grammar.keys import FUSE
from hsd_core.grammar.stack_text import bare, format_stack, parse
from hsd_core.measure.bench import read_prompts
from hsd_core.measure.calibrate.acceptance import count
from hsd_core.measure.calibrate.candidates import Candidates, candidates
from hsd_core.measure.calibrate.isolated_costs import BUDGET, CONTEXT, Timings, time_levels
from hsd_core.measure.calibrate.joint_costs import joint_costs
from hsd_core.measure.calibrate.measured_in_runs import SECONDS, count_in_runs
from hsd_core.measure.calibrate.reading import LONGEST, WIDEST, read
from hsd_core.measure.calibrate.run_costs import (
    EngineTime,
    Observed,
    engine_time,
    in_runs,
    observe,
    observe_drafts,
    per_token,
)
from hsd_core.measure.intervals import Tally, mean_interval
from hsd_core.measure.texts.written_texts import BATCH, PROMPTS, WrittenText, write
from hsd_core.theory import ENGINE, Costs, Profile, ProfileError, ProfileLevel, TextLengths, plan_of
from hsd_core.theory.profiles.profile import LENGTH, SureShare, with_acceptances_of
from hsd_core.theory.profiles.profile_store import QUICK, shipped_profile, store_profile
from hsd_core.theory.profiles.under_load import JointCosts, with_joint
from hsd_core.theory.search.default_stack import levels_for

if TYPE_CHECKING:
    from hsd_core.pipeline import Pipeline


MAX_BLOCK = 16
LEAST = 15.0  # the fewest tokens for an acceptance of a fork


def assembled(
    found: Candidates,
    tally: Tally,
    timings: Timings,
    seen: Observed,
    between: EngineTime,
    temperature: float,
    about: dict[str, Any],
) -> Profile:
    """The profile from counts and times of these levels. between: the engine's own time. about: of the profile."""
    one = len(found.entries)  # levels with numbers from here on only draft
    silent = [i for i in found.order if i >= one and tally.ratio(("beside", i, 1)) is None]
    left_out = {found.names[i]: "it offered nothing on these texts; give longer or more of them" for i in silent}
    order = [i for i in found.order if i not in silent]
    at = {number: place for place, number in enumerate(order)}
    pairs = [(j, i) for place, i in enumerate(order) for j in order[:place] if i < one]
    return Profile(
        tuple(_level(found, i, tally, timings, seen, between.verify_ms) for i in order),
        tuple(tuple(_accepts(tally, j, i) if (j, i) in pairs else float(i == j) for i in order) for j in order),
        MAX_BLOCK,
        edge_cost={
            (at[j], at[i]): costs.plus(between.verify_ms) for (j, i), costs in timings.edges.items() if (j, i) in pairs
        },
        interval=tuple(tuple(_interval(tally, j, i) if (j, i) in pairs else None for i in order) for j in order),
        temperature=temperature,
        round_ms=round(between.round_ms, 4),
        by_width={(at[j], at[i]): known for j, i in pairs if (known := _by_width(tally, j, i))},
        sure={(at[j], at[i]): stops for j, i in pairs if (stops := _sure(tally, j, i))},
        about={**about, "left_out": {**found.left_out, **left_out}},
    )


def _level(found: Candidates, i: int, tally: Tally, timings: Timings, seen: Observed, engine_ms: float) -> ProfileLevel:
    name, drafts = found.names[i], seen.drafts[i]
    if i in timings.verify:
        draft = timings.draft.get(i)
        costs = timings.verify[i].plus(engine_ms)
        return ProfileLevel(name, costs, name, draft_ms=None if draft is None else round(draft, 5))
    rows = [share for m in range(1, LONGEST + 1) if (share := tally.ratio(("beside", i, m))) is not None]
    own = found.run_only[i - len(found.entries)] if i > found.target else None
    beside = tuple(round(share, 3) for share in rows) if own and fan_of(own.spec) else ()
    rate = tally.ratio(("hit", i)) or 0.0
    reach = [tally.ratio(("reach", i, m)) for m in range(1, LONGEST + 1)]
    known = tuple(_round(r) for r in reach if r is not None)
    if own and own.level.has_cache:
        # Catching up is part of a draft's mean, as the level verifies nothing.
        alone = float(np.median([draft.ms / draft.forwards for draft in drafts if draft.forwards]))
        ms = round(per_token(drafts, Costs.constant(alone), alone), 5)
        if own.spec.get(FUSE):  # lookups are part of the passes of a draft
            return ProfileLevel(name, Costs.constant(ms), name, draft_ms=ms, beside=beside)
        took = [ms * (tally.ratio(("forwards", i, n)) or n) for n in range(1, LONGEST + 1)]
        return ProfileLevel(
            name, Costs(tuple(range(1, LONGEST + 1)), tuple(round(x, 5) for x in took)), name, _round(rate), known
        )
    hits, misses = ([draft.ms for draft in drafts if draft.hit is hit] for hit in (True, False))
    parts = [(share, mean_interval(ms)) for share, ms in ((rate, hits), (1.0 - rate, misses)) if ms]
    total = sum(share for share, _ in parts) or 1.0
    ms, low, high = (round(max(1e-5, sum(share * times[k] for share, times in parts) / total), 5) for k in range(3))
    return ProfileLevel(name, Costs((1,), (ms,), (low,), (high,)), name, _round(rate), known, beside=beside)


def _accepts(tally: Tally, j: int, i: int) -> float:
    return _round(tally.ratio(("pair", j, i)) or 0.0)


def _interval(tally: Tally, j: int, i: int) -> tuple[float, float] | None:
    found = tally.interval(("pair", j, i))
    return None if found is None else (_round(found[0]), _round(found[1]))


def _by_width(tally: Tally, j: int, i: int) -> tuple[float, ...]:
    """The acceptances of forks of 1, 2, ... tokens; empty if too few were counted."""
    keys = [("width", j, i, k) for k in range(1, WIDEST + 1)]
    shares = [_round(tally.ratio(key) or 0.0) for key in keys if tally.weight(key) >= LEAST]
    return tuple(np.maximum.accumulate(shares).tolist()) if len(shares) == WIDEST else ()


def _sure(tally: Tally, j: int, i: int) -> dict[str, tuple[SureShare, ...]]:
    """`Profile.sure` of a pair."""
    found: dict[str, list[SureShare]] = {}
    for key in (key for key in tally.names() if key[:3] == ("kept", j, i)):
        policy, theta = str(key[3]), float(str(key[4]))
        share, kept = tally.ratio(("sure", j, policy, theta)), tally.ratio(key)
        if share and kept is not None:
            found.setdefault(policy, []).append((theta, _round(share), _round(kept)))
    return {policy: tuple(known) for policy, known in found.items()}


def _round(share: float) -> float:
    """Rounded and clamped to 0 to 1: sums of float32 rows may be slightly more."""
    return round(min(1.0, max(0.0, share)), 5)


Progress = Callable[[str, float, float], None]


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured.

    texts: number of prompts, evenly from the file; None: all. tokens: that the target writes after each. batch: texts
    written at a time, by the lean decoder; 1: by plain decoding. texts_s, costs_s, runs_s: seconds after which no
    further text, turn of isolated costs, or turn of runs begins; greedy and sampled runs share runs_s. length: tokens
    of the text before what is measured: prompts are cut to pieces of this length, passes are timed alone, and runs
    measure only drafts, as each run reads such a text again; None: prompts as given. loads: numbers of texts,
    whose joint passes are timed too.
    """

    texts: int | None = None
    tokens: int = 40
    batch: int = BATCH
    texts_s: float = math.inf
    costs_s: float = BUDGET
    runs_s: float = 100.0
    length: int | None = None
    loads: tuple[int, ...] = ()


WHOLE = Effort()
# about 20 seconds for three levels: for everything, and for costs only, which need few texts
QUICKLY = Effort(texts=12, tokens=24, batch=1, texts_s=6.0, costs_s=4.0, runs_s=6.0)
COSTS_ALONE = Effort(texts=4, tokens=24, batch=1, texts_s=2.0, costs_s=6.0, runs_s=8.0)


def calibrate_default(
    pipeline: Pipeline, *, progress: Progress | None = None, stop: Callable[[], bool] | None = None
) -> Profile:
    """Measure the levels of the preset's default stack, and those that may take their places, greedily and in about 20
    seconds, and store the profile.

    Costs are measured on this machine. Acceptances need more texts than 20 seconds give, so they are taken from a
    shipped profile if there is one.

    Args:
        progress, stop: as in `calibrate`.
    Raises:
        StackError: the levels cannot be built, or cannot be in a profile.
        Stopped: `stop` returned True; nothing is stored.
        OSError: it cannot be stored.
    """
    shipped = shipped_profile(pipeline.preset.name, pipeline.device)
    *below, target = parse(stack := pipeline.preset.stack(pipeline.device))
    levels = format_stack([*(bare(spec) for spec in below), target])
    if shipped is not None:
        with suppress(ProfileError):
            levels = ",".join(shipped.levels[i].spec for i in levels_for(shipped, plan_of(shipped, stack)))
    effort = QUICKLY if shipped is None else COSTS_ALONE
    found = calibrate(pipeline, levels=levels, effort=effort, progress=progress, stop=stop)[0]
    if shipped is not None:
        found = with_acceptances_of(found, shipped) or found
    found = replace(found, about={**found.about, "effort": QUICK})
    store_profile(found, pipeline.preset, pipeline.device, pipeline.dtype)
    return found


def calibrate(
    pipeline: Pipeline,
    *,
    temperatures: Sequence[float] = (0.0,),
    levels: str | None = None,
    prompts: str | Path = PROMPTS,
    effort: Effort = WHOLE,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> list[Profile]:
    """Measure costs and acceptances of a preset's levels; one profile per temperature, in their order.

    Args:
        levels: in the grammar of stacks without T; None: all that the preset offers. prompts: a file of JSON lines.
        progress: called as progress(stage, done, total); stages are "texts", "acceptances", "offers" (of run-only
            levels), "costs", "runs" and "joint passes".
        stop: called between measurements.
    Raises:
        StackError: the levels cannot be read or built.
        ValueError: bad prompts or temperatures.
        Stopped: `stop` returned True.
    """
    progress, stop = progress or (lambda *_: None), stop or (lambda: False)
    if not temperatures:
        raise ValueError("no temperature is given; 0 is greedy")
    found = candidates(pipeline, levels)
    asked = read_prompts(prompts)
    asked = asked[:: math.ceil(len(asked) / (effort.texts or len(asked)))]
    costs: dict[bool, tuple[Timings, Observed]] = {}
    profiles: list[Profile] = []
    joint: JointCosts = {}
    for temperature in dict.fromkeys(temperatures):
        at = f" at temperature {temperature:g}" if temperature else ""
        texts = write(
            pipeline,
            found.names[found.target],
            asked,
            effort.tokens,
            temperature,
            length=effort.length,
            batch=effort.batch,
            seconds=effort.texts_s,
            progress=_stage(progress, f"texts{at}"),
            stop=stop,
        )
        tally = Tally(len(texts))
        for number, text in enumerate(texts):
            if stop():
                raise Stopped
            count(tally, number, read(found.entries, text, temperature, pipeline.ends))
            progress(f"acceptances{at}", number + 1, len(texts))
        count_in_runs(
            found,
            texts,
            temperature,
            tally,
            ends=pipeline.ends,
            tokens=effort.tokens,
            seconds=SECONDS * len(found.run_only),
            progress=_stage(progress, f"offers{at}"),
            stop=stop,
        )
        if (temperature == 0.0) not in costs:  # sampling costs the same at any temperature above 0
            alone = time_levels(
                found.entries,
                texts,
                temperature,
                run_only=found.run_only,
                context=effort.length or CONTEXT,
                seconds=effort.costs_s,
                progress=_stage(progress, f"costs{at}"),
                stop=stop,
            )
            progress_runs = _stage(progress, f"runs{at}")
            if effort.length:
                seen = observe_drafts(pipeline, found, texts, temperature, progress=progress_runs, stop=stop)
            else:
                share = effort.runs_s / len({t == 0.0 for t in temperatures})
                seen = observe(pipeline, found, texts, temperature, seconds=share, progress=progress_runs, stop=stop)
                alone = in_runs(alone, seen)
            costs[temperature == 0.0] = alone, seen
        if effort.loads and not profiles:
            ids = (*texts[0].prompt, *texts[0].output)
            own = _stage(progress, "joint passes")
            joint = joint_costs(found.entries, ids, effort.loads, progress=own, stop=stop)
        timings, seen = costs[temperature == 0.0]
        between = engine_time(seen)
        about = {
            **_about(pipeline, found, texts, timings, str(Path(prompts).name)),
            "runs": seen.runs,
            **({LENGTH: effort.length} if effort.length else {}),
            ENGINE: round(between.verify_ms, 4),
        }
        lengths = TextLengths(
            effort.tokens, len(texts), tuple(sorted(text.ended for text in texts if text.ended is not None))
        )
        profile = assembled(found, tally, timings, seen, between, temperature, about)
        profiles.append(with_joint(replace(profile, lengths=lengths), joint))
    return profiles


def _stage(progress: Progress, name: str) -> Callable[[int, int], None]:
    return lambda done, total: progress(name, done, total)


def _about(
    pipeline: Pipeline, found: Candidates, texts: Sequence[WrittenText], timings: Timings, prompts: str
) -> dict[str, Any]:
    return {
        **pipeline.about,
        "device": pipeline.device,
        "dtype": pipeline.dtype,
        "recorded": date.today().isoformat(),
        "prompts": prompts,
        "texts": len(texts),
        "tokens": sum(len(text.output) for text in texts),
        "context": timings.context,
        "turns": timings.turns,
    }
