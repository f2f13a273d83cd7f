"""`selfgen`: what a preset's target writes after the prompts of a file; can be interrupted and gone on with."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from hsd_core.cli.options import add_preset, add_sampling, plain_stack, progress
from hsd_core.sampling import Sampling

SILENCE = 5.0  # seconds between two lines of progress


def add(commands: Any) -> None:
    parser: argparse.ArgumentParser = commands.add_parser("selfgen", help="write texts with the target, for training")
    add_preset(parser)
    parser.add_argument("--prompts", required=True, metavar="FILE", help="JSON lines with prompt, turns or prompt_ids")
    parser.add_argument("--out", required=True, metavar="FILE", help="JSON lines; finished prompts are never redone")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N prompts")
    parser.add_argument("--batch", type=int, default=16, metavar="B", help="texts written side by side (default 16)")
    add_sampling(parser)
    parser.set_defaults(act=act)


def act(options: argparse.Namespace) -> int:
    from hsd_core import selfgen
    from hsd_core.texts import read_texts
    from hsd_core.workbench import Workbench

    sampling = Sampling(options.temperature, options.top_k, options.top_p)
    bench = Workbench.open(
        options.preset,
        stack=plain_stack(options.preset),
        device=options.device,
        dtype=options.dtype,
        progress=progress(),
    )
    decoder = bench.lean_target(plain_stack(options.preset))
    finished = selfgen.open_file(options.out)
    texts = read_texts(options.prompts, lambda prompt: bench.encode(prompt, raw=options.raw))[: options.limit]
    fits = [t for t in texts if len(t.prompt_ids) < decoder.max_positions]
    if len(fits) < len(texts):
        print(f"{len(texts) - len(fits)} prompts are as long as the context and are left out", file=sys.stderr)
    jobs = selfgen.jobs_left(fits, finished, sampling, options.seed)
    print(f"{len(jobs)} of {len(fits)} prompts to do", file=sys.stderr, flush=True)
    tell = _Progress(len(jobs))
    written = selfgen.generate(
        decoder, jobs, sampling, ends=bench.ends, max_new_tokens=options.max_new_tokens,
        batch=options.batch, seed=options.seed,
    )  # fmt: skip
    with Path(options.out).open("a", encoding="utf-8") as file:
        for job, output in written:
            record = selfgen.record(job, output, sampling, options.seed)
            file.write(json.dumps(record, separators=(",", ":")) + "\n")
            file.flush()
            tell.finished(len(output), "loop_from" in record)
    print(tell.total(), file=sys.stderr)
    return 0


class _Progress:
    """How far it is and how long it may last, on stderr now and then."""

    def __init__(self, jobs: int) -> None:
        self._jobs, self._done, self._tokens, self._loops = jobs, 0, 0, 0
        self._began = self._told = time.monotonic()

    def finished(self, tokens: int, loops: bool) -> None:
        self._done, self._tokens, self._loops = self._done + 1, self._tokens + tokens, self._loops + loops
        now = time.monotonic()
        if now - self._told > SILENCE:
            self._told = now
            rest = (now - self._began) / self._done * (self._jobs - self._done)
            rate = self._tokens / (now - self._began)
            print(
                f"{self._done} of {self._jobs}, {rate:.0f} tokens/s, about {rest / 60:.1f} min left",
                file=sys.stderr, flush=True,
            )  # fmt: skip

    def total(self) -> str:
        return f"{self._done} outputs, {self._tokens} tokens, {self._loops} end in a loop"
