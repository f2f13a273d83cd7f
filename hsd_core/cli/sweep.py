"""`sweep`: stacks measured side by side with plain decoding, over a file of prompts."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

from hsd_core.cli.options import add_preset, add_sampling, progress
from hsd_core.measure import bench
from hsd_core.measure.results.rawfile import RawFile, measured_by, prompts_file, ran_on

_SETTINGS = ("preset", "device", "dtype", "max_new_tokens", "temperature", "top_k", "top_p", "seed", "raw")


def add(commands: Any) -> None:
    parser: argparse.ArgumentParser = commands.add_parser("sweep", help="measure stacks beside plain decoding")
    add_preset(parser)
    parser.add_argument("--stacks", required=True, metavar="FILE", help="one stack a line")
    parser.add_argument("--prompts", required=True, metavar="FILE", help="JSON lines with prompt or turns")
    parser.add_argument(
        "--out", metavar="FILE|DIR", help="keep the raw results; an interrupted sweep goes on from there"
    )
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N prompts")
    add_sampling(parser)
    parser.set_defaults(act=act)


def act(options: argparse.Namespace) -> int:
    from hsd_core.pipeline import Pipeline

    stacks, prompts = bench.read_stacks(options.stacks), bench.read_prompts(options.prompts)[: options.limit]
    pipeline = Pipeline.open(
        options.preset, stack=stacks[0], device=options.device, dtype=options.dtype, progress=progress()
    )
    for stack in stacks:  # a stack that cannot be built is met now, not after an hour
        pipeline.entries(stack)

    def runner(stack: str, prompt: str) -> Iterator[Any]:
        return pipeline.run(
            stack,
            prompt,
            temperature=options.temperature,
            top_k=options.top_k,
            top_p=options.top_p,
            seed=options.seed,
            max_new_tokens=options.max_new_tokens,
            raw=options.raw,
            heads=2,
        )

    about = {
        **measured_by("sweep", options.said),
        **{name: getattr(options, name) for name in _SETTINGS},
        "device": pipeline.device,
        "dtype": pipeline.dtype,
        **ran_on(pipeline.device),
        **prompts_file(options.prompts),
        "stacks": bench.with_plain(stacks),
    }
    kept, raw = _kept(options, about, len(prompts))
    done = frozenset(m.prompt for m in kept)
    began = time.monotonic()
    with closing(bench.sweep(runner, stacks, prompts, done=done)) as measurements:
        while batch := list(islice(measurements, len(about["stacks"]))):  # of one prompt
            kept += batch
            if raw:
                raw.add(map(asdict, batch))
            finished = len({m.prompt for m in kept})
            rest = (time.monotonic() - began) / max(1, finished - len(done)) * (len(prompts) - finished)
            print(f"prompt {finished} of {len(prompts)}, about {rest / 60:.0f} min left", file=sys.stderr, flush=True)
    where = f"{about['machine']}, {about['versions'].get('torch', '')}"
    print(f"{options.preset}, {len(prompts)} prompts, up to {options.max_new_tokens} tokens, {where}\n")
    print(bench.table(bench.summary(kept)))
    return 0


def _kept(
    options: argparse.Namespace, about: dict[str, Any], prompts: int
) -> tuple[list[bench.Measurement], RawFile | None]:
    """Measurements of an earlier, interrupted sweep, and the file that new ones go to.

    Raises:
        ValueError: the file holds a sweep of other stacks, prompts or settings, or on another machine.
    """
    if not options.out:
        return [], None
    path = Path(options.out)
    if path.is_dir():
        path /= f"sweep-{options.preset}-{Path(options.prompts).stem}.jsonl"
    raw = RawFile(path, about)
    kept = bench.whole(map(bench.from_record, raw.records), about["stacks"])
    if any(m.prompt >= prompts for m in kept):
        raise ValueError(f"{path} holds a sweep over more than {prompts} prompts; give a higher --limit or a new file")
    if len(kept) < len(raw.records):
        raw.keep(map(asdict, kept))
    return kept, raw
