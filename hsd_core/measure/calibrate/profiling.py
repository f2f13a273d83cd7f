"""`calibrate`: a preset's levels, measured on this machine, as profiles for the theory."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hsd_core.core.driver import Stopped
from hsd_core.grammar.stack_text import bare, format_stack, parse
from hsd_core.measure.bench import read_prompts
from hsd_core.measure.calibrate.assembled import assembled
from hsd_core.measure.calibrate.at_work import SECONDS, meet
from hsd_core.measure.calibrate.candidates import Candidates, candidates
from hsd_core.measure.calibrate.costs.scaling import in_runs
from hsd_core.measure.calibrate.costs.short_runs import Observed, observe, observe_drafts, outside
from hsd_core.measure.calibrate.costs.timing import BUDGET, CONTEXT, Timings, time_levels
from hsd_core.measure.calibrate.overlap import count
from hsd_core.measure.calibrate.reading import read
from hsd_core.measure.tally import Tally
from hsd_core.measure.texts.written_texts import BATCH, PROMPTS, WrittenText, write
from hsd_core.theory import ENGINE, Profile, TextLengths
from hsd_core.theory.profiles.agreement import with_agreement
from hsd_core.theory.profiles.kept import QUICK, keep, shipped_profile
from hsd_core.theory.profiles.profile import LENGTH

if TYPE_CHECKING:
    from hsd_core.pipeline import Pipeline

Progress = Callable[[str, float, float], None]


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured.

    `texts`: of how many prompts, evenly from the file; None: all. `tokens`: that the target writes after each. `batch`:
    texts that it writes at a time, through weights of its own; 1: by plain decoding. `texts_s`, `costs_s`, `runs_s`:
    seconds after which no further text, turn of costs alone or turn of runs begins; greedy and sampled runs share
    theirs. `length`: of the text before what is measured, in tokens: the prompts are cut to pieces of so many, passes
    are timed alone and runs show drafts only, for each of them reads such a text anew; None: prompts as they are.
    """

    texts: int | None = None
    tokens: int = 40
    batch: int = BATCH
    texts_s: float = math.inf
    costs_s: float = BUDGET
    runs_s: float = 100.0
    length: int | None = None


WHOLE = Effort()
# about 20 seconds for three levels: of all, and of costs alone, which need few texts
QUICKLY = Effort(texts=12, tokens=24, batch=1, texts_s=6.0, costs_s=4.0, runs_s=6.0)
COSTS_ALONE = Effort(texts=4, tokens=24, batch=1, texts_s=2.0, costs_s=6.0, runs_s=8.0)


def calibrate_default(
    pipeline: Pipeline, *, progress: Progress | None = None, stop: Callable[[], bool] | None = None
) -> Profile:
    """Measure the levels of the preset's default stack, greedily and in about 20 seconds; what it finds is kept.

    What its levels cost is this machine's. Who accepts whose tokens is not: seconds would say little of it, so where a
    shipped profile knows it from many texts, it is taken from there.

    Args:
        progress, stop: as in `calibrate`.
    Raises:
        StackError: the levels cannot be built, or are none that a profile has. Stopped: as asked; nothing is kept.
        OSError: it cannot be kept.
    """
    *below, target = parse(pipeline.preset.stack(pipeline.device))
    levels = format_stack([*(bare(spec) for spec in below), target])
    shipped = shipped_profile(pipeline.preset.name, pipeline.device)
    effort = QUICKLY if shipped is None else COSTS_ALONE
    found = calibrate(pipeline, levels=levels, effort=effort, progress=progress, stop=stop)[0]
    if shipped is not None:
        found = with_agreement(found, shipped) or found
    found = replace(found, about={**found.about, "effort": QUICK})
    keep(found, pipeline.preset, pipeline.device, pipeline.dtype)
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
    """Measure costs and acceptances of a preset's levels; one profile a temperature, in their order.

    Args:
        levels: which, in the grammar of stacks without T; None for all that the preset offers. prompts: JSON lines as
            for `pipeline`.
        progress: called as progress(stage, done, total); stages are "texts", "acceptances", "offers" (of levels that
            are met at work), "costs" and "runs".
        stop: asked between measurements.
    Raises:
        StackError: the levels cannot be read or built. ValueError: bad prompts or temperatures. Stopped: as asked.
    """
    tell, stop = progress or (lambda *_: None), stop or (lambda: False)
    if not temperatures:
        raise ValueError("no temperature is given; 0 is greedy")
    found = candidates(pipeline, levels)
    asked = read_prompts(prompts)
    asked = asked[:: math.ceil(len(asked) / (effort.texts or len(asked)))]
    costs: dict[bool, tuple[Timings, Observed]] = {}
    profiles = []
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
            tell=_stage(tell, f"texts{at}"),
            stop=stop,
        )
        tally = Tally(len(texts))
        for number, text in enumerate(texts):
            if stop():
                raise Stopped
            count(tally, number, read(found.entries, text, temperature, pipeline.ends))
            tell(f"acceptances{at}", number + 1, len(texts))
        meet(
            found,
            texts,
            temperature,
            tally,
            ends=pipeline.ends,
            tokens=effort.tokens,
            seconds=SECONDS * len(found.at_work),
            tell=_stage(tell, f"offers{at}"),
            stop=stop,
        )
        if (temperature == 0.0) not in costs:  # how sharp the rows are costs nothing, that they are softened does
            alone = time_levels(
                found.entries,
                texts,
                temperature,
                at_work=found.at_work,
                context=effort.length or CONTEXT,
                seconds=effort.costs_s,
                tell=_stage(tell, f"costs{at}"),
                stop=stop,
            )
            told = _stage(tell, f"runs{at}")
            if effort.length:
                seen = observe_drafts(pipeline, found, texts, temperature, tell=told, stop=stop)
            else:
                share = effort.runs_s / len({t == 0.0 for t in temperatures})
                seen = observe(pipeline, found, texts, temperature, seconds=share, tell=told, stop=stop)
                alone = in_runs(alone, seen)
            costs[temperature == 0.0] = alone, seen
        timings, seen = costs[temperature == 0.0]
        between = outside(seen)
        about = {
            **_about(pipeline, found, texts, timings, str(Path(prompts).name)),
            "runs": seen.runs,
            **({LENGTH: effort.length} if effort.length else {}),
            ENGINE: round(between.verify_ms, 4),
        }
        lengths = TextLengths(
            effort.tokens, len(texts), tuple(sorted(text.ended for text in texts if text.ended is not None))
        )
        profiles.append(replace(assembled(found, tally, timings, seen, between, temperature, about), lengths=lengths))
    return profiles


def _stage(tell: Progress, name: str) -> Callable[[int, int], None]:
    return lambda done, total: tell(name, done, total)


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
