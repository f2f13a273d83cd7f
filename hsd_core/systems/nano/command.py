"""`train`: distil early exits or a nano draft from a preset's target. An interrupted training goes on when run
again."""

from __future__ import annotations

import argparse
import shlex
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from hsd_core.cli.options import counts, flag, option, reads, writes
from hsd_core.cli.shared_options import add_preset, command, opened, plain_stack, progress
from hsd_core.systems.nano.train.recipes import LOSSES, RECIPES, DraftShape, Hyperparameters

if TYPE_CHECKING:
    from hsd_core.measure.texts.selfgen import Job, Keep
    from hsd_core.models.lean.decoder import LeanDecoder
    from hsd_core.pipeline import Pipeline
    from hsd_core.systems.nano.train.loop import OnStep, Point

SILENCE = 15.0  # the least number of seconds between two lines of a sweep's progress
_PLAN = ("steps", "batch", "rate", "rows", "loss", "longest", "unroll", "prompts", "seed")


def add(commands: Any) -> None:
    parser = command(commands, "train", "train a preset's drafts", act)
    add_preset(parser)
    option(parser, "--recipe", "what to train", required=True, choices=tuple(RECIPES))
    reads(parser, "--data FILE", "what the target wrote (see selfgen)", required=True)
    writes(
        parser,
        "--out DIR",
        "where drafts and their cards go; with --sweep the file of its results, which goes on",
        folder=True,
        file_with="sweep",
        required=True,
    )
    option(parser, "--only NAME", "one draft of the recipe, such as exit8 or nano-fed")
    counts(parser, "--layers N", "of a draft's own, to try other shapes")
    counts(parser, "--mlp-width N", "of those layers (default: the target's), likewise")
    reads(parser, "--start DIR", "train the drafts of a folder further, not the target's layers", folder=True)
    counts(parser, "--limit N", "train on the first N texts of the shuffled data")
    flag(parser, "--sweep", "train one draft on 1/16 to all of the tokens and in other sizes; judge each")
    reads(parser, "--judge FILE", "with --sweep: texts that no training reads, as selfgen writes them")
    counts(parser, "--epochs N", "with --sweep: how often each text is read (default 1)")
    option(parser, "--steps N", "optimizer steps", type=int)
    option(parser, "--batch N", "output tokens in a step (thousands on a GPU)", type=int)
    option(parser, "--rate R", "highest learning rate", type=float)
    option(parser, "--rows N", "rows of the trimmed head", type=int)
    option(parser, "--loss", f"distance to the target's rows (default {Hyperparameters().loss})", choices=LOSSES)
    option(parser, "--longest N", "positions of a text that are read", type=int)
    counts(parser, "--unroll N", "learn of N of its own steps (EAGLE-3), where it is fed")
    flag(parser, "--prompts", "learn over the prompts too", default=None)
    option(parser, "--seed S", type=int)
    writes(
        parser,
        "--work DIR",
        "hidden states (2 bytes * hidden size * depths a token: for a million tokens of smollm2 3.5 GB for exits, "
        "1.2 GB for nanos) and checkpoints (default: in the cache folder)",
        folder=True,
    )


def act(options: argparse.Namespace) -> int:
    from hsd_core.models.weights import cache_folder
    from hsd_core.systems.nano.train.distil import Distiller

    _check_sweep(options)
    given = {name: getattr(options, name) for name in _PLAN if getattr(options, name) is not None}
    hyper = replace(Hyperparameters(), **given)
    hyper.check()
    recipe = RECIPES[options.recipe]
    shape = {name: value for name in ("layers", "mlp_width") if (value := getattr(options, name))}
    recipe = tuple(replace(draft, **shape) for draft in recipe)
    stack = plain_stack(options)
    pipeline = opened(options, stack)
    key = pipeline.preset.key
    work = Path(options.work) if options.work else cache_folder() / "training" / key
    if options.sweep:
        return _sweep(options, pipeline, pipeline.lean_target(stack), recipe, hyper, work)
    distiller = Distiller(
        pipeline.lean_target(stack),
        pipeline.preset,
        recipe,
        options.data,
        hyper,
        work,
        ends=pipeline.ends,
        limit=options.limit,
        progress=progress(),
    )
    wanted = f"{key}-{options.only}" if options.only else None
    if wanted and wanted not in distiller.drafts:
        short = ", ".join(name.removeprefix(f"{key}-") for name in distiller.drafts)
        raise ValueError(f"recipe {options.recipe} has no draft {options.only!r}; it has {short}")
    names, out = [wanted] if wanted else [*distiller.drafts], Path(options.out)
    start = Path(options.start) if options.start else None
    distiller.check(names, out, start)
    asked = _interrupt()
    for name in names:
        folder = distiller.folder(name, start)
        if distiller.finished(name, start):
            print(f"{name} was trained before; to train it again, delete {folder}", file=sys.stderr)
        else:
            print(f"{name}: curve and checkpoint in {folder}", file=sys.stderr)
        path = distiller.train(name, out, command=_command(options), on_step=_print_step(name), stop=asked, start=start)
        if path is None:
            print("stopped; the same command goes on from here", file=sys.stderr)
            return 130
        print(path)
    return 0


def _check_sweep(options: argparse.Namespace) -> None:
    """
    Raises:
        ValueError: options exclude each other; the message names them.
    """
    if options.sweep:
        if clash := next(
            (name for name in ("steps", "start", "mlp_width") if getattr(options, name) is not None), None
        ):
            option = f"--{clash.replace('_', '-')}"
            raise ValueError(f"--sweep trains from scratch and sets steps and sizes itself; leave {option} out")
    elif extra := next((name for name in ("judge", "epochs") if getattr(options, name) is not None), None):
        raise ValueError(f"--{extra} is for --sweep alone; add it, or leave --{extra} out")


def _only(options: argparse.Namespace, recipe: tuple[DraftShape, ...], layers: int) -> DraftShape:
    """The draft of a recipe that the sweep trains, for a target of `layers` layers.

    Raises:
        ValueError: `--only` names none.
    """
    called = {f"{d.name}{d.depth(layers) or ''}{'-fed' if d.fed else ''}": d for d in recipe}
    if options.only in called:
        return called[options.only]
    raise ValueError(f"--sweep trains one draft; name it by --only, one of {', '.join(called)}")


def _sweep(
    options: argparse.Namespace,
    pipeline: Pipeline,
    decoder: LeanDecoder,
    recipe: tuple[DraftShape, ...],
    hyper: Hyperparameters,
    work: Path,
) -> int:
    from hsd_core.measure.rawfile import RawFile, measured_by, prompts_file, ran_on
    from hsd_core.systems.nano.train.scaling.sweep import Sweep

    sweep = Sweep(
        decoder,
        _only(options, recipe, decoder.layers),
        options.data,
        hyper,
        work,
        ends=pipeline.ends,
        epochs=options.epochs or 1,
        other=options.judge,
        limit=options.limit,
    )
    data = prompts_file(options.data)
    about = {
        **measured_by("sweep", options.command_line),
        "preset": pipeline.preset.name,
        "device": decoder.device,
        "dtype": decoder.dtype,
        **ran_on(decoder.device),
        "data": data["prompts"],
        "data_sha256": data["prompts_sha256"],
        **(prompts_file(options.judge) if options.judge else {}),
        **sweep.about(),
    }
    file = RawFile(Path(options.out), about)
    if not sweep.run(file, progress=progress(), on_step=_print_sweep_step(), stop=_interrupt()):
        print("stopped; the same command goes on from here", file=sys.stderr)
        return 130
    print(options.out)
    return 0


def _print_sweep_step() -> Callable[[str, int, int, float | None], None]:
    """Prints a line for each training, and one every `SILENCE` seconds in between."""
    printed, last = 0.0, ""

    def on_step(name: str, step: int, steps: int, left: float | None) -> None:
        nonlocal printed, last
        if name == last and step < steps and time.monotonic() - printed < SILENCE:
            return
        printed, last = time.monotonic(), name
        eta = "" if left is None else f", about {left / 60:.0f} min left of all"
        print(f"{name}: step {step} of {steps}{eta}", file=sys.stderr, flush=True)

    return on_step


def _command(options: argparse.Namespace) -> str:
    """The command line for the model card: file names without the folders of this machine."""
    over = ["--target", Path(options.target).name] if options.target else ["--preset", options.preset]
    parts = ["python", "-m", "hsd_core", "train", *over, "--recipe", options.recipe]
    parts += ["--data", Path(options.data).name, "--out", "assets/drafts"]
    if options.start:
        parts += ["--start", Path(options.start).name]
    for name in ("only", "layers", "mlp_width", "limit", "device", "dtype", *_PLAN):
        if (value := getattr(options, name)) is not None:
            option = f"--{name.replace('_', '-')}"
            parts += [option] if value is True else [option, str(value)]
    return shlex.join(parts)


def _interrupt() -> Callable[[], bool]:
    """A function that says whether Ctrl-C was pressed: training then ends after a checkpoint; a second one kills it."""
    asked = Event()

    def ask(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # first, as a second one must not wait for set()
        asked.set()

    signal.signal(signal.SIGINT, ask)
    return asked.is_set


def _print_step(name: str) -> OnStep:
    def on_step(step: int, steps: int, left: float | None, point: Point | None) -> None:
        eta = "" if left is None else f", {left / 60:.0f} min left"
        if point is not None:
            agreement = " ".join(f"{a:.3f}" for a in point.agreement)
            acceptance = " ".join(f"{a:.3f}" for a in point.acceptance)
            print(
                f"\r\033[K{name} step {step} of {steps}, loss {point.loss:.3f}, agreement {agreement}, acceptance "
                f"{acceptance}, predicted speed-up {point.predicted_speed_up:.2f}{eta}",
                file=sys.stderr,
                flush=True,
            )
        elif sys.stderr.isatty():
            print(f"\r\033[K{name} step {step} of {steps}{eta}", end="", file=sys.stderr)

    return on_step


def kept_states(folder: Path, decoder: LeanDecoder) -> tuple[Sequence[int], Keep]:
    """The depths that drafts are trained on, and a function that stores their states for training."""
    from hsd_core.systems.nano.train.data.features import States
    from hsd_core.systems.nano.train.data.texts import example

    every = [draft for name, drafts in RECIPES.items() if name != "more-exits" for draft in drafts]
    depths = {at for draft in every for at in draft.depths(decoder.layers)}
    states_file = States(decoder, folder)

    def keep(job: Job, output: list[int], states: dict[int, Any]) -> None:
        text = replace(job.text, output_ids=tuple(output), loop_from=None)  # in place of the file's output
        kept = example(text, vocab_size=decoder.vocab_size, longest=Hyperparameters().longest)
        if kept is not None:
            states_file.keep(kept.ids, {depth: state[: len(kept.ids)] for depth, state in states.items()})

    return sorted({*depths, decoder.layers} - {0}), keep
