"""`whatif`: simulates a stack without weights; the events are the engine's, the times those of a profile."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from hsd_core.cli.options import counts, option, reads, writes
from hsd_core.cli.shared_options import check_whole, command
from hsd_core.grammar import schedulers


def add(commands: Any) -> None:
    from hsd_core.measure.whatif import DEFAULT, whatif_names

    parser = command(commands, "whatif", "simulate a stack without weights", act)
    what = parser.add_mutually_exclusive_group()
    option(what, "--preset P", f"{', '.join(whatif_names())} (default {DEFAULT})")
    reads(what, "--profile FILE", "another profile (JSON), measured or invented")
    option(parser, "--stack S", 'levels by name, "Llama 1B:3,Llama 405B" (default: the best plan)')
    counts(parser, "--max-new-tokens N", "length limit (default 160)", default=160)
    option(parser, "--seed S", "the same seed gives the same run", type=int, default=0)
    option(
        parser,
        "--with",
        "levels work at the same time, by this schedule",
        dest="schedule",
        default="",
        choices=[name for name, one in schedulers().items() if one.make and not one.nodes],
    )
    writes(parser, "--trace FILE", "write the run to FILE (.jsonl or .jsonl.gz)")


def act(options: argparse.Namespace) -> int:
    from hsd_core.cli.terminal import show
    from hsd_core.measure.whatif import DEFAULT, whatif_profile
    from hsd_core.measure.whatif.simulation import bounded, plan_named, play
    from hsd_core.theory import best_plans, expected, read_profile
    from hsd_core.theory.overlap.on_two_lanes import OnTwoLanes, expected_on_lanes
    from hsd_core.trace import file as tracefile
    from hsd_core.trace import metrics

    check_whole(options, "max_new_tokens", "seed")
    profile = read_profile(options.profile) if options.profile else whatif_profile(options.preset or DEFAULT)
    plan = plan_named(profile, options.stack) if options.stack else best_plans(profile).best.plan
    fits = bounded(profile, plan, options.max_new_tokens)
    if fits < options.max_new_tokens:
        cut = f"cut to {fits} tokens: more would take too many calls (and the end of a short text cuts blocks short)"
        print(cut, file=sys.stderr)
    events = list(play(profile, plan, seed=options.seed, max_new_tokens=fits, schedule=options.schedule))
    if options.trace:
        tracefile.write(options.trace, events)
    show(events, colour=sys.stdout.isatty())
    rate = metrics.measure(events)["tokens_per_s"]
    took = f"; this run took {1e3 / rate:.4g}" if rate else ""
    if not options.schedule:
        print(f"expected by the theory: {expected(profile, plan).ms_per_token:.4g} ms per token{took}")
    else:
        ms = expected_on_lanes(profile, OnTwoLanes(plan, options.schedule)).ms_per_token
        print(f"expected by the theory: {ms:.4g} ms per token on two machines{took}")
    if note := str(profile.about.get("note", "")):
        print(note)
    return 0
