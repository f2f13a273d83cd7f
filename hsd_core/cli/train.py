"""`train`: distil early exits or a nano model from a preset's target; interrupt it and run it again to go on."""

from __future__ import annotations

import argparse
import shlex
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hsd_core.cli.options import add_preset, plain_stack, progress

if TYPE_CHECKING:
    from hsd_core.training.loop import Point, Tell

RECIPES = ("exits", "nano")
LOSSES = ("kl", "rkl", "tv")


def add(commands: Any) -> None:
    parser: argparse.ArgumentParser = commands.add_parser("train", help="train a preset's drafts")
    add_preset(parser)
    parser.add_argument("--recipe", required=True, choices=RECIPES, help="what to train")
    parser.add_argument("--data", required=True, metavar="FILE", help="what the target wrote (see selfgen)")
    parser.add_argument("--out", required=True, metavar="DIR", help="where drafts and their cards go")
    parser.add_argument("--only", metavar="NAME", help="one draft of the recipe, such as exit8 or nano-fed")
    parser.add_argument("--limit", type=int, metavar="N", help="train on the first N texts of the shuffled data")
    parser.add_argument("--steps", type=int, metavar="N", help="optimizer steps")
    parser.add_argument("--batch", type=int, metavar="N", help="output tokens in a step (thousands on a GPU)")
    parser.add_argument("--rate", type=float, metavar="R", help="highest learning rate")
    parser.add_argument("--rows", type=int, metavar="N", help="rows of the trimmed head")
    parser.add_argument("--loss", choices=LOSSES, help="distance to the target's law")
    parser.add_argument("--seed", type=int, metavar="S")
    parser.add_argument("--work", metavar="DIR", help="hidden states and checkpoints (default: in the cache folder)")
    parser.set_defaults(act=act)


def act(options: argparse.Namespace) -> int:
    from hsd_core.training import distil
    from hsd_core.training.recipes import RECIPES as KNOWN
    from hsd_core.training.recipes import Plan
    from hsd_core.weights import cache_folder
    from hsd_core.workbench import Workbench

    given = {name: getattr(options, name) for name in ("steps", "batch", "rate", "rows", "loss", "seed")}
    plan = replace(Plan(), **{name: value for name, value in given.items() if value is not None})
    plan.check()
    stack = plain_stack(options.preset)
    bench = Workbench.open(options.preset, stack=stack, device=options.device, dtype=options.dtype, progress=progress())
    decoder = bench.lean_target(stack)
    work = Path(options.work) if options.work else cache_folder() / "training" / options.preset
    distiller = distil.Distiller(
        decoder, options.preset, options.data, plan, work, ends=bench.ends, limit=options.limit,
        target=bench.preset.target.title, progress=progress(),
    )  # fmt: skip
    drafts = {distiller.name(draft): draft for draft in KNOWN[options.recipe]}
    wanted = f"{options.preset}-{options.only}" if options.only else None
    if wanted and wanted not in drafts:
        short = ", ".join(name.removeprefix(f"{options.preset}-") for name in drafts)
        raise ValueError(f"recipe {options.recipe} has no draft {options.only!r}; it has {short}")
    asked = _Interrupt()
    command = f"python -m hsd_core {shlex.join(sys.argv[1:])}"
    for name, draft in drafts.items():
        if wanted in (None, name):
            path = distiller.train(draft, Path(options.out), command=command, tell=_told(name), stop=asked)
            if path is None:
                print("stopped after a checkpoint; the same command goes on from it", file=sys.stderr)
                return 130
            print(path)
    return 0


class _Interrupt:
    """Ctrl-C ends training after a checkpoint; a second one ends it at once."""

    def __init__(self) -> None:
        self._asked = False
        signal.signal(signal.SIGINT, self._ask)

    def __call__(self) -> bool:
        return self._asked

    def _ask(self, *_: object) -> None:
        self._asked = True
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _told(name: str) -> Tell:
    def tell(step: int, steps: int, left: float, point: Point | None) -> None:
        if point is not None:
            agreement = " ".join(f"{a:.3f}" for a in point.agreement)
            acceptance = " ".join(f"{a:.3f}" for a in point.acceptance)
            print(
                f"\r\033[K{name} step {step} of {steps}, loss {point.loss:.3f}, agreement {agreement}, acceptance "
                f"{acceptance}, predicted speed-up {point.predicted_speed_up:.2f}, {left / 60:.0f} min left",
                file=sys.stderr, flush=True,
            )  # fmt: skip
        elif sys.stderr.isatty():
            print(f"\r\033[K{name} step {step} of {steps}, {left / 60:.0f} min left", end="", file=sys.stderr)

    return tell
