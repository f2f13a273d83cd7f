"""`validate`: predicted against measured ms per token of many stacks, on prompts that no profile was measured on."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

from hsd_core import bench
from hsd_core.cli.options import add_preset, progress
from hsd_core.theory import Profile, best_plans, has_specs, plan_of, read_profile, stack_text

PROMPTS = Path(__file__).resolve().parent.parent.parent / "assets" / "prompts" / "held-out.jsonl"
LENGTH = 64
DEPTH = 4  # levels of the planner's own stacks, at the most


def add(commands: Any) -> None:
    parser: argparse.ArgumentParser = commands.add_parser("validate", help="the theory against the clock")
    add_preset(parser)
    parser.add_argument("--profile", required=True, metavar="FILE", help="of the preset on this machine (calibrate)")
    parser.add_argument("--stacks", required=True, metavar="FILE", help="one stack a line, of levels of the profile")
    parser.add_argument("--prompts", default=str(PROMPTS), metavar="FILE", help="other ones than calibrate's")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N prompts")
    parser.add_argument("--max-new-tokens", type=int, default=LENGTH, metavar="N", help=f"(default {LENGTH})")
    parser.add_argument("--out", required=True, metavar="FILE", help="the result (JSON); runs are kept in FILE.runs")
    parser.add_argument("--detail", action="store_true", help="also a row for each level of each stack")
    parser.set_defaults(act=act)


def act(options: argparse.Namespace) -> int:
    from hsd_core.calibrate.cache import digest
    from hsd_core.machine import describe
    from hsd_core.validation import report, tables
    from hsd_core.validation.runs import RunsFile, by_stack, measure
    from hsd_core.workbench import Workbench

    profile, prompts = read_profile(options.profile), bench.read_prompts(options.prompts)[: options.limit]
    if not prompts or options.max_new_tokens < 2:
        raise ValueError("nothing to run; give at least one prompt to --limit and 2 to --max-new-tokens")
    asked = picks(profile)
    stacks = list(dict.fromkeys([*bench.read_stacks(options.stacks), *asked.values()]))
    stacks = list(dict.fromkeys([*(bench.plain_of(stack) for stack in stacks), *stacks]))
    for stack in stacks:  # what the theory or the preset cannot do is met now, not after an hour
        plan_of(profile, stack)
    workbench = Workbench.open(
        options.preset, stack=stacks[0], device=options.device, dtype=options.dtype, progress=progress()
    )
    for stack in stacks:
        workbench.seats(stack)

    def runner(stack: str, prompt: str) -> Iterator[Any]:
        return workbench.run(
            stack, prompt, temperature=profile.temperature, max_new_tokens=options.max_new_tokens, heads=2
        )

    about = {
        "preset": options.preset, "device": workbench.device, "dtype": workbench.dtype,
        "max_new_tokens": options.max_new_tokens, "temperature": profile.temperature, "profile": digest(profile),
        "prompts": Path(options.prompts).name, "texts": len(prompts),
    }  # fmt: skip
    texts = hashlib.sha256(json.dumps([prompt.text for prompt in prompts]).encode()).hexdigest()[:16]
    kept = RunsFile(Path(f"{options.out}.runs"), {**about, "stacks": stacks, "text": texts})
    before, began = len(kept.done), time.monotonic()
    with closing(measure(runner, stacks, prompts, kept.done)) as batches:
        for batch in batches:
            kept.add(batch)
            finished = len(kept.done)
            rest = (time.monotonic() - began) / (finished - before) * (len(prompts) - finished)
            print(f"prompt {finished} of {len(prompts)}, about {rest / 60:.0f} min left", file=sys.stderr, flush=True)
    runs = by_stack(kept.runs)
    found = report.rows(profile, runs, options.max_new_tokens, asked)
    summed = report.summary(found, runs)
    about |= {"machine": describe(workbench.device), "recorded": date.today().isoformat()}
    about["versions"] = workbench.about["versions"]
    result = report.as_json(profile, found, summed, about)
    Path(options.out).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    _print(
        [f"{options.preset}, {len(prompts)} prompts, up to {options.max_new_tokens} tokens, {about['machine']}"],
        [tables.stacks_table(found)], [tables.models_table(summed)], tables.verdict_lines(summed),
        *([[tables.levels_table(found)]] if options.detail else []),
    )  # fmt: skip
    return 0


def picks(profile: Profile) -> dict[str, str]:
    """The planner's own stacks, by what it was asked: the best under both models, and of each number of levels."""
    found: dict[str, str] = {}
    for model in ("iid", "marked"):
        answer = best_plans(profile, model=model)
        wanted = [
            (model, answer.best),
            *((f"{model}, {len(r.plan.levels)} levels", r) for r in answer.by_depth[1:DEPTH]),
        ]
        found |= {name: stack_text(profile, r.plan) for name, r in wanted if has_specs(profile, r.plan)}
    return found


def _print(*parts: Sequence[str]) -> None:
    print("\n\n".join("\n".join(lines) for lines in parts))
