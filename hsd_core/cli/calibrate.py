"""`calibrate`: measures a preset's levels on this machine and writes the profile that the planner reads."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from hsd_core.cli.options import counts, flag, option, reads, writes
from hsd_core.cli.shared_options import (
    add_load,
    add_preset,
    command,
    explained,
    loads_of,
    opened,
    plain_stack,
    preset_from,
    progress,
)
from hsd_core.measure.tables import markdown
from hsd_core.models.machine import device_name
from hsd_core.theory import Profile, write_profile
from hsd_core.theory.profiles.profile import ACCEPTANCES_FROM
from hsd_core.theory.search.default_stack import default_for_machine

OF_TEXTS = ("prompts", "texts", "tokens", "length")  # the options about what the target writes


def add(commands: Any) -> None:
    parser = command(commands, "calibrate", "measure a profile of a preset's levels", act)
    add_preset(parser)
    writes(parser, "--out FILE", "the profile (JSON)")
    flag(
        parser,
        "--quick",
        "only the levels of the default stack, in about 20 seconds: its block lengths are planned from that",
    )
    option(
        parser,
        "--temperature T",
        "0 is greedy (default); repeat it for further ones, which are written to FILE-tT.json",
        type=float,
        action="append",
    )
    option(parser, "--levels L", "which levels, without T, e.g. ngram,int8,target (default: all)")
    reads(parser, "--prompts FILE", "JSON lines with prompt or turns (default: the package's)")
    counts(parser, "--texts N", "texts after this many prompts, spread over the file (default: all)")
    counts(parser, "--tokens N", "tokens that the target writes after each prompt (default 40)")
    counts(
        parser,
        "--length N",
        "texts after pieces of N tokens of the prompts instead of whole prompts: the value of views depends on it",
    )
    add_load(parser, "also time joint passes of so many texts, for `plan --load` and `bench --load`")


def act(options: argparse.Namespace) -> int:
    return _quick(options) if options.quick else _full(options)


def _quick(options: argparse.Namespace) -> int:
    from hsd_core.measure.calibrate.profiling import calibrate_default

    given = ("temperature", "levels", *OF_TEXTS)
    if more := [name for name in given if getattr(options, name) is not None] + ["load"] * bool(options.load):
        raise ValueError(f"--quick measures the default stack's levels as they are; leave --{more[0]} or --quick out")
    pipeline = opened(options, preset_from(options).stack(device_name(options.device)))
    profile = calibrate_default(pipeline, progress=progress())
    if options.out:
        write_profile(profile, options.out)
    print(table(profile))
    if isinstance(other := profile.about.get(ACCEPTANCES_FROM), dict):
        where = ", ".join(str(part) for part in other.values())
        print(f"\ncosts measured here; acceptances from the shipped profile ({where})")
    print(f"\n{explained(default_for_machine(pipeline.preset, pipeline.device, pipeline.dtype))}")
    return 0


def _full(options: argparse.Namespace) -> int:
    from hsd_core.measure.calibrate.candidates import asked
    from hsd_core.measure.calibrate.profiling import WHOLE, calibrate
    from hsd_core.measure.texts.written_texts import PROMPTS
    from hsd_core.models.sampling import Sampling
    from hsd_core.theory.profiles.profile_store import store_profile

    if not options.out:
        raise ValueError("--out names the file of the profile; only --quick works without it")
    temperatures = [Sampling(t).temperature for t in options.temperature or [0.0]]
    if options.levels:
        asked(options.levels)  # refuses bad levels before the weights are loaded
    out, loads = Path(options.out), loads_of(options)
    pipeline = opened(options, plain_stack(options))
    profiles = calibrate(
        pipeline,
        temperatures=temperatures,
        levels=options.levels,
        prompts=options.prompts or PROMPTS,
        effort=replace(
            WHOLE,
            texts=options.texts,
            tokens=options.tokens or WHOLE.tokens,
            length=options.length,
            loads=tuple(loads),
        ),
        progress=progress(),
    )
    usual = all(getattr(options, name) is None for name in ("levels", *OF_TEXTS))
    for level, reason in profiles[0].about["left_out"].items():
        print(f"left out: {level}: {reason}", file=sys.stderr)
    for number, profile in enumerate(profiles):
        path = out if number == 0 else out.with_name(f"{out.stem}-t{profile.temperature:g}{out.suffix or '.json'}")
        write_profile(profile, path)
        print(f"temperature {profile.temperature:g}: {path}", file=sys.stderr)
        if usual:
            store_profile(profile, pipeline.preset, pipeline.device, pipeline.dtype)
    if not usual:
        print("not the usual levels, prompts or lengths: not stored as this machine's profile", file=sys.stderr)
    print(table(profiles[0]))
    if loads:
        joined = [level.name for level in profiles[0].levels if level.joint]
        print(f"\njoint passes of {', '.join(map(str, loads))} texts: {', '.join(joined) or 'of no level'}")
    return 0


def table(profile: Profile) -> str:
    """Costs and acceptances as a Markdown table, a row for each level. Levels that offer several sequences also have
    their number of first tokens."""
    names = profile.names
    judges = [i for i, level in enumerate(profile.levels) if i and not (level.is_lookup or level.beside)]
    head = ("level", "ms a drafted token", "1 row", "4 rows", "8 rows", *(f"by {names[i]}" for i in judges))
    body = []
    for j, level in enumerate(profile.levels):
        if level.is_lookup and len(level.cost.rows) > 1:  # it ends its drafts itself
            costs = [f"{level.cost(4) / 4:.2f} of 4 asked for", "-", "-", "-"]
        elif level.is_lookup:
            costs = [f"{level.cost(1):.3f} a lookup", "-", "-", "-"]
        else:
            draft = "-" if level.draft_ms is None else f"{level.draft_ms:.2f}"
            costs = [draft, *("-" if level.beside else f"{level.cost(n):.2f}" for n in (1, 4, 8))]
        shares = [f"{profile.acceptance[j][i]:.3f}" if i > j else "" for i in judges]
        details = [f"hits {level.hit_rate:.2f}"] if level.hit_rate is not None else []
        details += [f"{level.beside[0]:.1f} first tokens"] if level.beside else []
        body.append((level.name + (f" ({', '.join(details)})" if details else ""), *costs, *shares))
    return markdown(head, body)
