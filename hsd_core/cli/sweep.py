"""`sweep`: stacks measured side by side with plain decoding, over a file of prompts."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from hsd_core import bench
from hsd_core.cli.options import add_preset, add_sampling, progress
from hsd_core.machine import describe

_SETTINGS = ("preset", "device", "dtype", "max_new_tokens", "temperature", "top_k", "top_p", "seed", "raw")


def add(commands: Any) -> None:
    parser: argparse.ArgumentParser = commands.add_parser("sweep", help="measure stacks beside plain decoding")
    add_preset(parser)
    parser.add_argument("--stacks", required=True, metavar="FILE", help="one stack a line")
    parser.add_argument("--prompts", required=True, metavar="FILE", help="JSON lines with prompt or turns")
    parser.add_argument("--out", metavar="FILE", help="keep each measurement; an interrupted sweep goes on from here")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N prompts")
    add_sampling(parser)
    parser.set_defaults(act=act)


def act(options: argparse.Namespace) -> int:
    from hsd_core.workbench import Workbench

    stacks, prompts = bench.read_stacks(options.stacks), bench.read_prompts(options.prompts)[: options.limit]
    workbench = Workbench.open(
        options.preset, stack=stacks[0], device=options.device, dtype=options.dtype, progress=progress()
    )
    for stack in stacks:  # a stack that cannot be built is met now, not after an hour
        workbench.seats(stack)

    def runner(stack: str, prompt: str) -> Iterator[Any]:
        return workbench.run(
            stack, prompt, temperature=options.temperature, top_k=options.top_k, top_p=options.top_p,
            seed=options.seed, max_new_tokens=options.max_new_tokens, raw=options.raw, heads=2,
        )  # fmt: skip

    settings = {k: v for k, v in vars(options).items() if k in _SETTINGS}
    kept = _kept(options.out, settings, stacks, len(prompts))
    done = frozenset(m.prompt for m in kept)
    began, stamp = time.monotonic(), len(stacks) + len({bench.plain_of(stack) for stack in stacks} - set(stacks))
    with closing(bench.sweep(runner, stacks, prompts, done=done)) as measurements:
        batch: list[bench.Measurement] = []
        for measurement in measurements:
            batch.append(measurement)
            if len(batch) < stamp:
                continue
            kept += batch
            if options.out:
                with Path(options.out).open("a", encoding="utf-8") as file:
                    file.writelines(bench.to_line(m) + "\n" for m in batch)
            batch = []
            finished = len({m.prompt for m in kept})
            rest = (time.monotonic() - began) / max(1, finished - len(done)) * (len(prompts) - finished)
            print(f"prompt {finished} of {len(prompts)}, about {rest / 60:.0f} min left", file=sys.stderr, flush=True)
    where = f"{describe(workbench.device)}, {workbench.about['versions'].get('torch', '')}"
    print(f"{options.preset}, {len(prompts)} prompts, up to {options.max_new_tokens} tokens, {where}\n")
    print(bench.table(bench.summary(kept)))
    return 0


def _kept(out: str | None, settings: dict[str, Any], stacks: list[str], prompts: int) -> list[bench.Measurement]:
    """Measurements of an earlier, interrupted sweep; a new file gets the settings as its first line.

    Raises:
        ValueError: the file holds a sweep over other stacks or with other settings.
    """
    if not out:
        return []
    path = Path(out)
    if not path.exists():
        path.write_text(json.dumps(settings) + "\n", encoding="utf-8")
    first, *lines = path.read_text(encoding="utf-8").splitlines()
    if json.loads(first) != settings:
        raise ValueError(f"{out} holds a sweep with the settings {first}; give a new file to --out, or delete it")
    kept = [bench.from_line(line) for line in lines if line]
    wanted = {*stacks, *(bench.plain_of(stack) for stack in stacks)}
    if {m.stack for m in kept} - wanted or any(m.prompt >= prompts for m in kept):
        raise ValueError(f"{out} holds another sweep; give a new file to --out, or delete it")
    by_prompt: dict[int, list[bench.Measurement]] = {}
    for m in kept:
        by_prompt.setdefault(m.prompt, []).append(m)
    return [m for own in by_prompt.values() if {x.stack for x in own} == wanted for m in own]
