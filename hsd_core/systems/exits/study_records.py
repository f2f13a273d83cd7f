"""The records of a study of exits, in the order of a file of raw results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from hsd_core.grammar import kind_of
from hsd_core.grammar.keys import AT
from hsd_core.grammar.stack_text import LevelSpec, parse
from hsd_core.measure.bench.side_by_side import completed
from hsd_core.measure.bench.summary import runs_of, summary
from hsd_core.measure.rawfile import read_raw
from hsd_core.systems.exits.depths import lens_agreement
from hsd_core.systems.exits.exit_costs import Setting, fitted, fitted_share, maps, sweep, two_over_one
from hsd_core.theory import Profile, StackPlan, expected

Record = dict[str, Any]
EXIT = "exit"
JUDGED = 5  # rows of a target's verification in `ratios`: four drafted tokens and the one behind them


def swept(read: Iterable[Record], costs: Sequence[Record]) -> Iterator[Record]:
    """The sweep over exits read by the model's own head, from agreements and costs of passes."""
    fit, off = fitted(costs)
    yield {"what": "fit", "off": round(off, 4), "layers": fit.layers}
    yield from sweep(fit, lens_agreement(read))


def ratios(name: str, profile: Profile) -> Iterator[Record]:
    """For each model below a profile's target: a verification's time in drafted tokens (HiSpec's figure 2)."""
    for i, level in enumerate(profile.levels[:-1]):
        if level.spec and not level.drafts_only:
            verify, draft = profile.verify_cost(i, profile.target)(JUDGED), level.block_ms(1)
            yield {
                "what": "ratio",
                "profile": name,
                "machine": profile.about.get("machine", ""),
                "draft": level.spec,
                "verify_ms": round(verify, 4),
                "draft_ms": round(draft, 4),
                "ratio": round(verify / draft, 3),
            }


def kept(path: Path, about: Mapping[str, Any]) -> tuple[Record, list[Record]]:
    """The readings of an earlier study's file, and its first line updated by `about`, that of the study to complete.

    Raises:
        ValueError: the file is of another model, or of other texts.
    """
    found, records = read_raw(path)
    for name in ("kind", "preset", "prompts_sha256", "max_new_tokens", "layers"):
        if found.get(name) != about[name]:
            other = f"{path} is of another {name} ({found.get(name)}, not {about[name]})"
            raise ValueError(f"{other}; give a new file to --out")
    return {**found, **about}, [r for r in records if r["what"] in ("reading", "pair")]


def measured(path: Path) -> list[Record]:
    """The speed-ups of stacks of exits in a benchmark."""
    about, records = read_raw(path)
    rows = summary(completed(runs_of(records), about["stacks"]))
    return [
        {
            "what": "run",
            "stack": row["stack"],
            "speed_up": round(row["speed_up"], 4),
            "interval": [round(end, 4) for end in row["interval"]],
            "accepted": [a if a is None else round(a, 4) for a in row["acceptance"]],
            "prompts": row["prompts"],
            "machine": about["machine"],
        }
        for row in rows
        if len(specs := parse(row["stack"])) > 1 and all(spec.name == EXIT for spec in specs[:-1])
    ]


def needed(profile: Profile, runs: Sequence[Record], layers: int) -> Iterator[Record]:
    """The break-even maps around the measured point: the fastest two exits that were run, of those that the profile has
    if any, with the acceptances of those runs.

    Raises:
        ValueError: no stack of two exits was run, or none of the lower one alone.
    """
    pairs = [run for run in runs if len(parse(run["stack"])) == 3]
    two = next((run for run in pairs if _in(run["stack"], profile)), next(iter(pairs), None))
    if two is None:
        raise ValueError("no stack of two exits was run; give a benchmark with one, and one with the lower exit alone")
    low, high, _ = parse(two["stack"])
    alone = next((run for run in runs if _is(run["stack"], low)), None)
    if alone is None:
        raise ValueError(f"no stack of the exit at {low[AT]} alone was run; the maps begin with what it is accepted")
    named = ((i, parse(f"{level.spec},target")[0]) for i, level in enumerate(profile.levels[:-1]) if level.spec)
    exits = {i: spec[AT] for i, spec in named if spec.name == EXIT}
    share = fitted_share(profile, exits, layers)
    inner, upper = two["accepted"][1:]
    today = Setting(profile.levels[-1].cost, (low[AT], high[AT]), layers, share, inner, upper, alone["accepted"][1])
    best_two, best_one = two_over_one(today.profile())
    yield {
        "what": "today",
        "depths": list(today.depths),
        "share": round(share, 4),
        "inner": inner,
        "upper": upper,
        "alone": today.alone,
        "two": round(best_two, 4),
        "one": round(best_one, 4),
    }
    yield from (_predicted(run, profile) for run in runs if _in(run["stack"], profile))
    yield from maps(today)


def _is(stack: str, low: LevelSpec) -> bool:
    specs = parse(stack)
    return len(specs) == 2 and specs[0][AT] == low[AT] and specs[0].policy == low.policy


def _names(stack: str) -> list[str]:
    *exits, _ = parse(stack)
    return [f"exit@at={spec[AT]}" for spec in exits] + ["target"]


def _in(stack: str, profile: Profile) -> bool:
    return "del" not in {spec.policy for spec in parse(stack)} and set(_names(stack)) <= set(profile.names)


def _predicted(run: Record, profile: Profile) -> Record:
    """The recursion's speed-up for a run, from the profile's costs and the run's acceptances."""
    levels = tuple(profile.index(name) for name in _names(run["stack"]))
    pairs = dict(zip(pairwise(levels), run["accepted"][1:], strict=True))
    blocks = tuple(spec.block or kind_of(spec).placement.block for spec in parse(run["stack"])[:-1])
    predicted = expected(profile.with_acceptance(pairs), StackPlan(levels, blocks)).speedup
    return {"what": "predicted", "stack": run["stack"], "speed_up": round(predicted, 4), "measured": run["speed_up"]}
