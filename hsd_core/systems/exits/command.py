"""`train-target`: trains a small target over bytes so that its exits speak (LayerSkip, arXiv 2404.16710)."""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from hsd_core.cli.options import counts, flag, option, reads, writes
from hsd_core.cli.shared_options import command

_SIZES = ("layers", "hidden", "heads", "steps", "seed")
EVERY = 50  # steps between two lines


def add(commands: Any) -> None:
    parser = command(commands, "train-target", "train a small target whose early exits speak (LayerSkip)", act)
    reads(parser, "--folder DIR", "its text: the UTF-8 files of a folder, by bytes", folder=True, required=True)
    writes(
        parser, "--out DIR", "the target, for --target DIR; an interrupted training goes on", folder=True, required=True
    )
    for name in _SIZES:
        option(parser, f"--{name} N", f"(default {_usual()[name]})", type=int)
    counts(parser, "--minutes N", "stop after N minutes; the same command goes on")
    flag(parser, "--plain", "without layer dropout and exit losses, to compare", default=None)


def _usual() -> dict[str, int]:
    from hsd_core.systems.exits.exit_recipe import ExitRecipe

    return {one.name: one.default for one in fields(ExitRecipe)}  # type: ignore[misc]


def act(options: argparse.Namespace) -> int:
    from hsd_core.measure import tables
    from hsd_core.systems.exits.exit_recipe import ExitRecipe
    from hsd_core.systems.exits.exit_training import text_of, train_exits, within

    given = {name: getattr(options, name) for name in _SIZES if getattr(options, name) is not None}
    recipe = ExitRecipe(**given)
    recipe = replace(recipe, dropout=0.0, exits=0.0) if options.plain else recipe
    recipe.check()

    def on_step(step: int, loss: float) -> None:
        if step % EVERY == 0:
            print(f"step {step} of {recipe.steps}, loss {loss:.3f}", file=sys.stderr, flush=True)

    stop = within(options.minutes) if options.minutes else lambda: False
    found = train_exits(recipe, text_of(Path(options.folder)), Path(options.out), on_step=on_step, stop=stop)
    if found is None:
        print("stopped; the same command goes on from here", file=sys.stderr)
        return 130
    rows = [(n, f"{one['agree']:.3f}", f"{one['nats']:.3f}") for n, one in enumerate(found, 1)]
    print(tables.markdown(("exit after layer", "chooses what the last layer does", "nats a byte"), rows))
    return 0
